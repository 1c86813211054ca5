// SPDX-License-Identifier: Apache-2.0
// Fills of the families on a canvas: colour and texture, as the page's SVG has them (html_head.c).
import { colour, onTheme } from './theme.js';

const SIZE = 8;
// Lines [x0, y0, x1, y1], or a dot [x, y, radius].
const SHAPES = {
	comm: [[0, 4, 8, 4]],
	copy: [[4, 0, 4, 8]],
	host: [[-2, 2, 2, -2], [0, 8, 8, 0], [6, 10, 10, 6]],
	device: [[4, 4, 1.2]],
};
const made = new Map();

onTheme(() => made.clear());

function shape(ctx, s) {
	ctx.beginPath();
	if (s.length === 3) {
		ctx.arc(s[0], s[1], s[2], 0, 2 * Math.PI);
		ctx.fill();
	} else {
		ctx.moveTo(s[0], s[1]);
		ctx.lineTo(s[2], s[3]);
		ctx.stroke();
	}
}

function make(family, scale) {
	const tile = document.createElement('canvas');
	const ctx = tile.getContext('2d');

	tile.width = tile.height = Math.round(SIZE * scale);
	ctx.scale(tile.width / SIZE, tile.height / SIZE);
	ctx.fillStyle = colour(family);
	ctx.fillRect(0, 0, SIZE, SIZE);
	ctx.strokeStyle = ctx.fillStyle = colour('line');
	ctx.lineWidth = 1.3;
	for (const s of SHAPES[family])
		shape(ctx, s);
	return ctx.createPattern(tile, 'repeat');
}

// For fillStyle.
export function texture(family) {
	if (!SHAPES[family])
		return colour(family);
	const key = `${family} ${devicePixelRatio}`;
	if (!made.has(key))
		made.set(key, make(family, devicePixelRatio));
	return made.get(key);
}
