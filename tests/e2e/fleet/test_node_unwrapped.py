#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""`gpustarve node` on the simulated GPU: what nobody recorded stands in the bill as unwrapped, once, with how busy the GPU was;
what is recorded does not, and of a GPU that both are on each has its part. Jobs hold their GPUs for a known time, and a row
may lack two looks at each end."""
import contextlib
import json
import os
import signal
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import units
from daemon import die_with_parent

JOB = '''import sys, time
sys.path.insert(0, %r)
import gpudev
device, seconds = int(sys.argv[1]), float(sys.argv[2])
dev = gpudev.Device(device)
stream = gpudev.Stream(dev)
begin, kernels = time.time(), 0
while time.time() < begin + seconds:
    stream.kernel(60_000_000)  # 60 ms of each 100
    stream.synchronize()
    kernels += 1
    time.sleep(.04)
print(begin, time.time(), kernels * .06, flush=True)
''' % gs.WORKLOADS
LIBRARY = gs.LIBPROF
SIM = os.path.join(gs.BUILD, 'gpusim')


def held(digest):
    return sum(g['held_ns'] for g in digest['gpus'])


class Machine:
    """A folder, and processes that share the GPUs of one simulated machine."""

    def __init__(self, where, gpus):
        self.started = []
        self.where, self.store = where, f'sqlite:{where}/fleet.sqlite'
        self.env = gs.environment(
            GPUSIM_SHM=f'/dev/shm/gpusim-node-{os.getpid()}-{os.path.basename(where)}', GPUSIM_DEVICES=str(gpus), GPUSIM_CUPTI='13',
            LD_LIBRARY_PATH=f'{SIM}:{SIM}/cupti-13', GPUSIM_QUIET='1', GPUSTARVE_OUT=f'{where}/runs')
        with open(f'{where}/job.py', 'w', encoding='utf-8') as f:
            f.write(JOB)

    def start(self, argv, env):
        p = subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=die_with_parent)
        self.started.append(p)
        return p

    def job(self, device, seconds, recorded=False, before=(), **more):
        env = {**self.env, **({'LD_PRELOAD': LIBRARY} if recorded else {}), **more}
        return self.start([*before, '/usr/bin/python3', f'{self.where}/job.py', str(device), str(seconds)], env)

    def node(self, *words, look=1, every=2, before=(), **more):
        return self.start([*before, gs.CLI, 'node', '--store', self.store, '--look', str(look), '--every', str(every), *words],
                          {**self.env, **more})

    def rows(self):
        """The digests that are stored; those that hold most first."""
        try:
            with contextlib.closing(sqlite3.connect(f'file:{self.where}/fleet.sqlite?mode=ro', uri=True)) as db:
                rows = [json.loads(text) for text, in db.execute('SELECT text FROM digest')]
        except sqlite3.OperationalError:
            return []  # it is not there, or not made yet
        return sorted(rows, key=lambda d: -held(d))

    def fleet(self, *words):
        return json.loads(gs.gpustarve('fleet', '--store', self.store, '--format', 'json', *words).stdout)


@contextlib.contextmanager
def machine(gpus):
    with tempfile.TemporaryDirectory(prefix='gs-node-') as where:
        m = Machine(where, gpus)
        try:
            yield m
        finally:
            for p in m.started:
                p.kill()
                p.communicate()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(m.env['GPUSIM_SHM'])


def ended(p, what):
    out, err = p.communicate(timeout=120)
    gs.equal(p.returncode, 0, f'{what}: exit status')
    return out, (err or b'').decode()


def test_bill():
    with machine(3) as m:
        node = m.node('--team', 'red')
        jobs = [m.job(0, 5), m.job(1, 5, recorded=True), m.job(2, 5), m.job(2, 5, recorded=True)]
        took, worked = [], []
        for j in jobs:
            begin, end, at_work = map(float, ended(j, 'a job')[0].split())
            took.append(end - begin)
            worked.append(at_work / (end - begin))  # .6 where its core is its own
        time.sleep(1.5)
        node.send_signal(signal.SIGTERM)
        said = ended(node, 'node')[1]
        gs.equal(said, '', 'nothing is said')
        whole = m.fleet()
        gs.equal([r['name'] for r in whole['by']['kind']], ['unwrapped'], 'kinds')
        gs.equal([r['class'] for r in whole['by']['class']], ['unwrapped'], 'classes')
        gs.equal([r['name'] for r in whole['by']['team']], ['red'], 'teams')
        rows = m.rows()
        if not gs.equal(len(rows), 2, f'one row for each that was not recorded: {rows}'):
            return
        for row, truth, parts in (rows[0], took[0], 1), (rows[1], took[2], 2):
            gs.check(truth - 3.5 <= held(row) / 1e9 * parts <= truth + .5, f'held {held(row) / 1e9} s as one of {parts}, of {truth}')
            gs.equal((row['kind'], row['verdict'], list(row['classes'])), ('unwrapped',) * 2 + (['unwrapped'],), 'what it is')
            gs.check(row['labels']['host'] and 'python' in row['labels']['command'], f'whose: {row["labels"]}')
        total = whole['total']
        gs.check(total['usd'] > 0 and not total['wasted_ns'] and not total['starved_ns'], f'a price, and nobody is accused: {total}')
        busy = rows[0]['gpus'][0]['busy_ns'] / held(rows[0])
        gs.check(worked[0] - .25 <= busy <= worked[0] + .15,
                 f'the first was busy for {busy} of its time, not {worked[0]} or somewhat less at its ends')
        gs.equal(sum(held(r) for r in rows), total['held_ns'], 'it closes')
        jobs = os.path.join(m.where, 'jobs')
        with open(jobs, 'w', encoding='utf-8') as f:
            f.write('JobIDRaw|Account|Start|ElapsedRaw|AllocTRES\n7|a|%s|3600|gres/gpu=3\n' %
                    time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(time.time() - 1800)))
        told = m.fleet('--sacct', jobs)
        gs.check('recorded' in json.dumps(told), 'the whole bill')
        gs.equal((told['allocated']['recorded_ns'], told['allocated']['elsewhere_ns']), (0, 0), 'what was unwrapped is not taken for recorded')


def test_lost():
    """A library whose records go nowhere records nothing; a collector that is away for now is another matter."""
    with machine(2) as m:
        node = m.node()
        jobs = [m.job(0, 5, recorded=True, GPUSTARVE_OUT='/proc/x'),
                m.job(1, 5, recorded=True, GPUSTARVE_OUT='/dev/null', GPUSTARVE_SOCKET='/nowhere/s')]
        for j in jobs:
            ended(j, 'a job')
        time.sleep(1.5)
        node.send_signal(signal.SIGTERM)
        ended(node, 'node')
        rows = m.rows()
        gs.equal([r['kind'] for r in rows], ['unwrapped'], f'one of them: {rows}')
        gs.check(rows and held(rows[0]) > 1e9, 'and what it held')


def test_killed():
    """What was stored stays, what comes after is a row of its own, and nothing counts twice."""
    if not gs.BIG:
        gs.left_out('that a killed one counts nothing twice (GS_BIG=1)')
        return
    with machine(1) as m:
        job = m.job(0, 7)
        node = m.node(every=1)
        gs.until('a row', m.rows)
        node.kill()
        node.communicate()
        before = sum(held(r) for r in m.rows())
        node = m.node(every=1)
        gs.until('another one', lambda: len(m.rows()) == 2)
        begin, end, _ = map(float, ended(job, 'the job')[0].split())
        time.sleep(1.2)
        node.send_signal(signal.SIGINT)
        ended(node, 'node')
        rows = m.rows()
        gs.equal(len(rows), 2, f'rows: {rows}')
        after = sum(held(r) for r in rows)
        gs.check(before < after <= (end - begin + .5) * 1e9, f'held {after} ns, of {end - begin} s')


def test_ill():
    """An NVML that is not well is said, once, and ends nothing."""
    with machine(1) as m:
        for how, said in ('crash', 'refused, or crashed'), ('none', 'refused, or crashed'):
            node = m.node('--for', '1', GPUSIM_NVML=how)
            told = ended(node, how)[1]
            gs.check(told.count('\n') == 1 and said in told, f'{how}: {told}')
        node = m.node('--for', '1', LD_LIBRARY_PATH='/nowhere')
        gs.check('no NVML' in ended(node, 'none')[1], 'without NVML')
        if not gs.BIG:
            gs.left_out('processes of another pid namespace (GS_BIG=1)')
            return
        job = m.job(0, 3)
        node = m.node('--for', '2', GPUSIM_NVML='outside')  # processes of another namespace
        ended(node, 'outside')
        ended(job, 'the job')
        gs.equal(m.rows(), [], 'what nobody can tell is left out')


def test_unit():
    units.check('gpustarve-node', 35)


def test_confined():
    """With the capabilities alone that its unit leaves it, and blind for folders that jobs see, it tells the same of them."""
    nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    if os.geteuid() or not shutil.which('setpriv'):
        gs.left_out('what its unit leaves it of root (needs root and setpriv)')
        return
    if gs.command([*nobody, gs.CLI, '--version']).returncode or gs.command(['unshare', '--mount', 'true']).returncode:
        gs.left_out('what its unit leaves it of root (nobody may not start this build, or no namespaces here)')
        return
    with machine(4) as m:
        os.chmod(m.where, 0o755)
        theirs = os.path.join(m.where, 'theirs')
        os.mkdir(theirs, 0o700)
        with open(m.env['GPUSIM_SHM'], 'wb'):
            pass
        for path in theirs, m.env['GPUSIM_SHM']:
            os.chown(path, 65534, 65534)
        kept = ','.join('+' + name for name in units.capabilities('gpustarve-node'))
        node = m.node(before=['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none "$0" && exec "$@"', theirs, 'setpriv',
                              f'--bounding-set=-all,{kept}', '--no-new-privs'])
        jobs = [m.job(0, 4, before=nobody, SLURM_JOB_ID='bare'),
                m.job(1, 4, recorded=True, before=nobody, GPUSTARVE_OUT=theirs, SLURM_JOB_ID='theirs'),
                m.job(2, 4, recorded=True, before=nobody, GPUSTARVE_OUT='/proc/x', SLURM_JOB_ID='lost'),
                m.job(3, 4, recorded=True, GPUSTARVE_OUT=theirs, SLURM_JOB_ID='root')]
        for j in jobs:
            ended(j, 'a job')
        node.send_signal(signal.SIGTERM)
        gs.equal(ended(node, 'node')[1], '', 'nothing is said')
        rows = m.rows()
        gs.equal(sorted((row['labels']['slurm_job'], row['user']) for row in rows), [('bare', 'nobody'), ('lost', 'nobody')],
                 f'who is not recorded: {rows}')


def test_usage():
    done = gs.gpustarve('node')
    gs.check(done.returncode == 1 and b'--store' in done.stderr, 'without a store')


if __name__ == '__main__':
    gs.run_tests(globals())
