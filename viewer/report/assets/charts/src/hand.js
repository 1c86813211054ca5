// SPDX-License-Identifier: Apache-2.0
// Moves the shared stretch of time by keyboard, mouse and touch.
import { button, el } from './dom.js';

const PAN = 0.15, ZOOM = 0.6;

// For plot()'s key: arrows, + and -, 0, Home and End; with Shift the arrows move the cursor.
export function timeKeys(view) {
	return (e, u) => {
		const at = u.cursor.left >= 0 ? u.posToVal(u.cursor.left, 'x') : undefined;

		switch (e.key) {
		case 'ArrowLeft':
		case 'ArrowRight': {
			const way = e.key === 'ArrowLeft' ? -1 : 1;
			if (e.shiftKey)
				moveCursor(u, way * 4);
			else
				view.pan(way * PAN);
			return true;
		}
		case '+':
		case '=':
			view.zoom(ZOOM, at);
			return true;
		case '-':
		case '_':
			view.zoom(1 / ZOOM, at);
			return true;
		case '0':
		case 'Escape':
			view.reset();
			return true;
		case 'Home':
			view.pan(-1e9);
			return true;
		case 'End':
			view.pan(1e9);
			return true;
		}
		return false;
	};
}

export function moveCursor(u, by) {
	const width = u.over.clientWidth;
	const left = u.cursor.left >= 0 ? u.cursor.left : width / 2;

	u.setCursor({ left: Math.min(Math.max(left + by, 0), width - 1), top: u.over.clientHeight / 2 });
}

// Buttons that do the same.
export function timeButtons(view) {
	const whole = button('Whole run', () => view.reset(), 'Show the whole run');
	const shown = () => (whole.disabled = view.whole_shown);

	view.listen(shown);
	shown();
	return el('span', { class: 'buttons', role: 'group', 'aria-label': 'Zoom' },
		button('\u2212', () => view.zoom(1 / ZOOM), 'Zoom out'),
		button('+', () => view.zoom(ZOOM), 'Zoom in'), whole);
}

// uPlot's options for a chart over the shared time: dragging zooms, cursors go together.
export function timeOptions(view, { setCursor, draw = [] }) {
	return {
		cursor: {
			y: false, points: { show: false }, drag: { x: true, y: false, setScale: false },
			sync: { key: 'time', setSeries: false }, bind: { dblclick: () => () => view.reset() },
		},
		scales: { x: { time: false, range: () => view.range } },
		hooks: {
			setCursor: [setCursor],
			setSelect: [(u) => select(u, view)],
			draw,
		},
	};
}

function select(u, view) {
	if (u.select.width < 3)
		return;
	const { left, width } = u.select;
	const range = [u.posToVal(left, 'x'), u.posToVal(left + width, 'x')];

	u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
	view.set(range);
}

// Wheel with Ctrl (a touchpad's pinch, too) zooms, sideways moves; one finger moves, two zoom.
export function bindHand(u, view) {
	const over = u.over;

	over.addEventListener('wheel', (e) => {
		if (e.ctrlKey || e.metaKey)
			view.zoom(Math.exp(e.deltaY * 0.004), u.posToVal(e.offsetX, 'x'));
		else if (Math.abs(e.deltaX) > Math.abs(e.deltaY))
			view.pan(e.deltaX / over.clientWidth);
		else
			return;
		e.preventDefault();
	}, { passive: false });

	let before = null;
	const read = (e) => {
		const box = over.getBoundingClientRect();
		const x = [...e.touches].slice(0, 2).map((t) => t.clientX - box.left);
		return { n: x.length, mid: (x[0] + (x[1] ?? x[0])) / 2, apart: Math.abs(x[0] - (x[1] ?? x[0])) };
	};
	over.addEventListener('touchstart', (e) => {
		before = read(e);
		u.setCursor({ left: before.mid, top: over.clientHeight / 2 });
	}, { passive: true });
	over.addEventListener('touchmove', (e) => {
		const now = read(e);
		if (before && now.n === before.n) {
			if (now.n === 2 && now.apart > 10 && before.apart > 10)
				view.zoom(before.apart / now.apart, u.posToVal(now.mid, 'x'));
			view.pan((before.mid - now.mid) / over.clientWidth);
			if (!view.whole_shown || now.n === 2)
				e.preventDefault();
			u.setCursor({ left: now.mid, top: over.clientHeight / 2 });
		}
		before = now;
	}, { passive: false });
	over.addEventListener('touchend', () => (before = null), { passive: true });
}

// Redraws a chart when the stretch changes; one out of sight waits until it is seen again.
export function follow(u, view) {
	let seen = true, stale = false, asked = false;
	const draw = () => {
		asked = false;
		u.setScale('x', { min: view.range[0], max: view.range[1] });
	};
	const ask = () => {
		if (!seen) {
			stale = true;
		} else if (!asked) {
			asked = true;
			requestAnimationFrame(draw);
		}
	};

	view.listen(ask);
	new IntersectionObserver((entries) => {
		seen = entries[entries.length - 1].isIntersecting;
		if (seen && stale) {
			stale = false;
			ask();
		}
	}, { rootMargin: '100px' }).observe(u.root);
}
