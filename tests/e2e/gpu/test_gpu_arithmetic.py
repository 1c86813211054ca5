#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The arithmetic of the GPU check, on made-up numbers whose truth is known: what only a real GPU
gives is judged right the first time, and a check that cannot fail would be none."""
import os
import random
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

sys.path.insert(0, os.path.join(gs.SOURCE, 'tests', 'gpu'))
import truth  # noqa: E402

LEAD, TRAIL = 900, 700   # a record begins before its kernel's code and ends after it


class Timer:
    """A device's timer: offset and drift against the trace's clock, coarse, set anew at times."""

    def __init__(self, res=32, ppm=30.0, offset=-1_370_000, sets=()):
        self.res, self.ppm, self.offset, self.sets = res, ppm, offset, sorted(sets)

    def read(self, t):
        moved = sum(by for at, by in self.sets if at <= t)
        raw = t + self.offset + moved + int((t - EPOCH) * self.ppm / 1e6)
        return raw - raw % self.res


EPOCH = 1_790_000_000_000_000_000


def chain(timer, ns, n, draw, begin=EPOCH, gap=1500):
    """Rows of (record start, record end, device begin, device end) of kernels that spin for ns."""
    rows, t = [], begin
    for _ in range(n):
        code = t + LEAD + draw.randrange(-100, 100)
        until = code + ns
        rows.append((t, until + TRAIL + draw.randrange(-100, 100), timer.read(code),
                     timer.read(until)))
        t = rows[-1][1] + gap + draw.randrange(0, 400)
    return rows


def groups(timer, seed=1):
    draw, out, begin = random.Random(seed), {}, EPOCH
    for ns, n in ((20_000, 200), (200_000, 150), (2_000_000, 80)):
        out[f'{ns}'] = chain(timer, ns, n, draw, begin)
        begin = out[f'{ns}'][-1][1] + 3_000_000
    return out


def longer(rows, picked, part):
    """Records that say more than was: the end moves, what follows stays or moves along."""
    return [(a, b + round((b - a) * part) if i in picked else b, c, d)
            for i, (a, b, c, d) in enumerate(rows)]


def kernels():
    for res in (1, 32, 1000, 1024):
        for ppm in (-60, 0, 30):
            for seed in range(3):
                timer = Timer(res, ppm)
                got = truth.judge_kernels(groups(timer, seed), res)
                what = f'timer of {res} ns, {ppm} ppm'
                gs.check(got['ok'], f'{what}: {got}')
                gs.check(abs(got['surround_ns'] - LEAD - TRAIL) <= res + 50,
                         f'{what}: surround {got["surround_ns"]}')
                for rows in groups(timer, seed).values():
                    place = truth.judge_positions(rows, res)
                    gs.check(place['ok'], f'{what}: positions {place}')


def lies():
    """Each of these must be seen, however coarse the timer."""
    for res in (32, 1000):
        timer = Timer(res)
        for name, n in (('200000', 150), ('2000000', 80)):
            for picked in ([n // 2], range(n), range(0, n, 7)):
                bad = groups(timer)
                bad[name] = longer(bad[name], set(picked), 0.05)
                got = truth.judge_kernels(bad, res)
                gs.check(not got['ok'], f'{res} ns: {len(picked)} of {name} 5 % longer: not seen')
                if len(picked) == 1:
                    gs.equal(got['groups'][name]['lies'], list(picked), f'{res} ns: which one')
                shorter = dict(groups(timer))
                shorter[name] = longer(shorter[name], set(picked), -0.05)
                gs.check(not truth.judge_kernels(shorter, res)['ok'], f'{res} ns: shorter')
        # All 0.3 % too long, which no single kernel shows.
        bad = groups(timer)
        bad['2000000'] = longer(bad['2000000'], set(range(80)), 0.003)
        gs.check(not truth.judge_kernels(bad, res)['ok'], f'{res} ns: 0.3 % of all')
        # All records 12 us longer than their kernels.
        bad = {k: [(a, b + 12_000, c, d) for a, b, c, d in v] for k, v in groups(timer).items()}
        gs.check(not truth.judge_kernels(bad, res)['ok'], f'{res} ns: 12 us around')
        # Right lengths in wrong places.
        rows = groups(timer)['200000']
        moved = [(a + 25_000 * (i % 2), b + 25_000 * (i % 2), c, d)
                 for i, (a, b, c, d) in enumerate(rows)]
        gs.check(not truth.judge_positions(moved, res)['ok'], f'{res} ns: places')
        gs.check(not truth.judge_kernels({'x': moved}, res)['ok'], f'{res} ns: gaps of these')


def timer_is_set():
    """The timer jumps amid a kernel and between two: no lie of ours."""
    for by in (-300_000, 250_000, 900_000):
        plain = groups(Timer())
        a, b = plain['2000000'][40][:2]
        timer = Timer(sets=[((a + b) // 2, by)])
        got = truth.judge_kernels(groups(timer), 32)
        gs.check(got['ok'], f'set by {by} amid a kernel: {got}')
        gs.equal(got['groups']['2000000']['timer_steps'], 1, f'set by {by}: steps')
        # A lie of the same size beside it is still seen.
        bad = groups(timer)
        bad['2000000'] = longer(bad['2000000'], {20}, 0.05)
        gs.check(not truth.judge_kernels(bad, 32)['ok'], f'set by {by}, and a lie')
        between = Timer(sets=[(b + 700, by)])
        gs.check(truth.judge_kernels(groups(between), 32)['ok'], f'set by {by} between kernels')


def unions():
    draw = random.Random(5)
    for res in (32, 1000):
        timer = Timer(res)
        left = chain(timer, 150_000, 100, draw, gap=40_000)
        right = chain(timer, 90_000, 100, draw, EPOCH + 20_000, gap=70_000)
        got = truth.judge_union(left + right, LEAD + TRAIL, res)
        gs.check(got['ok'] and 1 < got['pieces'] <= 200, f'union: {got}')
        for bad in (longer(left, set(range(100)), 0.05), longer(left, set(range(100)), -0.05)):
            gs.check(not truth.judge_union(bad + right, LEAD + TRAIL, res)['ok'], 'union of lies')
    gs.equal(truth.union([(0, 5), (5, 9), (20, 30), (22, 25)]), (19, 2), 'a union')


def ladders():
    draw, ops, t = random.Random(2), [], EPOCH
    stamps = [t]
    for _ in range(40):
        start = t + 2_000 + draw.randrange(500)
        ops.append((start, start + 500_000 + draw.randrange(300)))
        t = ops[-1][1] + 600
        stamps.append(t)
    ms = [round((b - a) / 500) * 500 / 1e6 for a, b in zip(stamps, stamps[1:])]
    got = truth.judge_ladder(ops, ms)
    gs.check(got['ok'], f'ladder: {got}')
    for what, bad, times in (
            ('one 5 % longer', ops[:20] + [(ops[20][0], ops[20][1] + 25_000)] + ops[21:], ms),
            ('all 5 % longer', [(a, b + 25_000) for a, b in ops], ms),
            ('a slower clock', [(EPOCH + (a - EPOCH) * 995 // 1000,
                                 EPOCH + (b - EPOCH) * 995 // 1000) for a, b in ops], ms),
            ('one missing', ops[:-1], ms),
            ('half as long', [(a, a + 250_000) for a, _ in ops], ms)):
        gs.check(not truth.judge_ladder(bad, times)['ok'], f'ladder, {what}: not seen')
    exact = list(zip(stamps, stamps[1:]))
    ms = [(b - a) / 1e6 for a, b in exact]
    early = [EPOCH - 1000 + i for i in range(len(exact))]
    got = truth.judge_ladder(exact, ms, early)
    gs.check(got['ok'] and got['checked'] == len(exact) - 2, f'exact ladder: {got}')
    off = exact[:3] + [(exact[3][0], exact[3][1] + 3)] + exact[4:]
    gs.check(truth.judge_ladder(off, ms, early)['ok'] is False, 'exact ladder, 3 ns off')
    # An event that was enqueued after the operation had ended is stamped when it comes.
    late = early[:4] + [exact[3][1] + 5_000] + early[5:]
    ms[3], ms[4] = ms[3] + 0.004, ms[4] - 0.004
    got = truth.judge_ladder(exact, ms, late)
    gs.check(got['ok'] and got['checked'] == len(exact) - 4, f'a late event: {got}')
    gs.equal(truth.judge_ladder(exact, ms, [b + 1 for _, b in exact])['ok'], None, 'all are late')


def causality():
    good = [(i, i + 100, i + 900, i + 1000, i + 6000, i + 9000, i + 20000)
            for i in range(EPOCH, EPOCH + 10_000_000, 50_000)]
    gs.check(truth.judge_causality(good)['ok'], 'causality')
    gs.check(not truth.judge_causality([])['ok'], 'causality of nothing')
    for column, by, rule in ((1, -1500, 'call_begins'), (2, 2000, 'call_ends'),
                             (4, -5901, 'op_after_call'), (6, -13_000, 'ends_before_sync')):
        bad = list(good)
        bad[7] = tuple(v + by * (i == column) for i, v in enumerate(good[7]))
        got = truth.judge_causality(bad)
        gs.check(not got['ok'] and got[rule]['violations'] == 1, f'{rule}: {got}')


def clocks():
    draw = random.Random(3)

    def triplet(t, off=0):
        w = draw.randrange(40, 90)
        return [t, EPOCH + t + w // 2 + off, t + w, EPOCH + t + w + 63]

    def reading(t, off=0):
        return [EPOCH + t, EPOCH + t + 30 + off, EPOCH + t + 60, t, EPOCH + t + 30, t + 60]
    times = range(10 ** 12, 10 ** 12 + 20 * 10 ** 9, 10 ** 9)
    readings = [reading(t + 77) for t in times]
    got = truth.judge_clocks([triplet(t) for t in times], readings)
    gs.check(got['ok'] and got['residual_max_ns'] < 60, f'clocks: {got}')
    # Half of the readings were interrupted.
    torn = [triplet(t) if i % 2 else [t, EPOCH + t + 10, t + 3_000_000, EPOCH + t + 3_000_000]
            for i, t in enumerate(times)]
    gs.check(truth.judge_clocks(torn, readings)['ok'], 'interrupted readings')
    # Few and wide readings close together say little of later.
    wide = [[t, EPOCH + t + off, t + 800, EPOCH + t + 900]
            for t, off in ((10 ** 12, 100), (10 ** 12 + 5 * 10 ** 8, 700))]
    gs.check(truth.judge_clocks(wide, readings[:3])['ok'], 'two wide readings')
    gs.check(not truth.judge_clocks([], readings)['ok'], 'no readings')
    gs.check(not truth.judge_clocks([triplet(t, 5_000) for t in times], readings)['ok'], '5 us off')
    gs.check(not truth.judge_clocks([triplet(t, (t - 10 ** 12) // 100_000) for t in times],
                                    readings)['ok'], '10 ppm apart')
    gs.check(not truth.judge_clocks([triplet(t) for t in times],
                                    [reading(t, 5_000) for t in times])['ok'], 'own reading off')


def latencies():
    ops, launch, t, want_back, want_idle = [], {}, EPOCH, [], []
    for i in range(1000):
        idle = i % 5 == 0
        if idle:   # the device ran dry, then a launch
            latency = 5_000 + 10 * i
            launch[i + 1], start = t + 30_000, t + 30_000 + latency
            want_idle += [latency] * (i > 0)
        else:
            back = 1_000 + i
            launch[i + 1], start = t - 4_000, t + back
            want_back.append(back)
        ops.append(dict(start=start, end=start + 20_000, corr=i + 1, stream=7, context=1))
        t = ops[-1]['end']
    got = truth.latencies(ops, launch)
    gs.equal((got['turnarounds'], got['launches']), (800, 199), 'gaps')
    gs.equal((got['turnaround_p99_ns'], got['launch_p95_ns']),
             (sorted(want_back)[791], sorted(want_idle)[189]), 'quantiles')
    otherwise = sum(b > got['turnaround_p99_ns'] for b in want_back) + \
        sum(i <= 10_000 or i > got['launch_p95_ns'] for i in want_idle)
    gs.equal(round(got['otherwise_part'] * 999), otherwise, 'judged otherwise')
    gs.check(got['ok'], f'latencies: {got}')
    slow = {k: v - 70_000 if (k - 1) % 5 == 0 else v for k, v in launch.items()}
    gs.check(not truth.latencies(ops, slow)['ok'], 'launched long before, begun late')
    gs.equal(truth.latencies(ops, {})['gaps'], 0, 'no launches known')
    gs.equal(truth.latencies(ops, launch, lambda op: op['corr'] <= 100)['gaps'], 99, 'picked')


def endurance():
    flat = [(i, 5_000_000) for i in range(40)]
    gs.equal((truth.slope_per_hour(flat), truth.later_half(flat)), (0.0, 0), 'no growth')
    grows = [(i, 1000 * i) for i in range(40)]
    gs.check(abs(truth.slope_per_hour(grows) - 3_600_000) < 1, 'growth')
    gs.equal(truth.later_half(grows), 19_000, 'growth of the later half')
    pulses = [dict(t=EPOCH + i * 10 ** 9, events=30_000 * i, cpu=30_000 * 40 * i + 15_000 * i * i)
              for i in range(41)]
    first, last = truth.cpu_per_event(pulses, 0), truth.cpu_per_event(pulses, 3)
    gs.equal((first, last), (45.0, 75.0), 'CPU per event')
    gs.equal(truth.cpu_per_event(pulses[:3], 0), None, 'too short')


for play in (kernels, lies, timer_is_set, unions, ladders, causality, clocks, latencies, endurance):
    play()
gs.equal(truth.resolution([32, 32, 64, 32, 32]), 32, 'resolution')
gs.equal(truth.resolution([]), None, 'no timer')
gs.finish()
