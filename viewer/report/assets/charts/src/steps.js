// SPDX-License-Identifier: Apache-2.0
// How long steps took over time: shortest to longest, mean and moving median per bucket of steps, and
// the slowest exactly.
import { chooser, el, labelled, legend, readout } from './dom.js';
import { bindHand, follow, timeButtons, timeKeys, timeOptions } from './hand.js';
import { durationSplits, plot, timeAxis, valueAxis } from './plot.js';
import { lastNotAbove, medianWidth, movingMedian } from './series.js';
import { colour } from './theme.js';
import { count, duration, moment, niceStep } from './units.js';

const HEIGHT = 260;

function dataOf(s) {
	const mean = s.sum_ns.map((t, i) => t / s.count[i]);
	const middle = s.start_ns.map((t, i) => t + s.end_ns[i] / 2);

	return [middle, s.max_ns, s.min_ns, mean, movingMedian(mean, medianWidth(mean.length))];
}

function outliers(block, series) {
	return block.steps.outliers.filter((o) => o.process === series.process);
}

function drawOutliers(u, slow) {
	const { ctx, bbox } = u, r = 3.5 * devicePixelRatio;

	ctx.save();
	ctx.beginPath();
	ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
	ctx.clip();
	ctx.fillStyle = colour('input');
	ctx.strokeStyle = colour('card');
	ctx.lineWidth = devicePixelRatio;
	for (const o of slow) {
		ctx.beginPath();
		ctx.arc(u.valToPos(o.start_ns, 'x', true), u.valToPos(o.end_ns - o.start_ns, 'y', true),
			r, 0, 2 * Math.PI);
		ctx.fill();
		ctx.stroke();
	}
	ctx.restore();
}

function describe(s, slow, at, near, step) {
	const close = slow.find((o) => Math.abs(o.start_ns - at) <= near);

	if (close)
		return `${moment(close.start_ns, step)}: a slow step, ${duration(close.end_ns - close.start_ns)}, ` +
			`in ${duration(close.input_ns)} of it its GPU waited for input`;
	const i = lastNotAbove(s.start_ns, at);
	if (i < 0 || at > s.start_ns[i] + s.end_ns[i])
		return `${moment(at, step)}: no step`;
	if (s.count[i] === 1)
		return `${moment(at, step)}: a step of ${duration(s.max_ns[i])}`;
	return `${moment(at, step)}: ${count(s.count[i])} steps, ${duration(s.min_ns[i])} to ` +
		`${duration(s.max_ns[i])}, mean ${duration(Math.round(s.sum_ns[i] / s.count[i]))}`;
}

function seriesLook() {
	const line = (name, width, dash) => ({
		stroke: () => colour(name), width, dash, points: { show: false }, spanGaps: true,
	});

	return {
		series: [{}, line('copy', 0.5), line('copy', 0.5), { ...line('good', 1.5) }, line('ink', 1.5, [6, 4])],
		bands: [{ series: [1, 2], fill: () => `${colour('copy')}33` }],
	};
}

// The scale on which the slowest steps do not squeeze all others into one line.
function wantsLog(block) {
	const { median_ns, outliers: slow } = block.steps;
	return median_ns > 0 && slow.length > 0 && slow[0].end_ns - slow[0].start_ns > 20 * median_ns;
}

export function steps(place, block, view, figure) {
	const wanted = figure.dataset.series;
	const all = (block.steps?.series ?? []).filter((_, i) => wanted === undefined || i === Number(wanted));

	if (!all.some((s) => s.start_ns.length))
		return false;
	const line = readout('Point at a moment to read its steps');
	const box = el('div');
	const state = { s: all[0], log: wantsLog(block), u: null };
	const log = el('input', {
		type: 'checkbox', checked: state.log,
		change: () => {
			state.log = log.checked;
			make();
		},
	});
	const [text, input] = labelled('Logarithmic', log);
	place.append(el('div', { class: 'bar-above' }, line.line, el('span', { class: 'buttons' },
		...chooser('Of', all.map((s) => block.processes[s.process].label), (i) => {
			state.s = all[i];
			make();
		}), input, text), timeButtons(view)), box,
	legend([['k-mean', 'mean'], ['k-median', 'moving median'], ['k-band', 'shortest to longest'],
		['k-slow', 'the slowest']]));

	function make() {
		state.u?.destroy();
		box.replaceChildren();
		const s = state.s, slow = outliers(block, s);
		const step = () => niceStep(view.range[1] - view.range[0], 200);
		const time = timeOptions(view, {
			draw: [(u) => drawOutliers(u, slow)],
			setCursor: (u) => line.say(u.cursor.left >= 0 && describe(s, slow,
				Math.round(u.posToVal(u.cursor.left, 'x')),
				u.posToVal(5, 'x') - u.posToVal(0, 'x'), step())),
		});
		const most = slow.reduce((m, o) => Math.max(m, o.end_ns - o.start_ns), 0);
		const made = plot(box, {
			name: `Step times of ${block.processes[s.process].label}`, height: HEIGHT,
			readout: line, key: timeKeys(view), data: dataOf(s),
			options: {
				...time, ...seriesLook(), axes: [timeAxis(), yAxis(state.log)],
				scales: { ...time.scales, y: yScale(state.log, most) },
			},
		});
		state.u = made.u;
		bindHand(made.u, view);
		follow(made.u, view);
	}
	make();
	return true;
}

function yAxis(log) {
	return log ? valueAxis() : { ...valueAxis(), splits: durationSplits };
}

function yScale(log, most) {
	if (log)
		return { distr: 3 };
	return { range: (_u, _min, max) => [0, Math.max(max ?? 1, most, 1) * 1.06] };
}
