// SPDX-License-Identifier: Apache-2.0
// How long a page takes to open, with and without scripts: from the request to the load event and one
// frame drawn after it. One JSON line each: the median of job.times fresh windows.
//
//   node opening.mjs MODULES CHROMIUM < jobs.json
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [modules, chromium] = process.argv.slice(2);
const { chromium: engine } = createRequire(path.join(modules, 'package.json'))('playwright-core');
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

async function open(browser, url, javaScriptEnabled) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, javaScriptEnabled });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const begin = process.hrtime.bigint();
  await page.goto(url, { waitUntil: 'load' });
  if (javaScriptEnabled)
    await page.evaluate(() => new Promise((done) => {
      requestAnimationFrame(() => requestAnimationFrame(done));
    }));
  const wall = Number(process.hrtime.bigint() - begin) / 1e6;
  const { metrics } = await devtools.send('Performance.getMetrics');
  const cpu = metrics.find((m) => m.name === 'TaskDuration').value * 1000;
  await context.close();
  return { wall, cpu };
}

const jobs = JSON.parse(readFileSync(0, 'utf8'));
const browser = await engine.launch({
  executablePath: chromium,
  args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage'],
});
for (const job of jobs)
  for (const on of [true, false]) {
    const seen = [];
    for (let i = 0; i < job.times; i++) seen.push(await open(browser, pathToFileURL(job.file).href, on));
    process.stdout.write(`${JSON.stringify({
      job: job.name, scripts: on ? 'with scripts' : 'without scripts', times: job.times,
      wall_ms: median(seen.map((s) => s.wall)), cpu_ms: median(seen.map((s) => s.cpu)),
    })}\n`);
  }
await browser.close();
