// SPDX-License-Identifier: Apache-2.0
// The page as a whole: what comes first, width, colours, the way of the Tab key, and paper.

/* eslint-env browser */
function measure() {
  const wide = [];
  const width = document.documentElement.clientWidth;
  const inScroller = (e) => {
    for (let at = e.parentElement; at; at = at.parentElement)
      if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true;
    return false;
  };
  for (const e of document.body.querySelectorAll('*')) {
    const box = e.getBoundingClientRect();
    if (box.width && box.right > width + 1 && !e.closest('svg') && !inScroller(e) && wide.length < 5)
      wide.push(`${e.localName}.${e.className}#${e.id} to ${Math.round(box.right)}`);
  }
  const colour = getComputedStyle(document.body).backgroundColor;
  const root = getComputedStyle(document.documentElement).backgroundColor;
  const rgb = (/rgba\(.*, 0\)/.test(colour) ? root : colour).match(/\d+(\.\d+)?/g).map(Number);
  return {
    width,
    scroll: document.documentElement.scrollWidth,
    wide,
    cut: [...document.querySelectorAll('#why .scroll')].filter((e) => e.scrollWidth > e.clientWidth + 1)
      .map((e) => `${e.scrollWidth} px in ${e.clientWidth}`),
    light: rgb[3] === 0 ? 255 : (rgb[0] + rgb[1] + rgb[2]) / 3,
  };
}

export async function layout(page, complain, view) {
  const m = await page.evaluate(measure);
  if (m.scroll > m.width) complain('width', `${m.scroll} px in a window of ${m.width}: ${m.wide}`);
  if (m.width > 1100 && m.cut.length) complain('width', `columns of the causes are cut off: ${m.cut}`);
  if (view === 'dark' && m.light > 90) complain('dark', `background of brightness ${m.light}`);
  if (view !== 'dark' && m.light < 200) complain('light', `background of brightness ${m.light}`);
}

// Every control in the order of the document, and one can see where one is.
function controls() {
  const all = [...document.querySelectorAll(
    'a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]')];
  const can = all.filter((e) => !e.disabled && e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true }));
  can.forEach((e, i) => e.setAttribute('data-tab-test', String(i)));
  return {
    count: can.length,
    positive: all.filter((e) => e.tabIndex > 0).length,
    pointers: [...document.querySelectorAll('body *')].filter((e) =>
      getComputedStyle(e).cursor === 'pointer' && e.checkVisibility() &&
      !e.closest('[data-tab-test], label, svg, canvas')).map((e) => e.outerHTML.slice(0, 120)).slice(0, 5),
  };
}

function focused() {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const s = getComputedStyle(e);
  const ring = s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) > 0;
  const box = e.getBoundingClientRect();
  return {
    at: Number(e.getAttribute('data-tab-test') ?? -1),
    what: e.outerHTML.slice(0, 120),
    ring: ring || s.boxShadow !== 'none',
    inside: box.bottom > 0 && box.top < innerHeight && (box.width > 0 || e.localName === 'summary'),
  };
}

const TABS_MAX = 250;

// Charts that come into sight add controls: all of them first, and back to the top.
async function settle(page) {
  for (const f of await page.$$('figure[data-chart]')) await f.scrollIntoViewIfNeeded();
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
    scrollTo(0, 0);
  });
}

export async function tab(page, complain) {
  await settle(page);
  const all = await page.evaluate(controls);
  if (all.positive) complain('tab', `${all.positive} elements with a positive tabindex`);
  for (const p of all.pointers) complain('tab', `looks clickable, but no key reaches it: ${p}`);
  if (!all.count) complain('tab', 'nothing to reach');
  for (let want = 0; want < Math.min(all.count, TABS_MAX); want++) {
    await page.keyboard.press('Tab');
    const f = await page.evaluate(focused);
    if (!f || f.at !== want) {
      complain('tab', `Tab number ${want + 1} of ${all.count} reaches ${f ? `${f.at}: ${f.what}` : 'nothing'}`);
      break;
    }
    if (!f.ring) complain('tab', `no mark of the focus on ${f.what}`);
    if (!f.inside) complain('tab', `focus out of sight: ${f.what}`);
  }
  await page.evaluate(() => document.querySelectorAll('[data-tab-test]')
    .forEach((e) => e.removeAttribute('data-tab-test')));
}

// For a check of what comes first: before anything of the page runs.
export function watchFirst(page) {
  return page.addInitScript(() => {
    addEventListener('DOMContentLoaded', () => {
      window.gsDrawnEarly = !!document.querySelector('.charts-help, .live');
      const painted = document.documentElement.classList.contains('painted'); // on a machine that is busy
      window.gsLaidEarly = painted ? [] : [...document.querySelectorAll('main > section')].slice(-1)
        .filter((e) => getComputedStyle(e).contentVisibility !== 'auto').map((e) => e.id);
    });
  });
}

const settled = () => new Promise((done) => {
  let left = 6;
  const next = () => (left-- ? requestAnimationFrame(next) : done());
  next();
});

// What lies below costs nothing before the first look is there; then it is there, too, and the list at the top leads to it.
export async function first(page, complain) {
  await page.waitForSelector(':root.painted');
  const m = await page.evaluate(() => ({
    drawn: window.gsDrawnEarly,
    laid: window.gsLaidEarly,
    missing: [...document.querySelectorAll('main > section')]
      .filter((e) => !e.firstElementChild.checkVisibility({ contentVisibilityAuto: true })).map((e) => e.id),
  }));
  if (m.drawn) complain('first', 'charts are set up before the page is there');
  for (const id of m.laid) complain('first', `laid out before the first look is there: ${id}`);
  for (const id of m.missing) complain('first', `still not laid out: ${id}`);
  for (const link of await page.$$('nav a[href^="#"]')) {
    await page.evaluate(() => scrollTo(0, 0));
    const id = (await link.getAttribute('href')).slice(1);
    await link.click();
    await page.evaluate(settled);
    const at = await page.$eval(`[id="${id}"]`, (e) => Math.round(e.getBoundingClientRect().top));
    const end = await page.evaluate(() => scrollY + innerHeight >= document.documentElement.scrollHeight - 2);
    if (Math.abs(at) > 60 && !(end && at > 0)) complain('first', `the link to ${id} leads ${at} px beside it`);
  }
  await page.evaluate(() => scrollTo(0, 0)); // or what is there would be drawn by the script at once
  await page.reload({ waitUntil: 'load' });
}

// Charts are set up, and what lies below laid out, once the page has been painted.
export function painted(page) {
  return page.waitForFunction(() => document.documentElement.classList.contains('painted') ||
    !document.querySelector('figure[data-chart]'));
}

export async function print(page, complain) {
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await page.setViewportSize({ width: 718, height: 1000 }); // A4 less margins
  const m = await page.evaluate(measure);
  if (m.light < 250) complain('print', `paper of brightness ${m.light}`);
  if (m.scroll > m.width) complain('print', `${m.scroll} px on paper of ${m.width}: ${m.wide}`);
  const buttons = await page.evaluate(() => [...document.querySelectorAll('button, select, input')]
    .filter((e) => e.checkVisibility()).map((e) => e.outerHTML.slice(0, 100)));
  if (buttons.length) complain('print', `controls on paper: ${buttons.slice(0, 3)}`);
  const pdf = await page.pdf({ format: 'A4' });
  if (pdf.subarray(0, 5).toString() !== '%PDF-' || pdf.length < 10000)
    complain('print', `a PDF of ${pdf.length} bytes`);
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
}
