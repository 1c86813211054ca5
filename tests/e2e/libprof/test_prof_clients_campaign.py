#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=3600
"""Rounds of scripted clients of CUPTI in random order, each round a process of its own: those that free
what they are handed, recycle it at their own size, keep it, free or reuse empty ones, subscribe, finalize,
and that begin before the last one's buffers came back. The program never dies; each operation is either in
the trace or inside a stated loss span; and after the last session recording goes on.

usage: test_prof_clients_campaign.py [SEED [ROUNDS]]    a round depends on its seed alone"""
import collections
import concurrent.futures
import os
import random
import sys
import textwrap

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
from prof import FOREIGN, SECOND

ROUNDS = 1000 if gs.BIG else 12
WIDTH = 64 if gs.BIG else ROUNDS  # they sleep for most of the time
AFTER = SECOND  # so long before its end the job is traced again
JOB = textwrap.dedent('''
    import os, sys, threading, time
    sys.path.insert(0, os.environ['WORKLOADS'])
    import gpudev
    dev = gpudev.Device(0)
    end = time.time() + float(sys.argv[1])
    def loop(i):
        dev.use()
        s = gpudev.Stream(dev)
        while time.time() < end:
            for k in range(3):
                s.kernel(400_000 + 100_000 * i, name=f'layer{i}')
            s.synchronize()
            time.sleep(0.01)
    threads = [threading.Thread(target=loop, args=(i,)) for i in range(int(sys.argv[2]))]
    for t in threads: t.start()
    for t in threads: t.join()
    print('well')
    ''')


def session(r, begin):
    """One client's script, and its end in seconds."""
    kind = r.choice(['free', 'free', 'recycle', 'recycle', 'cache', 'empty', 'keep', 'keep', 'subscribe'])
    length = round(r.uniform(0.05, 1.5), 2)
    text = f'foreign:from={begin},for={length},kind={kind}'
    if r.random() < 0.4:
        text += f',kb={r.choice([16, 64, 1024, 65536])}'
    if r.random() < 0.3:
        text += ',flush=0'
    if r.random() < 0.25:
        text += ',finalize=1'
    return text + f',ms={r.choice([1, 300, 2000])}', begin + length


def script(seed):
    """What is scripted for this round: (GPUSIM_FAULT, seconds, threads, version)."""
    r = random.Random(seed)
    faults, last, begin = ['early'] if r.random() < 0.5 else [], 0, round(r.uniform(0.3, 1.2), 2)
    count = r.choice([1, 1, 2, 3]) if gs.BIG else 1
    for _ in range(count):
        text, end = session(r, begin)
        faults.append(text)
        last = max(last, end)
        # The next one begins meanwhile, at once, or later.
        begin = round(r.choice([begin + 0.1, end + 0.01, end + r.uniform(0.2, 2)]), 2)
    # libprof yields for 1, 2, 4, ... s, each time that it is taken from, and may be twice by each.
    seconds = last + {1: 16, 2: 32, 3: 56}[count]
    return ';'.join(faults), seconds, r.choice([1, 1, 3]), r.choice(['13', '13', '12.6', '12.4', '11.8'])


def play(seed):
    """One round: what is wrong with it, and its figures."""
    fault, seconds, threads, version = script(seed)
    sums = collections.Counter(rounds=1)
    with gs.scratch() as where:
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(JOB)
        done = prof.run([gs.PYTHON, 'job.py', str(seconds), str(threads)], where, WORKLOADS=gs.WORKLOADS,
                        GPUSIM_FAULT=fault, GPUSIM_CUPTI=version, GPUSTARVE_REARM_SECONDS=1)
        if (done.returncode, done.stdout) != (0, b'well\n'):
            return seed, sums, f'died: {done.returncode}, {done.stderr.decode()[-200:]}'
        t = prof.trace(where)
        lack, extra = prof.missing(where, t)
        spans = t.lost()
        bare = [k for k in lack.elements() if gs.subtract([[k[3], k[4]]], spans)]
        last = max([o['end'] for o in t.ops] + [0])
        clients = [r for r in gs.truth_lines(where + '/truth') if r.get('fault') == 'foreign']
    sums.update(sessions=len(clients), recorded=len(t.ops), missing=sum(lack.values()),
                strangers=sum(c['strangers'] for c in clients), freed=sum(c['freed'] for c in clients),
                reused=sum(c['reused'] for c in clients), lost_ms=gs.measure(spans) // 1_000_000)
    notes = f'; notes {t.bye["notes"]}; spans from {spans[:1]} to {spans[-1:]}'
    wrong = ''
    if extra:
        wrong = f'{sum(extra.values())} operations that never were{notes}'
    elif bare:
        wrong = f'{len(bare)} of {sums["missing"]} missing outside all spans, such as {min(bare, key=lambda k: k[3])}{notes}'
    elif gs.subtract([[last - AFTER, last]], t.lost(FOREIGN)) != [[last - AFTER, last]]:
        wrong = f'recording did not go on: {t.lost(FOREIGN)[-1:]}, last operation {last}{notes}'
    return seed, sums, wrong


def figures(total):
    return ', '.join(f'{k} {v}' for k, v in total.items())


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1 if len(sys.argv) > 1 else ROUNDS
    total = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(gs.at_once(WIDTH)) as pool:
        for seed, sums, wrong in pool.map(play, range(first, first + rounds)):
            total.update(sums)
            gs.check(not wrong, f'seed {seed} ({script(seed)}): {wrong}')
            if not total['rounds'] % 50:
                print(figures(total), flush=True)
    print(figures(total))
    gs.check(rounds < 5 or total['strangers'], 'no other client ever had a buffer of ours')
    gs.finish()


main()
