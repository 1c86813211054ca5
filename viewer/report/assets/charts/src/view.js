// SPDX-License-Identifier: Apache-2.0
// The stretch of time that all charts over time show together. The arithmetic is pure; View tells
// those who draw.

// [from, to) moved into [0, whole) and not shorter than `least`.
export function clamp([from, to], whole, least) {
	const span = Math.min(Math.max(to - from, least), whole);
	const start = Math.min(Math.max((from + to - span) / 2, 0), whole - span);

	return [start, start + span];
}

// Wider (factor > 1) or closer (< 1); what stands at `at` stays where it is.
export function zoomed([from, to], factor, at, whole, least) {
	const span = Math.min(Math.max((to - from) * factor, least), whole);
	const share = (at - from) / (to - from);
	const start = at - share * span;

	return clamp([start, start + span], whole, least);
}

export function panned([from, to], by, whole) {
	const shift = Math.min(Math.max(by, -from), whole - to);
	return [from + shift, to + shift];
}

// A gap with room on both sides.
export function around(start, end, whole, least) {
	const room = Math.max((end - start) * 0.25, least / 4);
	return clamp([start - room, end + room], whole, least);
}

export class View {
	constructor(whole, least) {
		this.whole = whole;
		this.least = Math.min(least, whole);
		this.range = [0, whole];
		this.listeners = [];
	}

	listen(f) {
		this.listeners.push(f);
	}

	get whole_shown() {
		return this.range[0] <= 0 && this.range[1] >= this.whole;
	}

	set(range) {
		const next = clamp(range, this.whole, this.least);
		if (next[0] === this.range[0] && next[1] === this.range[1])
			return;
		this.range = next;
		for (const f of this.listeners)
			f(next);
	}

	zoom(factor, at = (this.range[0] + this.range[1]) / 2) {
		this.set(zoomed(this.range, factor, at, this.whole, this.least));
	}

	pan(share) {
		this.set(panned(this.range, share * (this.range[1] - this.range[0]), this.whole));
	}

	show(start, end) {
		this.set(around(start, end, this.whole, this.least));
	}

	reset() {
		this.set([0, this.whole]);
	}
}
