#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""--alert of the collector: once per run and condition, whatever dies in between, and for who sends
nonsense nothing at all. The pulses are made here; their times run ahead of the clock."""
import json
import os
import subprocess

import collector
from collector import Collector, _field, frame, wait_for
from pulsing import Trainer

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
        assert fired(c, 'run-a') == ['idle_for>20s', 'usd>0.35'], fired(c, 'run-a')
        assert fired(c, 'run-b') == [], 'the other run worked all the time'
        # Killed and started anew: what is in the files counts, what has fired has fired.
        c.kill()
        c.start()
        first = hear(c, a.pulse(50, 5), a.pulse(60, 5))
        second = hear(c, b.pulse(52, 30))
        wait_for(lambda: len(fired(c, 'run-b')) == 2, 'the other one fires now', 60)
        wait_for(lambda: len(marks(c)) == 2, 'and its command runs', 60)
        first.wait_ack(a.id, a.seq)
        assert fired(c, 'run-a') == ['idle_for>20s', 'usd>0.35'], fired(c, 'run-a')
        assert sorted(marks(c)) == ['run-a', 'run-b'], marks(c)
        said = c.errors()
        assert said.count('alert: run-a: no GPU has worked for') == 1, said
        assert '\x1b' not in said


def test_nonsense():
    """Pulses that are none, and sums that leap, are stored; the collector goes on."""
    with Collector(BIN, options=['--alert', 'drops>0', '--alert', 'idle_for>1s']) as c:
        t = Trainer('run-n')
        client = hear(c, t.hello())
        for body in (b'', b'\xff' * 40, _field(1, -5), _field(3, b'\x08\xff\xff\xff\xff\x0f'),
                     _field(1, (1 << 64) - 1) + _field(2, 1 << 63) + _field(4, (1 << 64) - 1)):
            t.seq += 1
            client.send(frame(t.id, t.seq, body=body))
            t.seq += 1
            client.send(frame(t.id, t.seq, body=body, flags=1, raw_len=1 << 20))
        client.send(t.pulse(1, 1), t.pulse(1e9, 1e9), t.pulse(2, 0))
        client.wait_ack(t.id, t.seq, 60)
        assert c.process.poll() is None
        assert len(c.frames('run-n', t.id)) == t.seq


def test_refused():
    for given, want in ((['--alert', 'usd>5'], 'dollars need a price; give --usd-per-gpu-hour USD'),
                        (['--alert', 'idle_for>'], 'at character 10: a number is wanted here'),
                        (['--exec', 'true'], 'no --alert stands before it'),
                        (['--usd-per-gpu-hour', 'x'], 'no price')):
        done = subprocess.run([os.path.join(BIN, 'gpustarve-collector'), '--unix', '/nonexistent/s', *given],
                              stderr=subprocess.PIPE)
        assert done.returncode == 1 and want in done.stderr.decode(), done


collector.run_tests(globals())
