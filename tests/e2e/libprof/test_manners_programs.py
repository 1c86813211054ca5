#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=3600
"""Programs of Debian's do the same with gpustarve around them as without: bytes, status, files. All of
programs.py with GS_BIG=1 and what `scripts/setup --campaigns` installs, else those that are ci.

    test_manners_programs.py [NAME...]     these alone, with what they said"""
import functools
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import manners
import programs

names = sys.argv[1:]
chosen = [c for c in programs.PROGRAMS if (c.name in names if names else gs.BIG or c.ci)]
gs.check(chosen and set(names) <= {c.name for c in chosen}, f'unknown: {names}')
gs.equal(len({c.name for c in programs.PROGRAMS}), len(programs.PROGRAMS), 'names of cases')
played = []


def one(case):
    why = case.lacks()
    if why:
        gs.left_out(f'{case.name}: {why}')
        return
    found = manners.told(case)
    same = not found
    played.append(same)
    for line in found:
        gs.check(False, f'{case.name}: {line}')
    if names or gs.BIG:
        print(f'{"same" if same else "DIFFERS"}: {case.name}', flush=True)


def judge():
    """That plays with gpustarve have it in them, and that a difference is seen."""
    for what, script in (('stdout', 'grep -c libprof /proc/self/maps; true'), ('stderr', 'echo "$LD_PRELOAD" >&2; echo'),
                         ('files', 'echo "$LD_PRELOAD" >f; echo'), ('status', 'echo; exit ${#LD_PRELOAD}')):
        found = manners.told(manners.Case(what, script))
        gs.check(found and what.rstrip('s') in found[0], f'a difference in {what} is seen: {found}')


judge()
gs.side_by_side([functools.partial(one, case) for case in chosen], width=3)
gs.check(played, 'nothing was played')
print(f'{sum(played)} of {len(played)} programs do the same, {len(chosen) - len(played)} are not here')
gs.finish()
