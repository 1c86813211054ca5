// SPDX-License-Identifier: Apache-2.0
// Pages that gpustarve writes: the scripts read their block, and the policy lets these scripts run
// and nothing else.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { readBlock } from '../../viewer/report/assets/charts/src/block.js';

const program = path.join(process.env.GPUSTARVE_BUILD ?? 'build', 'bin', 'gpustarve');
const imports = path.join(path.dirname(fileURLToPath(import.meta.url)), '..', 'data', 'import');

function page(name, folder) {
	const run = path.join(folder, name), html = path.join(folder, `${name}.html`);

	execFileSync(program, ['import', path.join(imports, `${name}.json`), '-o', run], { stdio: 'ignore' });
	execFileSync(program, ['report', `${run}.gst`, '--format', 'html', '-o', html], { stdio: 'ignore' });
	return fs.readFileSync(html, 'utf8');
}

function blockOf(html) {
	return /<script type="application\/json" id="gpustarve-data">([^<]*)<\/script>/.exec(html)?.[1];
}

function inFolder(t) {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gpustarve-charts-'));
	t.after(() => fs.rmSync(folder, { recursive: true }));
	return folder;
}

for (const name of ['steps', 'causes', 'devices', 'processes'])
	test(`the block of ${name} is what the charts read`, (t) => {
		const block = readBlock(blockOf(page(name, inFolder(t))));
		assert.ok(block.gpus.length > 0);
		for (const g of block.gpus) {
			const held = g.timeline.parts.flat().reduce((sum, v, k) => sum + (k % 2 ? v : 0), 0);
			assert.equal(held, g.end_ns - g.start_ns, `${g.label}: its columns and its time`);
		}
	});

test('the policy names each style and script of the page by its bytes, and allows no more', (t) => {
	const html = page('devices', inFolder(t));
	const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(html)[1];
	const named = (element) => [...html.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, 'g'))]
		.map(([, bytes]) => `'sha256-${crypto.createHash('sha256').update(bytes).digest('base64')}'`);
	const rules = new Map(policy.split('; ').map((r) => [r.split(' ')[0], r.split(' ').slice(1)]));

	assert.deepEqual(rules.get('default-src'), ["'none'"]);
	assert.deepEqual(rules.get('style-src'), named('style'));
	assert.deepEqual(rules.get('script-src') ?? [], named('script'));
	assert.deepEqual(rules.get('base-uri'), ["'none'"]);
	assert.deepEqual(rules.get('form-action'), ["'none'"]);
	assert.equal(rules.size, named('script').length ? 5 : 4);
	assert.doesNotMatch(html, /<[^>]* style=/, 'a style that the policy refuses');
	assert.doesNotMatch(html, /<[^>]* on[a-z]+=/, 'a handler that the policy refuses');
	assert.ok(html.indexOf('http-equiv') < html.indexOf('<style>'), 'the policy stands first');
});
