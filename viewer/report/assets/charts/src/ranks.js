// SPDX-License-Identifier: Apache-2.0
// All GPUs at a glance: a row each, time from left to right, the darker the more it starved then.
import { starved } from './classes.js';
import { el, readout } from './dom.js';
import { bindHand, follow, timeButtons, timeKeys, timeOptions } from './hand.js';
import { plot, timeAxis } from './plot.js';
import { bucketAt, columns } from './strip.js';
import { colour } from './theme.js';
import { moment, niceStep, percent } from './units.js';

const ROW_LEAST = 6, ROW_MOST = 22, HEIGHT_MOST = 420;

function painter(gpus, block, view) {
	return (u) => {
		const { ctx, bbox } = u, [from, to] = view.range;
		const row = bbox.height / gpus.length;

		ctx.save();
		gpus.forEach((g, i) => {
			const y = Math.round(bbox.top + i * row), h = Math.max(1, Math.round(row * 0.9));
			ctx.globalAlpha = 1;
			ctx.fillStyle = colour('shade');
			ctx.fillRect(bbox.left, y, bbox.width, h);
			for (const c of columns(g.timeline, from, to, Math.round(bbox.width))) {
				const share = starved(c.ns, block.families);
				ctx.globalAlpha = share === null ? 0.35 : 0.12 + 0.88 * share;
				ctx.fillStyle = colour(share === null ? 'excluded' : share ? 'input' : 'busy');
				ctx.fillRect(bbox.left + c.x0, y, c.x1 - c.x0, h);
			}
		});
		ctx.restore();
	};
}

function describe(g, block, at, step) {
	const i = bucketAt(g.timeline, at);

	if (i < 0)
		return `${g.label}, ${moment(at, step)}: not held`;
	const parts = g.timeline.parts[i], ns = new Map();
	for (let k = 0; k < parts.length; k += 2)
		ns.set(parts[k], parts[k + 1]);
	const share = starved(ns, block.families);
	return `${g.label}, ${moment(at, step)}: ${share === null ? 'not counted' : `starved ${percent(share, 1)}`}`;
}

export function ranks(place, block, view) {
	const gpus = block.gpus.filter((g) => g.timeline);

	if (gpus.length < 2)
		return false;
	const row = Math.max(ROW_LEAST, Math.min(ROW_MOST, HEIGHT_MOST / gpus.length));
	const line = readout('A row per GPU; the stronger the colour, the more it starved');
	const step = () => niceStep(view.range[1] - view.range[0], 200);
	// A cursor that follows another chart's has no height.
	const rowAt = (u) => Math.min(gpus.length - 1,
		Math.max(0, Math.floor((u.cursor.top / u.over.clientHeight) * gpus.length) || 0));
	const turn = timeKeys(view);

	place.append(el('div', { class: 'bar-above' }, line.line, timeButtons(view)));
	const { u } = plot(place, {
		name: 'Starved share of every GPU over time', height: Math.round(row * gpus.length) + 38,
		readout: line, data: [[0, block.axis_ns], [null, null]],
		options: {
			...timeOptions(view, {
				draw: [painter(gpus, block, view)],
				setCursor: (c) => line.say(c.cursor.left >= 0 &&
					describe(gpus[rowAt(c)], block, Math.round(c.posToVal(c.cursor.left, 'x')), step())),
			}),
			series: [{}, { show: false }],
			axes: [timeAxis(), { show: false }],
			padding: [2, 1, 0, 1],
		},
		key(e, c) {
			const way = { ArrowUp: -1, ArrowDown: 1 }[e.key];
			if (!way)
				return turn(e, c);
			const next = Math.min(Math.max(rowAt(c) + way, 0), gpus.length - 1);
			c.setCursor({ left: c.cursor.left, top: ((next + 0.5) / gpus.length) * c.over.clientHeight });
			return true;
		},
	});
	bindHand(u, view);
	follow(u, view);
	return true;
}
