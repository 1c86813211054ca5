#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The SLURM of Debian 13 (24.11), whose daemons start in a root file system of it that debootstrap makes: a plugin that was
built for another SLURM is left out and no job is harmed, build-plugin makes the right one in one command, and a job that
says --gpustarve is recorded by it.

A campaign (GS_BIG=1), which needs root, debootstrap and a mirror. GPUSTARVE_ROOTS=FOLDER keeps the root file system."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import cluster
import gs

MIRROR = 'http://deb.debian.org/debian'
PACKAGES = ('slurmctld,slurmd,slurm-client,slurm-wlm-basic-plugins,munge,libslurm-dev,gcc,libc6-dev,python3,procps,iproute2,'
            'libprotobuf-c1,libyajl2,libcurl4t64,libelf1t64,libmicrohttpd12t64,libgnutls30t64,libncursesw6,libsqlite3-0')
PREFIX = '/opt/gpustarve'
STEPS, KERNEL_NS = 20, 5_000_000
JOB = f'''import sys, time
sys.path.insert(0, {gs.WORKLOADS!r})
import gpudev
dev = gpudev.Device(0)
stream = gpudev.Stream(dev)
for step in range({STEPS}):
    time.sleep(0.02)
    stream.kernel({KERNEL_NS})
    stream.synchronize()
print('trained')
'''
# In namespaces of its own, so that nothing of it stays mounted or running.
ENTER = '''r=$0 && mount -t proc proc "$r/proc" && mount --bind /sys "$r/sys" && mount --rbind /dev "$r/dev" || exit
for folder in "$1" "$2"; do mkdir -p "$r$folder" && mount --bind "$folder" "$r$folder" || exit; done
shift 2 && exec chroot "$r" "$@"'''


def make_root(path):
    if not os.path.exists(path + '/made'):
        shutil.rmtree(path, ignore_errors=True)
        done = gs.command(['debootstrap', '--variant=minbase', f'--include={PACKAGES}', 'trixie', path, MIRROR], timeout=3600)
        if done.returncode:
            gs.skip(f'no root file system of Debian 13: {(done.stdout.decode().splitlines() or ["it failed"])[-1]}')
        with open(path + '/made', 'w', encoding='utf-8'):
            pass
    shutil.copy('/etc/hosts', path + '/etc/hosts')
    shutil.rmtree(path + PREFIX, ignore_errors=True)
    done = gs.command(['cmake', '--install', gs.BUILD, '--prefix', PREFIX], env=gs.environment(DESTDIR=path))
    gs.equal(done.returncode, 0, f'cmake --install: {done.stderr.decode()}')


def outside(where):
    kept = os.environ.get('GPUSTARVE_ROOTS')
    root = os.path.join(kept or where, 'trixie-slurm')
    make_root(root)
    done = subprocess.run(['unshare', '--mount', '--pid', '--fork', '--propagation', 'private', 'sh', '-c', ENTER, root, gs.SOURCE,
                           gs.BUILD, '/usr/bin/env', '-i', f'PATH={cluster.PATH}', 'LC_ALL=C.UTF-8', f'GPUSTARVE_BUILD={gs.BUILD}',
                           f'GPUSTARVE_SOURCE={gs.SOURCE}', 'PYTHONDONTWRITEBYTECODE=1', '/usr/bin/python3', os.path.abspath(__file__),
                           '--inside'], check=False, timeout=1800)
    gs.equal(done.returncode, 0, 'inside')


def plugins(slurm, path, where):
    with open(slurm.path('plugstack.conf'), 'w', encoding='ascii') as f:
        f.write(f'optional {path} dir={where}/runs\n')


def check_foreign(slurm, where):
    """One of another major version: of the installation, where this was built for 22.05."""
    plugins(slurm, f'{where}/foreign.so', where)
    done = slurm.srun('-n1', '--gpus=1', 'echo', 'it runs')
    gs.equal((done.returncode, done.stdout), (0, b'it runs\n'), f'beside a plugin of another SLURM: {done.stderr}')


def check_rebuilt(slurm, where):
    done = gs.command([f'{PREFIX}/libexec/gpustarve/slurm/build-plugin'])
    gs.equal((done.returncode, done.stderr), (0, b''), f'build-plugin: {done.stdout}')
    gs.check(f'built {PREFIX}/lib' in done.stdout.decode(), f'build-plugin: {done.stdout}')
    built = done.stdout.decode().split()[-1]
    plugins(slurm, built, where)
    os.makedirs(where + '/runs', 0o777)
    with open(where + '/job.py', 'w', encoding='utf-8') as f:
        f.write(JOB)
    done = slurm.srun('-n1', '--gpus=1', '--gpustarve', gs.WITH_GPUSIM, '/usr/bin/python3', where + '/job.py')
    gs.equal((done.returncode, done.stdout), (0, b'trained\n'), f'the job: {done.stderr.decode()}')
    runs = [name for name in os.listdir(where + '/runs') if name.endswith('.gst')]
    gs.equal(len(runs), 1, f'runs: {os.listdir(where + "/runs")}')
    gs.check(runs and runs[0].startswith('slurm-test-'), f'named by the job: {runs}')
    done = gs.command([f'{PREFIX}/bin/gpustarve', 'report', f'{where}/runs/{runs[0]}', '--format', 'json'])
    gs.equal(json.loads(done.stdout or b'{}').get('ledger', {}).get('busy_ns'), STEPS * KERNEL_NS, f'the report: {done.stderr}')


def inside(where):
    os.chmod(where, 0o755)
    slurm = cluster.Cluster(where, nodes=1, gpus=2)
    os.makedirs(slurm.dir)
    with open(slurm.path('cgroup.conf'), 'w', encoding='ascii') as f:
        f.write('CgroupPlugin=disabled\n')  # else 24.11 asks for systemd
    found = gs.command(['find', PREFIX + '/lib', '-name', 'gpustarve.so']).stdout.decode().split()
    shutil.copy(found[0], where + '/foreign.so')
    with slurm:
        version = slurm.tool('sinfo', '--version').stdout.decode()
        gs.check(' 24.11' in version, f'SLURM of Debian 13: {version}')
        check_foreign(slurm, where)
        check_rebuilt(slurm, where)


inner = sys.argv[1:] == ['--inside']
if not inner and os.environ.get('GS_BIG') != '1':
    gs.skip('a campaign: GS_BIG=1')
if not inner and (os.getuid() or not shutil.which('debootstrap')):
    gs.skip('no root, or no debootstrap')
with gs.scratch() as scratch:
    (inside if inner else outside)(os.path.realpath(scratch))
gs.finish()
