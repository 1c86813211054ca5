// SPDX-License-Identifier: Apache-2.0
// Sums over series of the data block. Pure.

// Median of up to `width` values around each: what is usual there, whatever single ones do.
export function movingMedian(values, width) {
	const half = Math.floor(width / 2);

	return values.map((_, i) => {
		const near = values.slice(Math.max(0, i - half), i + half + 1).sort((a, b) => a - b);
		const mid = near.length >> 1;
		return near.length % 2 ? near[mid] : (near[mid - 1] + near[mid]) / 2;
	});
}

// How many buckets a moving median spans: odd, about a fiftieth of all.
export function medianWidth(buckets) {
	return Math.max(5, Math.min(101, Math.floor(buckets / 50))) | 1;
}

// The last index whose value is not above x, in ascending values; -1: all are above.
export function lastNotAbove(values, x) {
	let low = -1, high = values.length;

	while (high - low > 1) {
		const mid = (low + high) >> 1;
		if (values[mid] <= x)
			low = mid;
		else
			high = mid;
	}
	return low;
}

// Cells [i * cell, (i + 1) * cell) of several series within [from, to), added up so that none is
// narrower than a column: { x0, x1, cells, sum: one per series }, x in pixels.
export function cellColumns(series, cell, from, to, pixels) {
	const n = series[0]?.length ?? 0, scale = pixels / (to - from), out = [];
	let last = null;

	for (let i = Math.max(0, Math.floor(from / cell)); i < n && i * cell < to; i++) {
		const x0 = Math.min(Math.max(0, Math.round((i * cell - from) * scale)), pixels - 1);
		const x1 = Math.min(pixels, Math.round(((i + 1) * cell - from) * scale));
		if (!last || x0 >= last.x1) {
			last = { x0, x1: Math.max(x1, x0 + 1), cells: 0, sum: series.map(() => 0) };
			out.push(last);
		}
		last.x1 = Math.max(last.x1, x1);
		last.cells++;
		series.forEach((s, k) => (last.sum[k] += s[i]));
	}
	return out;
}

// Where a duration stands on the axis of bins: 2.5 is the middle of the third.
export function placeOf(edges, ns) {
	const i = Math.min(Math.max(lastNotAbove(edges, ns), 0), edges.length - 2);
	const within = (ns - edges[i]) / Math.max(edges[i + 1] - edges[i], 1);

	return i + Math.min(Math.max(within, 0), 1);
}
