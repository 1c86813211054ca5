#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""`cmake --install` into a prefix of any name: from there, with nothing but PATH, a run, its
report, its proof and its pages work, also after the prefix was moved; nothing in it points back to
the build."""
import json
import os
import shutil
import stat
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

TRAIN = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', '25', '--sample-ms', '3',
         '--gpu-ms', '4']


def installed(where, name):
    prefix = os.path.join(where, name)
    done = gs.command(['cmake', '--install', gs.BUILD, '--prefix', prefix])
    gs.equal(done.returncode, 0, f'cmake --install: {done.stderr.decode()}')
    return prefix


def files(prefix):
    for folder, _, names in os.walk(prefix):
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), prefix)


def check_files(prefix):
    found = set(files(prefix))
    for want in ('bin/gpustarve', 'bin/gpustarve-collector'):
        gs.check(want in found, f'{want} is installed: {sorted(found)}')
    libprof = [f for f in found if os.path.basename(f) == 'libprof.so']
    gs.equal(len(libprof), 1, f'libprof.so is installed: {libprof}')
    gs.check(not [f for f in found if 'gpusim' in f or 'libcuda' in f or 'libcupti' in f],
             f'no simulator is installed: {sorted(found)}')
    for name in found:
        path = os.path.join(prefix, name)
        mode = os.stat(path).st_mode
        gs.check(not mode & (stat.S_IWGRP | stat.S_IWOTH), f'{name}: mode {oct(mode)}')
        done = subprocess.run(['readelf', '-d', path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        gs.check(gs.BUILD.encode() not in done.stdout, f'{name}: a path into the build: {done.stdout}')


def use(where, prefix, what):
    """Everything from the prefix; PATH is the only thing that says where it is."""
    env = gs.environment(PATH=os.path.join(prefix, 'bin') + ':/usr/bin:/bin')
    work = os.path.join(where, what.replace(' ', '-'))
    os.mkdir(work)

    def gpustarve(*argv):
        return gs.command(['env', 'gpustarve', *argv], env=env, cwd=work)
    done = gs.command([gs.WITH_GPUSIM, 'gpustarve', 'run', '--price', '3.6', '--', *TRAIN], env=env,
                      cwd=work)
    gs.equal((done.returncode, done.stdout), (0, b'trained 25 steps\n'), f'{what}: {done.stderr}')
    told = done.stderr.decode()
    lead = told.split(',')[0]  # where other programs take the cores, host-bound may stand before it
    gs.check(lead.startswith('gpustarve: ') and lead.endswith('input-bound') and 'no collector' not in told,
             f'{what}: {told}')
    found = gs.runs(os.path.join(work, 'gpustarve-runs'))
    if not gs.equal(len(found), 1, f'{what}: runs'):
        return
    run = found[0]
    gs.check(any(n.endswith('.gst') for n in os.listdir(run)), f'{what}: the collector wrote it')
    with open(os.path.join(run, 'summary.json')) as f:
        s = json.load(f)
    gs.check(lead.split()[-1] == s['verdict'], f'{what}: the summary says {s["verdict"]}, the box {lead}')
    gs.equal(gpustarve('verify', run).returncode, 0, f'{what}: verify')
    for kind in 'text', 'json', 'html':
        out = gpustarve('report', run, '--format', kind)
        gs.equal((out.returncode, out.stderr), (0, b''), f'{what}: report --format {kind}')
        gs.check(s['verdict'].encode() in out.stdout, f'{what}: report --format {kind}')
    shown = gpustarve('prices', 'show', 'NVIDIA H100 80GB HBM3')
    gs.equal(shown.returncode, 0, f'{what}: prices: {shown.stderr.decode()}')
    gs.check(b'H100' in shown.stdout, f'{what}: prices: {shown.stdout}')
    doctor = gpustarve('doctor')
    gs.check(os.path.realpath(prefix).encode() in doctor.stdout, f'{what}: doctor names the '
             f'installed libprof.so: {doctor.stdout.decode()}')


def preloaded_twice(prefix, **env):
    """What a command finds in LD_PRELOAD, and a command wrapped once more."""
    program = os.path.join(prefix, 'bin', 'gpustarve')
    with gs.scratch() as work:
        look = ['sh', '-c', 'echo "$LD_PRELOAD"; echo "$CUDA_INJECTION64_PATH"']
        done = [gs.command([program, 'run', '-q', *more, '--', *look], cwd=work,
                           env=gs.environment(**env)) for more in ([], ['--', program, 'run', '-q'])]
    gs.equal([d.stderr for d in done], [b'', b''], f'{prefix}: preloaded: stderr')
    gs.equal(done[1].stdout, done[0].stdout, f'{prefix}: preloaded, wrapped twice')
    return done[0].stdout.decode().splitlines()


def check_plain(prefix):
    """A link without the space, in a folder where nobody else can write: one for each place."""
    names = preloaded_twice(prefix)
    gs.equal(names[0], names[1], 'a name without a space')
    folder = os.path.dirname(os.path.dirname(names[0]))
    gs.check(' ' not in names[0] and names[0].startswith('/tmp/gpustarve-links-'), f'plain: {names}')
    gs.check(os.path.realpath(names[0]).startswith(os.path.join(prefix, 'lib')), f'plain: {names}')
    gs.equal(stat.S_IMODE(os.lstat(folder).st_mode) & 0o22, 0, 'plain: who may write')
    gs.equal(preloaded_twice(prefix), names, 'plain: the link is taken again')
    os.remove(os.path.dirname(names[0]))
    os.symlink('/nowhere', os.path.dirname(names[0]))
    gs.equal(preloaded_twice(prefix), names, 'plain: a link that points elsewhere is put right')
    gs.check(os.path.isfile(names[0]), 'plain: it leads to the library')
    os.remove(os.path.dirname(names[0]))


def check_not_ours(where, prefix):
    """A folder of links that somebody else may write to is not gone through, and that is said."""
    if os.getuid() or not shutil.which('setpriv'):
        gs.left_out('links of somebody else: not root, or no setpriv')
        return
    uid, out = 54323 + os.getpid() % 10000, os.path.join(where, 'theirs')  # one of nobody's, and of no test beside us
    links = f'/tmp/gpustarve-links-{uid}'
    shutil.rmtree(links, ignore_errors=True)
    os.mkdir(links)  # ours, hence not theirs
    os.chmod(links, 0o777)
    os.mkdir(out)
    os.chown(out, uid, uid)
    os.chmod(where, 0o755)
    try:
        done = gs.command(['setpriv', f'--reuid={uid}', f'--regid={uid}', '--clear-groups',
                           os.path.join(prefix, 'bin', 'gpustarve'), 'run', '-q', '--', 'sh', '-c',
                           'echo "[$LD_PRELOAD] $CUDA_INJECTION64_PATH"'], cwd=out,
                          env=gs.environment(HOME=out))
        gs.equal(os.listdir(links), [], 'links of somebody else')
    finally:
        shutil.rmtree(links)
    lib, = [f for f in files(prefix) if f.endswith('/libprof.so')]
    gs.equal(done.stdout.decode(), f'[] {os.path.join(prefix, lib)}\n', 'links of somebody else: what is set')
    gs.check(links in done.stderr.decode(), f'links of somebody else: {done.stderr.decode()}')


with gs.scratch() as where:
    where = os.path.realpath(where)
    prefix = installed(where, 'opt')
    check_files(prefix)
    use(where, prefix, 'installed')
    moved = os.path.join(where, 'elsewhere')
    shutil.move(prefix, moved)
    use(where, moved, 'moved')
    os.mkdir(os.path.join(where, 'bin'))
    link = os.path.join(where, 'linked')
    os.mkdir(link)
    os.mkdir(os.path.join(link, 'bin'))
    os.symlink(os.path.join(moved, 'bin', 'gpustarve'), os.path.join(link, 'bin', 'gpustarve'))
    done = gs.command([os.path.join(link, 'bin', 'gpustarve'), 'run', '--quiet', '--', 'sh', '-c',
                       'echo $LD_PRELOAD'], cwd=where)
    gs.check(done.stdout.startswith(os.path.join(moved, '').encode()),
             f'through a link: {done.stdout} {done.stderr}')
    os.remove(os.path.join(link, 'bin', 'gpustarve'))
    # The dynamic linker would cut the name of libprof.so; so does PATH with a colon, hence none here.
    spaced = os.path.join(where, 'a place')
    shutil.move(moved, spaced)
    use(where, spaced, 'where names hold a space')
    check_plain(spaced)
    check_not_ours(where, spaced)
gs.finish()
