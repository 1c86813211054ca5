# SPDX-License-Identifier: Apache-2.0
"""LEDGER 9 once more, from the page alone and slowly: made-up lives of a job with kills, restarts,
requeues, saves of every kind and what is loaded again, and what became of each nanosecond, in
exact fractions. Nothing here shares a line or a method with viewer/saves/."""
import random
import re
from fractions import Fraction

NEVER = 2 ** 63 - 1
PARTS = 'durable', 'unsaved', 'redone', 'unknown', 'lost', 'other'
JOIN = 100_000_000
RENAMES = ('waits', 'went'), ('within', 'out')


class Case:
    """gpus: [(held, [(start, end)])], prices: nano-dollars an hour of each, processes: dicts, saves and loads: dicts by start."""

    def __init__(self):
        self.gpus, self.processes, self.saves, self.loads, self.over = [], [], [], [], True
        self.prices, self.written = [], []

    def text(self):
        lines = []
        for price, (held, spans) in zip(self.prices, self.gpus):
            lines.append('gpu %d %d %s' % (price, held, ' '.join('%d %d' % s for s in spans)))
        for p in self.processes:
            lines.append('process %d %d %d %d %d %d' % (p['start'], p['end'], p['holds'], p['ordered'],
                                                        p['runs'], p['word']))
        for s in self.saves:
            lines.append('save %d %d %d %d %d %d %d %d %d %d %d %d %d %s' % (
                s['process'], s['start'], s['call_end'], s['whole'], s['failed'], s['before'], *s['file'],
                s.get('unsure', 0), s.get('vacant', 0), s.get('moved', 0), s.get('left', 0), s['path']))
        for w in self.written:
            lines.append('written %d %d %d' % w)
        for o in self.loads:
            lines.append('load %d %d %d %d %d %s' % (o['process'], o['t'], *o['file'], o['path']))
        lines.append('end %d' % self.over)
        return '\n'.join(lines) + '\n'


# ---- the truth ----

def is_temporary(path):
    name = path.rstrip('/').split('/')[-1]
    return bool(name) and bool(name[0] == '.' or name[-1] == '~' or re.search(r'(^|[._-])tmp[0-9]*($|[._-])', name, re.I) or
                               re.search(r'[.](temp|part|partial|incomplete|inprogress|writing|new)$', name, re.I) or
                               re.match(r'tmp[a-z0-9_]{8}($|[.])', name))


def in_temporary(path):
    """Whether a folder around it is called so that it will be renamed. A folder of that name for whoever has room, and what
    tempfile and mktemp make there, is none; nor are there folders in an object store."""
    folders = [f for f in path.rstrip('/').split('/')[:-1] if f]
    if '://' in path:
        return False
    for n, f in enumerate(folders):
        made_up = re.match(r'tmp[a-z0-9_]{8}($|[.])|tmp[.].', f)
        if re.fullmatch('tmp[0-9]*', f, re.I) or (made_up and n and re.fullmatch('tmp[0-9]*', folders[n - 1], re.I)):
            continue
        if (f[0] != '.' and is_temporary(f)) or (f[0] == '.' and is_temporary('x' + f)) or re.match('[.]tmp[0-9]*$', f, re.I) or \
                (n + 1 == len(folders) and f.lower() == 'staging'):
            return True
    return False


def find_moves(saves):
    """Of each when it was renamed, and the folder around it was, as far as that is known, and whether that has to be: 'went',
    'out', 'waits' and 'within'."""
    for n, s in enumerate(saves):
        s['went'] = s.get('moved', 0) or NEVER
        s['out'] = s.get('left', 0) or NEVER
        s['within'] = in_temporary(s['path'])
        again = [o for o in saves[n + 1:] if o['process'] == s['process'] and o['path'] == s['path']][:1]
        if s['went'] == NEVER and s['path'] and s['file'][0] and again and again[0].get('vacant') and s['whole'] <= again[0]['start']:
            s['went'] = again[0]['start']
            s['out'] = min(s['out'], s['went'])
    like = [re.sub('[0-9]+', '#', s['path']) for s in saves]
    for n, s in enumerate(saves):
        alike = [(m, o) for m, o in enumerate(saves) if like[m] == like[n]]
        s['waits'] = is_temporary(s['path'])
        for (m, o), (_, after) in zip(alike, alike[1:]):
            if s['path'] and m < n and o['went'] != NEVER and o['went'] <= after['start']:
                s['waits'] = True


def came(s):
    """From when on it counts."""
    due = [s[t] for wait, t in RENAMES if s.get(wait) and s[t] != NEVER]
    return NEVER if s['whole'] == NEVER else max([s['whole']] + due)


def is_stuck(s):
    return s['whole'] != NEVER and any(s.get(wait) and s[t] == NEVER for wait, t in RENAMES)

def checkpoints(case):
    """[(covers, there, gone)], and of each save whose it is."""
    groups, whose, counted = [], {}, []
    for n, s in enumerate(case.saves):
        def ends(other):
            return other['whole'] if other['whole'] != NEVER else \
                other['call_end'] if other['failed'] else NEVER
        inside = any(o['process'] == s['process'] and s['path'].startswith(o['path'] + '/') and
                     ends(o) > s['start'] for o in
                     [o for o in case.saves[:n] if o['process'] == s['process']][-16:])
        if not s['path'] or inside:
            continue
        counted.append(n)
        near = groups and s['start'] <= max([case.saves[m]['start'] for m in groups[-1][:1]] +
                                            [case.saves[m]['call_end'] + JOIN for m in groups[-1]
                                             if case.saves[m]['call_end'] != NEVER])
        again = groups and any(case.saves[m]['process'] == s['process'] and case.saves[m]['path'] == s['path']
                               for m in groups[-1])
        if not near or again:
            groups.append([])
        groups[-1].append(n)
        whose[n] = len(groups) - 1
    out = []
    for k, group in enumerate(groups):
        there = max(came(case.saves[m]) for m in group)
        gone = min([case.saves[j]['start'] for m in group for j in range(m + 1, len(case.saves))
                    if m in [i for i in range(j) if case.saves[i]['path'] == case.saves[j]['path']][-16:] and whose.get(j) != k and case.saves[j]['path'] == case.saves[m]['path'] and
                    case.saves[j]['before'] and case.saves[j]['before'] == case.saves[m]['file'][0]] + [NEVER])
        out.append((min(case.saves[m]['start'] for m in group), there, gone))
    return out, whose, counted


def sure_ones(points, whose, case):
    """Without those of which every save is unsure, or one waits to be renamed; and these."""
    sure = {k for n, k in whose.items() if not case.saves[n].get('unsure')}
    sure -= {k for n, k in whose.items() if is_stuck(case.saves[n])}
    return [p for k, p in enumerate(points) if k in sure], [p for k, p in enumerate(points) if k not in sure]


def may_cover(case, segments, unsure):
    """Of each segment up to where something may cover more."""
    out = []
    for k, (a, b) in enumerate(segments):
        mine = [(c, came, gone) for c, came, gone in unsure if came != NEVER] + [(e, s, NEVER) for s, e, _ in case.written]
        mine = [(c, gone) for c, came, gone in mine
                if a <= came and (k + 1 == len(segments) or came < segments[k + 1][0])]
        out.append(max([a] + [min(c, b) for c, gone in mine if gone > b]))
    return out


def count_stuck(case, all_points, whose, points, segments):
    """Those of which nothing but that is unknown, and which nothing newer makes up for."""
    stuck = {k for n, k in whose.items() if is_stuck(case.saves[n])}
    stuck &= {k for n, k in whose.items() if not case.saves[n].get('unsure')}
    count = 0
    for k in stuck:
        begins, there, gone = all_points[k]
        of = [s for s in segments if s[0] <= there != NEVER][-1:]
        count += any(gone > s[1] and begins > covers(points, s, s[1]) for s in of)
    return count


def stretches(case):
    lives = [p for p in case.processes if p['holds']]
    cuts = sorted({p['start'] for p in lives if all(o['word'] < p['start'] for o in lives
                                                    if o['start'] < p['start'])})
    out = []
    for a, b in zip(cuts, cuts[1:] + [NEVER]):
        out.append((a, min(b, max(p['end'] for p in lives if a <= p['start'] < b))))
    return out


def covers(points, segment, t):
    """c(t)."""
    there = [c for c, came, gone in points if came <= t < gone]
    return max([segment[0]] + [c for c in there])


def within(spans, a, b):
    return sum(max(0, min(b, e) - max(a, s)) for s, e in spans)


def integral(case, points, segments):
    """Of all GPUs together, as a fraction; the measure; the most."""
    total, measure, most = Fraction(0), 0, 0
    for a, b in segments:
        cuts = {a, b} | {t for p in points for t in p[1:] if a < t < b}
        cuts |= {t for _, spans in case.gpus for s in spans for t in s if a < t < b}
        cuts = sorted(cuts)
        for x, y in zip(cuts, cuts[1:]):
            c = covers(points, (a, b), x)
            first = sum(within(spans, c, x) for _, spans in case.gpus)
            last = sum(within(spans, c, y) for _, spans in case.gpus)
            total += Fraction(first + last, 2) * (y - x)
            measure += y - x
            most = max(most, last)
    return total, measure, most


def losses(case, points, segments):
    """Of each GPU the integral."""
    each = []
    for _, spans in case.gpus:
        alone = Case()
        alone.gpus = [(0, spans)]
        cuts_of_all = integral(alone, points, segments)
        each.append(cuts_of_all[0])
    return each


def dollars(price, ns):
    """Nano-dollars, exactly: @ns may be a fraction."""
    return Fraction(price) * ns / 3_600_000_000_000


def bill(case, parts, now, each, measure):
    """In nano-dollars as they are rounded (for each GPU and part), and what they are of, exactly."""
    exact = [sum(dollars(p, part[i]) for p, part in zip(case.prices, parts)) for i in range(len(PARTS))]
    rounded = [sum(half_even(dollars(p, part[i])) for p, part in zip(case.prices, parts)) for i in range(len(PARTS))]
    mean = sum(half_even(dollars(p, half_even(loss / measure))) for p, loss in zip(case.prices, each)) if measure else 0
    exact_mean = sum(dollars(p, loss / measure) for p, loss in zip(case.prices, each)) if measure else 0
    held = sum(dollars(p, held) for p, (held, _) in zip(case.prices, case.gpus))
    usd_now = -1 if now is None else sum(half_even(dollars(p, ns)) for p, ns in zip(case.prices, now))
    return dict(usd=rounded, usd_mean=mean, usd_now=usd_now), dict(parts=exact, mean=exact_mean, held=held)


def opened_by(case, segment, whose, own=None):
    """Of each of a segment's loads before its own first save which it may have opened, if any."""
    if own is None:
        own = min([s['start'] for s in case.saves if s['start'] >= segment[0]] + [NEVER])
    for o in case.loads:
        if not (segment[0] <= o['t'] < segment[1] and o['t'] <= own):
            continue
        each = []
        for n, s in enumerate(case.saves):
            if s['start'] >= segment[0] or s['whole'] > o['t'] or n not in whose:
                continue
            if s['file'][0] == 0:
                ok = o['file'][0] == 0 and '://' in s['path'] and s['path'] == o['path']
            else:
                ok = s['file'] == o['file'] or (
                    o['file'][0] and o['path'].startswith(s['path'] + '/') and
                    s['start'] - 10_000_000 <= o['file'][2] <= s['whole'])
            if ok:
                each.append(n)
        if each:
            yield each


def ended(case, segments):
    ends = []
    for k, (a, b) in enumerate(segments):
        mine = [p for p in case.processes if p['holds'] and a <= p['start'] and
                (k + 1 == len(segments) or p['start'] < segments[k + 1][0])]
        bad = [p for p in mine if not p['ordered']]
        on = k + 1 == len(segments) and not case.over
        ends.append('killed' if any(not (p['runs'] and on) for p in bad) else 'on' if bad else 'ordered')
    return ends


def truth(case):
    find_moves(case.saves)
    all_points, whose, counted = checkpoints(case)
    points, unsure = sure_ones(all_points, whose, case)
    segments = stretches(case)
    may = may_cover(case, segments, unsure)
    ends = ended(case, segments)
    thrown, perhaps = [NEVER] * len(segments), [NEVER] * len(segments)
    began_with = [-1] * len(segments)
    for k, segment in enumerate(segments[1:], 1):
        found = [max(all_points[whose[n]][0] for n in each) for each in opened_by(case, segment, whose)]
        before = [j for j, (a, b) in enumerate(segments) if found and a <= max(found)]
        if not found or not before or before[-1] >= k:
            continue
        began_with[k] = before[-1]
        for j in range(before[-1], k):
            if ends[j] == 'killed':
                thrown[j] = min(thrown[j], max(found) if j == before[-1] else segments[j][0])
                thrown[j] = max(thrown[j], segments[j][0])
        for j in range(k):  # it may have gone on with the oldest that it opened
            if ends[j] == 'killed' and (j + 1 == len(segments) or min(found) < segments[j + 1][0]):
                perhaps[j] = min(perhaps[j], max(min(found), segments[j][0]))
    parts = []
    for held, spans in case.gpus:
        part = dict.fromkeys(PARTS, 0)
        for k, (a, b) in enumerate(segments):
            cut, rest = covers(points, (a, b), b), 'unsaved'
            maybe = max(cut, may[k])
            if ends[k] == 'killed' and thrown[k] != NEVER:
                cut, rest = min(thrown[k], b), 'redone'
                maybe = cut
                cut = min(cut, perhaps[k])
            elif ends[k] == 'killed':
                rest = 'lost' if k + 1 == len(segments) else 'unknown'
                cut = min(cut, perhaps[k])
            part['durable'] += within(spans, a, cut)
            part['unknown'] += within(spans, cut, maybe)
            part[rest] += within(spans, maybe, b)
        part['other'] = held - sum(part.values())
        parts.append([part[p] for p in PARTS])
    total, measure, most = integral(case, points, segments)
    now = None
    if ends and ends[-1] == 'on':
        a, b = segments[-1]
        now = [within(spans, covers(points, (a, b), b), b) for _, spans in case.gpus]
    each = losses(case, points, segments)
    assert sum(each) == total
    money, exact = bill(case, parts, now, each, measure)
    return dict(money, exact=exact, part=[sum(p[i] for p in parts) for i in range(len(PARTS))], gpu=parts, loss=total,
                unmoved=count_stuck(case, all_points, whose, points, segments),
                instants=measure, worst=most, now=-1 if now is None else sum(now), every=interval(points, segments),
                segments=[[a, b, e, o] for (a, b), e, o in zip(segments, ends, began_with)],
                counts=[len(counted), sum(case.saves[n]['whole'] != NEVER for n in counted),
                        sum(case.saves[n]['failed'] for n in counted),
                        sum(p[1] != NEVER for p in points), ends.count('killed'), 0])


def interval(points, segments):
    there = [c for c, came, _ in points if came != NEVER]
    lengths = []
    for x, y in zip(there, there[1:]):
        of = [max([k for k, (a, _) in enumerate(segments) if a <= t], default=-1) for t in (x, y)]
        if of[0] == of[1] >= 0:
            lengths.append(y - x)
    return sorted(lengths)[(len(lengths) - 1) // 2] if lengths else -1


def half_even(value):
    return round(value)  # of a Fraction: half to even


# ---- made-up lives ----

def merged(spans):
    out = []
    for a, b in sorted(spans):
        if out and a <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], b))
        else:
            out.append((a, b))
    return out


def with_unsure(case, seed):
    """The same life, of which not everything that was saved is known to be a checkpoint."""
    r = random.Random(seed * 7 + 1)
    share = r.choice((0, 0, 0.3, 1))
    for s in case.saves:
        s['unsure'] = int(r.random() < share)
    lives = [p for p in case.processes if p['holds']]
    for _ in range(r.choice((0, 0, 1, 3))):
        p = r.choice(lives)
        start = r.randrange(p['start'], p['end'])
        case.written.append((start, start + r.randrange(2 * 10 ** 9), r.randrange(1, 10 ** 9)))
    return case


def with_moves(case, seed):
    """The same life, in which files are saved beside their place and renamed to it: all of them, most, or none; by names that
    say so, or not; told, or seen by the place that is empty again; at once, when the next one is due, or later."""
    r = random.Random(seed * 11 + 3)
    ending = r.choice(('', '', '.tmp', '.part', '.new', '_next', '.tmp.7', '~'))
    folder = r.choice(('', '', 'x.tmp/', 'tmp-x.7/', 'tmp/', 'staging/', 'staging/a/', 'tmp/tmpab12_c3d/', 'x/tmpab12_c3d/', '.x/', '.tmp/x/',
                       'x.part/', 'X.TMP3/y.new/', 'template/', 'tmp7/x.tmp.3/'))
    told, done, due = r.choice((0, 0.5, 1)), r.choice((0, 0.5, 0.9)), r.choice((0, 0, 0.5, 1))
    if r.random() < 0.4:
        return case
    for s in case.saves:
        if s['path'] and not s['path'].startswith('folder') and '://' not in s['path']:
            s['path'] = folder + s['path'] + ending
    for n, s in enumerate(case.saves):
        after = [o for o in case.saves[n + 1:] if o['path'] == s['path']][:1]
        if s['whole'] == NEVER or not s['file'][0] or r.random() >= done:
            continue
        if r.random() < told:
            room = max(1, after[0]['start'] - s['whole']) if after else 10 ** 9
            s['moved'] = s['whole'] + (r.randrange(room) if r.random() < due else r.randrange(1 + room // 100)) + \
                r.choice((0, 0, 0, room, -1))
            s['left'] = r.choice((0, s['moved'], s['moved'] + r.randrange(room)))
        for o in after:
            o['vacant'], o['before'] = 1, 0
    return case


def made(seed):
    """Segments of some ranks; each saves in its way, some are killed, some go on with a save."""
    r = random.Random(seed)
    case, t, inode = Case(), 10 ** 18 + r.randrange(10 ** 9), 100
    unit = r.choice((1, 1000, 10 ** 6, 10 ** 9, 37 * 10 ** 9))
    gpus = r.choice((1, 1, 2, 4))
    spans, files = [[] for _ in range(gpus)], []
    lies = {}  # place -> what lies there
    for attempt in range(r.randrange(1, 6)):
        begin, length = t, unit * r.randrange(1, 2000) + r.randrange(3)
        end, killed = begin + length, r.random() < 0.6
        ranks = []
        for g in range(gpus):
            start, stop = begin + r.randrange(1 + length // 10), end - r.randrange(1 + length // 10)
            stop = max(stop, start + 1)
            ranks.append(len(case.processes))
            ordered = int(not killed or r.random() < 0.3)
            seen = stop + (0 if ordered else r.choice((0, r.randrange(2 * 10 ** 9))))
            case.processes.append(dict(start=start, end=seen, holds=1, runs=0, ordered=ordered, word=stop))
            spans[g].append((start, seen))
        several = random.Random(seed * 13 + attempt).choice((1, 1, 1, 2, 3))
        for _ in range(several if files and r.random() < 0.7 else 0):
            place, file = r.choice(files[-4:])
            if r.random() < 0.2:
                file = (file[0], file[1] + 1, file[2])  # changed since
            case.loads.append(dict(process=ranks[0], t=begin + length // 8 + r.randrange(1 + length // 4),
                                   file=file, path=place + r.choice(('', '', '/0.pt'))))
        at = begin + r.randrange(1 + length // 3)
        style = r.choice(('one', 'numbered', 'pair', 'shards', 'folder', 'remote'))
        while at < end and len(case.saves) < 60:
            took = r.randrange(1, 2 + length // 20)
            names = {'one': ['last'], 'numbered': ['step%d' % at], 'pair': ['model', 'optimizer'],
                     'shards': ['shard%d' % g for g in range(gpus)], 'folder': ['folder', 'folder/0.pt'],
                     'remote': ['s3://b/%d' % r.randrange(3)]}[style]
            for k, name in enumerate(names):
                begun = at + (k * took // 2 if style == 'folder' else k * (took + r.randrange(JOIN // 50)))
                over = lies.get(name, 0) if r.random() < 0.8 else 0
                kind = r.random()
                whole, failed, call_end = begun + took, 0, begun + took
                if kind < 0.1:
                    failed, whole = 1, NEVER
                elif kind < 0.25:
                    whole += r.randrange(1 + length // 10)  # asynchronous
                elif kind < 0.3:
                    whole = NEVER  # nobody tells
                if call_end > end and killed:
                    whole = call_end = NEVER  # under way
                if whole != NEVER and whole > end and killed:
                    whole = NEVER
                inode += 0 if over else 1
                file = (0, 0, 0)
                if whole != NEVER and style != 'remote':
                    file = (over or inode, r.randrange(1, 10 ** 6), begun + took // 2)
                    files.append((name, file))
                elif whole != NEVER:
                    files.append((name, file))
                if style != 'remote' and call_end != NEVER:
                    lies[name] = over or inode
                case.saves.append(dict(process=ranks[k % len(ranks) if style == 'shards' else 0], start=begun,
                                       call_end=call_end, whole=whole, failed=failed, before=over, file=file,
                                       path=name if r.random() < 0.97 else ''))
            at += took + unit * r.randrange(1, 1 + max(2, length // unit // 6)) + \
                r.choice((0, JOIN - 1, JOIN, JOIN + 1))
        t = end + r.randrange(1, 10 ** 9)
    if r.random() < 0.2:
        case.over = False
        for p in case.processes[-gpus:]:
            p['ordered'], p['runs'] = 0, 1
    price, dearer = r.randrange(1, 20 * 10 ** 9), r.choice((6_880_000_000, 3_600_000_000, 1))
    for g in range(gpus):
        spans[g] = merged(spans[g])
        held = sum(b - a for a, b in spans[g])
        case.gpus.append((held + r.choice((0, 0, 5, -3)), spans[g]))
        case.prices.append(price if r.random() < 0.7 else dearer)
    case.saves.sort(key=lambda s: (s['start'], s['process']))
    case.loads.sort(key=lambda o: (o['process'], o['t']))
    return case
