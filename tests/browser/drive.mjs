// SPDX-License-Identifier: Apache-2.0
// Opens pages in one Chromium and writes what it saw, one JSON line per view of a page, to stdout.
//
//   node drive.mjs MODULES CHROMIUM < jobs.json
//
// MODULES: the folder in which npm put playwright-core and axe-core. A job: { name, file, views,
// checks, quick, waitMs }, views of VIEWS below, checks of: axe, axe-VIEW, charts,
// first, tab, print. quick: axe tries
// all rules in one view. waitMs: for what a chart is to do; where it will not, one need not wait. A line: { job, view, ms,
// complaints: [{ kind, what }], facts }. It judges what only a browser can; the numbers it hands over.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { axe } from './axe.mjs';
import { charts, stillCharts } from './charts.mjs';
import { facts } from './facts.mjs';
import { first, layout, painted, print, tab, watchFirst } from './views.mjs';

const [modules, chromium] = process.argv.slice(2);
const require = createRequire(path.join(modules, 'package.json'));
const { chromium: engine } = require('playwright-core');
const axeSource = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const VIEWS = {
  light: { viewport: { width: 1280, height: 900 } },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 360, height: 740 }, hasTouch: true },
  off: { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false },
  'off-narrow': { viewport: { width: 360, height: 740 }, javaScriptEnabled: false },
};

// What a page must not do, whatever it shows.
function watch(page, url, complain) {
  page.on('console', (m) => {
    if (m.type() === 'error' || m.type() === 'warning') complain('console', m.text());
  });
  page.on('pageerror', (e) => complain('script', String(e)));
  page.on('dialog', async (d) => {
    complain('dialog', d.message());
    await d.dismiss();
  });
  page.on('popup', () => complain('popup', 'a window opened'));
  page.on('download', () => complain('download', 'a file was offered'));
  page.on('request', (r) => {
    if (r.url() !== url) complain('request', r.url().slice(0, 200));
  });
}

// axe needs scripts itself: what stands there without them, in a window that has them.
async function axeWithout(browser, page, view, job, complain) {
  const html = (await page.content())
    .replace(/<script(?![^>]*application\/json)[^]*?<\/script>/g, '')
    .replace(/<(\/?)noscript/g, '<$1div');
  const context = await browser.newContext({ ...VIEWS[view], javaScriptEnabled: true, offline: true });
  const copy = await context.newPage();
  await copy.setContent(html);
  await axe(copy, axeSource, complain, view, job.quick);
  await context.close();
}

const TOO_LONG_MS = 600000; // whatever else the machine does

function within(ms, promise) {
  let timer;
  const late = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function check(browser, page, job, view, complain) {
  const off = view.startsWith('off');
  if (job.checks.includes('first') && view === 'light') await first(page, complain);
  if (!off) await painted(page);
  const found = await facts(page);
  await layout(page, complain, view);
  if (job.checks.includes('axe') || job.checks.includes(`axe-${view}`))
    await (off ? axeWithout(browser, page, view, job, complain)
      : axe(page, axeSource, complain, view, job.quick));
  if (job.checks.includes('charts') && view === 'light') await charts(page, complain, job.waitMs);
  if (job.checks.includes('charts') && view === 'off') await stillCharts(page, complain);
  if (job.checks.includes('tab') && view === 'light') await tab(page, complain);
  if (job.checks.includes('print') && view === 'light') await print(page, complain);
  return found;
}

async function look(browser, job, view) {
  const complaints = [];
  const complain = (kind, what) => complaints.push({ kind, what });
  const context = await browser.newContext({ ...VIEWS[view], offline: true, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const url = pathToFileURL(job.file).href;
  let found = null;
  const begin = Date.now();
  page.setDefaultTimeout(240000);
  try {
    watch(page, url, complain);
    if (job.checks.includes('first')) await watchFirst(page);
    await page.goto(url, { waitUntil: 'load' });
    found = await within(TOO_LONG_MS, check(browser, page, job, view, complain));
  } catch (e) {
    complain('browser', String(e.stack || e));
  }
  await context.close();
  return { job: job.name, view, ms: Date.now() - begin, complaints, facts: found };
}

const jobs = JSON.parse(readFileSync(0, 'utf8'));
const browser = await engine.launch({
  executablePath: chromium,
  args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage'],
  timeout: 120000,
});
for (const job of jobs)
  for (const view of job.views)
    process.stdout.write(`${JSON.stringify(await look(browser, job, view))}\n`);
await browser.close();
