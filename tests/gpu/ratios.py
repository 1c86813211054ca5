# SPDX-License-Identifier: Apache-2.0
"""What a mode costs against `off`, from blocks of steps that were played by turns. A round holds a
block of each mode; ratios are taken within rounds, for a machine's speed changes from one to the
next, and what remains is told by quartiles over rounds. `off` played twice (`off2`) is the noise:
nothing smaller than that is believed. Pure functions; times are ns, results percent."""
import random

LEAST = 4   # steps in a block that may be compared
DRAWS = 100


def quantile(values, q):
    """Between the two nearest, as most tools do it."""
    v = sorted(values)
    at = q * (len(v) - 1)
    low = int(at)
    high = min(low + 1, len(v) - 1)
    return v[low] + (v[high] - v[low]) * (at - low)


def steady(block, key='total'):
    """Steps without the first tenth, at least two: another process had the GPU before."""
    steps = block[key]
    return steps[max(2, len(steps) // 10):]


def usable(rounds, mode, base='off', key='total'):
    """[(steps of base, steps of mode)]; a round that lacks one of them is left out."""
    pairs = [(steady(r[base], key), steady(r[mode], key)) for r in rounds if r.get(base) and r.get(mode)]
    return [p for p in pairs if min(map(len, p)) >= LEAST]


def in_medians(pairs):
    """Each step in medians of its round's base, so that rounds can be thrown together."""
    units = [quantile(a, 0.5) for a, _ in pairs]
    return [([x / u for x in a], [x / u for x in b]) for (a, b), u in zip(pairs, units)]


def tail_ratio(scaled):
    """p95 of all steps of a mode over that of base."""
    off, on = ([x for pair in scaled for x in pair[i]] for i in (0, 1))
    return 100 * (quantile(on, 0.95) / quantile(off, 0.95) - 1)


def spread(values):
    return dict(median=quantile(values, 0.5), p25=quantile(values, 0.25), p75=quantile(values, 0.75))


def compare(rounds, mode, base='off', key='total'):
    """None without a usable round. `p95` is bracketed by what drawing the rounds anew makes of it."""
    pairs = usable(rounds, mode, base, key)
    if not pairs:
        return None
    ratios = [100 * (quantile(b, 0.5) / quantile(a, 0.5) - 1) for a, b in pairs]
    scaled, rng = in_medians(pairs), random.Random(len(pairs))
    drawn = [tail_ratio([rng.choice(scaled) for _ in pairs]) for _ in range(DRAWS)]
    return dict(spread(ratios), rounds=len(pairs), ratios=ratios, p95=tail_ratio(scaled),
                p95_low=quantile(drawn, 0.025), p95_high=quantile(drawn, 0.975))


def difference(rounds, mode, calls, base='off', key='enqueue'):
    """ns per call that a mode adds, over rounds; None without a usable one."""
    pairs = usable(rounds, mode, base, key)
    if not pairs:
        return None
    return dict(spread([(quantile(b, 0.5) - quantile(a, 0.5)) / calls for a, b in pairs]),
                rounds=len(pairs))


def noise(off2):
    """(of medians, of p95): differences no larger than this may be nothing."""
    if not off2:
        return float('inf'), float('inf')
    return (max(abs(off2['p25']), abs(off2['median']), abs(off2['p75'])),
            max(abs(off2['p95_low']), abs(off2['p95']), abs(off2['p95_high'])))


def within(value, limit, blur):
    """True, False, or None where the method cannot tell: the noise is as large as what is asked."""
    if value > limit and value > blur:
        return False
    return None if blur > limit else True


def judge(got, off2, median=0.4, p95=1.0):
    """(True, False or None; in words) of a mode against its goal."""
    if not got:
        return None, 'not measured'
    blur = noise(off2)
    each = [within(got['median'], median, blur[0]), within(got['p95'], p95, blur[1])]
    words = {True: 'met', False: 'missed', None: 'hidden by the noise'}
    text = f'goal {median} % median: {words[each[0]]}, {p95} % p95: {words[each[1]]}'
    if False in each:
        return False, text
    return (None if None in each else True), text


def percent(c):
    if not c:
        return 'not measured'
    return (f'{c["median"]:+.2f} % [{c["p25"]:+.2f}..{c["p75"]:+.2f}], '
            f'p95 {c["p95"]:+.2f} [{c["p95_low"]:+.2f}..{c["p95_high"]:+.2f}]')
