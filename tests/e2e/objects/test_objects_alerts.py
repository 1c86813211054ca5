#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse waits timeout=900
"""Alerts and budgets of runs whose frames come to several gateways: each fires once, with each gateway killed in turn, with clocks
that are hours off, while the object store fails, and not because the store of pulses was away. GS_BIG: budgets of teams with ClickHouse, too."""
import concurrent.futures
import contextlib
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import clickhouse
import fleets
import gateways
import gs
import objectstore
from pulsing import Trainer
from test_objects_live import LIVES, PATIENCE_S, ask, clicks, post, sqlite, three, top


def lines_of(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding='utf-8') as f:
        return sorted(f.read().splitlines())


def idle(run):
    """A process whose GPU has not worked for half a minute."""
    t = Trainer(run, ago=LIVES, rank=0, stamped=True)
    return t.hello() + b''.join(t.pulse(s, min(s, 10)) for s in range(1, LIVES + 1))


def check_alerts(engine):
    """Of each run each alert fires once, with each gateway killed in turn, and while the store fails."""
    with gs.scratch() as marks:
        mark = os.path.join(marks, 'mark')

        def fired():
            return lines_of(mark)

        tell = f'echo "$GPUSTARVE_ALERT_RUN_ID $GPUSTARVE_ALERT_METRIC" >>{mark}'
        options = ['--alert', 'idle_for>20s', '--exec', tell, '--alert', 'idle_for>15m', '--exec', tell,
                   '--budget', 'run=0.05', '--exec', tell, '--usd-per-gpu-hour', '3.60']
        with three(engine, options) as (url, _, all_of_them, store):
            want = []

            def expect(run, what):
                want.extend([f'{run} idle_for', f'{run} usd', f'{run} usd'])
                gs.until(what, lambda: fired() == sorted(want), PATIENCE_S)

            post(all_of_them[0], idle('r'))
            expect('r', 'each fires')
            for n, g in enumerate(all_of_them):
                post(all_of_them[n - 1], idle(f'r{n}'))
                g.kill()
                expect(f'r{n}', f'without gateway {n}')
                g.start()
            # An answer that is lost: who puts it again finds what he put himself.
            lost = []
            store.weather = lambda method, path: 'lost' if method == 'PUT' and '/.alerts/' in path and \
                len(lost) < 3 and not lost.append(path) else None
            post(all_of_them[0], idle('lost'))
            expect('lost', 'though answers are lost')
            gs.equal(len(lost), 3, 'they were')
            # The store takes no alerts for a time.
            refused = []
            store.weather = lambda method, path: refused.append(path) or 503 if '/.alerts/' in path and len(refused) < 40 else None
            post(all_of_them[1], idle('storm'))
            expect('storm', 'once it does again')
            store.weather = lambda method, path: None
            # Who dies with its claim there has fired it for all: it is told, and nobody starts its command.
            dead = []

            def kill(bucket, key, body):
                if '.alerts/alpha/dead/' in key and not dead:
                    dead.append(key)
                    for g in all_of_them:
                        g.process.kill()

            store.put = kill
            post(all_of_them[2], idle('dead'))
            gs.until('a claim', lambda: dead, PATIENCE_S)
            time.sleep(1)
            store.put = lambda bucket, key, body: None
            for g in all_of_them:
                g.process.wait()
                g.start()
            gs.until('all of its alerts are told', lambda: sum('ALERT' in line or 'alert' in line or 'budget' in line for line in
                                                              top('--store', url, '--run', 'alpha/dead')[1]) >= 3, PATIENCE_S)
            told = json.loads(ask(all_of_them[0], 'GET', '/v1/runs/r/live')[1])['alerts']
            gs.equal(sorted(a['condition'] for a in told), ['idle_for>20s', 'usd>=0.04', 'usd>=0.05'], 'over HTTP')
            time.sleep(25)  # two rounds of all: nothing fires again
            there = [f for f in fired() if f.startswith('dead')]
            gs.equal(len([k for _, k in list(store.objects) if '.alerts/alpha/dead/' in k]), 3, 'all are claimed')
            gs.check(len(there) < 3 and there.count('dead idle_for') < 2, f'none twice, and not that one: {there}')
            gs.equal([f for f in fired() if not f.startswith('dead')], sorted(want), 'and no other again')


def test_alerts_sqlite():
    check_alerts(sqlite)


def test_alerts_clickhouse():
    check_alerts(clicks)


def spends(run, seconds):
    """A process that has held its GPU for so long."""
    t = Trainer(run, ago=seconds, rank=0, stamped=True)
    return t, [t.hello()] + [t.pulse(s, s) for s in range(1, seconds + 1)]


def ended(where, run, seconds):
    """A trace of it, as a worker would find it."""
    path = os.path.join(where, run + '.gst')
    os.makedirs(path)
    end = time.time_ns()
    begin = end - seconds * 10**9
    lines = [f'stream node 77 {begin} {end} -1 0 trainer python', 'device 0 77 GPU']
    for t in range(begin + 10**8, end, 10**9):
        lines += [f'api {t - 20000} {t - 10000} {t % 10**6} 77 cudaLaunchKernel', f'kernel {t} {t + 9 * 10**8} {t % 10**6} 7 0 gemm']
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'run_make'), path], input='\n'.join(lines).encode(), check=True)
    with open(os.path.join(path, 'run.json'), 'w', encoding='utf-8') as f:
        json.dump(dict(id=run, command=['python'], start_unix_ns=begin, wall_ns=seconds * 10**9, exit_status=0, exits=[], labels={}), f)
    return path


def check_budgets(engine):
    """A team's budget: 80 % and 100 % are told once each, whichever gateways its runs are on, with what ended and what goes on, and
    nothing counted twice; with gateways killed and an answer lost."""
    with gs.scratch() as marks:
        mark = os.path.join(marks, 'mark')
        tell = f'echo "$GPUSTARVE_ALERT_TEAM $GPUSTARVE_ALERT_CONDITION $GPUSTARVE_ALERT_UNIT" >>{mark}'
        options = ['--budget', 'team=0.10/month', '--budget', 'team:alpha=0.20/week',
                   '--budget', 'team:beta=0.04/month', '--exec', tell, '--usd-per-gpu-hour', '3.60']
        with three(engine, options) as (url, root, all_of_them, store):
            lost = []
            store.weather = lambda method, path: 'lost' if method == 'PUT' and '/.budgets/' in path and \
                len(lost) < 1 and not lost.append(path) else None
            fleets.away_from_midnight(120)
            first, frames = spends('first', 50)  # half of it
            _, theirs = spends('first', 40)  # of the same name
            post(all_of_them[0], *frames)
            post(all_of_them[1], *theirs, team='beta')
            post(all_of_them[2], first.bye(50, 50))
            # Its digest comes, while its rows are there: it counts once.
            done = gs.gpustarve('digest', ended(root, 'first', 50), '--store', url, '--team', 'alpha', '--price', '3.60')
            gs.equal(done.returncode, 0, done.stderr.decode())
            spent = json.loads(gs.gpustarve('fleet', '--store', url, '--format', 'json').stdout)['total']
            gs.equal((spent['runs'], spent['usd']), (1, .05), 'what ended')
            post(all_of_them[1], *spends('second', 33)[1])
            want = ['alpha team=0.10/month at 80 % nano_usd', 'beta team:beta=0.04/month at 100 % nano_usd']
            gs.until('80 %', lambda: lines_of(mark) == want, 2 * PATIENCE_S)
            for g in all_of_them:
                g.kill()
                g.start()
            post(all_of_them[2], *spends('third', 30)[1])
            want = sorted([*want, 'alpha team=0.10/month at 100 % nano_usd'])
            gs.until('100 %', lambda: lines_of(mark) == want, 2 * PATIENCE_S)
            gs.equal(len(lost), 1, 'an answer was lost')
            time.sleep(75)  # a look of all
            gs.equal(lines_of(mark), want, 'none twice, and no other')
            keys = [k for _, k in list(store.objects) if '.budgets/' in k]
            gs.equal(sorted(k.split('.budgets/')[1].split('/')[0] for k in keys), ['alpha', 'alpha', 'beta', 'beta'], 'what is claimed')


def test_budgets_sqlite():
    check_budgets(sqlite)


def test_budgets_clickhouse():
    if gs.BIG:
        check_budgets(clicks)


def test_outage():
    """The store of pulses is away for a minute: who worked all the while is not called silent after it, and who did not is."""
    with gs.scratch() as root, objectstore.Checked() as store, clickhouse.servers(root, 1) as (server,), contextlib.ExitStack() as stack:
        mark = os.path.join(root, 'mark')
        options = ['--store', f'clickhouse://127.0.0.1:{server.http}/live?outbox={root}/outbox.sqlite', '--alert', 'no_pulse_for>35s',
                   '--exec', f'echo $GPUSTARVE_ALERT_RUN_ID >>{mark}']
        pool = stack.enter_context(concurrent.futures.ThreadPoolExecutor(1))
        two = [stack.enter_context(gateways.Gateway(root, f'g{i}', store, options=options)) for i in range(2)]
        alive, silent = Trainer('alive'), Trainer('silent')
        post(two[0], alive.hello())
        post(two[1], silent.hello() + silent.pulse(1, 1))
        began, comes = time.monotonic(), None
        for s in range(300):
            post(two[s % 2], alive.pulse(s + 2, s + 2))
            now = time.monotonic() - began
            if now > 12 and server.process and not comes:
                server.kill()
            if now > 75 and not comes:
                comes = pool.submit(server.start)  # which takes its time, in which nobody falls silent
            if now > 190 and lines_of(mark):
                break
            time.sleep(1)
        gs.check(comes and comes.result(), 'the server is back')
        gs.equal(lines_of(mark), ['silent'], 'who is silent')


if __name__ == '__main__':
    gs.run_tests({name: case for name, case in globals().items() if name.startswith('test_')}, width=4)
