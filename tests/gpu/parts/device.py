# SPDX-License-Identifier: Apache-2.0
"""Is what the trace says true: busy time against the device's own timer and against CUDA events,
clocks, sizes of CUPTI's records, and the latencies that LEDGER.md's constants stand for."""
import glob
import json
import os
import re
import sys

import base
import rawtrace
import truth

SECONDS = 60
PART = 'device'
GOAL = 'within 0.1 % and what the stamps resolve'
NEAR_NS = 1_000   # between the program's clock and CUPTI's
CHAINS = ('chain_20us', 'chain_200us', 'chain_2000us')
LADDERS = {'paired': 'kernels of 500 us', 'h2d': 'pinned copies to the device',
           'd2h': 'pinned copies from the device', 'd2d': 'copies within the device',
           'memset': 'memsets', 'graph': 'graph launches'}
KINDS = {'h2d': (rawtrace.COPY, 1), 'd2h': (rawtrace.COPY, 2), 'd2d': (rawtrace.COPY, 8),
         'memset': (rawtrace.MEMSET, 0)}
# Bytes of kernel, memcpy, memset, peer copy, synchronisation, API and graph records, by what
# cuptiGetVersion says.
RECORDS = (10, 1, 2, 22, 38, 5, 51)
LEAST = (160, 80, 80, 88, 40, 40, 48)   # what libprof reads (facts/cupti_kinds.def)
K_11_8 = (200, 88, 88, 96, 40, 40, 48)
K_12_0, K_12_3 = (208, 88, 88, 96, 40, 40, 48), (208, 88, 88, 96, 40, 40, 56)
K_12_8, K_13_0 = (208, 96, 88, 96, 56, 40, 56), (216, 96, 88, 96, 56, 40, 56)
KNOWN = {18: K_11_8, 19: K_12_0, 20: K_12_0, 21: K_12_3, 22: K_12_3, 23: K_12_3, 24: K_12_3,
         26: K_12_8, 27: K_12_8, 28: K_12_8, 130000: K_13_0, 130001: K_13_0}
PROBE = '''
import ctypes, json, sys
lib, sizes, version = ctypes.CDLL(sys.argv[1]), [], ctypes.c_uint32()
lib.cuptiGetVersion(ctypes.byref(version))
for kind in map(int, sys.argv[2:]):
    buffer, at, steps = (ctypes.c_uint32 * 2048)(*([kind, 0] * 1024)), ctypes.c_void_p(), []
    for _ in range(2):
        rc = lib.cuptiActivityGetNextRecord(buffer, ctypes.c_size_t(8192), ctypes.byref(at))
        steps.append(0 if rc else at.value)
    sizes.append(steps[1] - steps[0] if all(steps) else 0)
print(json.dumps([version.value, sizes]))
'''


def ns(value):
    """A time for the table."""
    if value is None:
        return 'none'
    for unit, least in (('s', 1e9), ('ms', 1e6), ('us', 1e3)):
        if abs(value) >= least:
            return f'{value / least:.4g} {unit}'
    return f'{value:.0f} ns'


def pct(part):
    return 'none' if part is None else f'{100 * part:+.4f} %'


def asked(r, question, fn, *args):
    """An exception in one question must not lose the others."""
    try:
        fn(r, *args)
    except Exception as error:
        r.put(PART, question, f'broke: {error!r}'[:400], False)


# ---- sections of the program and the operations of the trace ----

class Joined:
    """The program's own account beside the trace."""

    def __init__(self, own, raw):
        self.own, self.raw, self.sections = own, raw, own['sections']
        # Old versions of CUPTI are asked for the nodes of graphs, not for launches as wholes.
        self.graphs = any(e['op'] == rawtrace.GRAPH for e in raw.ops)
        if not self.graphs:
            self.sections = {k: v for k, v in own['sections'].items() if 'graph' not in k}

    def ops(self, name):
        """The trace's operations of a section, in order of launch."""
        section = self.sections[name]
        if name.startswith('graph'):
            some = [e for e in self.raw.ops if e['op'] == rawtrace.GRAPH]
        elif name in KINDS:
            op, copy = KINDS[name]
            some = [e for e in self.raw.ops if e['op'] == op and (op == rawtrace.MEMSET or
                                                                  e['copy'] == copy)]
        else:
            some = self.raw.named(name)
        # By when they were launched: warming up came before, other sections' stand elsewhere.
        first, last = section['ops'][0][0], section['ops'][-1][1]
        some = [e for e in some if e['corr'] in self.raw.launch and
                first - NEAR_NS <= self.launch(e) <= last + NEAR_NS]
        return sorted(some, key=self.launch)

    def matched(self, name):
        """[(the program's row, its operation, the host's clock after the synchronisation)]: that
        whose launch lies within the program's call. counts() tells where one has none."""
        rows, ops, out = self.sections[name]['ops'], self.ops(name), []
        synced = self.sections[name]['synced']
        synced = synced if isinstance(synced, list) else [synced] * len(rows)
        at = 0
        for row, after in zip(rows, synced):
            while at < len(ops) and self.launch(ops[at]) < row[0] - NEAR_NS:
                at += 1
            if at < len(ops) and self.launch(ops[at]) <= row[1] + NEAR_NS:
                out.append((row, ops[at], after))
                at += 1
        return out

    def launch(self, op):
        return self.raw.launch[op['corr']]['start']

    def stamped(self, name):
        return [(e['start'], e['end'], row[3], row[4]) for row, e, _ in self.matched(name)]


def counts(r, j):
    wrong, total = [], 0
    for name, section in j.sections.items():
        n, matched = len(j.ops(name)), len(j.matched(name))
        total += n
        if not n == matched == len(section['ops']):
            wrong.append(f'{name}: {len(section["ops"])} launched, {n} in the trace, {matched} of '
                         f'them within the calls')
    r.put(PART, 'operations of each section', '; '.join(wrong) or
          f'{total} in {len(j.sections)} sections, all there', not wrong)


def against_timer(r, j, busy):
    question = "busy time against the device's own timer"
    if j.own['simulated']:
        r.skip(PART, question, 'the simulator runs no PTX; its arithmetic has a test of its own')
        return
    res = truth.resolution(j.own['timer_steps'])
    if not res or not any(row[3] for row in j.sections[CHAINS[0]]['ops']):
        r.put(PART, question, f'the timer gave no stamps (steps {j.own["timer_steps"][:4]})', False)
        return
    groups = {name: j.stamped(name) for name in CHAINS}
    got = truth.judge_kernels(groups, res)
    r.put(PART, question + ': kernels one behind the other',
          f'timer step {res} ns; records are {ns(got["surround_ns"])} longer than the kernels saw; '
          + '; '.join(f'{name} x {g["n"]}: {pct(g["off_part"])}, worst kernel {ns(g["worst_ns"])}, '
                      f'lies {len(g["lies"])}, timer set {g["timer_steps"]}x'
                      for name, g in got['groups'].items()), got['ok'], goal=GOAL,
          numbers=got)
    surround, sides = got['surround_ns'], {name: j.stamped(name) for name in ('left', 'right')}
    two = truth.judge_union(sides['left'] + sides['right'], surround, res)
    each = truth.judge_kernels(sides, res)
    r.put(PART, question + ': two streams at once',
          f'union {ns(two["recorded_ns"])}, {pct(two["off_part"])}, {two["pieces"]} pieces; sums '
          + ', '.join(f'{pct(g["off_part"])} (lies {len(g["lies"])})'
                      for g in each['groups'].values()), two['ok'] and each['ok'], goal=GOAL,
          union=two, each=each)
    places = {name: truth.judge_positions(rows, res) for name, rows in groups.items()}
    r.put(PART, 'where kernels lie, by a line through the timer',
          '; '.join(f'{name}: p99 {ns(p["residual_p99_ns"])} off, drift {p["drift_ppm"]:.1f} ppm'
                    for name, p in places.items()),
          all(p['ok'] for p in places.values()), numbers=places)
    if not j.graphs:
        return
    graphs = truth.judge_kernels({'graph alone': j.stamped('graph alone')}, res)
    off = graphs['surround_ns']
    r.put(PART, question + ': graphs of ten kernels',
          f'{len(j.sections["graph alone"]["ops"])} launches, records are {ns(off)} longer than '
          f'from the first kernel to the last', -res <= off <= 2 * truth.SURROUND_NS and
          graphs['groups']['graph alone']['worst_ns'] <= 2 * truth.SURROUND_NS + 2 * res,
          numbers=graphs)


def against_summary(r, j, summary):
    """The report's busy time is the union of the trace's operations."""
    mine, _ = truth.union([(e['start'], e['end']) for e in j.raw.ops])
    said = sum(g['busy_ns'] for g in summary['gpus'])
    r.put(PART, 'busy time of the report', f'{ns(said)}, by the raw trace {ns(mine)}', said == mine,
          report_ns=said, raw_ns=mine)


def against_events(r, j, _):
    for name, what in LADDERS.items():
        if name not in j.sections:
            r.skip(PART, 'against CUDA events: ' + what, 'this CUPTI records their nodes')
            continue
        try:
            ops = [e for _, e, _ in j.matched(name)]
            g = truth.judge_ladder([(e['start'], e['end']) for e in ops],
                                   j.sections[name]['events_ms'],
                                   [j.launch(e) for e in ops] if j.own['simulated'] else None)
        except (ValueError, KeyError) as error:
            r.put(PART, 'against CUDA events: ' + what, repr(error)[:300], False)
            continue
        r.put(PART, 'against CUDA events: ' + what,
              f'{g["n"]}: {ns(g["events_ns"])} by events, {ns(g["busy_ns"])} busy; ends are '
              f'{pct(g["part"])} apart; an event pair is {ns(g["over_p50_ns"])} '
              f'[{ns(g["over_min_ns"])}..{ns(g["over_max_ns"])}] longer', g['ok'], goal=GOAL,
              numbers=g)


def causality(r, j, _):
    launches = []
    for name in j.sections:
        for row, e, synced in j.matched(name):
            call = j.raw.launch[e['corr']]
            launches.append((row[0], call['start'], call['end'], row[1], e['start'], e['end'],
                             synced))
    g = truth.judge_causality(launches)
    r.put(PART, "launches by the program's own clock",
          f'{g["n"]} launches; begin before the call {g["call_begins"]["violations"]}, end after '
          f'it {g["call_ends"]["violations"]}, kernel before its launch '
          f'{g["op_after_call"]["violations"]} (nearest {ns(g["op_after_call"]["least_ns"])}), end '
          f'after the synchronisation {g["ends_before_sync"]["violations"]} (nearest '
          f'{ns(g["ends_before_sync"]["least_ns"])})', g['ok'], goal='no violation', numbers=g)


def clocks(r, j, _):
    g = truth.judge_clocks(j.raw.clocks, j.own['clocks'])
    if not g['n']:
        r.put(PART, "the trace's clock", 'the trace has no readings of clocks', False)
        return
    r.put(PART, "the trace's clock", f'{g["n"]} readings, half within {ns(g["width_ns"])}; '
          f'against monotonic: residual at most {ns(g["residual_max_ns"])}, drift '
          f'{g["cupti_drift_ppm"]:.3f} ppm; the program read CUPTI - REALTIME '
          f'{ns(g["own_cupti_minus_realtime_ns"])}, carried by the trace at most '
          f'{ns(g["carried_max_ns"])} off', g['ok'], goal='within 1 us', numbers=g)


# ---- latencies ----

def latency(r, name, raw, wanted=lambda op: True):
    launch = {corr: c['start'] for corr, c in raw.launch.items()}
    g = truth.latencies(raw.ops, launch, wanted)
    # The simulator's turnaround is a constant; what its calls take tells of this machine's load.
    ok = None if base.SIMULATED or g['gaps'] < 50 else g['ok']
    r.put(PART, f'latencies: {name}',
          f'{g["gaps"]} gaps; turnaround p50 {ns(g["turnaround_p50_ns"])}, p99 '
          f'{ns(g["turnaround_p99_ns"])} (LEDGER 10 us), {g["turnarounds"]} of them; launch p50 '
          f'{ns(g["launch_p50_ns"])}, p95 {ns(g["launch_p95_ns"])} (LEDGER 60 us), '
          f'{g["launches"]}; judged otherwise by these: {100 * g["otherwise_part"]:.1f} % of gaps, '
          f'{100 * g["otherwise_ns_part"]:.1f} % of their time', ok, goal='p99 10 us, p95 60 us',
          numbers=g)


def latencies(r, j, out):
    latency(r, 'driver API loop', j.raw, lambda op: op['name'] in CHAINS + ('lone',))
    if j.graphs:
        latency(r, 'graph launches', j.raw, lambda op: op['op'] == rawtrace.GRAPH)
    question = 'latencies: torch, eager, small'
    if base.SIMULATED:
        r.skip(PART, question, 'needs torch on a GPU')
    elif base.left() < 20:
        r.skip(PART, question, 'out of time')
    else:
        rc, _, e, run, _ = base.traced('latency-torch', [
            sys.executable, base.TRAIN, '--model', 'transformer', '--batch', '8', '--steps', '60'],
            out, ['--no-report', '--max-overhead', '0'], 60)
        if rc or not run:
            r.put(PART, question, f'rc {rc}; {e.strip()[-200:]}', False)
        else:
            latency(r, 'torch, eager, small', rawtrace.Raw(run))


# ---- record sizes ----

def libraries():
    """Every libcupti of the machine once: torch's, the toolkit's, others' beside them."""
    site = [p for p in sys.path if p.endswith('-packages')]
    found = {}
    patterns = ['/usr/local/cuda*/lib*/libcupti.so*', '/usr/local/cuda*/targets/*/lib/libcupti.so*',
                '/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*',
                '/usr/lib/x86_64-linux-gnu/libcupti.so*']
    for p in site:
        patterns += [p + '/nvidia/*/lib/libcupti.so*', p + '/nvidia/*/*/lib/libcupti.so*',
                     p + '/torch/lib/libcupti*.so*',
                     p + '/triton/backends/nvidia/lib/*/libcupti.so*']
    if base.SIMULATED:
        patterns.append(os.path.join(base.BUILD, 'gpusim', 'cupti-[0-9]*', 'libcupti.so.*'))
    for pattern in patterns:
        for path in sorted(glob.glob(pattern)):
            real = os.path.realpath(path)
            if os.path.getsize(real):
                found.setdefault(real, path)
    return sorted(found)


def doctor_sizes(path):
    """What doctor's probe says of this library: sizes of kernel, memcpy, memset, API, graph, peer
    copy and synchronisation records; libprof takes a CUPTI if none is shorter than it reads."""
    rc, o, _, _ = base.run([base.CLI, 'doctor'], 30, GPUSTARVE_CUPTI=path)
    line = re.search(r'record sizes +(.*)', o)
    used = re.search(r'libcupti +(\S+), version', o)
    if not line or not used or os.path.realpath(used.group(1)) != os.path.realpath(path):
        return None
    return [int(n) for n in re.findall(r'(\d+)(?:,|$)', line.group(1))]


def record_sizes(r):
    first = True
    for path in libraries()[:8]:
        if base.left() < 6:
            r.skip(PART, 'record sizes', 'out of time')
            return
        rc, o, e, _ = base.run([sys.executable, '-c', PROBE, path, *map(str, RECORDS)], 20)
        question = 'record sizes: ' + '/'.join(path.split('/')[-5:])
        if rc:
            r.put(PART, question, f'rc {rc}: {e.strip()[-200:]}', False)
            continue
        version, sizes = json.loads(o)
        want, picked = KNOWN.get(version), [sizes[i] for i in (0, 1, 2, 5, 6, 3, 4)]
        # doctor looks at much else and takes its time.
        doctor = doctor_sizes(path) if first and not base.QUICK else picked
        ok = all(s >= least for s, least in zip(sizes, LEAST)) and \
            (not want or tuple(sizes) == want) and doctor == picked
        r.put(PART, question, f'version {version}: {", ".join(map(str, sizes))} '
              f'(known: {", ".join(map(str, want)) if want else "not this version"})' +
              ('' if not first or base.QUICK else '; doctor says the same' if doctor == picked else
               f'; doctor says {doctor}'), ok, version=version, sizes=sizes)
        first = False


def part(r, out):
    own_path = os.path.join(out, 'stamped.json')
    if os.path.exists(own_path):
        os.remove(own_path)
    program = [sys.executable, os.path.join(base.HERE, 'stamped.py'), own_path]
    rc, o, e, run, summary = base.traced('stamped', program + (['--quick'] if base.QUICK else []),
                                         out, ['--max-overhead', '0'], 45)
    if rc == 'timeout' and base.SIMULATED:
        for question in ("busy time against the device's own timer", 'against CUDA events',
                         "the trace's clock", 'latencies', 'record sizes'):
            r.skip(PART, question, 'no time was left on this machine')
        return
    try:
        if rc or not run:
            raise ValueError(f'rc {rc}: {e.strip()[-300:]}')
        with open(own_path) as f:
            j = Joined(json.load(f), rawtrace.Raw(run))
    except (OSError, ValueError) as error:
        r.put(PART, 'the program that stamps', repr(error)[:400], False)
        asked(r, 'record sizes', record_sizes)
        return
    asked(r, 'operations of each section', counts, j)
    asked(r, "busy time against the device's own timer", against_timer, j, summary)
    asked(r, 'against CUDA events', against_events, j, summary)
    asked(r, 'busy time of the report', against_summary, j, summary)
    asked(r, "launches by the program's own clock", causality, j, summary)
    asked(r, "the trace's clock", clocks, j, summary)
    asked(r, 'latencies', latencies, j, out)
    asked(r, 'record sizes', record_sizes)
