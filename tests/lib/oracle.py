# SPDX-License-Identifier: Apache-2.0
"""The independent reference of docs/LEDGER.md that lies in ../shared/oracle, and the rules that came
after it, in its own words: rule 0, graphs without an operation. Each takes the place of a piece of
its text that must stand there as it is told here."""
import os
import sys
import types

import gs

FOLDER = os.path.join(gs.SHARED, 'oracle')

# LEDGER rule 0. A graph's launch that no operation has, behind the launches of all kernels and graphs that ran
# before the gap, and before those of all that runs behind it.
LOST_GRAPHS = [
    ("    t.pload = line(per);",
     "    ran = {(o.pid, o.corr) for o in t.ops}\n"
     "    t.lost = sorted((c for k, c in t.launch.items() if k not in ran and 'GraphLaunch' in c.name), key=lambda c: c.start)\n"
     "    t.pload = line(per);"),
    ("    level0 = M[0] is None",
     "    def lost_graph(after, before):\n"
     "        return min((c for c in t.lost if after < c.start < before and (c.pid in procs or None in procs)), default=None)\n"
     "    level0 = M[0] is None"),
    ("        if x > a: out['empty'] += x - a; empty(a, x, i, call)\n"
     "        if b > x:\n"
     "            out['queued'] += b - x; p = None\n",
     "        ran = max((L[j].start for j in range(i) if L[j] and ops[j].kind != 'copy'), default=-INF)\n"
     "        g = call and lost_graph(ran, call.start); y = min(max(g.start, a), b) if g else x\n"
     "        if y > a: out['empty'] += y - a; empty(a, y, i, g or call)\n"
     "        if x > y: out['queued'] += x - y; add('device.unknown', whole(y, x))\n"
     "        if b > x:\n"
     "            out['queued'] += b - x; p = None\n"),
    ("        w0, w1 = t.window; r['held_ns'] = w1 - w0; call = M[0]\n",
     "        w0, w1 = t.window; r['held_ns'] = w1 - w0; call = M[0]\n"
     "        call = lost_graph(-INF, min(call.start, s0) if call else s0) or call\n"),
]


def is_here():
    return os.path.isdir(FOLDER)


def ref_ledger():
    """The reference as a module."""
    path = os.path.join(FOLDER, 'ref_ledger.py')
    with open(path, encoding='utf-8') as f:
        text = f.read()
    for old, new in LOST_GRAPHS:
        if text.count(old) != 1:
            raise ValueError(f'{path} has not once: {old}')
        text = text.replace(old, new)
    module = types.ModuleType('ref_ledger')
    module.__file__ = path
    sys.path.insert(0, FOLDER)
    exec(compile(text, path, 'exec'), module.__dict__)
    return module
