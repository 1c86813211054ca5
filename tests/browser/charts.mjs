// SPDX-License-Identifier: Apache-2.0
// Charts: something is drawn in each and has its table; with scripts each comes alive, zooms by key
// and by mouse and comes back, a gap's button leads to that gap, a flame graph changes with its choice.

const OVER_TIME = new Set(['timeline', 'steps', 'workers', 'ranks']);
const OF_A_KIND = 2; // so many figures of one kind are tried: 64 timelines behave alike
let WAIT = { timeout: 120000, polling: 50 }; // whatever else the machine does

/* eslint-env browser */
function drawn(figure) {
  const ink = (canvas) => {
    if (!canvas.width || !canvas.height) return 0;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let n = 0;
    for (let i = 3; i < data.length; i += 4) if (data[i]) n++;
    return n;
  };
  return {
    ink: [...figure.querySelectorAll('canvas')].reduce((n, c) => n + ink(c), 0),
    shapes: Math.max(0, ...[...figure.querySelectorAll('.plot svg[role="img"]')]
      .filter((s) => s.checkVisibility()).map((svg) =>
      [...svg.querySelectorAll('path, rect, line, polyline, circle')]
        .filter((s) => s.getBBox().width || s.getBBox().height).length)),
    rows: (document.querySelectorAll(`[data-chart=${figure.dataset.chart}]`).length > 16 // one for all
      ? figure.closest('section') : figure).querySelectorAll('table tbody tr').length,
  };
}

const picture = (canvas) => canvas.toDataURL();

// Of each kind the first figures, with their kind.
async function figures(page) {
  const out = [], seen = {};
  for (const f of await page.$$('figure[data-chart]')) {
    const kind = await f.evaluate((e) => e.dataset.chart);
    seen[kind] = (seen[kind] || 0) + 1;
    if (seen[kind] <= OF_A_KIND) out.push({ kind, figure: f });
  }
  return out;
}

async function still(page, complain) {
  for (const { kind, figure } of await figures(page)) {
    const d = await figure.evaluate(drawn);
    if (!d.shapes) complain('chart', `${kind}: nothing is drawn`);
    if (!d.rows) complain('chart', `${kind}: no table with the same`);
  }
}

async function enliven(page, { kind, figure }, complain) {
  await figure.scrollIntoViewIfNeeded();
  try {
    await page.waitForFunction((f) => f.dataset.live === 'yes', figure, WAIT);
  } catch {
    complain('chart', `${kind}: not made interactive: data-live is ${await figure.getAttribute('data-live')}`);
    return false;
  }
  const d = await figure.evaluate(drawn);
  if (!d.ink && kind !== 'flame') complain('chart', `${kind}: nothing is drawn by the script`);
  if (await figure.$('.charts-note')) complain('chart', `${kind}: says that it cannot be drawn`);
  return true;
}

// Waits until the picture is (or is no more) what it was; false: it did not come so.
async function turns(page, canvas, before, same) {
  try {
    await page.waitForFunction(([c, was, want]) => (c.toDataURL() === was) === want, [canvas, before, same], WAIT);
    return true;
  } catch {
    return false;
  }
}

async function wholeShown(figure) {
  return figure.evaluate(() => document.querySelector('button[aria-label="Show the whole run"]').disabled);
}

// The picture once it stands still: a chart that was just made may be drawn again.
async function settled(page, canvas) {
  let before = await canvas.evaluate(picture);
  for (let i = 0; i < 50; i++) {
    await page.waitForTimeout(60);
    const now = await canvas.evaluate(picture);
    if (now === before) break;
    before = now;
  }
  return before;
}

// One way to zoom in and one to come back, each seen in the picture and in the button's state.
async function zoom(page, { kind, figure }, how, into, back, complain) {
  const canvas = await figure.$('canvas');
  const before = await settled(page, canvas);
  await into();
  if (!await turns(page, canvas, before, false)) complain('chart', `${kind}: ${how} does not zoom`);
  else if (await wholeShown(figure)) complain('chart', `${kind}: zoomed by ${how}, and the whole run is shown`);
  await back();
  if (!await turns(page, canvas, before, true)) complain('chart', `${kind}: no way back after ${how}`);
  else if (!await wholeShown(figure)) complain('chart', `${kind}: back after ${how}, not to the whole run`);
}

async function overTime(page, one, complain) {
  const { figure } = one;
  const box = await figure.$('.canvas');
  const key = (k) => async () => {
    await box.focus();
    await page.keyboard.press(k);
  };
  const reset = async () => {
    await page.evaluate(() => document.querySelector('button[aria-label="Show the whole run"]').click());
  };
  await zoom(page, one, 'the key +', key('+'), key('0'), complain);
  await zoom(page, one, 'a drag', async () => {
    const over = await (await figure.$('.u-over')).boundingBox();
    const y = over.y + over.height / 2;
    await page.mouse.move(over.x + over.width * 0.3, y);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width * 0.45, y, { steps: 4 });
    await page.mouse.move(over.x + over.width * 0.6, y, { steps: 4 });
    await page.mouse.up();
    await page.mouse.move(2, 2);
  }, reset, complain);
}

// The longest gap of a timeline: its button leads there, and the middle of the picture says so.
async function gap(page, one, block, complain) {
  const { figure } = one;
  const gpu = block.gpus.find((g) => g.gpu === Number(one.gpu ?? 0));
  const list = await figure.$('details.gaps');
  if (!gpu || !gpu.gaps.length) return;
  if (!list) {
    complain('chart', 'timeline: no list of its gaps');
    return;
  }
  await list.evaluate((d) => d.setAttribute('open', ''));
  const button = await list.$('li button');
  await zoom(page, one, 'the button of the longest gap', async () => {
    await button.focus();
    await page.keyboard.press('Enter');
    await (await figure.$('.canvas')).focus();
    const [name] = [block.classes[gpu.gaps[0].class]];
    const line = await figure.$('.readout');
    const said = await page.waitForFunction(([l, n]) => l.textContent.includes('in a gap of') &&
      l.textContent.endsWith(n), [line, name], WAIT).then(() => true, () => false);
    if (!said)
      complain('chart', `timeline: the button of a gap (${name}) leads to: ${await line.textContent()}`);
  }, async () => page.keyboard.press('0'), complain);
  if ((await list.$$('li')).length !== gpu.gaps.length) complain('chart', 'timeline: not all gaps in its list');
}

const names = (figure) => figure.evaluate((f) => [...f.querySelectorAll('.flame svg g')]
  .map((g) => `${g.getAttribute('name')} ${g.getAttribute('width')}`).sort().join('\n'));

async function flame(page, { figure }, block, complain) {
  const box = await figure.$('.flame');
  const changed = (was) => page.waitForFunction(([f, b]) => [...f.querySelectorAll('.flame svg g')]
    .map((g) => `${g.getAttribute('name')} ${g.getAttribute('width')}`).sort().join('\n') !== b,
  [figure, was], WAIT).then(() => true, () => false);
  let before = await names(figure);
  if (!before) complain('chart', 'flame: no frame');
  const select = await figure.$('select');
  if (block.flame.graphs.length > 1 && !select) complain('chart', 'flame: no choice among its graphs');
  if (select) {
    if ((await select.$$('option')).length !== block.flame.graphs.length)
      complain('chart', 'flame: not all graphs can be chosen');
    const drawnAs = (g) => JSON.stringify([g.parent, g.frame, g.ns_below]);
    const { graphs } = block.flame; // ranks that did the same look the same
    const other = graphs.findIndex((g) => drawnAs(g) !== drawnAs(graphs[0]));
    if (other > 0) await select.selectOption(String(other));
    if (other > 0 && !await changed(before)) complain('chart', 'flame: the same for another rank or role');
    await select.selectOption('0');
    await page.waitForFunction(([f, b]) => [...f.querySelectorAll('.flame svg g')]
      .map((g) => `${g.getAttribute('name')} ${g.getAttribute('width')}`).sort().join('\n') === b,
    [figure, before], WAIT).catch(() => complain('chart', 'flame: the first graph does not come back'));
  }
  before = await names(figure);
  await box.focus();
  for (const k of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await page.keyboard.press(k);
  const said = await (await figure.$('.readout')).textContent();
  if (!/: .* of what /.test(said)) complain('chart', `flame: arrow keys say ${said}`);
}

// With scripts: everything comes alive, then a few of each kind are tried.
export async function charts(page, complain, ms) {
  WAIT = { timeout: ms || 120000, polling: 50 };
  const all = await figures(page);
  await still(page, complain);
  const text = await page.evaluate(() => document.getElementById('gpustarve-data')?.textContent);
  const block = text ? JSON.parse(text) : null;
  if (!block) complain('chart', 'no data block');
  if (!all.length) return;
  const notes = await page.$$eval('.charts-note', (l) => l.map((e) => e.textContent));
  if (notes.length) {
    complain('chart', notes.join(' '));
    return;
  }
  for (const one of all) {
    if (!await enliven(page, one, complain)) continue;
    const tall = await one.figure.$('figcaption > .axis');
    if (tall && await tall.isVisible()) complain('chart', `${one.kind}: the height of its static form stands above the live one`);
    one.gpu = await one.figure.getAttribute('data-gpu');
    if (OVER_TIME.has(one.kind)) await overTime(page, one, complain);
    if (one.kind === 'timeline') await gap(page, one, block, complain);
    if (one.kind === 'flame') await flame(page, one, block, complain);
  }
}

export { still as stillCharts };
