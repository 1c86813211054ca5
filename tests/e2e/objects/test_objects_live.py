#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,clickhouse waits timeout=600
"""Runs that go on and whose frames come to several gateways: `top --store` and each gateway's /metrics tell of them what a
run directory with all frames tells, from SQLite and from ClickHouse, though gateways die and the clock of one is hours off."""
import contextlib
import http.client
import json
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import central
import clickhouse
import gateways
import gs
import objectstore
from pulsing import Trainer

PATIENCE_S = 90
LIVES = 50  # seconds that the made-up processes lived


def ask(g, method, path, body=None, team='alpha'):
    k = http.client.HTTPConnection('127.0.0.1', g.port, timeout=90)
    with contextlib.closing(k):
        k.request(method, path, body, {'Authorization': 'Bearer ' + central.TOKENS[team]})
        a = k.getresponse()
        return a.status, a.read()


def post(g, *frames, team='alpha'):
    status, said = ask(g, 'POST', '/v1/frames', b''.join(frames), team)
    gs.equal(status, 200, said)


def top(*args):
    """The lines of `gpustarve top --once`; what is hours, cost and load of our own is left out."""
    done = gs.gpustarve('top', '--once', '--price', '3.60', *args)
    return done.returncode, done.stdout.decode().splitlines(), done.stderr.decode()


def rows_of(lines):
    """Rank to GPU's number, busy, starved."""
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ['RANK', 'GPU'])
    return {c[0]: c[1:4] for c in (line.split() for line in lines[at + 1:])}


def until_told(url, want, what):
    """Until `top --store` has the rows of `want`: what a gateway took in one body may reach the store in two steps."""
    last = []

    def same():
        rc, lines, _ = top('--store', url, '--run', 'alpha/r')
        last[:] = [None if rc else rows_of(lines)]
        return last[0] == rows_of(want)

    if not gs.until(what, same, PATIENCE_S):
        gs.equal(last[0], rows_of(want), what)


def runs_told(g, team='alpha'):
    """What its /metrics says of runs: {(name, run): value}."""
    status, text = ask(g, 'GET', '/metrics', team=team)
    gs.equal(status, 200, text)
    return {(m[1], m[2]): m[3] for m in re.finditer(r'^gpustarve_run_(\w+)\{run="([^"]*)"\} (\S+)$', text.decode(), re.M)}


def exchanges(g):
    """How often it has exchanged pulses with the store."""
    return re.search(r'^gpustarve_collector_pulse_exchanges_total (\d+)$', ask(g, 'GET', '/metrics')[1].decode(), re.M)[1]


def process(run, rank, busy, wait, **kw):
    """A process and its frames: the Hello, and a pulse each second of its life up to now."""
    t = Trainer(run, ago=LIVES, rank=rank, stamped=True, **kw)
    return t, [t.hello()] + [t.pulse(s, busy * s, wait * s, launches=10 * s) for s in range(1, LIVES + 1)]


def near(x, y, what):
    gs.check(abs(float(x) - y) < 1e-3, f'{what}: {x}, not {y}')


@contextlib.contextmanager
def sqlite(root):
    yield f'sqlite:{root}/live.sqlite'


@contextlib.contextmanager
def clicks(root):
    with clickhouse.servers(root, 1) as (server,):
        yield f'clickhouse://127.0.0.1:{server.http}/live?outbox={root}/outbox.sqlite'


@contextlib.contextmanager
def three(engine, options=()):
    """Three gateways; the clock of one is five hours behind, of another three ahead."""
    with gs.scratch() as root, objectstore.Checked() as store, engine(root) as url, contextlib.ExitStack() as stack:
        yield url, root, [stack.enter_context(gateways.Gateway(root, f'g{i}', store, ahead_s=s * 3600,
                                                               options=['--store', url, *options]))
                          for i, s in enumerate((0, -5, 3))], store


def check(engine):
    with three(engine) as (url, root, (a, b, c), _):
        rc, _, said = top('--store', url)
        gs.check(rc == 1 and 'no ' in said, f'nothing is there yet: {said}')
        t, frames = process('r', 0, .5, .25)
        u, more = process('r', 1, .75, 0)
        other, theirs = process('r', 0, 1, 0)
        for p, f in (t, frames), (u, more):
            p.write(root, *f)
        # Of one stream the frames come to all three, some late and some twice; of the other to one.
        post(b, *frames[:1])
        for g, part in (b, frames[1:20]), (a, frames[30:]), (c, frames[20:30]), (c, frames[25:40]):
            post(g, *part)
        post(c, *more)
        post(b, *theirs, team='beta')
        want = top(os.path.join(root, 'r.gst'))[1]
        gs.equal(set(rows_of(want)), {'0', '1'}, 'both ranks')
        until_told(url, want, 'as the run directory tells it')
        gs.equal(top('--store', url, '--run', 'alpha/r')[1][0], want[0], 'and its head')
        gs.check('r' in top('--store', url)[1][0], 'the newest of any team')
        # beta's frames may wait for their gateway's next exchange when all of alpha's are told.
        gs.until('of two teams', lambda: (lambda rc, _, said: rc == 1 and 'alpha' in said and 'beta' in said)(
            *top('--store', url, '--run', 'r')), PATIENCE_S)
        gs.equal(top('--store', url, '--run', 'no-such')[0], 1, 'no such run')

        # Each gateway says the same, of its own team's alone.
        told = [{}]

        def same():
            told[:] = [runs_told(g) for g in (a, b, c)]
            return told[0] == told[1] == told[2] and told[0].get(('held_gpu_seconds_total', 'r')) == f'{2 * LIVES}.000000000'

        gs.until('all gateways say the same', same, PATIENCE_S)
        gs.equal({k[1] for k in told[0]}, {'r'}, 'one run')
        near(told[0]['busy_gpu_seconds_total', 'r'], .5 * LIVES + .75 * LIVES, 'busy')
        near(told[0]['held_gpu_seconds_total', 'r'], 2 * LIVES, 'held')
        near(told[0]['busy_ratio', 'r'], .625, 'share')
        near(told[0]['starved_ratio', 'r'], .125, 'share that starves')
        gs.until('beta, too', lambda: runs_told(a, 'beta').get(('gpus', 'r')) == '1', PATIENCE_S)
        live = json.loads(ask(b, 'GET', '/v1/runs/r/live')[1])
        gs.equal((live['run'], live['gpus'], len(live['uses'])), ('r', 2, 2), 'as top over HTTP reads it')
        gs.equal(ask(b, 'GET', '/v1/runs/no-such/live')[0], 404, 'no such run')

        # One that is new knows what the others know; a dead one is not missed.
        a.kill()
        b.kill()
        a.start()
        t2 = t.pulse(LIVES + 5, .5 * (LIVES + 5), .25 * (LIVES + 5))
        post(a, t2)
        u2 = u.bye(LIVES + 6, .75 * (LIVES + 6))
        held = f'{LIVES + 5 + LIVES + 6}.000000000'
        post(c, u2)
        gs.until('the new one tells the same', lambda: runs_told(a) == runs_told(c) and
                 runs_told(a).get(('gpus', 'r')) == '1' and runs_told(a).get(('held_gpu_seconds_total', 'r')) == held, PATIENCE_S)
        near(runs_told(a)['busy_gpu_seconds_total', 'r'], .5 * (LIVES + 5) + .75 * (LIVES + 6), 'busy')
        for p, f in (t, t2), (u, u2):
            p.write(root, f)
        until_told(url, top(os.path.join(root, 'r.gst'))[1], 'at last')
        for g in (a, c):
            gs.check('cannot' not in g.log(), g.log()[-500:])


def unsaved(lines):
    """Rank to what a kill now would lose of its GPU, and what is said of that above."""
    at = next(i for i, line in enumerate(lines) if line.split()[:2] == ['RANK', 'GPU'])
    end = lines[at].index('UNSAVED') + len('UNSAVED')
    return {line.split()[0]: line[end - 8:end].strip() for line in lines[at + 1:]}, re.findall(r'a kill now loses \S+', ' '.join(lines[:at]))


def check_saves(engine):
    """What a kill would lose, of saves whose frames came to several gateways; and not known where some never came."""
    with gs.scratch() as marks:
        mark = os.path.join(marks, 'mark')
        with three(engine, ['--alert', 'unsaved_for>25s', '--exec', f'echo $GPUSTARVE_ALERT_RUN_ID >>{mark}',
                            '--alert', 'unsaved_usd>=0.05', '--usd-per-gpu-hour', '3.60']) as (url, root, (a, b, c), _):
            t = Trainer('s', ago=LIVES, rank=0, stamped=True)
            u, quiet = process('s', 1, .5, 0)
            v, before = process('before', 0, .5, 0, counts=False)
            frames = [t.hello(), t.memory(40 << 30)]
            for s in range(1, LIVES + 1):
                frames.append(t.pulse(s, s))
                if s in (5, 15, 30):  # the third is not whole yet
                    frames += [t.save(s, 'begun', s, path=f'/ckpt/{s}', content=1)]
                if s in (10, 20):
                    frames += [t.save(s - 5, 'whole', s - 5, s, path=f'/ckpt/{s - 5}', inode=s, size=1 << 30, content=1)]
                if s == 32:
                    frames += [t.written(31, 32, 1 << 21), t.save(5, 'deleted', 5, 32, path='/ckpt/5', inode=10, size=1 << 30)]
            t.write(root, *frames)
            u.write(root, *quiet)
            for i, frame in enumerate(frames[:-1]):
                post((a, b, c)[i % 3], frame)
            post(b, *quiet, *frames[-1:])
            post(c, *before, v.save(1, 'begun', 5), v.save(1, 'whole', 5, 6, inode=3))

            def told(run='alpha/s'):
                rc, lines, said = top('--store', url, '--run', run)
                return unsaved(lines) if not rc else ({}, said)

            want = unsaved(top(os.path.join(root, 's.gst'))[1])
            gs.equal(want[0], {'0': '35.0 s', '1': '35.0 s'}, 'since the second')
            gs.until('as the run directory tells it', lambda: told() == want, PATIENCE_S)
            gs.until('of a libprof that does not count', lambda: told('alpha/before')[0].get('0') == '-', PATIENCE_S)
            gs.until('its alert', lambda: os.path.exists(mark), PATIENCE_S)

            # Who is asked to end hands over what came to it.
            done = t.save(30, 'whole', 30, LIVES + 1, path='/ckpt/30', inode=30, size=1 << 30, content=1), \
                t.pulse(LIVES + 2, LIVES + 2), u.pulse(LIVES + 2, .5 * LIVES)
            t.write(root, *done[:2])
            u.write(root, done[2])
            post(a, *done)
            gs.equal(a.stop(), 0, a.log())
            want = unsaved(top(os.path.join(root, 's.gst'))[1])
            gs.equal(want[0], {'0': '22.0 s', '1': '22.0 s'}, 'since the third')
            gs.equal(told(), want, 'as soon as it has ended')

            # Who is killed takes something along: it is not known, until the next that is whole. The next exchange
            # with the store is ten seconds off when one has just ended.
            before = exchanges(b)
            gs.until('an exchange', lambda: exchanges(b) != before, PATIENCE_S)
            post(b, t.save(60, 'begun', LIVES + 3, path='/ckpt/60', content=1))
            b.kill()
            post(c, t.save(60, 'whole', LIVES + 3, LIVES + 4, path='/ckpt/60', inode=60, size=1 << 30, content=1),
                 t.pulse(LIVES + 5, LIVES + 5), u.pulse(LIVES + 5, .5 * LIVES))
            gs.until('not known', lambda: set(told()[0].values()) == {'-'}, PATIENCE_S)
            post(c, t.save(61, 'begun', LIVES + 6, path='/ckpt/61', content=1),
                 t.save(61, 'whole', LIVES + 6, LIVES + 7, path='/ckpt/61', inode=61, size=1 << 30, content=1),
                 t.pulse(LIVES + 9, LIVES + 9), u.pulse(LIVES + 9, .5 * LIVES))
            gs.until('known again', lambda: told()[0] == {'0': '3.0 s', '1': '3.0 s'}, PATIENCE_S)
            with open(mark, encoding='utf-8') as f:
                gs.equal(f.read().split(), ['s'], 'once, and of no run whose saves are not known')


def test_saves_sqlite():
    check_saves(sqlite)


def test_saves_clickhouse():
    check_saves(clicks)


def test_sqlite():
    check(sqlite)


def test_clickhouse():
    check(clicks)


if __name__ == '__main__':
    gs.run_tests(globals(), width=4)
