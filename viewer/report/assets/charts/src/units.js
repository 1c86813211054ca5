// SPDX-License-Identifier: Apache-2.0
// Numbers as the page's tables write them (base/units.c), and marks for a time axis. Pure.

const MINUTE = 60e9, HOUR = 3600e9;
const STEPS = [1, 2, 5];
const LONG_STEPS = [60e9, 120e9, 300e9, 600e9, 1200e9, 1800e9, 3600e9, 7200e9, 14400e9, 28800e9, 86400e9];

function evenly(value, unit) {
	const q = Math.floor(value / unit), rest = value - q * unit;
	return rest * 2 > unit || (rest * 2 === unit && q % 2) ? q + 1 : q;
}

// "2 h 14 m", "12.3 s", "831 ms"; ns is an integer, not negative.
export function duration(ns) {
	const s = evenly(ns, 1e9), m = evenly(s, 60), h = evenly(m, 60);

	if (h >= 48)
		return `${Math.floor(h / 24)} d ${h % 24} h`;
	if (s >= 3600)
		return `${Math.floor(m / 60)} h ${m % 60} m`;
	if (s >= 120)
		return `${Math.floor(s / 60)} m ${s % 60} s`;
	if (ns >= 999950000)
		return `${(evenly(ns, 1e8) / 10).toFixed(1)} s`;
	if (ns >= 1e8)
		return `${evenly(ns, 1e6)} ms`;
	if (ns >= 999950)
		return `${(evenly(ns, 1e5) / 10).toFixed(1)} ms`;
	if (ns >= 1000)
		return `${(evenly(ns, 100) / 10).toFixed(1)} us`;
	return `${Math.round(ns)} ns`;
}

export function percent(part, whole) {
	return `${(whole > 0 ? (100 * part) / whole : 0).toFixed(1)} %`;
}

export function count(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

// The smallest step of a time axis that makes at most `most` marks in `span`.
export function niceStep(span, most) {
	const least = Math.max(span / Math.max(most, 1), 1);

	if (least > 20e9) {
		const long = LONG_STEPS.find((s) => s >= least);
		return long ?? Math.ceil(least / 86400e9) * 86400e9;
	}
	for (let unit = 10 ** Math.floor(Math.log10(least)); ; unit *= 10)
		for (const s of STEPS)
			if (s * unit >= least * 0.999999)
				return s * unit;
}

export function marks(from, to, most) {
	const step = niceStep(to - from, most), out = [];

	for (let i = Math.ceil(from / step); i * step <= to; i++)
		out.push(i * step);
	return { step, at: out };
}

function unitOf(step) {
	if (step >= 1e8)
		return [1e9, 's'];
	if (step >= 1e5)
		return [1e6, 'ms'];
	return step >= 100 ? [1e3, 'us'] : [1, 'ns'];
}

function decimals(step, unit) {
	return Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9));
}

// A moment with as many digits as marks `step` apart need: "1 h 02 m", "12.35 s".
export function moment(ns, step) {
	if (!ns)
		return '0';
	if (ns >= HOUR && step >= MINUTE)
		return `${Math.floor(ns / HOUR)} h ${String(Math.floor((ns % HOUR) / MINUTE)).padStart(2, '0')} m`;
	if (step >= MINUTE)
		return `${Math.floor(ns / MINUTE)} m`;
	const [unit, name] = ns >= 1e9 && step >= 1e3 ? [1e9, 's'] : unitOf(Math.max(step, ns / 1e3));
	const digits = decimals(step, unit);

	if (unit !== 1e9 || ns < 10 * MINUTE)
		return `${(ns / unit).toFixed(digits)} ${name}`;
	const rest = (ns % MINUTE) / 1e9;
	const text = rest.toFixed(digits).padStart(digits ? digits + 3 : 2, '0');
	const minutes = Math.floor(ns / MINUTE);
	return minutes >= 60
		? `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} m ${text} s`
		: `${minutes} m ${text} s`;
}

// Labels of marks. Marks whose common part would drown what differs are written as distances from
// the first one: ["2 h 14 m 03.00012 s", "+20.0 us", ...].
export function labels(at, step) {
	if (at.length > 1 && at[0] > 5e3 * step)
		return at.map((ns, i) => (i ? `+${duration(ns - at[0])}` : moment(ns, step)));
	return at.map((ns) => moment(ns, step));
}
