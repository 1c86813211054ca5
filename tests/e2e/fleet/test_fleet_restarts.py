# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""A job whose restarts have run ids of their own: made-up lives are cut into runs, each is insured by itself,
and `fleet --by lost` makes of their digests what LEDGER 9 says of the whole life, to the nanosecond and the
cent. What was said of marks may be missing, of an older version, or a lie."""
import copy
import json
import os
import subprocess
import sys
from fractions import Fraction

sys.path.insert(0, sys.path[0] + '/../../lib')
import fleets
import gs
import insurance

NANO = 10**9
PARTS = insurance.PARTS[:5]
WHO = ('user', 'team', 'cluster')


def made(seed):
    """A life whose runs can be told apart: no file is opened that is gone, none is killed after the next began."""
    case = insurance.made(seed)
    cuts = insurance.stretches(case)
    starts = [a for a, _ in cuts[1:]] + [insurance.NEVER]
    for p in case.processes:
        p['end'] = min(p['end'], min(s for s in starts if s > p['start']))
    last = {}
    for s in case.saves:
        if s['whole'] != insurance.NEVER:
            last[s['path']] = s['file']
    gone = {s['file'] for s in case.saves if s['file'][0] and last.get(s['path']) != s['file'] and
            any(o['before'] == s['file'][0] and o['path'] == s['path'] for o in case.saves)}
    case.loads = [o for o in case.loads if o['file'] not in gone]
    for o in case.loads:
        if o['path'].endswith('/0.pt') and o['file'][0]:  # it lies in the folder, and is not it
            o['file'] = (o['file'][0] + 10**6,) + o['file'][1:]
    return case


def number(case, cuts, t):
    return max([k for k, (a, _) in enumerate(cuts) if a <= t], default=0)


def alone(case, cuts, k):
    """What the run of that stretch knows."""
    a, b = cuts[k]
    run, index = insurance.Case(), {}
    for n, p in enumerate(case.processes):
        if number(case, cuts, p['start']) == k:
            index[n] = len(run.processes)
            run.processes.append(p)
    run.saves = [dict(s, process=index[s['process']]) for s in case.saves if s['process'] in index]
    run.loads = [dict(o, process=index[o['process']]) for o in case.loads if o['process'] in index]
    spans = [[(max(x, a), min(y, b)) for x, y in s if x < b and y > a] for _, s in case.gpus]
    run.gpus = [(sum(y - x for x, y in s), s) for s in spans]
    run.prices, run.over = case.prices, case.over or k + 1 < len(cuts)
    return run


def joins_across(case, cuts):
    """Saves of two runs that the whole life's rule takes for one checkpoint, or for the other run's."""
    _, whose, _ = insurance.checkpoints(case)
    runs = {}
    for s, t in [(s, s['start']) for s in case.saves] + [(o, o['t']) for o in case.loads]:
        if number(case, cuts, case.processes[s['process']]['start']) != number(case, cuts, t):
            return True  # before its process held a GPU, and so of the run before
    for n, point in whose.items():
        runs.setdefault(point, set()).add(number(case, cuts, case.saves[n]['start']))
    return any(len(r) > 1 for r in runs.values())


def digest(job, k, run, got):
    line = {'gpu': 'NVIDIA L4', 'gpus': len(run.gpus), 'held_ns': sum(h for h, _ in run.gpus), 'busy_ns': 0,
            'starved_ns': 0, 'wasted_ns': 0, 'minutes': [0] * 6, 'usd': sum(got['usd']), 'starved_usd': 0,
            'wasted_usd': 0, 'idle_usd': 0,
            'price': {'model': 'on-demand', 'per_gpu_hour': 1, 'label': 'l', 'source': 's', 'date': '2026-01-01'}}
    start = run.processes[0]['start']
    d = {'schema': 'gpustarve.digest/1', 'revision': 1, 'run': f'{job}-{k}', 'user': 'ann', 'job': job,
         'end': 'ok', 'simulated': True, 'verdict': 'busy', 'start_unix_ns': start, 'wall_ns': 1, 'gpus': [line],
         'classes': {}, 'lines': [], 'fixes': [], 'labels': {'job': job},
         'saves': dict(got['saves'], checkpoints=got['counts'][3], kills=got['counts'][4])}
    for p, ns, usd in zip(PARTS, got['part'], got['usd']):
        if ns:
            d['saves'][p] = [ns, usd]
    return d


def lost_of(where, name, digests, *more):
    store = f'sqlite:{where}/{name}.sqlite'
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(digests))
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    done = gs.gpustarve('fleet', '--store', store, '--by', 'lost', '--format', 'json', *more)
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    return {r['name']: r for r in json.loads(done.stdout)['lost']['job']}


def parts(row):
    return [row[p + '_ns'] if row else 0 for p in PARTS]


def unloaded(seed):
    """What is told where nothing is known of what was opened."""
    case = made(seed)
    case.loads = []
    return insurance.truth(case)['part'][:5]


def check_lives(where, lives):
    """Each against the truth of the whole life."""
    dump = subprocess.Popen([os.path.join(gs.BUILD, 'tests', 'insure_dump')], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True)
    digests, truths = [], {}
    for seed in range(lives):
        case = made(seed)
        cuts = insurance.stretches(case)
        if joins_across(case, cuts):
            continue
        for k in range(len(cuts)):
            run = alone(case, cuts, k)
            dump.stdin.write(run.text())
            dump.stdin.flush()
            digests.append(digest(f'j{seed}', k, run, json.loads(dump.stdout.readline())))
        truths[f'j{seed}'] = insurance.truth(case)
    dump.stdin.close()
    dump.wait()
    gs.check(all(len(json.dumps(d['saves'])) < 1700 for d in digests), 'what digests have of it is bounded')
    found = lost_of(where, 'lives', digests)
    moved, blind = dict.fromkeys(PARTS, 0), 0
    for job, truth in truths.items():
        row = found.get(job)
        want = truth['part'][:5]
        if not row and not any(want[1:]) and not truth['counts'][4]:
            continue
        if parts(row) != want and parts(row) == unloaded(int(job[1:])):
            blind += 1  # of a checkpoint of many folders, or an older one than marks are kept of
            continue
        gs.equal(parts(row), want, f'{job}: what became of it')
        for p, exact in zip(PARTS, truth['exact']['parts']):
            usd = round(row[p + '_usd'] * NANO)
            gs.check(abs(usd - exact) <= 64 * len(truth['segments']), f'{job}: {p}: {usd}, {float(exact)}')
            moved[p] += row[p + '_ns'] > 0
    print(f'{len(truths)} jobs of {len(digests)} runs; jobs with time {moved}')
    gs.check(blind <= lives // 100, f'marks tell of nearly all: {blind} they do not')
    gs.check(all(moved.values()) and len(truths) > lives // 2, f'every part has cases: {moved}')
    return digests


def three():
    """Killed an hour behind its save, killed half an hour behind a copy of it, and one that opens the first's."""
    hour = 3600 * NANO
    base = [fleets.digests(1, seed=1)[0] for _ in range(3)]
    for k, d in enumerate(base):
        start = fleets.MONDAY + k * 10 * hour
        d.update(run=f'r{k}', job='x', start_unix_ns=start, wall_ns=5 * hour)
        d['saves'] = {'checkpoints': 1, 'kills': 1, 'durable': [4 * hour, 8], 'lost': [hour, 2], 'chain': {
            'start_ns': start, 'word_ns': start + 5 * hour, 'marks': [[0, 0, 0, 0, 'a' * 15 + str(k)], [4 * hour, 8, 0, 0]],
            'opened': []}}
    base[2]['saves']['chain']['opened'] = ['a' * 15 + '0']
    del base[2]['saves']['lost']
    return base, hour


def check_three(where):
    base, hour = three()
    gs.equal(parts(lost_of(where, 'three', base)['x']), [8 * hour, 0, 6 * hour, 0, 0],
             'the second is done again from its beginning')
    late = lost_of(where, 'three', base, '--since', '2026-01-05T09:00:00Z', '--until', '2026-01-05T12:00:00Z')
    gs.equal(parts(late['x']), [0, 0, 5 * hour, 0, 0], 'a later run tells what became of one of the stretch')
    other = copy.deepcopy(base)
    other[2]['saves']['chain']['opened'] = []
    gs.equal(parts(lost_of(where, 'other', other)['x']), [12 * hour, 0, 0, 2 * hour, 0], 'nobody knows')
    for k, d in enumerate(other):
        d['user'] = f'user{k}'
    gs.equal(parts(lost_of(where, 'users', other, '--since', '2026-01-05T09:00:00Z', '--until', '2026-01-05T12:00:00Z')['x']),
             [4 * hour, 0, 0, 0, hour], 'jobs of others')
    old = copy.deepcopy(base)
    for d in old:
        del d['saves']['chain']
    gs.equal(parts(lost_of(where, 'old', old)['x']), [12 * hour, 0, 0, 2 * hour, 0], 'digests of before')
    beside = copy.deepcopy(base)
    for d in beside:
        d['saves']['chain'].update(start_ns=fleets.MONDAY, word_ns=fleets.MONDAY + hour)
    gs.equal(parts(lost_of(where, 'beside', beside)['x']), [12 * hour, 0, 0, 0, 2 * hour], 'runs beside each other')


def check_lies(where):
    """No part becomes less than nothing, nor more than there was; what cannot be read is refused."""
    base, hour = three()
    for k, ns in enumerate((2**63 - 1, -2**63 + 1, 10**18, -10**18)):
        lie = copy.deepcopy(base)
        for d in lie:
            for m in d['saves']['chain']['marks']:
                m[:4] = [ns, ns, ns, ns]
        row = lost_of(where, f'lie{k}', lie)['x']
        gs.check(min(parts(row)) >= 0 and sum(parts(row)) == 14 * hour, f'{ns}: {parts(row)}')
    for k, chain in enumerate(([], 7, {}, {'start_ns': 1}, {'start_ns': 1, 'word_ns': 2, 'marks': [[1]]},
                               {'start_ns': 1, 'word_ns': 2, 'marks': [[0, 0, 0, 0, 'x']]},
                               {'start_ns': 1, 'word_ns': 2, 'marks': [[0, 0, 0, 0, []]]},
                               {'start_ns': 1, 'word_ns': 2, 'marks': [[0, 0, 0, 0]] * 6},
                               {'start_ns': 1, 'word_ns': 2, 'opened': ['0' * 16] * 9},
                               {'start_ns': 1, 'word_ns': 2, 'opened': [['0' * 16]]})):
        bad = dict(base[0], saves=dict(base[0]['saves'], chain=chain))
        done = gs.gpustarve('digest', '--from', '-', '--store', f'sqlite:{where}/bad.sqlite',
                            input=json.dumps(bad).encode() + b'\n')
        gs.equal(done.returncode, 1, f'{chain}')


with gs.scratch() as where:
    check_lives(where, 400)
    check_three(where)
    check_lies(where)
gs.finish()
