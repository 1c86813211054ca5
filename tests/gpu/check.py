#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What only a real GPU can settle, in parts: parts/ has a file for each, with part(report, out) and
SECONDS, its share of the time. Time that a part leaves over goes to those behind it. Called by
scripts/gpu-check; docs/GPU.md tells what each part asks. Standard library only.
  check.py OUT [1 | 2 | PART...]   plays halves or parts (all), writes OUT/gpu-check.json, .md,
                                   progress.log and runs.tar.gz, anew after every answer
  check.py --join OUT... [--into DIR]   one table of several: on stdout, or both files in DIR"""
import importlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE]
sys.dont_write_bytecode = True

import base  # noqa: E402
import kept  # noqa: E402
import machine  # noqa: E402
import play  # noqa: E402
import table  # noqa: E402

# In the order of the halves: each must fit, with the build, into one call of ten minutes.
HALVES = {'1': ['names', 'works', 'injection', 'loader', 'device'],
          '2': ['overhead', 'planted', 'endurance']}
PARTS = [p for half in HALVES.values() for p in half]
LEAST = 5   # seconds; with less a part is not begun
# A folder with parts/, looked into first: for the test of this program.
MORE = os.environ.get('GPU_CHECK_PARTS')


class Check:
    def __init__(self, out, wanted):
        os.makedirs(out, exist_ok=True)
        self.out = out
        self.scratch = tempfile.mkdtemp(prefix='gpu-check-')
        base.PROGRESS = os.path.join(out, 'progress.log')
        base.LOGS = os.path.join(self.scratch, 'logs')
        self.result = table.new(machine.facts(), wanted, quick=base.QUICK, simulated=base.SIMULATED,
                                command=os.environ.get('GPU_CHECK_COMMAND') or ' '.join(sys.argv),
                                build=os.environ.get('GPU_CHECK_BUILD_SECONDS'))

    def put(self, part, row):
        self.result['parts'].setdefault(part, []).append(row)
        mark = {None: '', True: 'ok ', False: 'LOOK '}[row['ok']]
        print(f'[{time.time() - base.BEGIN:.0f} s] {part}: {mark}{row["question"]}: {row["answer"]}',
              flush=True)
        base.say(f'  {part}: {mark or "-- "}{row["question"]}')
        self.write()

    def put_of_part(self, part, answer, ok=None):
        self.put(part, dict(question=base.THE_PART, answer=answer, ok=ok, goal='', data={}))

    def write(self):
        self.result['seconds']['all'] = round(time.time() - base.BEGIN, 1)
        table.write(self.result, self.out)

    def pack(self):
        kept.pack(self.scratch, os.path.join(self.out, 'runs.tar.gz'))

    def play(self, name, seconds):
        base.say(f'{name}: begins, {seconds:.0f} s')
        begin = time.time()
        part = play.Part(name, seconds, base.Report(self.result['machine']), self.scratch)
        try:
            for of, row in part.rows():
                self.put(of, row)
        finally:
            left_behind = part.close()
        if part.fault:
            self.put_of_part(name, part.fault, False)
        took = time.time() - begin
        self.result['seconds'][name] = round(took, 1)
        base.say(f'{name}: over after {took:.1f} s; processes ended behind it: {left_behind}')
        if name not in self.result['parts']:
            self.put_of_part(name, 'broke: it asked nothing', False)
        self.pack()
        return took

    def play_all(self, names):
        """Each part has its share of the time and what those before it left over, the last one all
        that is left. Where the whole is too short for the shares they shrink alike; on the simulated GPU,
        whose machine may be small, they grow alike where GPU_CHECK_SECONDS gives more."""
        shares = {name: share(name) for name in names}
        time_for = max(0, base.BEGIN + base.SECONDS - time.time())
        shrink = time_for / max(1, sum(shares.values()))
        if not base.SIMULATED:
            shrink = min(1, shrink)
        spare = 0
        for name in names:
            rest = base.BEGIN + base.SECONDS - time.time()
            seconds = rest if name == names[-1] else min(shares[name] * shrink + spare, rest)
            if seconds < LEAST:
                self.put_of_part(name, base.NOT_ASKED + 'out of time')
                continue
            spare = max(0, seconds - self.play(name, seconds))
        self.result['complete'] = True
        self.write()

    def close(self):
        shutil.rmtree(self.scratch, ignore_errors=True)


def share(name):
    """The part's SECONDS. One that does not load breaks when it is played, where it is said."""
    try:
        return importlib.import_module('parts.' + name).SECONDS
    except Exception:
        return 2 * LEAST


def end(number, _):
    raise play.Ended(signal.Signals(number).name)


def check(out, names):
    wanted = [p for name in names or PARTS for p in HALVES.get(name, [name])]
    if MORE:
        sys.path.insert(0, MORE)
    unknown = [p for p in wanted if p not in PARTS]
    if unknown and not MORE:
        sys.exit(f'gpustarve: gpu-check: no such part: {" ".join(unknown)}; there are {" ".join(PARTS)}')
    c, status = Check(os.path.abspath(out), wanted), 0
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    play.adopt()
    try:
        c.play_all(wanted)
    except play.Ended as why:
        play.end_descendants()
        c.put_of_part('check', f'ended by {why} after {time.time() - base.BEGIN:.0f} s')
        status = 1
    c.pack()
    c.close()
    print('gpustarve: gpu-check: ' + table.counts_text(c.result), flush=True)
    return status


def join(args):
    into = None
    if '--into' in args:
        at = args.index('--into')
        into = args[at + 1]
        del args[at:at + 2]
    results = []
    for out in args:
        with open(os.path.join(out, 'gpu-check.json') if os.path.isdir(out) else out) as f:
            results.append(json.load(f))
    whole = table.join(results)
    if into:
        os.makedirs(into, exist_ok=True)
        table.write(whole, into)
    else:
        sys.stdout.write(table.text(whole))


def main():
    if sys.argv[1] == '--join':
        return join(sys.argv[2:])
    return check(sys.argv[1], sys.argv[2:])


if __name__ == '__main__':
    sys.exit(main())
