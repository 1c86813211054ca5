// SPDX-License-Identifier: Apache-2.0
// The page's script colours classes as its static charts do: by the rows of facts/classes.def.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { familyOf, FAMILIES } from '../../viewer/report/assets/charts/src/classes.js';

const table = readFileSync(new URL('../../facts/classes.def', import.meta.url), 'utf8');
const colours = [...table.matchAll(/^COLOUR\((\w+), "([^"]+)"/gm)].map((m) => [m[1], m[2]]);
const classes = [...table.matchAll(/^CLASS\(\w+, "([^"]+)", \w+, [\w |]+, (\w+),$/gm)];

test('families are the colours of the table, from the bottom up', () => {
	assert.ok(colours.length > 1);
	assert.deepEqual(FAMILIES, colours.map(([, name]) => name));
});

test('each class has the family that its row says', () => {
	const names = new Map(colours);

	assert.ok(classes.length > 30);
	for (const [, name, colour] of classes)
		assert.equal(familyOf(name), names.get(colour), name);
});
