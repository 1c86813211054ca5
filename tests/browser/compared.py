# SPDX-License-Identifier: Apache-2.0
"""The comparison's page in the browser: what stands in its cells against the comparison's JSON, to the
last digit and as it is shown; its sentences; and that each of these checks can fail."""
import os
import re

import gs
import figures

D = figures.D
SHOWN = {'ns': figures.duration, 'ppm': lambda v: f'{figures.even(D(v) / 10000, 1)} %',
         'bytes': figures.size, 'count': lambda v: f'{v:,}'}


class Comparison:
    """One page and its JSON. @runs: folders."""

    def __init__(self, where, name, runs, options=()):
        self.name, self.file = f'compare-{name}', os.path.join(where, f'compare-{name}.html')
        html = gs.gpustarve('report', *runs, '--format', 'html', '-o', self.file, *options)
        gs.equal((html.returncode, html.stderr), (0, b''), f'{self.name}: report --format html')
        done = gs.gpustarve('report', *runs, '--format', 'json', *options)
        gs.equal(done.returncode, 0, f'{self.name}: report --format json')
        self.document = figures.parse(done.stdout.decode())

    def job(self, everything):
        views = ['light', 'dark', 'narrow', 'off'] if everything else ['light', 'dark', 'narrow']
        return {'name': self.name, 'file': self.file, 'quick': not everything, 'views': views,
                'checks': ['axe', 'tab', 'print'] if everything else ['axe', 'print']}


def measure_cells(pair):
    """(row, unit, value) of the figures in the first table."""
    for m in pair['measures']:
        if m['base'] is None and m['run'] is None:
            continue
        for part in 'base', 'run', 'difference':
            if m[part] is not None:
                yield m['id'], m['unit'], m[part], part == 'difference'


def class_cells(pair):
    for k in pair['classes']:
        for unit, parts in ('ppm', ('base', 'run')), ('step_ns', ('base', 'run', 'difference')):
            for part in parts:
                v = k[unit] and k[unit][part]
                if v is not None:
                    yield k['class'], unit.split('_')[-1], v, part == 'difference'


def shown(unit, v, signed):
    if signed and not v:
        return '0'
    sign = '-' if v < 0 else '+' if signed else ''
    if signed and unit == 'ppm':
        return f'{sign}{figures.even(D(abs(v)) / 10000, 1)} points'
    return sign + SHOWN[unit](abs(v))


def dollars_right(text, v, signed):
    """A difference may be off by one of the last digit, so that it is that of what is shown."""
    said = re.fullmatch(r'([+-]?)<?(\$?)([\d,]+(?:\.(\d+))?)( \u00a2)?', text.replace('\u00a0', ' '))
    if signed and not v:
        return text == '0'
    if not said or (said[1] == '-') != (v < 0) or (said[1] == '+') != (signed and v > 0):
        return False
    exact, near = D(abs(v)) / 10**9 * (100 if said[5] else 1), D(said[3].replace(',', ''))
    digit = D(1).scaleb(-len(said[4] or ''))
    return bool(said[2]) != bool(said[5]) and abs(exact - near) <= digit * (1 if signed else D('0.5'))


def complaints(facts, document):
    """What the page shows and the JSON does not hold, and the other way round."""
    want = [c for pair in document['comparisons'] for table in (measure_cells, class_cells) for c in table(pair)]
    got = [(c['row'], c['unit'], int(c['value']), c['text']) for c in facts['cells']]
    out = [('number', f'{len(got)} figures, {len(want)} in the JSON')] if len(got) != len(want) else []
    for (row, unit, value, signed), (at, of, has, text) in zip(want, got):
        if (row, unit, value) != (at, of, has):
            out.append(('number', f'{at}: {of} {has}, in the JSON {row}: {unit} {value}'))
        elif not (dollars_right(text, value, signed) if unit == 'nano_usd' else text == shown(unit, value, signed)):
            out.append(('shown', f'{row}: {text!r} of {value} {unit}'))
    heads = [p['sentence'].replace(' -> ', ' \u2192 ') + '.' for p in document['comparisons']]
    flat = [' '.join(h.split()) for h in heads]
    if facts['sections'] and [s for s in facts['sections'] if s in flat] != flat:
        out.append(('sentence', f'{facts["sections"][:2]} instead of {flat}'))
    return out


# Pages broken on purpose: change of the HTML, the kinds of complaints that it must cause.
BROKEN = {
    'another value': (lambda t: re.sub(r'data-ns="(\d+)"', lambda m: f'data-ns="{int(m[1]) + 1}"', t, count=1),
                      {'number'}),
    'another digit shown': (lambda t: re.sub(r'(data-ppm="\d+">)[^<]*', r'\g<1>12.3 %', t, count=1), {'shown'}),
    'a cell less': (lambda t: re.sub(r'<td class="n" data-ns.*?</td>', '<td></td>', t, count=1), {'number'}),
    'another sentence': (lambda t: re.sub(r'<h1>.*?</h1>', '<h1>All is well.</h1>', t, count=1, flags=re.S),
                         {'sentence'}),
    'an image from elsewhere': (lambda t: t.replace('</main>', '<img src="http://127.0.0.1:9/x.png"></main>'),
                                {'console', 'axe', 'alien'}),
    'pale on white': (lambda t: t.replace('<h1>', '<h1 style="color:#ccc;background:#fff">', 1), {'axe'}),
    'too wide': (lambda t: t.replace('<h1>', '<h1 style="width:1400px">', 1), {'width'}),
}
