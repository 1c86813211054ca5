// SPDX-License-Identifier: Apache-2.0
// All ranks at a glance: a row each, time from left to right, the stronger the colour the more it
// starved then, or waited in a collective for a later rank.
import { lost } from './classes.js';
import { el, readout } from './dom.js';
import { bindHand, follow, timeButtons, timeKeys, timeOptions } from './hand.js';
import { plot, timeAxis } from './plot.js';
import { bucketAt, columns } from './strip.js';
import { texture } from './texture.js';
import { colour } from './theme.js';
import { moment, niceStep, percent } from './units.js';

const ROW_LEAST = 6, ROW_MOST = 22, HEIGHT_MOST = 420;

// The rows that the page has, in its order, each on the first host's clock: "gpu:offset_ns ...".
function rowsOf(text, block) {
	const rows = [];

	for (const [, gpu, offset] of (text ?? '').matchAll(/(\d+):(-?\d+)/g)) {
		const g = block.gpus.find((one) => one.gpu === Number(gpu));
		if (g?.timeline)
			rows.push({ g, offset: Number(offset) });
	}
	return rows;
}

function painter(rows, block, view) {
	const skew = block.classes.indexOf('comm.skew');

	return (u) => {
		const { ctx, bbox } = u, [from, to] = view.range;
		const row = bbox.height / rows.length, dpr = devicePixelRatio;

		ctx.save();
		rows.forEach(({ g, offset }, i) => {
			const y = Math.round(bbox.top + i * row);
			const h = Math.max(1, Math.round(bbox.top + (i + 1) * row) - y - (row > 4 * dpr ? dpr : 0));
			ctx.globalAlpha = 1;
			ctx.fillStyle = colour('shade');
			ctx.fillRect(bbox.left, y, bbox.width, h);
			for (const c of columns(g.timeline, from - offset, to - offset, Math.round(bbox.width))) {
				const { family, share } = lost(c.ns, block.families, skew);
				if (share <= 0)
					continue;
				ctx.globalAlpha = 0.15 + 0.85 * share;
				ctx.fillStyle = texture(family);
				ctx.fillRect(bbox.left + c.x0, y, c.x1 - c.x0, h);
			}
		});
		ctx.restore();
	};
}

function describe({ g, offset }, block, at, step) {
	const i = bucketAt(g.timeline, at - offset);

	if (i < 0)
		return `${g.label}, ${moment(at, step)}: not held`;
	const parts = g.timeline.parts[i], ns = new Map();
	for (let k = 0; k < parts.length; k += 2)
		ns.set(parts[k], parts[k + 1]);
	const { family, share } = lost(ns, block.families, block.classes.indexOf('comm.skew'));
	const what = family === 'comm' ? 'in a collective for a later rank' : 'starved';
	return `${g.label}, ${moment(at, step)}: ${what} ${percent(share, 1)}`;
}

export function ranks(place, block, view, figure) {
	const rows = rowsOf(figure.dataset.rows, block);

	if (!rows.length)
		return false;
	const row = Math.max(ROW_LEAST, Math.min(ROW_MOST, HEIGHT_MOST / rows.length));
	const line = readout('Point at a rank and a moment; keys: \u2191 \u2193 another rank');
	const step = () => niceStep(view.range[1] - view.range[0], 200);
	// A cursor that follows another chart's has no height.
	const rowAt = (u) => Math.min(rows.length - 1,
		Math.max(0, Math.floor((u.cursor.top / u.over.clientHeight) * rows.length) || 0));
	const turn = timeKeys(view);

	place.append(el('div', { class: 'bar-above' }, line.line, timeButtons(view)));
	const { u } = plot(place, {
		name: 'What each rank lost over time', height: Math.round(row * rows.length) + 38,
		readout: line, data: [[0, block.axis_ns], [null, null]],
		options: {
			...timeOptions(view, {
				draw: [painter(rows, block, view)],
				setCursor: (c) => line.say(c.cursor.left >= 0 &&
					describe(rows[rowAt(c)], block, Math.round(c.posToVal(c.cursor.left, 'x')), step())),
			}),
			series: [{}, { show: false }],
			axes: [timeAxis(), { show: false }],
			padding: [2, 1, 0, 1],
		},
		key(e, c) {
			const way = { ArrowUp: -1, ArrowDown: 1 }[e.key];
			if (!way)
				return turn(e, c);
			const next = Math.min(Math.max(rowAt(c) + way, 0), rows.length - 1);
			c.setCursor({ left: c.cursor.left, top: ((next + 0.5) / rows.length) * c.over.clientHeight });
			return true;
		},
	});
	bindHand(u, view);
	follow(u, view);
	return true;
}
