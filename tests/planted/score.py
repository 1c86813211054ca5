# SPDX-License-Identifier: Apache-2.0
"""Compares what is true with what is reported, class by class, and prints the tables.

The truth is a list of groups (ns, allowed classes, planted?). The reported ns of the idle classes
are given to the groups by a greatest flow, those first that allow least. What a planted group does
not get is wrong; which class was reported in its place is what is left over, pro rata."""
import collections

IDLE = ('input.', 'host.', 'device.')


class Group:
    def __init__(self, name, ns, allowed, planted):
        self.name, self.ns, self.allowed, self.planted = name, ns, allowed, planted
        self.got, self.want = collections.Counter(), ns

    def allows(self, cls):
        return any(cls == a or a.endswith('*') and cls.startswith(a[:-1]) for a in self.allowed)


def rank(cls, group):
    return next((i for i, a in enumerate(group.allowed)
                 if cls == a or a.endswith('*') and cls.startswith(a[:-1])), 99)


def give(groups, left):
    """Greedy in the order of freedom, then one round of moves: a class that a later, hungry group
    could use is freed where another would do."""
    for g in sorted(groups, key=lambda g: (not g.planted, len(g.allowed), any('*' in a for a in g.allowed))):
        for cls in sorted((c for c in left if g.allows(c)), key=lambda c: (rank(c, g), c)):
            ns = min(g.want, left[cls])
            g.got[cls] += ns
            g.want -= ns
            left[cls] -= ns
    for hungry in groups:
        for other in groups:
            for cls in list(other.got):
                if hungry.want and hungry is not other and hungry.allows(cls):
                    for instead in [c for c in left if left[c] and other.allows(c)]:
                        ns = min(hungry.want, other.got[cls], left[instead])
                        other.got[cls] -= ns
                        other.got[instead] += ns
                        left[instead] -= ns
                        hungry.got[cls] += ns
                        hungry.want -= ns


def compare(groups, classes):
    """(planted ns, right ns, Counter of (group name, reported class) ns) of one case."""
    left = collections.Counter({c: ns for c, ns in classes.items()
                                if ns and (c.startswith(IDLE) or c == 'excluded.unobserved')})
    give(groups, left)
    table = collections.Counter()
    missing = sum(g.want for g in groups)
    for g in groups:
        if not g.planted:
            continue
        for cls, ns in g.got.items():
            table[g.allowed[0], cls] += ns
        for cls, ns in left.items():
            if g.want and ns:
                table[g.allowed[0], cls] += g.want * ns / max(missing, sum(left.values()))
    planted = [g for g in groups if g.planted]
    return sum(g.ns for g in planted), sum(g.ns - g.want for g in planted), table


def confusion(table):
    """Lines: one planted class each, the classes reported for it with their shares."""
    by = collections.defaultdict(collections.Counter)
    for (want, got), ns in table.items():
        by[want][got] += ns
    for want in sorted(by):
        total = sum(by[want].values())
        shares = [f'{got} {100 * ns / total:.1f} %' for got, ns in by[want].most_common()
                  if ns >= 0.001 * total]
        yield f'{want:<20} {total / 1e9:8.3f} s  {", ".join(shares)}'
