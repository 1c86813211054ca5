#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm waits
"""The whole bill of a real Slurm with accounting: once a job has ended its digest is in the site's store, with its GPUs
as Slurm gave them, those that nobody used among them, once, and when nobody did: before, between and after the runs of a sweep in one
allocation, and never; also where another program stores its runs, and later where
the store was not there; what real `sacct` prints is read, and recorded, unrecorded and opted-out time are what Slurm says of each job."""
import json
import os
import re
import shlex
import sqlite3

import gs
import cluster
import hooked
import jobs

ONE = ['-n1', '--gpus=1']
STEP = ['-n1', '--gpus=1']
PAIR = ['-n2', '--gpus-per-task=1']
PAUSE = 2  # seconds before each step of the sweep
PARTS = ('before', 'between', 'after', 'never', 'unknown')
SACCT = 'sacct -aXP -S now-1days -o Cluster,JobIDRaw,Account,Start,ElapsedRaw,AllocTRES,AdminComment'


def stored(path):
    """{id of the job's digest: GPU time of it and of its runs} of the store."""
    if not os.path.exists(path):
        return {}
    db = sqlite3.connect(path, timeout=60)
    rows = dict(db.execute("SELECT 'slurm-test-' || job, sum(held_ns) FROM run GROUP BY job"))
    db.close()
    return rows


def fleet(path, *options):
    done = gs.gpustarve('fleet', '--store', 'sqlite:' + path, '--format', 'json', *options)
    gs.equal(done.returncode, 0, f'fleet {options}: {done.stderr.decode()}')
    return json.loads(done.stdout)


def told_by_sacct(slurm, numbers):
    """What sacct prints of these jobs, once accounting has their ends: the file, {job: (GPUs, seconds)}."""
    def whole():
        out = slurm.tool(*shlex.split(SACCT), env=slurm.environment(TZ='UTC')).stdout.decode()
        rows = [dict(zip(out.splitlines()[0].split('|'), l.split('|'))) for l in out.splitlines()[1:]]
        found = {int(r['JobIDRaw']): r for r in rows}
        ended = slurm.tool('sacct', '-aXnP', '-S', 'now-1days', '-o', 'JobIDRaw,State').stdout.decode().splitlines()
        left = [l for l in ended if not l.split('|')[1].startswith(cluster.ENDED)]
        return (out, found) if set(numbers) <= set(found) and not left else None

    out, found = cluster.until('accounting', whole)
    given = {}
    for n, r in found.items():
        gpus = re.search(r'gres/gpu=(\d+)', r['AllocTRES'])
        given[n] = (int(gpus.group(1)) if gpus else 0, int(r['ElapsedRaw']))
    return out, given


def sweep(*steps):
    """A batch script as hooked.batch's, with a pause before each step."""
    return hooked.batch(*steps).replace('\nsrun ', f'\nsleep {PAUSE}\nsrun ')


def unused(given, lives):
    """{part: ns} of a GPU that was given once and used by processes with these lives, by itself."""
    (start, end), = given
    used = gs.union([max(a, start), min(b, end)] for a, b in lives if a < end and b > start)
    if not used:
        return {'never': end - start}
    return {'before': used[0][0] - start, 'after': end - used[-1][1],
            'between': sum(b[0] - a[1] for a, b in zip(used, used[1:]))}


def check_sweep(site, job, path):
    """Each GPU of the sweep: by the lives of the tasks that used it and by what its hooks wrote down."""
    done = gs.gpustarve('report', '--job', str(job), '--dir', site.out, '--format', 'json')
    gs.equal(done.returncode, 0, done.stderr.decode())
    s, notes = json.loads(done.stdout), site.notes(job)
    lives = {(p['host'], p['pid']): (p['start_ns'], p['end_ns']) for p in s['run']['processes']}
    sums = dict.fromkeys(PARTS, 0)
    kinds = []
    for g in s['gpus']:
        mine = [n for n in notes if (n.get('uuid') or '').lower() == g['uuid'].lower()]
        given = [(a['start_unix_ns'], a['end_unix_ns']) for a in site.allocations(job)
                 for u in a['gpus'] if u['uuid'].lower() == g['uuid'].lower()]
        want = unused(given, [lives[n['node'], n['pid']] for n in mine])
        gs.equal({p: g['no_process'][f'{p}_ns'] for p in PARTS}, dict(dict.fromkeys(PARTS, 0), **want), f'the sweep: {g["uuid"]}')
        gs.equal(sum(want.values()), g['classes']['excluded.no_process'], 'the class')
        kinds.append(len(mine))
        for p, ns in want.items():
            sums[p] += ns
        if len(mine) == 2:  # as the tasks wrote it down themselves: who starts one lives a little longer
            inner = sorted((n['begin_ns'], n['end_ns']) for n in mine)
            apart = inner[1][0] - inner[0][1]
            gs.check(PAUSE * 10**9 <= apart and 0 < want['between'] <= apart + jobs.TICK, f'a pause: {want}, {apart}')
    gs.equal(sorted(kinds), [0, 1, 2], 'a GPU that two runs used, one that one did, one that nobody did')
    gs.check(all(sums[p] for p in PARTS[:4]), f'all of these are there: {sums}')
    stored = json.loads(sqlite3.connect(path, timeout=60).execute('SELECT text FROM digest JOIN run USING (key) WHERE run = ?',
                                                                (f'slurm-test-{job}',)).fetchone()[0])
    gs.equal({p: stored['no_process'].get(p, [0])[0] for p in PARTS}, sums, 'in the digest')
    gs.equal(sum(stored['no_process'].get(p, [0, 0])[1] for p in PARTS), stored['classes']['excluded.no_process'][1],
             'its dollars, once')
    said = fleet(path, '--by', 'unused')
    row = next(r for r in said['unused']['job'] if r['name'] == str(job))
    gs.equal({p: row[f'{p}_ns'] for p in PARTS}, sums, 'in the fleet')
    wasted = sum(c['ns'] for c in said['by']['class'] if c['class'] == 'excluded.no_process')
    gs.equal(sum(said['unused'][f'{p}_ns'] for p in PARTS), wasted, 'all of the class, of all jobs')


def main():
    why = cluster.missing(accounting=True)
    if why:
        gs.skip(why)
    with gs.scratch() as where:
        site = hooked.Site(where)
        path = os.path.join(where, 'bill', 'fleet.sqlite')
        conf = site.cluster(nodes=2, accounting=True, AccountingStorageTRES='gres/gpu',
                            EpilogSlurmctld=site.hook('epilogslurmctld', 'plain'))
        site.settings(store='sqlite:' + path, state=os.path.join(where, 'state'), slurm_conf=conf.path('slurm.conf'))
        with conf as slurm:
            def task(*args):
                return site.task('--steps', 300, *args)

            env = slurm.environment(GPUSTARVE='0')
            # The store cannot be opened: the job waits, and goes there with the next ones.
            os.makedirs(path)
            early = slurm.run_step('early', '-p', 'task', *ONE, *site.task())
            waits = os.path.join(where, 'state', 'unstored')
            cluster.until('what waits', lambda: os.path.isdir(waits) and os.listdir(waits))
            os.rmdir(path)
            done = {
                'early': early,
                'waste': slurm.run_step('waste', '-p', 'task', '-N1', '-n1', '--gpus-per-node=4', *task()),
                'idle': slurm.run_step('idle', '-p', 'task', '-n1', '--gpus=2', *task('--wait-ms', 8, '--only', 9)),
                'script': slurm.run_batch('script', hooked.batch([*STEP, *task()], [*STEP, *task()]), '-p', 'task', *ONE),
                'sweep': slurm.run_batch('sweep', sweep([*STEP, *task()], [*PAIR, *task()]), '-p', 'task', '-N1', '-n2', '--gpus=3'),
                'plain': slurm.run_step('plain', '-p', 'plain', *ONE, *task()),
                'out': slurm.run_step('out', '-p', 'task', *ONE, *task(), env=env),
            }
            number = {k: int(d.job) for k, d in done.items()}
            gs.equal(jobs.leftovers(slurm), [], 'left')
            recorded = ('early', 'waste', 'idle', 'script', 'sweep')
            names = {f'slurm-test-{number[k]}': k for k in recorded}
            given = {k: jobs.given_ns(site.allocations(str(number[k]))) for k in recorded}
            want = {f'slurm-test-{number[k]}': sum(given[k].values()) for k in recorded}
            cluster.until('each job as it was given its GPUs', lambda: {k: v for k, v in stored(path).items() if k in names} == want)
            db = sqlite3.connect(path, timeout=60)
            rests = {r: v == 'no_process' for r, v in db.execute('SELECT run, verdict FROM run WHERE run IN (%s)' % ','.join('?' * len(names)), [*names])}
            db.close()
            gs.equal(rests, {n: k != 'idle' for n, k in names.items()}, 'each beside its runs, but that of which nothing came to a GPU')
            said = fleet(path)
            check_sweep(site, str(number['sweep']), path)
            wasted = sum(c['ns'] for c in said['by']['class'] if c['class'] == 'excluded.no_process')
            gs.check(wasted > 0, f'what nobody used is in the bill: {wasted}')

            # A collector's rows of the same runs, before and after, are not billed again.
            for run in site.runs(str(number['script'])) + site.runs(str(number['waste'])):
                gs.equal(gs.gpustarve('digest', run, '--store', 'sqlite:' + path).returncode, 0, 'a run by itself')
            gs.equal({k: v for k, v in stored(path).items() if k in names}, want, 'once')
            gs.equal(fleet(path)['total']['held_ns'], said['total']['held_ns'], 'the bill, once')

            for k in recorded:
                cluster.until(f'the comment of {k}', lambda n=number[k]: 'gpustarve' in slurm.tool(
                    'sacct', '-nXP', '-j', str(n), '-o', 'AdminComment').stdout.decode())
            out, sacct = told_by_sacct(slurm, number.values())
            file = os.path.join(where, 'sacct')
            with open(file, 'w', encoding='utf-8') as f:
                f.write(out)
            given_ns = {k: sacct[number[k]][0] * sacct[number[k]][1] * 10**9 for k in number}
            gs.equal([sacct[number[k]][0] for k in ('waste', 'idle', 'script', 'sweep', 'plain', 'out')],
                     [4, 2, 1, 3, 1, 1], 'GPUs')
            whole = fleet(path, '--sacct', file)['allocated']
            gs.equal(whole['allocated_ns'], sum(g * s * 10**9 for g, s in sacct.values()), 'all that Slurm gave')
            # sacct has whole seconds, so a job's digest may hold more than was given: that counts in none.
            held = stored(path)
            want_ns = sum(min(given_ns[k], held[f'slurm-test-{number[k]}']) for k in recorded)
            unseen = held.get(f'slurm-test-{number["out"]}', 0)
            gs.equal(whole['recorded_ns'], want_ns + min(unseen, given_ns['out']), 'recorded')
            gs.check(gs.gpustarve('fleet', '--store', 'sqlite:' + path, '--sacct', file).stdout.startswith(b'recorded '),
                     'it opens with that')
            gs.equal(slurm.drained(), '', 'nodes')
            gs.equal(slurm.stop(), [], 'what had to be killed')
    gs.finish()


main()
