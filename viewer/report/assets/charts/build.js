// SPDX-License-Identifier: Apache-2.0
// node build.js MODULES OUT: bundles src/main.js with the libraries in MODULES into OUT/charts.js and
// the styles into OUT/charts.css. The script begins with the licences of what both hold. Run by
// cmake/charts.cmake.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const [, , modules, out] = process.argv;
const here = path.dirname(fileURLToPath(import.meta.url));
const { buildSync } = createRequire(path.resolve(modules, 'x.js'))('esbuild');

// A page is at most 1 MB, of which the data may take 520 KB.
const BYTES_MOST = 180 * 1024;
// What would end the element, ask for more than the page's policy gives, or turn text into markup.
const NEVER = [
	/<\/(script|style)/i, /<!--/, /\r/, /[^\x00-\x7f]/, /\beval\(/, /\bnew Function\b/,
	/\bXMLHttpRequest\b/, /\bfetch\(/, /\bWebSocket\b/, /\bimport\(/, /\.insertAdjacentHTML\b/,
	/\bdocument\.write\b/, /@import/, /url\(/,
];

function packageOf(file) {
	const at = file.lastIndexOf('node_modules/');
	return at < 0 ? null : file.slice(at + 'node_modules/'.length).split('/')[0];
}

function licenceOf(name) {
	const dir = path.join(modules, 'node_modules', name);
	const file = fs.readdirSync(dir).find((f) => /^licen[cs]e/i.test(f));
	if (!file)
		throw new Error(`${name} has no licence file`);
	const about = JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8'));
	return {
		title: `${name} ${about.version}`,
		text: fs.readFileSync(path.join(dir, file), 'utf8').replace(/\r/g, '').trim(),
	};
}

// Packages under the same text stand above it together.
function licences(names) {
	const by = new Map();
	for (const { title, text } of [...names].sort().map(licenceOf))
		by.set(text, [...(by.get(text) ?? []), title]);
	const parts = [...by].map(([text, titles]) => `${titles.join(', ')}\n\n${text}`);
	const whole = `gpustarve's charts, Apache-2.0, and the libraries in them:\n\n${parts.join('\n\n')}`;
	return `/*!\n${whole.replaceAll('*/', '* /').replace(/[^\x00-\x7f]/g, '?')}\n*/\n`;
}

// The first look does not wait for the charts, which lie below it: the libraries and they are set up
// once the page has been painted. So is what charts.css keeps back until then.
const PAINTED = { before: '{const charts=()=>{', after: '};requestAnimationFrame(()=>setTimeout(charts))}' };

const result = buildSync({
	absWorkingDir: here,
	entryPoints: { charts: 'src/main.js' },
	outdir: path.resolve(out),
	nodePaths: [path.resolve(modules, 'node_modules')],
	bundle: true, minify: true, write: false, metafile: true,
	banner: { js: PAINTED.before }, footer: { js: PAINTED.after },
	format: 'iife', target: ['es2020'], charset: 'ascii', legalComments: 'none', logLevel: 'warning',
});
const used = new Set(Object.keys(result.metafile.inputs).map(packageOf).filter(Boolean));
const notices = licences(used);
for (const file of result.outputFiles) {
	// The styles stand beside the script in the page, whose notices are theirs too.
	const text = (file.path.endsWith('.js') ? notices : '') + file.text;
	for (const never of NEVER)
		if (never.test(text))
			throw new Error(`${path.basename(file.path)} holds what no page may: ${never}`);
	if (text.length > BYTES_MOST)
		throw new Error(`${path.basename(file.path)} has ${text.length} bytes, ${BYTES_MOST} may be`);
	fs.writeFileSync(file.path, text);
}
