# SPDX-License-Identifier: Apache-2.0
"""comm.skew and its causes from their rules (docs/CAUSES.md, "Many ranks"), slowly and plainly, for
tests to hold the engine against. Pure Python, integers; everything on one clock.

    skew(collectives, sends, pieces, order, step)

collectives: [{rank: (start, end)}], matched; sends: the same of sends and receives, two ranks each; pieces: {rank: [(start, end, class)]}, the rank's time from
the beginning of what it held, disjoint and ascending, collectives as 'comm'; order: names of classes as
they count when nanoseconds are split; step: length of a step in ns. Returns {rank: Row}."""
import collections

NOBODY, SENDS = None, 'sends'


class Row:
    def __init__(self):
        self.waited = 0                                 # its comm.skew
        self.by_cause = collections.Counter()           # ... by what the late rank did
        self.caused = collections.Counter()             # what it made others wait, by what it did


class Line:
    """A rank's time by class up to any moment."""

    def __init__(self, pieces):
        self.pieces = pieces

    def upto(self, t):
        sums = collections.Counter()
        for start, end, cls in self.pieces:
            if start >= t:
                break
            sums[cls] += min(end, t) - start
        return sums


class Exposed:
    """What of a rank's comm time nobody was charged for yet."""

    def __init__(self, pieces):
        self.left = [(s, e) for s, e, cls in pieces if cls == 'comm']

    def take(self, start, end):
        taken, rest = 0, []
        for s, e in self.left:
            a, b = max(s, start), min(e, end)
            if a >= b:
                rest.append((s, e))
                continue
            taken += b - a
            rest += [(x, y) for x, y in ((s, a), (b, e)) if x < y]
        self.left = rest
        return taken

    def reaches(self, end):
        return any(s < end <= e for s, e in self.left)


def split(ns, weights):
    """Parts of ns by weight: each the difference of two rounded-down running sums."""
    total, before, given, out = sum(weights), 0, 0, []
    for w in weights:
        before += w
        out.append(ns * before // total - given)
        given += out[-1]
    return out


EVEN_STEPS = 3
REMEMBERED = 256
SMALL = 2000    # of a step, less is not on a path


class Charges:
    """What a rank was charged of late: (when, ns, culprit, class), the newest in the oldest's place."""

    def __init__(self):
        self.at, self.next = [], 0

    def add(self, charge):
        self.at[self.next:self.next + 1] = [charge]
        self.next = (self.next + 1) % REMEMBERED


class Paths:
    """Why each rank is as far as it is: what it did but compute since it last waited for another, and
    before that what the other did. What two paths share is one list, and told apart by identity."""

    def __init__(self, ranks, order, least):
        self.order, self.least = order, least
        self.head = dict.fromkeys(ranks)                # rank: (before, rank, class, ns) or None
        self.seen = {r: collections.Counter() for r in ranks}

    def arrive(self, rank, sums):
        for cls in self.order:
            ns = sums[cls] - self.seen[rank][cls]
            if ns > 0:
                self.seen[rank][cls] = sums[cls]
                if cls not in ('compute', 'comm') and ns >= self.least:
                    self.head[rank] = (self.head[rank], rank, cls, ns)

    def follow(self, rank, late):
        self.head[rank] = self.head[late]

    def follow_pair(self, rank, late, ns):
        """It waited ns for the other in a send or receive: so much of what held that one up held it up."""
        more = self.more(late, rank)
        total = sum(weight for _, _, weight in more)
        if total <= ns + self.least:
            self.follow(rank, late)
            return
        for who, cls, weight in more:
            self.head[rank] = (self.head[rank], who, cls, weight * ns // total)

    def back(self, rank):
        out, node = [], self.head[rank]
        while node:
            out.append(node)
            node = node[0]
        return out

    def more(self, late, waiting):
        """[(culprit, class, ns)] on the one path and not on the other."""
        mine, its = self.back(late), self.back(waiting)
        while mine and its and mine[-1] is its[-1]:
            mine, its = mine[:-1], its[:-1]
        by, own, other = collections.Counter(), collections.Counter(), collections.Counter()
        for _, who, cls, ns in mine:
            by[who, cls] += ns
            own[cls] += ns
        for _, _, cls, ns in its:
            other[cls] += ns
        weights = [(who, cls, by[who, cls] * (own[cls] - other[cls]) // own[cls])
                   for who, cls in sorted(by, key=lambda k: (k[0], self.order.index(k[1])))
                   if own[cls] > other[cls] and who != waiting]
        return [w for w in weights if w[2]]


class Group:
    """Where the members of a communicator stood at the ends of its collectives."""

    def __init__(self):
        self.last, self.even, self.aged, self.older = {}, {}, {}, {}    # rank: moment
        self.even_at = self.aged_at = None

    def left(self, ends, latest, even, step):
        """All went on at their ends; @even: none of them computed beside it just then."""
        self.last = dict(ends)
        if even:
            self.even, self.even_at = dict(ends), latest
        if self.aged_at is None or latest - self.aged_at > step:
            self.older, self.aged, self.aged_at = self.aged, dict(ends), latest

    def since(self, rank, now, step):
        """The moment from which a member is compared with others; None: it was in none of these."""
        if self.even and (not self.older or now - self.even_at <= EVEN_STEPS * step):
            return self.even[rank]
        return (self.older or self.last).get(rank)


class Run:
    def __init__(self, pieces, order, step):
        self.order, self.step = order, step
        self.lines = {r: Line(p) for r, p in pieces.items()}
        self.exposed = {r: Exposed(p) for r, p in pieces.items()}
        self.rows = {r: Row() for r in pieces}
        self.comm = {r: [(s, e) for s, e, cls in p if cls == 'comm'] for r, p in pieces.items()}
        self.groups = collections.defaultdict(Group)
        self.left = {}         # rank: when it last left a collective, send or receive
        self.paths = Paths(pieces, order, step // SMALL)
        self.charged = {r: Charges() for r in pieces}

    def since(self, group, rank, now):
        since = self.groups[group].since(rank, now, self.step)
        return self.left.get(rank) if since is None else since

    def more(self, since, late, waiting, arrivals):
        """By class, how much more of it the late rank had; since: by rank, from when on."""
        def had(rank):
            sums = self.lines[rank].upto(arrivals[rank])
            if since[rank] is not None:
                sums.subtract(self.lines[rank].upto(since[rank]))
            return {cls: max(0, sums[cls]) for cls in self.order}
        a, b = had(late), had(waiting)
        return {cls: max(0, a[cls] - b[cls]) for cls in self.order}

    def causes(self, group, late, waiting, arrivals):
        """[(culprit, class, weight)]: who is to blame that `late` came after `waiting`, in a collective."""
        since = {r: self.since(group, r, arrivals[late]) for r in (late, waiting)}
        more = self.more(since, late, waiting, arrivals)
        out = [(late, cls, more[cls]) for cls in self.order if cls != 'comm' and more[cls]]
        left = more['comm']
        if left:
            chain = [(who, cls, ns) for t, ns, who, cls in self.charged[late].at
                     if (since[late] is None or t >= since[late]) and who != late]
            total = sum(ns for _, _, ns in chain)
            if total > left:
                chain = [(who, cls, ns) for (who, cls, _), ns in
                         zip(chain, split(left, [ns for _, _, ns in chain]))]
                total = left
            out += [c for c in chain if c[2]]
            left -= total
        if left or not out:
            out.append((NOBODY, 'comm', left or 1))
        return out

    def causes_of_send(self, late, waiting, ns):
        """The same of a wait of ns in a send or receive: what is on the late one's path and not on the
        other's, of each class as much as there is more of it; the rest is nobody's."""
        out = self.paths.more(late, waiting)
        rest = ns - sum(weight for _, _, weight in out)
        return out + ([(NOBODY, 'comm', rest)] if rest > 0 else [])

    def wait(self, group, late, waiting, spans, arrivals):
        start, end = spans[waiting]
        until = min(arrivals[late], end)
        exposed_upto = self.exposed[waiting].reaches(until)
        ns = self.exposed[waiting].take(start, until)
        if not ns:
            return
        if group is SENDS:
            causes, remembered = self.causes_of_send(late, waiting, ns), until
        else:
            causes, remembered = self.causes(group, late, waiting, arrivals), start
        row = self.rows[waiting]
        row.waited += ns
        for (who, cls, _), part in zip(causes, split(ns, [w for _, _, w in causes])):
            if not part:
                continue
            row.by_cause[cls] += part
            if who is not NOBODY:
                self.rows[who].caused[cls] += part
                self.charged[waiting].add((remembered, part, who, cls))
        if exposed_upto and group is SENDS:
            self.paths.follow_pair(waiting, late, ns)
        elif exposed_upto:
            self.paths.follow(waiting, late)

    def arrive(self, arrivals):
        for rank, at in sorted(arrivals.items()):
            self.paths.arrive(rank, self.lines[rank].upto(at))

    def collective(self, spans):
        group = frozenset(spans)
        arrivals = {r: s for r, (s, _) in spans.items()}
        late = max(arrivals, key=lambda r: (arrivals[r], r))
        self.arrive(arrivals)
        for r in sorted(spans):
            if r != late:
                self.wait(group, late, r, spans, arrivals)
        ends = {r: end for r, (_, end) in spans.items()}
        even = all(any(s < end <= e for s, e in self.comm[r]) for r, end in ends.items())
        self.groups[group].left(ends, arrivals[late], even, self.step)
        self.left.update(ends)

    def send(self, spans):
        arrivals = {r: s for r, (s, _) in spans.items()}
        late = max(arrivals, key=lambda r: (arrivals[r], r))
        self.arrive(arrivals)
        waiting, = spans.keys() - {late}
        self.wait(SENDS, late, waiting, spans, arrivals)
        ends = {r: end for r, (_, end) in spans.items()}
        self.left.update(ends)


def skew(collectives, sends, pieces, order, step):
    run = Run(pieces, order, step)
    meetings = [(c, run.collective) for c in collectives] + [(c, run.send) for c in sends]
    for spans, take in sorted(meetings, key=lambda m: max(e for _, e in m[0].values())):
        take(spans)
    return run.rows
