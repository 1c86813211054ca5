// SPDX-License-Identifier: Apache-2.0
// How many steps took how long. Bins grow with the time (eight per doubling), each as wide as the
// next on the page.
import { el, legend, readout } from './dom.js';
import { fits, plot, valueAxis } from './plot.js';
import { placeOf } from './series.js';
import { colour } from './theme.js';
import { count, duration, percent } from './units.js';

const HEIGHT = 220;

function painter(h, lines) {
	const most = Math.max(...h.count);

	return (u) => {
		const { ctx, bbox } = u, dpr = devicePixelRatio;
		const base = bbox.top + bbox.height;

		ctx.save();
		h.count.forEach((n, i) => {
			if (!n)
				return;
			const x0 = u.valToPos(i, 'x', true), x1 = u.valToPos(i + 1, 'x', true);
			const tall = Math.max((n / most) * (base - u.valToPos(most, 'y', true)), 2 * dpr);
			const gap = x1 - x0 > 4 * dpr ? dpr : 0;
			ctx.fillStyle = colour(i === u.lit ? 'ink' : 'good');
			ctx.fillRect(x0, base - tall, x1 - x0 - gap, tall);
		});
		for (const [ns, name] of lines) {
			const x = u.valToPos(placeOf(h.edges_ns, ns), 'x', true);
			ctx.strokeStyle = colour(name);
			ctx.lineWidth = 2 * dpr;
			ctx.setLineDash(name === 'ink' ? [6 * dpr, 4 * dpr] : []);
			ctx.beginPath();
			ctx.moveTo(x, bbox.top);
			ctx.lineTo(x, base);
			ctx.stroke();
		}
		ctx.restore();
	};
}

function binAxis(edges) {
	return {
		...valueAxis(duration, 30), gap: 4,
		values: (u, at) => at.map((i) => {
			const text = duration(edges[i]);
			return fits(u, text, i) ? text : '';
		}),
		splits(u) {
			const each = Math.max(1, Math.ceil((edges.length * 70) / u.width)), at = [];
			for (let i = 0; i < edges.length; i += each)
				at.push(i);
			return at;
		},
	};
}

function light(u, i) {
	if (u.lit !== i) {
		u.lit = i;
		u.redraw(false, false);
	}
}

export function histogram(place, block) {
	const h = block.steps?.histogram;

	if (!h?.count.length)
		return false;
	const all = h.count.reduce((a, b) => a + b, 0), most = Math.max(...h.count);
	const line = readout('Point at a bin to read it; keys: \u2190 \u2192 the next bin');
	const { median_ns, p95_ns } = block.steps;
	const lines = [[median_ns, 'ink'], [p95_ns, 'input']].filter(([ns]) => ns >= 0);
	const binOf = (u) => Math.min(Math.max(Math.floor(u.posToVal(u.cursor.left, 'x')), 0), h.count.length - 1);

	place.append(el('div', { class: 'bar-above' }, line.line));
	plot(place, {
		name: 'Histogram of step times', height: HEIGHT, readout: line,
		data: [[0, h.count.length], [null, null]],
		options: {
			cursor: { x: false, y: false, points: { show: false }, drag: { x: false, y: false } },
			scales: {
				x: { time: false, range: [0, h.count.length] },
				y: { range: [0, Math.max(most, 1) * 1.06] },
			},
			series: [{}, { show: false }],
			axes: [binAxis(h.edges_ns), valueAxis((n) => (Number.isInteger(n) ? count(n) : ''), 64)],
			hooks: {
				draw: [painter(h, lines)],
				setCursor: [(u) => {
					if (u.cursor.left < 0) {
						light(u, -1);
						line.say('');
						return;
					}
					const i = binOf(u);
					light(u, i);
					line.say(`${duration(h.edges_ns[i])} to ${duration(h.edges_ns[i + 1])}: ` +
						`${count(h.count[i])} steps, ${percent(h.count[i], all)} of ${count(all)}`);
				}],
			},
		},
		key(e, u) {
			const way = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
			if (!way)
				return false;
			const i = Math.min(Math.max(binOf(u) + way, 0), h.count.length - 1);
			u.setCursor({ left: u.valToPos(i + 0.5, 'x'), top: 10 });
			return true;
		},
	});
	if (lines.length)
		place.append(legend([['k-median', `median ${duration(median_ns)}`],
			['k-slow', `p95 ${duration(p95_ns)}`]]));
	return true;
}
