# SPDX-License-Identifier: Apache-2.0
"""The same page, broken in one way each: a check that finds nothing here checks nothing. Each has
the kinds of complaint of which at least one must come."""
import re

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
END = '</main>'


def once(pattern, new, html):
    out, n = re.subn(pattern, new, html, count=1, flags=re.S)
    assert n == 1, pattern
    return out


def add(markup):
    return lambda html: once(END, lambda m: markup + m[0], html)


def scripted(code):
    """Without the policy, and with a script of its own at the end."""
    return lambda html: add(f'<script>{code}</script>')(POLICY.sub('', html))


def styled(rules):
    return lambda html: once('</head>', lambda m: f'<style>{rules}</style>' + m[0], POLICY.sub('', html))


def digit(html):
    """The last digit of the exact value of a number of the ledger."""
    return once(r'(<data value="\d*)(\d)(" data-key="/ledger/[^"]*" data-unit="ns")',
                lambda m: m[1] + str((int(m[2]) + 1) % 10) + m[3], html)


def shown(html):
    return once(r'(data-unit="ns"[^>]*>)(\d)', lambda m: m[1] + str((int(m[2]) + 1) % 10), html)


def key(html):
    return once('data-key="/ledger/starved_ns"', 'data-key="/ledger/wasted_ns"', html)


def text(html):
    return once(r'(data-text="/gpus/0/name"[^>]*>)', lambda m: m[1] + 'x', html)


def picture(html):
    """A static chart without anything in it."""
    return once(r'(<figure class="chart"[^>]*>.*?<svg[^>]* role="img"[^>]*>).*?(</svg>)', lambda m: m[1] + m[2], html)


def table(html):
    return once(r'(<figure class="chart"[^>]*>.*?<tbody>).*?(</tbody>)', lambda m: m[1] + m[2], html)


def block(html):
    return once('"schema":"gpustarve.page/1"', '"schema":"gpustarve.page/0"', html)


# name: (what is done to the page, the kinds of complaint, views)
BROKEN = {
    'a digit of a value': (digit, {'number'}, ['off']),
    'what is shown of a value': (shown, {'number'}, ['off']),
    'the key of a number': (key, {'number'}, ['off']),
    'a name of the run': (text, {'text'}, ['off']),
    'a number without a key': (add('<p>17 GPUs</p>'), {'loose'}, ['off']),
    'a picture from elsewhere': (lambda html: add(
        '<img src="https://example.com/a.png" alt="">')(POLICY.sub('', html)), {'request', 'alien'}, ['light']),
    'an error in a script': (scripted('nowhere()'), {'script'}, ['light']),
    'a number that only scripts show': (scripted(
        'document.querySelector("data").value = "1"'), {'views', 'number'}, ['light', 'off']),
    'a number that scripts take away': (scripted(
        'document.querySelector("data").remove()'), {'views'}, ['light', 'off']),
    'text of little contrast': (styled('p { color: #ccc !important; background: #fff }'), {'axe'}, ['light']),
    'a page too wide': (styled('main { min-width: 2000px }'), {'width'}, ['narrow']),
    'dark letters on white at night': (styled('html, body { background: #fff !important }'), {'dark'}, ['dark']),
    'no mark of the focus': (styled('* { outline: none !important; box-shadow: none !important }'),
                             {'tab'}, ['light']),
    'all of it laid out at once': (styled('section { content-visibility: visible !important }'), {'first'}, ['light']),
    'what is never laid out': (styled('section { content-visibility: auto !important }'), {'first'}, ['light']),
    'links that lead elsewhere': (scripted('addEventListener("click", (e) => e.preventDefault(), true)'), {'first'}, ['light']),
    'charts before the page is there': (add('<p class="live"></p>'), {'first'}, ['light']),
    'something that only a mouse reaches': (scripted(
        'const d = document.createElement("div"); d.textContent = "x"; d.style.cursor = "pointer";'
        'document.body.append(d)'), {'tab'}, ['light']),
    'a tab order of its own': (add('<a href="#x" tabindex="3">x</a>'), {'tab'}, ['light']),
    'buttons on paper': (add('<button type="button">x</button>'), {'print'}, ['light']),
    'dark paper': (styled('@media print { html, body { background: #222 !important } }'), {'print'}, ['light']),
    'an empty chart': (picture, {'chart'}, ['off']),
    'a chart without a table': (table, {'chart'}, ['off']),
    'a data block of another version': (block, {'chart'}, ['light']),
    'keys that do nothing': (scripted(
        'addEventListener("keydown", (e) => e.stopImmediatePropagation(), true)'), {'chart'}, ['light']),
    'a mouse that does nothing': (scripted(
        'for (const t of ["mousedown", "mousemove", "mouseup"])'
        'addEventListener(t, (e) => e.stopImmediatePropagation(), true)'), {'chart'}, ['light']),
}
CHECKS = {'axe': 'axe', 'first': 'first', 'tab': 'tab', 'print': 'print', 'chart': 'charts'}


def one_each():
    """Of BROKEN the first for each kind of complaint."""
    out, had = {}, set()
    for name, (change, kinds, views) in BROKEN.items():
        if kinds - had:
            out[name] = change, kinds, views
            had |= kinds
    return out


def checks(kinds):
    """Those of drive.mjs that are to complain."""
    return [CHECKS[k] for k in kinds if k in CHECKS]
