# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""Jobs of a scheduler where the store is a collector's: GPUs that a job was given and none of its runs used reach the
bill, once, by way of a node's collector and a central one; a job is digested when its GPUs were given back, and anew
with what comes late; it is kept, counted and told as its team's; and what somebody wrote into its folder to break it."""
import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import collector as c
import gs
import jobsmade
from central import TOKENS, Centre

BIN = c.bin_dir()
S, T0 = 10**9, jobsmade.T0
DAY = 86400
JOB = [('SLURM_JOB_ID', 9), ('SLURM_CLUSTER_NAME', 'c1')]
QUICK = ['--limit', 'digest-after=1s']


def step(number, start=10, end=40):
    """The frames of a step's only process, as it would send them."""
    name = f'slurm-c1-9.{number}-0'
    with tempfile.TemporaryDirectory() as d:
        path = jobsmade.run(d, name, [f'run {name}'],
                            jobsmade.stream(start=start, end=end, pid=100 + number,
                                            env=[*JOB, ('SLURM_STEP_ID', number)]))
        with open(os.path.join(path, os.listdir(path)[0]), 'rb') as f:
            return f.read()


def node_in(d, centre, *options):
    os.makedirs(os.path.join(d, 'node', 'runs'))
    return c.Collector(BIN, root=os.path.join(d, 'node'), options=[*central.upstream(centre), *options])


def rows(store):
    """{run: (team, GPU time, what no process used)} of the store."""
    if not os.path.exists(store):
        return {}
    db = sqlite3.connect(store, timeout=60)
    made = db.execute("SELECT 1 FROM sqlite_master WHERE name='digest'").fetchone()
    found = [json.loads(text) for text, in db.execute('SELECT text FROM digest')] if made else []
    db.close()
    return {d['run']: (d.get('tenant'), sum(g['held_ns'] for g in d['gpus']),
                       d['classes'].get('excluded.no_process', [0])[0]) for d in found}


def sweep(daemon):
    daemon.process.send_signal(signal.SIGHUP)


def until(daemon, store, want, what):
    """After a sweep or more."""
    def there():
        sweep(daemon)
        time.sleep(0.5)
        return rows(store) == want

    try:
        c.wait_for(there, what)
    except Exception:
        print(what, rows(store), daemon.log()[-3000:])
        raise


def once(base, *options):
    """What one sweep says."""
    done = gs.command([os.path.join(BIN, 'gpustarve-collector'), '--dir', base, '--sweep', *options])
    gs.equal(done.returncode, 0, done.stderr)
    return done.stdout.decode().splitlines()


def test_node_and_centre():
    """Four GPUs for 100 s, one of them used for 30: by the job's digest, at the centre, as that team's."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-jobs-') as d:
        store = os.path.join(d, 'fleet')
        with Centre(BIN, d, https=False, options=['--store', f'sqlite:{store}', *QUICK]) as centre, \
                node_in(d, centre) as node:
            folder = jobsmade.alloc(node.base, end=None)
            client = node.client()
            client.send(step(0))
            there = os.path.join(centre.base, 'alpha', 'c1-9.job', 'alloc-n1-0.json')
            c.wait_for(lambda: os.path.exists(there), 'the allocation')
            until(centre, store, {'slurm-c1-9.0-0': ('alpha', 30 * S, 0)}, 'the step, while the job goes on')
            time.sleep(2)
            gs.equal(len(rows(store)), 1, 'no job that has its GPUs')

            jobsmade.alloc(node.base)
            runs = {'slurm-c1-9.0-0': ('alpha', 30 * S, 0)}
            until(centre, store, dict(runs, **{'slurm-c1-9': ('alpha', 370 * S, 370 * S)}), 'the job beside its step')
            gs.equal(os.path.exists(os.path.join(folder, '.upstream')), True, 'a cursor')
            said = json.loads(centre.ask('GET', '/v1/runs')[2])
            gs.equal([r['id'] for r in said['runs']], ['slurm-c1-9.0-0'], 'a list of runs')
            gs.equal(json.loads(centre.ask('GET', '/v1/runs', token=TOKENS['beta'])[2])['runs'], [], 'nobody else sees it')

            # A step whose node could not send before, and tasks that nobody recorded.
            client.send(step(1, 50, 80))
            runs['slurm-c1-9.1-0'] = 'alpha', 30 * S, 0
            until(centre, store, dict(runs, **{'slurm-c1-9': ('alpha', 340 * S, 340 * S)}), 'a step that came late')
            with open(os.path.join(folder, 'unrecorded-n1'), 'w', encoding='utf-8'):
                pass
            c.wait_for(lambda: os.path.exists(os.path.join(os.path.dirname(there), 'unrecorded-n1')), 'what was not seen')
            jobsmade.alloc(node.base, end=120)
            until(centre, store, dict(runs, **{'slurm-c1-9': ('alpha', 420 * S, 0)}), 'nobody is accused of what was not seen')

            # Requeued: two lives, one bill.
            jobsmade.alloc(node.base, job=12, end=None)
            jobsmade.alloc(node.base, job=12, restart=1, start=200, end=210)
            time.sleep(3)
            sweep(centre)
            time.sleep(2)
            gs.equal(len(rows(store)), 3, 'an allocation without an end')
            jobsmade.alloc(node.base, job=12)
            until(centre, store, dict(runs, **{'slurm-c1-9': ('alpha', 420 * S, 0), 'slurm-c1-12': ('alpha', 440 * S, 440 * S)}), 'both lives')
            gs.equal(centre.ask('GET', '/healthz', token=None)[0], 200, '/healthz')
            node.stop()
            centre.stop()


def test_a_run_stays():
    """A job whose run lay there before there was an upstream, and is not sent: the centre is not told of its GPUs, for it would
    say that nobody used them. One without runs goes; so does the other once its run is gone."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-jobs-') as d, Centre(BIN, d, https=False) as centre:
        base = os.path.join(d, 'node', 'runs')
        os.makedirs(base)
        run = jobsmade.run(base, 'slurm-c1-9.0-0', jobsmade.stream(env=[*JOB, ('SLURM_STEP_ID', 0)]))
        os.rename(os.path.join(run, os.listdir(run)[0]), os.path.join(run, '1' * 32 + '.gst'))
        for job in 9, 10:
            jobsmade.alloc(base, job=job)
        with c.Collector(BIN, root=os.path.join(d, 'node'), options=central.upstream(centre)) as node:
            gs.equal(node.base, base, 'where its runs are')
            there = {job: os.path.join(centre.base, 'alpha', f'c1-{job}.job', 'alloc-n1-0.json') for job in (9, 10)}
            c.wait_for(lambda: os.path.exists(there[10]), 'the job without runs')
            time.sleep(7)
            gs.check(not os.path.exists(there[9]), 'the job whose run stays')
            shutil.rmtree(run)
            c.wait_for(lambda: os.path.exists(there[9]), 'the job, once its run is gone')
            node.stop()
        centre.stop()


def test_centre_loses_it():
    """What the centre has lost of a job it is sent again, as a run's files are; and a node that forwards and removes
    keeps a job that has its GPUs."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-jobs-') as d, Centre(BIN, d, https=False) as centre:
        with node_in(d, centre, '--forwarded', 'remove') as node:
            folder = jobsmade.alloc(node.base, end=None)
            there = os.path.join(centre.base, 'alpha', 'c1-9.job', 'alloc-n1-0.json')
            c.wait_for(lambda: os.path.exists(there), 'the allocation')
            centre.stop()
            os.remove(there)
            centre.start()
            c.wait_for(lambda: os.path.exists(there), 'the allocation, again')
            time.sleep(65)
            gs.check(os.path.exists(folder), 'a job that has its GPUs stays')
            jobsmade.alloc(node.base)
            c.wait_for(lambda: not os.path.exists(folder), 'a job that is over and forwarded goes')
            with open(there, encoding='utf-8') as f:
                gs.equal(json.load(f)['end_unix_ns'], T0 + 100 * S, 'all of it is there')
            node.stop()
        centre.stop()


def old(path, seconds):
    then = time.time() - seconds
    for at, _, names in os.walk(path):
        for name in names:
            os.utime(os.path.join(at, name), (then, then), follow_symlinks=False)


def make_step(base, number, age):
    path = os.path.join(base, f'slurm-c1-9.{number}-0.gst')
    os.makedirs(path)
    data = step(number)
    with open(os.path.join(path, c.Frame(data, 0).stream.hex() + '.gst'), 'wb') as f:
        f.write(data)
    old(path, age)
    return path


def digested(path):
    with open(os.path.join(path, 'digest.done'), 'w', encoding='utf-8'):
        pass


def went(said):
    return [line.split(':')[0].split()[1:3] for line in said if line.startswith('removed ')]


def jobs_named(said):
    return [line.split()[1:] for line in said if line.startswith('job ')]


def test_kept():
    """By age and for quotas as runs are, after its digest; no run goes of which its job's is still to be made, and a
    digest that is made after a run went accuses nobody."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-jobs-') as d:
        base = os.path.join(d, 'runs')
        alpha = os.path.join(base, 'alpha')
        os.makedirs(alpha)
        run, keep = make_step(alpha, 0, 20 * DAY), ['--keep', '10d', '--store', 'sqlite:none']
        size = os.path.getsize(os.path.join(run, next(n for n in os.listdir(run))))
        digested(run)
        folder = jobsmade.alloc(alpha, end=None)
        said = once(base, *keep)
        gs.equal((went(said), jobs_named(said)), ([], []), 'a job that goes on')
        jobsmade.alloc(alpha)
        old(folder, 5 * DAY)
        written = os.stat(os.path.join(run, next(n for n in os.listdir(run) if n != 'digest.done'))).st_mtime_ns
        said = once(base, *keep)
        gs.equal((went(said), jobs_named(said)), ([], [['alpha', 'c1-9.job', str(size), str(written)]]), 'its digest comes first')
        gs.check([line for line in said if line.startswith('team alpha ') and line.endswith(' 2')], f'counted: {said}')

        # Of two that a quota could make room with the one whose digest, and job's, is made.
        other = os.path.join(alpha, 'other.gst')
        os.makedirs(other)
        with open(os.path.join(other, 'run.json'), 'w', encoding='utf-8') as f:
            f.write('x' * 40000)
        old(other, DAY)
        total = int(next(line for line in said if line.startswith('total ')).split()[1])
        said = once(base, '--quota', str(total + 30000), '--store', 'sqlite:none')
        gs.equal(went(said), [['alpha', 'other.gst']], f'the quota: {said}')

        digested(folder)
        said = once(base, *keep)
        gs.equal((went(said), jobs_named(said)), ([['alpha', 'slurm-c1-9.0-0.gst']], []), 'the run goes, and nothing is made anew')
        gs.check(os.path.exists(os.path.join(folder, 'unrecorded-n1')), 'what it did is not known any more')
        old(folder, 11 * DAY)
        digested(folder)
        gs.equal(went(once(base, *keep)), [['alpha', 'c1-9.job']], 'the job')
        gs.check(not os.path.exists(folder), 'it is gone')

        # Whose node was lost has no end: after a day it is over.
        folder = jobsmade.alloc(base, job=5, end=None)
        old(folder, DAY + 60)
        gs.equal(jobs_named(once(base, '--store', 'sqlite:none')), [['-', 'c1-5.job', '0', '0']], 'a node was lost')
        old(folder, DAY - 600)
        gs.equal(jobs_named(once(base, '--store', 'sqlite:none')), [], 'it may go on')
        gs.equal(went(once(base, '--keep', '1h')), [], 'and stays')


def hostile(base):
    """What is no job, or one that nobody can read."""
    for name in '.job', '-1.job', 'c1-.job', 'x.job', 'c1-99999999999.job', 'c 1-4.job', 'c1-5.job':
        os.makedirs(os.path.join(base, name))
        if name != 'c1-5.job':
            with open(os.path.join(base, name, 'alloc-n1-0.json'), 'w', encoding='utf-8') as f:
                f.write('{"end_unix_ns": 5}')
    os.symlink(jobsmade.alloc(os.path.join(base, '..', '..'), job=66), os.path.join(base, 'c1-66.job'))
    with open(os.path.join(base, 'c1-67.job'), 'w', encoding='utf-8'):
        pass
    odd = os.path.join(base, 'c1-68.job')
    os.makedirs(os.path.join(odd, 'alloc-a-0.json'))
    os.mkfifo(os.path.join(odd, 'alloc-b-0.json'))
    os.symlink('/etc/passwd', os.path.join(odd, 'alloc-c-0.json'))
    with open(os.path.join(odd, 'alloc-d-0.json'), 'wb') as f:
        f.write(b'\0' * 5000 + b' ' * 300 + b'"end_unix_ns" : \n 7')
    with open(os.path.join(odd, 'alloc-' + 'e' * 245), 'wb') as f:
        f.write(b'[' * 100000)


def test_hostile():
    """Names and contents that somebody made up: none is followed, waited for or believed beyond its own job, and
    another team's job is billed."""
    with tempfile.TemporaryDirectory(prefix='gpustarve-jobs-') as d:
        base, store = os.path.join(d, 'centre'), os.path.join(d, 'fleet')
        os.makedirs(os.path.join(base, 'alpha'))
        hostile(os.path.join(base, 'alpha'))
        old(base, 60)
        gs.equal(jobs_named(once(base, '--store', 'sqlite:none')), [['alpha', 'c1-68.job', '0', '0']], 'what is one')
        with Centre(BIN, d, https=False, options=['--store', f'sqlite:{store}', *QUICK]) as centre:
            def put(run, name, body, team='alpha'):
                return centre.ask('PUT', f'/v1/runs/{run}/files/{name}', body, token=TOKENS[team])[0]

            with open(os.path.join(jobsmade.alloc(d), 'alloc-n1-0.json'), 'rb') as f:
                good = f.read()
            gs.equal(put('c1-9.job', 'alloc-n1-0.json', good, 'beta'), 200, 'another team')
            gs.equal(put('c1-9.job', 'alloc-.json', good), 404, 'a name')
            gs.equal(put('c1-9.job', 'digest.done', b''), 404, 'a mark of ours')
            gs.equal(put('..job', 'alloc-n1-0.json', good), 404, 'a name that is none')
            gs.equal(put('c1-10.job', 'run.json', b'{}'), 200, 'a run of that name')
            gs.check(os.path.exists(os.path.join(base, 'alpha', 'c1-10.job.gst', 'run.json')), 'is a run')
            gs.equal(put('x.job', 'alloc-n1-0.json', good), 200, 'an old name')
            gs.check(os.path.exists(os.path.join(base, 'alpha', 'x.job.gst', 'alloc-n1-0.json')), 'is no job')
            until(centre, store, {'slurm-c1-9': ('beta', 400 * S, 400 * S)}, "another team's job")
            tries = os.path.join(base, 'alpha', 'c1-68.job', '.digest-tries')
            c.wait_for(lambda: os.path.exists(tries), 'the try of what cannot be read')
            gs.equal(centre.ask('GET', '/healthz', token=None)[0], 200, '/healthz')
            gs.equal(len(rows(store)), 1, 'rows')
            centre.stop()


gs.run_tests(globals(), width=5)
