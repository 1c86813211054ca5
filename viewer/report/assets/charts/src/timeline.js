// SPDX-License-Identifier: Apache-2.0
// One GPU's time: a column per stretch, its colours the shares of the classes, and below it the
// longest gap of each column. Closer windows around the longest gaps take over as one zooms in.
import { byFamily, FAMILIES } from './classes.js';
import { button, el, readout } from './dom.js';
import { bindHand, follow, timeButtons, timeKeys, timeOptions } from './hand.js';
import { plot, timeAxis } from './plot.js';
import { describe } from './reading.js';
import { columns, finestAt, layers, stripsOf } from './strip.js';
import { colour } from './theme.js';
import { duration, moment, niceStep } from './units.js';

const HEIGHT = 118, LANE = 16;

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
		ctx.fillStyle = colour(FAMILIES[f]);
		ctx.fillRect(x + c.x0, Math.max(top, y), c.x1 - c.x0, bottom - Math.max(top, y));
		bottom = Math.max(top, y);
	}
}

function drawLane(ctx, c, x, bottom, lane, longest) {
	const h = Math.ceil(Math.sqrt(c.longest_ns / longest) * lane);

	ctx.fillRect(x + c.x0, bottom - h, c.x1 - c.x0, h);
}

// Gaps of the list are known exactly: three pixels at least in the lane, and the whole height where
// they are longer than what a bucket tells.
function drawGaps(ctx, gaps, block, box, [from, to], longest) {
	for (const { gap: g, fine } of gaps) {
		const x0 = Math.max(((g.start_ns - from) / (to - from)) * box.width, 0);
		const x1 = Math.min(((g.end_ns - from) / (to - from)) * box.width, box.width);
		const h = Math.ceil(Math.sqrt((g.end_ns - g.start_ns) / longest) * box.lane);
		const wide = Math.max(x1 - x0, 3 * devicePixelRatio);
		ctx.fillStyle = colour(FAMILIES[block.families[g.class]]);
		ctx.fillRect(box.x + x0, box.bottom - h, wide, h);
		if (!fine && x1 - x0 > 3 * devicePixelRatio)
			ctx.fillRect(box.x + x0, box.y, wide, box.height);
	}
}

// Those in sight, the longest last, and whether some strip has buckets shorter than each.
function gapsIn(gpu, [from, to]) {
	return gpu.gaps.filter((g) => g.end_ns > from && g.start_ns < to).reverse().map((gap) => ({
		gap, fine: finestAt(stripsOf(gpu), gap.start_ns)?.width_ns <= gap.end_ns - gap.start_ns,
	}));
}

function painter(gpu, block, view) {
	const all = stripsOf(gpu);

	return (u) => {
		const { ctx, bbox } = u, [from, to] = view.range, dpr = devicePixelRatio;
		const box = {
			x: bbox.left, y: bbox.top, width: bbox.width, lane: LANE * dpr,
			height: bbox.height - (LANE + 2) * dpr, bottom: bbox.top + bbox.height,
		};
		const gaps = gapsIn(gpu, view.range);
		const seen = layers(all, from, to, bbox.width).map((s) => [s, columns(s, from, to, bbox.width)]);
		const longest = Math.max(1, ...gaps.map(({ gap }) => gap.end_ns - gap.start_ns),
			...seen.map(([, cols]) => cols.reduce((most, c) => Math.max(most, c.longest_ns), 0)));

		ctx.save();
		ctx.fillStyle = colour('shade');
		ctx.fillRect(box.x, box.y, box.width, box.height);
		ctx.beginPath();
		ctx.rect(box.x, box.y, box.width, bbox.height);
		ctx.clip();
		for (const [s, cols] of seen) {
			if (s !== gpu.timeline && cols.length) {
				const x0 = cols[0].x0, x1 = cols[cols.length - 1].x1;
				ctx.clearRect(box.x + x0, box.y + box.height, x1 - x0, bbox.height - box.height);
			}
			for (const c of cols)
				drawColumn(ctx, c, box.x, box.y, box.height, block.families);
			ctx.fillStyle = colour('faint');
			for (const c of cols)
				drawLane(ctx, c, box.x, box.bottom, box.lane, longest);
		}
		drawGaps(ctx, gaps, block, box, view.range, longest);
		ctx.restore();
	};
}

function gapList(gpu, block, view, box) {
	if (!gpu.gaps.length)
		return [];
	const items = gpu.gaps.map((g) => {
		const length = duration(g.end_ns - g.start_ns), name = block.classes[g.class];
		const at = moment(g.start_ns, Math.max(niceStep(view.whole, 200), 1e6));
		const go = button(`${length} ${name} at ${at}`, () => {
			view.show(g.start_ns, g.end_ns);
			box.scrollIntoView({ block: 'nearest' });
		});
		go.prepend(el('span', { class: `key f-${FAMILIES[block.families[g.class]]}` }));
		return el('li', {}, go);
	});
	return [el('details', { class: 'gaps', open: block.gpus.length === 1 },
		el('summary', {}, `Zoom to one of the ${gpu.gaps.length} longest gaps`), el('ol', {}, ...items))];
}

export function timeline(place, block, view, figure) {
	const at = Number(figure.dataset.gpu ?? 0);
	const gpu = block.gpus.find((g) => g.gpu === at);

	if (!gpu?.timeline)
		return false;
	const line = readout(`${gpu.label}: point at a moment, or press a key`);
	const few = block.gpus.length <= 4 || gpu === block.gpus[0];
	place.append(el('div', { class: 'bar-above' }, line.line, ...(few ? [timeButtons(view)] : [])));
	const step = () => niceStep(view.range[1] - view.range[0], 200);
	const { u, box } = plot(place, {
		name: `Timeline of ${gpu.label}`, height: HEIGHT, readout: line, key: timeKeys(view),
		data: [[0, block.axis_ns], [null, null]],
		options: {
			...timeOptions(view, {
				draw: [painter(gpu, block, view)],
				setCursor: (c) => line.say(c.cursor.left >= 0 &&
					describe(gpu, block.classes, Math.round(c.posToVal(c.cursor.left, 'x')), step())),
			}),
			series: [{}, { show: false }],
			axes: [timeAxis(), { show: false }],
			padding: [6, 12, 0, 12],
		},
	});
	bindHand(u, view);
	follow(u, view);
	place.append(...gapList(gpu, block, view, box));
	return true;
}
