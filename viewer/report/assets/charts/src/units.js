// SPDX-License-Identifier: Apache-2.0
// Numbers as the page's tables write them (base/units.c), and marks for a time axis. Pure.

const MINUTE = 60e9, HOUR = 3600e9, DAY = 86400e9;
const STEPS = [1, 2, 5];
const LONG_STEPS = [60e9, 120e9, 300e9, 600e9, 1200e9, 1800e9, HOUR, 7200e9, 14400e9, 28800e9, DAY];

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
		return long ?? Math.ceil(least / DAY) * DAY;
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

// Days, hours and minutes as far as the step needs them; days where `days`, as where all is two days long.
function inUnits(ns, step, days) {
	const d = days ? Math.floor(ns / DAY) : 0, h = Math.floor(ns / HOUR) - 24 * d, m = Math.floor((ns % HOUR) / MINUTE);
	const parts = [d && `${d} d`, (d || h) && `${h} h`, (!days || step < HOUR || !(d || h)) && `${m} m`];

	return parts.filter(Boolean).join(' ');
}

// A moment with as many digits as marks `step` apart need, in days too where those around it are:
// "1 h 2 m", "12.35 s", "2 d 12 h".
export function moment(ns, step, days = ns >= 2 * DAY) {
	if (!ns)
		return '0';
	if (step >= MINUTE)
		return inUnits(ns, step, days);
	const [unit, name] = ns >= 1e9 && step >= 1e3 ? [1e9, 's'] : unitOf(Math.max(step, ns / 1e3));
	const digits = decimals(step, unit);

	if (unit !== 1e9 || ns < 10 * MINUTE)
		return `${(ns / unit).toFixed(digits)} ${name}`;
	return `${inUnits(ns, MINUTE, days)} ${((ns % MINUTE) / 1e9).toFixed(digits)} s`;
}

// Labels of marks. Marks whose common part would drown what differs are written as distances from
// the first one: ["2 h 14 m 3.00012 s", "+20.0 us", ...].
export function labels(at, step) {
	if (at.length > 1 && at[0] > 5e3 * step)
		return at.map((ns, i) => (i ? `+${duration(ns - at[0])}` : moment(ns, step)));
	const days = at[at.length - 1] >= 2 * DAY;
	return at.map((ns) => moment(ns, step, days));
}
