# SPDX-License-Identifier: Apache-2.0
"""The rules of causes once more, in Python and by themselves: what samples and rows of batches make
of the pieces of a gap that records leave unknown. Plain lists, full scans, integers. Slow and short
on purpose; docs/LEDGER.md, 6, has the rules. Samples and batches are dicts with the fields of
wire/evidence.h; of a sample's stack it gets what that tells: code, user (the innermost frame is the
user's), take (what its innermost functions of the standard library do), iterates."""
from bisect import bisect_left
from functools import cache

MS, S = 10**6, 10**9
UNKNOWN, LOOK_BACK, CELL = 2**64 - 1, 2 * S, S
(NONE, READ, WRITE, FAULT, SOCKET, PIPE, QUEUE, SLEEP, GIL, LOCK_SHARED, LOCK, CHILD, GPU, STOPPED,
 OTHER, WAIT_UNKNOWN) = range(16)
RUNNING, DISK = 1, 3
MINUTE = 60 * S
FL_GIL, FL_GC = 8, 64
WORKER, PIN, FEEDER = 2, 3, 6
NATIVE = 'a place without a stack of Python'
FETCH, TAKE, PIN_ROW, CLOSE = 2, 3, 4, 5
# In place of idle, and not idle either: one that waits for what nobody was seen to hold; one that merely holds and sleeps or gives;
# one that gives and sleeps; one that waits for requests, or at connections of which nothing is known yet; a server that waits for the
# next word of one of the chain, which is lost, too. Idle: one that merely holds and waits in a circle.
LOST, RESTS, ASLEEP, UNNAMED, CALLED = None, '', 0.0, b'', ()
AROUND = 'around'

CLASSES = ('compute comm copy input.fetch input.prep input.cpu_starved input.pipeline input.handoff '
           'input.epoch input.inline input.h2d input.unknown host.dispatch host.cpu_work host.sync '
           'host.alloc host.gc host.lock host.checkpoint host.phase host.cpu_starved host.warmup '
           'host.net host.wait host.no_work host.unknown excluded.teardown').split()


def teardown(steps):
    """For how long the time behind the last operation is teardown, whatever is seen."""
    median = sorted(steps)[(len(steps) + 1) // 2 - 1] if steps else 0
    return max(S, min(60 * S, 2 * median))


ENDING = 10 * S  # behind the last operation, until when a cell tells of saving alone


def cells(a, b, waits):
    """[a, b) in seconds, without the waits."""
    cuts = sorted({t for w in waits for t in w if a < t < b} | set(range(a, b, S)) | {a, b})
    return [(x, y) for x, y in zip(cuts, cuts[1:]) if not any(w[0] <= x < w[1] for w in waits)]


def split(ns, weights):
    """By largest remainder; of equal ones the class that comes first."""
    total = sum(weights.values())
    out = {c: ns * w // total for c, w in weights.items()}
    rest = sorted(weights, key=lambda c: (-(ns * weights[c] % total), CLASSES.index(c)))
    for c in rest[:ns - sum(out.values())]:
        out[c] += 1
    return out


FRAME = '~'  # between frames of a stack, innermost first: function|file|line


@cache
def lines_apart(a, b):
    """(the frame of @a at which it parts from @b with all outside of it, the two lines); None: in two functions."""
    x, y = a.split(FRAME), b.split(FRAME)
    n = next((n for n, (f, g) in enumerate(zip(x[::-1], y[::-1])) if f != g), None)
    if n is None:
        return None
    (f, at), (g, to) = ((row[:2], row[2]) for row in (rows[-1 - n].split('|') for rows in (x, y)))
    return (FRAME.join(x[len(x) - 1 - n:]), int(at), int(to)) if f == g and at != to else None


@cache
def between(stack):
    """Whether some frame is of the standard library's code that talks with other processes."""
    parts = ('/multiprocessing/', '/concurrent/futures/process.py', '/socket.py', '/ssl.py', '/http/client.py')
    return any('/python3' in row and '-packages/' not in row and any(part in row for part in parts)
               for row in stack.split(FRAME))


def outermost_is_interpreters(stack):
    """Also of none. Who begins a program is the user's file, a module, or runpy."""
    name, path = stack.split(FRAME)[-1].split('|')[:2] if stack else ('', '')
    return not stack or (path.startswith('/usr/lib/python') or '/site-packages/' in path) and name != '<module>' and \
        not path.endswith('/runpy.py')


def is_ahead(stack, given, frame):
    """Whether it parts from @given in the function of @frame, with the same frames outside of that, at a smaller line."""
    apart = stack and lines_apart(stack, given)
    return bool(apart) and apart[0].partition(FRAME)[2] == frame.partition(FRAME)[2] and apart[1] < apart[2]


@cache
def generators(stack):
    """[(function, file), None: no generator of the program's own] of its frames, innermost first."""
    rows = [row.split('|') for row in stack.split(FRAME) if stack]
    own = [not any(part in row[1] for part in ('/site-packages/', '/python3', '<')) for row in rows]
    hands = [tuple(row[:2]) if mine and row[3:] == ['g'] and not row[0].endswith('<genexpr>') else None
             for row, mine in zip(rows, own)]
    return hands, own


def resumed(stack):
    """The outermost generator of the program's own that a function of its own resumes."""
    hands, own = generators(stack)
    return next((g for g, outer, mine in list(zip(hands, hands[1:], own[1:]))[::-1] if g and mine and not outer), None)


def WHEN(s):
    return s['t']


def once(method):
    """Of an object and arguments, once."""
    def get(self, *args):
        known = self.__dict__.setdefault('known', {})
        if (method, args) not in known:
            known[method, args] = method(self, *args)
        return known[method, args]
    return get


@cache
def library(native):
    """The file of the innermost frame of a native stack that is not libc's."""
    libc = ('libc.so', 'libc-2', 'libpthread', 'ld-linux', '[vdso]')
    files = [row.split('|')[0] for row in native.split(FRAME)]
    file = next((f for f in files if not f.rpartition('/')[2].startswith(libc)), '')
    return '' if file.startswith('<') else file


class Row(dict):
    """A sample, the same one whatever it says: what it tells is told once. n: its place among its thread's."""
    __slots__ = ('n',)
    __hash__ = object.__hash__
    __eq__ = object.__eq__


class Shares:
    """A thread in [a, b): n samples, run, delay, blocked, and the part of each sample."""

    def __init__(self, samples, rows, a, b):
        self.rows = rows
        if not self.rows:
            return
        ends = [s['t'] for s in self.rows[1:]] + [b]
        starts = [a] + [s['t'] for s in self.rows[1:]]
        self.weights = [e - s for s, e in zip(starts, ends)]
        self.running = sum(w for s, w in zip(self.rows, self.weights) if s['state'] == RUNNING)
        self.waiting = b - a - self.running
        first, last = self.rows[0], self.rows[-1]
        spent = self.between(first, last) if last['t'] - first['t'] >= 10 * MS else None
        if spent:
            ns, run, delay = spent if self.waiting else self.explain(first, last, *spent)
            self.run, self.delay = (b - a) * run // ns, (b - a) * delay // ns
            self.blocked = b - a - self.run - self.delay if self.waiting else 0
            return
        self.run, self.delay, self.blocked = self.running, 0, self.waiting
        before = samples[first.n - 1] if first.n else None
        if before and first['t'] - before['t'] <= CELL:
            spent = self.between(before, first)
            if spent and before['state'] == first['state'] == RUNNING:
                spent = self.explain(before, first, *spent)
            if spent and spent[1] + spent[2]:
                self.delay = self.run * spent[2] // (spent[1] + spent[2])
                self.run -= self.delay

    @staticmethod
    def between(a, b):
        ns = b['t'] - a['t']
        if not a['cpu'] or b['cpu'] < a['cpu'] or ns <= 0:
            return None
        run = min(ns, b['cpu'] - a['cpu'])
        return ns, run, min(ns - run, max(0, b['delay'] - a['delay']))

    @staticmethod
    def explain(a, b, ns, run, delay):
        rest = ns - run - delay
        if a['throttled']:
            more = min(rest, max(0, b['throttled'] - a['throttled']))
            delay, rest = delay + more, rest - more
        more = rest if rest >= 10 * MS else rest * delay // (run + delay) if run + delay else 0
        return ns, run + rest - more, delay + more

    @once
    def parts(self):
        """(sample, weight, its part of run or blocked)"""
        of = {True: (self.run, self.running), False: (self.blocked, self.waiting)}
        return [(s, w, share * w // all_ if all_ else 0) for s, w in zip(self.rows, self.weights)
                for share, all_ in (of[s['state'] == RUNNING],)]


def maker_block(s, own):
    if s['wait'] in (READ, WRITE, FAULT, SOCKET, PIPE, SLEEP):
        return 'input.fetch'
    if s['wait'] in (GIL, LOCK, LOCK_SHARED):
        return 'input.pipeline'
    if s['wait'] == QUEUE:
        return 'input.unknown' if own else 'input.pipeline'
    return 'input.fetch' if s['state'] == DISK else 'input.unknown'


@cache
def ids(s, marks):
    return frozenset(w[1:] for w in s['links'].split() if w[0] in marks)


@cache
def is_messenger(s):
    """A thread without Python at a listening socket, or an event loop at that and at connections."""
    kinds = {i[0] for i in ids(s, '?')}
    return s['state'] != RUNNING and 'l' in kinds and (
        not s['stack'] or s['code'] != 'idle' and s['take'] == 'event' and bool(kinds & {'t', 'u', 's'}))


@cache
def take_of(s):
    """What the wait of a blocked sample is."""
    if any(i.startswith('l') for i in ids(s, '?')):
        return 'serves'
    if s['take']:
        return 'item' if s['take'] == 'event' and s['iterates'] else s['take']
    if s['wait'] == WRITE:
        return 'gives'
    if s['wait'] == QUEUE:
        return 'item'
    if s['wait'] in (SOCKET, PIPE) and not s['iterates'] and \
            't' in {i[0] for i in ids(s, '?')} and 'd' not in {i[0] for i in ids(s, '?')}:
        return None
    if s['wait'] in (SOCKET, PIPE):
        return 'item' if s['iterates'] else 'event'
    if s['wait'] in (LOCK, LOCK_SHARED):
        kinds = {i[0] for i in ids(s, '?')}
        if s['iterates'] or 'q' in kinds:
            return 'item'
        return 'event' if 'n' in kinds and not kinds & {'o', 'f'} else 'lock'
    if s['wait'] == SLEEP:
        return 'item' if ids(s, '?') and draws(s) else None
    return 'settles' if s['wait'] == CHILD else None


@cache
def draws(s):
    """On the way to the next item of an iterator."""
    frames = [f.split('|') for f in s['stack'].split(FRAME)]
    return s['iterates'] or any(len(f) == 4 and not f[0].endswith('<genexpr>') for f in frames)


@cache
def without_work(s):
    """Whether it waits for requests, or for a person."""
    if s['wait'] in (GIL, GPU, STOPPED):
        return False
    blocked = s['state'] != RUNNING
    listens = any(i.startswith('l') for i in ids(s, '?'))
    return s['code'] == 'idle' or blocked and listens or \
        blocked and s['target'].startswith('/dev/pts/') and s['wait'] != WRITE


@cache
def is_nap(s):
    """It sleeps, and nothing tells for what."""
    return s['state'] != RUNNING and s['wait'] == SLEEP and not ids(s, '?')


class Chain:
    """Who makes what a sample waits for in [a, b): ends, as (class, idle, ns of somebody's time, whose, the waits that led
    there as (whose, awaited ids))."""

    def __init__(self, world, who, s, a, b):
        self.w, self.start, self.b = world, a, b
        self.writers = self.piped = self.gives = False
        self.looks, self.threads, self.asked = 0, set(), {}
        rows = [x for x in world.within(who, a, b) if x['links'] == s['links']]
        before = [x for x in world.within(who, a - LOOK_BACK, a) if x['links'] == s['links'] and x['state'] != RUNNING]
        first = (rows or before[-1:] or [s])[0]
        ends, _ = (self.others(who, a), False) if is_nap(s) else self.ask([who], who, first, first, a, False)
        lost, every = (sum(ns for _, idle, ns, *_ in ends if idle is LOST or idle is CALLED or whole) for whole in (False, True))
        known = 10 * lost < 9 * every
        self.called = not known and any(e[1] is CALLED for e in ends)
        self.ends = ends = [e for e in ends if e[1] is not LOST and e[1] is not CALLED] if known else ends
        self.total = sum(e[2] for e in ends)
        served = sum(e[2] for e in ends if e[0] == 'host.no_work')
        unnamed = sum(e[2] for e in ends if e[1] is UNNAMED)
        self.found = ('requests' if 2 * served >= self.total else 'makers') if known else \
            'writers' if self.writers else None
        self.unnamed = self.found == 'requests' and 10 * unnamed >= 9 * self.total

    def others(self, who, a):
        """Ends of the one other process that is at work."""
        found = [key for key in self.w.samples if key[0] != who[0] and self.w.within(key, a, self.b)]
        ends = self.gather([who], found if len(found) <= 64 else [], frozenset(), a, False, False)
        return ends if self.at_work(ends) and len({e[3][0] for e in ends}) == 1 else []

    @once
    def hands(self, key, wanted, kept, a):
        for mark, marks, of in (('!', '!>', wanted), ('~', '~', kept)):
            n = sum(bool((ids(s, marks) & of) - ids(s, '?')) for s in self.w.within(key, a, self.b))
            if n:
                return {mark: n}
        return {}

    def givers(self, path, s, a, but=()):
        """(those who give, else those who hold; whether only the path holds it)"""
        best, circle, wanted = {}, False, ids(s, '?')
        met = list(dict.fromkeys(key[0] for key in self.w.samples if key[0] != path[-1][0] and key not in path and
                                 any(self.meets(x, wanted) for x in self.w.within(key, a, self.b))))[:8]
        read = s['wait'] == SOCKET and s['take'] == 'item'
        kept = frozenset(i for i in wanted if not read or i[0] != 'o')
        for key in self.w.samples:
            how = self.hands(key, wanted, kept, a) if key not in but else {}
            kinds = {i[0] for i in wanted}
            if not how and key[0] in met and key not in path and key not in but and self.w.within(key, a, self.b):
                how = {'~': 1}
            if how and key in path:
                circle |= 'n' not in kinds or bool(kinds & set('oqf'))
            elif how:
                best[key] = how
        strong = [k for k, how in best.items() if '!' in how]
        return (strong or list(best), bool(strong), circle and not best)

    @staticmethod
    def meets(s, wanted):
        """It waits at the other end of a connection, and at a socket beside it."""
        sockets = {i for i in ids(s, '?') if i[0] in 'lstu'}
        return s['state'] != RUNNING and bool(sockets - wanted) and any(i[0] in 'tu' for i in sockets & wanted)

    @staticmethod
    def at_work(ends, awake=False):
        work = sum(ns for c, i, ns, *_ in ends
                   if c in ('input.prep', 'input.cpu_starved', 'input.fetch', 'host.no_work') and
                   i is not RESTS and not (awake and i is ASLEEP))
        return bool(ends) and sum(e[2] for e in ends) <= 10 * work

    def ask(self, path, key, at, s, a, far):
        """(ends, circle) of the wait at @at of thread @key, which awaits what @s does."""
        self.asked[len(path) - 1] = ids(s, '?')
        ends, circle, idle = self.beyond(path, s, a, far, *self.makers(path, s, a, far))
        if ids(s, '?') and (not self.at_work(ends) if ends else not circle):
            ends = self.as_before(path, key, at, s, a, far, ends)
        if s['wait'] == SLEEP and idle and not self.at_work(ends):
            ends = []
        return ends, circle

    @staticmethod
    def after(key, s, ends):
        """The ends to which this wait led."""
        return [(*e[:4], e[4] | {(key, ids(s, '?'))}) for e in ends]

    def makers(self, path, s, a, far):
        """(ends, whether only the path holds it, whether the ends are of those who merely hold it, and do nothing)"""
        wanted, near = ids(s, '?'), far
        found, strong, circle = self.givers(path, s, a)
        if not circle and not far and self.porters(path, found, a):
            more = self.givers(path, s, a - LOOK_BACK)
            if not self.porters(path, more[0], a - LOOK_BACK) or not found and (more[0] or more[2]):
                found, strong, circle = more
                a, far = a - LOOK_BACK, True
        if found and {i[0] for i in wanted} & set('put'):
            self.piped = True
        ends = self.gather(path, found, wanted, a, far, strong)
        idle = bool(found) and not strong and not self.at_work(ends)
        if not near and (idle or (ends or circle) and not self.at_work(ends)):
            since = a + LOOK_BACK if far else a
            seen = [key for key in self.w.samples if self.w.within(key, since, self.b)]
            a = since - LOOK_BACK
            found, strong, _ = self.givers(path, s, a, () if idle else seen)
            more = self.gather(path, found, wanted, a, True, True) if strong else []
            if self.at_work(more):
                ends, idle = more, False
        return self.after(path[-1], s, ends), circle, idle

    def beyond(self, path, s, a, far, ends, circle, idle):
        """The same, or in place of those who make nothing the ones who give to the library's own threads from elsewhere."""
        kinds = {i[0] for i in ids(s, '?')}
        if len(path) < 2 or 'n' not in kinds or kinds & set('oqf') or self.batches(ends):
            return ends, circle, idle
        found = self.outside_library(path, s, a if far else a - LOOK_BACK)
        for since, long_ago in ((a, far), (a - LOOK_BACK, True))[:1 if far else 2]:
            more = [e for e in self.gather(path, found, ids(s, '?'), since, long_ago, False) if e[0] != 'host.no_work']
            if self.batches(more):
                return self.after(path[-1], s, more), False, False
        if found:
            ends = [(c, LOST if c == 'host.no_work' and i is not CALLED else i, *more) for c, i, *more in ends]
        return ends, circle, idle

    def outside_library(self, path, s, since):
        """Threads with the program's own code, of other processes, that have the other end of a connection of the library's
        threads, or of a process between."""
        rows = {key: self.w.within(key, since, self.b) for key in self.w.samples}
        of = library(s['native'])
        talks = {i for key, seen in rows.items() if key[0] == s['pid'] and of for x in seen
                 if not x['stack'] and library(x['native']) == of for i in ids(x, '?') if i[0] in 'ut'}
        between = {key[0] for key, seen in rows.items() if key[0] != s['pid'] for x in seen
                   if not x['stack'] and any(i[0] == 'l' for i in ids(x, '?')) and ids(x, '?!>') & talks}
        talks |= {i for key, seen in rows.items() if key[0] in between for x in seen
                  if not x['stack'] for i in ids(x, '?') if i[0] in 'ut'}
        but = between | {key[0] for key in path}
        return [key for key, seen in rows.items() if key[0] not in but and any(ids(x, '!>') & talks for x in seen) and
                any(x['stack'] and any(generators(x['stack'])[1]) for x in seen)]

    def gather(self, path, found, wanted, a, far, strong):
        each = []
        locked = self.with_lock(path[-1], a, far)
        for key in sorted(found):
            if self.looks == 256:
                break
            self.looks += 1
            if self.writes(key, a if far else a - LOOK_BACK, wanted):
                self.writers = True
            elif key[0] == path[-1][0] or not self.listens(key, a) or \
                    all(k[0] != key[0] or self.listens(k, a) for k in found):
                each.append((key, self.does(path + [key], key, a, far, strong, locked)))
        busy = [ends for key, ends in each if self.at_work(ends) and (
            self.at_work(ends, True) or key[0] == path[-1][0] or
            not any(k[0] == key[0] and self.at_work(x, True) for k, x in each))]
        idle = [sum(e[2] for e in ends if e[1]) for ends in busy]
        busy = [[(c, i, ns * min(idle) // of if i else ns, *more) for c, i, ns, *more in ends]
                for ends, of in zip(busy, idle)]
        return [e for e in sum(busy or [ends for _, ends in each], []) if e[2]]

    def porters(self, path, found, a):
        """None but those who listen."""
        return all(key[0] != path[-1][0] and self.listens(key, a) for key in found)

    @once
    def listens(self, key, a):
        return any(i[0] == 'l' for s in self.w.within(key, a, self.b) for i in ids(s, '?'))

    @once
    def writes(self, key, a, wanted):
        rows = self.w.within(key, a, self.b)
        stops = [s['t'] for s in rows[1:]] + [self.b]
        out = dict.fromkeys((True, False, None), 0)
        for s, stop in zip(rows, stops):
            delivers = bool(ids(s, '>') & wanted)
            sends = s['wait'] in (SOCKET, PIPE) and s['state'] != RUNNING and take_of(s) == 'gives' and not delivers
            blocked = s['state'] != RUNNING
            kind = True if s['code'] == 'checkpoint' or blocked and s['wait'] == WRITE or sends else \
                False if s['wait'] in (READ, FAULT, SOCKET, PIPE) and not delivers else None
            out[kind] += stop - s['t']
        return out[True] > 0 and 10 * out[True] >= sum(out.values()) and out[True] > out[False]

    @once
    def in_driver(self, key, s):
        return s['wait'] == GPU or self.w.call(key, s['t'], self.start) is not None

    @once
    def with_lock(self, who, a, far):
        """Who has Python's lock, of those who give what is taken there, or was up to 2 s before."""
        since, out, taken = a if far else a - LOOK_BACK, set(), []
        for x in self.w.within(who, since, self.b)[::-1]:
            if self.asks(who, x) and x['links'] != (taken and taken[-1]['links']):
                taken.append(x)
        for key in self.w.samples:
            if any(y['flags'] & FL_GIL for y in self.w.within(key, a, self.b)) and any(
                    (ids(y, '!>~') & ids(x, '?')) - ids(y, '?') for x in taken[:4]
                    for y in self.w.within(key, since, self.b)):
                out.add(key)
        return out

    @once
    def was_piped(self, key, since):
        return any(between(s['stack']) or s['state'] != RUNNING and (
            s['wait'] in (SOCKET, PIPE, QUEUE) or {i[0] for i in ids(s, '?')} & set('put'))
            for s in self.w.within(key, since, self.b))

    @once
    def asks_as(self, key, s, a):
        """The sample that tells what this one awaits."""
        if self.asks(key, s):
            return s
        if s['state'] == RUNNING or not s['stack'] or s['wait'] not in (GIL, LOCK, LOCK_SHARED, QUEUE, PIPE, SOCKET, SLEEP) \
                or ids(s, '?') or self.in_driver(key, s) or self.serves(s):
            return None
        return next((x for x in self.w.samples[key][max(0, s.n - 64):s.n][::-1]
                     if x['t'] >= a - LOOK_BACK and x['stack'] == s['stack'] and self.asks(key, x) and
                     (s['wait'] != SLEEP or x['wait'] == SLEEP)), None)

    def does(self, path, key, a, far, strong, locked):
        h = self.w.shares(key, a, self.b)
        if not h.rows:
            return []
        self.threads |= set(path[1:])
        self.piped |= key[0] != path[0][0] or self.was_piped(key, a if far else a - LOOK_BACK)
        ends, done = [], set()
        for s, w, part in h.parts():
            if self.in_driver(key, s):
                continue
            if s['state'] == RUNNING or not h.running:
                of = h.running or h.waiting
                ends.append(('input.prep', False, h.run * w // of, key, frozenset()))
        waits = [(s, part, self.asks_as(key, s, a)) for s, _, part in h.parts() if s['state'] != RUNNING and not self.in_driver(key, s)]
        asleep = sum(part for _, part, of in waits if of and of['wait'] == SLEEP)
        late = h.delay if 2 * asleep >= self.b - a - h.delay else 0
        left = h.delay
        for s, part, of in waits:
            if of:
                if of['links'] in done:
                    continue
                done.add(of['links'])
                same = [(x, p) for x, p, y in waits if y and y['links'] == of['links']]
                ns, more, circle = sum(p for _, p in same), [], False
                extra = late * ns // asleep if of['wait'] == SLEEP and asleep else 0
                if len(path) <= 4 and ns:
                    more, circle = self.ask(path, key, s, of, a, far)
                if is_messenger(of):
                    more, circle = self.batches(more), False
                circle = circle and of['wait'] != SLEEP and not self.outside(path, of, a) and not self.serves(of, path)
                total = sum(e[2] for e in more)
                native = {i[0] for i in ids(of, '?')} & set('noqf') == {'n'}
                if total:
                    left -= extra
                    ends += [(c, idle, (ns + extra) * n // total, *rest) for c, idle, n, *rest in more]
                else:
                    alone = [('input.pipeline', True if strong else AROUND, p, key, frozenset()) if circle else
                             self.blocked(path, x, p) if len(path) > 4 and not native else self.lost(self.blocked(path, x, p), x)
                             for x, p in same]
                    unnamed = any(i[0] == 's' for i in ids(of, '?'))
                    ends += [(c, UNNAMED if unnamed and c == 'host.no_work' else RESTS if idle is ASLEEP else idle, *rest)
                             for c, idle, *rest in alone]
                continue
            if s['wait'] == GIL and not self.serves(s) and any(k[0] == key[0] and k != key for k in locked):
                ends.append(('input.prep', False, part, key, frozenset()))
                continue
            c, idle, *rest = self.blocked(path, s, part)
            rests = not strong and (s['wait'] == SLEEP or take_of(s) in ('gives', 'settles'))
            untold = s['wait'] in (LOCK, LOCK_SHARED) and not ids(s, '?') and take_of(s) in ('item', 'event')
            untold = untold and strong and c != 'host.no_work'
            ends.append((c, RESTS if rests else LOST if untold else idle, *rest))
        for s, w, _ in h.parts():
            if not self.in_driver(key, s) and (s['state'] == RUNNING or not h.running):
                ends.append(('input.cpu_starved', False, left * w // (h.running or h.waiting), key, frozenset()))
        return [e for e in ends if e[2] > 0]

    @staticmethod
    def lost(end, s):
        """One of whom nobody is known who ends its wait."""
        c, idle, *rest = end
        lost = s['wait'] in (LOCK, LOCK_SHARED, PIPE) and c != 'host.no_work'
        return c, LOST if lost else idle, *rest

    @staticmethod
    def batches(ends):
        """They, if those who send are at work and wait for no requests themselves."""
        work = sum(e[2] for e in ends if e[0] in ('input.prep', 'input.cpu_starved', 'input.fetch'))
        return ends if work and 2 * work >= sum(e[2] for e in ends) and \
            not any(e[0] == 'host.no_work' for e in ends) else []

    @once
    def asks(self, key, s):
        return ids(s, '?') and s['state'] != RUNNING and not self.in_driver(key, s) and (
            is_messenger(s) or not without_work(s) and (take_of(s) in ('item', 'event') or
                                                        take_of(s) is None and s['wait'] == SOCKET))

    def as_before(self, path, key, at, s, a, far, ends):
        """The ends of an earlier wait at the same place, where that one has nobody, or those who have it do nothing."""
        rows, tried, last = self.w.samples[key], 0, s['links']
        earlier = rows[:at.n]
        for x in reversed(earlier):
            if x['t'] < a - LOOK_BACK or tried == 4 or not (at['stack'] or is_messenger(at)):
                break
            if x['stack'] != at['stack'] or not at['stack'] and not is_messenger(x) or \
                    x['links'] in (s['links'], last) or not self.asks(key, x):
                continue
            self.asked[len(path) - 1] = ids(x, '?')
            more = self.makers(path, x, a, far)[0]
            if self.at_work(more) if ends else more:
                return more
            last, tried = x['links'], tried + 1
        return ends

    def calls(self, s, path):
        """Whether it waits for somebody who asked for the connection."""
        kinds = {i[0] for i in ids(s, '?')}
        return 'a' in kinds or s['wait'] == SOCKET and s['stack'] in self.w.callers and self.all_callers(path, s)

    def all_callers(self, path, s):
        """At each connection waits somebody of the chain, who is of another process."""
        of = [self.asked.get(n, ()) for n, key in enumerate(path[:-1]) if key[0] != path[-1][0]]
        return all(any(i in awaited for awaited in of) for i in ids(s, '?') if i[0] in 'tu')

    def outside(self, path, s, a):
        """A socket whose other end nobody of the path has."""
        sockets = {i for i in ids(s, '?') if i[0] in 'stu'}
        return bool(sockets) and not any(
            ids(x, '!>~') & sockets - ids(x, '?') for key in path
            for x in self.w.within(key, a - LOOK_BACK, self.b))

    def serves(self, s, path=()):
        return take_of(s) == 'serves' or without_work(s) or self.calls(s, path)

    def is_called(self, path, s):
        """It waits for callers alone, who are of the chain and of other processes, and wait there; or it accepts where they came in."""
        if self.at_door(path, s):
            return True
        kinds = {i[0] for i in ids(s, '?')}
        return 'a' in kinds and not kinds & set('ls') and bool(kinds & set('tu')) and self.all_callers(path, s)

    def at_door(self, path, s):
        """It accepts, and awaits no connection, at the port of one that a thread of the chain of another process awaits."""
        if take_of(s) != 'serves' or {i[0] for i in ids(s, '?')} & set('tus'):
            return False
        ports = {i.rpartition(':')[2] for i in ids(s, '?') if i[0] == 'l' and ':' in i}
        awaited = set().union(*(self.asked.get(n, frozenset()) for n, key in enumerate(path[:-1]) if key[0] != path[-1][0]))
        ends = {end for i in awaited if i[0] == 't' and '-' in i for end in i.split('-', 1)}
        return bool(ports & {end.rpartition(':')[2] for end in ends if ':' in end})

    def blocked(self, path, s, ns):
        key = path[-1]
        if self.serves(s, path):
            return 'host.no_work', CALLED if self.is_called(path, s) else False, ns, key, frozenset()
        self.piped |= s['wait'] in (SOCKET, PIPE, QUEUE)
        return maker_block(s, False), ASLEEP if s['wait'] == SLEEP else s['wait'] == QUEUE, ns, key, frozenset()


class Piece:
    """One piece: weights of evidence, then a decision."""

    def __init__(self, world, a, b, tid):
        self.w, self.a, self.b, self.tid = world, a, b, tid
        self.weights, self.idle, self.makers, self.rows = {}, 0, 0, False
        self.owed, self.chains = {}, {}
        self.fed = self.at_once = self.answer = False
        self.read, self.left = None, 0
        self.place, self.alone, self.chained, self.served, self.asks, self.by_feeder = '', 0, False, False, False, False
        self.alone_of = {}
        self.perhaps = False  # of the sample at hand
        self.made, self.orders, self.takes = False, {}, {}
        self.kin = False  # decided by weight: its kin may share

    def add(self, cls, ns):
        self.weights[cls] = self.weights.get(cls, 0) + ns

    def overlap(self, r, a=None, b=None):
        return max(0, min(r['end'], self.b if b is None else b)
                   - max(r['start'], self.a if a is None else a))

    def batches(self, what, touching=True):
        return [r for r in self.w.batches if r['what'] == what and r['start'] < self.b
                and (not touching or self.overlap(r))]

    def shares(self, pid, tid, a, b):
        h = self.w.shares((pid, tid), a, b) if a < b else None
        return h if h and h.rows else None

    # ---- who makes batches ----

    # ---- chains ----

    def chain(self, key, s):
        """Samples that wait for the same have the same chain."""
        of = key, s['links'], is_nap(s)
        if of not in self.chains:
            self.chains[of] = Chain(self.w, key, s, self.a, self.b)
        return self.chains[of]

    def owe(self, key, s, ns):
        first, so_far, asleep = self.owed.get((key, s['links']), (s, 0, 0))
        self.owed[key, s['links']] = first, so_far + ns, asleep + (ns if s['wait'] == SLEEP else 0)

    def owe_delay(self, delay):
        """To the chains of what it slept for, if that is most of what it did."""
        total = sum(asleep for _, _, asleep in self.owed.values())
        if not total or 2 * total < self.b - self.a - delay:
            return False
        for key, (s, ns, asleep) in self.owed.items():
            self.owed[key] = s, ns + delay * asleep // total, asleep
        return True

    def pay(self):
        self.chained |= bool(self.owed)
        for (key, _), (s, ns, _) in self.owed.items():
            chain = self.chain(key, s)
            for c, idle, n, *_ in chain.ends:
                part = ns * n // chain.total
                self.add(c, part)
                if idle:
                    self.idle += part
                else:
                    self.makers += c != 'input.cpu_starved'
                if (idle is RESTS or idle is AROUND) and s['stack'] == self.place:
                    self.alone += part
        self.owed = {}

    def blocked(self, key, s, own, ns):
        call = self.w.call(key, s['t'], self.a)
        if call:
            self.add(call, ns)
            if s['wait'] != QUEUE or own:
                self.makers += 1
            else:
                self.idle += ns
            return
        if ids(s, '?') and (own or s['wait'] != QUEUE) and take_of(s) in ('item', 'event') and \
                self.chain(key, s).found == 'makers':
            self.owe(key, s, ns)
            return
        self.add(maker_block(s, own), ns)
        if s['wait'] == QUEUE and not own:
            self.idle += ns
        else:
            self.makers += 1

    def maker(self, pid, tid, own):
        h = self.shares(pid, tid, self.a, self.b)
        if not h:
            return False
        self.add('input.cpu_starved', h.delay)
        if not h.running:
            self.add('input.prep', h.run)
        for s, _, part in h.parts():
            if s['state'] == RUNNING:
                self.add(self.w.call((pid, tid), s['t'], self.a) or 'input.prep', part)
                self.makers += 1
            else:
                self.blocked((pid, tid), s, own, part)
        self.pay()
        return True

    def row(self, r, own, ns):
        all_ = r['end'] - r['start']
        cpu = min(all_, r['cpu'])
        delay = min(all_ - cpu, r['delay'])
        cpu, delay = (ns * x // all_ if all_ else 0 for x in (cpu, delay))
        self.add('input.prep', cpu)
        self.add('input.cpu_starved', delay)
        blocked = ns - cpu - delay
        near = max(self.a, r['start']), min(self.b, r['end'])
        whole = max(r['start'], self.a - LOOK_BACK), min(self.b, r['end'])
        back = self.a - LOOK_BACK, self.b
        for a, b in (near, whole):
            h = cpu and self.shares(r['pid'], r['tid'], a, b)
            if h and h.running:
                self.makers += sum(s['state'] == RUNNING for s in h.rows)
                break
        if not blocked:
            return
        for (a, b), work in ((near, False), (whole, False), (back, True)):
            h = self.shares(r['pid'], r['tid'], a, b)
            seen = [(s, w) for s, w, _ in h.parts()
                    if s['state'] != RUNNING and not (work and s['wait'] == QUEUE)] if h else []
            total = sum(w for _, w in seen)
            if total:
                for s, w in seen:
                    self.blocked((r['pid'], r['tid']), s, own, blocked * w // total)
                self.pay()
                return
        self.add('input.unknown', blocked)

    # ---- a wait ----

    def wait(self):
        """{class: ns}, or None without evidence."""
        takes = self.batches(TAKE)
        mine = [r for r in takes if r['tid'] == self.tid] or takes
        take = max(mine, key=self.overlap, default=None)
        tid = take['tid'] if take else self.tid
        if take and take['batch'] == 0 or \
                2 * self.measure(self.batches(CLOSE), self.a, self.b) >= self.b - self.a:
            return {'input.epoch': self.b - self.a}
        fetches = self.batches(FETCH, touching=False)
        f = next((r for r in reversed(fetches) if take and take['batch'] != UNKNOWN and r['worker']
                  and (r['loader'], r['batch']) == (take['loader'], take['batch'])), None)
        own = max((r for r in self.batches(FETCH) if not r['worker'] and r['tid'] == tid),
                  key=self.overlap, default=None)
        if f:
            self.rows = True
            self.owner(take, f, fetches)
        elif own or not self.workers_seen(take) or not take and self.is_followed(tid):
            if own and 2 * self.overlap(own) >= self.b - self.a:
                self.rows = True
                self.row(own, True, self.b - self.a)
            elif not self.maker(self.w.pid, tid, True):
                return None
        elif not self.by_rows(take) and not self.by_samples(tid):
            return None
        out = self.decide('input.unknown')
        return None if not self.makers and out.get('input.unknown') else out

    def is_followed(self, tid):
        """Of a wait outside of torch's loader it is known who makes what the trainer takes."""
        h = self.shares(self.w.pid, tid, self.a, self.b)
        return bool(h) and any(
            s['state'] != RUNNING and s['code'] != 'next' and not self.w.call((self.w.pid, tid), s['t'], self.a) and
            ids(s, '?') and take_of(s) in ('item', 'event') and self.chain((self.w.pid, tid), s).found == 'makers'
            for s, _, _ in h.parts())

    def measure(self, rows, a, b):
        ns, at = 0, a
        for r in rows:
            lo, hi = max(r['start'], at), min(r['end'], b)
            if lo < hi:
                ns, at = ns + hi - lo, hi
        return ns

    def workers_seen(self, take):
        known = self.w.workers if take and take['loader'] == 1 else None
        if known is not None:
            return known != 0
        return any(r['worker'] for r in self.batches(FETCH)) or any(
            self.shares(*k, self.a, self.b) for k in self.w.samples if self.w.role[k] == WORKER)

    def held_up(self, f, fetches, t):
        """Whether a later batch is ready and half of the others make nothing; until when."""
        rows = [r for r in fetches if r['loader'] == f['loader'] and r['worker']
                and r['worker'] != f['worker']]
        n = max(0, (self.w.workers or 0) - 1) if f['loader'] == 1 else 0
        busy = [r for r in rows if r['start'] <= t < r['end']]
        later = any(r['end'] <= t and r['batch'] > f['batch'] and r['batch'] != UNKNOWN for r in rows
                    if r['start'] <= t)
        return n and later and 2 * len(busy) <= n

    def owner(self, take, f, fetches):
        made, at = min(max(f['end'], self.a), self.b), self.a
        began = min(r['start'] for r in self.w.batches if r['what'] == FETCH
                    and (r['pid'], r['tid']) == (f['pid'], f['tid']))
        of = [r for r in fetches if (r['pid'], r['tid']) == (f['pid'], f['tid'])]

        def idle(a, b):
            if a < began:
                self.add('input.epoch', min(b, began) - a)
                a = min(b, began)
            self.add('input.pipeline', max(0, b - a))
            self.idle += max(0, b - a)

        for r in of:
            a, b = max(r['start'], at), min(r['end'], made)
            if r['start'] >= made or a >= b:
                continue
            if at < a:
                idle(at, a)
            edges = sorted({a, b} | {x for q in fetches for x in (q['start'], q['end']) if a < x < b})
            making = 0
            for t, u in zip(edges, edges[1:]):
                if self.held_up(f, fetches, t):
                    self.add('input.pipeline', u - t)
                    self.idle += u - t
                else:
                    making += u - t
            if making:
                self.row(r, False, making)
            if making < b - a:
                h = self.shares(r['pid'], r['tid'], a, b)
                self.makers += len(h.rows) if h else 0
            at = b
        if at < made:
            idle(at, made)
        if made < self.b:
            self.handoff(take, f, of, made)

    def handoff(self, take, f, of, made):
        left = self.b - made
        h = self.shares(take['pid'], take['tid'], made, self.b)
        starved = min(left, take['delay']) or (h.delay if h else 0)
        self.add('input.cpu_starved', starved)
        left -= starved
        own = min(left, take['cpu'])
        own += min(left - own, self.measure(self.batches(PIN_ROW), made, self.b))
        self.add('input.handoff', own)
        left -= own
        if not left:
            return
        long = self.b - made
        starved = 0
        for r in of:
            all_ = r['end'] - r['start']
            cpu = min(all_, r['cpu'])
            delay = min(all_ - cpu, r['delay'])
            lacks = delay if delay < cpu else cpu + delay
            starved += self.overlap(r, made) * lacks // all_ if all_ else 0
        starved = left * min(starved, long) // long
        self.add('input.cpu_starved', starved)
        left -= starved
        held = 0
        h = self.shares(f['pid'], f['tid'], made, self.b)
        for s, w, _ in h.parts() if h else ():
            c = 'input.prep' if s['state'] == RUNNING else 'input.unknown' if s['wait'] == STOPPED else maker_block(s, False)
            if c == 'input.unknown' and s['wait'] == STOPPED or s['flags'] & FL_GIL and c in ('input.prep', 'input.fetch'):
                self.add(c, left * w // long)
                held += left * w // long
                self.makers += 1
            elif s['state'] == RUNNING:
                self.makers += 1
        self.add('input.handoff', left - held)

    def by_rows(self, take):
        making = 0
        for r in self.batches(FETCH):
            if r['worker'] and (not take or r['loader'] == take['loader']):
                self.row(r, False, self.overlap(r))
                making += self.overlap(r)
        if not making:
            return False
        self.rows = True
        if take and take['loader'] == 1 and self.w.workers is not None:
            idle = max(0, (self.b - self.a) * self.w.workers - making)
            self.add('input.pipeline', idle)
            self.idle += idle
        return True

    def by_samples(self, tid):
        h, after, delay = self.shares(self.w.pid, tid, self.a, self.b), 0, 0
        calls = 0
        if h:
            waiting = sum(p for s, _, p in h.parts() if s['wait'] in (QUEUE, LOCK))
            for s, _, p in h.parts():
                call = s['wait'] not in (QUEUE, LOCK) and self.w.call((self.w.pid, tid), s['t'],
                                                                      self.a)
                if call:
                    self.add(call, p)
                    calls += p
            pinned = 0
            for k in self.w.samples:
                p = self.w.role[k] == PIN and self.shares(*k, self.a, self.b)
                if p:
                    pinned += sum(w for s, w, _ in p.parts() if s['wait'] != QUEUE)
                    pinned = min(pinned, waiting)
            after, delay = self.b - self.a - waiting - calls + pinned, h.delay
        left, part = self.b - self.a - after - calls, Piece(self.w, self.a, self.b, tid)
        told = [part.maker(*k, False) for k in self.w.samples if self.w.role[k] == WORKER]
        total = sum(part.weights.values())
        for c, ns in part.weights.items():
            self.add(c, left * ns // total if total else 0)
        self.idle = left * part.idle // total if total else 0
        if not total:
            self.add('input.unknown', left)
        self.makers += part.makers
        self.add('input.cpu_starved', min(delay, after))
        self.add('input.handoff', after - min(delay, after))
        return any(told) or after or calls

    # ---- neither wait nor call ----

    def over(self, h):
        """Its program has ended: for half of it or more the main thread has no stack of Python any more, or one that the
        interpreter itself began."""
        key = self.w.pid, self.tid
        if self.tid != self.w.pid or not any(s['stack'] and s['t'] < self.a for s in self.w.samples.get(key, ())):
            return False
        over = sum(w for s, w in zip(h.rows, h.weights) if outermost_is_interpreters(s['stack']) and not without_work(s))
        return 2 * over >= self.b - self.a

    def host(self, unknown='host.unknown', ending=False):
        """@unknown: what it is without evidence; in the tail 'excluded.teardown', and then code that handles data
        is no input. @ending: so soon behind the last operation that saving alone is told."""
        h = self.shares(self.w.pid, self.tid, self.a, self.b)
        by_feeder = False
        if not h:
            return None
        if unknown == 'excluded.teardown' and self.over(h):
            return {unknown: self.b - self.a}
        if not any(s['stack'] for s in h.rows) and 2 * h.waiting >= self.b - self.a:
            feeders = [(len(f.rows), -n, k, f) for n, k in enumerate(self.w.samples)
                       if k[0] == self.w.pid and k[1] != self.tid and self.w.role[k] == FEEDER
                       for f in [self.shares(*k, self.a, self.b)] if f]
            if feeders:
                _, _, (_, self.tid), h = max(feeders, key=lambda f: f[:2])
                by_feeder = self.fed
        if self.at_once and self.left not in (0, self.tid) and self.is_awaited((self.w.pid, self.left)):
            self.tid, h = self.left, self.shares(self.w.pid, self.left, self.a, self.b)
            by_feeder = False
        waiting = sum(w for s, w, _ in h.parts() if s['code'] == 'next' or
                      s['wait'] == QUEUE and not without_work(s))
        if 2 * waiting >= self.b - self.a and ending:
            return {unknown: self.b - self.a}
        if 2 * waiting >= self.b - self.a:
            own = not any(s['code'] == 'next' for s, _, _ in h.parts())
            if own and self.read == 'one look':
                return None
            self.served = own and self.is_word(k for k in self.w.samples if self.w.role[k] == WORKER)
            out = {'host.wait': self.b - self.a} if self.served else self.wait()
            self.kin = self.served or self.kin and out is not None
            queues = [s['stack'] for s, _, _ in h.parts() if s['wait'] == QUEUE and s['stack'] and not without_work(s)]
            self.place = queues[0] if own and self.fed and queues else ''
            out = out or {'input.unknown': self.b - self.a}
            self.asks = self.place != '' and out.get('input.unknown') == self.b - self.a
            return out
        self.by_feeder = by_feeder
        parts = [(self.with_generators(s), w, part) for s, w, part in h.parts()]
        classes, undecided = [], 0
        for s, w, part in parts:
            self.perhaps = False
            alone = self.alone
            blocked = s['state'] != RUNNING and self.host_block(s, part)
            if self.alone > alone and blocked != 'chain':
                self.alone_of[blocked] = self.alone_of.get(blocked, 0) + self.alone - alone
            if blocked == 'host.unknown' and unknown == 'excluded.teardown' and s['wait'] == SLEEP and s['stack'] and \
                    not outermost_is_interpreters(s['stack']):
                blocked = 'host.no_work'  # the program is done, and holds the GPU
            if blocked == 'host.no_work':
                unnamed = self.unnamed(s)
                there = self.at_place(s, part if unnamed else 0)
                self.served |= there and not unnamed
            classes.append((s, w, part, blocked))
            undecided += part if self.perhaps else 0
        followed = any(c == 'chain' for *_, c in classes)
        ran = {}
        for s, w, part, blocked in classes:
            self.perhaps = False
            run = self.host_run(s, followed) if not blocked or not h.running and h.run else None
            if self.perhaps:
                undecided += h.run * w // h.waiting if blocked else part
            if run:
                ran[run] = ran.get(run, 0) + w
            c = blocked or run
            if c == 'chain':
                self.owe((self.w.pid, self.tid), self.takes.get(s['t'], s), part)
            else:
                self.add(c, part)
                self.makers += c != 'input.cpu_starved'
            if not h.running and h.run:
                self.add(run, h.run * w // h.waiting)
        if undecided and 2 * undecided >= self.b - self.a - h.delay:
            return None
        with_chain = self.owe_delay(h.delay)
        self.pay()
        inline = ran.get('input.inline', 0)
        makes = inline and 2 * inline >= sum(ran.values()) and unknown != 'excluded.teardown'
        if not with_chain:
            self.add('input.cpu_starved' if makes else 'host.cpu_starved', h.delay)
        self.asks = self.alone > 0 and 10 * self.alone >= 9 * (self.b - self.a - h.delay)
        for c, ns in self.alone_of.items() if self.served and not self.chained else ():
            self.add(c, -ns)
            self.add('host.no_work', ns)
        gone = ['host.unknown']
        if unknown == 'excluded.teardown':
            gone += ['input.inline', 'input.epoch', 'input.handoff']
        if ending:
            gone = [c for c in CLASSES if c not in ('host.checkpoint', unknown)]
            self.idle = 0
        if unknown != 'host.unknown':
            for c in gone:
                self.add(unknown, self.weights.pop(c, 0))
        return self.decide(unknown)

    def is_awaited(self, key):
        """Whether the thread of this piece makes what that one takes."""
        for s in self.w.within(key, self.a, self.b):
            if s['state'] != RUNNING and ids(s, '?') and take_of(s) in ('item', 'event'):
                c = self.chain(key, s)
                if c.found == 'makers' and (self.w.pid, self.tid) in c.threads:
                    return True
        return False

    def host_run(self, s, followed):
        if s['flags'] & FL_GC and s['flags'] & FL_GIL:
            return 'host.gc'
        if s['code'] == '' and followed and s['take'] == 'item':
            return 'input.handoff'
        if s['code'] == '' and self.fed and s['iterates']:
            return 'input.inline'
        of = dict(data='input.inline', checkpoint='host.checkpoint', load='host.warmup',
                  epoch='input.epoch', next='input.handoff', handoff='input.handoff',
                  cpu='host.cpu_work', idle='host.no_work')
        if s['code'] in of:
            return of[s['code']]
        calls = s['stack'] in self.w.callers
        if s['own'] and s['take'] in (None, '', 'item') and not calls and self.before_copy(s):
            return 'input.inline'
        return 'host.cpu_work' if s['own'] and self.b - self.a >= 5 * MS else 'host.dispatch'

    def before_copy(self, s):
        self.perhaps |= self.order(s) == 'perhaps'
        return self.order(s) == 'before'

    def order(self, s):
        if self.made and s['stack'] not in self.orders:
            self.orders[s['stack']] = self.look_back(s['stack'])
        return self.orders.get(s['stack'])

    def with_generators(self, s):
        row = Row(s, iterates=s['iterates'] or bool(resumed(s['stack'])) and self.order(s) == 'resumed')
        row.n = s.n
        return row

    def look_back(self, stack, place=False):
        """'before': who is there comes to what gives the GPU work at a later line of the same function. place: 'before',
        'behind' or None, whatever it does there."""
        key, given, votes, seen, ahead = (self.w.pid, self.tid), '', [], [], ''
        generator, feeds = resumed(stack), self.w.role[key] == FEEDER
        rows = self.w.within(key, self.a - LOOK_BACK, self.a)
        n = 0
        for n, s in enumerate(rows[::-1][:512], 1):
            if s['stack'] and (s['wait'] == GPU or s['code'] == 'model' or self.w.in_long_call(key, s['t'])):
                given, feeds = s['stack'], True
                generator = None if generator in generators(given)[0] else generator
                continue
            seen.append(s)
            if len(votes) == 4:
                if n >= 64:
                    break
                continue
            apart = lines_apart(stack, given) if s['stack'] and given else None
            if apart and (FRAME + s['stack']).endswith(FRAME + apart[0]):
                votes.append(apart[1] < apart[2])
                ahead = ahead or given if votes[-1] else ahead
                given = ''
        if place:
            return 'before' if 2 * sum(votes) > len(votes) else 'behind' if votes else None
        looked = self.w.shares(key, rows[-n]['t'], self.a).parts() if n else ()
        parts = [(s, part) for s, _, part in looked if any(s is x for x in seen)]
        works = sum(p for s, p in parts if s['state'] == RUNNING or s['wait'] in (READ, FAULT, SOCKET))
        if works < sum(p for s, p in parts if s['state'] != RUNNING and s['wait'] in (
                SLEEP, LOCK, LOCK_SHARED, PIPE, QUEUE, CHILD)):
            return None
        if generator and feeds:
            return 'resumed'
        if 2 * sum(votes) <= len(votes):
            return None
        there = sum(p for s, p in parts if (s['state'] == RUNNING or s['wait'] in (READ, FAULT, SOCKET)) and
                    is_ahead(s['stack'], ahead, lines_apart(stack, ahead)[0]))
        if not there or 5 * there < works:
            return None
        return 'perhaps' if len(votes) == 1 and self.b - self.a < 100 * MS else 'before'

    def host_block(self, s, part):
        code, wait, take = s['code'], s['wait'], take_of(s)
        if without_work(s):
            return 'host.no_work'
        if wait == GIL:
            return 'host.gc' if s['flags'] & FL_GC else self.locked_by_makers(s) or 'host.lock'
        if code == 'load' and wait != QUEUE:
            return 'host.warmup'
        if wait == FAULT and s['target']:
            return 'host.warmup'
        by_code = dict(data='input.inline', checkpoint='host.checkpoint',
                       epoch='input.epoch').get(code)
        if wait in (READ, FAULT):
            return by_code or ('input.inline' if s['user'] or s['iterates'] and self.fed or
                               s['own'] and self.before_copy(s) else 'host.unknown')
        if wait == WRITE:
            return 'host.checkpoint'
        if wait == QUEUE or wait in (LOCK, LOCK_SHARED) and code in ('next', 'handoff'):
            chain = self.chain((self.w.pid, self.tid), s)
            made = chain.found == 'makers'
            if wait == QUEUE and code != 'next' and self.is_word(e[3] for e in chain.ends):
                return 'host.wait'
            return 'chain' if made else 'input.unknown' if wait == QUEUE else 'input.handoff'
        if wait in (LOCK, LOCK_SHARED) and code in ('epoch', 'checkpoint'):
            return by_code
        if code == 'epoch' and wait in (PIPE, CHILD) or code == 'data' and wait == CHILD:
            return by_code
        if take == 'serves':
            return 'host.no_work'
        ends = take in ('item', 'event') and (wait in (LOCK, LOCK_SHARED, SOCKET, PIPE, CHILD) or
                                              wait != GPU and ids(s, '?'))
        polls = wait == SLEEP and take is None and self.may_poll(s)
        if polls and self.order_of(s) == 'behind':
            return by_code or 'host.unknown'
        if polls and not (self.order_of(s) and self.again(s)):
            c = by_code or 'host.unknown'
            if c == 'host.unknown':
                self.at_place(s, part)
            return c
        if polls or ends and wait == SLEEP and not s['take']:
            c = self.host_take(s, 'item')
            if not self.chain((self.w.pid, self.tid), s).found:
                c = by_code or 'host.unknown'
            if c in ('chain', 'host.unknown'):
                self.at_place(s, 0 if c == 'chain' else part)
            return c
        if ends:
            c = self.host_take(s, take)
            nobody = not self.chain((self.w.pid, self.tid), s).found and (
                c in ('host.wait', 'host.net', 'input.unknown') or c == 'input.inline' and wait == SOCKET and not ids(s, '?'))
            chain = self.chain((self.w.pid, self.tid), s)
            doubted = c == 'chain' and bool(chain.ends) and all(self.is_server(e[3]) for e in chain.ends)
            if wait in (LOCK, LOCK_SHARED, SOCKET, PIPE, CHILD) and (c == 'chain' or nobody):
                self.at_place(s, (nobody or doubted) * part)
            return c
        if wait in (LOCK, LOCK_SHARED, SOCKET, PIPE, CHILD):
            if take == 'lock':
                c = self.chain((self.w.pid, self.tid), s)
                here, wanted = [(self.w.pid, self.tid)], ids(s, '?')
                held, _, own = c.givers(here, s, self.a)
                if not held and not own:
                    held = c.givers(here, s, self.a - LOOK_BACK)[0]
                if not held and not wanted:
                    self.at_place(s, part)
                return 'host.lock' if held else 'host.wait'
            return 'host.net' if wait == SOCKET else 'host.wait'
        if not by_code and wait == SLEEP and take is None and not ids(s, '?') and draws(s):
            self.at_place(s, part)
        return by_code or 'host.unknown'

    def may_poll(self, s):
        """The program's own code sleeps, a copy follows, and others have memory that it has, too, or it reads as much."""
        return s['own'] and self.made and (any(i[0] == 'm' for i in ids(s, '?')) or not ids(s, '?') and self.read == 'data')

    def order_of(self, s):
        return self.look_back(s['stack'], place=True) if s['stack'] else None

    def again(self, s):
        """It looks again and again in this piece."""
        rows = self.w.samples[self.w.pid, self.tid]
        beside = [rows[k] for k in (s.n - 1, s.n + 1) if 0 <= k < len(rows)]
        return any(self.a <= x['t'] < self.b and x['state'] != RUNNING and x['wait'] == SLEEP and x['stack'] == s['stack'] and
                   x['cpu'] and s['cpu'] and x['cpu'] != s['cpu'] for x in beside)

    def locked_by_makers(self, s):
        """The wait before at which the thread takes what those make who have Python's lock now."""
        key, tried, last = (self.w.pid, self.tid), 0, ''
        rows = self.w.within(key, self.a - LOOK_BACK, s['t'])
        for x in rows[::-1]:
            if tried == 4:
                break
            if x['state'] == RUNNING or not ids(x, '?') or x['links'] == last or x['wait'] == GPU or \
                    without_work(x) or take_of(x) not in ('item', 'event'):
                continue
            tried, last = tried + 1, x['links']
            if self.host_take(x, take_of(x)) != 'chain':
                continue
            whose = [k in self.chain(key, x).threads for k in self.w.samples if k != key and k[0] == key[0]
                     for y in self.w.within(k, self.a, self.b) if y['flags'] & FL_GIL]
            if any(whose) and 2 * sum(whose) >= len(whose):
                self.takes[s['t']] = x
                return 'chain'
        return None

    def is_word(self, makers):
        """Little is read, and none of these threads did more than sleep."""
        return self.read == 'words' and self.rest(makers)

    def rest(self, makers, but=frozenset()):
        """None of these threads did more than sleep, or wait for the same."""
        for key in makers:
            h = self.shares(*key, self.a - LOOK_BACK, self.b)
            work = h.run + sum(p for s, _, p in h.parts() if s['state'] != RUNNING and s['wait'] != SLEEP and
                               not ids(s, '?') & but and not (but and s['wait'] == SOCKET and not ids(s, '?')) and
                               maker_block(s, False) == 'input.fetch') if h else 0
            if h and len(h.rows) > 1 and 10 * work >= self.b - self.a + LOOK_BACK - h.delay:
                return False
        return True

    def is_server(self, key):
        """It was seen to serve lately, and hardly works beside that."""
        h = self.shares(*key, self.a - LOOK_BACK, self.b)
        serving = [s['state'] != RUNNING and (bool({i[0] for i in ids(s, '?')} & set('al')) or
                                              s['wait'] == SOCKET and s['stack'] in self.w.callers) for s in (h.rows if h else ())]
        work = h.run + sum(p for (s, _, p), serves in zip(h.parts(), serving) if s['state'] != RUNNING and s['wait'] != SLEEP and
                           not serves and maker_block(s, False) == 'input.fetch') if h else 0
        return any(serving) and 10 * work < self.b - self.a + LOOK_BACK - h.delay

    def visited(self, chain):
        """Each path to those at the ends leads by a thread that awaits a connection which was accepted, and they rest."""
        hosts = {key for e in chain.ends for key, awaited in e[4] if key[0] == self.w.pid and any(i[0] == 'a' for i in awaited)}
        of = frozenset(i for e in chain.ends for _, awaited in e[4] for i in awaited)
        return bool(hosts) and all(hosts & ({e[3]} | {key for key, _ in e[4]}) for e in chain.ends) and \
            self.rest([e[3] for e in chain.ends], of)

    def at_place(self, s, alone):
        place = s['stack'] or NATIVE
        if not self.fed:
            return False
        self.place = self.place or place
        self.alone += alone if self.place == place else 0
        return self.place == place

    def unnamed(self, s):
        """It waits for a chain that has requests, or connections of which nothing is known yet."""
        key = self.w.pid, self.tid
        return not without_work(s) and take_of(s) in ('item', 'event') and (key, s['links'], is_nap(s)) in self.chains and \
            self.chain(key, s).unnamed

    def host_take(self, s, take):
        c = self.chain((self.w.pid, self.tid), s)
        if c.found == 'makers':
            if s['wait'] == PIPE and self.is_word(e[3] for e in c.ends):
                return 'host.wait'
            if self.answer and c.piped:
                return 'host.net'
            if not (self.fed if take == 'item' else self.at_once):
                return 'host.wait'
            if self.visited(c):
                return 'host.no_work'
            kinds = {i[0] for i in ids(s, '?')}
            little = s['wait'] == SOCKET and s['take'] == 'item' and not s['iterates'] and s['code'] != 'data'
            little = little and 't' in kinds and 'd' not in kinds
            return 'host.net' if little and not self.before_copy(s) else 'chain'
        if c.found:
            return 'host.no_work' if c.found == 'requests' else 'host.wait'
        if c.called:
            return 'host.net' if s['wait'] == SOCKET and s['take'] != 'event' else 'host.wait'
        data = self.fed and s['code'] == 'data'
        if s['wait'] == SOCKET:
            if self.fed and not self.answer and (data or s['iterates']):
                return 'input.inline'
            if s['take'] == 'item' and self.before_copy(s):
                return 'input.inline'
            kinds = {i[0] for i in ids(s, '?')}
            if self.at_once and not self.answer and 'd' in kinds and 'a' not in kinds and not ids(s, '?') & self.w.beside:
                return 'input.fetch'
            return 'host.wait' if s['take'] == 'event' else 'host.net'
        if s['wait'] == PIPE and data:
            return 'input.inline'
        return 'input.unknown' if take == 'item' and s['iterates'] and self.fed else 'host.wait'

    # ---- the decision ----

    def decide(self, unknown):
        self.kin = True
        weights = {c: w for c, w in self.weights.items() if w}
        total, ns, out = sum(weights.values()), self.b - self.a, {}
        starved = next((c for c in ('input.cpu_starved', 'host.cpu_starved')
                        if 10 * weights.get(c, 0) >= total > 0), None)
        if starved:
            w = weights.pop(starved)
            out[starved] = ns * w // total
            total, ns = total - w, ns - out[starved]
        if not ns:
            return out
        if not total:
            win = unknown
        elif 2 * self.idle >= total:
            win = 'input.pipeline'
        else:
            ranked = sorted(weights, key=lambda c: (-weights[c], CLASSES.index(c)))
            top, second = weights[ranked[0]], weights[ranked[1]] if len(ranked) > 1 else 0
            win = ranked[0] if 5 * top >= 2 * total and 2 * top >= 3 * second else None
        for c, n in ({win: ns} if win else split(ns, weights)).items():
            out[c] = out.get(c, 0) + n
        return out


class World:
    """A process: samples by thread, in order; batches by start; workers of loader 1, None: not
    told; copies (start, bytes, to the device) by start; starts of kernels; calls of threads, (start, end, class), that
    do not overlap."""

    def __init__(self, pid, samples, batches, workers, copies=(), calls=None, kernels=()):
        self.copies, self.calls, self.kernels = sorted(copies), calls or {}, sorted(kernels)
        self.pid, self.batches, self.workers = pid, sorted(batches, key=lambda r: r['start']), workers
        self.samples, self.role, self.callers, self.beside = {}, {}, set(), set()
        for s in map(Row, sorted(samples, key=WHEN)):
            rows = self.samples.setdefault((s['pid'], s['tid']), [])
            rows.append(self.in_wait(s, rows))
            rows[-1].n = len(rows) - 1
            self.role[s['pid'], s['tid']] = s['role']
            if s['stack'] and any(i[0] in 'al' for i in ids(s, '?')):
                self.callers.add(s['stack'])
            if s['pid'] != pid:
                self.beside |= {i for i in ids(s, '?!>~') if i[0] in 'tu'}

    @staticmethod
    def in_wait(s, rows):
        """@s, which comes after @rows; on a CPU where it waited for a lock or polled, or hardly, where it read, it is as it was there."""
        polls = s['stack'].split(FRAME)[0].split('|')[1:2] and s['stack'].split(FRAME)[0].split('|')[1].endswith('/selectors.py')
        takes = s['take'] in ('item', 'event', 'serves')
        since = next((x for x in rows[::-1] if x['t'] <= s['t'] - 10 * MS), dict(cpu=0))
        idle = 0 < since['cpu'] <= s['cpu'] and 10 * (s['cpu'] - since['cpu']) <= s['t'] - since['t']
        if s['state'] == RUNNING and s['stack'] and (takes or not s['take'] and (idle or draws(s))):
            for x in rows[::-1][:64]:
                if x['t'] < s['t'] - LOOK_BACK:
                    break
                if x['stack'] == s['stack'] and x['state'] != RUNNING and ids(x, '?') and (
                        takes and (polls or x['wait'] in (LOCK, LOCK_SHARED)) or idle and x['wait'] in (PIPE, SOCKET) or
                        not s['take'] and x['wait'] == SLEEP and (
                            draws(s) or idle and any(i[0] == 'm' for i in ids(x, '?')))):
                    return Row(s, state=x['state'], wait=x['wait'], target=x['target'], links=x['links'])
        return s

    @once
    def within(self, key, a, b):
        """A thread's samples in [a, b)."""
        rows = self.samples.get(key, ())
        return rows[bisect_left(rows, a, key=WHEN):bisect_left(rows, b, key=WHEN)]

    @once
    def shares(self, key, a, b):
        return Shares(self.samples.get(key, ()), self.within(key, a, b), a, b)

    def call(self, key, t, since):
        """The class of the call that the thread was in."""
        rows = self.calls.get(key[1], ()) if key[0] == self.pid and t >= since else ()
        return next((c for a, b, c in rows if a <= t < b), None)

    def in_long_call(self, key, t):
        return any(a <= t < b and b - a >= 20000 for a, b, _ in self.calls.get(key[1], ()))

    def given(self, p, a, b, left=0):
        """What the GPU was given around the gap [a, b)."""
        p.left = left
        p.at_once = any(t == b and to for t, _, to in self.copies)
        p.fed = any(b - MINUTE <= t <= b and to for t, _, to in self.copies)
        before = [(n, to) for t, n, to in self.copies if t < a][::-1]
        out = next((i for i, (_, to) in enumerate(before) if to), len(before))
        up = next((i for i, (_, to) in enumerate(before[out:]) if not to), len(before) - out)
        got, sent = (sum(n for n, _ in rows) for rows in (before[:out], before[out:out + up]))
        p.answer = got >= 65536 and got >= sent // 2
        late = [(n, to) for t, n, to in self.copies if a - 2 * S <= t < a][-4096:]
        got, sent = (sum(n for n, to in late if to == way) for way in (False, True))
        more = any(t == b and to and n >= 1024 for t, n, to in self.copies)
        first = sorted(min((t for t, _, to in self.copies if to and t >= k), default=b) for k in self.kernels)
        first = sorted({t for t in first if a - 2 * S <= t < a})
        far = [y - x >= (b - a) // 4 for x, y in zip(first, first[1:])]
        p.made = more and not p.answer and not (got >= 65536 and got >= sent // 2) and 2 * sum(far) >= len(far)
        seen = [s for s in self.samples.get((self.pid, p.tid), ()) if b - LOOK_BACK <= s['t'] < b and s['rchar']]
        if not seen:
            return
        read = seen[-1]['rchar'] - seen[0]['rchar']
        sent = [n for t, n, to in self.copies if to and seen[0]['t'] <= t < a]
        if len(seen) == 1 or read < 0:
            p.read = 'one look'
        elif sent:
            p.read = 'words' if read < sum(sent) // 16 and read <= 4096 * len(sent) else 'data'

    def stands(self, tid, a, b):
        """For how long the looks at the submitter in [a, b) stand."""
        return min(sum(s['period'] or 10 * MS for s in self.within((self.pid, tid), a, b)), 200 * MS)

    @staticmethod
    def neighbours(kin, orphans, of, a, b, unknown):
        """What the kin of a piece of that kind and thread make of it; all that wait so are in orphans."""
        near = [k for k in kin.get(of, ()) if a - 2 * S <= k[0] < b + 2 * S]
        weights, own = {}, 0
        for _, out, stands in near:
            long = sum(out.values())
            own += long
            for c, ns in out.items():
                weights[c] = weights.get(c, 0) + (ns * stands // long if stands > long else ns)
        weights = {c: w for c, w in weights.items() if w}
        alike = sum(y - x for kind, x, y, tid, *_ in orphans if (kind, tid) == of and a - 2 * S <= x < b + 2 * S)
        if not weights or alike > max(20 * own, 200 * MS * len(near)):
            return {unknown: b - a}
        out = {}
        for c, ns in split(b - a, weights).items():
            c = unknown if c.endswith('.unknown') else c
            out[c] = out.get(c, 0) + ns
        return out

    def classes(self, pieces):
        """Of pieces (kind 'wait', 'host' or 'tail', a, b, tid, of gaps start and end of the gap): {class: ns}."""
        total, kin, orphans, lone = {}, {}, [], []

        def book(out):
            for c, ns in out.items():
                total[c] = total.get(c, 0) + ns

        for kind, a, b, tid, *gap in pieces:
            p = Piece(self, a, b, tid)
            if kind == 'tail':
                book(p.host('excluded.teardown', a < gap[0]) or {'excluded.teardown': b - a})
                continue
            if gap:
                self.given(p, *gap)
            out = p.wait() if kind == 'wait' else p.host()
            if out is None:
                orphans.append((kind, a, b, tid, 'input.unknown' if kind == 'wait' else 'host.unknown'))
                continue
            if p.asks:
                most = max(out, key=lambda c: (out[c], -CLASSES.index(c)))
                lone.append((p.place, a, b, tid, most, self.stands(tid, a, b)))
                continue
            if (p.chained or p.served) and p.place:
                kin.setdefault((p.place, tid), []).append((a, out, 0))
            if p.by_feeder:
                kin.setdefault((NATIVE, tid), []).append((a, out, 0))
            book(out)
            if p.kin:
                kin.setdefault((kind, tid), []).append((a, out, self.stands(tid, a, b) if kind == 'host' else 0))
        given = [(a, tid, stands, self.neighbours(kin, lone, (place, tid), a, b, unknown))
                 for place, a, b, tid, unknown, stands in lone]
        for a, tid, stands, out in given:
            book(out)
            kin.setdefault(('host', tid), []).append((a, out, stands))
        for kind, a, b, tid, unknown in orphans:
            book(self.neighbours(kin, orphans, (kind, tid), a, b, unknown))
        return {c: ns for c, ns in total.items() if ns}
