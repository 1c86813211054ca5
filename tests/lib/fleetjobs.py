# SPDX-License-Identifier: Apache-2.0
"""A job's digest takes the place of its runs', whichever comes first, in any store; nothing is billed twice, nor where the
scheduler's host, which knows no teams, and a team's collector put the same job."""
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


def check_teams(store_of):
    """Of two digests of a job the one of more time counts, of equal ones the team's; two teams have jobs of their own."""
    rng = random.Random(5)
    line, less, other = (fleets.gpu_line(rng, 0, 0) for _ in range(3))
    line['held_ns'], less['held_ns'] = line['held_ns'] + less['held_ns'], less['held_ns']
    step = made(rng, 's0', '7', 'vision', AT, HOUR, less)
    of_host = made(rng, 'c1-7', '7', '', AT, 3 * HOUR, line, whole_job=True)
    of_team = made(rng, 'c1-7', '7', 'vision', AT, 3 * HOUR, line, whole_job=True)
    small = dict(of_team, gpus=[less])
    speech = made(rng, 'c1-7s', '7', 'speech', AT, 3 * HOUR, other, whole_job=True)
    for i, (order, want) in enumerate((
            ([step, of_host, of_team], [of_team]), ([of_team, step, of_host], [of_team]), ([of_host, step], [of_host]),
            ([of_host, of_team, of_host, step], [of_team]), ([small, of_host, step], [of_host]),
            ([of_host, small], [of_host]), ([of_team, speech], [of_team, speech]),
            ([speech, of_host], [max(speech, of_host, key=lambda d: d['gpus'][0]['held_ns'])]))):
        store = store_of(f'teams{i}')
        for d in order:
            put(store, [d])
        said = fleetcheck.as_json(store, '--by', 'run')
        gs.equal(sorted((r['run'], r.get('team') or '') for r in said['runs']['runs']),
                 sorted((d['run'], d.get('team', '')) for d in want), f'teams {i}')
        fleetcheck.check_all(store, want, f'teams {i}')


def check_all(store_of):
    check_teams(store_of)
    """@store_of: the URL of a store of that name."""
    rng = random.Random(4)
    lines = [fleets.gpu_line(rng, 0, 0) for _ in range(8)]
    steps = [made(rng, 's0', '7', '', AT, HOUR, lines[0]), made(rng, 's1', '7', '', AT + HOUR, HOUR, lines[1])]
    whole = made(rng, 'c1-7', '7', '', AT, 3 * HOUR, lines[2], whole_job=True)
    later = made(rng, 's2', '7', '', AT + 5 * HOUR, HOUR, lines[3])  # requeued since
    others = [made(rng, 'o0', '6', 'vision', AT, HOUR, lines[4]), made(rng, 'o1', '8', '', AT, HOUR, lines[5]),
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
