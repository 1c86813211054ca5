// SPDX-License-Identifier: Apache-2.0
// A newcomer's browser in front of a collector: the password dialog, the first page, a run's report.
//
//   node centre.mjs MODULES CHROMIUM < job.json
//
// The job: { url, token, run, wrong }. Writes one JSON line: { complaints: [{ kind, what }], status,
// first: { title, links, text }, report: { title, charts, drawn }, refused }.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const [modules, chromium] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'package.json'));
const { chromium: engine } = require('playwright-core');
const job = JSON.parse(readFileSync(0, 'utf8'));
const complaints = [];
const complain = (kind, what) => complaints.push({ kind, what: String(what).slice(0, 300) });

function watch(page) {
  page.on('console', (m) => {
    if (m.type() === 'error' || m.type() === 'warning') complain('console', m.text());
  });
  page.on('pageerror', (e) => complain('script', e));
  page.on('dialog', async (d) => {
    complain('dialog', d.message());
    await d.dismiss();
  });
  page.on('request', (r) => {
    if (!r.url().startsWith(job.url)) complain('request', r.url());
    if (r.url().includes(job.token)) complain('token in a URL', r.url());
  });
}

async function open(browser, password) {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    httpCredentials: { username: 'me', password },
    viewport: { width: 1280, height: 900 },
  });
  return context.newPage();
}

const browser = await engine.launch({ executablePath: chromium, args: ['--no-sandbox'] });
const stranger = await open(browser, 'not the token, but something');
const refused = (await stranger.goto(job.url)).status();

const page = await open(browser, job.token);
watch(page);
const status = (await page.goto(job.url)).status();
const first = {
  title: await page.title(),
  text: (await page.locator('body').innerText()).slice(0, 4000),
  links: await page.locator('a').evaluateAll((all) => all.map((a) => a.href)),
};
const all = page.locator('a[href$="runs"]').first();
if (await all.count()) await all.click();
else complain('link', 'no link to all runs');
const link = page.locator(`a[href$="runs/${job.run}"]`).first();
const has = await link.count();
if (has) {
  await link.click();
} else {
  complain('link', `no link to ${job.run}`);
  await page.goto(`${job.url}/runs/${job.run}`);
}
await page.waitForLoadState('load');
const charts = await page.locator('figure.chart').count();
if (charts) await page.locator('figure.chart').first().scrollIntoViewIfNeeded();
await page.waitForTimeout(500);
const report = {
  url: page.url(),
  title: await page.title(),
  text: (await page.locator('body').innerText()).slice(0, 2000),
  charts,
  drawn: await page.locator('figure.chart canvas, figure.chart svg').count(),
};
console.log(JSON.stringify({ complaints, status, refused, first, report }));
await browser.close();
