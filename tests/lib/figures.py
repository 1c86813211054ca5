# SPDX-License-Identifier: Apache-2.0
"""The numbers of a rendered page against summary.json, exactly: what a key of the page's grammar
(the head of viewer/report/html/html_priv.h) names is computed here once more, in integers and decimals,
and so is the way in which a value is shown. Nothing goes through a double."""
import datetime
import decimal
import functools
import json
import os
import re

import gs

D = decimal.Decimal
decimal.getcontext().prec = 60
US, MS, S = 10**3, 10**6, 10**9

# Members that summary.json leaves out where they are 0: only below these may a place be absent.
SPARSE = {'classes', 'copies', 'confidence', 'worker_shares_pct', 'skew_causes',
          'states_ns'}


def version():
    with open(os.path.join(gs.SOURCE, 'CMakeLists.txt'), encoding='utf-8') as f:
        return re.search(r'VERSION (\d+\.\d+\.\d+) LANGUAGES', f.read())[1]


# Digits of the page's own wording, which are no facts of any run.
OWN_WORDS = [
    r'\b%s\b' % re.escape(version()),
    r'\b95 (of 100|%)', r'\bp95\b', r'every 15 s\b', r'\b10 us or less each', r'\bbelow 10 %', r'\bcritical from 20 %',
    r'^The first \d+ (processes|ranks|GPUs) are drawn', r'^(48|24) of$',  # limits of the page
    r'\b0 (the whole run|shows all)',      # keys of the keyboard
    r'^input\.h2d$|^([hd]2[hd]|p2p)$',                  # directions of copies
]


class Absent(Exception):
    pass


def parse(text):
    return json.loads(text, parse_float=D)


def step(at, part, sparse, pointer):
    if isinstance(at, list):
        if not part.isdigit() or int(part) >= len(at):
            raise KeyError(f'{pointer}: no element {part}')
        return at[int(part)]
    if isinstance(at, dict) and part in at:
        return at[part]
    if isinstance(at, dict) and sparse:
        raise Absent(pointer)
    raise KeyError(f'{pointer}: no {part}')


def elements(at, part, sparse, pointer):
    """What a segment names: one element, a range as far as it is there, or all members."""
    span = re.fullmatch(r'(\d+)\.\.(\d+)', part)
    if span and isinstance(at, list):
        return at[int(span[1]):int(span[2]) + 1]
    if part == '*' and isinstance(at, dict):
        return list(at.values())
    return [step(at, part, sparse, pointer)]


def walk(document, pointer):
    """What a JSON Pointer names: a list, of several where a segment is a range. Absent where a
    sparse member has no such entry; KeyError anywhere else."""
    found, sparse = [document], False
    for part in pointer.split('/')[1:]:
        part = part.replace('~1', '/').replace('~0', '~')
        found = [v for at in found for v in elements(at, part, sparse, pointer)]
        if not found:
            raise KeyError(f'{pointer}: {part} is empty')
        sparse |= part in SPARSE
    return found


class Documents:
    """What keys point into: a summary, and the data block of the page."""

    def __init__(self, summary, block=None):
        self.summary, self.block = summary, block

    def all(self, pointer):
        if pointer.startswith('page:'):
            if self.block is None:
                raise KeyError(f'{pointer}: the page has no data block')
            return walk(self.block, pointer[5:])
        return walk(self.summary, pointer)

    def at(self, pointer):
        found = self.all(pointer)
        if len(found) != 1:
            raise KeyError(f'{pointer}: {len(found)} elements')
        return found[0]

    def numbers(self, pointer):
        try:
            found = self.all(pointer)
        except Absent:
            return [D(0)]
        for v in found:
            if isinstance(v, bool) or not isinstance(v, (int, D, str)):
                raise KeyError(f'{pointer} is {v!r}, no number')
            if isinstance(v, str) and not re.fullmatch(r'-?\d+(\.\d+)?', v):
                raise KeyError(f'{pointer} is {v!r}, no number')
        return [D(v) for v in found]

    def number(self, pointer):
        return sum(self.numbers(pointer))

    def sum(self, key):
        """The first and all others, or the first less all others; "#": how many there are."""
        sign = ' - ' if ' - ' in key else ' + '
        first, *others = (D(len(self.at(p[1:]))) if p.startswith('#') else self.number(p) for p in key.split(sign))
        return first - sum(others) if sign == ' - ' else first + sum(others)

    def value(self, key, unit=None):
        for word, pick in ('max ', max), ('min ', min):
            if key.startswith(word):
                return pick(self.numbers(key[len(word):]))
        if ' per ' in key:
            product, whole = key.split(' per ')
            times, part = product.split(' * ')
            return even(int(times) * self.sum(part) / self.sum(whole), 9 if unit in DOLLARS else 0)
        if ' * ' in key:
            times, pointer = key.split(' * ')
            return int(times) * self.number(pointer)
        if ' % ' in key:
            part, whole = (self.sum(p) for p in key.split(' % '))
            return even(100 * part / whole, 4) if whole else D(0)
        if ' / ' in key:
            part, whole = (self.number(p) for p in key.split(' / '))
            return even(part / whole, 0)
        return self.sum(key)


def even(value, places):
    return D(value).quantize(D(1).scaleb(-places), rounding=decimal.ROUND_HALF_EVEN)


# ---- how a value is shown ----------------------------------------------------------------------

def duration(v):
    ns = int(v)
    s = int(even(D(ns) / S, 0))
    m = int(even(D(s) / 60, 0))
    h = int(even(D(m) / 60, 0))
    if h >= 48:
        return f'{h // 24} d {h % 24} h'
    if s >= 3600:
        return f'{m // 60} h {m % 60} m'
    if s >= 120:
        return f'{s // 60} m {s % 60} s'
    for least, scale, places, unit in ((999950000, S, 1, 's'), (100 * MS, MS, 0, 'ms'),
                                       (999950, MS, 1, 'ms'), (1000, US, 1, 'us')):
        if ns >= least:
            return f'{even(D(ns) / scale, places)} {unit}'
    return f'{ns} ns'


DOLLARS = ('usd', 'money', 'about', 'dollars')


def fine(v, most, decimals):
    """The coarsest power of ten, from 1 to @most, with which an integer has three digits; its decimals."""
    for power in range(len(str(most))):
        if even(D(v) / 10**power, 0) < 1000:
            return 10**power, decimals - power
    return None


def money_scale(v):
    """Of dollars: what one of the last digit is in nano-dollars, how many decimals, before and after."""
    nano = abs(int(v * 10**9))
    if nano and fine(nano, 10**6, 7):
        return *fine(nano, 10**6, 7), '', ' \u00a2'
    return (10**9, 0, '$', '') if even(D(nano) / 10**7, 0) >= 10**7 else (10**7, 2, '$', '')


def scaled(v, scale, quanta=None):
    """@v: in what the scale's quanta are of."""
    quantum, decimals, before, after = scale
    n = even(D(v) / quantum, 0) if quanta is None else quanta
    if not v and not n and not before:
        return f'0{after}'
    hidden = '<' if v and not n else ''
    return f'{hidden}{before}{D(1 if hidden else n).scaleb(-decimals):,.{decimals}f}{after}'


def money(v):
    return scaled(v * 10**9, money_scale(v))


def about(v):
    return money(v) if even(v, 0) < 100 else scaled(v * 10**9, (10**9, 0, '$', ''))


def dollars(v):
    quantum, decimals, before, _ = money_scale(v)
    if not before:
        quantum, decimals = (quantum, decimals + 2) if quantum < 10**6 else (10**7, 2)
    return scaled(v * 10**9, (quantum, decimals, '$', ''))


def gpu_time_scale(v):
    ns = int(v)
    if not ns:
        return 10**8, 1, '', ' GPU-seconds'
    if fine(ns, 10**8, 9) and even(D(ns) / 10**8, 0) < 600:
        return *fine(ns, 10**8, 9), '', ' GPU-seconds'
    for quantum, decimals, most, unit in ((6 * 10**8, 2, 1000, 'minutes'), (6 * S, 1, 600, 'minutes'),
                                          (36 * S, 2, 10**5, 'hours'), (360 * S, 1, 10**5, 'hours')):
        if even(D(ns) / quantum, 0) < most:
            return quantum, decimals, '', f' GPU-{unit}'
    return 3600 * S, 0, '', ' GPU-hours'


def gpu_time(v):
    return scaled(int(v), gpu_time_scale(v))


def price(v):
    if v * 10**5 % 1:  # of a division
        quantum, decimals, before, _ = money_scale(v)
        return scaled(v * 10**9, (quantum, decimals if before else decimals + 2, '$', ''))
    whole, _, rest = format(v.normalize(), 'f').partition('.')
    return f'${whole}.{rest:0<2}'


def size(v, end=''):
    n, unit = int(v), 0
    while n // 1000**unit >= 1000 and unit < 6:
        unit += 1
    name = ('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')[unit] + end
    return f'{even(D(n) / 1000**unit, 1)} {name}' if unit else f'{n} {name}'


def moment(v):
    t = datetime.datetime.fromtimestamp(int(v) // S, datetime.timezone.utc)
    return t.strftime('%Y-%m-%d %H:%M:%S UTC')


SHOWN = {'ns': duration, 'usd': money, 'price': price, 'money': money, 'about': about, 'dollars': dollars,
         'gpu-time': gpu_time, 'pct': lambda v: f'{even(v, 1)} %', 'ppm': lambda v: f'{even(v / 10000, 1)} %',
         'bytes': size, 'bytes/s': lambda v: size(v, '/s'),
         'count': lambda v: f'{int(v):,}', 'id': lambda v: str(int(v)), 'moment': moment}


def shown_right(number, value, documents):
    text, unit = number['text'].replace('\u00a0', ' '), number['unit']
    if number.get('of'):  # in the scale of what it is a part of
        whole = documents.value(number['of'], unit)
        return text == (scaled(value * 10**9, money_scale(whole)) if unit == 'money' else scaled(value, gpu_time_scale(whole)))
    if unit == 'pct' and number['closed']:  # a sum of shares that are shown, or one that sums with others
        return text in [SHOWN[unit](even(value, 1) + D(k) / 10) for k in (-2, -1, 0, 1, 2)]
    if unit != 'usd':
        return text == SHOWN[unit](value)
    scale, nano = money_scale(documents.number('/cost/usd')), value * 10**9
    near = even(nano / scale[0], 0)
    return text in [scaled(nano, scale, near + k) for k in ((-1, 0, 1) if number['closed'] else (0,))]


# ---- texts that the run brought along ----------------------------------------------------------

TRICKS = re.compile('[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]')


def escaped(text):
    return TRICKS.sub('\ufffd', text)


def sentence(text):
    word = re.split('[ ,]', text, maxsplit=1)[0]  # gc.freeze() and num_workers keep their letters
    plain = 'a' <= text[:1] <= 'z' and not re.search(r'[._(]', word)
    out = text[:1].upper() + text[1:] if plain else text
    return out if text[-1:] in ('.', '!', '?') else out + '.'


# ---- a page ------------------------------------------------------------------------------------

def number_complaints(numbers, documents):
    for n in numbers:
        what = f'{n["key"]} at {n["place"]}'
        if n['unit'] not in SHOWN or n['key'] is None or n['value'] is None:
            yield f'{what}: a number without value, key or unit: {n}'
            continue
        if not re.fullmatch(r'-?\d+(\.\d+)?', n['value']):
            yield f'{what}: {n["value"]!r} is no decimal'
            continue
        try:
            want = documents.value(n['key'], n['unit'])
        except (KeyError, TypeError) as e:
            yield f'{what}: {e}'
            continue
        if D(n['value']) != want:
            yield f'{what}: the page has {n["value"]}, summary.json {want}'
        elif not shown_right(n, want, documents):
            yield f'{what}: {want} {n["unit"]} is shown as {n["text"]!r}'


def text_complaints(texts, documents):
    for t in texts:
        what = f'{t["key"]} at {t["place"]}'
        try:
            want = documents.at(t['key'])
        except (KeyError, Absent) as e:
            yield f'{what}: {e}'
            continue
        want = escaped(str(want))
        if t['as'] == 'sentence':
            want = sentence(want)
        if t['text'] != want:
            yield f'{what}: shown as {t["text"]!r}, summary.json has {want!r}'


@functools.lru_cache(None)  # each stands there in many views, and in many a text
def number_runs(value):
    return frozenset(run for unit in SHOWN for run in digit_runs(SHOWN[unit](D(value)))
                     if unit != 'moment' or value > 10**15)


def digit_runs(value):
    """The numbers in a string, or a number in every way in which it may be shown."""
    if isinstance(value, dict):
        return set().union(*(digit_runs(k) | digit_runs(v) for k, v in value.items()), set())
    if isinstance(value, list):
        return set().union(*(digit_runs(v) for v in value), set())
    if isinstance(value, (int, D)) and not isinstance(value, bool):
        return number_runs(value)
    return set(re.findall(r'\d+(?:[.,]\d+)*', str(value)))


def joined_complaints(joined, documents):
    for j in joined:
        allowed = set()
        try:
            for pointer in j['from'].split():
                allowed |= digit_runs(documents.all(pointer))
        except (KeyError, Absent) as e:
            yield f'{j["from"]} at {j["place"]}: {e}'
            continue
        alien = digit_runs(re.sub(r'series \d+$|(?<=\+)0x', '', j['text'])) - allowed  # 0x: of an address
        if alien:
            yield f'{sorted(alien)} in {j["text"]!r} at {j["place"]} do not stand in {j["from"]}'


def loose_complaints(loose):
    own = re.compile('|'.join(OWN_WORDS))
    for item in loose:
        if re.search(r'\d', own.sub('', item['node'])):
            yield f'digits that no key explains: {item["node"]!r} in {item["place"]}: {item["text"]!r}'


def complaints(facts, summary):
    """Everything that is wrong with the numbers and texts of a page, one line each."""
    block = parse(facts['block']) if facts['block'] else None
    documents = Documents(summary, block)
    return ([('number', c) for c in number_complaints(facts['numbers'], documents)] +
            [('text', c) for c in text_complaints(facts['texts'], documents)] +
            [('joined', c) for c in joined_complaints(facts['joined'], documents)] +
            [('loose', c) for c in loose_complaints(facts['loose'])])


def told(facts):
    """What a page tells, to compare two views of it: every key with what is shown for it."""
    return sorted([(n['key'] or '', n['value'] or '', n['text']) for n in facts['numbers']] +
                  [(t['key'], '', t['text']) for t in facts['texts']])
