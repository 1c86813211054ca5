#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,fault waits timeout=3600
"""Random sequences of clients of both of CUPTI's interfaces in one process, each sequence a process of its
own, under random rules of who counts. The program never dies, each client that was let in has its records
as it asked for them, and each operation is in the trace or inside a stated loss span.

usage: test_prof_second_campaign.py [SEED [ROUNDS]]    a round depends on its seed alone; GS_BIG=1: 500"""
import collections
import concurrent.futures
import os
import random
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof
import test_prof_second

ROUNDS = 500 if gs.BIG else 6
WIDTH = 24 if gs.BIG else ROUNDS  # they sleep for most of the time


def session(r, begin, rules):
    """One client's script, and its end in seconds. Where CUPTI forgets a client of the second interface, one
    that comes and goes between two flushes is not noticed: then each stays longer."""
    kind = r.choice(['xla', 'xla', 'cuspy', 'cuspy', 'solo', 'keep', 'cache', 'subscribe'])
    length = round(r.uniform(0.05, 1.2) + ('sticky=0' in rules), 2)
    text = f'foreign:from={begin},for={length},kind={kind}'
    if r.random() < 0.15:
        text += ',finalize=1'
    return text + f',ms={r.choice([1, 300])}', begin + length


def script(seed):
    """(GPUSIM_FAULT, GPUSIM_V2, driver, seconds, how)."""
    r = random.Random(seed)
    faults, last, begin = ['early'] if r.random() < 0.3 else [], 0, round(r.uniform(0.2, 1.2), 2)
    rules = ','.join(filter(None, [r.choice(['', 'sticky=0']), r.choice(['', 'counts=no', 'counts=no', 'counts=enabled']),
                                   r.choice(['', 'low=27', 'low=999'])]))
    for _ in range(r.choice([1, 2, 2, 3, 4])):
        text, end = session(r, begin, rules)
        faults.append(text)
        last = max(last, end)
        begin = round(r.choice([begin + 0.1, end + 0.01, end + r.uniform(0.1, 1)]), 2)
    return (';'.join(faults), rules, r.choice([13040, 13040, 13040, 13020]), round(last + r.uniform(0.5, 5), 1),
            'first' if r.random() < 0.1 else '-')


def play(seed):
    """One round: what is wrong with it, and its figures."""
    fault, rules, driver, seconds, how = script(seed)
    if how == 'first' and driver < 13030:
        how = '-'
    sums = collections.Counter(rounds=1)
    with gs.scratch() as where:
        with open(os.path.join(where, 'job.py'), 'w') as f:
            f.write(test_prof_second.JOB)
        done = prof.run([gs.PYTHON, 'job.py', str(seconds), how], where, WORKLOADS=gs.WORKLOADS, GPUSIM_FAULT=fault,
                        GPUSIM_V2=rules, GPUSIM_CUPTI='13.4', GPUSIM_DRIVER_VERSION=driver, GPUSTARVE_REARM_SECONDS=1)
        if (done.returncode, done.stdout) != (0, b'well\n'):
            return seed, sums, f'died: {done.returncode}, {done.stderr.decode()[-300:]}'
        t = prof.trace(where)
        lack, extra = prof.missing(where, t)
        bare = [k for k in lack.elements() if gs.subtract([[k[3], k[4]]], t.lost())]
        clients = [r for r in gs.truth_lines(where + '/truth') if r.get('fault') == 'foreign']
    second = [c for c in clients if c['kind'] in ('xla', 'cuspy', 'solo')]
    sums.update(sessions=len(clients), second=len(second), let_in=sum(not c['refused'] for c in second),
                theirs=sum(c['records'] for c in second), recorded=len(t.ops), missing=sum(lack.values()),
                aside=any('second interface' in n for n in t.bye['notes']), lost_ms=gs.measure(t.lost()) // 1_000_000)
    notes = f'; notes {t.bye["notes"]}; spans {t.lost()[:1]} to {t.lost()[-1:]}'
    if extra:
        return seed, sums, f'{sum(extra.values())} operations that never were{notes}'
    if bare:
        return seed, sums, f'{len(bare)} of {sums["missing"]} missing outside all spans, such as {min(bare, key=lambda k: k[3])}{notes}'
    if any(c['wrong'] for c in second):
        return seed, sums, f'records not as they were asked for: {second}'
    return seed, sums, ''


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1 if len(sys.argv) > 1 else ROUNDS
    total = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(gs.at_once(WIDTH)) as pool:
        for seed, sums, wrong in pool.map(play, range(first, first + rounds)):
            total.update(sums)
            gs.check(not wrong, f'seed {seed} ({script(seed)}): {wrong}')
            if not total['rounds'] % 50:
                print(', '.join(f'{k} {n}' for k, n in total.items()), flush=True)
    print(', '.join(f'{k} {n}' for k, n in total.items()))
    gs.finish()


main()
