# SPDX-License-Identifier: Apache-2.0
"""A site that has installed gpustarve and its hooks, on the throw-away Slurm. Which of them a job
meets is told by its partition, so that one Slurm does for all cases:

    plain   none: what the job does without us       task    TaskProlog
    spank   the SPANK plugin, for jobs that say --gpustarve      both    the two of them
    always  the SPANK plugin, for all jobs: its argument partitions_on says so
    sick    as task, and NVML never answers there

Prolog and Epilog are those of all partitions but plain. Node n3 sees nothing of the installation: its
folder is empty there. On n4 only root may read libprof.so. GPUSTARVE_DEB=FILE installs that package, and is for a campaign
of an admin's day with it."""
import concurrent.futures
import os
import re
import shutil
import signal
import time

import cluster
import gs
import jobs
import keeper

PARTITIONS = ('plain', 'task', 'spank', 'both', 'always', 'sick')
PRICE = '2.50'  # dollars per GPU-hour

# What is at hand on a node with GPUs for whoever looks for libnvidia-ml.so.1.
GPUS = '''export GPUSIM_DEVICES={gpus} GPUSIM_NODE=${{SLURMD_NODENAME##*n}}
export GPUSIM_SHM={site}/gpus/$SLURMD_NODENAME.$SLURM_JOB_UID GPUSIM_HOST=$SLURMD_NODENAME
export LD_LIBRARY_PATH={build}/gpusim LD_PRELOAD={build}/gpusim/gpusim-host.so
[ "$SLURM_JOB_PARTITION" != sick ] || export GPUSIM_NVML=hang
'''
HOOK = '''#!/bin/sh
case $SLURM_JOB_PARTITION in {without}) exit 0 ;; esac
{more}[ -x {scripts}/{name} ] || exit 0
exec {scripts}/{name} "$@"
'''
MAILER = '''#!/bin/sh
{{ printf '%s\\n' "$@"; echo; cat; }} >{site}/mails/mail.$$
'''


class Site(jobs.Site):
    def __init__(self, where, **kw):
        super().__init__(where, **kw)
        self.prefix = os.path.join(where, 'prefix')
        self.scripts = os.path.join(self.prefix, 'libexec', 'gpustarve', 'slurm')
        self.run = os.path.join(where, 'run')
        os.makedirs(os.path.join(where, 'mails'), 0o1777)
        os.chmod(os.path.join(where, 'mails'), 0o1777)
        deb, unpacked = os.environ.get('GPUSTARVE_DEB'), os.path.join(where, 'deb')  # a package, in place of the build's files
        done = gs.command(['dpkg-deb', '-x', deb, unpacked] if deb else
                          ['cmake', '--install', gs.BUILD, '--prefix', self.prefix])
        gs.equal(done.returncode, 0, f'install: {done.stderr.decode()}')
        if deb:
            os.rename(os.path.join(unpacked, 'usr'), self.prefix)
        self.hurry()
        self.plugin = self.find('gpustarve.so')
        self.lib = self.find('libprof.so')
        self.write('mailer', MAILER.format(site=where))
        self.settings()

    def hurry(self):
        """Reports are made when nobody else wants a core, and other tests always do."""
        path = os.path.join(self.scripts, 'jobreport')
        with open(path, encoding='utf-8') as f:
            text = f.read()
        gs.check('nice -n 19 ' in text, 'reports are made at the lowest priority')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text.replace('nice -n 19 ', ''))

    def find(self, name):
        for folder, _, names in os.walk(self.prefix):
            if name in names:
                return os.path.join(folder, name)
        return None

    def settings(self, **more):
        """site.conf beside the scripts."""
        lines = dict(dir=self.out, run=self.run, mailer=os.path.join(self.where, 'mailer'), **more)
        with open(os.path.join(self.scripts, 'site.conf'), 'w', encoding='ascii') as f:
            f.write(''.join(f'{k}={v}\n' for k, v in lines.items()))

    def hook(self, name, without, gpus=False):
        more = GPUS.format(gpus=self.gpus, site=self.where, build=gs.plain(gs.BUILD)) if gpus else ''
        return self.write('hook-' + name, HOOK.format(without=without, more=more, name=name,
                                                      scripts=self.scripts))

    def cluster(self, **conf):
        hooks = dict(TaskProlog=self.hook('taskprolog', 'plain|spank|always'),
                     Prolog=self.hook('prolog', 'plain', gpus=True),
                     Epilog=self.hook('epilog', 'plain', gpus=True))
        hooks.update(conf)
        hooks.setdefault('nodes', 4)
        c = Slurm(self.where, hidden={'n3': self.prefix}, roots={'n4': self.lib}, gpus=self.gpus,
                  partitions=PARTITIONS, **hooks)
        os.makedirs(c.dir)
        with open(c.path('plugstack.conf'), 'w', encoding='ascii') as f:
            f.write(f'optional {self.plugin} dir={self.out} run={self.run} partitions_on=always\n')
        return c


class Done:
    """A job that has ended: when it was handed in (ns), number, what it said, its exit status (of sbatch,
    as Slurm tells it); of a task of an array, whose it is: (array's number, task)."""

    def __init__(self, begin, name, job, returncode, stdout, stderr, array=None):
        self.begin, self.name, self.job, self.array = begin, name, job, array
        self.returncode, self.stdout, self.stderr = returncode, stdout, stderr


class Slurm(cluster.Cluster):
    def __init__(self, where, hidden=None, roots=None, **kw):
        """hidden: {node: folder that is empty there}; roots: {node: file that others cannot read there}."""
        super().__init__(where, **kw)
        self.mounts = {n: f'mount -t tmpfs -o mode=755 none {path}' for n, path in (hidden or {}).items()}
        for node, path in (roots or {}).items():
            copy = os.path.join(where, f'of-root-{node}')
            shutil.copy(path, copy)
            os.chmod(copy, 0o600)
            self.mounts[node] = f'mount --bind {copy} {path}'

    def start_node(self, node):
        if node not in self.mounts:
            return super().start_node(node)
        return self.daemon(node, 'unshare', '--mount', 'sh', '-c',
                           f'{self.mounts[node]} && exec slurmd -D -N {node}')

    def crash(self, node, *jobs_there):
        """slurmd and what runs of these jobs on this machine are gone at once, as if the node were;
        only what does not belong to slurmstepd lives on. They must run on that node alone."""
        steps = [p for p, text in self.others()
                 for job in jobs_there if text.startswith(f'slurmstepd: [{job}.')]
        doomed = steps + [d for p in steps for d in keeper.descendants(p)]
        self.kill(node, signal.SIGKILL)
        for pid in doomed:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.tool('scontrol', 'update', f'NodeName={node}', 'State=DOWN', 'Reason=crashed')

    def revive(self, node):
        self.start_node(node)
        cluster.until(f'{node} is back', lambda: self.tool(
            'sinfo', '-h', '-n', node, '-o', '%t').stdout.decode().split()[:1] == ['idle'])

    def number(self, name):
        """The newest job of that name."""
        done = self.tool('scontrol', '-o', 'show', 'job')
        found = re.findall(r'^JobId=(\d+) .*?JobName=(\S+) ', done.stdout.decode(), re.M)
        return max(int(n) for n, called in found if called == name)

    def run_step(self, name, *argv, **kw):
        begin = time.time_ns()
        done = self.srun(f'--job-name={name}', *argv, **kw)
        return Done(begin, name, self.number(name), done.returncode, done.stdout, done.stderr)

    def run_batch(self, name, script, *options, meanwhile=None, **kw):
        """meanwhile(job): what somebody does while it is there."""
        out, err = (self.path(f'{name}.{kind}') for kind in ('out', 'err'))
        for path in out, err:
            open(path, 'wb').close()
            os.chmod(path, 0o666)
        begin = time.time_ns()
        job = self.sbatch(script, f'--job-name={name}', f'--output={out}', f'--error={err}', *options,
                          **kw)
        if meanwhile:
            meanwhile(job)
        return self.done(begin, name, self.wait(job), out, err)

    def done(self, begin, name, ended, out, err, array=None):
        with open(out, 'rb') as o, open(err, 'rb') as e:
            return Done(begin, name, int(ended['JobId']), (ended['JobState'], ended['ExitCode']), o.read(),
                        e.read(), array)

    def run_array(self, name, script, tasks, *options, **kw):
        """One Done of each task."""
        said = [self.path(f'{name}.%a.{kind}') for kind in ('out', 'err')]
        begin, numbers = time.time_ns(), ','.join(str(t) for t in tasks)
        array = self.sbatch(script, f'--job-name={name}', f'--array={numbers}', f'--output={said[0]}',
                            f'--error={said[1]}', *options, **kw)
        return [self.done(begin, name, self.wait(f'{array}_{t}'), *[s.replace('%a', str(t)) for s in said],
                          array=(array, t)) for t in tasks]


def batch(*steps):
    """A batch script that runs these command lines one after another, each as a step."""
    quoted = [' '.join("'" + w.replace("'", "'\\''") + "'" for w in step) for step in steps]
    return '#!/bin/sh\necho batch begins\n' + '\n'.join(f'srun -Q {s}' for s in quoted) + \
        '\necho "batch ends: $?"\n'


def beside_each_other(cases, threads=8):
    """{name: result} of {name: function}; an exception is a failed expectation."""
    out = {}

    def one(name, function):
        begin = time.monotonic()
        try:
            out[name] = function()
            print(f'{name}: {time.monotonic() - begin:.1f} s', flush=True)
        except Exception as e:  # pylint: disable=broad-except
            gs.check(False, f'{name}: {type(e).__name__}: {e}')
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for name, function in cases.items():
            pool.submit(one, name, function)
    return out
