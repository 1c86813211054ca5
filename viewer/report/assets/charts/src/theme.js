// SPDX-License-Identifier: Apache-2.0
// The page's colours, which report.css has as variables, for what is drawn on a canvas; and what the
// reader's system asks for.

const cache = new Map();
const listeners = [];
const dark = matchMedia('(prefers-color-scheme: dark)');

export function colour(name) {
	if (!cache.has(name))
		cache.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
	return cache.get(name);
}

// f is called when the colours have changed.
export function onTheme(f) {
	listeners.push(f);
}

export function isDark() {
	return dark.matches;
}

export function still() {
	return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

dark.addEventListener('change', () => {
	cache.clear();
	for (const f of listeners)
		f();
});
