# SPDX-License-Identifier: Apache-2.0
"""Reads report.html strictly and checks each number of it against summary.json and the page's own
data, by the keys that viewer/report/html_priv.h describes."""
import html.parser
import json
import re
from decimal import Decimal, ROUND_HALF_EVEN

VOID = {'meta', 'br'}


def markup(page):
    """The page without what stands in its script elements."""
    return re.sub(r'(<script[^>]*>).*?(</script>)', r'\1\2', page, flags=re.S)


class Page(html.parser.HTMLParser):
    """Fails on anything that does not nest, on ids that are twice, on targets that are not there."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.targets, self.errors = [], [], [], []
        self.numbers, self.texts, self.froms, self.loose = [], [], [], []
        self.block, self.scripts = None, 0
        self.feed(page)
        self.close()
        if self.open:
            self.errors.append(f'not closed: {[t for t, _, _ in self.open]}')
        self.errors += [f'id {i} is there {self.ids.count(i)} times' for i in set(self.ids)
                        if self.ids.count(i) > 1]
        self.errors += [f'nothing has the id {t}' for t in self.targets if t not in self.ids]

    def handle_starttag(self, tag, attrs):
        names = [k for k, _ in attrs]
        if len(set(names)) < len(names):
            self.errors.append(f'<{tag}> has an attribute twice')
        attrs = dict(attrs)
        self.ids += [attrs['id']] if 'id' in attrs else []
        if 'href' in attrs:
            if not attrs['href'].startswith('#'):
                self.errors.append(f'leads out of the page: {attrs["href"]}')
            self.targets.append(attrs['href'][1:])
        for name in 'aria-labelledby', 'aria-describedby', 'for':
            self.targets += attrs.get(name, '').split()
        for name in attrs:
            if name.startswith('on') or name in ('src', 'style', 'action'):
                self.errors.append(f'<{tag} {name}>')
        self.scripts += tag == 'script'
        if tag not in VOID:
            self.open.append((tag, attrs, []))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1][0] != tag:
            self.errors.append(f'</{tag}> closes {self.open[-1][0] if self.open else "nothing"}')
            return
        _, attrs, text = self.open.pop()
        text = ''.join(text)
        if tag == 'data':
            self.numbers.append((attrs, text))
        if 'data-text' in attrs:
            self.texts.append((attrs, text))
        if 'data-from' in attrs:
            self.froms.append((attrs, text))
        if tag == 'script' and attrs.get('id') == 'gpustarve-data':
            self.block = json.loads(text, parse_float=Decimal)

    def handle_data(self, data):
        for _, _, text in self.open:
            text.append(data)
        quiet = {'data', 'script', 'style', 'title', 'svg'}
        if not any(t in quiet or 'data-text' in a or 'data-from' in a or 'axis' in a.get('class', '').split()
                   for t, a, _ in self.open) and re.search(r'\d', data):
            self.loose.append(data.strip())


def element(node, pointer):
    """What a pointer names; a list where a segment is a range; None where there is nothing."""
    found, spread = [node], False
    for segment in pointer.split('/')[1:]:
        segment = segment.replace('~1', '/').replace('~0', '~')
        span = re.fullmatch(r'(\d+)\.\.(\d+)', segment)
        spread |= span is not None or segment == '*'
        found = [step for n in found for step in steps(n, segment, span)]
    return found if spread else found[0] if found else None


def steps(node, segment, span):
    if isinstance(node, dict):
        return list(node.values()) if segment == '*' else [node[segment]] if segment in node else []
    if not isinstance(node, list):
        return []
    first, last = (int(span[1]), int(span[2])) if span else (int(segment), int(segment))
    return node[first:last + 1]


class Keys:
    def __init__(self, summary, block):
        self.summary, self.block = summary, block

    def find(self, pointer):
        if pointer.startswith('page:'):
            return element(self.block, pointer[5:])
        return element(self.summary, pointer)

    def number(self, pointer):
        v = self.find(pointer)
        if isinstance(v, list):
            return sum((Decimal(x) for x in v), Decimal(0))
        return Decimal(0 if v is None else v)

    def value(self, key):
        if key.startswith('#'):
            return Decimal(len(self.find(key[1:])))
        if key.startswith(('max ', 'min ')):
            return Decimal({'max': max, 'min': min}[key[:3]](self.find(key[4:])))
        if ' * ' in key:
            times, pointer = key.split(' * ')
            return int(times) * self.number(pointer)
        for sign in '+', '-', '%', '/':
            parts = key.split(f' {sign} ')
            if len(parts) > 1:
                return self.combine(sign, [self.number(p) for p in parts])
        return self.number(key)

    @staticmethod
    def combine(sign, v):
        if sign == '+':
            return sum(v)
        if sign == '-':
            return v[0] - sum(v[1:])
        if not v[1]:
            return Decimal(0)
        scale = 1000000 if sign == '%' else 1
        n, d = int(v[0] * scale), int(v[1])
        q, rest = divmod(n, d)
        q += rest * 2 > d or (rest * 2 == d and q % 2)
        return Decimal(q) / (10000 if sign == '%' else 1)


def fixed(v, places):
    return f'{v.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN):f}'


def half_even(n, d):
    return int((Decimal(n) / d).quantize(Decimal(1), ROUND_HALF_EVEN))


def duration(ns):
    s = half_even(ns, 10**9)
    m = half_even(s, 60)
    h = half_even(m, 60)
    if h >= 48:
        return f'{h // 24} d {h % 24} h'
    if s >= 3600:
        return f'{m // 60} h {m % 60} m'
    if s >= 120:
        return f'{s // 60} m {s % 60} s'
    for least, unit, places, name in ((999950000, 9, 1, 's'), (10**8, 6, 0, 'ms'),
                                      (999950, 6, 1, 'ms'), (1000, 3, 1, 'us')):
        if ns >= least:
            return f'{fixed(Decimal(ns).scaleb(-unit), places)} {name}'
    return f'{ns} ns'


def bytes_text(n):
    unit = 0
    while unit < 6 and n // 1000**unit >= 1000:
        unit += 1
    if not unit:
        return f'{n} B'
    return f'{fixed(Decimal(n) / 1000**unit, 1)} {" kMGTPE"[unit]}B'


def dollars(v):
    return '<$0.01' if 0 < v and fixed(v, 2) == '0.00' else f'${fixed(v, 2)}'


def price(v):
    whole, _, rest = f'{v.normalize():f}'.partition('.')
    return f'${whole}.{rest:0<2}'


SHOWN = {
    'ns': lambda v: duration(int(v)),
    'usd': dollars,
    'price': price,
    'hours': lambda v: fixed(v, 2),
    'pct': lambda v: f'{fixed(v, 1)} %',
    'bytes': lambda v: bytes_text(int(v)),
    'bytes/s': lambda v: f'{bytes_text(int(v))}/s',
    'count': lambda v: f'{int(v):,}',
    'id': lambda v: str(int(v)),
}


def cents_apart(a, b):
    value = [Decimal(x.replace('<$0.01', '$0').replace('$', '')) for x in (a, b)]
    return abs(value[0] - value[1]) * 100


def check_number(keys, attrs, text):
    """'' or what is wrong."""
    key, unit, value = attrs['data-key'], attrs['data-unit'], Decimal(attrs['value'])
    try:
        want = keys.value(key)
    except (LookupError, TypeError, ValueError) as error:
        return f'{key}: {error!r}'
    if unit == 'moment':
        return '' if want == value and text.endswith(' UTC') else f'{key}: {text}'
    if want != value:
        return f'{key}: the page has {value}, summary.json {want}'
    if 'data-closed' in attrs:
        return '' if cents_apart(text, SHOWN[unit](value)) <= 1 else f'{key}: {text}'
    return '' if text == SHOWN[unit](value) else f'{key}: {text!r} for {value}, not {SHOWN[unit](value)!r}'


def plain(text):
    """By html_escape's rules."""
    text = re.sub('[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]', '\ufffd', text)
    return text


def check_text(keys, attrs, text):
    want = keys.find(attrs['data-text'])
    want = plain(want if want is not None else '')
    if attrs.get('data-text-as') == 'sentence':
        want = want[:1].upper() + want[1:] if 'a' <= want[:1] <= 'z' else want
        want += '' if want.endswith(('.', '!', '?')) else '.'
    return '' if text == want else f'{attrs["data-text"]}: {text!r}, not {want!r}'


def strings(node):
    if isinstance(node, dict):
        return [s for k, v in node.items() for s in [k] + strings(v)]
    if isinstance(node, list):
        return [s for v in node for s in strings(v)]
    return [str(node)]


def check_from(keys, attrs, text):
    known = ' '.join(s for p in attrs['data-from'].split() for s in strings(keys.find(p)))
    numbers = set(re.findall(r'\d+', known))
    # "and 1 more" counts what "targets" counts, but for the one that is named.
    numbers |= {str(int(n) - 1) for n in re.findall(r'\b\d+\b', known) if len(n) < 10}
    lost = [n for n in re.findall(r'\d+', text) if n not in numbers and n not in known]
    return f'{attrs["data-from"]}: {lost} in {text!r}' if lost else ''


def problems(page, summary):
    """All that is wrong with a page, and how many numbers were compared."""
    p = Page(page)
    keys = Keys(summary, p.block)
    errors = list(p.errors)
    errors += [check_number(keys, a, t) for a, t in p.numbers]
    errors += [check_text(keys, a, t) for a, t in p.texts]
    errors += [check_from(keys, a, t) for a, t in p.froms]
    errors += [f'a number without a key: {t!r}' for t in p.loose if not known_constant(t)]
    return [e for e in errors if e], len(p.numbers)


def known_constant(text):
    """Digits of ours: the sampler's 15 s, a version, what rules fix."""
    text = re.sub(r'\b15 s\b|\b95 of 100\b|95 % of|input\.h2d|[hdp]2[hdp]', '', text)
    return not re.search(r'\d', text) or re.fullmatch(r'\d+\.\d+\.\d+', text)
