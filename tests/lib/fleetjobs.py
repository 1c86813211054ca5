# SPDX-License-Identifier: Apache-2.0
"""A job's digest takes the place of its runs', whichever comes first, in any store; nothing is billed twice, nor where the
scheduler's host, which knows no teams, and a team's collector put the same job."""
import random

import fleetcheck
import fleets
import gs

HOUR = fleets.HOUR
AT = fleets.MONDAY + 300 * fleets.DAY
SERVERS = 3, 6, 9, 12, 13, 17  # orders of check_rest that a server, which keeps all rows and asks for each, is given
CUT = 0, 6, 9


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


def rest_of(rng, run, job, tenant, start, wall, all_ns, rows, **more):
    """What a job was given and no run of it held: @rows are (GPU of gpu_line, spans [(from, wall, GPUs)])."""
    lines, spans = [], []
    for i, (kind, of) in enumerate(rows):
        line = fleets.gpu_line(rng, kind, 0)
        ns = sum(w * n for _, w, n in of)
        usd = fleets.even(line.get('price', {}).get('per_gpu_hour', 0) * ns, HOUR)
        line.update(held_ns=ns, busy_ns=0, starved_ns=0, wasted_ns=ns, gpus=max(n for _, _, n in of))
        if 'price' in line:
            line.update(usd=usd, starved_usd=0, wasted_usd=usd)
        lines.append(line)
        spans += [[i, a, w, n, w * n] for a, w, n in of]
    d = made(rng, run, job, tenant, start, wall, lines[0], rest_of_job_ns=all_ns, rest_spans=spans, verdict='no_process', **more)
    d.update(gpus=lines, end='ok', classes={'excluded.no_process': [sum(l['held_ns'] for l in lines), sum(l.get('usd', 0) for l in lines)]})
    for gone in 'exit_status', 'units', 'saves':
        d.pop(gone, None)
    return d


def check_rest(store_of):
    """A job's rest stands beside its runs, in any order; one digest of all of it takes their place, until the next is of the rest
    again; and where a host that knows no teams tells all of a job, too, the one of more counts, of equals the team's."""
    rng = random.Random(6)
    line = fleets.gpu_line(rng, 0, 0)
    line['held_ns'] = 5 * HOUR
    runs = [made(rng, 'r0', '7', 'vision', AT, HOUR, fleets.gpu_line(rng, 0, 0)),
            made(rng, 'r1', '7', 'vision', AT + 2 * HOUR, HOUR, fleets.gpu_line(rng, 1, 1))]
    rest = rest_of(rng, 'c1-7', '7', 'vision', AT, 6 * HOUR, 5 * HOUR, [(0, [(HOUR, HOUR, 1), (3 * HOUR, HOUR, 2)]), (3, [(0, HOUR, 1)])], revision=3)
    whole = made(rng, 'c1-7', '7', 'vision', AT, 6 * HOUR, line, whole_job=True, revision=2)
    again = dict(whole, revision=5)
    of_host = made(rng, 'c1-7', '7', '', AT, 6 * HOUR, line, whole_job=True)
    more = dict(of_host, gpus=[dict(line, held_ns=5 * HOUR + 1)], revision=2)
    own = [dict(r, tenant='', team='') for r in runs]  # what the host tells of runs, too
    own_more = dict(own[0], gpus=[dict(l, held_ns=l['held_ns'] + 1) for l in own[0]['gpus']], revision=2)
    own_rest = dict(rest, tenant='', team='')
    late = made(rng, 'r2', '7', 'vision', AT + 5 * HOUR, HOUR, fleets.gpu_line(rng, 0, 2))
    other = made(rng, 'o', '8', 'vision', AT, HOUR, fleets.gpu_line(rng, 0, 0))
    apart = [*runs, rest]
    for i, (order, want) in enumerate((
            ([*runs, rest, other], apart + [other]), ([rest, *reversed(runs)], apart), ([runs[0], rest, runs[1]], apart),
            ([runs[0], whole, runs[1], rest], apart), ([*runs, whole, dict(runs[0], revision=9), rest, late],
                                                       [dict(runs[0], revision=9), runs[1], rest, late]),
            ([*runs, rest, again], [again]), ([*runs, rest, again, late, dict(rest, revision=6)], [*runs, dict(rest, revision=6), late]),
            ([*runs, of_host, rest], apart), ([rest, of_host, *runs], apart), ([*runs, rest, of_host], apart),
            ([*runs, rest, more], [more]), ([more, *runs, rest], [more]), ([*runs, more, rest, of_host], [more]),
            ([*own, own_rest, *runs, rest], apart), ([*runs, rest, *own, own_rest], apart), ([own[0], runs[1], own_rest, runs[0], rest, own[1]], apart),
            ([*own, own_rest], [*own, own_rest]), ([*runs, rest, own_more, own_rest], [own_more, runs[1], rest]),
            ([own_more, *runs, own_rest, rest], [own_more, runs[1], rest]))):
        if i not in SERVERS and not store_of('').startswith('sqlite:'):
            continue
        store = store_of(f'rest{i}')
        for d in order:
            put(store, [d])
        said = fleetcheck.as_json(store, '--by', 'run')
        gs.equal(sorted((r['run'], r['end'], r.get('team') or '') for r in said['runs']['runs']),
                 sorted((d['run'], 'unused' if 'rest_of_job_ns' in d else d['end'], d.get('team', '')) for d in want), f'rest {i}')
        gs.equal(said['runs']['count'], sum('rest_of_job_ns' not in d for d in want), f'rest {i}: a rest is no run')
        fleetcheck.check_all(store, want, f'rest {i}')
        for since, until in () if i not in CUT else ((AT + HOUR // 2, AT + 7 * HOUR // 2), (AT + HOUR, AT + 2 * HOUR), (AT - HOUR, AT + 4 * HOUR)):
            fleetcheck.check_all(store, want, f'rest {i} from {(since - AT) / HOUR} h', since, until)


def check_all(store_of):
    """@store_of: the URL of a store of that name."""
    check_teams(store_of)
    check_rest(store_of)
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


def site(found, share=40, seed=8):
    """The same digests as a Slurm site has them: @share percent of them are steps, two to four of a job, that has a digest of its own:
    three of four such of what no step held, the others of all of it. As many are left out as come, so that they stay as many."""
    rng, out = random.Random(seed), []
    found = list(found)
    while found:
        d = found.pop()
        if len(found) < 5 or rng.random() * 100 >= share / 2:
            out.append(d)
            continue
        steps = [d] + [found.pop() for _ in range(rng.choice([1, 1, 2, 3]))]
        whole, at = rng.random() < .25, d['start_unix_ns']
        found.pop()
        for i, s in enumerate(steps):
            s = dict(s, job=d['job'], start_unix_ns=at, **{k: d[k] for k in ('team', 'user', 'project') if k in d})
            out.append(s)
            at += s['wall_ns'] if i + 1 < len(steps) else 0
        wall, more = at + s['wall_ns'] - d['start_unix_ns'], {k: d[k] for k in ('team', 'user', 'project') if k in d}
        if whole:
            line = dict(gpus_of(steps)[0], held_ns=sum(l['held_ns'] for l in gpus_of(steps)))
            out.append(dict(d, run=f'c1-{d["job"]}', wall_ns=wall, gpus=[line], whole_job=True, end='ok'))
        else:
            r = rest_of(rng, f'c1-{d["job"]}', d['job'], '', d['start_unix_ns'], wall, 2 * wall, [(0, [(0, wall // 2, 1)])])
            out.append(dict({k: v for k, v in r.items() if k not in ('team', 'project')}, **more))
    return out


def gpus_of(found):
    return [l for d in found for l in d['gpus']]
