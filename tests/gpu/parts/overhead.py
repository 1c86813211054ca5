# SPDX-License-Identifier: Apache-2.0
"""What tracing costs. Programs in each mode stay beside each other and play blocks of steps by turns
(turns.py); what a mode costs is the ratio within a round (ratios.py), and `off` played twice is the
noise. Between generations all programs begin anew, for two processes alike may differ for good.
The simulator charges nothing for tracing: there all this is played in small and nothing is judged."""
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import time

import base
sys.path.insert(1, os.path.join(base.SOURCE, 'tests'))
import gst_reader  # noqa: E402
import ratios  # noqa: E402
import turns  # noqa: E402

SECONDS = 270
SIM, QUICK = base.SIMULATED, base.QUICK
STEPPER = os.path.join(base.BUILD, 'workloads', 'stepper')
PYTHON = base.TORCH or '/usr/bin/python3'
PLAYERS = 60  # seconds for all of a cast to begin
HOST_CPU = 0 if SIM else 14  # seconds that host_cpu takes
MODES = ['off', 'off2', 'L0', 'L1']
MODEL = 'simulated, a model: ' if SIM else ''
GOVERNOR = 58  # seconds that are kept for it and for what comes behind it
PULSE = 10  # docs/FORMAT.md
# What libprof's governor takes a launch to cost (libprof/cupti/governor.h).
ASSUMED = dict(L0=1800, L1=2300)


def size(real, quick, simulated, simulated_quick):
    return (simulated_quick if QUICK else simulated) if SIM else quick if QUICK else real


def until(reserve):
    """The moment (time.time()) at which `reserve` seconds of the part are left."""
    return time.time() + base.left() - reserve


def put(r, question, answer, ok=None, **data):
    """On the simulator nothing that depends on time is right or wrong."""
    r.put('overhead', question, MODEL + answer, None if SIM else ok, **data)


def lost(r, question, cast):
    if cast.lost:
        who = '; '.join(f'{m}: {w}' for m, w in cast.lost.items())
        r.put('overhead', question, 'lost on the way: ' + who, False)


def off_step(rounds, key='total'):
    steps = [ratios.quantile(ratios.steady(x['off'], key), 0.5) for x in rounds
             if x.get('off') and len(x['off'][key]) > 2]
    return statistics.median(steps) if steps else None


def tell_loop(r, name, rounds, ops, modes, judged=False, labels=()):
    """One row of the curve. ops: operations on the device in a step, or None."""
    base_ns = off_step(rounds)
    if not base_ns:
        r.skip('overhead', name, 'no round was whole')
        return
    got = {m: ratios.compare(rounds, m) for m in modes}
    host = off_step(rounds, 'enqueue') / base_ns
    rate = f'{ops * 1e9 / base_ns:,.0f} ops/s, ' if ops else ''
    words = '; '.join(f'{dict(labels).get(m, m)} {ratios.percent(got[m])}' for m in modes)
    ok, goal, asked = None, '', ''
    if judged:
        asked = 'L1: <= 0.4 % median, <= 1 % p95'
        ok, goal = ratios.judge(got.get('L1'), got.get('off2'))
        goal = f'; L1: {goal}'
        if host > 0.8:
            ok, goal = None, f'{goal}; not the GPU but the host is the bottleneck: not judged'
    n = max((g['rounds'] for g in got.values() if g), default=0)
    put(r, name, f'{n} rounds, {rate}off {base_ns / 1e6:.3f} ms/step, host submits for {100 * host:.0f} % '
        f'of it; {words}{goal}', ok, goal=asked, off_ns=base_ns, ops=ops, host=host, modes=got)


# ---- the curve over launches per second ---------------------------------------------------------

def rounds_of_work(cast):
    """{us: rounds of arithmetic that take so long}: measured once, for all modes must do the same."""
    def measure(player):
        return min(player.ask('work 1000000', 20)['ns'] for _ in range(3))
    ns = next((t for t in (cast.guarded(m, measure) for m in list(cast.players)) if t), 2_000_000)
    return {us: max(1, int(us * 1e9 / ns)) for us in (10, 20, 100)}


def curve_loops(work):
    """{name: (command, modes, operations in a step)}"""
    loops = {}
    for us, n in ((500, 20), (100, 50), (50, 100), (20, 200), (10, 300), (5, 400)):
        loops[f'{us} us kernels'] = (f'kernel {us * 1000} {n} 0', MODES, n)
    loops['empty kernels'] = ('kernel 0 800 0', MODES, 800)
    for us, n in ((100, 30), (20, 100)):
        loops[f'the host works {us} us per launch'] = (f'worked 1000 {n} {work[us]}', MODES, n)
    loops['copies and 20 us kernels'] = ('mixed 20000 4 20', MODES, 4 * 22)
    loops['graphs of 50 5 us kernels'] = ('graph 5000 20 50', MODES + ['L2'], 1000)
    loops['graphs of 1000 empty kernels'] = ('graph 0 2 1000', MODES + ['L2'], 2000)
    if SIM and QUICK:
        few = ('50 us kernels', 'copies and 20 us kernels', 'graphs of 50 5 us kernels')
        return {k: loops[k] for k in few}
    return loops


def host_cpu(r, cast, ms):
    """CPU of libprof's threads while one loop goes on, by /proc."""
    for name, command in (('50 us kernels', 'kernel 50000 100 0'), ('empty kernels', 'kernel 0 800 0')):
        def look(player):
            begin, t = turns.threads(player.pid), time.monotonic()
            block = player.block(command, ms, 60)
            time.sleep(0.3 if SIM else 1.2)  # what is still in buffers is part of it
            end = turns.threads(player.pid)
            return {k: end[k] - begin.get(k, 0) for k in end}, time.monotonic() - t, block
        words, data = [], {}
        for mode in ('L0', 'L1'):
            seen = cast.guarded(mode, look)
            if not seen:
                continue
            cpu, wall, block = seen
            launches = len(block['total']) * int(command.split()[2])
            others = cpu.get('others', 0) / 1e9
            words.append(f'{mode}: {turns.ours(cpu) / launches:.0f} ns per launch, '
                         f'{turns.ours(cpu) / 1e7 / wall:.2f} % of a core ('
                         + ', '.join(f'{k} {v / 1e6:.0f} ms' for k, v in sorted(cpu.items())
                                     if k not in ('program', 'others')) + f'), the driver\'s {others:.3f} s')
            data[mode] = dict(cpu=cpu, seconds=wall, launches=launches)
        put(r, f'CPU of our threads, {name}', '; '.join(words) or 'nobody played', **data)


def own_counter(r, name, cast_ended, before):
    """Does the run's own counter of our CPU time agree with /proc?"""
    words, data, ok = [], {}, None
    for mode, cpu in before.items():
        player = cast_ended.get(mode)
        summary = player.summary() if player else None
        if not summary:
            continue
        own = summary['quality']['overhead']['own_cpu_ns']
        words.append(f'{mode}: /proc {cpu / 1e9:.3f} s before the end, the run says {own / 1e9:.3f} s '
                     'at its end')
        data[mode] = dict(proc=cpu, own=own)
        if cpu > 2e8:
            ok = ok is not False and 0.9 * cpu - 2e7 <= own <= 1.25 * cpu + 1e8
    if words:
        put(r, name, '; '.join(words), ok, goal='they agree', **data)


def curve(r, out, deadline):
    rounds = {}
    generations, each = size((3, 4), (1, 3), (2, 2), (1, 2))
    ms = size(90, 80, 20, 15)
    began = time.time()
    for generation in range(generations):
        if time.time() > deadline - HOST_CPU - 5:
            break
        cast = turns.Troupe(MODES + ['L2'], [STEPPER], out, f'curve{generation}', PLAYERS)
        loops = curve_loops(rounds_of_work(cast))
        plan = {k: v[:2] for k, v in loops.items()}
        cast.round(0, plan, 10)  # whatever is slow the first time
        end = began + (deadline - HOST_CPU - began) * (generation + 1) / generations
        for name, got in cast.play(plan, ms, each, end, generation * each).items():
            rounds.setdefault(name, []).extend(got)
        if generation == generations - 1:
            host_cpu(r, cast, size(2000, 1000, 150, 100))
        before = {m: turns.ours(turns.threads(p.pid)) for m, p in cast.players.items() if m in ('L0', 'L1')}
        ended = cast.end(30)
        lost(r, f'players of the curve, generation {generation + 1}', cast)
        if generation == generations - 1:
            own_counter(r, 'the run\'s counter of our CPU time', ended, before)
    for name, (command, modes, ops) in loops.items():
        tell_loop(r, name, rounds.get(name, []), ops, modes[1:])
    per_launch(r, rounds, loops)


def per_launch(r, rounds, loops):
    """What the launching thread pays, and what the governor takes it to be."""
    words, data, ok = [], {}, None
    for name in ('500 us kernels', '50 us kernels', '10 us kernels', 'empty kernels'):
        if name not in loops:
            continue
        data[name] = {m: ratios.difference(rounds.get(name, []), m, loops[name][2]) for m in MODES[1:]}
        words.append(f'{name}: ' + ', '.join(
            f'{m} {d["median"]:+.0f} [{d["p25"]:+.0f}..{d["p75"]:+.0f}]' for m, d in data[name].items() if d))
    judged = data.get('empty kernels') or {}
    for mode, want in ASSUMED.items():
        if judged.get(mode):
            ok = ok is not False and 0.75 * want <= judged[mode]['median'] <= 1.25 * want
    put(r, 'on the launching thread, ns per launch', '; '.join(words), ok,
        goal='1800 at L0, 2300 at L1 as the governor takes them, within a quarter', **data)


# ---- training loops -----------------------------------------------------------------------------

def play_torch(cast, loops, ms, rounds, deadline, ops, begin):
    """Rounds as Troupe.play, and in every third one torch.profiler, active and after it stopped."""
    got, longest = {name: [] for name in loops}, 0
    for i in range(rounds):
        t = time.time()
        if t + longest > deadline:
            break
        one = cast.round(begin + i, loops, ms)
        for name in loops if i % 3 == 0 else ():
            seen = cast.guarded('prof', lambda p: p.ask(f'profile {ms} {name}', 120))
            if seen:
                one.setdefault(name, {}).update(prof=seen['active'], after=seen['after'])
                if seen.get('events'):
                    ops[name] = seen['events'] / seen['steps']
        for name, blocks in one.items():
            got[name].append(blocks)
        longest = max(longest, time.time() - t)
    return got


def training(r, out, deadline):
    names = ['small', 'graph'] if SIM and QUICK else ['cnn', 'large', 'small', 'graph']
    plan = {n: (n, MODES + (['L2'] if n == 'graph' else [])) for n in names}
    modes = ['off', 'prof'] if SIM and QUICK else MODES + ['L2', 'prof']
    plan = {n: (c, [m for m in want if m in modes]) for n, (c, want) in plan.items()}
    generations, each = size((2, 6), (1, 3), (1, 2), (1, 2))
    script = [PYTHON, os.path.join(base.HERE, 'torch_stepper.py')] + ([] if base.TORCH else ['--device', 'cpu'])

    def program(mode):
        return script + ['--loops', 'graph' if mode == 'L2' else ','.join(names)]
    rounds, ops, hello, began = {}, {}, {}, time.time()
    # Six programs take 18 s to begin on 16 cores: where time is short they begin once.
    generations = min(generations, max(1, int(deadline - began) // 40))
    for generation in range(generations):
        if time.time() > deadline - 20 and generation:
            break
        patience = max(20, min(90, deadline - time.time()))
        cast = turns.Troupe(modes, program, out, f'torch{generation}', patience)
        hello = hello or cast.hello
        end = began + (deadline - 6 - began) * (generation + 1) / generations
        ms = size(250, 250, 25, 15)
        for name, got in play_torch(cast, plan, ms, each, end, ops, generation * each).items():
            rounds.setdefault(name, []).extend(got)
        cast.end(20)
        lost(r, f'players of the training loops, generation {generation + 1}', cast)
    texts = dict(cnn='training: CNN, GPU-bound', large='training: transformer, bfloat16, GPU-bound',
                 small='training: transformer, eager, launch-bound',
                 graph='training: the same as one CUDA graph')
    for name in names:
        tell_loop(r, texts[name], rounds.get(name, []), ops.get(name),
                  [m for m in plan[name][1] if m != 'off'] + ['prof', 'after'], name in ('cnn', 'large'),
                  dict(prof='torch.profiler active', after='after it stopped'))
    r.put('overhead', 'what played the training loops', str(next(iter(hello.values()), 'nobody')))


# ---- the governor -------------------------------------------------------------------------------

def pulses(where):
    """[(t_ns, level, own CPU ns)] of a run: its frames by their headers, which are trusted here."""
    rows = []
    for path in [p for end in ('gst', 'spool') for p in glob.glob(os.path.join(where, '*.gst', '*.' + end))]:
        with open(path, 'rb') as f:
            data = f.read()
        at = 0
        while at + gst_reader.HEADER.size <= len(data) and data[at:at + 4] == b'GSTF':
            _, _, kind, flags, head, _, _, _, body, raw, _, _ = gst_reader.HEADER.unpack_from(data, at)
            at += gst_reader.HEADER.size + head + body
            if kind == PULSE:
                text = data[at - body:at]
                got = dict(gst_reader.fields(gst_reader.decompress(text, raw) if flags & 1 else text))
                rows.append((got.get(1, 0), got.get(11, b'').decode(), got.get(7, 0)))
    return sorted(rows)


def settled(series, cap, blur):
    """Index from which on nothing is above the cap and the noise; len(series) if never."""
    at = len(series)
    while at and series[at - 1] <= cap + blur:
        at -= 1
    return at


def claimed(rows, notes):
    """(whether it agrees, in words) of the cost that the first note tells and the measured one: in the
    first window, ten seconds, of all time, of which the program played only a part."""
    found = [re.search(r'it cost ([\d.]+) %', n) for n in notes]
    first = [x for x in rows if x['ends'] < 9.5]
    if not found or not found[0] or len(first) < 2:
        return None, f'nothing to compare: said {notes}'
    said = float(found[0].group(1))
    share = 1 - 1 / (1 + statistics.median(ratios.compare([x], 'L1g')['median'] for x in first) / 100)
    played = sum(sum(x['L1g']['total']) for x in first) / 1e9 / (first[-1]['ends'] - first[0]['at'])
    measured = 100 * share * played
    return 0.65 * measured <= said <= 1.35 * measured, \
        f'said {said:.1f} %, measured {measured:.1f} % (it played for {100 * played:.0f} % of the time)'


def changes(rows, begin_ns):
    """'1, from 10.1 s 0, ...': what was traced when."""
    words, last = [], None
    for t, level, _ in rows:
        if level != last:
            words.append(level if last is None else f'from {(t - begin_ns) / 1e9:.1f} s {level}')
        last = level
    return ', '.join(words) or 'no pulses'


def by_level(rows, levels, began_ns):
    """{level: median percent over off} of the blocks that were played wholly at one level, as the
    pulses around them say."""
    got = {}
    for row in rows:
        begin, end = began_ns + row['at'] * 1e9, began_ns + row['ends'] * 1e9
        # A pulse tells a level up to a second after it began, and buffers drain as long.
        around = {level for t, level, _ in levels if begin - 2e9 <= t <= end + 1.2e9}
        one = ratios.compare([row], 'L1g')
        if len(around) == 1 and one:
            got.setdefault(around.pop(), []).append(one['median'])
    return {level: statistics.median(v) for level, v in got.items()}


def governor(r, out, seconds):
    """The default cap on a loop of tiny kernels; off is played between the blocks."""
    cast = turns.Troupe(['off', 'off2', 'L1g'], [STEPPER], out, 'governor', PLAYERS)
    work = rounds_of_work(cast)
    command = f'worked 1000 100 {work[10]}' if SIM else 'kernel 0 800 0'
    rows, began, began_ns = [], time.time(), time.time_ns()
    while time.time() < began + seconds and {'off', 'L1g'} <= set(cast.players):
        row = dict(at=time.time() - began)
        for mode, ms in (('off', 150), ('L1g', 1000), ('off2', 150)):
            row[mode] = cast.guarded(mode, lambda p: p.block(command, ms if not SIM else ms // 2, 60))
        row['ends'] = time.time() - began
        rows.append(row)
    ended = cast.end(30)
    lost(r, 'players of the governor', cast)
    tell_governor(r, rows, began_ns, ended.get('L1g'))


def tell_governor(r, rows, began_ns, player):
    whole = [x for x in rows if x.get('off') and x.get('L1g')]
    if not whole:
        r.skip('overhead', 'the governor, 1 % cap', 'no round was whole')
        return
    series = [ratios.compare([x], 'L1g')['median'] for x in whole if ratios.compare([x], 'L1g')]
    off2 = ratios.compare([x for x in whole if x.get('off2')], 'off2')
    blur = ratios.noise(off2)[0] if off2 else 0
    at = settled(series, 1.0, blur)
    rest = series[at:]
    summary = player.summary() if player else None
    notes = [n for n in summary['quality']['notes'] if 'governor' in n] if summary else []
    share = 'no summary'
    if summary:
        ledger = summary['ledger']
        ns = ledger['classes'].get('excluded.unobserved', {}).get('ns', 0)
        share = f'excluded.unobserved {100 * ns / max(1, ledger["gpu_ns"]):.1f} % of the held time'
    try:
        told = pulses(player.where) if player else []
        levels = changes(told, began_ns)
        each = by_level(whole, told, began_ns)
        levels += ''.join(f'; {k}: {v:+.2f} %' for k, v in each.items())
    except (OSError, SystemExit) as error:  # no libzstd for Python to load
        levels = f'not known ({error})'
    said, claim = claimed(whole, notes)
    put(r, 'what the run says that tracing cost, before the governor\'s first step', claim, said,
        goal='within a third of what is measured')
    put(r, 'the governor, 1 % cap, empty kernels',
        f'first second {series[0]:+.1f} %, noise {blur:.1f} %; '
        + (f'under the cap from {whole[at]["at"]:.0f} s on, there {statistics.median(rest):+.2f} %; ' if rest
           else f'never under the cap in {whole[-1]["at"]:.0f} s, last {series[-1]:+.1f} %; ')
        + f'all of it {statistics.mean(series):+.1f} %; traced: {levels}; {share}; said: {notes}',
        bool(rest) and bool(notes), goal='<= 1 %, and said in the summary', series=series, at=[x['at'] for x in whole], off2=off2)


# ---- by kind and by call ------------------------------------------------------------------------

ONLY = ('none', 'kernel', 'copy', 'set', 'sync', 'graph', 'driver', 'all')
CALLS = {'launch': 'kernel 0 200 0', 'copy to the device': 'h2d 0 100 0', 'copy from it': 'd2h 0 100 0',
         'copy on it': 'd2d 0 100 0', 'memset': 'memset 0 100 0', 'stream sync': 'sync 0 100 0',
         'event record': 'record 0 200 0', 'event wait': 'wait 0 200 0', 'event sync': 'evsync 0 100 0',
         'graph of 20': 'graph 0 10 20'}
# Which call pays for which kind; everything else is in the data.
CELLS = (('kernel', 'launch'), ('copy', 'copy to the device'), ('copy', 'copy from it'), ('copy', 'copy on it'),
         ('set', 'memset'), ('sync', 'stream sync'), ('sync', 'event wait'), ('sync', 'event sync'),
         ('sync', 'event record'), ('graph', 'graph of 20'), ('kernel', 'graph of 20'))


def play_calls(kinds_on, program, out, tag, rounds, deadline):
    """(cast, {call: {mode: ns per call that it adds}}, {call: ns without})"""
    modes = ['off', 'off2'] + [f'L1:{k}' for k in kinds_on]
    env = {f'L1:{k}': dict(GPUSTARVE_ONLY=k) for k in kinds_on}
    cast = turns.Troupe(modes, program, out, tag, PLAYERS, env)
    loops = {name: (command, modes) for name, command in CALLS.items()}
    cast.round(0, loops, 3)
    got = cast.play(loops, size(12, 12, 4, 3), rounds, deadline)
    cast.end(20)
    each = {name: int(command.split()[2]) for name, command in CALLS.items()}
    table = {name: {m: ratios.difference(blocks, m, each[name]) for m in modes[1:]}
             for name, blocks in got.items()}
    off = {name: off_step(blocks, 'enqueue') for name, blocks in got.items()}
    return cast, table, {name: ns / each[name] if ns else None for name, ns in off.items()}


def cell(table, kind, call):
    d = table.get(call, {}).get(f'L1:{kind}')
    return f'{call} ' + (f'{d["median"]:+.0f} [{d["p25"]:+.0f}..{d["p75"]:+.0f}]' if d else 'not measured')


def kinds(r, out, deadline):
    """ns that a call takes longer while one kind, or the records of API calls, are on."""
    on = ('kernel', 'driver') if SIM and QUICK else ONLY
    cast, table, off = play_calls(on, [STEPPER], out, 'kinds', size(12, 4, 3, 2), deadline - 5)
    lost(r, 'players of kinds and calls', cast)
    n = max((d['rounds'] for row in table.values() for d in row.values() if d), default=0)
    put(r, 'by kind, ns per call', f'{n} rounds; ' + '; '.join(f'{k}: {cell(table, k, c)}' for k, c in CELLS),
        table=table, off_ns=off)
    put(r, 'by API record, calls of the driver, ns per call', '; '.join(cell(table, 'driver', c) for c in CALLS))
    put(r, 'noise, and armed with nothing on, ns per call',
        '; '.join(f'{c}: off2 {table[c]["off2"]["median"]:+.0f}'
                  + (f', none {table[c]["L1:none"]["median"]:+.0f}' if table[c].get('L1:none') else '')
                  for c in CALLS if table.get(c, {}).get('off2')))


def runtime_library():
    """libcudart that launches a kernel which it has not been linked with: of CUDA 13."""
    if SIM:
        return 'libgpusimrt.so'
    prefix = os.path.dirname(os.path.dirname(sys.executable))
    found = glob.glob('/usr/local/cuda/lib64/libcudart.so.13') + \
        sorted(glob.glob(prefix + '/lib/python3*/site-packages/nvidia/*/lib/libcudart.so.13'))
    return found[0] if found else None


def runtime_calls(r, out, deadline):
    """The same for calls of the CUDA runtime, which PyTorch makes."""
    library = runtime_library()
    if not library:
        r.skip('overhead', 'by API record, calls of the runtime', 'no libcudart.so.13')
        return
    cast, table, off = play_calls(('runtime', 'driver', 'kernel'), [STEPPER, library], out, 'runtime',
                                  size(10, 3, 2, 2), deadline - 4)
    if 'off' in cast.lost:  # the workload fails, whatever we do
        r.skip('overhead', 'by API record, calls of the runtime', cast.lost['off'])
        return
    lost(r, 'players of the runtime\'s calls', cast)
    for kind, text in (('runtime', 'by API record, calls of the runtime, ns per call'),
                       ('driver', 'the same with records of the driver\'s calls alone'),
                       ('kernel', 'the same with kernels alone')):
        put(r, text, '; '.join(cell(table, kind, c) for c in CALLS), table=table, off_ns=off)


# ---- all of it ----------------------------------------------------------------------------------

def guarded(r, what, *args):
    """A question that breaks leaves the others their time."""
    try:
        what(r, *args)
    except Exception as error:
        r.put('overhead', what.__name__, f'broke: {error!r}', False)


def read_torch():
    """Has PyTorch read from the disk while the C loops play: six programs need it at once later."""
    return subprocess.Popen(['nice', '-n', '19', PYTHON, '-c', 'import torch'], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def part(r, out):
    """What matters most comes first; the shares add up to SECONDS."""
    reader = None if SIM else read_torch()
    try:
        questions(r, out)
    finally:
        if reader:
            reader.kill()
            reader.wait()


def questions(r, out):
    total = base.left()
    begin = time.time()
    guarded(r, curve, out, begin + total * 0.35)
    if not base.text(PYTHON, '-c', 'import importlib.util as u; print(u.find_spec("torch") or "")'):
        r.skip('overhead', 'training loops', 'no torch here')
    elif base.left() > 35 or SIM:
        guarded(r, training, out, begin + min(total * 0.78, total - GOVERNOR))
    else:
        r.skip('overhead', 'training loops', 'out of time')
    if SIM and QUICK:
        guarded(r, governor, out, 1)
    elif base.left() > GOVERNOR - 10:
        guarded(r, governor, out, min(size(24, 20, 16, 1), base.left() - 30))
    else:
        r.skip('overhead', 'the governor', 'out of time')
    if base.left() > 15:
        guarded(r, kinds, out, until(6 + 0.3 * max(0, base.left() - 12)))
    else:
        r.skip('overhead', 'kinds and calls', 'out of time')
    if SIM and QUICK:
        return
    if base.left() > 10:
        guarded(r, runtime_calls, out, until(2))
    else:
        r.skip('overhead', 'calls of the runtime', 'out of time')
