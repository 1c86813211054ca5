#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=7200
"""gpustarve in containers whose images have nothing of it: the tarball of scripts/package in a volume, podman with its
defaults (seccomp, capabilities, namespaces) and without them, over root file systems of Debian 12 and 13. The job is a real
torch loader before the simulated GPU, and each time its verdict and the line of its data set are right; or the sentence that
says what is missing.

A campaign (GS_BIG=1), which needs root, mirrors and what scripts/setup --campaigns installs. GPUSTARVE_ROOTS=FOLDER keeps the
roots, GPUSTARVE_PACKAGE_BUILD the packages' build folder; names of suites or of cases as arguments choose among them."""
import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

MIRROR = 'http://deb.debian.org/debian'
SUITES = 'bookworm', 'trixie'
STEPS, KERNEL_NS = 25, 5_000_000
JOB = '''import os, sys, time
sys.path.insert(0, '/job')
import torch
from torch.utils.data import DataLoader, Dataset
import gpudev

class Slow(Dataset):
    def __len__(self):
        return int(os.environ.get('STEPS', %d))
    def __getitem__(self, i):
        time.sleep(.1)  #: here
        return torch.zeros(4)

dev = gpudev.Device(0)
stream = gpudev.Stream(dev)
for batch in DataLoader(Slow(), batch_size=1, num_workers=int(os.environ.get('WORKERS', 1))):
    stream.kernel(%d)
    stream.synchronize()
print('trained', flush=True)
''' % (STEPS, KERNEL_NS)
LINE = 1 + JOB.split('\n').index('        time.sleep(.1)  #: here')
PREFIX = '/opt/gpustarve'
RUN = f'{PREFIX}/bin/gpustarve run --price 2.50 -o /runs --'.split()
TRAIN = ['python3', '/job/train.py']
# runc, because crun refuses cgroups of both versions; limits that nobody needs a capability for.
PODMAN = ['podman', '--cgroup-manager', 'cgroupfs', '--runtime', 'runc']
LIMITS = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=4096:4096']
SIMULATED = {'LD_LIBRARY_PATH': '/sim:/sim/cupti-13', 'GPUSIM_CUPTI': '13', 'GPUSIM_NVML': 'outside', 'GPUSIM_QUIET': '1'}


def make_root(suite, path):
    """Why it cannot be had; None: it is there."""
    if os.path.exists(path + '/etc/gs-made'):
        return None
    shutil.rmtree(path, ignore_errors=True)
    steps = (['debootstrap', '--variant=minbase', suite, path, MIRROR],
             ['cp', '/etc/resolv.conf', path + '/etc/'],
             ['chroot', path, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-y', '--no-install-recommends', 'install',
              'python3-torch'])
    for argv in steps:
        done = gs.command(argv, timeout=3600)
        if done.returncode:
            return ((done.stdout + done.stderr).decode(errors='replace').splitlines() or ['it failed'])[-1]
    for name in ('opt/gpustarve', 'job', 'sim', 'runs', 'sock', 'simshm'):  # where the root cannot be written
        os.makedirs(f'{path}/{name}', exist_ok=True)
    with open(path + '/etc/gs-made', 'w', encoding='utf-8'):
        return None


class Box:
    """A place for containers: a folder for what they share, and podman's words for it."""

    def __init__(self, parts, root, name):
        self.root, self.what = root, f'{os.path.basename(root)}: {name}'
        self.where = os.path.join(parts.where, os.path.basename(root), name)
        self.parts = parts
        for part in ('runs', 'sock', 'simshm'):
            os.makedirs(os.path.join(self.where, part), mode=0o755)

    def give(self, uid, *parts):
        for part in parts or ('runs', 'sock', 'simshm'):
            os.chown(os.path.join(self.where, part), uid, uid)

    def argv(self, words, *options, root=':O', **env):
        """podman's command line."""
        name = 'gs-' + uuid.uuid4().hex[:12]
        mounts = (f'{self.parts.prefix}:{PREFIX}:ro', f'{self.parts.job}:/job:ro', f'{self.parts.sim}:/sim:ro',
                  f'{self.where}/runs:/runs', f'{self.where}/sock:/sock', f'{self.where}/simshm:/simshm')
        full = dict(SIMULATED, GPUSIM_SHM=f'/simshm/{name}', **env)
        return name, [*PODMAN, 'run', '--rm', '--name', name, *LIMITS, '--network=none', '--log-driver=none',
                      *(w for m in mounts for w in ('-v', m)), *(w for k, v in full.items() for w in ('-e', f'{k}={v}')),
                      *options, '--rootfs', self.root + root, *words]

    def run(self, words, *options, **more):
        name, argv = self.argv(words, *options, **more)
        try:
            return gs.command(argv, timeout=300)
        except subprocess.TimeoutExpired:
            gs.check(False, f'{self.what}: does not end')
            gs.command([*PODMAN, 'kill', '--signal', 'KILL', name])
            return subprocess.CompletedProcess(argv, -1, b'', b'')

    @contextlib.contextmanager
    def started(self, words, *options, **more):
        """A container that goes on meanwhile; its name."""
        name, argv = self.argv(words, *options, **more)
        with open(os.path.join(self.where, name + '.log'), 'wb') as log:
            p = subprocess.Popen(argv, stdout=log, stderr=log, env=gs.environment())
        try:
            yield name
        finally:
            gs.command([*PODMAN, 'stop', '-t', '30', name])
            p.wait(timeout=90)

    def log(self, name):
        with open(os.path.join(self.where, name + '.log'), encoding='utf-8', errors='replace') as f:
            return f.read()

    def found(self):
        return gs.runs(os.path.join(self.where, 'runs'))

    def gpustarve(self, *args):
        """Outside, by the same program."""
        return gs.command([self.parts.prefix + '/bin/gpustarve', *args])

    def summary(self, run):
        done = self.gpustarve('report', run, '--format', 'json')
        gs.equal(done.returncode, 0, f'{self.what}: report: {done.stderr.decode()[-500:]}')
        return json.loads(done.stdout or 'null')

    def only(self, runs=1):
        """The summary of the only run, or None with an expectation that failed."""
        if not gs.equal(len(self.found()), runs, f'{self.what}: runs: {self.found()}'):
            return None
        return self.summary(self.found()[0])


def files_of(run, ending):
    return sorted(n for n in os.listdir(run) if n.endswith(ending))


def expect_verdict(box, s, gpus=1, stored=True, role='worker'):
    """The truth: so many kernels, the rest mostly waits for the one worker, which sleeps at that line."""
    if not s:
        return
    gs.equal(s['ledger']['busy_ns'], gpus * STEPS * KERNEL_NS, f'{box.what}: time of kernels')
    gs.check(s['verdict'].startswith('input'), f'{box.what}: verdict {s["verdict"]}')
    first = s['findings'][0]['where'] if s['findings'] else {}
    gs.equal((first.get('file'), first.get('line'), first.get('role')), ('/job/train.py', LINE, role), f'{box.what}: line of {first}')
    gs.equal(s['quality']['dropped'] + s['quality']['frames_missing'], 0, f'{box.what}: nothing lost')
    gs.equal({g['shared_with'] for g in s['gpus']}, {0}, f'{box.what}: GPUs of nobody else')
    gs.check(all('python' in ' '.join(s['run']['command']) for _ in (1,)), f'{box.what}: command {s["run"]["command"]}')
    for run in box.found():
        spools = files_of(run, '.spool')
        gs.equal(bool(spools), not stored, f'{box.what}: spool files {spools}')
    print(f'{box.what}: {s["verdict"]}, {os.path.basename(first.get("file") or "?")}:{first.get("line")}', flush=True)


def wrapped(box, *options, uid=0, words=None, **more):
    """`gpustarve run` in the container, from the volume."""
    if uid:
        box.give(uid)
    done = box.run(words or RUN + TRAIN, *options, **more)
    said = (done.stdout + done.stderr).decode(errors='replace')
    gs.equal((done.returncode, done.stdout), (0, b'trained\n'), f'{box.what}: the job: {said[-1500:]}')
    return said


def case_defaults(box):
    said = wrapped(box)
    gs.check('report: ' in said and 'train.py:' in said, f'{box.what}: a box at its end: {said}')
    expect_verdict(box, box.only())


def case_preloaded(box):
    """Without the two programs: the environment alone, and the report is made outside."""
    wrapped(box, words=TRAIN, LD_PRELOAD=f'{PREFIX}/lib/gpustarve/libprof.so', GPUSTARVE_OUT='/runs')
    expect_verdict(box, box.only(), stored=False)


def case_uid(box):
    wrapped(box, '--user', '1000:1000', uid=1000)
    expect_verdict(box, box.only())


def case_uid_capless(box):
    """As Kubernetes' restricted profile has it: a number that no passwd knows, no capability, no new privileges."""
    wrapped(box, '--user', '54321:54321', '--cap-drop=all', '--security-opt', 'no-new-privileges', uid=54321)
    expect_verdict(box, box.only())


def case_capless_root(box):
    """Root without a capability may not even read what others own."""
    wrapped(box, '--cap-drop=all')
    expect_verdict(box, box.only())


def case_read_only(box):
    wrapped(box, '--read-only', root='')
    expect_verdict(box, box.only())


def case_read_only_all(box):
    """Not even /tmp and /dev/shm, so no worker of a loader either: /runs alone can be written to."""
    said = wrapped(box, '--read-only', '--read-only-tmpfs=false', root='', WORKERS=0)
    s = box.only()
    stored = not (box.found() and files_of(box.found()[0], '.spool'))
    gs.check(stored or 'no collector: ' in said, f'{box.what}: why there is no collector: {said}')
    expect_verdict(box, s, stored=stored, role='trainer')


def case_unconfined(box):
    wrapped(box, '--security-opt', 'seccomp=unconfined', '--cap-add=SYS_PTRACE')
    expect_verdict(box, box.only())


def case_strict_seccomp(box):
    """A profile as of old kernels: no process_vm_readv, no ptrace, no pidfd, no perf."""
    profile = os.path.join(box.where, 'strict.json')
    with open(profile, 'w', encoding='utf-8') as f:
        json.dump({'defaultAction': 'SCMP_ACT_ALLOW', 'syscalls': [
            {'names': ['process_vm_readv', 'process_vm_writev', 'ptrace', 'pidfd_open', 'pidfd_getfd', 'perf_event_open', 'kcmp',
                       'memfd_create', 'bpf'], 'action': 'SCMP_ACT_ERRNO', 'errnoRet': 1}]}, f)
    wrapped(box, '--security-opt', f'seccomp={profile}')
    expect_verdict(box, box.only())


def case_user_namespace(box):
    box.give(100000)
    wrapped(box, '--uidmap', '0:100000:65536', '--gidmap', '0:100000:65536')
    expect_verdict(box, box.only())


def case_user_namespace_uid(box):
    wrapped(box, '--uidmap', '0:100000:65536', '--gidmap', '0:100000:65536', '--user', '1000:1000', uid=101000)
    expect_verdict(box, box.only())


@contextlib.contextmanager
def collector(box, *options, more=()):
    """A container of its own, with /sock and /runs."""
    argv = [f'{PREFIX}/bin/gpustarve-collector', '--unix', '/sock/s', '--dir', '/runs', *more]
    with box.started(argv, *options) as name:
        gs.until(f'{box.what}: a collector', lambda: os.path.exists(box.where + '/sock/s') or box.log(name), 60)
        yield name


SENT = {'LD_PRELOAD': f'{PREFIX}/lib/gpustarve/libprof.so', 'GPUSTARVE_SOCKET': '/sock/s', 'GPUSTARVE_OUT': '/nowhere',
        'GPUSTARVE_RUN_ID': 'of-two-boxes'}


def case_two_boxes(box):
    """Job and collector in a container each, the socket between them; pids of neither are the other's."""
    with collector(box):
        wrapped(box, words=TRAIN, **SENT)
    expect_verdict(box, box.only())


def case_two_boxes_run(box):
    """The same with the wrapper in the job's."""
    with collector(box):
        wrapped(box, words=RUN[:-1] + ['--collector', 'unix:/sock/s', '--'] + TRAIN)
    expect_verdict(box, box.only())


def case_two_boxes_uid(box):
    """Both of one user, who is not root."""
    box.give(1000)
    with collector(box, '--user', '1000:1000'):
        wrapped(box, '--user', '1000:1000', words=TRAIN, **SENT)
    expect_verdict(box, box.only())


def case_two_boxes_other_uid(box):
    """The collector takes its own user's processes and root's: those of others write spool files, and nothing is lost."""
    box.give(1000, 'runs', 'simshm')
    with collector(box):
        wrapped(box, '--user', '1000:1000', words=TRAIN, **dict(SENT, GPUSTARVE_OUT='/runs'))
    expect_verdict(box, box.only(), stored=False)


def case_two_boxes_killed(box):
    """A job's container is killed: the collector sees the end of a process that it has no number for."""
    with collector(box):
        with box.started(TRAIN, STEPS=1000, **SENT) as name:
            gs.until(f'{box.what}: the job sends', lambda: any(os.path.getsize(p) > 3000 for p in glob.glob(
                box.where + '/runs/*/*.gst')), 120)
            time.sleep(4)
            gs.command([*PODMAN, 'kill', '--signal', 'KILL', name])
            gs.until(f'{box.what}: its end is known', lambda: glob.glob(box.where + '/runs/*/exit-coll-*.json'), 60)
    s = box.only()
    if s:
        gs.check(s['verdict'].startswith('input'), f'{box.what}: verdict {s["verdict"]}')
        gs.equal(s['run']['processes'][0]['ended'], 'lost', f'{box.what}: how it ended')


def case_three_ranks(box):
    """Containers of one host's name, with the same numbers of processes, and one run."""
    argv = [box.argv(RUN + TRAIN, '--hostname', 'node1', GPUSTARVE_RUN_ID='ranks', RANK=r, LOCAL_RANK=r, WORLD_SIZE=3,
                     GPUSIM_NODE=r)[1] for r in range(3)]
    started = [subprocess.Popen(a, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=gs.environment()) for a in argv]
    said = [p.communicate(timeout=600)[0].decode() for p in started]
    gs.equal([p.returncode for p in started], [0] * 3, f'{box.what}: {said}')
    s = box.only()
    expect_verdict(box, s, gpus=3)
    if s:
        gs.equal(sorted(p['rank'] for p in s['run']['processes']), [0, 1, 2], f'{box.what}: ranks')
        gs.equal((len(s['gpus']), s['run']['hosts'], s['run']['ranks']), (3, ['node1'], 3), f'{box.what}: GPUs, hosts')
        gs.equal({p['ended'] for p in s['run']['processes']}, {'exit'}, f'{box.what}: ended')
        records = [path for path in glob.glob(box.found()[0] + '/exit-node1*.json') if 'exit-coll' not in path]
        gs.equal(len(records), 2, f'{box.what}: a record of each wrapper, the first has run.json: {records}')


def case_terminated(box):
    """podman stop: as process 1 the wrapper passes the signal on, and its own end is the command's."""
    with box.started(RUN + TRAIN, STEPS=1000) as name:
        gs.until(f'{box.what}: the job records', lambda: any(os.path.getsize(p) > 3000 for p in glob.glob(
            box.where + '/runs/*/*.gst')), 120)
        time.sleep(3)
        begin = time.monotonic()
        gs.command([*PODMAN, 'stop', '-t', '60', name])
        gs.check(time.monotonic() - begin < 45, f'{box.what}: it ends by the signal, not after a minute')
    s = box.only()
    if s:
        gs.equal(s['run']['exit_status'], 128 + signal.SIGTERM, f'{box.what}: status')
        gs.check(s['verdict'].startswith('input'), f'{box.what}: verdict {s["verdict"]}')


class Parts:
    """What is mounted: the prefix of the tarball, the job, the simulator."""

    def __init__(self, where, build, tarball):
        self.where, self.job, self.sim = where, os.path.join(where, 'job'), os.path.join(build, 'gpusim')
        gs.equal(gs.command(['tar', 'xzf', tarball, '-C', where]).returncode, 0, 'the tarball')
        self.prefix = glob.glob(where + '/gpustarve-*')[0]
        os.mkdir(self.job)
        shutil.copy(os.path.join(gs.WORKLOADS, 'gpudev.py'), self.job)
        with open(self.job + '/train.py', 'w', encoding='utf-8') as f:
            f.write(JOB)


def build(folder):
    """scripts/package, with the simulated GPU built as the packages are; the tarball."""
    env = dict(gs.environment(), GPUSTARVE_PACKAGE_BUILD=folder)
    done = gs.command([gs.SOURCE + '/scripts/package', folder + '/packages'], env=env, timeout=3600)
    gs.equal(done.returncode, 0, f'scripts/package: {done.stderr.decode()[-2000:]}')
    done = gs.command([gs.SOURCE + '/scripts/build', folder], env=dict(env, GPUSTARVE_TARGET='demo'), timeout=3600)
    gs.equal(done.returncode, 0, f'the simulated GPU: {done.stderr.decode()[-2000:]}')
    return glob.glob(folder + '/packages/*.tar.gz')[0]


if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')
if os.geteuid() or not shutil.which('debootstrap') or not shutil.which('podman') or not shutil.which('runc'):
    gs.skip('needs root, debootstrap, podman and runc')
CASES = {name[5:]: case for name, case in list(globals().items()) if name.startswith('case_')}
wanted = sys.argv[1:]
with gs.scratch() as where:
    os.chmod(where, 0o755)
    roots = os.environ.get('GPUSTARVE_ROOTS') or os.path.join(where, 'roots')
    os.makedirs(roots, exist_ok=True)
    folder = os.environ.get('GPUSTARVE_PACKAGE_BUILD') or os.path.join(where, 'build')
    tarball = os.environ.get('GPUSTARVE_TARBALL') or build(folder)
    parts = Parts(where, folder, tarball)
    for suite in [s for s in SUITES if not set(wanted) & set(SUITES) or s in wanted]:
        why = make_root(suite, os.path.join(roots, suite))
        if why:
            gs.left_out(f'{suite} is not to be had: {why}')
            continue
        for name, case in CASES.items():
            if not set(wanted) - set(SUITES) or name in wanted:
                before = len(gs.failures)
                case(Box(parts, os.path.join(roots, suite), name))
                print('ok  ' if len(gs.failures) == before else 'FAIL', suite, name, flush=True)
gs.finish()
