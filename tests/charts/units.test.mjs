// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import test from 'node:test';
import { count, duration, labels, marks, moment, niceStep, percent } from '../../viewer/report/assets/charts/src/units.js';

test('durations read as in the page\'s tables', () => {
	for (const [ns, text] of [
		[0, '0 ns'], [999, '999 ns'], [1000, '1.0 us'], [1250, '1.2 us'], [1350, '1.4 us'],
		[999949, '999.9 us'], [999950, '1.0 ms'], [99.9e6, '99.9 ms'], [831e6, '831 ms'],
		[999949999, '1000 ms'], [999950000, '1.0 s'], [12.25e9, '12.2 s'], [119.4e9, '119.4 s'],
		[120e9, '2 m 0 s'], [3599e9, '59 m 59 s'], [8040e9, '2 h 14 m'], [173000e9, '2 d 0 h'],
	])
		assert.equal(duration(ns), text, `${ns}`);
	assert.equal(count(1234567), '1,234,567');
	assert.equal(percent(1, 3), '33.3 %');
	assert.equal(percent(0, 0), '0.0 %');
});

test('marks are few, even and in range at every span', () => {
	for (let span = 3; span < 1e16; span *= 3.7) {
		for (const most of [2, 5, 11]) {
			const { step, at } = marks(span, 2 * span, most);
			assert.ok(at.length <= most + 1 && at.length >= 1, `${span} ${most}: ${at.length}`);
			assert.ok(at.every((t) => t >= span && t <= 2 * span && t % step === 0));
			assert.equal(new Set(labels(at, step)).size, at.length, labels(at, step).join(' | '));
		}
	}
	assert.equal(niceStep(10e9, 10), 1e9);
	assert.equal(niceStep(8040e9, 8), 1200e9);
});

test('a moment has the digits that its step needs', () => {
	assert.equal(moment(0, 1e9), '0');
	assert.equal(moment(12.35e9, 1e7), '12.35 s');
	assert.equal(moment(8040e9, 60e9), '2 h 14 m');
	assert.equal(moment(8043.25e9, 1e7), '2 h 14 m 3.25 s');
	assert.equal(moment(725e9, 1e9), '12 m 5 s');
	assert.equal(moment(1500, 100), '1.5 us');
	assert.equal(moment(2.5 * 86400e9, 3600e9), duration(2.5 * 86400e9));
	assert.equal(moment(57e12 + 2e9, 1e9), '15 h 50 m 2 s');
	assert.equal(moment(180e12, 1200e9), '2 d 2 h 0 m');
	assert.deepEqual(labels([8e12, 8e12 + 1000], 1000).slice(1), ['+1.0 us']);
});

test('an axis has one form of days and hours', () => {
	const day = 86400e9, on = (length, most) => {
		const { step, at } = marks(0, length, most);
		return labels(at, step);
	};
	assert.deepEqual(on(5 * day, 5), ['0', '1 d 0 h', '2 d 0 h', '3 d 0 h', '4 d 0 h', '5 d 0 h']);
	assert.deepEqual(on(2 * day, 6), ['0', '8 h', '16 h', '1 d 0 h', '1 d 8 h', '1 d 16 h', '2 d 0 h']);
	assert.deepEqual(on(1 * day, 3), ['0', '8 h 0 m', '16 h 0 m', '24 h 0 m']);
	for (let h = 1; h < 400; h++)
		assert.equal(moment(h * 3600e9, 3600e9), duration(h * 3600e9), `${h}`);
});
