// SPDX-License-Identifier: Apache-2.0
// What the loader's workers did over time, and how long batches took meanwhile.
import uPlot from 'uplot';
import { el, legend, readout } from './dom.js';
import { bindHand, follow, timeButtons, timeKeys, timeOptions } from './hand.js';
import { durationSplits, plot, timeAxis, valueAxis } from './plot.js';
import { cellColumns } from './series.js';
import { texture } from './texture.js';
import { colour } from './theme.js';
import { count, duration, moment, niceStep } from './units.js';

// Bottom up, with the texture and the words of the page's static chart (html_loader.c).
const STATES = [
	['io', 'input', 'blocked on files or the network'], ['cpu', 'busy', 'on a CPU'],
	['runnable', 'host', 'waiting for a CPU'], ['idle', 'excluded', 'without work'],
	['lock', 'copy', 'waiting for a lock'], ['other', 'device', 'in something else'],
];

function seriesOf(loader) {
	return STATES.map(([name]) => loader.states[name]);
}

function painter(loader, view) {
	const series = seriesOf(loader);

	return (u) => {
		const { ctx, bbox } = u, [from, to] = view.range;

		ctx.save();
		for (const c of cellColumns(series, loader.cell_ns, from, to, Math.round(bbox.width))) {
			let sum = 0, bottom = u.valToPos(0, 'y', true);
			c.sum.forEach((ns, k) => {
				if (!ns)
					return;
				sum += ns / (c.cells * loader.cell_ns);
				const top = u.valToPos(sum, 'y', true);
				ctx.fillStyle = texture(STATES[k][1]);
				ctx.fillRect(bbox.left + c.x0, top, c.x1 - c.x0, bottom - top);
				bottom = top;
			});
		}
		ctx.restore();
	};
}

function cellAt(loader, at) {
	const i = Math.floor(at / loader.cell_ns);
	return i >= 0 && i < loader.cells ? i : -1;
}

function describeStates(loader, at, step) {
	const i = cellAt(loader, at);
	const parts = i < 0 ? [] : STATES
		.map(([name, , text]) => [loader.states[name][i] / loader.cell_ns, text])
		.filter(([n]) => n >= 0.05).map(([n, text]) => `${n.toFixed(1)} ${text}`);

	return `${moment(at, step)}: ${parts.length ? `workers ${parts.join(', ')}` : 'no worker was seen'}`;
}

function describeBatches(loader, at, step) {
	const i = cellAt(loader, at), parts = [];
	const mean = (s) => duration(Math.round(s.sum_ns[i] / s.count[i]));
	const { batch: b, take: t } = loader;

	if (i >= 0 && b.count[i])
		parts.push(`${count(b.count[i])} batches made in ${duration(b.min_ns[i])} to ` +
			`${duration(b.max_ns[i])}, mean ${mean(b)}`);
	if (i >= 0 && t.count[i])
		parts.push(`${count(t.count[i])} calls of next(), mean ${mean(t)}, at most ${duration(t.max_ns[i])}`);
	if (parts.length && loader.depth)
		parts.push(`${count(Math.max(loader.depth[i], 0))} batches ready`);
	return `${moment(at, step)}: ${parts.join('; ') || 'no batch was begun'}`;
}

const fromZero = (_u, _min, max) => [0, Math.max(max ?? 1, 1) * 1.06];

function middle(loader) {
	return Array.from({ length: loader.cells }, (_, i) => (i + 0.5) * loader.cell_ns);
}

function timeChart(place, block, view, { name, height, describe, draw, data, more }) {
	const loader = block.loader;
	const line = readout(`${name}: point at a moment to read it`);
	const step = () => niceStep(view.range[1] - view.range[0], 200);
	const time = timeOptions(view, {
		draw: draw ? [draw] : [],
		setCursor: (u) => line.say(u.cursor.left >= 0 &&
			describe(loader, Math.round(u.posToVal(u.cursor.left, 'x')), step())),
	});

	place.append(el('div', { class: 'bar-above' }, line.line, timeButtons(view)));
	const { u } = plot(place, {
		name, height, readout: line, key: timeKeys(view), data,
		options: { ...time, ...more, scales: { ...time.scales, ...more.scales } },
	});
	bindHand(u, view);
	follow(u, view);
}

function states(place, block, view) {
	const loader = block.loader, series = seriesOf(loader);
	let most = 0;

	for (let i = 0; i < loader.cells; i++)
		most = Math.max(most, series.reduce((sum, s) => sum + s[i], 0) / loader.cell_ns);
	timeChart(place, block, view, {
		name: 'States of the loader\'s workers', height: 190, describe: describeStates,
		draw: painter(loader, view), data: [[0, block.axis_ns], [null, null]],
		more: {
			series: [{}, { show: false }],
			axes: [timeAxis(), valueAxis((v) => String(v), 40)],
			scales: { y: { range: [0, Math.max(most, 0.5) * 1.05] } },
		},
	});
	place.append(legend(STATES.map(([, key, text]) => [`f-${key}`, text])));
}

function batches(place, block, view) {
	const loader = block.loader, b = loader.batch;
	const per = (s, f) => s.count.map((n, i) => (n ? f(s, i) : null));
	const mean = (s, i) => s.sum_ns[i] / s.count[i];
	const depth = loader.depth;
	const line = (name, dash) => ({
		stroke: () => colour(name), width: 1.5, dash, spanGaps: true, points: { show: false },
	});
	const data = [middle(loader), ...(depth ? [depth] : []), per(b, (s, i) => s.max_ns[i]), per(b, mean),
		per(loader.take, mean)];

	timeChart(place, block, view, {
		name: 'Time per batch', height: 170, describe: describeBatches,
		data,
		more: {
			series: [{}, ...(depth ? [{
				...line('link'), width: 0.75, fill: () => `${colour('link')}22`, scale: 'depth',
				paths: uPlot.paths.stepped({ align: 1 }),
			}] : []), line('input', [3, 3]), line('good'), line('ink', [6, 4])],
			axes: [timeAxis(), { ...valueAxis(), splits: durationSplits },
				...(depth ? [{
					...valueAxis((v) => (Number.isInteger(v) ? String(v) : ''), 34),
					scale: 'depth', side: 1, grid: { show: false },
				}] : [])],
			scales: {
				y: { range: fromZero },
				...(depth ? { depth: { range: fromZero } } : {}),
			},
		},
	});
	place.append(legend([['k-mean', 'making a batch, mean'], ['k-slow', 'the longest'], ['k-median', 'next(), mean'],
		...(depth ? [['k-depth', 'batches ready and not taken (right)']] : [])]));
}

export function workers(place, block, view) {
	const loader = block.loader;
	const any = loader?.batch.count.some((n) => n) || loader?.take.count.some((n) => n);

	if (!loader || !(loader.states || any))
		return false;
	if (loader.states)
		states(place, block, view);
	if (any)
		batches(place, block, view);
	return true;
}
