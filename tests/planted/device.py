# SPDX-License-Identifier: Apache-2.0
"""What the device did while a planted job ran: its operations and when each was launched. There are
three makers of that list. `simulator`: the truth file of the simulated GPU. `records`: what gpustarve
recorded, as its `dump` prints it, before any analysis; on a real GPU there is no other that knows
every operation. `ledger`: the workload's own clock alone: a step's kernels last as long as they were
told to and end when the step's wait for them does; some 50 us a step are not told that way, and only
cases whose faults leave the device alone can be judged by it. Which class idle time must have is
told by the workload's ledger always."""
import os
import subprocess

import gs

KINDS = {'kernel': 'kernel', 'memset': 'memset', 'graph': 'graph'}
CALLS = ('driver', 'runtime')


def real():
    """Is there a GPU, and not the simulated one?"""
    return 'GPUSIM_SHM' not in os.environ and os.path.exists('/dev/nvidiactl')


def from_simulator(folder):
    """A graph's nodes are its operations; the span of the launch itself is not."""
    return [o for o in gs.truth_ops(folder) if o['kind'] in ('kernel', 'memcpy', 'memset')]


def from_lines(lines):
    """Operations out of the lines of `gpustarve dump`: the earliest call with an operation's
    correlation launched it. One without a call counts as launched when it began."""
    ops, calls = [], {}
    for line in lines:
        cell = line.rstrip('\n').split('\t')
        if len(cell) < 6 or line.startswith('#'):
            continue
        start, key = int(cell[2]), (cell[0], cell[5])
        if cell[1] in CALLS:
            calls[key] = min(start, calls.get(key, start))
        elif cell[1] in KINDS or cell[1].startswith('copy'):
            if int(cell[3]) >= 0:
                ops.append(dict(kind=KINDS.get(cell[1], 'memcpy'), start_ns=start,
                                end_ns=start + int(cell[3]), key=key))
    for o in ops:
        o['launch_ns'] = min(calls.get(o.pop('key'), o['start_ns']), o['start_ns'])
    return ops


def from_records(run):
    with subprocess.Popen([gs.CLI, 'dump', run], stdout=subprocess.PIPE, text=True,
                          errors='replace', env=gs.environment()) as dump:
        ops = from_lines(dump.stdout)
    if dump.returncode:
        raise OSError(f'dump {run}: exit {dump.returncode}')
    return ops


def from_ledger(rows, plan):
    """The loop's copies and kernels are one operation a step."""
    ns = plan['gpu_us'] * 1000 // plan['kernels'] * plan['kernels']
    ops = []
    for r in rows:
        if r['place'] == 'gpu':
            ops.append((r['begin'], r['end'] - ns, r['end']))
        elif r['place'] == 'begun':
            ops.append((r['begin'], r['end'], r['end'] + 10_000))
        elif r['place'] == 'ended':
            ops.append((r['begin'] - 10_000, r['begin'] - 10_000, r['begin']))
    return [dict(kind='memset', launch_ns=launch, start_ns=max(launch, start), end_ns=end)
            for launch, start, end in ops]


SOURCES = ('simulator', 'records', 'ledger')


def operations(source, run, folder, rows, plan):
    if source == 'simulator':
        return from_simulator(folder)
    return from_records(run) if source == 'records' else from_ledger(rows, plan)
