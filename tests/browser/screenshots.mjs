// SPDX-License-Identifier: Apache-2.0
// Pictures of a page, for scripts/screenshots.
//
//   node screenshots.mjs MODULES CHROMIUM < jobs.json		a job: { file, folder, pictures }
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [modules, chromium] = process.argv.slice(2);
const { chromium: engine } = createRequire(path.join(modules, 'package.json'))('playwright-core');

const PICTURES = {
  desktop: { viewport: { width: 1180, height: 1560 } }, // with the picture of a step
  dark: { viewport: { width: 1180, height: 1000 }, colorScheme: 'dark' },
  print: { viewport: { width: 794, height: 1123 } }, // A4
  measured: { viewport: { width: 1180, height: 1000 }, until: '#step' }, // the first look alone
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 1.5, hasTouch: true },
};
const jobs = JSON.parse(readFileSync(0, 'utf8'));
const browser = await engine.launch({
  executablePath: chromium,
  args: [...(process.getuid() === 0 ? ['--no-sandbox'] : []), '--disable-gpu', '--disable-dev-shm-usage'],
});
for (const { file, folder, pictures } of jobs)
  for (const name of pictures) {
    const { until, ...options } = PICTURES[name];
    const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
    const page = await context.newPage();
    await page.goto(pathToFileURL(file).href, { waitUntil: 'load' });
    // A page that is made of a summary alone has charts that never come alive, below the first look.
    for (const f of until ? [] : await page.$$('figure[data-chart]')) {
      await f.scrollIntoViewIfNeeded();
      await page.waitForFunction((e) => e.dataset.live === 'yes', f, { timeout: 120000 });
    }
    if (name === 'print') {
      await page.emulateMedia({ media: 'print' });
      await page.evaluate(() => (document.body.style.padding = '40px 48px'));
    }
    const at = name === 'dark' ? '#step' : null;
    if (at) await page.$eval(at, (e) => e.scrollIntoView());
    else await page.evaluate(() => scrollTo(0, 0));
    await page.waitForTimeout(500);
    const height = until && (await page.$eval(until, (e) => Math.floor(e.getBoundingClientRect().top)));
    const clip = until && { x: 0, y: 0, width: options.viewport.width, height };
    await page.screenshot({ path: path.join(folder, `report-${name}.png`), clip, fullPage: !!clip });
    await context.close();
  }
await browser.close();
