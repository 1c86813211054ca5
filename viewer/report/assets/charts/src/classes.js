// SPDX-License-Identifier: Apache-2.0
// Classes of GPU time and their families, which share a colour (viewer/report/html_escape.c). Pure.

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

const INPUT = FAMILIES.indexOf('input'), EXCLUDED = FAMILIES.indexOf('excluded');

// Starved share of what counts in a Map(class -> ns); null where nothing counts.
export function starved(ns, families) {
	const by = byFamily(ns, families);
	const whole = by.reduce((a, b) => a + b, 0) - by[EXCLUDED];

	return whole > 0 ? by[INPUT] / whole : null;
}
