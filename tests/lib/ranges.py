# SPDX-License-Identifier: Apache-2.0
"""What the tests of ranges share: running a program on the simulated GPU with libprof preloaded and
no collector, and reading the ranges of its trace."""
import glob
import json
import os
import subprocess
import time

import gs

DUMP = os.path.join(gs.BUILD, 'tests', 'prof_dump')
LOADER, USER, OPERATOR, STEP, OPTIMIZER = 1, 2, 3, 4, 5
FIRST, CONT = 1, 2
MS = 1_000_000


def preloaded(argv, where, **env):
    """Environment and command line of argv with libprof, writing into where/runs."""
    env = gs.environment(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=os.path.join(where, 'runs'), **env)
    return [gs.WITH_GPUSIM, *map(str, argv)], env


def run(argv, where, timeout=480, **env):
    full, env = preloaded(argv, where, **env)
    done = subprocess.run(full, env=env, cwd=where, timeout=timeout * gs.PATIENCE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    gs.equal(done.returncode, 0, f'{argv}: exit status ({done.stderr.decode()[-2000:]})')
    return done


def trace(where):
    """All frames and events of a run, as prof_dump prints them; one list per stream."""
    streams = []
    files = glob.glob(os.path.join(where, 'runs', '*.gst', '*.spool'))
    if not files:
        return streams
    done = subprocess.run([DUMP, *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    gs.equal(done.stderr.decode(), '', 'damage')
    for line in done.stdout.decode().splitlines():
        row = json.loads(line)
        if 'stream' in row and len(row) == 1:
            streams.append([])
        else:
            streams[-1].append(row)
    return streams


def ranges(stream, op=None):
    """Range events of a stream in the order written."""
    return [r for r in stream if r.get('event') == 4 and (op is None or r['op'] == op)]


def joined(rows):
    """Pieces of one range made one again. Checks that they abut."""
    out, last = [], {}
    for r in rows:
        key = (r['tid'], r['op'], r['name'])
        if r['flags'] & CONT:
            before = last.get(key)
            if not gs.check(before and before['end'] == r['start'], f'piece without start: {r}'):
                continue
            before['end'] = r['end']
        else:
            last[key] = dict(r)
            out.append(last[key])
    return sorted(out, key=lambda r: r['start'])


def hello(stream):
    return [r for r in stream if r.get('frame') == 'hello'][-1]


def waits_match(got, own, what):
    """Recorded waits against the script's own [(start, end)], which is read around them: each lies
    within its own. Returns whether 95 % agree within 1 ms; between the script's clock and ours a
    busy machine may do something else, so that is asked again (see settled)."""
    if not gs.equal(len(got), len(own), f'{what}: number of waits'):
        return True
    outside = [(g, o) for g, o in zip(got, own) if g['start'] < o[0] or g['end'] > o[1]]
    gs.equal(outside[:3], [], f'{what}: waits beyond the script\'s own')
    close = sum(abs(g['start'] - s) <= MS and abs((g['end'] - g['start']) - (e - s)) <= MS
                for g, (s, e) in zip(got, own))
    worst = max(abs((g['end'] - g['start']) - (e - s)) for g, (s, e) in zip(got, own))
    print(f'{what}: {close} of {len(own)} waits within 1 ms, worst {worst / 1e6:.3f} ms', flush=True)
    return close >= 0.95 * len(own)


def settled(case, *args, attempts=4):
    """Runs a case until its waits agree."""
    for _ in range(attempts):
        if case(*args):
            return
        time.sleep(1)
    gs.check(False, f'{args[0]}: fewer than 95 % of the waits agree within 1 ms, {attempts} times')
