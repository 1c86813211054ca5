// SPDX-License-Identifier: Apache-2.0
// What all charts by uPlot have in common: size, axes, colours, a place in the tab order, a readout.
import uPlot from 'uplot';
import { el } from './dom.js';
import { colour, onTheme } from './theme.js';
import { duration, labels, marks } from './units.js';

const FONT = '12px system-ui, sans-serif';
export const HELP = 'charts-help';

function axisLook() {
	return {
		font: FONT, stroke: () => colour('soft'),
		grid: { stroke: () => colour('rule'), width: 1 },
		ticks: { stroke: () => colour('rule'), width: 1, size: 5 },
	};
}

export function timeAxis() {
	let step = 1;

	return {
		...axisLook(), size: 30, gap: 4,
		splits(u, _axis, from, to) {
			const most = Math.max(2, Math.floor(u.width / 80));
			const m = marks(from, to, most);
			step = m.step;
			return m.at;
		},
		values: (u, at) => fitting(u, at, step),
	};
}

// Whether a label of the axis below is seen whole.
export function fits(u, text, value) {
	const x = u.bbox.left / devicePixelRatio + u.valToPos(value, 'x'), half = text.length * 3.4;
	return x >= half && x + half <= u.width;
}

// Labels that would be cut at the edges are left out, the others count from the first that is there.
function fitting(u, at, step) {
	let first = 0, texts = labels(at, step);

	while (first < at.length && !fits(u, texts[first], at[first]))
		texts = [...at.slice(0, ++first).map(() => ''), ...labels(at.slice(first), step)];
	return texts.map((text, i) => (text && fits(u, text, at[i]) ? text : ''));
}

export function valueAxis(write = duration, size = 64) {
	return { ...axisLook(), size, gap: 6, values: (_u, at) => at.map((v) => (v === null ? '' : write(v))) };
}

// The same marks for durations as for moments: 1, 2, 5 of a unit.
export function durationSplits(u, _axis, from, to) {
	return marks(from, to, Math.max(2, Math.floor(u.height / 45))).at;
}

// Makes the chart in `place`, a new element that takes the keyboard's focus. key(event, u) returns
// true for keys that it took.
export function plot(place, { name, height, options, data, key, readout }) {
	const box = el('div', {
		class: 'canvas', tabindex: 0, role: 'application', 'aria-label': name,
		'aria-describedby': HELP,
	});
	place.append(box);
	const u = new uPlot({
		width: Math.max(box.clientWidth, 120), height, legend: { show: false }, pxAlign: 1,
		padding: [8, 1, 0, 0], ...options,
	}, data, box);

	box.addEventListener('keydown', (e) => {
		if (!e.altKey && !e.ctrlKey && !e.metaKey && key?.(e, u))
			e.preventDefault();
	});
	box.addEventListener('focus', () => {
		readout?.aloud(true);
		if (u.cursor.left < 0)
			u.setCursor({ left: u.over.clientWidth / 2, top: u.over.clientHeight / 2 });
	});
	box.addEventListener('blur', () => {
		readout?.aloud(false);
		u.setCursor({ left: -10, top: -10 });
	});
	let width = box.clientWidth;
	new ResizeObserver(() => {
		if (box.clientWidth && box.clientWidth !== width)
			u.setSize({ width: (width = box.clientWidth), height });
	}).observe(box);
	onTheme(() => u.redraw(true, true));
	return { u, box };
}
