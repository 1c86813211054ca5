// SPDX-License-Identifier: Apache-2.0
// When a page first paints, and how much its main thread had done by then, which other work on the machine does not
// stretch: fresh windows, the files in turns. One JSON line each: { file, paint_ms, cpu_ms }.
//
//   node paints.mjs MODULES CHROMIUM < jobs.json		a job: { files, times }
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [modules, chromium] = process.argv.slice(2);
const { chromium: engine } = createRequire(path.join(modules, 'package.json'))('playwright-core');
const CATEGORIES = ['loading', 'devtools.timeline', 'disabled-by-default-devtools.timeline', 'blink.user_timing'];

/* eslint-env browser */
function painted() {
  return new Promise((done) => {
    new PerformanceObserver((list, me) => {
      const [first] = list.getEntriesByName('first-contentful-paint');
      if (!first) return;
      me.disconnect();
      done(first.startTime);
    }).observe({ type: 'paint', buffered: true });
  });
}

// From navigation to first paint, of the thread that did both. Times of a trace are microseconds.
function worked(events) {
  const end = events.findLast((e) => e.name === 'firstContentfulPaint');
  const mine = events.filter((e) => e.pid === end.pid && e.tid === end.tid);
  const begin = mine.findLast((e) => e.name === 'navigationStart' && e.args.data?.documentLoaderURL?.startsWith('file:'));
  const tasks = mine.filter((e) => e.name === 'RunTask' && e.tdur && e.ts >= begin.ts && e.ts < end.ts);
  return tasks.reduce((sum, e) => sum + e.tdur, 0) / 1000;
}

async function open(browser, file) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  await browser.startTracing(page, { categories: CATEGORIES });
  await page.goto(pathToFileURL(file).href, { waitUntil: 'load' });
  const paint = await page.evaluate(painted);
  const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
  await context.close();
  return { file, paint_ms: paint, cpu_ms: worked(traceEvents) };
}

const jobs = JSON.parse(readFileSync(0, 'utf8'));
const browser = await engine.launch({
  executablePath: chromium,
  args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage'],
});
for (const { files, times } of jobs)
  for (let i = 0; i < times; i++)
    for (const file of files) process.stdout.write(`${JSON.stringify(await open(browser, file))}\n`);
await browser.close();
