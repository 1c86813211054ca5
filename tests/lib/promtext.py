# SPDX-License-Identifier: Apache-2.0
"""A strict reader of Prometheus' text format 0.0.4, written from its description: every sample has its
HELP and TYPE before it, families stand together, no series comes twice, labels are escaped. promtool
looks as well, where it is installed."""
import re
import shutil
import subprocess

NAME = r'[a-zA-Z_:][a-zA-Z0-9_:]*'
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*'
VALUE = r'"((?:[^"\\\n]|\\["\\n])*)"'
LABELS = re.compile(rf'({LABEL})={VALUE}(,|$)')
SAMPLE = re.compile(rf'({NAME})(?:\{{(.*)\}})? (NaN|[+-]Inf|[+-]?[0-9.]+(?:e[+-]?[0-9]+)?)$')
TYPES = ('counter', 'gauge', 'histogram', 'summary', 'untyped')


class Family:
    def __init__(self, name):
        self.name, self.help, self.type = name, None, None
        self.samples = {}  # (name, labels as a sorted tuple of pairs): text of the value


def _labels(text):
    out, at = {}, 0
    while at < len(text or ''):
        m = LABELS.match(text, at)
        assert m, f'labels {text!r}'
        assert m[1] not in out, f'label {m[1]} twice in {text!r}'
        out[m[1]] = re.sub(r'\\(.)', lambda e: '\n' if e[1] == 'n' else e[1], m[2])
        at = m.end()
    assert not (text or '').endswith(','), text
    return tuple(sorted(out.items()))


def _family_of(families, name):
    for end in ('', '_bucket', '_sum', '_count'):
        base = name[:len(name) - len(end)]
        if name.endswith(end) and base in families and (not end or families[base].type == 'histogram'):
            return families[base]
    raise AssertionError(f'{name}: no TYPE before it')


def _check_histogram(f):
    buckets = [(float(dict(labels)['le']), int(v)) for (name, labels), v in f.samples.items()
               if name == f.name + '_bucket']
    assert [b for b, _ in buckets] == sorted({b for b, _ in buckets}), f'{f.name}: bounds'
    assert [n for _, n in buckets] == sorted(n for _, n in buckets), f'{f.name}: not cumulative'
    assert buckets[-1][0] == float('inf'), f'{f.name}: no +Inf'
    assert int(f.samples[(f.name + '_count', ())]) == buckets[-1][1], f'{f.name}: count'
    assert float(f.samples[(f.name + '_sum', ())]) >= 0, f'{f.name}: sum'


def parse(text):
    """{family: Family}; raises where the text is not what it should be."""
    assert text.endswith('\n') and '\r' not in text, 'lines'
    families, last = {}, None
    for line in text[:-1].split('\n'):
        m = re.match(rf'# (HELP|TYPE) ({NAME}) (.+)$', line)
        if m:
            if m[2] not in families:
                families[m[2]] = Family(m[2])
            last = f = families[m[2]]
            assert not f.samples, f'{line}: behind its samples'
            assert getattr(f, m[1].lower()) is None, f'{line}: twice'
            assert m[1] != 'TYPE' or m[3] in TYPES, line
            setattr(f, m[1].lower(), m[3])
            continue
        m = SAMPLE.match(line)
        assert m, f'no sample: {line!r}'
        f = _family_of(families, m[1])
        assert f is last and f.help and f.type, f'{line}: not with its family'
        key = (m[1], _labels(m[2]))
        assert key not in f.samples, f'{line}: twice'
        float(m[3])
        f.samples[key] = m[3]
    for f in families.values():
        assert f.help and f.type, f'{f.name}: half a head'
        assert f.type != 'counter' or f.name.endswith('_total'), f'{f.name}: a counter'
        if f.type == 'histogram':
            _check_histogram(f)
    return families


def check(text):
    """The same, and what promtool says to it."""
    families = parse(text)
    if shutil.which('promtool'):
        done = subprocess.run(['promtool', 'check', 'metrics'], input=text.encode(), timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        assert done.returncode == 0 and not done.stdout, done
    return families
