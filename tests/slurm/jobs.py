# SPDX-License-Identifier: Apache-2.0
"""Jobs of the throw-away Slurm (cluster.py) and the truth about them. A node of it has simulated
GPUs and a name of its own; which GPU did what, and when each task lived, is written down by the
simulator and by the tasks themselves, so that a report can be held against it.

    site = Site(where); with site.cluster() as slurm: slurm.srun('-n2', *site.task())"""
import fractions
import glob
import json
import os
import re

import cluster
import gs

HERE = os.path.dirname(os.path.abspath(__file__))
TICK = 20_000_000  # /proc tells when a process began in hundredths of a second

# The drivers of a node, which stand in the image of a real one. The wrapper is a program of the job
# as any other: whatever is preloaded into the job is preloaded into it, too.
NODE = '''#!/bin/sh
[ -n "$SLURM_JOB_ID" ] && mkdir -p -m 1777 {site}/truth/$SLURM_JOB_ID
export GPUSTARVE_BUILD={build} GPUSIM_DEVICES={gpus} GPUSIM_NODE=${{SLURMD_NODENAME##*n}}
export GPUSIM_SHM={site}/gpus/$SLURMD_NODENAME.$SLURM_JOB_UID GPUSIM_HOST=$SLURMD_NODENAME
export GPUSIM_TRUTH={site}/truth/$SLURM_JOB_ID
export LD_PRELOAD=${{LD_PRELOAD:+$LD_PRELOAD:}}{build}/gpusim/gpusim-host.so
exec "{with_gpusim}" "$@"
'''


class Site:
    def __init__(self, where, gpus=8):
        os.chmod(where, 0o755)
        self.where, self.gpus = where, gpus
        self.out, self.node = os.path.join(where, 'out'), os.path.join(where, 'on-node')
        for folder in 'out', 'truth', 'notes', 'gpus':
            os.makedirs(os.path.join(where, folder))
            os.chmod(os.path.join(where, folder), 0o1777)
        self.write('on-node', NODE.format(site=where, build=gs.plain(gs.BUILD), gpus=gpus,
                                          with_gpusim=gs.WITH_GPUSIM))

    def write(self, name, text, mode=0o755):
        path = os.path.join(self.where, name)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def cluster(self, **conf):
        return cluster.Cluster(self.where, gpus=self.gpus, **conf)

    def task(self, *args, wrapper=()):
        """The command line of a task on a node."""
        return [self.node, *wrapper, gs.PYTHON, os.path.join(HERE, 'task.py'), '--notes',
                os.path.join(self.where, 'notes'), *[str(a) for a in args]]

    # the truth

    def notes(self, job):
        """What the tasks of a job wrote down of themselves, by rank and restart."""
        rows = []
        for path in glob.glob(os.path.join(self.where, 'notes', '*.task')):
            with open(path, encoding='utf-8') as f:
                rows.append(json.load(f))
        return sorted((r for r in rows if r['job'] == str(job)),
                      key=lambda r: (r['restart'], r['rank']))

    def allocations(self, job):
        """What Prolog and Epilog wrote down, by restart and node."""
        rows = []
        for path in glob.glob(os.path.join(self.out, f'*-{job}.job', 'alloc-*.json')):
            with open(path, encoding='utf-8') as f:
                rows.append(json.load(f))
        return sorted(rows, key=lambda a: (a['restart'], a['node']))

    def runs(self, job):
        """A run directory per step and life of the job."""
        return [r for r in gs.runs(self.out) if re.search(rf'-{job}\.\d+-\d+\.gst$', r)]

    def ops(self, job):
        """{uuid: operations} that the job's GPUs did."""
        count = {}
        folder = os.path.join(self.where, 'truth', str(job))
        for op in gs.truth_ops(folder) if os.path.isdir(folder) else []:
            if op['kind'] in ('kernel', 'memcpy', 'memset', 'graph') and 'node' not in op:
                count[op['uuid'].lower()] = count.get(op['uuid'].lower(), 0) + 1
        return count


def lines(output):
    """Sorted, for tasks write beside each other. srun's own words about tasks that failed come in
    groups as they happen to end: one line per task here. Where and when is Slurm's to choose."""
    out = []
    for line in output.decode().splitlines():
        line = re.sub(r'\b(srun: error: |slurmstepd-|ON )\w*n\d', r'\1node', line)
        line = re.sub(r'\b(STEP |JOB |StepId=)\d+', r'\1N', re.sub(r' AT \S+', ' AT T', line))
        if re.match(r'slurmstepd-node: error: \*\*\* STEP N\.\d+ ON node CANCELLED', line):
            continue  # of a job that is cancelled: told or not, as its step is met
        m = re.match(r'(srun: error: \S+): tasks? (\S+): (.*)$', line)
        for span in m.group(2).split(',') if m else ():
            first, _, last = span.partition('-')
            out += [f'{m.group(1)}: {i}: {m.group(3)}' for i in range(int(first), int(last or first) + 1)]
        if not m:
            out.append(line)
    return sorted(out)


def same_job(what, done, plain):
    """A job's exit status and output are those of the same job without gpustarve."""
    gs.equal(done.returncode, plain.returncode, f'{what}: exit status')
    gs.equal(lines(done.stdout), lines(plain.stdout), f'{what}: stdout')
    gs.equal(lines(done.stderr), lines(plain.stderr), f'{what}: stderr')


def check_hosts_and_ranks(what, s, notes):
    """The processes that a summary tells of are the tasks, with their numbers and nodes."""
    gs.equal(s['run']['hosts'], sorted({n['node'] for n in notes}), f'{what}: hosts')
    got = sorted((p['rank'], p['host'], p['pid']) for p in s['run']['processes']
                 if p['role'] == 'trainer')
    gs.equal(got, sorted((n['rank'], n['node'], n['pid']) for n in notes if n.get('uuid')),
             f'{what}: ranks')


def check_ops(what, s, ops):
    gs.equal({g['uuid'].lower(): g['ops'] for g in s['gpus'] if g['ops']}, ops,
             f'{what}: operations of each GPU')


def check_allocations(what, allocations, notes, gpus, submitted, now):
    """Each node's GPUs of each life: given before the first task there began, taken back after the
    last one ended. gpus: how many of them in each life. submitted, now: ns that bound all of it."""
    for life in {n['restart'] for n in notes}:
        mine = [a for a in allocations if a['restart'] == life]
        tasks = [n for n in notes if n['restart'] == life]
        gs.equal([a['node'] for a in mine], sorted({n['node'] for n in tasks}), f'{what}: nodes')
        uuids = {g['uuid'].lower() for a in mine for g in a['gpus']}
        gs.equal((sum(len(a['gpus']) for a in mine), len(uuids)), (gpus, gpus), f'{what}: GPUs given')
        used = {n['uuid'].lower() for n in tasks if n.get('uuid')}
        gs.check(used <= uuids, f'{what}: used {used}, given {uuids}')
        for a in mine:
            here = [n for n in tasks if n['node'] == a['node']]
            begin = min(n['begin_ns'] for n in here)
            end = max(n.get('end_ns') or n['begin_ns'] for n in here)
            gs.check(submitted <= a['start_unix_ns'] <= begin and
                     end <= (a['end_unix_ns'] or 0) <= now,
                     f'{what}: given {a["start_unix_ns"]} to {a["end_unix_ns"]}, used {begin} to {end}')


def given_ns(allocations):
    """{uuid: ns} that the job held each GPU."""
    out = {}
    for a in allocations:
        for g in a['gpus']:
            uuid = g['uuid'].lower()
            out[uuid] = out.get(uuid, 0) + a['end_unix_ns'] - a['start_unix_ns']
    return out


def nano_usd(ns, price):
    """What so long costs at so many dollars per GPU-hour, in 1e-9 dollars, half to even."""
    return round(fractions.Fraction(ns) * fractions.Fraction(price) * 10**9 / (3600 * 10**9))


def check_job_report(what, s, notes, allocations, price, seen=True):
    """The report of a whole job: each GPU that it was given, for as long as it had it, and what of
    that no process lived on, to the nanosecond and at the right price. seen: all of its processes
    were recorded, else it cannot be told who used what."""
    given = given_ns(allocations)
    held = {g['uuid'].lower(): g['held_ns'] for g in s['gpus']}
    gs.equal(held, given, f'{what}: GPUs, and how long it had them')
    outside = 'excluded.no_process' if seen else 'excluded.unobserved'
    other = 'excluded.unobserved' if seen else 'excluded.no_process'
    money = 0
    for g in s['gpus']:
        gs.equal(sum(g['classes'].values()), g['held_ns'], f'{what}: classes of {g["uuid"]}')
        mine = [n for n in notes if (n.get('uuid') or '').lower() == g['uuid'].lower()]
        pids = {(n['node'], n['pid']) for n in mine}
        lives = gs.union([p['start_ns'], p['end_ns']] for p in s['run']['processes']
                         if (p['host'], p['pid']) in pids)
        without = g['held_ns'] - gs.measure(lives)
        gs.equal(g['classes'].get(outside, 0), without, f'{what}: {outside} of {g["uuid"]}')
        gs.check(seen is False or mine or without == g['held_ns'], f'{what}: nobody used {g["uuid"]}')
        gs.check(mine == [] or g['classes'].get(other, 0) < g['held_ns'], f'{what}: {other}')
        money += nano_usd(without, price)
    if seen:
        gs.equal(round(s['cost']['idle_allocation_usd'] * 10**9), money, f'{what}: dollars of no process')
    total = sum(nano_usd(ns, price) for g in s['gpus'] for ns in g['classes'].values())
    gs.equal(round(s['cost']['usd'] * 10**9), total, f'{what}: dollars')


def check_life(what, s, notes, outside):
    """Held time of each GPU that one task held for its life: from before the task's first line to
    after its last, and no longer than who started it saw it live. outside: ns."""
    for g in s['gpus']:
        mine = [n for n in notes if (n.get('uuid') or '').lower() == g['uuid'].lower()]
        if gs.equal(len(mine), 1, f'{what}: tasks on {g["uuid"]}'):
            inside = mine[0]['end_ns'] - mine[0]['begin_ns']
            gs.check(inside - TICK <= g['held_ns'] <= outside + TICK,
                     f'{what}: held {g["held_ns"]}, not within {inside} and {outside}')
        gs.equal(sum(g['classes'].values()), g['held_ns'], f'{what}: classes make up the time')


def leftovers(slurm, patience=60):
    """Processes of ours that still live once all jobs have ended, apart from the daemons."""
    try:
        cluster.until('leftovers', lambda: not slurm.others(), patience)
    except TimeoutError:
        return slurm.others()
    return []
