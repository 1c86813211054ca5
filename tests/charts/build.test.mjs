// SPDX-License-Identifier: Apache-2.0
// The bundle and how it is made: what is in it, and that a build without npm goes on.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = path.join(root, 'viewer', 'report', 'assets', 'charts');
const built = path.join(process.env.GPUSTARVE_BUILD ?? 'build', 'viewer', 'charts');

function make(folder, npm) {
	const define = { NODE: process.execPath, NPM: npm, SOURCE: source, DIR: folder };

	return spawnSync(process.env.GPUSTARVE_CMAKE ?? 'cmake', [
		...Object.entries(define).map(([name, value]) => `-D${name}=${value}`),
		'-P', path.join(root, 'cmake', 'charts.cmake')], { encoding: 'utf8' });
}

test('without libraries the build goes on, and says so in one line', (t) => {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gpustarve-bundle-'));
	t.after(() => fs.rmSync(folder, { recursive: true }));
	const r = make(folder, 'false');

	assert.equal(r.status, 0, r.stderr);
	assert.match(r.stdout, /^-- npm got no libraries .* static charts.*\n$/);
	for (const file of ['charts.js', 'charts.css'])
		assert.equal(fs.readFileSync(path.join(folder, file), 'utf8'), '');
});

test('the lock file names no registry, and every package by its hash', () => {
	const text = fs.readFileSync(path.join(source, 'package-lock.json'), 'utf8');
	assert.doesNotMatch(text, /resolved|https?:/);
	for (const [name, p] of Object.entries(JSON.parse(text).packages))
		assert.ok(!name || /^sha512-/.test(p.integrity), name);
});

test('the bundle is small, whole and quiet', (t) => {
	const script = fs.readFileSync(path.join(built, 'charts.js'), 'utf8');
	if (!script) {
		t.skip('this build has no charts');
		return;
	}
	assert.ok(script.length <= 180 * 1024, `${script.length} bytes`);
	assert.match(script, /^\/\*!\n/);
	for (const name of ['uplot 1.', 'd3-flame-graph 5.', 'd3-selection 3.', 'Apache License',
		'Copyright (c) 2022 Leon Sorokin', 'Permission is hereby granted'])
		assert.ok(script.includes(name), `the notice of ${name}`);
	const styles = fs.readFileSync(path.join(built, 'charts.css'), 'utf8');
	for (const text of [script.slice(script.indexOf('*/')), styles]) {
		assert.doesNotMatch(text, /<\/(script|style)|<!--|[^\x00-\x7f]|\r/i);
		assert.doesNotMatch(text, /\beval\(|new Function|XMLHttpRequest|\bfetch\(|WebSocket|sendBeacon/);
		assert.ok(!text.includes(path.resolve(root)) && !text.includes('node_modules'), 'a path');
	}
});
