// SPDX-License-Identifier: Apache-2.0
// A small data block that is right, for tests to change.

export function strip(start, width, end, parts, longest = null) {
	return { start_ns: start, width_ns: width, end_ns: end, parts, longest_ns: longest };
}

export function block() {
	return {
		schema: 'gpustarve.page/1', version: '0.1.0', window: 'job', series: true,
		axis_start_ns: '1760000000000000000', axis_ns: 1000,
		classes: ['compute', 'comm', 'input.fetch', 'host.sync', 'excluded.startup'],
		gpus: [{
			gpu: 0, label: 'GPU 0', start_ns: 0, end_ns: 950,
			timeline: strip(0, 100, 950, [[4, 100], ...Array(8).fill([0, 60, 2, 40]), [2, 50]],
				[0, 40, 40, 40, 40, 40, 40, 40, 40, 50]),
			fine: [strip(800, 10, 950, Array(15).fill([2, 10]), Array(15).fill(10))],
			gaps: [{ start_ns: 860, end_ns: 950, empty_ns: 80, class: 2, class_ns: 88 }],
		}],
		gpus_left_out: 0,
		processes: [{ process: 0, label: 'rank 0', rank: 0 }],
		steps: {
			count: 3, skipped: 0, median_ns: 100, p95_ns: 120,
			series: [{
				process: 0, each: 1, start_ns: [100, 100, 110], end_ns: [100, 110, 120],
				min_ns: [100, 110, 120], max_ns: [100, 110, 120], sum_ns: [100, 110, 120],
				input_ns: [10, 10, 10], count: [1, 1, 1],
			}],
			series_left_out: 0,
			histogram: { edges_ns: [96, 104, 112, 120, 128], count: [1, 1, 0, 1] },
			outliers: [{ process: 0, start_ns: 310, end_ns: 430, input_ns: 10 }],
		},
		loader: {
			cell_ns: 500, cells: 2,
			states: { io: [1, 2], cpu: [3, 4], runnable: [0, 0], idle: [9, 9], lock: [0, 0], other: [0, 1] },
			batch: { count: [1, 0], min_ns: [7, 0], max_ns: [7, 0], sum_ns: [7, 0] },
			take: { count: [1, 1], min_ns: [1, 1], max_ns: [1, 1], sum_ns: [1, 1] },
			depth: [0, 1],
		},
		copies: [],
		flame: {
			total_ns: 400, sampled_ns: 300,
			frames: ['all', 'input.fetch', 'read a.py:1', 'open <script>.py:2'],
			graphs: [{
				process: 0, role: 'worker', ns: 300, folded_ns: 0,
				parent: [0, 1, 1, 2], frame: [0, 1, 2, 3], ns_below: [300, 300, 100, 150],
			}],
			graphs_left_out: 0, left_out_ns: 0,
		},
		reduced: [], checksum: '0123456789abcdef',
	};
}
