# SPDX-License-Identifier: Apache-2.0
"""The reference of ledger.estimated: LEDGER 11 once more, from what a trace holds and the ledger's
pieces of idle time, in Python and for clarity. One GPU.

Intervals are lists of (start, end) or (start, end, value), disjoint and in order where they say so."""
import bisect
import math

S, MS = 1_000_000_000, 1_000_000
LINES = 24  # states of a line of the program each
RECORDS = 6
GC, EPOCH, WAIT, CHECKPOINT, SYNC, PHASE = range(RECORDS)
CPU, GPU, LOCK, FILE, NET, SLEEP, OTHER, NONE = range(RECORDS + LINES, RECORDS + LINES + 8)
STATES = range(NONE + 1)
FIRST = {  # state: idle of a million parts, as long as nothing tells; its class, as long as nothing tells
    GC: (950_000, 'host.gc'), EPOCH: (950_000, 'input.epoch'), WAIT: (950_000, 'input.unknown'),
    CHECKPOINT: (950_000, 'host.checkpoint'), SYNC: (50_000, 'host.sync'), PHASE: (500_000, 'host.phase'),
    CPU: (500_000, None), GPU: (50_000, 'host.sync'), LOCK: (500_000, 'host.wait'), FILE: (900_000, None),
    NET: (900_000, 'host.net'), SLEEP: (900_000, None), OTHER: (500_000, 'host.wait'), NONE: (500_000, None)}
BY_RECORD = GC, EPOCH, WAIT, CHECKPOINT
ROUNDS = 2
UNKNOWN = 'host.unknown', 'device.unknown'
CALLS = 'host.dispatch', 'host.sync', 'host.alloc', 'host.warmup'
NOT_SEEN = 'excluded.unobserved', 'device.lost'
WHOLE = 1_000_000
PRIOR_NS = 100 * MS  # of time observed, that FIRST counts for
CLASS_NS = 10 * MS  # the same of its class
BLOCKS = 4096
KNOWN, GUESSED = 0.06, 0.45  # of how far a state's idle time could be off
PAIR = 'host.dispatch', 'host.cpu_work'  # share out a CPU's work by how long the pieces are
LONG_NS = 5 * MS  # of the latter
NEAR, UNLEARNT = 0.3, 0.4  # of what is near that length; of what was idle more than was recorded
ALIKE = 4.0  # blocks that follow each other count as one
PERIOD_NS = 10 * MS
AGE_NS = {True: 100 * MS, False: S}  # of a meter's samples when they are taken, at most: GPM, the driver's
FLOOR_NS = 10 * MS
STUDENT = [6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753,
           1.746, 1.740, 1.734, 1.729, 1.725, 1.721, 1.717, 1.714, 1.711, 1.708, 1.706, 1.703, 1.701, 1.699, 1.697]
UNCHECKED = 2.25  # so that the interval reaches to what the other meter says
NORMAL = 1.645
JOINED_NS = 50 * MS  # readings so close follow on each other
ALIKE_LEAST, FEW = 2, 3  # readings of a state that tell by themselves; fewer leave more open
NONE_VAR, FEW_VAR = 0.01, 0.0025
BITS = 16
ANY = None
NO_BLOCKS = 3.0
WAITS = {0: CPU, 1: FILE, 2: FILE, 3: FILE, 4: NET, 7: SLEEP, 8: LOCK, 9: LOCK, 10: LOCK, 12: GPU}


def merged(spans):
    out = []
    for a, b in sorted(s for s in spans if s[1] > s[0]):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return [tuple(s) for s in out]


def clip(spans, a, b):
    """What of disjoint ones in order lies in [a, b)."""
    i = max(0, bisect.bisect_right(spans, (a,)) - 1)
    out = []
    while i < len(spans) and spans[i][0] < b:
        s = spans[i]
        if s[1] > a:
            out.append((max(s[0], a), min(s[1], b), *s[2:]))
        i += 1
    return out


def meet(x, y):
    """What two disjoint lists in order have in common, with the values of both."""
    out, i, k = [], 0, 0
    while i < len(x) and k < len(y):
        a, b = max(x[i][0], y[k][0]), min(x[i][1], y[k][1])
        if a < b:
            out.append((a, b, *x[i][2:], *y[k][2:]))
        if x[i][1] < y[k][1]:
            i += 1
        else:
            k += 1
    return out


def measure(spans):
    return sum(s[1] - s[0] for s in spans)


def states(rows):
    """The first state that holds at each instant: disjoint (start, end, state), NONE left out."""
    edges = []
    for a, b, s in rows:
        if b > a:
            edges += [(a, 1, s), (b, -1, s)]
    edges.sort(key=lambda e: e[0])
    count, out, at, i = [0] * len(STATES), [], None, 0
    while i < len(edges):
        t = edges[i][0]
        now = next((s for s in STATES if count[s]), NONE)
        if at is not None and now != NONE:
            if out and out[-1][1] == at and out[-1][2] == now:
                out[-1] = (out[-1][0], t, now)
            else:
                out.append((at, t, now))
        while i < len(edges) and edges[i][0] == t:
            count[edges[i][2]] += edges[i][1]
            i += 1
        at = t
    return out


def looks(samples):
    """What samples of threads that submit show, (t, thread, wait, period, line) each, one process
    after the other and by time: (rows of states, kinds of the states that are lines)."""
    rows, last, count = [], {}, {}
    for t, thread, wait, period, line in samples:
        if thread in last:
            rows[last[thread]][1] = min(rows[last[thread]][1], t)
        last[thread] = len(rows)
        kind = WAITS.get(wait, OTHER)
        rows.append([t, t + (period + period // 4 if period else PERIOD_NS), kind, line])
        count[kind, line] = count.get((kind, line), 0) + 1
    most = [k for k in sorted(count, key=lambda k: -count[k]) if k[1]][:LINES]
    of = {k: RECORDS + i for i, k in enumerate(most)}
    return [(a, b, of.get((kind, line), kind)) for a, b, kind, line in rows], [k for k, _ in most]


def with_none(spans, some):
    """Cuts spans by states; what has none is of NONE."""
    whole, at = [], -(1 << 63)
    for a, b, state in some:
        if at < a:
            whole.append((at, a, NONE))
        whole.append((a, b, state))
        at = b
    return meet(spans, whole + [(at, 1 << 63, NONE)])


def readings(meters):
    """Each time once: (start, end, busy, gpm, sm)."""
    out, until = [], None
    for start, end, busy, gpm, sm in sorted(meters, key=lambda m: m[:2]):
        a = start if until is None else max(start, until)
        if end - a <= 0 or end - a < (end - start) // 10 * 9:
            continue
        out.append((a, end, busy, gpm, sm))
        until = end
    return out


def part(ns, share, x):
    """Of @ns in a state whose odds of being idle are those of @share times x / 2^20."""
    return ns * share * x // (share * x + (WHOLE - share) * (1 << 20))


def rake(held, share, idle):
    """Idle time per state that sums to @idle: all odds are moved alike."""
    low, high = 0, 1 << 40
    while high - low > 1:
        x = (low + high) // 2
        if sum(part(h, p, x) for h, p in zip(held, share)) >= idle:
            high = x
        else:
            low = x
    got = [part(h, p, low) for h, p in zip(held, share)]
    more = [part(h, p, high) for h, p in zip(held, share)]
    for room in (more, held):
        for s in STATES:
            add = min(idle - sum(got), room[s] - got[s])
            if add > 0:
                got[s] += add
    return got


def few(n):
    """By how much wider than a normal one an interval is that @n values tell."""
    return (STUDENT[n - 2] if n < 32 else NORMAL) / NORMAL


def power(x, g):
    """x ** g, g from 0 to 1, by the binary digits of g."""
    out = 1.0
    for _ in range(BITS):
        x, g = math.sqrt(x), g * 2.0
        if g >= 1.0:
            out, g = out * x, g - 1.0
    return out


def split(ns, weights):
    """By largest remainders, of equal ones the first. @weights: a list."""
    total = sum(weights)
    parts = [ns * w // total for w in weights]
    left = ns - sum(parts)
    order = sorted(range(len(weights)), key=lambda i: (-(ns * weights[i] % total), i))
    for i in order[:left]:
        parts[i] += 1
    return parts


class Estimate:
    def __init__(self, pieces, given_up, held, some, kinds, meters, classes, governed=True):
        """@pieces: (start, end, class, of a gap, sure); @given_up: intervals; @held: when the GPU was; @some: states(); @kinds: of looks(); @meters: (start, end, busy, gpm, sm or None); @classes: all names in order; @governed: the governor gave up some."""
        self.first_of = {**FIRST, **{RECORDS + i: FIRST[kinds[i] if i < len(kinds) else CPU] for i in range(LINES)}}
        self.names, self.some, self.held_in = classes, some, merged(held)
        pieces = sorted(pieces)
        spans = merged(given_up)
        self.target = meet([p[:2] for p in pieces if p[2] == 'excluded.unobserved'], spans)
        self.of_ns = measure(self.target)
        self.learn(pieces)
        self.governed = governed
        self.meter(readings(meters), spans, pieces)
        self.allot()
        self.doubt()

    # What was observed, block by block.
    def learn(self, pieces):
        origin, length = self.held_in[0][0], self.held_in[-1][1] - self.held_in[0][0]
        size = self.size = max(S, -(-length // BLOCKS))
        n = length // size + 1
        blocks = [(origin + i * size, origin + (i + 1) * size, i) for i in range(n)]
        cut = meet(self.held_in, blocks)
        self.seen = [[0] * len(STATES) for _ in range(n)]
        self.idle = [[0] * len(STATES) for _ in range(n)]
        self.told = [{} for _ in range(n)]
        self.weight = [{} for _ in STATES]
        phase = {}
        for a, b, i, s in with_none(cut, self.some):
            self.seen[i][s] += b - a
        for a, b, c, gap, sure, i, s in with_none(meet(pieces, blocks), self.some):
            if c in NOT_SEEN or not gap:
                self.seen[i][s] -= b - a
                continue
            self.idle[i][s] += b - a
            self.told[i][c] = self.told[i].get(c, 0) + b - a
            self.weight[s][c] = self.weight[s].get(c, 0) + b - a
            if s > PHASE and c not in UNKNOWN:
                own = c.startswith('device.') or (c in CALLS and sure)
                phase[c if own else 'host.phase'] = phase.get(c if own else 'host.phase', 0) + b - a
        gaps = [p for p in pieces if p[3]]
        firsts = [p for p, before in zip(gaps, [None] + gaps) if before is None or before[1] != p[0]]
        recorded = [p for p in gaps if p[2] not in NOT_SEEN]
        n = sum(p[2] not in NOT_SEEN for p in firsts)
        self.gap = float(measure(recorded)) / float(n) if n else 0.0
        lengths = [b - a for a, b, c, gap, _ in pieces if gap and c in PAIR]
        close = [ns for ns in lengths if LONG_NS // 2 <= ns < 2 * LONG_NS]
        self.near = float(sum(close)) / float(sum(lengths)) if lengths else 0.0
        self.seen_of = [sum(o[s] for o in self.seen) for s in STATES]
        self.idle_of = [sum(d[s] for d in self.idle) for s in STATES]
        if self.seen_of[PHASE] < S:
            for c, ns in phase.items():
                self.weight[PHASE][c] = self.weight[PHASE].get(c, 0) + ns
        for s in STATES:
            weight, own = self.weight[s], self.first_of[s][1]
            known = sum(ns for c, ns in weight.items() if c not in UNKNOWN)
            unknown = sum(ns for c, ns in weight.items() if c in UNKNOWN)
            if own:
                weight[own] = weight.get(own, 0) + CLASS_NS
            if own or (known and known * 4 >= unknown):
                for c in UNKNOWN:
                    weight.pop(c, None)

    def first(self, s):
        """How much of a state is idle, as long as nothing tells: of a phase as much as of what it is made of."""
        share = self.first_of[s][0]
        if s != PHASE:
            return share
        idle, seen = sum(self.idle_of[PHASE + 1:]), sum(self.seen_of[PHASE + 1:])
        return (idle * WHOLE + share * PRIOR_NS) // (seen + PRIOR_NS)

    def shares(self, idle, held):
        out = []
        for s in STATES:
            p = ((self.idle_of[s] + idle[s]) * WHOLE + self.first(s) * PRIOR_NS) // (
                self.seen_of[s] + held[s] + PRIOR_NS)
            out.append(min(max(p, 1000), 999_000))
        return out

    # What meters tell of the time that was not recorded.
    def meter(self, all_readings, spans, pieces):
        self.rest = [0] * len(STATES)
        dark = [p for p in pieces if p[2] in NOT_SEEN]
        self.readings, before = [], None
        for start, end, busy, gpm, sm in all_readings:
            mine, blind = clip(self.target, start, end), measure(clip(dark, start, end))
            held_ns = measure(clip(self.held_in, start, end))
            u = measure(mine)
            mix, held = [0] * len(STATES), [0] * len(STATES)
            for into, spans_of in (mix, [(start, end)]), (held, mine):
                for x, y, s in with_none(spans_of, self.some):
                    into[s] += y - x
            self.readings.append({
                'span': (start, end), 'ns': end - start, 'gpm': gpm, 'busy_of': busy, 'rate': busy / 10000, 'said': (end - start) * busy // 10000,
                'units': None if sm is None else (end - start) * sm // 10000,
                'worked': held_ns - measure(clip(pieces, start, end)), 'u': u, 'held': held,
                'top': mix.index(max(mix)), 'joined': before is not None and start - before < JOINED_NS,
                'tells': u > 0 and blind == u, 'shows': not blind and held_ns == end - start})
            before = end
        self.cells = [c for c in self.readings if c['tells']]
        self.choose()
        self.apart = 0
        for c in self.cells:
            def busy_by(said, ppm):
                return min(max(said * ppm // WHOLE - c['worked'], 0), c['u'])
            if self.by_units:
                c['busy'] = min(busy_by(c['units'], self.worked), busy_by(c['said'], WHOLE))
                self.apart += c['busy'] - busy_by(c['said'], self.of_busy)
            else:
                c['busy'] = busy_by(c['said'], c['ppm'])
                if self.unchecked:
                    self.apart += c['busy'] - busy_by(c['units'], WHOLE)
        for a, b, s in with_none(self.target, self.some):
            self.rest[s] += b - a
        self.target_of = list(self.rest)
        for a, b, s in with_none(meet(self.target, [c['span'] for c in self.cells]), self.some):
            self.rest[s] -= b - a

    def edges(self, some):
        """Variance of what these readings (by number) say in sum: samples are old when they are taken, and within
        a stretch one lacks what the other has too much."""
        var, all_of = 0.0, self.readings
        stretches = []
        for i in some:
            if stretches and stretches[-1][1] == i - 1 and all_of[i]['joined']:
                stretches[-1][1] = i
            else:
                stretches.append([i, i])
        for first, last in stretches:
            pa, pb = all_of[first]['rate'], all_of[last]['rate']
            if all_of[first]['joined']:
                pa = (pa + all_of[first - 1]['rate']) / 2.0
            if last + 1 < len(all_of) and all_of[last + 1]['joined']:
                pb = (pb + all_of[last + 1]['rate']) / 2.0
            age = float(AGE_NS[all_of[first]['gpm']])
            coarse = min(1.0, (pa + pb) / 2.0 * 2.0 * self.gap / age)
            one = (pa * pa + pb * pb) / 12.0 + (pa - pb) * (pa - pb) / 4.0
            one = one + coarse * (pa * (1.0 - pa) + pb * (1.0 - pb)) / 3.0
            var += one * age * age
        return var

    def ratio(self, some):
        """Of readings, by number, all of whose time was recorded: (how much of what they say is, in millionths;
        variance of that share; that of a single reading). None: they say nothing."""
        pairs = [self.readings[i] for i in some]
        n, said = len(pairs), sum(c['said'] for c in pairs)
        if not said:
            return None
        ppm = max(min(sum(c['worked'] for c in pairs) * WHOLE // said, 1_500_000), 50_000)
        off = [c['worked'] - ppm / 1e6 * c['said'] for c in pairs]
        squares = neighbours = sizes = 0.0
        for k, i in enumerate(some):
            squares += off[k] * off[k]
            sizes += float(pairs[k]['said']) * float(pairs[k]['said'])
            if k and some[k - 1] == i - 1 and pairs[k]['joined']:
                neighbours += off[k] * off[k - 1]
        var = max(squares + 2.0 * neighbours, squares / n) / said / said
        if n > 1:
            var = var * (n / (n - 1.0)) * few(n) * few(n)
        return ppm, var + self.edges(some) / said / said, squares / sizes

    def denser(self, cells, some, ppm):
        """How much more of what cells say would be busy if kernels came at random."""
        share, said = ppm / 1e6, sum(self.readings[i]['said'] for i in some) / sum(self.readings[i]['ns'] for i in some)
        if ppm >= WHOLE or not 0 < said < 1:
            return 0.0
        low, high = 0.0, 1.0
        for _ in range(BITS):
            mid = (low + high) / 2.0
            if 1.0 - power(1.0 - said, mid) >= share * said:
                high = mid
            else:
                low = mid
        more = 0.0
        for c in cells:
            more += (1.0 - power(1.0 - c['rate'], high) - share * c['rate']) * c['ns']
        return more

    def choose(self):
        """Where what meters call busy is seen to be too much, what they say of multiprocessors counts."""
        pairs = [c for c in self.readings if c['shows']]
        n, said, worked = len(pairs), sum(c['said'] for c in pairs), sum(c['worked'] for c in pairs)
        known = all(c['units'] is not None for c in pairs + self.cells)

        def ratio(of, most):
            return max(min(worked * WHOLE // of, most), 50_000)

        def variance(which, ppm):
            squares, of = 0.0, sum(c[which] for c in pairs)
            for c in pairs:
                x = c['worked'] - ppm / 1e6 * c[which]
                squares += x * x
            return squares / (n - 1) * n / of / of

        self.by_units, self.of_busy = False, WHOLE
        self.unchecked = self.governed and not n and known
        too_much = False
        if said:
            self.of_busy = ratio(said, 1_500_000)
            too_much = worked * 100 <= said * 98
            if n >= FEW:
                off = self.of_busy / 1e6 - 1.0
                too_much = self.of_busy < WHOLE and off * off > 9.0 * variance('said', self.of_busy)

        def grain(some):
            units, span = sum(c['units'] for c in some), sum(c['ns'] for c in some)
            return 0.00003 * float(span) / float(units) if units and units * 2000 >= span else 1.0
        if too_much and known:
            shows, tells = grain(pairs), grain(self.cells)
            self.by_units = shows < 1.0 and tells < 1.0
        if not self.by_units:
            self.correct()
            return
        self.worked = ratio(sum(c['units'] for c in pairs), 1000 * WHOLE)
        var = variance('units', self.worked) * few(n) * few(n) if n > 1 else 0.0
        share = self.worked / 1e6
        var += share * share * (shows * shows + tells * tells)
        of = float(sum(c['units'] for c in self.cells))
        self.meter_var = of * of * var

    def correct(self):
        """How much of what meters call busy is, where both are known: by what the host mostly did."""
        shows = [i for i, c in enumerate(self.readings) if c['shows']]
        self.meter_var = 0.0
        left = list(self.cells)
        for s in [*STATES, ANY]:
            some = [i for i in shows if s is ANY or self.readings[i]['top'] == s]
            got = self.ratio(some)
            if s is not ANY and (not got or len(some) < ALIKE_LEAST):
                continue
            mine = [c for c in left if s is ANY or c['top'] == s]
            left = [c for c in left if not (s is ANY or c['top'] == s)]
            said = sum(c['said'] for c in mine)
            ppm, var = WHOLE, NONE_VAR
            if got:
                ppm, var, apart = got
                if s is ANY and len(some) > 1:
                    var += apart
                off = (ppm / 1e6 - 1.0) * (ppm / 1e6 - 1.0)
                if off <= var:
                    ppm, var = WHOLE, off / 4.0
                if len(some) < FEW:
                    var += FEW_VAR
                more = self.denser(mine, some, ppm) / NORMAL / max(said, 1)
                var += more * more
                least = min(self.readings[i]['busy_of'] for i in some)
                sparse = sum(c['said'] for c in mine if c['busy_of'] * 2 < least) if ppm < WHOLE else 0
                wide = (1.0 - ppm / 1e6) * float(sparse) / max(said, 1)
                var += wide * wide
            for c in mine:
                c['ppm'] = ppm
            self.meter_var += float(said) * float(said) * var

    def allot(self):
        n = len(STATES)
        self.metered = sum(c['u'] for c in self.cells)
        self.busy = sum(c['busy'] for c in self.cells)
        self.held = [sum(c['held'][s] for c in self.cells) for s in STATES]
        self.room = [0] * n
        for c in self.cells:
            i = c['u'] - c['busy']
            for s, h in enumerate(c['held']):
                self.room[s] += min(h, i) - max(0, i - (c['u'] - h))
        idle, none = [0] * n, [0] * n
        for k in range(ROUNDS):
            self.share = self.shares(idle, self.held if k else none)
            idle = [0] * n
            for c in self.cells:
                for s, ns in enumerate(rake(c['held'], self.share, c['u'] - c['busy'])):
                    idle[s] += ns
        metered_idle = list(idle)
        self.unknown = self.spread = 0
        for s in STATES:
            ns = self.rest[s]
            if self.cells and s != NONE:
                more = ns * metered_idle[s] // self.held[s] if self.held[s] else ns * self.share[s] // WHOLE
            elif s in BY_RECORD and self.seen_of[s] >= S:
                more = ns * self.share[s] // WHOLE
            else:
                self.unknown += ns
                continue
            idle[s] += more
            self.busy += ns - more
            self.spread += ns
            if not self.cells:
                self.room[s] += ns
        self.of_state = idle
        self.classes, self.parts = {}, [{} for _ in STATES]
        for s in STATES:
            names = [c for c in self.names if self.weight[s].get(c)]
            if names:
                got = dict(zip(names, split(idle[s], [self.weight[s][c] for c in names])))
            else:
                got = {self.first_of[s][1]: idle[s]}
            for c, ns in got.items():
                self.parts[s][c] = ns
                if c is None or c in UNKNOWN:
                    self.unknown += ns
                else:
                    self.classes[c] = self.classes.get(c, 0) + ns

    # How far that may be off.
    def residuals(self):
        """Per block that is fit for it: its length, and per class what the rules would have said too much, us."""
        out = []
        for seen, idle, told in zip(self.seen, self.idle, self.told):
            length, all_idle = sum(seen), sum(idle)
            if length < self.size // 2 or 2 * sum(told.get(c, 0) for c in UNKNOWN) > all_idle:
                continue
            e = {c: -told.get(c, 0) for c in self.names if c not in UNKNOWN}
            for s, ns in enumerate(rake(seen, self.share, all_idle)):
                if not self.weight[s]:
                    continue
                total = sum(self.weight[s].values())
                for c, w in self.weight[s].items():
                    if c in e:
                        e[c] += ns * w // total
            out.append((length, {c: ns // 1000 for c, ns in e.items()}))
        return out

    def unlearnt(self):
        """Idle time where only samples tell beyond the share that was recorded as idle: whose it is, nobody saw."""
        more = 0
        for s in STATES[PHASE + 1:]:
            alike = self.target_of[s] * self.idle_of[s] // self.seen_of[s] if self.seen_of[s] else 0
            more += max(0, self.of_state[s] - alike)
        return more

    def doubt(self):
        var_busy = FLOOR_NS * 1.0 * FLOOR_NS
        for c in self.cells:
            if not c['gpm']:
                grain = c['u'] * 0.003
                var_busy += grain * grain
        var_busy += self.edges([i for i, c in enumerate(self.readings) if c['tells']])
        var_busy += self.meter_var
        apart = float(self.apart) * (UNCHECKED if self.unchecked else 1.0)
        var_busy += apart * apart / 12.0
        rates = [c['busy'] / c['u'] for c in self.cells]
        if rates and self.spread:
            mean, spread, n = sum(rates) / len(rates), 0.0, len(rates)
            for r in rates:
                spread += (r - mean) * (r - mean)
            spread = spread / (n - 1) * few(n) * few(n) if n > 1 else 1.0 / 12.0
            wide = float(self.spread) * float(min(self.spread, 2 * self.size)) * spread
            var_busy += wide + float(self.spread) * float(self.spread) * spread / n
        if not self.cells:
            wide = float(sum(self.room))
            var_busy += wide * wide / 12.0
        blocks = self.residuals()
        n, watched = len(blocks), sum(b[0] for b in blocks)
        all_idle = sum(self.of_state)
        out = {}
        times = float(self.of_ns) / float(self.size)
        more = self.unlearnt()
        both = float(sum(self.parts[s].get(c, 0) for s in STATES[PHASE + 1:] for c in PAIR))
        near = NEAR * both * self.near
        wide = UNLEARNT * float(more)
        var_pair = near * near + wide * wide / 12.0
        for c in self.names:
            ns = self.classes.get(c, 0)
            if not ns:
                if c in PAIR and more:
                    out[c] = {'ns': 0, 'low_ns': 0, 'high_ns': more}
                continue
            squares = sums = 0.0
            for _, e in blocks:
                x = float(e[c])
                squares += x * x
                sums += x
            var = 0.0
            if n > 1:
                var = squares / float(n - 1) * times * (1.0 + float(self.of_ns) / float(watched))
                mean = sums / float(n) * times
                var = (ALIKE * var + mean * mean) * 1e6 * few(n) * few(n)
            share = float(ns) / float(all_idle) if all_idle else 0.0
            var += share * share * var_busy
            for s in STATES:
                mine = self.parts[s].get(c, 0)
                if mine:
                    trust = KNOWN if n > 1 and self.seen_of[s] >= S else GUESSED
                    wide = trust * float(self.room[s]) * (float(mine) / float(self.of_state[s]))
                    var += wide * wide / 12.0
            phase = self.parts[PHASE].get('host.phase', 0) if self.seen_of[PHASE] < S else 0
            if phase and c in ('host.phase', 'host.dispatch'):  # calls come before ranges
                var += float(phase) * float(phase) / 24.0
            if c in PAIR:
                var += var_pair
            half = int((NORMAL if n > 1 else NO_BLOCKS) * math.sqrt(var))
            out[c] = {'ns': ns, 'low_ns': max(0, ns - half), 'high_ns': min(self.of_ns, ns + half)}
        half = int(NORMAL * math.sqrt(var_busy))
        self.out = {'of_ns': self.of_ns, 'metered_ns': self.metered, 'unknown_ns': self.unknown,
                    'busy': {'ns': self.busy, 'low_ns': max(0, self.busy - half),
                             'high_ns': min(self.of_ns, self.busy + half)}, 'classes': out}

    def result(self):
        """As summary.json has it; None: nothing is told."""
        return self.out if self.of_ns > self.unknown else None
