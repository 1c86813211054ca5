// SPDX-License-Identifier: Apache-2.0
// The longest gaps as buttons that zoom to them.
import { FAMILIES } from './classes.js';
import { button, el } from './dom.js';
import { gapClass } from './reading.js';
import { duration, moment, niceStep } from './units.js';

// Of @gaps, each with where it is ("" for the only place there is); go() after the zoom. Nothing where
// there are none.
export function gapList(gaps, block, view, { open, go }) {
	if (!gaps.length)
		return [];
	const step = Math.max(niceStep(view.whole, 200), 1e6);
	const items = gaps.map(({ gap: g, where }) => {
		const text = [duration(g.end_ns - g.start_ns), gapClass(g, block.classes), where].filter(Boolean);
		const zoom = button(`${text.join(' ')} at ${moment(g.start_ns, Math.min(step, g.start_ns || 1))}`, () => {
			view.show(g.start_ns, g.end_ns);
			go?.();
		});
		zoom.prepend(el('span', { class: `key f-${FAMILIES[block.families[g.class]]}` }));
		return el('li', {}, zoom);
	});
	return [el('details', { class: 'gaps', open },
		el('summary', {}, gaps.length > 1
			? `Zoom to one of ${gaps.length} long gaps` : 'Zoom to the longest gap'), el('ol', {}, ...items))];
}

// The longest of all GPUs.
export function longestOf(block, most) {
	return block.gpus.flatMap((g) => g.gaps.map((gap) => ({ gap, where: `on ${g.label}` })))
		.sort((a, b) => b.gap.end_ns - b.gap.start_ns - (a.gap.end_ns - a.gap.start_ns)).slice(0, most);
}
