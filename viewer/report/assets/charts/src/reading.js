// SPDX-License-Identifier: Apache-2.0
// What a timeline's readout says of a moment. Pure.
import { bounds, bucketAt, finestAt, stripsOf } from './strip.js';
import { duration, moment, percent } from './units.js';

// "input.fetch", or where a twentieth or more of the gap is of other classes "mostly input.fetch".
export function gapClass(gap, classes) {
	const mixed = gap.class_ns > 0 && 20 * gap.class_ns <= 19 * (gap.end_ns - gap.start_ns);

	return mixed ? `mostly ${classes[gap.class]}` : classes[gap.class];
}

// "12.35 s: input.fetch 88.0 %, compute 12.0 % of 120 ms; in a gap of 3.2 s".
export function describe(gpu, classes, at, step) {
	const strip = finestAt(stripsOf(gpu), at);

	if (!strip)
		return `${moment(at, step)}: the GPU was not held`;
	const i = bucketAt(strip, at), [start, end] = bounds(strip, i), parts = strip.parts[i];
	const shares = [];
	let whole = 0;
	for (let k = 0; k < parts.length; k += 2) {
		shares.push([parts[k + 1], classes[parts[k]]]);
		whole += parts[k + 1];
	}
	shares.sort((a, b) => b[0] - a[0]);
	const text = shares.slice(0, 3).map(([ns, name]) => `${name} ${percent(ns, whole)}`).join(', ');
	const gap = gpu.gaps.find((g) => g.start_ns <= at && at < g.end_ns);
	const longest = strip.longest_ns?.[i];
	const tail = gap
		? `; in a gap of ${duration(gap.end_ns - gap.start_ns)}, ${gapClass(gap, classes)}`
		: longest ? `; longest gap ${duration(longest)}` : '';
	return `${moment(at, step)}: ${text || 'nothing'} of ${duration(end - start)}${tail}`;
}
