// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { cellColumns, lastNotAbove, medianWidth, movingMedian, placeOf } from '../../viewer/report/assets/charts/src/series.js';
import { brief, found, neighbour, treeOf } from '../../viewer/report/assets/charts/src/tree.js';
import { block } from './made.mjs';

test('a moving median lets single values pass', () => {
	assert.deepEqual(movingMedian([5, 5, 90, 5, 5], 3), [5, 5, 5, 5, 5]);
	assert.deepEqual(movingMedian([1, 2, 3, 4], 3), [1.5, 2, 3, 3.5]);
	assert.deepEqual(movingMedian([], 3), []);
	for (const n of [0, 1, 300, 1024, 1e6])
		assert.equal(medianWidth(n) % 2, 1);
});

test('the last value that is not above', () => {
	const values = [10, 20, 20, 40];

	assert.deepEqual([9, 10, 19, 20, 39, 40, 99].map((x) => lastNotAbove(values, x)), [-1, 0, 0, 2, 2, 3, 3]);
	assert.equal(lastNotAbove([], 1), -1);
});

test('a duration stands between the edges of its bin', () => {
	const edges = [100, 200, 400];

	assert.deepEqual([50, 100, 150, 200, 300, 400, 900].map((ns) => placeOf(edges, ns)),
		[0, 0, 0.5, 1, 1.5, 2, 2]);
});

test('columns of cells add up', () => {
	const series = [Array.from({ length: 97 }, (_, i) => i), Array(97).fill(1)];

	for (const pixels of [1, 10, 97, 500]) {
		const cols = cellColumns(series, 10, 0, 970, pixels);
		assert.equal(cols.reduce((s, c) => s + c.sum[0], 0), 4656);
		assert.equal(cols.reduce((s, c) => s + c.cells, 0), 97);
	}
	assert.deepEqual(cellColumns(series, 10, 20, 40, 2).map((c) => c.sum), [[2, 1], [3, 1]]);
});

test('a flame graph becomes a tree that keys walk', () => {
	const { graphs, frames } = block().flame;
	const root = treeOf(graphs[0], frames), cls = root.children[0];

	assert.equal(root.value, 300);
	assert.equal(cls.name, 'input.fetch');
	assert.deepEqual(cls.children.map((n) => n.name), ['open <script>.py:2', 'read a.py:1']);
	assert.ok(cls.children.every((n) => n.cls === 'input.fetch' && n.parent === cls));
	assert.equal(neighbour(root, 'ArrowDown'), cls);
	assert.equal(neighbour(cls.children[0], 'ArrowRight'), cls.children[1]);
	assert.equal(neighbour(cls.children[0], 'ArrowLeft'), cls.children[0]);
	assert.equal(neighbour(cls, 'ArrowUp'), root);
	assert.equal(neighbour(root, 'x'), null);
	assert.deepEqual(found(root, 'A.PY'), { hits: 1, ns: 100 });
	assert.deepEqual(found(root, 'e'), { hits: 3, ns: 300 });
	assert.deepEqual(found(root, '(.*'), { hits: 0, ns: 0 });
});

test('frames are called what tells them apart', () => {
	assert.equal(brief('host.warmup'), 'host.warmup');
	assert.equal(brief('all'), 'all');
	assert.equal(brief('Step.body /srv/job/train.py:192'), 'Step.body train.py:192');
	assert.equal(brief('Linear.forward /v/lib/python3.11/site-packages/torch/nn/modules/linear.py:125'),
		'Linear.forward torch/nn/modules/linear.py:125');
	assert.equal(brief('f /a/dist-packages/b/site-packages/c.py:1'), 'f c.py:1');
	assert.equal(brief('<module> <string>:3'), '<module> <string>:3');
	assert.equal(brief('f /my job/a b.py:1'), 'f a b.py:1');
});
