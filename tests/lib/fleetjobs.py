# SPDX-License-Identifier: Apache-2.0
"""A job's digest takes the place of its runs', whichever comes first, in any store; nothing is billed twice."""
import random

import fleetcheck
import fleets
import gs

HOUR = fleets.HOUR
AT = fleets.MONDAY + 300 * fleets.DAY


def made(rng, run, job, tenant, start, wall, line, **more):
    d = fleets.digest(rng, 0)
    d.update(run=run, job=job, cluster='c1', start_unix_ns=start, wall_ns=wall, gpus=[line], **more)
    if tenant:
        d['tenant'] = tenant
    return d


def check(store, found, names, what):
    said = fleetcheck.as_json(store, '--by', 'run')
    gs.equal(sorted(r['run'] for r in said['runs']['runs']), names, f'{what}: each once')
    fleetcheck.check_all(store, [d for d in found if d['run'] in names], what)


def put(store, found):
    done = gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(found))
    gs.equal(done.returncode, 0, done.stderr.decode())


def check_all(store_of):
    """@store_of: the URL of a store of that name."""
    rng = random.Random(4)
    lines = [fleets.gpu_line(rng, 0, 0) for _ in range(8)]
    steps = [made(rng, 's0', '7', '', AT, HOUR, lines[0]), made(rng, 's1', '7', '', AT + HOUR, HOUR, lines[1])]
    whole = made(rng, 'c1-7', '7', '', AT, 3 * HOUR, lines[2], whole_job=True)
    later = made(rng, 's2', '7', '', AT + 5 * HOUR, HOUR, lines[3])  # requeued since
    others = [made(rng, 'o0', '7', 'vision', AT, HOUR, lines[4]), made(rng, 'o1', '8', '', AT, HOUR, lines[5]),
              dict(made(rng, 'o2', '7', '', AT, HOUR, lines[6]), cluster='c2'), made(rng, 'o3', '', '', AT, HOUR, lines[7])]
    all_of = [*steps, whole, later, *others]
    for i, order in enumerate((steps + [whole, later] + others, [whole] + others + [later] + steps,
                               [steps[0], whole, steps[1], later] + others)):
        store = store_of(f'jobs{i}')
        if i == 1:
            put(store, order)
        else:
            for d in order:
                put(store, [d])
        check(store, all_of, ['c1-7', 'o0', 'o1', 'o2', 'o3', 's2'], f'order {i}')
        # A step that comes once more does not come back.
        put(store, [dict(steps[0], revision=9)])
        check(store, all_of, ['c1-7', 'o0', 'o1', 'o2', 'o3', 's2'], f'order {i}, a step anew')
        longer = dict(whole, revision=2, wall_ns=9 * HOUR)
        put(store, [longer])
        check(store, [longer] + others, ['c1-7', 'o0', 'o1', 'o2', 'o3'], f'order {i}, the later life, too')
