# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of what the trace says against what the device and the program say themselves.
Pure functions over numbers; times in ns. tests/e2e/gpu/test_gpu_arithmetic.py plays made-up clocks and
lies on them.

The device's own timer has an offset and a drift of its own against the trace's clock, is coarse,
and may be set anew at any time. Lengths and gaps compare without aligning the two; positions by a
line."""
import statistics

import spans

SURROUND_NS = 10_000   # a record may begin and end so much outside the kernel's own code, in all
EVENT_NS = 1_000       # an event's stamp is good to half a microsecond, and there are two
EVENT_SURROUND_NS = 20_000  # what the device does between two events beside the work
PART = 0.001           # goal: busy time within 0.1 %
JITTER_NS = 3_000      # of one record's edges
EDGE_NS = 250          # by how much what surrounds a kernel may differ between lengths, on average


def quantile(values, q):
    """The least value that so many are not above."""
    ordered = sorted(values)
    return ordered[max(0, -(-int(q * 1e6) * len(ordered) // 1_000_000) - 1)] if ordered else None


def union(pieces):
    """(measure, pieces) of a union; an empty piece that stands alone is one, too."""
    joined = spans.gs.union(pieces)
    return spans.measure(joined), len(joined)


def line(points):
    """(slope, value at the mean x, mean x): least squares, in differences that doubles can hold."""
    x0, y0 = points[0]
    xs, ys = [x - x0 for x, _ in points], [y - y0 for _, y in points]
    mx, my = statistics.fmean(xs), statistics.fmean(ys)
    below = sum((x - mx) ** 2 for x in xs)
    slope = sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / below if below else 0.0
    return slope, y0 + my, x0 + mx


def residuals(points):
    slope, y, x = line(points)
    return [b - y - slope * (a - x) for a, b in points]


def resolution(steps):
    """The timer's step: most of what lies between different values of it."""
    positive = [s for s in steps if s > 0]
    return int(statistics.median(positive)) if positive else None


class Kernels:
    """Kernels of one stream in order: (record start, record end, device begin, device end)."""

    def __init__(self, rows, res):
        self.rows, self.res = rows, res
        self.over = [(b - a) - (d - c) for a, b, c, d in rows]

    def surround(self):
        """By how much records are longer than what the kernels saw of themselves."""
        return statistics.median(self.over)

    def tolerance(self, i):
        a, b = self.rows[i][2:]
        return 2 * self.res + JITTER_NS + PART * (b - a)

    def odd(self, surround):
        """(lies, steps): kernels whose record is of another length than the device says. It is a
        step of the device's timer if what comes after is off by as much as the record; else the
        record lies."""
        lies, steps = [], []
        for i, over in enumerate(self.over):
            off = over - surround
            if abs(off) <= self.tolerance(i):
                continue
            before = self.rows[i - 1] if i else None
            after = self.rows[i + 1] if i + 1 < len(self.rows) else None
            moved = None
            if before and after:
                moved = (after[0] - after[2]) - (before[1] - before[3]) + surround
            stepped = moved is not None and abs(moved - off) <= self.tolerance(i)
            (steps if stepped else lies).append(i)
        return lies, steps

    def gaps(self, surround):
        """How far each gap between records is off what the device says of it."""
        return [(y[0] - x[1]) + surround - (y[2] - x[3]) for x, y in zip(self.rows, self.rows[1:])]


def judge_kernels(groups, res):
    """@groups: {name: rows as Kernels has them}; the first has the shortest kernels and tells what
    surrounds a kernel. {'ok', 'surround_ns', 'groups': {name: {...}}}"""
    kernels = {name: Kernels(rows, res) for name, rows in groups.items()}
    first = next(iter(kernels.values()))
    surround = first.surround()
    out = dict(surround_ns=surround, groups={}, ok=-res <= surround <= SURROUND_NS)
    for name, k in kernels.items():
        lies, steps = k.odd(surround)
        kept = [i for i in range(len(k.rows)) if i not in steps]
        recorded = sum(k.rows[i][1] - k.rows[i][0] for i in kept)
        device = sum(k.rows[i][3] - k.rows[i][2] for i in kept)
        off = recorded - device - len(kept) * surround
        gaps = k.gaps(surround)
        # A gap may hold another step of the timer; what lies do to gaps is counted as lies.
        far = sum(abs(g) > 2 * res + JITTER_NS for g in gaps)
        ok = not lies and abs(off) <= PART * device + len(kept) * (res + EDGE_NS) and \
            far <= 2 * len(steps) + 1
        out['groups'][name] = dict(
            n=len(k.rows), recorded_ns=recorded, device_ns=device, off_ns=off,
            off_part=off / device if device else None, lies=lies, timer_steps=len(steps),
            worst_ns=max((abs(k.over[i] - surround) for i in kept), default=0),
            gap_off_ns=statistics.median(gaps) if gaps else None, gaps_far=far, ok=ok)
        out['ok'] = out['ok'] and ok
    return out


def judge_union(rows, surround, res):
    """Busy time of several streams: unions on both axes, which need no alignment. Each piece of the
    device's may be longer by what surrounds a kernel, and pieces closer than that become one."""
    recorded, pieces = union([(a, b) for a, b, _, _ in rows])
    device, apart = union([(c, d) for _, _, c, d in rows])
    room = PART * device + 2 * res * max(pieces, apart)
    least, most = -room, max(0, surround) * apart + JITTER_NS + room
    return dict(recorded_ns=recorded, device_ns=device, pieces=apart, off_ns=recorded - device,
                off_part=(recorded - device) / device if device else None,
                ok=least <= recorded - device <= most)


def judge_positions(rows, res):
    """Where kernels lie: the device's begin carried to the trace's clock by the best line."""
    points = [(c, a - c) for a, _, c, _ in rows]
    slope, _, _ = line(points)
    far = [abs(r) for r in residuals(points)]
    worst = quantile(far, 0.99)
    return dict(drift_ppm=slope * 1e6, residual_p50_ns=quantile(far, 0.5), residual_p99_ns=worst,
                residual_max_ns=max(far), ok=worst <= 2 * res + SURROUND_NS)


def judge_ladder(ops, events_ms, launched=None):
    """Operations (start, end) with an event before, between and behind. @launched: on the
    simulator, when their calls began: an event is stamped exactly when what came before it ends, if
    it was enqueued by then; ok is None if none was, because the machine was too busy."""
    rungs = [round(ms * 1e6) for ms in events_ms]
    over = [r - (b - a) for (a, b), r in zip(ops, rungs)]
    whole = sum(rungs)
    span = ops[-1][1] - ops[0][0]
    busy = sum(b - a for a, b in ops)
    # The first event is stamped before the first operation begins, at an unknown distance.
    inside = sum(rungs[1:]) - (ops[-1][1] - ops[0][1])
    checked = len(rungs)
    if launched:
        float_ns = 1 + max(rungs) * 2 ** -23
        # The event behind an operation was enqueued before the next one's call.
        in_time = [after <= op[1] for op, after in zip(ops, launched[1:])] + [False]
        off = [abs(r - (y[1] - x[1])) for x, y, r, a, b in
               zip(ops, ops[1:], rungs[1:], in_time, in_time[1:]) if a and b]
        checked = len(off)
        ok = len(rungs) == len(ops) and (max(off) <= float_ns if off else None)
    else:
        ok = (len(rungs) == len(ops) and min(over) >= -EVENT_NS - PART * busy / len(ops) and
              statistics.median(over) <= EVENT_SURROUND_NS and
              abs(inside) <= PART * whole + EVENT_NS + SURROUND_NS)
    return dict(n=len(ops), checked=checked, events_ns=whole, span_ns=span, busy_ns=busy,
                inside_off_ns=inside,
                over_p50_ns=statistics.median(over), over_min_ns=min(over), over_max_ns=max(over),
                part=inside / whole if whole else None, ok=ok)


def judge_causality(launches, near=1_000):
    """@launches: (host before, call start, call end, host after, op start, op end, host after the
    synchronisation). Violations and the least distance of each."""
    rules = dict(call_begins=lambda v: v[1] - v[0], call_ends=lambda v: v[3] - v[2],
                 op_after_call=lambda v: v[4] - v[1], ends_before_sync=lambda v: v[6] - v[5])
    out = dict(n=len(launches), ok=bool(launches))
    for name, distance in rules.items():
        d = [distance(v) for v in launches]
        # The host's clock and CUPTI's are read one after the other; a launch and its kernel not.
        room = 0 if name == 'op_after_call' else near
        bad = sum(x < -room for x in d)
        out[name] = dict(violations=bad, least_ns=min(d, default=None),
                         median_ns=statistics.median(d) if d else None)
        out['ok'] = out['ok'] and not bad
    return out


def judge_clocks(triplets, readings, near=1_000):
    """@triplets of the trace: [monotonic before, CUPTI, monotonic after, realtime]; @readings of
    the program: [realtime, cupti or None, realtime, monotonic, realtime, monotonic]."""
    if not triplets:
        return dict(n=0, ok=False)
    tight = sorted(triplets, key=lambda t: t[2] - t[0])
    tight = tight[:max(3, len(tight) // 2)]   # readings that nothing interrupted
    points = [((a + b) // 2, c - (a + b) // 2) for a, c, b, _ in sorted(tight)]
    slope, y, x = line(points)
    out = dict(n=len(triplets), width_ns=statistics.median(t[2] - t[0] for t in tight),
               cupti_drift_ppm=slope * 1e6,
               residual_max_ns=max(map(abs, residuals(points))),
               realtime_minus_cupti_ns=statistics.median(t[3] - t[1] for t in tight))
    own = [c - (a + b) / 2 for a, c, b, *_ in readings if c]
    out['own_cupti_minus_realtime_ns'] = statistics.median(own) if own else None
    # The program's own monotonic clock carried by the trace's line, against its realtime.
    carried = [y + slope * ((m0 + m1) / 2 - x) + (m0 + m1) / 2 - r
               for _, _, _, m0, r, m1 in readings]
    first, last = points[0][0], points[-1][0]

    def room(r):
        """Its own width, and that of the points, which grows with the distance from them."""
        beyond = max(first - r[3], r[5] - last, 0)
        return near + (r[5] - r[3]) / 2 + \
            out['width_ns'] * (1 + (2 * beyond / (last - first) if last > first else 0))
    out['carried_max_ns'] = max(abs(c) for c in carried)
    out['ok'] = (all(abs(c) <= room(r) for c, r in zip(carried, readings)) and
                 (not own or abs(out['own_cupti_minus_realtime_ns']) <= near))
    return out


# ---- latencies, as LEDGER.md cuts gaps ----

def queued(ops, launch):
    """The QUEUED part of each gap of a device: [(ns, launched before the gap began, the op that
    ends it, the one before it)]. @ops: dicts with start, end, corr in order of start; @launch: by
    correlation id when the call began."""
    least, soonest = [None] * len(ops), None
    for i in range(len(ops) - 1, -1, -1):
        known = launch.get(ops[i]['corr'])
        if known is not None and (soonest is None or known < soonest):
            soonest = known
        least[i] = soonest
    out, until, last = [], None, None
    for i, op in enumerate(ops):
        if until is not None and op['start'] > until and least[i] is not None:
            t = min(max(least[i], until), op['start'])
            if t < op['start']:
                out.append((op['start'] - t, least[i] <= until, op, last))
        if until is None or op['end'] > until:
            until, last = op['end'], op
    return out


TURNAROUND_NS, LAUNCH_NS = 10_000, 60_000


def judged(ns, turnaround, launch):
    return 'turnaround' if ns <= turnaround else 'launch' if ns <= launch else 'longer'


def latencies(ops, launch, wanted=lambda op: True):
    """p99 of turnarounds: an operation of the same stream was launched before the one before it
    ended. p95 of launches: the device was idle. And which gaps the measured numbers would judge
    otherwise than LEDGER.md's. Of the gaps that a wanted operation ends."""
    gaps = [g for g in queued(ops, launch) if wanted(g[2])]
    back = [ns for ns, before, op, last in gaps
            if before and (op['stream'], op['context']) == (last['stream'], last['context'])]
    idle = [ns for ns, before, _, _ in gaps if not before]
    out = dict(gaps=len(gaps), turnarounds=len(back), launches=len(idle),
               turnaround_p50_ns=quantile(back, 0.5), turnaround_p99_ns=quantile(back, 0.99),
               launch_p50_ns=quantile(idle, 0.5), launch_p95_ns=quantile(idle, 0.95))
    # A number that was not measured here stays as it is.
    own = (out['turnaround_p99_ns'] or TURNAROUND_NS, out['launch_p95_ns'] or LAUNCH_NS)
    moved = [ns for ns, *_ in gaps
             if judged(ns, *own) != judged(ns, TURNAROUND_NS, LAUNCH_NS)]
    total = sum(ns for ns, *_ in gaps)
    out['otherwise_part'] = len(moved) / len(gaps) if gaps else 0
    out['otherwise_ns_part'] = sum(moved) / total if total else 0
    out['longer_ns_part'] = sum(ns for ns, *_ in gaps if ns > LAUNCH_NS) / total if total else 0
    out['ok'] = (out['turnaround_p99_ns'] or 0) <= TURNAROUND_NS and \
        (out['launch_p95_ns'] or 0) <= LAUNCH_NS
    return out


# ---- endurance ----

def slope_per_hour(samples):
    """@samples: (seconds, value). Growth per hour by the best line."""
    return line(samples)[0] * 3600 if len(samples) > 2 else None


def later_half(samples):
    """How much the value grew in the second half of the time: what it took at first is no leak."""
    if len(samples) < 4:
        return None
    half = samples[len(samples) // 2:]
    return half[-1][1] - half[0][1]


def cpu_per_event(pulses, quarter):
    """ns of our threads per event in the quarter-th (0 to 3) part of the run, from pulses with t,
    cpu and events, all counted since the stream began."""
    if len(pulses) < 5:
        return None
    first, last = pulses[0]['t'], pulses[-1]['t']
    edges = [first + (last - first) * (quarter + i) / 4 for i in (0, 1)]
    a, b = (min(pulses, key=lambda p: abs(p['t'] - e)) for e in edges)
    events = b['events'] - a['events']
    return (b['cpu'] - a['cpu']) / events if events > 0 else None
