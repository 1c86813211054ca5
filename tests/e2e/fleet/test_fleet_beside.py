# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""Runs of one job beside each other on a GPU: only what belongs to the one that broke off is lost, and what several had
at once is told if it is the same of all, else not known. Made-up ones against a painter who knows nothing of
viewer/saves, and traces through digest and `fleet --by lost`; what ended how, too."""
import itertools
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import insurance
import jobsmade
import schema

S, MS = 10**9, 10**6
BASE = 1_700_000_000 * S
UNKNOWN = insurance.PARTS.index('unknown')


# ---- made-up ones against a painter --------------------------------------------------------------------------------

def lives(seed):
    """Two or three lives of a job on the same GPUs, each of one run or of a run for each start."""
    r = random.Random(seed)
    lanes, part = [], 0
    for k in range(r.choice((1, 2, 2, 3))):
        case = insurance.with_moves(insurance.with_unsure(insurance.made(seed * 3 + k), seed * 3 + k), seed * 3 + k)
        shift = r.randrange(2) * r.randrange(10 ** 12)
        for p in case.processes:
            p['start'], p['end'], p['word'] = (p[x] + shift for x in ('start', 'end', 'word'))
            p['failed'] = int(not p['ordered'] and not p['runs'] and r.random() < .3)
        for s in case.saves:
            for x in ('start', 'call_end', 'whole'):
                s[x] += shift if s[x] != insurance.NEVER else 0
            s['moved'] = s['moved'] + shift if s.get('moved') else 0
            s['file'] = (s['file'][0] and s['file'][0] + 10 ** 6 * k, s['file'][1], s['file'][2] and s['file'][2] + shift)
            s['before'] += 10 ** 6 * k if s['before'] else 0
            s['path'] = s['path'] and s['path'].replace('://', f'://{k}/') if '://' in s['path'] else s['path'] and f'{k}{s["path"]}'
        for o in case.loads:
            o['t'] += shift
            o['file'] = (o['file'][0] and o['file'][0] + 10 ** 6 * k, o['file'][1], o['file'][2] and o['file'][2] + shift)
            o['path'] = o['path'].replace('://', f'://{k}/') if '://' in o['path'] else f'{k}{o["path"]}'
        case.written = [(a + shift, b + shift, n) for a, b, n in case.written]
        case.gpus = [(0, [(a + shift, b + shift) for a, b in spans]) for _, spans in case.gpus]
        cuts = insurance.stretches(case)
        several = r.random() < .5
        runs = [n for n in range(len(cuts))] if several else [0] * len(cuts)
        for p in case.processes:
            p['part'] = part + runs[max(n for n, (a, _) in enumerate(cuts) if a <= p['start'])]
        part += max(runs) + 1
        lanes.append(case)
    return lanes


def joined(lanes):
    """All of it as one input, and when whose process had which GPU."""
    job, alive = insurance.Case(), []
    spans = {}
    for case in lanes:
        first = len(job.processes)
        for n, p in enumerate(case.processes):
            g = n % len(case.gpus)
            alive.append((g, p['part'], p['start'], p['end']))
            spans.setdefault(g, []).append((p['start'], p['end']))
        job.processes += case.processes
        job.saves += [dict(s, process=s['process'] + first) for s in case.saves]
        job.loads += [dict(o, process=o['process'] + first) for o in case.loads]
        job.written += [w + (0,) * 0 for w in case.written]
        job.over = job.over and case.over
    for g in range(max(spans) + 1):
        had = insurance.merged(spans.get(g, []))
        job.gpus.append((sum(b - a for a, b in had) + 7, had))
        job.prices.append(3_600_000_000)
    job.saves.sort(key=lambda s: (s['start'], s['process']))
    return job, alive


def text_of(job, alive):
    lines = job.text().splitlines()
    at = [n for n, line in enumerate(lines) if line.startswith('process ')]
    for n, p in zip(at, job.processes):
        lines[n] += f' {p["part"]} {p["failed"]}'
    lines[-1:-1] = ['life %d %d %d %d' % x for x in alive]
    return '\n'.join(lines) + '\n'


class Strand:
    pass


def strands(job):
    insurance.find_moves(job.saves)
    out = []
    for part in sorted({p['part'] for p in job.processes}):
        of = insurance.Case()
        of.processes = [p for p in job.processes if p['part'] == part]
        of.saves = [s for s in job.saves if job.processes[s['process']]['part'] == part]
        of.loads = [o for o in job.loads if job.processes[o['process']]['part'] == part]
        of.over = job.over
        points, whose, _ = insurance.checkpoints(of)
        sure, unsure = insurance.sure_ones(points, whose, of)
        segments = insurance.stretches(of)
        may = insurance.may_cover(of, segments, unsure)
        for k, ((a, b), end) in enumerate(zip(segments, insurance.ended(of, segments))):
            x = Strand()
            mine = [p for p in of.processes if a <= p['start'] and (k + 1 == len(segments) or p['start'] < segments[k + 1][0])]
            x.part, x.a, x.b, x.end = part, a, b, end
            if end == 'killed':
                first = min((p for p in mine if not p['ordered'] and not (p['runs'] and k + 1 == len(segments) and not of.over)),
                            key=lambda p: p['end'])
                x.end = 'failed' if first['failed'] else 'killed'
            x.word = max(min(p['word'], p['end']) for p in mine)
            x.cut = insurance.covers(sure, (a, b), b)
            x.may = max(x.cut, may[k])
            x.of, x.points, x.whose, x.thrown, x.began = of, points, whose, None, None
            x.perhaps = insurance.NEVER
            out.append(x)
    return sorted(out, key=lambda x: (x.a, x.part))


def find_restarts(all_):
    for n, y in enumerate(all_):
        own = min([s['start'] for s in y.of.saves if s['start'] >= y.a] + [insurance.NEVER])
        best = oldest = None
        for o in y.of.loads:
            if not (y.a <= o['t'] < y.b and o['t'] <= own):
                continue
            for part in {x.part for x in all_}:
                group = [x for x in all_ if x.part == part]
                found = [s for each in insurance.opened_by(dict_case(group[0].of, o), (y.a, y.b), group[0].whose, own) for s in each]
                if not found:
                    continue
                c = group[0].points[group[0].whose[max(found)]][0]
                before = [x for x in group if x.a <= c]
                if before and before[-1].word < y.a:
                    best = max(best or (before[-1], c), (before[-1], c), key=lambda b: b[1])
                    oldest = min(oldest or (before[-1], c), (before[-1], c), key=lambda b: b[1])
        if best is None:
            continue
        x, c = best
        y.began = x
        redo(x, c)
        for z in all_[all_.index(x) + 1:n]:
            alone = all(w is z or w.b <= z.a or w.a >= z.b for w in all_)
            if z.a > x.word and z.word < y.a and (z.began is x or alone):
                redo(z, z.a)
        first, c = oldest
        perhaps(first, c)
        for z in all_[all_.index(first) + 1:n]:
            alone = all(w is z or w.b <= z.a or w.a >= z.b for w in all_)
            if z is x or (z.a > first.word and z.word < y.a and (z.began is first or alone)):
                perhaps(z, z.a)


def dict_case(of, load):
    """Its saves, and that one load; saves of any time: the caller's segment bounds them."""
    case = insurance.Case()
    case.saves, case.loads = of.saves, [load]
    return case


def redo(x, t):
    if x.end in ('killed', 'failed'):
        x.thrown = min(x.thrown if x.thrown is not None else insurance.NEVER, max(t, x.a))


def perhaps(x, t):
    if x.end in ('killed', 'failed'):
        x.perhaps = min(x.perhaps, max(t, x.a))


def labels(x, last):
    if x.end not in ('killed', 'failed'):
        return (x.cut, x.may, 'unsaved')
    if x.thrown is not None:
        return (min(x.thrown, x.perhaps, x.b), min(x.thrown, x.b), 'redone')
    return (min(x.cut, x.perhaps), x.may, 'lost' if last else 'unknown')


def painted(job, alive, all_):
    out = []
    for g, (held, _) in enumerate(job.gpus):
        part = dict.fromkeys(insurance.PARTS, 0)
        spans = []
        for x in all_:
            cut, may, rest = labels(x, not any(y.a > x.word for y in all_))
            for h, of, a, b in alive:
                if h == g and of == x.part:
                    for lo, hi, name in ((x.a, cut, 'durable'), (cut, may, 'unknown'), (may, x.b, rest)):
                        lo, hi = max(a, lo, x.a), min(b, hi, x.b)
                        if lo < hi:
                            spans.append((lo, hi, name))
        times = sorted({t for a, b, _ in spans for t in (a, b)})
        for a, b in zip(times, times[1:]):
            names = {n for lo, hi, n in spans if lo <= a and b <= hi}
            if names:
                part[names.pop() if len(names) == 1 else 'unknown'] += b - a
        part['other'] = held - sum(part.values())
        out.append([part[p] for p in insurance.PARTS])
    return out


def test_made_up():
    dump = subprocess.Popen([os.path.join(gs.BUILD, 'tests', 'insure_dump')], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)
    beside, sums, began = 0, dict.fromkeys(insurance.PARTS, 0), 0
    for seed in range(400):
        job, alive = joined(lives(seed))
        job.written = []
        dump.stdin.write(text_of(job, alive))
        dump.stdin.flush()
        got = json.loads(dump.stdout.readline())
        parts = [[p['part'] for p in job.processes if a <= p['start'] < b or (a == b == p['start'])]
                 for a, b in insurance.stretches(job)]
        if not any(len(set(p)) > 1 for p in parts):
            continue
        beside += 1
        all_ = strands(job)
        find_restarts(all_)
        want = painted(job, alive, all_)
        gs.equal(got['gpu'], want, f'case {seed}')
        gs.equal([s[:3] for s in got['segments']], [[x.a, x.b, x.end] for x in all_], f'case {seed}: segments')
        gs.equal([s[3] for s in got['segments']], [all_.index(x.began) if x.began else -1 for x in all_], f'case {seed}: restarts')
        gs.equal(got['counts'][-2:], [sum(x.end == e for x in all_) for e in ('killed', 'failed')], f'case {seed}: kills, failures')
        began += sum(x.began is not None for x in all_)
        for p, name in enumerate(insurance.PARTS):
            sums[name] += any(g[p] for g in want)
        if len(gs.failures) > 5:
            break
    dump.stdin.close()
    gs.equal(dump.wait(), 0, 'insure_dump')
    gs.check(beside > 100 and began > 20 and all(sums.values()), f'{beside} jobs, {began} restarts, {sums}')


# ---- traces ----------------------------------------------------------------------------------------------------------

def process(pid, begin, seconds, bye, saved=None, gpu=1):
    begin, end = BASE + begin * S, BASE + (begin + seconds) * S
    lines = [f'stream node {pid} {begin} {end if bye else -1} -1 0 trainer python', f'device 0 {gpu} GPU']
    for t in range(begin + 100 * MS, end, 500 * MS):
        lines += [f'api {t - 20000} {t - 10000} {t % 10**6} {pid} cudaLaunchKernel',
                  f'kernel {t} {t + 300 * MS} {t % 10**6} 7 0 gemm', f'pulse {t + 310 * MS} {t + 305 * MS} 0']
    if saved is not None:
        t = BASE + saved * S
        lines += [f'save 1 1 {t} 0 0 0 /ckpt/{pid}.pt', f'save 2 1 {t} {t + 10 * MS} 1000 {pid} /ckpt/{pid}.pt']
    return lines + [f'pulse {end - MS} {end - MS} 0']


def run(out, step, begin, seconds, status, bye=True, saved=None, child=False, gpu=1, job=9):
    name, pid = f'slurm-c1-{job}.{step}-0', 100 * job + 10 + step
    path = os.path.join(out, name + '.gst')
    os.makedirs(path)
    jobsmade.alloc(out, job, 'node', end=16, gpus=[{'index': g - 1, 'uuid': f'GPU-{g:02x}000000-0000-0000-0000-000000000001',
                                                   'name': 'GPU'} for g in (1, 2)])
    lines = process(pid, begin, seconds, bye, saved, gpu)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), path, str(pid)], input='\n'.join(lines).encode(), check=True)
    exits = [dict(host='node', pid=pid - (1 if child else 0), start_ns=BASE + begin * S - 3 * MS,
                  end_ns=BASE + (begin + seconds) * S, status=status)]
    with open(os.path.join(path, 'run.json'), 'w', encoding='utf-8') as f:
        json.dump(dict(id=name, command=['python'], start_unix_ns=BASE + begin * S - 3 * MS, wall_ns=seconds * S + 4 * MS,
                       exit_status=status, labels={}, user='ann', slurm={'job': job, 'cluster': 'c1'}, exits=exits), f)


def lost(out, *args):
    done = gs.gpustarve('fleet', out, '--by', 'lost', '--format', 'json', *args)
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    said = json.loads(done.stdout)
    gs.equal(schema.errors(schema.load(os.path.join(gs.SOURCE, 'docs', 'fleet.schema.json')), said)[:3], [], 'schema')
    row = said['lost']
    return {p: round(row[p + '_ns'] / S, 2) for p in insurance.PARTS[:5]}, row['kills'], row['failures']


def test_one_failed_beside_a_good_one():
    """Of 16 s of one GPU the failed run had 8, 2 of them alone; it saved after 5. The good one saved after 15."""
    for status, bye, child in ((137, False, False), (3, True, False), (3, True, True), (1, False, True)):
        with gs.scratch() as where:
            run(where, 0, 0, 8, status, bye, saved=3, child=child)
            run(where, 1, 5, 11, 0, saved=15)
            parts, kills, failures = lost(where)
            what = f'{status} {bye} {child}'
            gs.equal(parts, dict(durable=10.0, unsaved=0.9, redone=0, unknown=3.0, lost=2.0), what)
            want = (0, 1) if status == 3 else (1, 0)
            gs.equal((kills, failures), want, what)


def test_other_gpu():
    """Beside each other on one host alone: the good one's time is its own, and what it held after its work is nobody's to lose."""
    with gs.scratch() as where:
        run(where, 0, 0, 8, 3, saved=3, child=True)
        run(where, 1, 1, 11, 0, saved=11, child=True, gpu=2)
        parts, kills, failures = lost(where)
        gs.equal((parts, kills, failures), (dict(durable=13.0, unsaved=0.9, redone=0, unknown=0, lost=5.0), 0, 1), 'apart')
        s = json.loads(gs.gpustarve('report', '--job', '9', '--dir', where, '--format', 'json').stdout)
        gs.equal({k: round(v['ns'] / S, 2) for k, v in s['saves']['parts'].items() if v['ns'] and k != 'other'},
                 dict(durable=13.0, unsaved=0.9, lost=5.0), 'the report of the job')
        gs.equal(schema.errors(schema.ours(), s)[:3], [], 'schema')


def test_ranks_in_turn():
    """Processes without a rank are as many ranks as there were at once."""
    for begin, ranks in ((7, 1), (2, 2)):
        with gs.scratch() as where:
            run(where, 0, 0, 6, 0)
            run(where, 1, begin, 6, 0)
            said = gs.gpustarve('report', '--job', '9', '--dir', where).stdout.decode()
            s = json.loads(gs.gpustarve('report', '--job', '9', '--dir', where, '--format', 'json').stdout)
            gs.equal((s['run']['ranks'], 'several ranks' in said), (ranks, ranks > 1), f'from {begin} s on')


def test_all_pairs():
    """However two at once ended, nothing is lost of one that ended in order. (Of two that did and saved nothing nothing is told.)"""
    for n, (one, other) in enumerate(itertools.product((0, 5, 143), repeat=2)):
        with gs.scratch() as where:
            run(where, 0, 0, 10, one, one != 143)
            run(where, 1, 0, 10, other, other != 143)
            parts, kills, failures = lost(where)
            gs.equal((kills, failures), ((one, other).count(143), (one, other).count(5)), f'{one}, {other}')
            bad = bool(one) + bool(other)
            gs.equal(parts, dict(durable=0, redone=0, unsaved=0, unknown=10.0 * (bad == 1), lost=10.0 * (bad == 2)),
                     f'{one}, {other}')


if __name__ == '__main__':
    gs.run_tests(globals())
