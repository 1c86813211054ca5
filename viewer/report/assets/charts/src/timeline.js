// SPDX-License-Identifier: Apache-2.0
// One GPU's time: a column per stretch, its colours the shares of the classes, and above it the
// longest gap of each column. Closer windows around the longest gaps take over as one zooms in.
import { byFamily, FAMILIES } from './classes.js';
import { el, readout } from './dom.js';
import { gapList } from './gaps.js';
import { bindHand, follow, timeButtons, timeKeys, timeOptions } from './hand.js';
import { plot, timeAxis } from './plot.js';
import { describe } from './reading.js';
import { columns, finestAt, layers, stripsOf } from './strip.js';
import { texture } from './texture.js';
import { colour } from './theme.js';
import { niceStep } from './units.js';

// The lane of gaps stands above the columns, as in the page's static chart. Where there are many GPUs
// each gets less.
const TALL = { height: 122, lane: 14 }, LOW = { height: 74, lane: 8 };
export const MANY = 8;

// A stack of at least one pixel for each family that is there, so that no stall is rounded away.
function drawColumn(ctx, c, x, y, height, families) {
	const ns = byFamily(c.ns, families);
	const whole = ns.reduce((a, b) => a + b, 0);
	let bottom = y + height, sum = 0;

	for (let f = 0; f < FAMILIES.length && whole; f++) {
		if (!ns[f])
			continue;
		sum += ns[f];
		const top = Math.min(y + height - Math.round((sum / whole) * height), bottom - 1);
		ctx.fillStyle = texture(FAMILIES[f]);
		ctx.fillRect(x + c.x0, Math.max(top, y), c.x1 - c.x0, bottom - Math.max(top, y));
		bottom = Math.max(top, y);
	}
}

function drawLane(ctx, c, box, longest) {
	const h = Math.ceil(Math.sqrt(c.longest_ns / longest) * box.lane);

	ctx.fillRect(box.x + c.x0, box.y - h, c.x1 - c.x0, h);
}

// Gaps of the list are known exactly: two pixels at least in the lane, and the whole height where
// they are longer than what a bucket tells.
function drawGaps(ctx, gaps, block, box, [from, to], longest) {
	const dpr = devicePixelRatio;

	for (const { gap: g, fine } of gaps) {
		const x0 = Math.max(((g.start_ns - from) / (to - from)) * box.width, 0);
		const x1 = Math.min(((g.end_ns - from) / (to - from)) * box.width, box.width);
		const h = Math.ceil(Math.sqrt((g.end_ns - g.start_ns) / longest) * box.lane);
		const wide = Math.max(x1 - x0, 2 * dpr);
		if (!fine && x1 - x0 > 3 * dpr) {
			ctx.fillStyle = texture(FAMILIES[block.families[g.class]]);
			ctx.fillRect(box.x + x0, box.y, wide, box.height);
		}
		ctx.fillStyle = colour('mark');
		ctx.fillRect(box.x + x0, box.y - h, wide, h);
	}
}

// Those in sight, the longest last, and whether some strip has buckets shorter than each.
function gapsIn(gpu, [from, to]) {
	return gpu.gaps.filter((g) => g.end_ns > from && g.start_ns < to).reverse().map((gap) => ({
		gap, fine: finestAt(stripsOf(gpu), gap.start_ns)?.width_ns <= gap.end_ns - gap.start_ns,
	}));
}

function painter(gpu, block, view, lane) {
	const all = stripsOf(gpu);

	return (u) => {
		const { ctx, bbox } = u, [from, to] = view.range, dpr = devicePixelRatio;
		const box = {
			x: bbox.left, y: bbox.top + (lane + 1) * dpr, width: bbox.width,
			height: bbox.height - (lane + 1) * dpr, lane: lane * dpr,
		};
		const gaps = gapsIn(gpu, view.range);
		const seen = layers(all, from, to, box.width).map((s) => [s, columns(s, from, to, box.width)]);
		const longest = Math.max(1, ...gaps.map(({ gap }) => gap.end_ns - gap.start_ns),
			...seen.map(([, cols]) => cols.reduce((most, c) => Math.max(most, c.longest_ns), 0)));

		ctx.save();
		ctx.beginPath();
		ctx.rect(box.x, bbox.top, box.width, bbox.height);
		ctx.clip();
		ctx.clearRect(box.x, bbox.top, box.width, bbox.height);
		ctx.fillStyle = colour('shade');
		ctx.fillRect(box.x, box.y, box.width, box.height);
		for (const [s, cols] of seen) {
			if (s !== gpu.timeline && cols.length) {
				const x0 = cols[0].x0, x1 = cols[cols.length - 1].x1;
				ctx.clearRect(box.x + x0, bbox.top, x1 - x0, box.y - bbox.top);
			}
			for (const c of cols)
				drawColumn(ctx, c, box.x, box.y, box.height, block.families);
			ctx.fillStyle = colour('soft');
			ctx.globalAlpha = 0.45;
			for (const c of cols)
				drawLane(ctx, c, box, longest);
			ctx.globalAlpha = 1;
		}
		drawGaps(ctx, gaps, block, box, view.range, longest);
		ctx.restore();
	};
}

function gapsOf(gpu, block, view, box) {
	return gapList(gpu.gaps.map((gap) => ({ gap, where: '' })), block, view, {
		open: block.gpus.length === 1 && innerWidth >= 700, go: () => box.scrollIntoView({ block: 'nearest' }),
	});
}

export function timeline(place, block, view, figure) {
	const at = Number(figure.dataset.gpu ?? 0);
	const gpu = block.gpus.find((g) => g.gpu === at);

	if (!gpu?.timeline)
		return false;
	const many = block.gpus.length > MANY, size = many ? LOW : TALL;
	const line = readout(many ? '' : `${gpu.label}: point at a moment, or press a key`);
	const tools = !many && (block.gpus.length <= 4 || gpu === block.gpus[0]) ? [timeButtons(view)] : [];
	const above = el('div', { class: many ? 'tip' : 'bar-above' }, line.line, ...tools);
	const step = () => niceStep(view.range[1] - view.range[0], 200);
	if (!many)
		place.append(above);
	const { u, box } = plot(place, {
		name: `Timeline of ${gpu.label}`, height: size.height, readout: line, key: timeKeys(view),
		data: [[0, block.axis_ns], [null, null]],
		options: {
			...timeOptions(view, {
				draw: [painter(gpu, block, view, size.lane)],
				setCursor: (c) => line.say(c.cursor.left >= 0 &&
					describe(gpu, block.classes, Math.round(c.posToVal(c.cursor.left, 'x')), step())),
			}),
			series: [{}, { show: false }],
			axes: [timeAxis(), { show: false }],
			padding: [2, 1, 0, 1],
		},
	});
	bindHand(u, view);
	follow(u, view);
	place.append(...(many ? [above] : []), ...gapsOf(gpu, block, view, box));
	return true;
}
