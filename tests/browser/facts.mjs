// SPDX-License-Identifier: Apache-2.0
// What stands on a page, read out of the rendered document: its marked numbers, its texts that the
// run brought along, digits that are neither, and the data block. Also what of it is shown at all.

/* eslint-env browser */
function read() {
  const shown = (e) => e.textContent.replace(/\s+/g, ' ').trim();
  const place = (e) => {
    const names = [];
    for (let at = e; at && at !== document.body; at = at.parentElement)
      names.unshift(at.localName + (at.id ? `#${at.id}` : '') + (at.className && at.className.baseVal === undefined
        ? `.${at.className}` : ''));
    return names.slice(-5).join(' > ');
  };
  const numbers = [...document.querySelectorAll('data')].map((e) => ({
    value: e.getAttribute('value'),
    key: e.dataset.key,
    unit: e.dataset.unit,
    closed: 'closed' in e.dataset,
    of: e.dataset.of,
    text: shown(e),
    place: place(e),
  }));
  const texts = [...document.querySelectorAll('[data-text]')].map((e) => ({
    key: e.dataset.text,
    as: e.dataset.textAs || '',
    text: e.textContent,
    place: place(e),
  }));
  const joined = [...document.querySelectorAll('[data-from]')].map((e) => ({
    from: e.dataset.from,
    text: e.textContent,
    place: place(e),
  }));
  const loose = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n = walk.nextNode(); n; n = walk.nextNode()) {
    if (!/\p{Nd}/u.test(n.data)) continue;
    if (!n.parentElement.closest('data, [data-text], [data-from], [data-source], svg, .axis, .live, .gaps, script, style'))
      loose.push({ text: shown(n.parentElement).slice(0, 300), node: n.data.trim(), place: place(n.parentElement) });
  }
  const block = document.getElementById('gpustarve-data');
  return {
    title: document.title,
    numbers,
    texts,
    joined,
    loose,
    block: block ? block.textContent : null,
    // of a comparison: figures in cells, with the measure or the class of their row
    cells: [...document.querySelectorAll('td')].flatMap((e) => {
      const unit = ['ns', 'ppm', 'nano_usd', 'count', 'bytes'].find((u) => e.hasAttribute(`data-${u}`));
      const row = e.closest('tr');
      return unit ? [{ unit, value: e.getAttribute(`data-${unit}`), text: shown(e),
        row: row.dataset.measure || shown(row.cells[0]) }] : [];
    }),
    charts: [...document.querySelectorAll('[data-chart]')].map((e) => e.dataset.chart),
    sections: [...document.querySelectorAll('h1, h2, h3')].map(shown),
    // nothing of a run may have become markup: these elements are never the page's own
    alien: [...document.querySelectorAll('img, iframe, object, embed, form, base, link, audio, video, [onerror], [onload], [onclick]')]
      .map((e) => e.outerHTML.slice(0, 200)),
  };
}

export const facts = (page) => page.evaluate(read);
