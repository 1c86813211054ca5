#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What runs that go on take of a gateway: made-up processes of one GPU, whose rows another gateway would have put into the
store (SQLite), a new pulse of each every ten seconds. Prints CPU and memory of a gateway that takes them up and follows them, of the
gpustarve that it calls, and whether it tells of all.

  bench_gateway_live.py [PROCESSES [PROCESSES-OF-A-RUN [ROUNDS]]]"""
import http.client
import json
import os
import re
import subprocess
import sys
import time

sys.path[:0] = [sys.path[0] + '/../lib', sys.path[0] + '/..']
import central
import gateways
import gs
import objectstore
from pulsing import Trainer

TICKS = os.sysconf('SC_CLK_TCK')
HELLO, FIRST, PULSE = 0, 1, 16
SEQ_MAX = 2**63 - 2


def row(t, run, slot, rank, data):
    return f'alpha\t{run}\t{t.id.hex()}\t{slot}\t{rank}\t0\t{data.hex()}\n'


def slot_of(t, s):
    return PULSE + (t.start + s * 10**9) // 10**10 % 6


def put(url, lines):
    began = os.times().children_user + os.times().children_system
    subprocess.run([gs.CLI, 'pulses', '--store', url, '--since', str(2**60)], input=''.join(lines).encode(), check=True,
                   stdout=subprocess.DEVNULL)
    return os.times().children_user + os.times().children_system - began


def cpu_of(pid):
    """Its own seconds, and those of children that it waited for."""
    with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
        part = f.read().rsplit(')', 1)[1].split()
    return (int(part[11]) + int(part[12])) / TICKS, (int(part[13]) + int(part[14])) / TICKS


def memory_of(pid):
    with open(f'/proc/{pid}/status', encoding='utf-8') as f:
        text = f.read()
    return [int(re.search(rf'^{name}:\s+(\d+) kB', text, re.M)[1]) // 1024 for name in ('VmHWM', 'VmRSS')]


def told(g):
    k = http.client.HTTPConnection('127.0.0.1', g.port, timeout=60)
    k.request('GET', '/metrics', headers={'Authorization': 'Bearer ' + central.TOKENS['alpha']})
    text = k.getresponse().read().decode()
    k.close()
    return text


def alive(g):
    """Processes' GPUs that it knows, and the first run's."""
    k = http.client.HTTPConnection('127.0.0.1', g.port, timeout=60)
    k.request('GET', '/v1/live', headers={'Authorization': 'Bearer ' + central.TOKENS['alpha']})
    runs = json.loads(k.getresponse().read())['runs']
    k.close()
    return sum(r['alive'] for r in runs), len(runs)


def main():
    processes, of_run, rounds = (int(x) for x in (sys.argv[1:] + ['10000', '64', '6'][len(sys.argv) - 1:]))
    with gs.scratch() as root, objectstore.Checked() as store:
        url = f'sqlite:{root}/live.sqlite'
        lines, trainers = [], []
        for n in range(processes):
            t = Trainer(f'r{n // of_run}', ago=60, rank=n % of_run, stamped=True)
            lines.append(row(t, t.run, HELLO, 1, t.hello()))
            for s in range(2, 61, 9):
                data = t.pulse(s, s / 2, s / 4, launches=s)
                if s == 2:
                    lines.append(row(t, t.run, FIRST, SEQ_MAX - t.seq, data))
                lines.append(row(t, t.run, slot_of(t, s), t.seq, data))
            trainers.append(t)
        print(f'{processes} processes, {len(lines)} rows, {sum(map(len, lines)) / 1e6:.1f} MB of lines; '
              f'put with {put(url, lines):.2f} s of CPU', flush=True)
        with gateways.Gateway(root, 'g', store, options=['--store', url, '--alert', 'idle_for>1h']) as g:
            pid = g.process.pid
            gs.until('all are told', lambda: alive(g)[0] == processes, 120)
            (own, child), began = cpu_of(pid), time.monotonic()
            print(f'taken up with {own:.2f} s of CPU of the gateway, {child:.2f} of gpustarve; {memory_of(pid)[1]} MiB', flush=True)
            for r in range(rounds):
                put(url, [row(t, t.run, slot_of(t, 70 + 10 * r), t.seq + 1, t.pulse(70 + 10 * r, 35, 17)) for t in trainers])
                while time.monotonic() - began < 10 * (r + 1):
                    time.sleep(.1)
            (own2, child2), took = cpu_of(pid), time.monotonic() - began
            print(f'followed for {took:.0f} s with {(own2 - own) / took:.3f} of a core, and {(child2 - child) / took:.3f} of gpustarve; '
                  f'{memory_of(pid)[0]} MiB at most, {memory_of(pid)[1]} now')
            text = told(g)
            print('of {} GPUs alive in {} runs; '.format(*alive(g)) + '; '.join(
                line for line in text.splitlines() if re.match(r'gpustarve_collector_(live_unwatched|runs_left_out)', line)))
            print(g.log()[-300:])


if __name__ == '__main__':
    main()
