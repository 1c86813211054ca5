// SPDX-License-Identifier: Apache-2.0
// Strips of the data block: equal buckets of time, each with the ns per class in it. Pure.

// The whole run first, then the closer windows.
export function stripsOf(gpu) {
	return [gpu.timeline, ...gpu.fine];
}

export function bounds(strip, i) {
	const from = strip.start_ns + i * strip.width_ns;
	return [from, i + 1 < strip.parts.length ? from + strip.width_ns : strip.end_ns];
}

// The bucket that holds a moment; -1: none does.
export function bucketAt(strip, ns) {
	if (ns < strip.start_ns || ns >= strip.end_ns)
		return -1;
	return Math.min(Math.floor((ns - strip.start_ns) / strip.width_ns), strip.parts.length - 1);
}

// Of one GPU's strips the finest that holds a moment; null: none does.
export function finestAt(strips, ns) {
	let best = null;

	for (const s of strips)
		if (bucketAt(s, ns) >= 0 && (!best || s.width_ns < best.width_ns))
			best = s;
	return best;
}

// What to draw of [from, to) on `pixels` columns, the coarse first, so that a finer one covers it. A
// finer one is left out where the strip below it already has a bucket per column.
export function layers(strips, from, to, pixels) {
	const column = (to - from) / Math.max(pixels, 1);
	const seen = strips.filter((s) => s.start_ns < to && s.end_ns > from);

	seen.sort((a, b) => b.width_ns - a.width_ns);
	return seen.filter((s, i) => i === 0 || seen[0].width_ns > column);
}

// Columns of a strip within [from, to): { x0, x1, ns: Map(class -> ns), longest_ns }, x in pixels. A
// bucket narrower than a pixel is added to the column before it; of the longest gaps the longest
// stays, so that a stall does not vanish however far away one looks.
export function columns(strip, from, to, pixels) {
	const scale = pixels / (to - from), out = [];
	const first = Math.max(0, Math.floor((from - strip.start_ns) / strip.width_ns));
	let last = null;

	for (let i = first; i < strip.parts.length; i++) {
		const [start, end] = bounds(strip, i);
		if (start >= to)
			break;
		const x0 = Math.min(Math.max(0, Math.round((start - from) * scale)), pixels - 1);
		const x1 = Math.min(pixels, Math.max(Math.round((end - from) * scale), x0));
		if (!last || x0 >= last.x1) {
			last = { x0, x1: Math.max(x1, x0 + 1), ns: new Map(), longest_ns: 0 };
			out.push(last);
		} else {
			last.x1 = Math.max(last.x1, x1);
		}
		add(last, strip, i);
	}
	return out;
}

function add(column, strip, i) {
	const parts = strip.parts[i];

	for (let k = 0; k + 1 < parts.length; k += 2)
		column.ns.set(parts[k], (column.ns.get(parts[k]) ?? 0) + parts[k + 1]);
	if (strip.longest_ns)
		column.longest_ns = Math.max(column.longest_ns, strip.longest_ns[i]);
}
