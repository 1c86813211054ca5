// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { readBlock, undelta } from '../../viewer/report/assets/charts/src/block.js';
import { block } from './made.mjs';

const refused = (change, what) => {
	const d = block();
	change(d);
	assert.throws(() => readBlock(JSON.stringify(d)), what);
};

test('a whole block is read, differences become moments', () => {
	const d = readBlock(JSON.stringify(block()));

	assert.deepEqual(d.steps.series[0].start_ns, [100, 200, 310]);
	assert.deepEqual(undelta([]), []);
	assert.equal(readBlock(JSON.stringify({ schema: 'gpustarve.page/1', series: false })), null);
});

test('parts that a run does not have may be missing', () => {
	const d = { ...block(), steps: null, loader: null, flame: null, gpus: [] };
	assert.equal(readBlock(JSON.stringify(d)).gpus.length, 0);
	const bare = block();
	delete bare.gpus[0].fine;
	delete bare.gpus[0].gaps;
	delete bare.gpus[0].timeline.longest_ns;
	const read = readBlock(JSON.stringify({ ...bare, steps: null, loader: null, flame: null, processes: undefined }));
	assert.deepEqual([read.processes, read.gpus[0].fine, read.gpus[0].gaps], [[], [], []]);
	assert.equal(read.gpus[0].timeline.longest_ns, null);
	const e = block();
	e.loader.states = e.loader.depth = e.gpus[0].timeline = e.gpus[0].fine[0].longest_ns = null;
	assert.ok(readBlock(JSON.stringify(e)));
});

test('a block that is cut anywhere is refused', () => {
	const text = JSON.stringify(block());

	for (let n = 0; n < text.length; n++)
		assert.throws(() => readBlock(text.slice(0, n)), Error);
	assert.throws(() => readBlock(undefined), /no data block/);
	assert.throws(() => readBlock('[]'), /damaged/);
	assert.throws(() => readBlock('null'), /damaged/);
});

test('another version is refused by its name', () => {
	refused((d) => (d.schema = 'gpustarve.page/2'), /another version, gpustarve.page\/2/);
});

test('a thousand GPUs wait for more than a double holds to the nanosecond', () => {
	const d = block(), many = '1234567890123456789';
	d.flame.total_ns = d.flame.sampled_ns = d.flame.graphs[0].ns_below[0] = d.loader.states.io[0] = d.steps.series[0].sum_ns[0] = 'MANY';
	const read = readBlock(JSON.stringify(d).replaceAll('"MANY"', many));
	assert.equal(read.flame.total_ns, 1234567890123456800);
	refused((e) => (e.flame.total_ns = -1), /flame/);
	refused((e) => (e.flame.sampled_ns = 1e300), /flame/);
	refused((e) => (e.loader.states.io[0] = 0.5), /loader/);
});

test('what the charts rely on is checked', () => {
	refused((d) => (d.axis_ns = 1.5), /axis/);
	refused((d) => (d.classes = 'compute'), /classes/);
	refused((d) => (d.gpus[0].label = 7), /GPU/);
	refused((d) => (d.gpus[0].timeline.width_ns = 0), /timeline/);
	refused((d) => d.gpus[0].timeline.parts.pop(), /timeline/);
	refused((d) => d.gpus[0].timeline.parts[3].push(1), /parts/);
	refused((d) => (d.gpus[0].timeline.parts[3][0] = 99), /class/);
	refused((d) => (d.gpus[0].timeline.parts[3][1] = -1), /class/);
	refused((d) => d.gpus[0].timeline.longest_ns.pop(), /longest/);
	refused((d) => (d.gpus[0].fine[0].end_ns = 1e300), /window/);
	refused((d) => (d.gpus[0].gaps[0].class = '<b>'), /gap/);
	refused((d) => (d.steps.series[0].process = 4), /process/);
	refused((d) => d.steps.series[0].sum_ns.pop(), /sum_ns/);
	refused((d) => (d.steps.series[0].count[1] = 0), /empty bucket/);
	refused((d) => d.steps.histogram.edges_ns.pop(), /edges/);
	refused((d) => delete d.loader.states.io, /io/);
	refused((d) => (d.loader.cells = 3), /loader/);
	refused((d) => (d.flame.graphs[0].parent[2] = 3), /parent/);
	refused((d) => (d.flame.graphs[0].parent[2] = 0), /parent/);
	refused((d) => (d.flame.graphs[0].frame[2] = 4), /frame/);
	refused((d) => (d.flame.frames[0] = null), /flame/);
});

test('any one value replaced by another kind never throws but an Error with a reason', () => {
	const wrong = [null, -1, 1e300, 'x', [], {}, true];
	const places = [];
	(function walk(v, path) {
		places.push(path);
		if (v && typeof v === 'object')
			for (const k of Object.keys(v))
				walk(v[k], [...path, k]);
	})(block(), []);

	for (const path of places.slice(1))
		for (const value of wrong) {
			const d = block();
			path.slice(0, -1).reduce((v, k) => v[k], d)[path[path.length - 1]] = value;
			try {
				readBlock(JSON.stringify(d));
			} catch (e) {
				assert.match(e.message, /^the data block is (damaged|of another version)/, path.join('/'));
			}
		}
});
