#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Plain preloading, no wrapper: every operation of the simulator's truth is in the spool to the
nanosecond and no other, on each CUPTI version, at each level, with correlation ids that wrap, with
several processes and devices; and every operation is joined with the call that launched it."""
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

MIX = ['--ops', 15000, '--peer', 20, '--host', 5]


def joined(t, what):
    """Each operation's launch is there under its correlation id and began before it."""
    launch = {}
    for e in t.events[prof.API]:
        launch[e['corr']] = min(e['start'], launch.get(e['corr'], e['start']))
    orphans = [e for e in t.ops if e['corr'] not in launch]
    gs.equal(len(orphans), 0, f'{what}: operations without a launch, such as {orphans[:1]}')
    late = [e for e in t.ops if launch.get(e['corr'], 0) > e['start']]
    gs.equal(len(late), 0, f'{what}: operations that began before their launch')


def one(what, mix=(), check_join=True, streams=1, **env):
    with gs.scratch() as where:
        done = prof.run([prof.MIXLOOP, *MIX, *mix], where, GPUSIM_DEVICES=4, **env)
        gs.equal(done.returncode, 0, f'{what}: {done.stderr.decode()[-300:]}')
        found = prof.traces(where)
        gs.equal(len(found), streams, f'{what}: streams')
        for t in found:
            n = prof.expect_exact(where, t, what, t.hello['pid'])
            gs.check(t.bye and t.bye['reason'] == 'exit', f'{what}: Bye')
            gs.equal(t.losses, [], f'{what}: losses')
            if check_join:
                joined(t, what)
            print(f'{what}: {n} operations, {len(t.events[prof.API])} calls', flush=True)
        return found[0] if found else None


for version in ['13', '12.6', '12.4', '11.8']:
    one(f'CUPTI {version}', GPUSIM_CUPTI=version)
    one(f'CUPTI {version}, ids wrap', GPUSIM_CUPTI=version,
        GPUSIM_CORRELATION_START=2**32 - 8000)
one('node level', GPUSTARVE_GRAPHS='node')
t = one('level 0', check_join=False, GPUSTARVE_LEVEL=0)
gs.equal(len(t.events[prof.API]), 0, 'API records at level 0')
gs.equal(t.hello['level'], '0', 'level')
t = one('level 2', GPUSTARVE_LEVEL=2)
gs.equal((t.hello['level'], t.hello['graphs']), ('2', 'node'), 'level 2')
one('four processes', ['--processes', 4, '--devices', 4], streams=4)
one('three processes, one device', ['--processes', 3, '--exec'], streams=3)
gs.finish()
