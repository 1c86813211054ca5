#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=400
"""GPUSTARVE_WINDOWS=1: while the governor keeps a loop's kernels off, all is recorded for two seconds at a moment
that was drawn. Its seed is in the trace; levels, losses and the ledger show the window; the estimate has the rest;
verify draws it once more, and exits 2 where another seed stands."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import gst_reader
import prof
from gst_reader import HEADER, PULSE, crc32c
from gst_writer import seal

PACELOOP = os.path.join(gs.BUILD, 'workloads', 'paceloop')
S = 1_000_000_000
WINDOW, STRATUM, LATE, LEVELS = 2 * S, 10 * S, S, {'0', '1', '2'}
M64 = (1 << 64) - 1


def drawn(seed, stratum):
    """As docs/FORMAT.md 5.3 says."""
    x = (seed + stratum * 0x9e3779b97f4a7c15) & M64
    x = ((x ^ x >> 30) * 0xbf58476d1ce4e5b9) & M64
    x = ((x ^ x >> 27) * 0x94d049bb133111eb) & M64
    return ((x ^ x >> 31) * (STRATUM - WINDOW - LATE)) >> 64


def play(where, seconds, **env):
    done = prof.run([PACELOOP, '100000', str(seconds), '2000'], where, timeout=seconds + 120, GPUSIM_TRUTH_OPS=0,
                    GPUSIM_TRACE_COST='h100-recovers', GPUSTARVE_MAX_OVERHEAD='1', **env)
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    return os.path.dirname(prof.files(where)[0]), prof.trace(where)


def summary(run):
    path = os.path.join(run, 'summary.json')
    gs.gpustarve('report', run, '--format', 'json', '-o', path)
    with open(path) as f:
        return json.load(f)


def another(told):
    """A seed that draws another moment for the last window: one in seven does not."""
    after = told['window_begin_ns'] - told['windows_since_ns']
    for bit in range(40, 64):
        seed = told['window_seed'] ^ 1 << bit
        if not 0 <= after % STRATUM - drawn(seed, after // STRATUM) < LATE:
            return seed
    raise AssertionError(f'24 seeds draw the same moment: {told}')


def forge(run, told):
    """The same trace with another seed in each pulse, not in the last, which Bye has."""
    old, new = told['window_seed'].to_bytes(8, 'little'), another(told).to_bytes(8, 'little')
    path = next(os.path.join(run, n) for n in os.listdir(run) if n.endswith(('.gst', '.spool')))
    with open(path, 'rb') as f:
        data = f.read()
    out, at, forged = b'', 0, 0
    while at < len(data):
        kind, _, _, head, body, raw_len, end = gst_reader.frame_at(data, at, None)
        if kind == PULSE and raw_len is None and old in body:
            body = body.replace(old, new)
            (magic, version, number, flags, _, stream, seq, made, _, raw, *_) = HEADER.unpack_from(data, at)
            out += seal(magic, version, number, flags, len(head), stream, seq, made, len(body), raw,
                        crc32c(head + body)) + head + body
            forged += 1
        else:
            out += data[at:end]
        at = end
    with open(path, 'wb') as f:
        f.write(out)
    return forged


def expect_window(told, t):
    """The last window lies where it was drawn, and pulses in it have the level of full recording."""
    last = told[-1]
    after = last['window_begin_ns'] - last['windows_since_ns']
    late = after % STRATUM - drawn(last['window_seed'], after // STRATUM)
    gs.check(0 <= late < LATE, f'drawn {late} ns before: {last}')
    levels = [p['level'] for p in t.frames['pulse'] if 0 <= p['t'] - last['window_begin_ns'] <= WINDOW]
    gs.check(LEVELS & set(levels), f'levels in the window: {levels}')
    cut = t.lost(prof.GOVERNOR)
    gs.check(any(0 <= end - last['window_begin_ns'] < 2 * S for _, end in cut[:-1]) or
             0 <= cut[-1][1] - last['window_begin_ns'] < 2 * S, f'what was lost goes on until it: {cut}, {last}')


def with_windows(seconds=34):
    with gs.scratch() as where:
        run, t = play(where, seconds, GPUSTARVE_WINDOWS=1)
        told = gst_reader.costs(run)
        if not told[-1]['windows'] and seconds < 100:  # whoever gets little of a core breaks the limit late
            return with_windows(100)
        gs.check(told[-1]['windows'] >= 1, f'windows: {told[-1]}')
        if not told[-1]['windows']:
            return
        gs.check(len({c['window_seed'] for c in told}) == 1 and told[-1]['step'] >= 2, f'one seed: {told[-1]}')
        expect_window(told, t)
        gs.equal([n for n in t.bye['notes'] if 'everything' in n], [], 'a window is no step')
        s = summary(run)
        gs.check(s['ledger'].get('estimated'), f'an estimate: {s["ledger"]["classes"]}')
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 0, f'verify: {done.stdout} {done.stderr}')
        gs.check(b'windows of full recording lies where its seed draws it' in done.stdout, f'{done.stdout}')
        gs.check(forge(run, told[-1]), 'pulses with the seed')
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 2, f'verify of another seed: {done.stdout} {done.stderr}')
        gs.check(b'its seed draws another moment' in done.stdout, f'{done.stdout}')
        print(f'{told[-1]["windows"]} in {seconds} s; estimated {s["ledger"]["estimated"]["of_ns"] / S:.1f} s')


def without():
    """Off is as it was: no seed, no window, and kernels stay off."""
    with gs.scratch() as where:
        run, t = play(where, 20)
        told = gst_reader.costs(run)
        gs.check(not any(c['window_seed'] or c['windows_since_ns'] or c['windows'] for c in told), f'{told[-1:]}')


gs.side_by_side([with_windows, without])
gs.finish()
