# SPDX-License-Identifier: Apache-2.0
"""comm.skew and its causes from their rules (docs/CAUSES.md, "Many ranks"), slowly and plainly, for
tests to hold the engine against. Pure Python, integers; everything on one clock.

    skew(collectives, pieces, order, step)

collectives: [{rank: (start, end)}], matched; pieces: {rank: [(start, end, class)]}, the rank's time from
the beginning of what it held, disjoint and ascending, collectives as 'comm'; order: names of classes as
they count when nanoseconds are split; step: length of a step in ns. Returns {rank: Row}."""
import collections

NOBODY = None


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


class Charges:
    """What a rank was charged of late: (when, ns, culprit, class), the newest in the oldest's place."""

    def __init__(self):
        self.at, self.next = [], 0

    def add(self, charge):
        self.at[self.next:self.next + 1] = [charge]
        self.next = (self.next + 1) % REMEMBERED


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
        self.left = {}         # rank: when it last left a collective of any group
        self.charged = {r: Charges() for r in pieces}

    def since(self, group, rank, now):
        since = self.groups[group].since(rank, now, self.step)
        return self.left.get(rank) if since is None else since

    def more(self, group, late, waiting, arrivals):
        """By class, how much more of it the late rank had since they were even."""
        def had(rank):
            since = self.since(group, rank, arrivals[late])
            sums = self.lines[rank].upto(arrivals[rank])
            if since is not None:
                sums.subtract(self.lines[rank].upto(since))
            return {cls: max(0, sums[cls]) for cls in self.order}
        a, b = had(late), had(waiting)
        return {cls: max(0, a[cls] - b[cls]) for cls in self.order}

    def causes(self, group, late, waiting, arrivals):
        """[(culprit, class, weight)]: who is to blame that `late` came after `waiting`."""
        more = self.more(group, late, waiting, arrivals)
        out = [(late, cls, more[cls]) for cls in self.order if cls != 'comm' and more[cls]]
        left = more['comm']
        if left:
            since = self.since(group, late, arrivals[late])
            chain = [(who, cls, ns) for t, ns, who, cls in self.charged[late].at
                     if (since is None or t >= since) and who != late]
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

    def wait(self, group, late, waiting, spans, arrivals):
        start, end = spans[waiting]
        ns = self.exposed[waiting].take(start, min(arrivals[late], end))
        if not ns:
            return
        causes = self.causes(group, late, waiting, arrivals)
        row = self.rows[waiting]
        row.waited += ns
        for (who, cls, _), part in zip(causes, split(ns, [w for _, _, w in causes])):
            if not part:
                continue
            row.by_cause[cls] += part
            if who is not NOBODY:
                self.rows[who].caused[cls] += part
                self.charged[waiting].add((start, part, who, cls))

    def collective(self, spans):
        group = frozenset(spans)
        arrivals = {r: s for r, (s, _) in spans.items()}
        late = max(arrivals, key=lambda r: (arrivals[r], r))
        for r in sorted(spans):
            if r != late:
                self.wait(group, late, r, spans, arrivals)
        ends = {r: end for r, (_, end) in spans.items()}
        even = all(any(s < end <= e for s, e in self.comm[r]) for r, end in ends.items())
        self.groups[group].left(ends, arrivals[late], even, self.step)
        self.left.update(ends)


def skew(collectives, pieces, order, step):
    run = Run(pieces, order, step)
    for spans in sorted(collectives, key=lambda c: max(e for _, e in c.values())):
        run.collective(spans)
    return run.rows
