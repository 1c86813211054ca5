// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { byFamily, FAMILIES, familyOf, lost } from '../../viewer/report/assets/charts/src/classes.js';
import { describe, gapClass } from '../../viewer/report/assets/charts/src/reading.js';
import { bounds, bucketAt, columns, finestAt, layers, stripsOf } from '../../viewer/report/assets/charts/src/strip.js';
import { block, strip } from './made.mjs';

const gpu = block().gpus[0];
const sums = (cols) => cols.reduce((m, c) => {
	for (const [k, ns] of c.ns)
		m.set(k, (m.get(k) ?? 0) + ns);
	return m;
}, new Map());

test('a moment is in one bucket', () => {
	const s = gpu.timeline;

	for (let t = 0; t < 950; t++) {
		const [from, to] = bounds(s, bucketAt(s, t));
		assert.ok(from <= t && t < to);
	}
	assert.equal(bucketAt(s, -1), -1);
	assert.equal(bucketAt(s, 950), -1);
	assert.deepEqual(bounds(s, 9), [900, 950]);
	assert.equal(finestAt(stripsOf(gpu), 100), s);
	assert.equal(finestAt(stripsOf(gpu), 850), gpu.fine[0]);
	assert.equal(finestAt(stripsOf(gpu), 2000), null);
});

test('the closer window covers the coarse one only where that has no bucket per column', () => {
	assert.deepEqual(layers(stripsOf(gpu), 0, 1000, 1000), stripsOf(gpu));
	assert.deepEqual(layers(stripsOf(gpu), 0, 1000, 5), [gpu.timeline]);
	assert.deepEqual(layers(stripsOf(gpu), 0, 700, 1000), [gpu.timeline]);
});

test('columns hold every nanosecond and the longest gap, however few they are', () => {
	const s = strip(0, 7, 7000, Array.from({ length: 1000 }, (_, i) => [0, 5, 2, 2 + (i % 2)]),
		Array.from({ length: 1000 }, (_, i) => (i === 777 ? 7 : 1)));

	for (const pixels of [1, 3, 50, 333, 1000, 4000]) {
		const cols = columns(s, 0, 7000, pixels);
		assert.deepEqual([...sums(cols)], [[0, 5000], [2, 2500]], `${pixels}`);
		assert.equal(Math.max(...cols.map((c) => c.longest_ns)), 7, `${pixels}`);
		assert.ok(cols.every((c, i) => c.x1 > c.x0 && c.x1 <= pixels && (!i || c.x0 >= cols[i - 1].x1)));
	}
});

test('columns of a part are those that are seen', () => {
	const cols = columns(gpu.timeline, 250, 450, 200);

	assert.deepEqual(cols.map((c) => [c.x0, c.x1]), [[0, 50], [50, 150], [150, 200]]);
	assert.deepEqual(columns(gpu.fine[0], 0, 100, 100), []);
});

test('classes belong to families', () => {
	assert.deepEqual(['compute', 'comm', 'comm.skew', 'copy', 'input.h2d', 'host.gc', 'device.lost',
		'excluded.startup', 'of a later version'].map(familyOf),
	['busy', 'comm', 'comm', 'copy', 'input', 'host', 'device', 'excluded', 'excluded']);
	const families = ['busy', 'input', 'excluded'].map((f) => FAMILIES.indexOf(f));
	assert.equal(byFamily(new Map([[0, 3], [1, 1]]), families)[families[1]], 1);
	const late = [...families, FAMILIES.indexOf('comm')];
	assert.deepEqual(lost(new Map([[0, 3], [1, 1]]), late, 3), { family: 'input', share: 0.25 });
	assert.deepEqual(lost(new Map([[0, 2], [1, 1], [3, 5]]), late, 3), { family: 'comm', share: 0.625 });
	assert.deepEqual(lost(new Map(), late, 3), { family: 'input', share: 0 });
});

test('the readout names classes, shares and gaps', () => {
	const { classes } = block();

	assert.equal(describe(gpu, classes, 150, 1),
		'150 ns: compute 60.0 %, input.fetch 40.0 % of 100 ns; longest gap 40 ns');
	assert.equal(describe(gpu, classes, 900, 1),
		'900 ns: input.fetch 100.0 % of 10 ns; in a gap of 90 ns, input.fetch');
	assert.equal(gapClass({ start_ns: 0, end_ns: 100, class: 2, class_ns: 100 }, classes), 'input.fetch');
	assert.equal(gapClass({ start_ns: 0, end_ns: 100, class: 2, class_ns: 95 }, classes), 'mostly input.fetch');
	assert.equal(describe(gpu, classes, 990, 1), '990 ns: the GPU was not held');
});
