// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { around, clamp, panned, View, zoomed } from '../../viewer/report/assets/charts/src/view.js';

test('a stretch stays within the whole and is never too short', () => {
	for (const range of [[-50, 20], [900, 2000], [499, 500], [-9, 5000], [10, 10]]) {
		const [from, to] = clamp(range, 1000, 100);
		assert.ok(from >= 0 && to <= 1000 && to - from >= 100, `${range}: ${from} ${to}`);
	}
	assert.deepEqual(clamp([200, 500], 1000, 100), [200, 500]);
	assert.deepEqual(panned([200, 500], -900, 1000), [0, 300]);
	assert.deepEqual(panned([200, 500], 900, 1000), [700, 1000]);
});

test('zooming keeps what stands under the cursor', () => {
	const [from, to] = zoomed([0, 1000], 0.5, 250, 1000, 1);

	assert.equal((250 - from) / (to - from), 0.25);
	assert.equal(to - from, 500);
	assert.deepEqual(zoomed([100, 300], 100, 150, 1000, 1), [0, 1000]);
	assert.equal(zoomed([100, 300], 1e-9, 150, 1000, 10)[1] - zoomed([100, 300], 1e-9, 150, 1000, 10)[0], 10);
});

test('a gap is shown whole, with room', () => {
	const [from, to] = around(400, 480, 1000, 10);

	assert.ok(from < 400 && to > 480 && to - from < 160);
	assert.deepEqual(around(0, 1000, 1000, 10), [0, 1000]);
});

test('those who draw are told once per change', () => {
	const v = new View(1000, 10);
	let told = 0;

	v.listen(() => told++);
	v.zoom(0.5);
	assert.equal(told, 1);
	assert.ok(!v.whole_shown);
	v.pan(-1e9);
	v.pan(-1e9);
	assert.equal(told, 2);
	v.reset();
	v.reset();
	assert.equal(told, 3);
	assert.ok(v.whole_shown);
});
