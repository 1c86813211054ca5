#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""When no process used the GPUs that a job had: before the first run on a GPU, between runs, after the last, never,
and what is not known. Cases by hand, and a thousand made-up allocations of a few jobs against a painter who knows nothing of
the engine: to the nanosecond and the billionth of a dollar, in summary, text, page, comment, digest and fleet; `verify`
recomputes it; old digests and broken ones."""
import collections
import csv
import fractions
import io
import itertools
import json
import os
import random
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import figures
import fleets
import gs
import jobsmade
import pagekeys
import schema
from jobsmade import NAME, alloc, run

S, T0 = 10**9, jobsmade.T0
PARTS = ('before', 'between', 'after', 'never', 'unknown')
PRICE = '3.60'  # dollars per GPU-hour: a second is a tenth of a cent
ODD = '2.7183'
NOTHING = dict.fromkeys([f'{p}_ns' for p in PARTS] + ['gaps', 'longest_ns', 'unseen_ns'], 0)
COUNTS = tuple(NOTHING)


def uuid(rank):
    return f'GPU-0102{rank:04x}-0000-0000-0000-000000000000'


def gpu(rank):
    return {'index': rank % 8, 'uuid': uuid(rank), 'name': NAME}


def process(rank, start, end, pid, host='n1', job=9, killed=False):
    """Lines of a process that used that GPU: times in ns since T0."""
    at = T0 + start + (end - start) // 2
    return [f'env SLURM_JOB_ID {job}', f'stream {rank} 1 {pid} {T0 + start} {host}',
            f'op {at} {at + 1} 1 7 gemm', f'api {at - 2} {at - 1} 1 9 cudaLaunchKernel',
            f'pulse {T0 + end}', 'cut' if killed else f'bye {T0 + end}']


def runs(out, job, lives):
    """A run for each list of (rank, start, end, host)."""
    for i, of in enumerate(lives):
        run(out, f'slurm-c1-{job}.{i}-0', *[process(r, a, b, 1000 * i + n + 1, host, job) for n, (r, a, b, host) in enumerate(of)])


def fresh(where, name):
    out = os.path.join(where, name)
    os.mkdir(out)
    return out


def report(out, job=9, price=PRICE):
    done = gs.gpustarve('report', '--job', str(job), '--dir', out, '--format', 'json', '--price', price)
    if not gs.equal(done.returncode, 0, f'report: {done.stderr.decode()}'):
        gs.finish()
    s = json.loads(done.stdout)
    gs.equal(schema.errors(closed, s)[:3], [], f'{out}: schema')
    check_sums(out, s)
    return s


def nano(usd):
    return round(fractions.Fraction(str(usd)) * 10**9)


def check_sums(what, s):
    """The parts are the class, of each GPU and of all, and so are their dollars."""
    for g in s['gpus']:
        v = g.get('no_process', NOTHING)
        gs.equal(sum(v[f'{p}_ns'] for p in PARTS), g['classes'].get('excluded.no_process', 0), f'{what}: class of {g["uuid"]}')
        gs.equal(sum(b - a for a, b in v.get('spans', ())), sum(v[f'{p}_ns'] for p in PARTS) + v['unseen_ns'], f'{what}: when')
    v = s['ledger'].get('no_process')
    c = s['ledger']['classes'].get('excluded.no_process', {'ns': 0, 'usd': 0})
    if not v:
        return
    gs.equal(sum(v[f'{p}_ns'] for p in PARTS), c['ns'], f'{what}: class')
    gs.equal(sum(nano(v[f'{p}_usd']) for p in PARTS), nano(c['usd']), f'{what}: dollars of the class')
    for key in NOTHING:
        of = [g['no_process'][key] for g in s['gpus'] if 'no_process' in g]
        gs.equal(v[key], max(of) if key == 'longest_ns' else sum(of), f'{what}: {key} of all GPUs')


def seconds(s, rank=0):
    """(parts, gaps, longest, unseen) of a GPU."""
    v = next(g['no_process'] for g in s['gpus'] if g['uuid'] == uuid(rank))
    return [v[f'{p}_ns'] / S for p in PARTS], v['gaps'], v['longest_ns'] / S, v['unseen_ns'] / S


def told(out, *args):
    return ' '.join(gs.gpustarve('report', '--job', '9', '--dir', out, '--price', PRICE, *args).stdout.decode().split())


def case(where, name, lives, *allocs, **kw):
    """A job with the given lives [(rank, start, end)] of its runs, in seconds."""
    out = fresh(where, name)
    runs(out, 9, [[(r, a * S, b * S, 'n1') for r, a, b in of] for of in lives])
    for more in allocs:
        alloc(out, **{'gpus': [gpu(0)], **more})
    for name in kw.get('unrecorded', ()):
        with open(os.path.join(out, 'c1-9.job', 'unrecorded-' + name), 'w', encoding='ascii'):
            pass
    return out


def check_page(what, out, *args):
    """Each number of the page is the summary's; and both."""
    said = [gs.gpustarve('report', '--job', '9', '--dir', out, '--format', f, *args).stdout.decode() for f in ('html', 'json')]
    wrong, numbers = pagekeys.problems(said[0], figures.parse(said[1]))
    gs.equal(wrong[:3], [], f'{what}: each number of the page')
    gs.check(numbers > 20, f'{what}: {numbers} numbers')
    return said


# ---- by hand -------------------------------------------------------------------------------------------------------

def check_sweep(where):
    """Three experiments one after the other, the second of which failed at once and was tried again."""
    out = case(where, 'sweep', [[(0, 10, 40)], [(0, 50, 51)], [(0, 52, 70)], [(0, 90, 95)]], {})
    s = report(out)
    gs.equal(seconds(s), ([10, 10 + 1 + 20, 5, 0, 0], 3, 20, 0), 'a sweep')
    gs.equal([s['ledger']['no_process'][f'{p}_usd'] for p in PARTS], [.01, .031, .005, 0, 0], 'and its dollars')
    text = told(out)
    want = ('the job had GPUs, and no process used them: 4.6 \u00a2, of it 1.0 \u00a2 before the first run, 3.1 \u00a2 between runs '
            '(3 gaps, the longest 20.0 s), 0.5 \u00a2 after the last run')
    gs.check(want in text, f'text: {text[:900]}')
    gs.check('give each run a job of its own' in [a for a in s['advice'] if a['id'] == 'no-process'][0]['action'], 'advice')
    page = told(out, '--format', 'html')
    plain = re.sub(r'<[^>]+>', '', page)
    gs.check('The job had GPUs, and no process used them: 1.0 \u00a2 before the first run, 3.1 \u00a2 between runs (3 gaps, the longest '
             '20.0 s), 0.5 \u00a2 after the last run.' in plain, 'page')
    for key, value in (('between_usd', '0.031'), ('gaps', '3'), ('longest_ns', str(20 * S))):
        gs.check(re.search(rf'<data value="{re.escape(value)}" data-key="/ledger/no_process/{key}"', page), f'page: {key}')
    check_page('a sweep', out, '--price', PRICE)
    line = gs.gpustarve('job', 'comment', '9', '--dir', out, '--price', '3600').stdout.decode()
    said = dict(w.split('=') for w in line.split()[1:])
    gs.equal((said['no_process_hours'], said['between_hours'], len(line) < 250), ('0.01', '0.01', True), line)
    return out


def check_advice(s, ns, *words):
    """On what nobody used: so much is saved by that, and not more."""
    a = next(a for a in s['advice'] if a['id'] == 'no-process')
    gs.equal((a['saving_upper_ns'], nano(a['saving_upper_usd'])), (ns, ns // S * 10**6), f'what is saved: {a}')
    for w in words:
        gs.check(w in a['action'], f'{w}: {a["action"]}')


def check_kinds(where):
    # a notebook's kernel that is started again within one run
    out = fresh(where, 'kernel')
    run(out, 'slurm-c1-9.0-0', process(0, 10 * S, 40 * S, 1))
    run(out, 'slurm-c1-9.1-0', process(0, 60 * S, 90 * S, 2))
    alloc(out, gpus=[gpu(0)])
    gs.equal(seconds(report(out)), ([10, 20, 10, 0, 0], 1, 20, 0), 'a kernel that is started again')
    # two runs at once on two GPUs, and a third GPU
    out = case(where, 'beside', [[(0, 10, 90)], [(1, 30, 60)]], {'gpus': [gpu(0), gpu(1), gpu(2)]})
    s = report(out)
    gs.equal([seconds(s, r) for r in range(3)],
             [([10, 0, 10, 0, 0], 0, 0, 0), ([30, 0, 40, 0, 0], 0, 0, 0), ([0, 0, 0, 100, 0], 0, 0, 0)], 'each GPU by itself')
    gs.check('10.0 \u00a2 on GPUs that no run used' in told(out), 'and never')
    # one GPU fewer spares what that one cost; the gaps of the others would be there all the same
    check_advice(s, 100 * S, 'ask for 2 GPUs instead of 3', 'nobody used the other GPUs for another 9.0 \u00a2 of it')
    gs.check('next: 1 GPU fewer; saves at most 10.0 \u00a2 of' in told(out), f'by how much: {told(out)[:1500]}')
    out = case(where, 'late', [[(0, 90, 95)], [(1, 90, 95)]], {'gpus': [gpu(0), gpu(1), gpu(2)]})
    check_advice(report(out), 180 * S, 'prepare before the allocation begins', 'ask for 2 GPUs instead of 3: another 10.0 \u00a2')
    gs.check('next: an allocation that begins when the work does; saves at most 18.0 \u00a2 of' in told(out), told(out)[:1500])
    # overlapping runs on one GPU; one of them within the other
    out = case(where, 'overlap', [[(0, 10, 60)], [(0, 20, 30)], [(0, 50, 80)]], {})
    gs.equal(seconds(report(out)), ([10, 0, 20, 0, 0], 0, 0, 0), 'at once')
    # a requeue
    out = case(where, 'requeue', [[(0, 10, 40)], [(0, 510, 600)]], {}, {'restart': 1, 'start': 500, 'end': 640})
    gs.equal(seconds(report(out)), ([20, 0, 100, 0, 0], 0, 0, 0), 'two lives of a job: each has a first and a last run')
    # only what is unused of all: another line tells it
    out = case(where, 'never', [], {'gpus': [gpu(0), gpu(1)]})
    gs.equal(seconds(report(out)), ([0, 0, 0, 100, 0], 0, 0, 0), 'never')
    gs.check('the job had GPUs, and no process' not in told(out), 'told once')
    # an allocation that is used all the time
    out = case(where, 'full', [[(0, 0, 100)]], {})
    gs.equal(seconds(report(out)), ([0, 0, 0, 0, 0], 0, 0, 0), 'all of it used')
    gs.check('no process used them' not in told(out), 'nothing to tell')


def check_unknown(where):
    out = case(where, 'open', [[(0, 10, 40)], [(1, 60, 90)]], {'end': None, 'gpus': [gpu(0), gpu(1), gpu(2)]})
    s = report(out)
    gs.equal([seconds(s, r)[0] for r in range(3)], [[10, 0, 0, 0, 50], [60, 0, 0, 0, 0], [0, 0, 0, 0, 90]], 'no end is known')
    gs.check('behind the last run so far: the end of the allocation is not known' in told(out), 'which is said')
    # a task that nobody recorded: nobody is accused
    out = case(where, 'unseen', [[(0, 10, 40)]], {}, unrecorded=['n1'])
    s = report(out)
    gs.equal(seconds(s), ([0] * 5, 0, 0, 70), 'some tasks were not recorded')
    gs.equal(s['gpus'][0]['classes']['excluded.unobserved'], 70 * S, 'and are of their class')
    for text in told(out), re.sub(r'<[^>]+>', '', told(out, '--format', 'html')):
        gs.check('or 70.0 s of GPU time it is not known whether anybody used the GPUs' in text, f'which is said: {text[:600]}')
    check_page('unseen', out, '--price', PRICE)
    # no price: time in the place of dollars
    out = case(where, 'unpriced', [[(0, 10, 40)], [(0, 50, 60)]], {'gpus': [gpu(0), {**gpu(1), 'name': 'Unheard 9000'}]})
    page, s = check_page('unpriced', out)
    s = json.loads(s)
    gs.equal([s['ledger']['no_process'][f'{p}_usd'] for p in PARTS], [None] * 5, 'no dollars')
    text = ' '.join(gs.gpustarve('report', '--job', '9', '--dir', out).stdout.decode().split())
    gs.check('no process used them: 2.67 GPU-minutes, of it 0.17 GPU-minutes before the first run, 0.17 GPU-minutes between runs (1 gap of '
             '10.0 s), 0.67 GPU-minutes after the last run, 1.66 GPU-minutes on GPUs that no run used' in text, f'in time: {text[:800]}')
    store = f'sqlite:{where}/unpriced.sqlite'
    gs.equal(gs.gpustarve('digest', os.path.join(out, 'c1-9.job'), '--store', store).returncode, 0, 'a digest')
    gs.check('1 job had GPUs that no process used for 2.67 GPU-minutes, 80.0 % of what it held; 1 gap' in ' '.join(asked(store).split()),
             'the fleet, too')
    # no hook wrote anything
    out = case(where, 'ungiven', [[(0, 10, 40)], [(0, 60, 90)]])
    s = report(out)
    gs.equal(('no_process' in s['ledger'], ['no_process' in g for g in s['gpus']]), (False, [False]), 'nothing is known')
    gs.check(any('which GPUs the job was given' in n for n in s['quality']['notes']), 'a note says so')
    digest = json.loads(gs.gpustarve('digest', os.path.join(out, 'slurm-c1-9.0-0.gst')).stdout)
    gs.check('no_process' not in digest, 'nor does the digest of a run')


def check_docs(where):
    """The example of LEDGER 12 and of gpustarve-fleet(1), as they stand there."""
    out, m = fresh(where, 'docs'), 60 * S
    runs(out, 9, [[(1, 10 * m, 50 * m, 'n1')], [(1, 60 * m, 90 * m, 'n1'), (2, 60 * m, 90 * m, 'n1')]])
    runs(out, 10, [[(3, 0, 120 * m, 'n1')]])
    for job, user, first in ((9, 'ann', 1), (10, 'ben', 3)):
        alloc(out, job=job, user=user, end=7200, gpus=[gpu(first), gpu(first + 1)])
        done = gs.gpustarve('digest', os.path.join(out, f'c1-{job}.job'), '--price', PRICE, '--store', f'sqlite:{where}/docs.sqlite')
        gs.equal(done.returncode, 0, done.stderr.decode())
    s = report(out)
    gs.equal([seconds(s, r)[0] for r in (1, 2)], [[600, 600, 1800, 0, 0], [3600, 0, 1800, 0, 0]], 'LEDGER 12')
    gs.equal([s['ledger']['no_process'][f'{p}_usd'] for p in PARTS], [4.2, .6, 3.6, 0, 0], 'its dollars')
    said = ' '.join(asked(f'sqlite:{where}/docs.sqlite').split())
    with open(os.path.join(gs.SOURCE, 'docs', 'gpustarve-fleet.md'), encoding='utf-8') as f:
        shown = f.read().split('## GPUs that jobs had and nobody used')[1].split('\n## ')[0]
    gs.check(all(w in ' '.join(shown.split()) for w in ('$4.20 $0.60 $3.60', '54.2 %')), 'the manual')
    blocks = [' '.join(b.split()) for b in re.findall(r'(?:^ {6}.+\n+)+', shown, re.M)]
    gs.equal(len(blocks), 1, 'blocks of the manual')
    for block in blocks:
        gs.check(block in said, f'the manual shows {block!r}, and fleet says {said[:900]!r}')


# ---- made up -------------------------------------------------------------------------------------------------------

def made_job(rng, first, nodes):
    """{node: {allocations: [(start, end or None)], unseen, gpus: {rank: [(run, start, end)]}}}, ns."""
    out, rank = {}, first
    for n in range(nodes):
        t, allocs = 0, []
        for _ in range(rng.choice((1, 1, 2, 3))):
            t += rng.randrange(10**10)
            end = t + rng.randrange(1, 10**11)
            allocs.append((t, end))
            t = end if rng.random() < .1 else end + rng.randrange(1, 10**10)
        if rng.random() < .2:
            allocs[-1] = (allocs[-1][0], None)
        gpus = {}
        for _ in range(rng.choice((1, 1, 2))):
            gpus[rank] = [(k, a, a + rng.randrange(10, 3 * 10**10)) for k in range(4) if rng.random() < .55
                          for a in [rng.randrange(0, t + 10**9)]]
            rank += 1
        out[f'n{first}x{n}'] = {'allocs': allocs, 'unseen': rng.random() < .1, 'gpus': gpus}
    return out, rank


def write_job(out, job, made):
    lives = [[] for _ in range(4)]
    for node, m in made.items():
        for rank, of in m['gpus'].items():
            for k, a, b in of:
                lives[k].append((rank, a, b, node))
    runs(out, job, [of for of in lives if of])
    for node, m in made.items():
        for i, (a, b) in enumerate(m['allocs']):
            alloc(out, job=job, node=node, restart=i, gpus=[gpu(r) for r in m['gpus']], user=f'user{job % 3}',
                  start_unix_ns=T0 + a, end_unix_ns=None if b is None else T0 + b)
        if m['unseen']:
            with open(os.path.join(out, f'c1-{job}.job', 'unrecorded-' + node), 'w', encoding='ascii'):
                pass


def ends(m):
    """An end that nobody told is the last sign of life on the node, at most the next allocation."""
    for i, (a, b) in enumerate(m['allocs']):
        if b is None:
            following = min([c for c, _ in m['allocs'] if c > a], default=1 << 62)
            seen = [e for of in m['gpus'].values() for _, s, e in of if s < following]
            yield a, max(a, min(max(seen, default=a), following)), True
        else:
            yield a, b, False


def painted(m, rank):
    """What is true of a GPU, piece by piece between all instants at which anything changes."""
    given = list(ends(m))
    used = [(a, b) for _, a, b in m['gpus'][rank]]
    cuts = sorted({t for a, b, _ in given for t in (a, b)} | {t for u in used for t in u})
    state = []  # of each piece: given, used, open where it ends
    for a, b in zip(cuts, cuts[1:]):
        over = [g for g in given if g[0] <= a and b <= g[1]]
        state.append((bool(over), any(u[0] <= a and b <= u[1] for u in used), any(g[2] for g in over)))
    v, spans = dict(NOTHING), []
    for i, (g, u, _) in enumerate(state):
        if not g or u:
            continue
        low = high = i
        while low > 0 and state[low - 1][0] and not state[low - 1][1]:
            low -= 1
        while high + 1 < len(state) and state[high + 1][0] and not state[high + 1][1]:
            high += 1
        came = low > 0 and state[low - 1][:2] == (True, True)
        comes = high + 1 < len(state) and state[high + 1][:2] == (True, True)
        ns = cuts[i + 1] - cuts[i]
        if spans and spans[-1][1] == T0 + cuts[i]:
            spans[-1][1] += ns
        else:
            spans.append([T0 + cuts[i], T0 + cuts[i + 1]])
        if m['unseen']:
            v['unseen_ns'] += ns
            continue
        part = ('between' if came else 'before') if comes else 'unknown' if state[high][2] else 'after' if came else 'never'
        v[part + '_ns'] += ns
        if part == 'between' and i == low:
            v['gaps'] += 1
            v['longest_ns'] = max(v['longest_ns'], cuts[high + 1] - cuts[low])
    return dict(v, spans=spans), any(b > a for a, b, _ in given)


def parts_usd(v, price):
    """One GPU's dollars of the class, in parts by largest remainder; nano-dollars."""
    all_ns = sum(v[p + '_ns'] for p in PARTS)
    whole = jobsmade_nano(all_ns, price)
    if not all_ns:
        return [0] * len(PARTS)
    exact = [fractions.Fraction(whole * v[p + '_ns'], all_ns) for p in PARTS]
    out = [int(x) for x in exact]
    rest = sorted(range(len(PARTS)), key=lambda i: (-(exact[i] - out[i]), i))
    for i in rest[:whole - sum(out)]:
        out[i] += 1
    return out


def jobsmade_nano(ns, price):
    return round(fractions.Fraction(ns) * fractions.Fraction(price) * 10**9 / (3600 * S))


def check_made(where):
    """Jobs of many nodes, an allocation and more on each; and the fleet of all of them."""
    rng, rank, count, all_jobs = random.Random(23), 1, 0, {}
    out = fresh(where, 'made')
    for job in range(100, 107):
        made, rank = made_job(rng, rank, 90)
        write_job(out, job, made)
        count += sum(len(m['allocs']) for m in made.values())
        s = report(out, job, ODD)
        want = {uuid(r): painted(m, r) for m in made.values() for r in m['gpus']}
        got = {g['uuid']: g['no_process'] for g in s['gpus'] if 'no_process' in g}
        gs.equal(got, {u: v for u, (v, given) in want.items() if given}, f'job {job}')
        usd = [sum(col) for col in zip(*[parts_usd(v, ODD) for v, given in want.values() if given])]
        gs.equal([nano(s['ledger']['no_process'][f'{p}_usd']) for p in PARTS], usd, f'job {job}: dollars')
        gs.check(all(s['ledger']['no_process'][f'{p}_ns'] for p in PARTS), f'job {job}: each part is there')
        all_jobs[job] = s['ledger']['no_process']
        if job == 100:
            check_files(out, job)
    gs.check(count >= 1000, f'{count} made-up allocations')
    return out, all_jobs


def small_job(rng, first, many):
    """A node of a few GPUs and the lives of a few runs on them, in turn on each GPU, or now and then two at once; or of @many."""
    gpus = range(first, first + rng.choice((1, 1, 2, 3)))
    lives = [[] for _ in range(40 if many else rng.randrange(1, 6))]
    for rank in gpus:
        t = rng.randrange(10**10)
        for of in lives if many else rng.sample(lives, rng.randrange(len(lives) + 1)):
            end = t + rng.randrange(10, 3 * 10**10)
            of.append((rank, t, end, f'n{first}'))
            t = end + rng.randrange(1, 10**10) if many else max(0, end + rng.choice((0, 1, rng.randrange(10**10), rng.randrange(10**10),
                                                                                     rng.choice((1, -1)) * rng.randrange(10**4))))
    start = rng.choice((0, rng.randrange(10**10)))
    return {'gpus': gpus, 'lives': [of for of in lives if of], 'start': start, 'unseen': rng.random() < .1,
            'end': start + rng.randrange(1, 10**12 if many else 2 * 10**11)}


def rest_of(j, rank):
    """(whether two of its runs had it at once, when it was given and none did)."""
    each = [sorted((a, b) for r, a, b, _ in of if r == rank) for of in j['lives']]
    cuts = sorted({t for of in each for u in of for t in u} | {j['start'], j['end']})
    at_once, unused = False, []
    for a, b in zip(cuts, cuts[1:]):
        users = sum(any(u[0] <= a and b <= u[1] for u in of) for of in each)
        at_once |= users > 1
        if not users and j['start'] <= a and b <= j['end']:
            unused.append((a, b))
    return at_once, unused


def spans_of(j):
    """[from, wall, GPUs, held] of all GPUs, as many as there are."""
    unused = [u for r in j['gpus'] for u in rest_of(j, r)[1]]
    out = []
    for a, b in itertools.pairwise(sorted({t for u in unused for t in u})):
        n = sum(u[0] <= a and b <= u[1] for u in unused)
        if out and n == out[-1][2] and out[-1][0] + out[-1][1] == a:
            out[-1][1] += b - a
        elif n:
            out.append([a, b - a, n])
    return [[*s, s[1] * s[2]] for s in out]


def digest_of(path, *options):
    done = gs.gpustarve('digest', path, '--price', ODD, *options)
    gs.equal((done.returncode, schema.errors(digests, json.loads(done.stdout))[:3]), (0, []), f'digest of {path}: {done.stderr.decode()}')
    return json.loads(done.stdout)


def check_rest(where):
    """Where no two runs of a job had a GPU at once its digest is of what none of them held, and says when that was: with its
    runs' it comes to what the job held. Else it is of all of it."""
    rng, rank, kinds = random.Random(61), 4000, collections.Counter()
    out, total = fresh(where, 'rest'), 0
    for job in range(200, 280):
        j = small_job(rng, rank, job % 16 == 0)
        rank += len(j['gpus'])
        runs(out, job, j['lives'])
        alloc(out, job=job, node=f'n{j["gpus"][0]}', gpus=[gpu(r) for r in j['gpus']], user='ann', start_unix_ns=T0 + j['start'], end_unix_ns=T0 + j['end'])
        if j['unseen']:
            with open(os.path.join(out, f'c1-{job}.job', f'unrecorded-n{j["gpus"][0]}'), 'w', encoding='ascii'):
                pass
        s, d = report(out, job, ODD), digest_of(os.path.join(out, f'c1-{job}.job'))
        at_once = any(rest_of(j, r)[0] for r in j['gpus'])
        whole = at_once or not j['lives']
        gs.equal((d.get('whole_job', False), d.get('runs_overlap', False), d.get('rest_of_job_ns')),
                 (whole, at_once, None if whole else s['ledger']['gpu_ns']), f'job {job}: which of both')
        early = digest_of(os.path.join(out, f'c1-{job}.job'), '--provisional')
        for member in 'whole_job', 'runs_overlap', 'rest_of_job_ns', 'rest_spans', 'start_unix_ns', 'wall_ns':
            gs.equal(early.get(member), d.get(member), f'job {job}: {member} before it is analysed')
        gs.check(early['revision'] < 2**40, f'job {job}: {early["revision"]} gives way to any other')
        gs.equal(early['verdict'], 'provisional' if whole else 'no_process', f'job {job}: before it is analysed')
        kinds['whole' if whole else 'rest'] += 1
        total += s['ledger']['gpu_ns']
        if whole:
            continue
        each = [digest_of(os.path.join(out, f'slurm-c1-{job}.{i}-0.gst')) for i in range(len(j['lives']))]
        held, usd = (sum(g[k] for e in [d, *each] for g in e['gpus']) for k in ('held_ns', 'usd'))
        gs.equal(held, s['ledger']['gpu_ns'], f'job {job}: what all of them held')
        gs.check(abs(usd - sum(nano(g['usd']) for g in s['gpus'])) <= len(j['gpus']) + sum(len(of) for of in j['lives']), f'job {job}: its dollars')
        c = 'excluded.unobserved' if j['unseen'] else 'excluded.no_process'
        want = spans_of(j)
        gs.equal(d['classes'], {c: [sum(x[3] for x in want), sum(g['usd'] for g in d['gpus'])]} if want else {}, f'job {job}: its class')
        for x in d, early:
            gs.equal({k: v[0] for k, v in x['classes'].items()}, {c: sum(x[3] for x in want)} if want else {}, f'job {job}: its class')
        gs.equal([{k: g[k] for k in ('gpu', 'gpus', 'held_ns', 'wasted_ns')} for g in early['gpus']],
                 [{k: g[k] for k in ('gpu', 'gpus', 'held_ns', 'wasted_ns')} for g in d['gpus']], f'job {job}: its GPUs, before')
        gs.check(all(abs(a['usd'] - b['usd']) <= b['gpus'] for a, b in zip(early['gpus'], d['gpus'])), f'job {job}: its dollars, before')
        gs.equal(sum(x[4] for x in d['rest_spans']), sum(x[3] for x in want), f'job {job}: in spans')
        if len(want) <= 24:
            gs.equal([[x[1] + d['start_unix_ns'] - T0, *x[2:]] for x in d['rest_spans']], want, f'job {job}: when')
            kinds['told'] += 1
        else:
            gs.equal([x[1] for x in d['rest_spans']], sorted(x[1] for x in d['rest_spans']), f'job {job}: in order')
            kinds['many'] += len(d['rest_spans']) <= 24
    gs.check(min(kinds[k] for k in ('whole', 'told', 'many')) >= 3, f'of each kind some: {kinds}')
    for what in 'a folder', 'of what is kept':
        done = gs.gpustarve('fleet', out, '--format', 'json')
        gs.equal(json.loads(done.stdout)['total']['held_ns'], total, f'{what}: once')


def check_files(out, job):
    """`verify` recomputes it, a stored summary comes out as it was, and one nanosecond elsewhere is seen."""
    folder = os.path.join(out, f'c1-{job}.job')
    for name, how in (('summary.json', 'json'), ('report.html', 'html')):
        done = gs.gpustarve('report', folder, '--format', how, '--price', ODD, '-o', os.path.join(folder, name))
        gs.equal(done.returncode, 0, done.stderr.decode())
    gs.equal(gs.gpustarve('verify', folder).returncode, 0, 'verify')
    path = os.path.join(folder, 'summary.json')
    with open(path, encoding='utf-8') as f:
        text = f.read()
    again = gs.gpustarve('report', path, '--format', 'json').stdout.decode()
    gs.equal(again, text, 'a stored summary comes out as it was')
    s = json.loads(text)
    stored = json.loads(gs.gpustarve('digest', path).stdout)
    gs.equal(stored['no_process'], as_digest(s['ledger']['no_process']), 'the digest of a stored summary')
    ns = s['ledger']['no_process']['between_ns']
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text.replace(f'"between_ns": {ns}', f'"between_ns": {ns + 1}', 1))
    done = gs.gpustarve('verify', folder)
    gs.equal((done.returncode, b'between_ns' in done.stdout), (2, True), 'a nanosecond more is seen')
    for name in 'summary.json', 'report.html':
        os.unlink(os.path.join(folder, name))


def as_digest(v):
    out = {p: [v[f'{p}_ns'], nano(v[f'{p}_usd'])] for p in PARTS if v[f'{p}_ns']}
    return dict(out, **{k: v[k] for k in ('gaps', 'longest_ns', 'unseen_ns') if v[k]})


# ---- the fleet -----------------------------------------------------------------------------------------------------

def asked(store, *more, status=0):
    done = gs.gpustarve('fleet', '--store', store, '--by', 'unused', *more, '-o', '-')
    gs.equal(done.returncode, status, f'{more}: {done.stderr.decode()[-300:]}')
    return done.stdout.decode()


def sums(found, key):
    out = {}
    for d in found:
        v = d.get('no_process')
        if v is None:
            continue
        s = out.setdefault(key(d), collections.Counter(longest_ns=0))
        s['runs'] += 1
        s['held_ns'] += d.get('rest_of_job_ns') or sum(g['held_ns'] for g in d['gpus'])
        s['unpriced_ns'] += sum(g['held_ns'] for g in d['gpus'] if 'price' not in g)
        s['gaps'] += v.get('gaps', 0)
        s['unseen_ns'] += v.get('unseen_ns', 0)
        s['longest_ns'] = max(s['longest_ns'], v.get('longest_ns', 0))
        for p in PARTS:
            s[p + '_ns'] += v.get(p, (0, 0))[0]
            s[p + '_usd'] += v.get(p, (0, 0))[1]
    return {k: {n: c for n, c in s.items() if c} for k, s in out.items()}


def got(row, names=()):
    return tuple(row[n] or '' for n in names), {k: nano(v) if k.endswith('_usd') else v for k, v in row.items()
                                                if k not in names and k not in ('user', 'job') and v}


def compare(found, said):
    unused = said['unused']
    gs.equal(got(unused)[1], sums(found, lambda d: 0).get(0, {}), 'all of it')
    gs.equal(dict(got(r, ['name']) for r in unused['user']), sums(found, lambda d: (d['user'],)), 'by user')
    some = [d for d in found if any(d.get('no_process', {}).get(k) for k in PARTS + ('unseen_ns',))]
    jobs = sums(some, lambda d: (d['job'] or d['run'], d['user'], d.get('team', ''), d.get('cluster', '')))
    gs.equal({k: {n: c for n, c in s.items() if n not in ('user', 'job')} for k, s in
              (named(r) for r in unused['job'])}, jobs, 'by job')
    order = [-sum(nano(r[f'{p}_usd']) for p in PARTS) for r in unused['job']]
    gs.equal(order, sorted(order), 'most first')
    return jobs


def named(r):
    names = ['name', 'user', 'team', 'cluster']
    return tuple(r[n] or '' for n in names), {k: nano(v) if k.endswith('_usd') else v for k, v in r.items()
                                              if k not in names and v}


def check_jobs(where, out, jobs):
    """Digests of the made-up jobs, and what the fleet of the folder says."""
    store = f'sqlite:{where}/made.sqlite'
    found = []
    for job, v in jobs.items():
        done = gs.gpustarve('digest', os.path.join(out, f'c1-{job}.job'), '--price', ODD, '--store', store)
        gs.equal(done.returncode, 0, done.stderr.decode())
        done = gs.gpustarve('digest', os.path.join(out, f'c1-{job}.job'), '--price', ODD)
        gs.check(len(done.stdout) <= 4096, 'within 4 KB')
        found.append(json.loads(done.stdout))
        gs.equal(found[-1]['no_process'], as_digest(v), f'digest of {job}')
        gs.equal(schema.errors(digests, found[-1])[:3], [], 'its schema')
        gs.equal(sum(v.get(p, (0, 0))[1] for v in [found[-1]['no_process']] for p in PARTS),
                 found[-1]['classes']['excluded.no_process'][1], 'billed once')
    compare(found, json.loads(asked(store, '--format', 'json')))


def made_digests(count):
    rng, out = random.Random(5), fleets.digests(count, seed=7)
    for i, d in enumerate(out):
        d['job'], d['run'] = str(i // 2), f'r{i}'
        d.pop('no_process', None)
        if i % 3 == 0:
            continue
        dollars = 10**11 if all('price' in g for g in d['gpus']) else 1
        d['no_process'] = {p: [rng.randrange(1, 10**14), rng.randrange(dollars)] for p in PARTS if rng.random() < .6}
        d['no_process'].update({k: rng.randrange(1, 10**9) for k in ('gaps', 'longest_ns', 'unseen_ns') if rng.random() < .5})
    return out


def check_forms(where):
    """Of many digests, those of before among them: JSON by its schema, CSV, text and page."""
    found, store = made_digests(300), f'sqlite:{where}/forms.sqlite'
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    said = json.loads(asked(store, '--format', 'json'))
    gs.equal(schema.errors(schema.load(os.path.join(gs.SOURCE, 'docs', 'fleet.schema.json')), said)[:3], [], 'schema')
    jobs = compare(found, said)
    rows = list(csv.DictReader(io.StringIO(asked(store, '--format', 'csv'))))
    gs.equal({(r['job'], r['user'], r['team'], r['cluster']): (int(r['between_ns']), nano(r['between_usd'])) for r in rows},
             {tuple(n or 'untagged' for n in k): (s.get('between_ns', 0), s.get('between_usd', 0)) for k, s in jobs.items()}, 'CSV')
    total = sums(found, lambda d: 0)[0]
    for form in ('text', 'html'):
        text = ' '.join(asked(store, '--format', form).split())
        for part in (f'{total["runs"]} jobs had GPUs that no process used for', 'for another .* nothing tells what their jobs were given',
                     'for .* more it is not known whether anybody did: tasks were not recorded'):
            gs.check(re.search(part if '.*' in part else re.escape(part), text), f'{form}: {part}: {text[:1500]}')
    check_closed(asked(store, '--top', '1000'))
    check_prices(where, found, store)
    check_bounds(found, store)


def check_closed(text):
    """The cents of a row sum to its first, and those of a column to the whole, as they are shown."""
    whole = re.search(r'\(\$([\d,.]+)\), [\d.]+ % of what they held', ' '.join(text.split())).group(1)
    tables = text.split('\n\n')[-3:]
    checked = 0
    for table in tables:
        rows = [re.findall(r'<?\$[\d,]+\.\d\d', l) for l in table.splitlines()[1:]]
        cents = [[0 if c[0] == '<' else int(re.sub(r'\D', '', c)) for c in r] for r in rows if len(r) == 6]
        if not cents:
            continue
        checked += 1
        gs.equal([r[0] for r in cents], [sum(r[1:]) for r in cents], 'cents of a row')
        gs.equal(sum(r[0] for r in cents), int(re.sub(r'\D', '', whole)), 'cents of a column')
    gs.equal(checked, 2, 'two tables')


def check_prices(where, found, store):
    """At other prices the parts are split anew, and sum to what the class costs then."""
    prices = os.path.join(where, 'prices.csv')
    with open(prices, 'w', encoding='utf-8') as f:
        f.write('gpu,usd_per_gpu_hour,price_model,source,date\n')
        for name, _ in fleets.GPUS:
            for model in ('on-demand', 'spot', 'reserved'):
                f.write(f'{name},3.60,{model},made up,2026-01-01\n')
    said = json.loads(asked(store, '--prices', prices, '--format', 'json'))['unused']
    want = 0
    for d in found:
        if 'no_process' not in d:
            continue
        held = sum(g['held_ns'] for g in d['gpus'])
        usd = sum(fleets.even(g['held_ns'], 1000) for g in d['gpus'])
        ns = sum(d['no_process'].get(p, (0, 0))[0] for p in PARTS)
        want += fleets.even(ns, 1000) if len(d['gpus']) == 1 else fleets.even(usd * ns, held)
    gs.equal(sum(nano(said[f'{p}_usd']) for p in PARTS), want, 'the parts at other prices')


def check_bounds(found, store):
    """--since and --until take a job where it began, whole; months sum to it."""
    starts = sorted(d['start_unix_ns'] for d in found)
    cut = starts[len(starts) // 2] // S
    both = [json.loads(asked(store, '--format', 'json', how, iso(cut)))['unused'] for how in ('--since', '--until')]
    compare([d for d in found if d['start_unix_ns'] >= cut * S], {'unused': both[0]})
    compare([d for d in found if d['start_unix_ns'] < cut * S], {'unused': both[1]})


def iso(t):
    import time
    return time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(t))


def check_broken(where):
    good = made_digests(3)[1]
    for i, (v, fine) in enumerate([
            ({'gaps': -1}, False), ({'before': [-1, 0]}, False), ({'before': [1]}, False), ({'never': [1, 2, 3]}, False),
            ({'after': 7}, False), ({'unknown': [1 << 64, 0]}, False), ([], False), (None, False), ('no', False),
            ({'unseen_ns': 1.5}, False), ({'gaps': 2}, True), ({'later': 7, 'between': [9223372036854775807, 1]}, True),
            ({}, True)]):
        d = dict(good, run=f'b{i}', no_process=v)
        done = gs.gpustarve('digest', '--from', '-', '--store', f'sqlite:{where}/broken.sqlite',
                            input=json.dumps(d).encode() + b'\n')
        gs.equal(done.returncode, 0 if fine else 1, f'{v}: {done.stderr.decode()[-200:]}')
    old = [dict(d) for d in made_digests(9) if 'no_process' not in d]
    gs.gpustarve('digest', '--from', '-', '--store', f'sqlite:{where}/old.sqlite', input=fleets.text(old))
    text = ' '.join(asked(f'sqlite:{where}/old.sqlite').split())
    gs.check('no job tells when its GPUs were unused' in text, f'digests of before: {text[:600]}')


closed = schema.close(schema.ours())
digests = schema.load(os.path.join(gs.SOURCE, 'docs', 'digest.schema.json'))
with gs.scratch() as scratch:
    check_sweep(scratch)
    check_kinds(scratch)
    check_unknown(scratch)
    check_docs(scratch)
    check_rest(scratch)
    check_jobs(scratch, *check_made(scratch))
    check_forms(scratch)
    check_broken(scratch)
gs.finish()
