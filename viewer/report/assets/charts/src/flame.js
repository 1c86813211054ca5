// SPDX-License-Identifier: Apache-2.0
// What the hosts' code did while GPUs waited: a flame graph per process and role, the root on top.
import flamegraph from 'd3-flame-graph';
import { select } from 'd3-selection';
import { familyOf } from './classes.js';
import { button, chooser, el, labelled, readout } from './dom.js';
import { colour, isDark, onTheme, still } from './theme.js';
import { brief, found, neighbour, treeOf } from './tree.js';
import { count, duration, percent } from './units.js';

const CELL = 22;
const ROLES = {
	submitter: 'main process', worker: 'loader workers', pin: 'pin thread', other: 'other threads',
	worker_other: 'workers\' other threads', producer: 'threads that were waited for',
	feeder: 'threads that feed the main process',
};

function channels(hex) {
	return [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
}

// The class's colour, mixed into the card so far that the page's ink stands out against it.
function fill(node) {
	const base = channels(colour(node.cls ? familyOf(node.cls) : 'excluded'));
	const card = channels(colour('card'));
	const share = (isDark() ? 0.42 : 0.38) + 0.08 * Math.sin(node.name.length * 2.4);
	const mixed = base.map((b, i) => Math.round(b * share + card[i] * (1 - share)));

	return `rgb(${mixed.join(',')})`;
}

export function flame(place, block) {
	const all = block.flame?.graphs ?? [];

	if (!all.length)
		return false;
	const name = (g) => `${block.processes[g.process].label}, ${ROLES[g.role] ?? g.role}`;
	const line = readout('Point at a frame to read it; a click or Enter looks closer');
	const box = el('div', {
		class: 'flame', tabindex: 0, role: 'application', 'aria-describedby': 'charts-flame-help',
	});
	const search = el('input', { type: 'search', size: 16, autocomplete: 'off', spellcheck: 'false' });
	const state = { graph: all[0], root: null, chart: null, at: null, width: 0 };
	const say = (n) => line.say(n && `${n.name}: ${duration(n.value)}, ` +
		`${percent(n.value, state.root.value)} of what ${name(state.graph)} was seen at`);

	function look() {
		for (const g of box.querySelectorAll('g.at'))
			g.classList.remove('at');
		if (!state.at)
			return;
		select(box).selectAll('g').filter((d) => d.data === state.at).classed('at', true).raise();
		say(state.at);
	}

	function make() {
		state.root = treeOf(state.graph, block.flame.frames);
		state.at = null;
		state.width = box.clientWidth;
		box.replaceChildren();
		box.setAttribute('aria-label', `Flame graph of ${name(state.graph)}`);
		state.chart = flamegraph().width(state.width).cellHeight(CELL).inverted(true)
			.transitionDuration(still() ? 0 : 200).minFrameSize(1).sort(false).title('')
			.resetHeightOnZoom(true)
			.getName((d) => brief(d.data.name))
			.setColorMapper((d) => (d.highlight ? colour('hit') : fill(d.data)))
			.setLabelHandler((d) => `${d.data.name}: ${duration(d.data.value)}`)
			.setSearchMatch((d, words) => d.data.name.toLowerCase().includes(words.toLowerCase()))
			.setSearchHandler(() => {})
			.onHover((d) => say(d.data))
			.onClick((d) => {
				state.at = d.data;
				look();
			});
		select(box).datum(state.root).call(state.chart);
		box.querySelector('svg')?.setAttribute('aria-hidden', 'true');
		seek();
	}

	function seek() {
		const words = search.value.trim();
		if (!words) {
			state.chart.clear();
			line.say('');
			return;
		}
		state.chart.search(words);
		const { hits, ns } = found(state.root, words);
		line.say(`${count(hits)} frames hold "${words}": ${duration(ns)}, ${percent(ns, state.root.value)}`);
	}

	function zoomTo(data) {
		const node = select(box).selectAll('g').data().find((d) => d?.data === data);
		if (node)
			state.chart.zoomTo(node);
		look();
	}

	search.addEventListener('input', seek);
	box.addEventListener('keydown', (e) => {
		if (e.altKey || e.ctrlKey || e.metaKey)
			return;
		const next = state.at ? neighbour(state.at, e.key) : neighbour(state.root, e.key) && state.root;
		if (next) {
			state.at = next;
			look();
		} else if (e.key === 'Enter' && state.at) {
			zoomTo(state.at);
		} else if (e.key === '0' || e.key === 'Escape') {
			state.chart.resetZoom();
			look();
		} else {
			return;
		}
		e.preventDefault();
	});
	box.addEventListener('focus', () => line.aloud(true));
	box.addEventListener('blur', () => line.aloud(false));
	place.append(el('div', { class: 'bar-above' }, line.line, el('span', { class: 'buttons' },
		...chooser('Of', all.map(name), (i) => {
			state.graph = all[i];
			make();
		}), ...labelled('Search', search),
		button('Whole graph', () => state.chart.resetZoom()))), box,
	el('p', { class: 'soft small', id: 'charts-flame-help' },
		'Width is GPU time that passed meanwhile. Arrow keys go from frame to frame, Enter looks ' +
		'closer, 0 shows all.'));
	make();
	new ResizeObserver(() => box.clientWidth && box.clientWidth !== state.width && make()).observe(box);
	onTheme(make);
	return true;
}
