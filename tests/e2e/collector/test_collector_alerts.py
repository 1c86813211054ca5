#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""--alert of the collector: once per run and condition, whatever dies in between, and for who sends
nonsense nothing at all. The pulses are made here; their times run ahead of the clock."""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import collector
from collector import Collector, frame, wait_for
from gst_writer import field
from pulsing import S, Trainer

BIN = collector.bin_dir()


def fired(c, run):
    path = os.path.join(c.base, run + '.gst', 'alerts.jsonl')
    if not os.path.exists(path):
        return []
    with open(path) as f:
        return [r['condition'] for r in map(json.loads, f) if 'exec_status' not in r]


def marks(c):
    path = os.path.join(c.root, 'mark')
    return open(path).read().split() if os.path.exists(path) else []


def options(root):
    return ['--alert', 'idle_for>20s', '--exec', f'echo $GPUSTARVE_ALERT_RUN_ID >>{root}/mark', '--alert',
            'usd>0.35', '--usd-per-gpu-hour', '36.0', '--alert', 'idle_for>15m']


def hear(c, *frames):
    """Sent, stored, and looked at in a later second: the acknowledgement comes after a tick."""
    client = c.client()
    client.send(*frames)
    return client


def test_once():
    with Collector(BIN, options=()) as c:
        c.stop()
        c.options = options(c.root)
        c.start()
        a, b = Trainer('run-a', name='GPU \x1b[31m'), Trainer('run-b')
        first = hear(c, a.hello(), *[a.pulse(i, i) for i in range(1, 6)])
        second = hear(c, b.hello(), b.pulse(1, 1), b.pulse(30, 30))
        first.wait_ack(a.id, a.seq)
        second.wait_ack(b.id, b.seq)
        first.send(a.pulse(30, 5))
        wait_for(lambda: 'idle_for>20s' in fired(c, 'run-a'), 'idle fires', 60)
        wait_for(lambda: marks(c), 'its command runs', 60)
        first.send(a.pulse(40, 5))
        wait_for(lambda: len(fired(c, 'run-a')) == 2, 'dollars fire', 60)
        gs.equal(fired(c, 'run-a'), ['idle_for>20s', 'usd>0.35'], "fired(c, 'run-a')")
        gs.equal(fired(c, 'run-b'), [], 'the other run worked all the time')
        # Killed and started anew: what is in the files counts, what has fired has fired.
        c.kill()
        c.start()
        first = hear(c, a.pulse(50, 5), a.pulse(60, 5))
        second = hear(c, b.pulse(52, 30))
        wait_for(lambda: len(fired(c, 'run-b')) == 2, 'the other one fires now', 60)
        wait_for(lambda: len(marks(c)) == 2, 'and its command runs', 60)
        first.wait_ack(a.id, a.seq)
        gs.equal(fired(c, 'run-a'), ['idle_for>20s', 'usd>0.35'], "fired(c, 'run-a')")
        gs.equal(sorted(marks(c)), ['run-a', 'run-b'], 'sorted(marks(c))')
        said = c.errors()
        gs.equal(said.count('alert: run-a: no GPU has worked for'), 1,
                 "said.count('alert: run-a: no GPU has worked for')")
        gs.check('\x1b' not in said, "'\\x1b' not in said")


CONDITIONS = {'starved_pct': ('starved_pct>50', 'ppm', 500000), 'gpu_idle_for': ('gpu_idle_for>20s', 'ns', 20 * S),
              'no_pulse_for': ('no_pulse_for>1s', 'ns', S), 'lag': ('lag>10s', 'ns', 10 * S),
              'drops': ('drops>0', 'count', 0)}
TELL = 'env | grep ^GPUSTARVE_ALERT_ >{0}/told.$GPUSTARVE_ALERT_METRIC.$GPUSTARVE_ALERT_RUN_ID.$$'


def told(root):
    """{(metric, run): what its command was told}; a second start of a command fails the test."""
    out = {}
    for name in os.listdir(root):
        if name.startswith('told.'):
            metric, run = name.split('.')[1:3]
            gs.check((metric, run) not in out, f'{name}: started again')
            with open(os.path.join(root, name)) as f:
                out[metric, run] = dict(line.rstrip('\n').split('=', 1) for line in f)
    return out


def lines_of(c, run):
    with open(os.path.join(c.base, run + '.gst', 'alerts.jsonl')) as f:
        return [json.loads(line) for line in f]


def test_each_metric():
    """Each fires once in the run where it holds, and its command is told what happened; that every run
    falls silent in the end fires no_pulse_for in each, but in the one that has said goodbye."""
    with Collector(BIN) as c:
        c.stop()
        c.options = [o for text, _, _ in CONDITIONS.values()
                     for o in ('--alert', text, '--exec', TELL.format(c.root))]
        c.start()
        wait = Trainer('starved_pct', ago=60)
        idle, busy = Trainer('gpu_idle_for', ago=60, rank=0), Trainer('gpu_idle_for', ago=60, rank=1)
        late, lost, over = Trainer('lag', ago=60), Trainer('drops', ago=60), Trainer('over', ago=60)
        silent = Trainer('no_pulse_for', ago=60)
        k = c.client()
        k.send(wait.hello(), wait.pulse(1, 0.2, 0.1), wait.pulse(2, 0.4, 0.9),
               idle.hello(), idle.pulse(1, 1), idle.pulse(26, 1),
               busy.hello(), busy.pulse(1, 1), busy.pulse(26, 26),
               late.hello(), late.pulse(1, 1), late.pulse(13, 1, lag=12),
               lost.hello(), lost.pulse(1, 1), lost.pulse(2, 2, dropped=7),
               silent.hello(), silent.pulse(1, 1),
               over.hello(), over.pulse(1, 1), over.bye(2, 2))
        want = {(m, m) for m in CONDITIONS} | {('no_pulse_for', m) for m in CONDITIONS}
        wait_for(lambda: set(told(c.root)) == want, 'all of them fire', 60)
        # Over, and then again: what has fired has fired.
        k.send(wait.pulse(3, 1.4, 0.9), wait.pulse(4, 1.4, 1.9), idle.pulse(27, 2), idle.pulse(57, 2),
               busy.pulse(57, 57), late.pulse(14, 2), late.pulse(26, 2, lag=12), lost.pulse(3, 3, dropped=9),
               silent.pulse(2, 2))
        wait_for(lambda: len(c.frames('drops', lost.id)) == lost.seq, 'it is stored', 60)
        time.sleep(2.5)  # so that all would be silent again

        def ends(run):
            return [r['exec_status'] for r in lines_of(c, run) if 'exec_status' in r]
        wait_for(lambda: all(len(ends(m)) >= len({m, 'no_pulse_for'}) for m in CONDITIONS), 'commands end', 60)
        gs.check(not any(status for m in CONDITIONS for status in ends(m)),
                 'not any(status for m in CONDITIONS for status in ends(m))')
        exact = {'starved_pct': 800000, 'gpu_idle_for': 25 * S, 'lag': 12 * S, 'drops': 7}
        for (metric, run), env in told(c.root).items():
            text, unit, threshold = CONDITIONS[metric]
            rows = [r for r in lines_of(c, run) if r['condition'] == text and 'exec_status' not in r]
            gs.equal(len(rows), 1, 'len(rows)')
            r = rows[0]
            gs.equal((r['by'], r['metric'], r['unit'], r['threshold']), ('collector', metric, unit, threshold),
                     "(r['by'], r['metric'], r['unit'], r['threshold'])")
            gs.check(r['value'] == exact.get(metric, r['value']) and r['value'] > threshold,
                     ("r['value'] == exact.get(metric, r['value']) and r['value'] > threshold", r))
            gs.check(r['since_unix_ns'] <= r['t_unix_ns'] and r['exec'] == TELL.format(c.root),
                     ("r['since_unix_ns'] <= r['t_unix_ns'] and r['exec'] == TELL.format(c...", r))
            sentence = env.pop('GPUSTARVE_ALERT_TEXT')
            gs.check(f'alert: {run}: {sentence}\n' in c.errors() and text in sentence,
                     ("f'alert: {run}: {sentence}\\n' in c.errors() and text in sentence", sentence))
            gs.equal(env, {'GPUSTARVE_ALERT_' + name: value for name, value in (
                ('BY', 'collector'), ('CONDITION', text), ('METRIC', metric), ('UNIT', unit),
                ('VALUE', str(r['value'])), ('TIME_NS', str(r['t_unix_ns'])), ('RUN_ID', run),
                ('RUN', os.path.join(c.base, run + '.gst')))}, 'env')
        gs.equal(fired(c, 'over'), [], "fired(c, 'over')")
        gs.equal(c.errors().count('alert: '), len(want), "c.errors().count('alert: ')")


def test_nonsense():
    """Pulses that are none, and sums that leap, are stored; the collector goes on."""
    with Collector(BIN, options=['--alert', 'drops>0', '--alert', 'idle_for>1s']) as c:
        t = Trainer('run-n')
        client = hear(c, t.hello())
        for body in (b'', b'\xff' * 40, field(1, -5), field(3, b'\x08\xff\xff\xff\xff\x0f'),
                     field(1, (1 << 64) - 1) + field(2, 1 << 63) + field(4, (1 << 64) - 1)):
            t.seq += 1
            client.send(frame(t.id, t.seq, body=body))
            t.seq += 1
            client.send(frame(t.id, t.seq, body=body, flags=1, raw_len=1 << 20))
        client.send(t.pulse(1, 1), t.pulse(1e9, 1e9), t.pulse(2, 0))
        client.wait_ack(t.id, t.seq, 60)
        gs.check(c.process.poll() is None, 'c.process.poll() is None')
        gs.equal(len(c.frames('run-n', t.id)), t.seq, "len(c.frames('run-n', t.id))")


def test_refused():
    for given, want in ((['--alert', 'usd>5'], 'dollars need a price; give --usd-per-gpu-hour USD'),
                        (['--alert', 'idle_for>'], 'at character 10: a number is wanted here'),
                        (['--exec', 'true'], 'no --alert comes before it'),
                        (['--usd-per-gpu-hour', 'x'], 'not a price')):
        done = subprocess.run([os.path.join(BIN, 'gpustarve-collector'), '--unix', '/nonexistent/s', *given],
                              stderr=subprocess.PIPE)
        gs.check(done.returncode == 1 and want in done.stderr.decode(),
                 ('done.returncode == 1 and want in done.stderr.decode()', done))


gs.run_tests(globals())
