// SPDX-License-Identifier: Apache-2.0
// axe-core over a page as it is now. With --quick only the rules that a view can change run again.
const AGAIN = {
  dark: ['color-contrast', 'link-in-text-block'],
  narrow: ['color-contrast', 'scrollable-region-focusable', 'target-size', 'meta-viewport'],
  'off-narrow': ['color-contrast', 'scrollable-region-focusable', 'target-size'],
};

/* eslint-env browser */
async function inside(rules) {
  const options = { resultTypes: ['violations'], iframes: false };
  if (rules) options.runOnly = { type: 'rule', values: rules };
  const { violations, passes } = await window.axe.run(document, options);
  return {
    rules: violations.length + passes.length,
    violations: violations.map((v) => ({
      id: v.id,
      impact: v.impact,
      help: v.help,
      nodes: v.nodes.length,
      first: v.nodes[0].html.slice(0, 200),
      why: (v.nodes[0].failureSummary || '').replace(/\s+/g, ' ').slice(0, 300),
    })),
  };
}

export async function axe(page, source, complain, view, quick) {
  await page.evaluate(source);
  const found = await page.evaluate(inside, (quick && AGAIN[view]) || null);
  if (!found.rules) complain('axe', 'no rule was applied');
  for (const v of found.violations)
    complain('axe', `${v.id} (${v.impact}), ${v.nodes} times: ${v.help}: ${v.first}: ${v.why}`);
}
