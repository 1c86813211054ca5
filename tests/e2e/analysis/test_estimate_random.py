#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=600
"""ledger.estimated against the independent reference, number by number, on made-up runs with all
that may befall one: losses of several kinds and at any place, meters that overlap, are missing, or
are the driver's, several threads, ranges that nest, looks without a line.

    test_estimate_random.py [FIRST_SEED [COUNT]]      keeps the lines of a seed that differs"""
import csv
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ref_estimate as ref

MS, S, US = 1_000_000, 1_000_000_000, 1_000
BIN = os.path.join(gs.BUILD, 'tests')
PID = 4000
GOVERNOR, FOREIGN, DROPPED, DETACHED = 6, 3, 1, 7
NAMES = {1: ['loader'], 2: ['eval 3', 'forward', 'save_ckpt'], 5: ['optimizer'], 6: [''], 7: ['model.pt'], 8: ['loader']}
STACKS = ['', 'step|/srv/train.py|10~main|/srv/train.py|90', 'step|/srv/train.py|12~main|/srv/train.py|90',
          'get|/usr/lib/python3.10/queue.py|171~main|/srv/train.py|40', 'f|/srv/other.py|1~main|/srv/train.py|90']


def user_line(stack):
    """The line of the program's own that a stack shows."""
    for row in stack.split('~'):
        if row and '/python3' not in row:
            return row
    return ''


class Case:
    def __init__(self, seed):
        r = self.r = random.Random(seed)
        self.length = r.choice([3, 8, 20, 40]) * S
        self.start = r.choice([7, 1_700_000_000_000_000_000])
        self.end = self.start + self.length
        self.governed = False
        self.lines, self.rows, self.looks, self.given_up, self.meters = [], [], [], [], []
        self.lines += [f'process {PID} {self.start} {self.end}']
        self.losses()
        self.operations()
        self.ranges()
        self.samples()
        self.readings()

    def time(self):
        return self.start + self.r.randrange(self.length)

    def losses(self):
        r = self.r
        for _ in range(r.choice([1, 1, 2, 4])):
            a = self.time()
            b = r.choice([self.end, a + r.randrange(self.length), a + r.randrange(2 * S)])
            why = r.choice([GOVERNOR] * 5 + [FOREIGN, FOREIGN, DROPPED, DETACHED])
            self.lines.append(f'loss {why} {a} {b}')
            if why in (GOVERNOR, FOREIGN):
                self.given_up.append((a, b))
                self.governed |= why == GOVERNOR

    def operations(self):
        """Launched 5 us before they run; within what is given up mostly not recorded, but copies."""
        r = self.r
        t, corr = self.start + r.randrange(S), 0
        most = r.choice([2, 20, 60]) * MS
        while t < self.end - S // 2:
            ns, corr = r.randrange(1, most), corr + 1
            copy = r.random() < .2 or corr == 1
            if copy or r.random() < .05 or all(t + ns <= a or t >= b for a, b in self.given_up):
                self.lines.append(f'copy {t} {t + ns} {corr} 7 1 4096' if copy else f'op {t} {t + ns} {corr} 7')
                if r.random() < .9:
                    self.lines.append(f'api {t - 5 * US} {t - 3 * US} {corr} {PID} cudaLaunchKernel')
            t += ns + r.choice([0, 1, 2, 5, 50, 2000]) * r.randrange(MS)

    def ranges(self):
        r, rows = self.r, []
        for _ in range(r.choice([0, 5, 60])):
            a, op = self.time(), r.choice(list(NAMES))
            b = min(self.end, a + r.choice([1, 10, 400]) * r.randrange(5 * MS))
            name = r.choice(NAMES[op])
            flags = r.choice([0, 0, 1]) if op == 1 else 0
            rows.append((a, f'range {op} {a} {b} {r.choice([PID, PID, 7])} {flags} {name}'))
            state = {1: ref.EPOCH if flags else ref.WAIT, 6: ref.GC, 7: ref.CHECKPOINT, 8: ref.EPOCH}.get(op)
            state = {'eval 3': ref.PHASE, 'save_ckpt': ref.CHECKPOINT}.get(name, state)
            if state is not None:
                self.rows.append((a, b, state))
        for _ in range(r.choice([0, 5, 60])):
            a, op = self.time(), r.choice([1, 2, 3, 4])
            b = min(self.end, a + r.choice([1, 30]) * r.randrange(5 * MS))
            rows.append((a, f'sync {op} {a} {b}'))
            if op != 2:
                self.rows.append((a, b, ref.SYNC))
        self.lines += [line for _, line in sorted(rows)]

    def samples(self):
        r, rows = self.r, []
        for tid in r.sample([PID, 7, 9], r.choice([0, 1, 2])):
            period, t = r.choice([0, 5, 10, 40]) * MS, self.time()
            until = min(self.end, r.choice([self.end, t + S]))
            while t < until and len(rows) < 4000:
                wait, role = r.choice([0, 0, 0, *range(16)]), r.choice([1, 1, 1, 0])
                stack = r.choice(STACKS)
                rows.append((t, tid, role, wait, stack, period))
                t += r.choice([period or 10 * MS, r.randrange(1, 30 * MS)])
        rows.sort(key=lambda x: x[0])
        for t, tid, role, wait, stack, period in rows:
            self.lines += [f'period {period}', f'sample {t} {PID} {tid} {role} {2 if wait else 1} {wait} 0 0 0 0 {stack}']
            if role == 1:
                self.looks.append((t, tid, wait, period, user_line(stack)))

    def readings(self):
        r = self.r
        t = self.start + r.randrange(3 * S)
        source = r.choice([1, 1, 1, 2])
        told, usual, fill = r.choice([0, 1, 1, .99]), r.choice([3000, 9900]), r.choice([.2, 1, 30, 100])
        for _ in range(r.choice([0, 100, 100])):
            t, span = t // US * US, r.choice([1000, 1000, 300, 1500]) * MS
            if t + span > self.end:
                break
            busy = r.choice([0, 10000, r.randrange(10001), 12000, usual])
            sm = int(busy * r.randrange(90, 101) // 100 * fill / 100) if r.random() < told else None
            self.lines.append(f'meter {t} {t + span} {busy} {source}' + ('' if sm is None else f' {sm}'))
            self.meters.append((t, t + span, min(busy, 10000), source == 1, None if sm is None else min(sm, 10000)))
            t += r.choice([span, span, span, span + 200 * MS, span // 20 * 19, span // 2])


def engine(folder, case, classes):
    """(the summary's ledger, the reference's estimate or None, which rule had its busy time)."""
    os.makedirs(folder)
    subprocess.run([os.path.join(BIN, 'evidence_make'), folder], input='\n'.join(case.lines) + '\n', text=True, check=True)
    done = gs.gpustarve('report', folder, '--format', 'json')
    if done.returncode:
        raise SystemExit(f'report: {done.stderr.decode()}')
    summary = json.loads(done.stdout)
    table = gs.gpustarve('export', folder, '--format', 'csv', '-o', '-')
    pieces = [(int(x['start_ns']), int(x['end_ns']), x['class'], x['state'] != 'outside',
               x['confidence'] == 'high')
              for x in csv.DictReader(table.stdout.decode().splitlines())]
    rows, kinds = ref.looks(case.looks)
    e = ref.Estimate(pieces, case.given_up, [(case.start, case.end)], ref.states(case.rows + rows), kinds, case.meters,
                     classes, case.governed)
    return summary['ledger'], e.result(), 'sm' if e.by_units else 'unchecked' if e.unchecked else 'busy'


def check_sums(seed, ledger):
    e = ledger.get('estimated')
    if not e:
        return 0
    told = e['busy']['ns'] + sum(c['ns'] for c in e['classes'].values()) + e['unknown_ns']
    gs.equal(told, e['of_ns'], f'seed {seed}: parts sum to the whole')
    gs.check(e['of_ns'] <= ledger['classes']['excluded.unobserved']['ns'], f'seed {seed}: no more than unobserved')
    never = {c for c, p in e['classes'].items() if not p['ns']}
    gs.check(never <= set(ref.PAIR), f'seed {seed}: bounds of what was never recorded: {never}')
    for p in (e['busy'], *e['classes'].values()):
        gs.check(0 <= p['low_ns'] <= p['ns'] <= p['high_ns'] <= e['of_ns'] and p['high_ns'], f'seed {seed}: {p}')
    return len(never)


def main():
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 150
    with open(os.path.join(gs.SOURCE, 'facts', 'classes.def')) as f:
        classes = [line.split('"')[1] for line in f if line.startswith('CLASS(')]
    told = never = 0
    rules = {}
    with gs.scratch() as where:
        for seed in range(first, first + count):
            case = Case(seed)
            ledger, want, rule = engine(os.path.join(where, str(seed)), case, classes)
            got = ledger.get('estimated')
            if got != want:
                with open(f'/tmp/estimate-{seed}.txt', 'w') as f:
                    f.write('\n'.join(case.lines) + '\n')
            gs.equal(got, want, f'seed {seed}')
            never += check_sums(seed, ledger)
            told += bool(got)
            if got and got['metered_ns']:
                rules[rule] = rules.get(rule, 0) + 1
    print(rules)
    gs.check(count < 100 or min(rules.get(r, 0) for r in ('sm', 'unchecked', 'busy')) > 2, f'busy time by each rule: {rules}')
    gs.check(count < 20 or never, 'a class that was never recorded has a bound')
    gs.check(count < 20 or told > count / 3, f'{told} of {count} runs have an estimate')
    gs.finish()


if __name__ == '__main__':
    main()
