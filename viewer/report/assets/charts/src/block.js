// SPDX-License-Identifier: Apache-2.0
// Reads the page's data block (viewer/report/data/data.h) and checks what the charts rely on: a block that
// is cut, changed or of another version is refused as a whole, with the reason as an Error. Pure.

export const SCHEMA = 'gpustarve.page/1';
const STATES = ['io', 'cpu', 'runnable', 'idle', 'lock', 'other'];

function need(ok, what) {
	if (!ok)
		throw new Error(what);
}

// A double holds it exactly.
function isNs(n) {
	return Number.isSafeInteger(n) && n >= 0;
}

// A sum over GPUs or threads, whose 104 days are soon had: a double holds it to a part in 10^15.
function isSum(n) {
	return Number.isInteger(n) && Math.abs(n) <= 2 ** 63;
}

function needInts(list, length, what) {
	need(Array.isArray(list) && list.length === length && list.every(isSum), what);
}

function needText(text, what) {
	need(typeof text === 'string', what);
}

// "The first as it is, then each as the difference to the one before it."
export function undelta(list) {
	let sum = 0;
	return list.map((d) => (sum += d));
}

function checkStrip(s, classes, what) {
	need(s && isNs(s.start_ns) && isNs(s.width_ns) && s.width_ns > 0 && isNs(s.end_ns), what);
	need(Array.isArray(s.parts) && s.parts.length > 0, what);
	const before = s.start_ns + (s.parts.length - 1) * s.width_ns;
	need(s.end_ns > before && s.end_ns <= before + s.width_ns, `${what}: its end`);
	for (const parts of s.parts) {
		need(Array.isArray(parts) && parts.length % 2 === 0, `${what}: parts`);
		for (let k = 0; k < parts.length; k += 2)
			need(Number.isInteger(parts[k]) && parts[k] >= 0 && parts[k] < classes &&
				isNs(parts[k + 1]), `${what}: a class`);
	}
	if (s.longest_ns !== null)
		needInts(s.longest_ns, s.parts.length, `${what}: longest_ns`);
}

function checkGpu(g, classes) {
	const what = 'a GPU';

	need(g && isNs(g.gpu) && isNs(g.start_ns) && isNs(g.end_ns), what);
	needText(g.label, what);
	if (g.timeline !== null)
		checkStrip(g.timeline, classes, 'a timeline');
	need(Array.isArray(g.fine) && Array.isArray(g.gaps), what);
	for (const s of g.fine)
		checkStrip(s, classes, 'a window');
	for (const p of g.gaps)
		need(p && isNs(p.start_ns) && isNs(p.end_ns) && p.end_ns >= p.start_ns &&
			Number.isInteger(p.class) && p.class >= 0 && p.class < classes, 'a gap');
}

function checkSteps(s, processes) {
	need(Array.isArray(s.series) && Array.isArray(s.outliers), 'steps');
	for (const one of s.series) {
		need(one && one.process in processes, 'steps: a process');
		const n = Array.isArray(one.start_ns) ? one.start_ns.length : -1;
		for (const name of ['start_ns', 'end_ns', 'min_ns', 'max_ns', 'sum_ns', 'count'])
			needInts(one[name], n, `steps: ${name}`);
		need(one.count.every((c) => c > 0), 'steps: an empty bucket');
	}
	for (const o of s.outliers)
		need(o && isNs(o.start_ns) && isNs(o.end_ns) && o.process in processes, 'steps: a slow one');
	const h = s.histogram;
	need(h && Array.isArray(h.count), 'a histogram');
	needInts(h.count, h.count.length, 'a histogram');
	if (h.count.length)
		needInts(h.edges_ns, h.count.length + 1, 'a histogram: edges');
}

function checkSpread(s, cells, what) {
	for (const name of ['count', 'min_ns', 'max_ns', 'sum_ns'])
		needInts(s?.[name], cells, what);
}

function checkLoader(l) {
	need(isNs(l.cell_ns) && l.cell_ns > 0 && isNs(l.cells), 'the loader');
	if (l.states !== null)
		for (const name of STATES)
			needInts(l.states?.[name], l.cells, `the loader: ${name}`);
	checkSpread(l.batch, l.cells, 'the loader: batches');
	checkSpread(l.take, l.cells, 'the loader: next()');
	if (l.depth !== null)
		needInts(l.depth, l.cells, 'the loader: depth');
}

function checkGraph(g, frames, processes) {
	const n = Array.isArray(g?.parent) ? g.parent.length : -1;

	need(n > 0 && g.process in processes, 'a flame graph');
	needText(g.role, 'a flame graph: role');
	for (const name of ['parent', 'frame', 'ns_below'])
		needInts(g[name], n, `a flame graph: ${name}`);
	for (let i = 0; i < n; i++) {
		need(g.frame[i] >= 0 && g.frame[i] < frames && g.ns_below[i] >= 0, 'a flame graph: a frame');
		need(i === 0 || (g.parent[i] > 0 && g.parent[i] <= i), 'a flame graph: a parent');
	}
}

function checkFlame(f, processes) {
	need([f.total_ns, f.sampled_ns].every((n) => isSum(n) && n >= 0), 'flame graphs');
	need(Array.isArray(f.frames) && f.frames.every((n) => typeof n === 'string'), 'flame graphs');
	need(Array.isArray(f.graphs), 'flame graphs');
	for (const g of f.graphs)
		checkGraph(g, f.frames.length, processes);
}

// The data of a page from its text; null where the page has none because it was made from a summary
// alone. Throws where the text is not a block of ours, whole.
export function readBlock(text) {
	need(typeof text === 'string' && text.trim(), 'the page has no data block');
	let d;
	try {
		d = JSON.parse(text);
	} catch {
		throw new Error('the data block is damaged');
	}
	need(d && typeof d === 'object' && typeof d.schema === 'string', 'the data block is damaged');
	need(d.schema === SCHEMA, `the data block is of another version, ${d.schema.slice(0, 40)}`);
	if (d.series === false)
		return null;
	try {
		checkBlock(d);
	} catch (e) {
		throw new Error(`the data block is damaged: ${e.message}`);
	}
	for (const s of d.steps?.series ?? [])
		s.start_ns = undelta(s.start_ns);
	return d;
}

// Lists that a block may go without.
function complete(d) {
	d.processes ??= [];
	for (const g of Array.isArray(d.gpus) ? d.gpus : []) {
		if (!g)
			continue;
		g.timeline ??= null;
		g.fine ??= [];
		g.gaps ??= [];
		for (const s of [g.timeline, ...(Array.isArray(g.fine) ? g.fine : [])])
			if (s)
				s.longest_ns ??= null;
	}
}

function checkBlock(d) {
	complete(d);
	need(isNs(d.axis_ns), 'its axis');
	need(Array.isArray(d.classes) && d.classes.every((c) => typeof c === 'string'), 'its classes');
	need(Array.isArray(d.gpus) && Array.isArray(d.processes), 'its GPUs');
	for (const g of d.gpus)
		checkGpu(g, d.classes.length);
	for (const p of d.processes)
		needText(p?.label, 'a process');
	if (d.steps)
		checkSteps(d.steps, d.processes);
	if (d.loader)
		checkLoader(d.loader);
	if (d.flame)
		checkFlame(d.flame, d.processes);
}
