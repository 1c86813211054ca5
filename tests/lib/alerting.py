# SPDX-License-Identifier: Apache-2.0
"""Alerts of a run: its alerts.jsonl, and when their conditions began to hold, computed here from the
pulses in the trace by docs/FORMAT.md alone."""
import json
import os
import struct
import sys

import gs

import gst_reader  # noqa: E402

S = 10**9
HELLO, PULSE, BYE = 1, 10, 11
MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')


def lines(run):
    """The alerts that fired, and the ends of commands, as alerts.jsonl has them."""
    path = os.path.join(run, 'alerts.jsonl')
    if not os.path.exists(path):
        return [], []
    with open(path) as f:
        rows = [json.loads(l) for l in f]
    for row in rows:
        gs.equal(row['schema'], 'gpustarve.alert/1', 'schema of a line')
    return [r for r in rows if 'exec_status' not in r], [r for r in rows if 'exec_status' in r]


class Stream:
    """What one process said: when it began, and its pulses as (t, complete, busy), in ns."""

    def __init__(self):
        self.start, self.pulses = 0, []


def streams(run):
    out = {}
    for stream, kind, _, body in gst_reader.messages(run):
        if kind not in (HELLO, PULSE, BYE):
            continue
        m, s = {}, out.setdefault(stream, Stream())
        for number, value in gst_reader.fields(body):
            m.setdefault(number, []).append(value)
        if kind == HELLO:
            s.start = m[3][0]
            gs.equal(m[18], [b'realtime'], 'stamps are Unix time')
            continue
        if kind == BYE:
            m = {}
            for number, value in gst_reader.fields(body):
                if number == 4:
                    for n, v in gst_reader.fields(value):
                        m.setdefault(n, []).append(v)
        devices = [dict(gst_reader.fields(d)) for d in m.get(3, [])]
        if devices:
            s.pulses.append((m[1][0], m[2][0], sum(d.get(2, 0) for d in devices)))
    return [s for s in out.values() if s.pulses]


def idle_since(stream, idle_ns):
    """The first pulse that shows that its GPU has not worked for so long; None: none does."""
    busy, active = -1, 0
    for t, complete, now in stream.pulses:
        if now != busy:
            busy, active = now, t
        if complete - active > idle_ns:
            return t
    return None


def cost_since(stream, nano_usd, nano_usd_per_hour):
    """The first pulse at which a process with one GPU has cost so much."""
    for t, _, _ in stream.pulses:
        if (t - stream.start) * nano_usd_per_hour // (3600 * S) >= nano_usd:
            return t
    return None


def in_time(alert, since, what):
    """It fired after its condition began to hold, and within ten seconds."""
    if gs.check(since is not None, f'{what}: the pulses show its condition'):
        late = (alert['t_unix_ns'] - since) / S
        print(f'{what}: fired {late:.2f} s after its condition')
        gs.check(0 <= late <= 10, f'{what}: fired {late} s after its condition')
