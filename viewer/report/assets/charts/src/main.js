// SPDX-License-Identifier: Apache-2.0
// Puts an interactive chart into each figure of the page when it comes into sight. The page is whole
// without: whatever fails here leaves the static chart, with a note.
import 'uplot/dist/uPlot.min.css';
import './charts.css';
import { readBlock } from './block.js';
import { familyOf, FAMILIES } from './classes.js';
import { el } from './dom.js';
import { flame } from './flame.js';
import { gapList, longestOf } from './gaps.js';
import { timeButtons } from './hand.js';
import { histogram } from './histogram.js';
import { HELP } from './plot.js';
import { ranks } from './ranks.js';
import { steps } from './steps.js';
import { MANY, timeline } from './timeline.js';
import { View } from './view.js';
import { workers } from './workers.js';

// Each (place, block, view, figure): draws into place; false where the block has nothing for it.
const CHARTS = { timeline, steps, histogram, workers, flame, ranks };

// Above a chart, or above all of a grid of them.
function above(figure, ...what) {
	(figure.closest('.strips') ?? figure).before(...what);
}

function note(figure, text) {
	above(figure, el('p', { class: 'soft small charts-note', role: 'note' }, text));
}

// So far in that the shortest gap of the list can fill the page, and a bucket be told from the next.
function closest(block) {
	let least = 1e6;

	for (const g of block.gpus) {
		for (const s of g.fine)
			least = Math.min(least, s.width_ns * 8);
		for (const p of g.gaps)
			least = Math.min(least, (p.end_ns - p.start_ns) * 1.5);
	}
	return Math.max(1000, Math.round(least));
}

function draw(figure, block, view) {
	const plot = figure.querySelector('.plot');
	const chart = CHARTS[figure.dataset.chart];

	if (!plot || !chart || figure.dataset.live)
		return;
	figure.dataset.live = 'no';
	// What is there stays for print, and for a chart that cannot be drawn.
	const live = el('div', { class: 'live' });
	for (const e of plot.children)
		e.classList.add('still');
	plot.prepend(live);
	figure.classList.add('is-live');
	let drawn = false;
	try {
		drawn = chart(live, block, view, figure);
	} catch (e) {
		note(figure, `This chart cannot be drawn (${e.message}); its static form and its table remain.`);
	}
	if (drawn) {
		figure.dataset.live = 'yes';
		// Of the static chart's height; this one has an axis.
		for (const e of figure.querySelectorAll('figcaption > .axis'))
			e.classList.add('still');
	} else {
		figure.classList.remove('is-live');
		live.remove();
	}
}

function help(figure, block, view) {
	above(figure, el('p', { class: 'soft small charts-help', id: HELP },
		'Drag to zoom in, pinch, or turn the wheel with Ctrl. Keys on a chart: \u2190 \u2192 move, ' +
		'+ \u2212 zoom, 0 the whole run, Shift with \u2190 \u2192 the cursor. Charts over time move together.'),
	...(block.gpus.length > MANY
		? [el('div', { class: 'bar-above' }, timeButtons(view)),
			...gapList(longestOf(block, 20), block, view, { open: false })]
		: []));
}

function start() {
	const figures = [...document.querySelectorAll('figure.chart[data-chart]')];
	if (!figures.length)
		return;
	let block;
	try {
		block = readBlock(document.getElementById('gpustarve-data')?.textContent);
	} catch (e) {
		note(figures[0], `Static charts only: ${e.message}.`);
		return;
	}
	if (!block)
		return;
	block.families = block.classes.map((c) => FAMILIES.indexOf(familyOf(c)));
	const view = new View(Math.max(block.axis_ns, 1), closest(block));
	help(figures[0], block, view);
	const sight = new IntersectionObserver((entries) => {
		for (const e of entries) {
			if (!e.isIntersecting)
				continue;
			sight.unobserve(e.target);
			draw(e.target, block, view);
		}
	}, { rootMargin: '300px' });
	for (const f of figures)
		sight.observe(f);
	addEventListener('beforeprint', () => figures.forEach((f) => draw(f, block, view)));
}

document.documentElement.classList.add('painted'); // build.js puts all of this off until then
start();
