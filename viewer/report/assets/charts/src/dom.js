// SPDX-License-Identifier: Apache-2.0
// Elements without markup: names of a run reach the page as text and attributes only.

export function el(tag, attributes = {}, ...children) {
	const e = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (typeof value === 'function')
			e.addEventListener(name, value);
		else if (value !== false && value !== null && value !== undefined)
			e.setAttribute(name, value === true ? '' : value);
	}
	e.append(...children);
	return e;
}

let ids = 0;

// [label, control]: a control with its name before it.
export function labelled(text, control) {
	control.id = `chart-control-${++ids}`;
	return [el('label', { for: control.id }, text), control];
}

// name: what the button does where its text is a sign.
export function button(text, press, name = null) {
	return el('button', { type: 'button', 'aria-label': name, title: name, click: press }, text);
}

// A choice among names; change(index). Nothing where there is no choice.
export function chooser(text, names, change) {
	if (names.length < 2)
		return [];
	const select = el('select', { change: () => change(Number(select.value)) },
		...names.map((name, i) => el('option', { value: i }, name)));
	return labelled(text, select);
}

// Swatches with names: [["busy", "computing"], ...]; the first is a class of charts.css.
export function legend(entries) {
	return el('div', { class: 'legend' }, ...entries.map(([key, text]) =>
		el('span', {}, el('span', { class: `key ${key}` }), text)));
}

// A line that says what the cursor is at. Read aloud only while its chart has the focus.
export function readout(idle) {
	const line = el('output', { class: 'readout', 'aria-live': 'off' }, idle);

	return {
		line,
		say(text) {
			const next = text || idle;
			if (line.textContent !== next)
				line.textContent = next;
		},
		aloud(on) {
			line.setAttribute('aria-live', on ? 'polite' : 'off');
		},
	};
}
