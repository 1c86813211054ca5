// SPDX-License-Identifier: Apache-2.0
// Pictures of pages, for looking at (tests/browser/grid): the top of a page, or all of it.
//
//   node looks.mjs MODULES CHROMIUM < jobs.json		a job: { name, file, folder, views }
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [modules, chromium] = process.argv.slice(2);
const { chromium: engine } = createRequire(path.join(modules, 'package.json'))('playwright-core');
const VIEWS = {
  light: { viewport: { width: 1180, height: 1560 } },
  dark: { viewport: { width: 1180, height: 1560 }, colorScheme: 'dark' },
  narrow: { viewport: { width: 360, height: 1900 }, hasTouch: true },
  whole: { viewport: { width: 1180, height: 1000 }, whole: true },
  'whole-narrow': { viewport: { width: 360, height: 740 }, hasTouch: true, whole: true },
};

const jobs = JSON.parse(readFileSync(0, 'utf8'));
const browser = await engine.launch({
  executablePath: chromium,
  args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage'],
});
for (const { name, file, folder, views } of jobs)
  for (const view of views) {
    const { whole, ...options } = VIEWS[view];
    const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href, { waitUntil: 'load' });
    if (whole)
      for (const f of await page.$$('figure[data-chart]')) if (await f.isVisible()) await f.scrollIntoViewIfNeeded();
    await page.evaluate(() => scrollTo(0, 0));
    await page.waitForTimeout(300);
    await page.screenshot({ path: path.join(folder, `${name}-${view}.png`), fullPage: !!whole });
    await context.close();
  }
await browser.close();
