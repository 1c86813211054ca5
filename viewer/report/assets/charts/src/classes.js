// SPDX-License-Identifier: Apache-2.0
// Classes of GPU time and their families, which share a colour (facts/classes.def). Pure.

// From the bottom of a column to its top, as in the page's static chart.
export const FAMILIES = ['busy', 'comm', 'copy', 'device', 'host', 'input', 'excluded'];

export function familyOf(name) {
	if (name === 'compute')
		return 'busy';
	const part = name.split('.')[0];
	return FAMILIES.includes(part) ? part : 'excluded';
}

// Sum of ns per family of a Map(class index -> ns).
export function byFamily(ns, families) {
	const out = new Array(FAMILIES.length).fill(0);

	for (const [c, t] of ns)
		out[families[c]] += t;
	return out;
}

const INPUT = FAMILIES.indexOf('input');

// Whether a Map(class -> ns) starved more, or waited more for a later rank (class `skew`): the family
// that paints it and the share of its time, as in html_ranks_strip.c.
export function lost(ns, families, skew) {
	const by = byFamily(ns, families);
	const whole = by.reduce((a, b) => a + b, 0), late = ns.get(skew) ?? 0;
	const family = late > by[INPUT] ? 'comm' : 'input';

	return { family, share: whole > 0 ? Math.max(late, by[INPUT]) / whole : 0 };
}
