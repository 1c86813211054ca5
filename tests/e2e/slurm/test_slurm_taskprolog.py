# SPDX-License-Identifier: Apache-2.0
"""TaskProlog without a SLURM: what it sets, each guard, hostile environments, missing parts; it ends
with 0 and says nothing but exports, whatever it meets."""
# ctest: labels=e2e,slurm
import os
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hooks

STEP = dict(hooks.JOB, SLURM_STEP_ID='0', SLURM_STEP_GPUS='0', CUDA_VISIBLE_DEVICES='0',
            SLURM_PROCID='0')


def task(p, what, want, shell=(), **env):
    """want: what TaskProlog says, or None for nothing at all."""
    full = {k: v for k, v in {**STEP, 'SLURM_SUBMIT_DIR': '/home/u', **env}.items() if v is not None}
    done = p.call('taskprolog', full, shell=shell)
    gs.equal(done.returncode, 0, f'{what}: status')
    # ld.so says of every program that what the job preloads is not there.
    gs.check(all(line.startswith(b'ERROR: ld.so: object') or b' from LD_PRELOAD' in line
                 for line in done.stderr.splitlines()), f'{what}: stderr {done.stderr!r}')
    gs.equal(hooks.said(done), want or {}, what)


def plain(p, **more):
    want = dict(LD_PRELOAD=p.lib, GPUSTARVE_QUIET_ERRORS='1', GPUSTARVE_OUT='/home/u/gpustarve-runs',
                GPUSTARVE_SLURM_JOB='77')
    want.update(more)
    return {k: v for k, v in want.items() if v != ''}


def guards(p):
    task(p, 'a step with a GPU', plain(p))
    for shell in (['/bin/bash'], ['/bin/bash', '--posix'], ['/bin/dash']):
        if os.path.exists(shell[0]):
            task(p, f'the same in {shell}', plain(p), shell=shell)
    for no in ('0', 'off', 'no'):
        task(p, f'GPUSTARVE={no}', None, GPUSTARVE=no)
    for step in ('batch', 'extern', '4294967291', '4294967290', '0x0', '-1', '1 2'):
        task(p, f'step {step}', None, SLURM_STEP_ID=step, ENVIRONMENT='BATCH')
    for visible in (None, '', 'NoDevFiles', '-1'):
        task(p, f'no GPU: {visible}', None, SLURM_STEP_GPUS=None, CUDA_VISIBLE_DEVICES=visible,
             SLURM_JOB_GPUS='0,1')  # the batch shell's, which srun passes on
    task(p, 'a GPU by name alone', plain(p), SLURM_STEP_GPUS=None, CUDA_VISIBLE_DEVICES='GPU-1')
    for job in (None, '', 'x', '1;2', '99999999999'):
        task(p, f'job {job}', None, SLURM_JOB_ID=job)


def unrecorded(p, where):
    """A task with GPUs that is left alone says so where Prolog has made a folder for the job's user,
    so that nobody takes what it does with them for nothing."""
    run, out = os.path.join(where, 'run'), os.path.join(where, 'out')
    folder = os.path.join(out, 'big-77.job')
    for path in run, folder:
        os.makedirs(path)
    with open(os.path.join(run, '77@n1.out'), 'w', encoding='ascii') as f:
        f.write(out + '\n')
    good = plain(p, GPUSTARVE_OUT=out)
    batch = dict(SLURM_STEP_ID=None, SLURM_STEP_GPUS=None, SLURM_JOB_GPUS='0', ENVIRONMENT='BATCH')
    for what, said, want, settings, env in (
            ('recorded', False, good, {}, {}),
            ('recorded elsewhere', True, plain(p, GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''), {},
             dict(GPUSTARVE_OUT='/mine')),
            ('a recorded batch shell', False, {**good, 'GPUSTARVE_RUN_ID': 'slurm-big-77.batch-0'}, {}, batch),
            ('a batch shell', True, None, dict(batch='off'), batch),
            ('an interactive one', True, None, {}, {**batch, 'SLURM_STEP_ID': '4294967290'}),
            ('the extern step', False, None, {}, {**batch, 'SLURM_STEP_ID': '4294967292'}),
            ('opted out', True, None, {}, dict(GPUSTARVE='0')),
            ('no GPU', False, None, {}, dict(SLURM_STEP_GPUS='', CUDA_VISIBLE_DEVICES='', GPUSTARVE='0')),
            ('not asked for', True, None, dict(default='off'), {}),
            ('asked for by the option', False, None, dict(default='off'), dict(LD_PRELOAD=p.lib)),
            ('no library', True, None, dict(lib='/nonexistent/libprof.so'), {})):
        p.settings(run=run, **settings)
        task(p, f'{what}: what is set', want, **env)
        gs.equal(os.listdir(folder), ['unrecorded-n1'] if said else [], f'{what}: what is said')
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
    p.settings(run=run)
    os.mkdir(os.path.join(folder, 'unrecorded-n1'))
    task(p, 'recorded elsewhere, and that cannot be said', plain(p, GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''),
         GPUSTARVE_OUT='/mine')
    os.rmdir(os.path.join(folder, 'unrecorded-n1'))
    if os.getuid() == 0:
        p.settings(run=run)
        os.chown(folder, 65534, 65534)
        task(p, "somebody else's folder", None, GPUSTARVE='0')
        gs.equal(os.listdir(folder), [], "nothing is said in somebody else's folder")
    p.settings()


def lists(p):
    lib = p.lib
    task(p, 'others are listed', plain(p, LD_PRELOAD=f'/a.so:/b.so:{lib}'), LD_PRELOAD='/a.so:/b.so')
    for have in (lib, f'/a.so:{lib}', f'/a.so {lib} /b.so', '/own/lib/libprof.so:/a.so'):
        task(p, f'listed in {have}', plain(p, LD_PRELOAD='', GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''),
             LD_PRELOAD=have, GPUSTARVE_OUT='/mine')
    for no in ('0', 'off', 'no'):
        task(p, f'GPUSTARVE_PRELOAD={no}', plain(p, LD_PRELOAD='', CUDA_INJECTION64_PATH=lib, NVTX_INJECTION64_PATH=lib),
             GPUSTARVE_PRELOAD=no)
    task(p, 'the plugin has seen to it', plain(p, LD_PRELOAD='', GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''),
         GPUSTARVE_PRELOAD='0', CUDA_INJECTION64_PATH=lib, NVTX_INJECTION64_PATH='/its.so', LD_PRELOAD='/a.so', GPUSTARVE_OUT='/mine')
    near = f'{lib}.1:/x{lib}x'
    task(p, 'similar names are others', plain(p, LD_PRELOAD=f'{near}:{lib}'), LD_PRELOAD=near)
    task(p, "the user's folder stays", plain(p, GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''),
         GPUSTARVE_OUT='/mine')
    task(p, "the user's word on errors stays", plain(p, GPUSTARVE_QUIET_ERRORS=''),
         GPUSTARVE_QUIET_ERRORS='0')


def inherited(p):
    """A job that was submitted from within another one has its variables, too."""
    task(p, 'of another job', plain(p, GPUSTARVE_SOCKET=None, LD_PRELOAD=''), LD_PRELOAD=p.lib,
         GPUSTARVE_OUT='/old', GPUSTARVE_SLURM_JOB='76', GPUSTARVE_SOCKET='/old/sock')
    task(p, 'of an outer step of this job', plain(p, GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''),
         GPUSTARVE_OUT='/old', GPUSTARVE_SLURM_JOB='77')
    for run, want in (('slurm-big-76.0-0', None), ('slurm-big-77.batch-0', None), ('mine', ''),
                      ('slurm-big-77.0-0', '')):
        task(p, f'run id {run}', plain(p, GPUSTARVE_RUN_ID=want), GPUSTARVE_RUN_ID=run)


def partitions(p):
    """Switched on, or off, for some of them."""
    p.settings(default='off', partitions_on='a,gpu')
    for partition in (None, '', 'b', 'gp', 'gpus', 'a,b', '*', 'a\ngpu'):
        task(p, f'not in {partition!r}', None, SLURM_JOB_PARTITION=partition)
    for partition in ('a', 'gpu'):
        task(p, f'in {partition}', plain(p), SLURM_JOB_PARTITION=partition)
    task(p, 'declined there', None, SLURM_JOB_PARTITION='gpu', GPUSTARVE='0')
    task(p, 'asked for elsewhere', plain(p), SLURM_JOB_PARTITION='b', GPUSTARVE='1')
    p.settings(partitions_off='debug', partitions_on='debug')
    task(p, 'off in one', None, SLURM_JOB_PARTITION='debug')
    task(p, 'asked for in that', plain(p), SLURM_JOB_PARTITION='debug', GPUSTARVE='yes')
    task(p, 'on in the others', plain(p), SLURM_JOB_PARTITION='gpu')
    p.settings()
    task(p, 'lists that came along', plain(p), SLURM_JOB_PARTITION='x', gs_partitions_off='x')


def settings(p):
    p.settings(default='off')
    task(p, 'off by default', None)
    task(p, 'off by default, asked for', plain(p), GPUSTARVE='1')
    partitions(p)
    p.settings()
    batch = dict(SLURM_STEP_ID=None, SLURM_STEP_GPUS=None, SLURM_JOB_GPUS='0', ENVIRONMENT='BATCH')
    task(p, 'batch shells, too', plain(p, GPUSTARVE_RUN_ID='slurm-big-77.batch-2'),
         SLURM_RESTART_COUNT='2', **batch)
    task(p, 'batch, with an id of its own', plain(p), GPUSTARVE_RUN_ID='mine', **batch)
    p.settings(batch='off')
    task(p, 'no batch shells', None, **batch)
    p.settings()
    task(p, 'an interactive shell', None, SLURM_STEP_ID='4294967290', ENVIRONMENT=None)
    p.settings(text='# dir=/x\n\nno line\n=\n= =\ndir\nunknown=1\n\xff\x01\ndir=/site dir/$(id);')
    task(p, 'a strange file', plain(p, GPUSTARVE_OUT='/site dir/$(id);'))
    p.settings(lib='/nonexistent/libprof.so')
    task(p, 'no library here', None)
    p.settings(lib=p.path('lib'))
    task(p, 'the library is a folder', None)
    blank = p.path('a b')
    os.makedirs(blank)
    shutil.copy(p.lib, blank)
    p.settings(lib=os.path.join(blank, 'libprof.so'))
    task(p, 'ld.so would cut the path', None)
    p.settings()


def hostile(p):
    for name in ('/a b/c  d ', "/q'\"\\n\\\\", '/$(touch /tmp/x);`id`|&<>*?[a]{b}', '/ä\x01\x7f', '/-n'):
        task(p, f'{name!r}', plain(p, GPUSTARVE_OUT=name + '/gpustarve-runs'), SLURM_SUBMIT_DIR=name)
        task(p, f'preloaded {name!r}', plain(p, LD_PRELOAD=f'{name}:{p.lib}'), LD_PRELOAD=name)
    task(p, 'a line break in the folder', None, SLURM_SUBMIT_DIR='/a\nexport EVIL=1')
    task(p, 'a line break in the list', None, LD_PRELOAD='/a\nexport EVIL=1')
    task(p, 'shell variables', plain(p), IFS='/', PATH='/nonexistent', ENV='/etc/passwd', CDPATH='/tmp',
         POSIXLY_CORRECT='1', PWD='/nonexistent', gs_lib='/evil.so', gs_run='/evil', gs_dir='/evil')
    long = '/' + 'x' * 100000
    task(p, 'a long folder', plain(p, GPUSTARVE_OUT=long + '/gpustarve-runs'), SLURM_SUBMIT_DIR=long)


def own_folders(p, where):
    """dir=.../%u: made by the first job; nobody else's is used."""
    site = os.path.join(where, 'site')
    os.mkdir(site)
    os.chmod(site, 0o1777)
    p.settings(dir=site + '/%u')
    mine = os.path.join(site, 'me.@_-1')
    for _ in range(2):
        task(p, 'a folder of its own', plain(p, GPUSTARVE_OUT=mine), SLURM_JOB_USER='me.@_-1')
        gs.equal(oct(os.stat(mine).st_mode & 0o7777), '0o755', 'its mode')
    for user in (None, '', '..', '.x', '-rf', 'a/b', 'a b', 'a\nb', '$(id)'):
        task(p, f'user {user!r}', None, SLURM_JOB_USER=user)
    gs.equal(os.listdir(site), ['me.@_-1'], 'nothing else was made')
    os.symlink(where, os.path.join(site, 'linked'))
    task(p, 'a link', None, SLURM_JOB_USER='linked')
    with open(os.path.join(site, 'file'), 'w'):
        pass
    task(p, 'a file', None, SLURM_JOB_USER='file')
    if os.getuid() == 0:
        os.mkdir(os.path.join(site, 'taken'))
        os.chown(os.path.join(site, 'taken'), 65534, 65534)
        task(p, "somebody else's", None, SLURM_JOB_USER='taken')
    p.settings(dir='/nonexistent/%u')
    task(p, 'no site folder', None)
    p.settings(dir='/x/%u/y%u')
    task(p, 'further down', plain(p, GPUSTARVE_OUT='/x/nobody/y%u'))
    p.settings()


def sockets(p, where):
    run = os.path.join(where, 'run')
    os.makedirs(os.path.join(run, '77@n1'))
    p.settings(run=run)
    sock = os.path.join(run, '77@n1', 'sock')
    with open(os.path.join(run, '77@n1.out'), 'w') as f:
        f.write('/told dir\n')
    task(p, 'where Prolog says', plain(p, GPUSTARVE_OUT='/told dir'))
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(sock)
    listening.listen()
    task(p, "to the node's collector", plain(p, GPUSTARVE_OUT='/told dir', GPUSTARVE_SOCKET=sock))
    task(p, 'another folder than the collector has',
         plain(p, GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''), GPUSTARVE_OUT='/mine')
    task(p, "a collector of another host's wrapper",
         plain(p, GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB='', GPUSTARVE_SOCKET=sock),
         GPUSTARVE_OUT='/told dir', GPUSTARVE_SOCKET='/nonexistent')
    other = os.path.join(where, 'other')
    own = socket.socket(socket.AF_UNIX)
    own.bind(other)
    task(p, "a wrapper's collector that is here", plain(p, GPUSTARVE_OUT='', GPUSTARVE_SLURM_JOB=''),
         GPUSTARVE_OUT='/told dir', GPUSTARVE_SOCKET=other)
    task(p, 'another node', plain(p), SLURMD_NODENAME='n2')
    own.close()
    listening.close()
    p.settings()


def broken_parts(p, where):
    done = subprocess.run(['./taskprolog'], cwd=p.scripts, env={**STEP, 'SLURM_SUBMIT_DIR': '/home/u'},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    gs.equal((done.returncode, hooks.said(done), done.stderr), (0, plain(p), b''), 'by a relative path')
    alone = os.path.join(where, 'alone')
    shutil.copy(os.path.join(p.scripts, 'taskprolog'), alone)
    done = subprocess.run([alone], env=STEP, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    gs.equal((done.returncode, done.stdout, done.stderr), (0, b'', b''), 'without its common part')
    common = os.path.join(p.scripts, 'common')
    with open(common, encoding='utf-8') as f:
        text = f.read()
    for what, bad in (('cut', text[:700]), ('no shell', 'if ( ;;\n'), ('ends', 'exit 3\n'),
                      ('fails', 'set -e\nfalse\n'), ('empty', '')):
        with open(common, 'w', encoding='utf-8') as f:
            f.write(bad)
        done = p.call('taskprolog', STEP)
        gs.equal((done.returncode, done.stdout, done.stderr), (0, b'', b''), f'its common part {what}')
    with open(common, 'w', encoding='utf-8') as f:
        f.write(text)
    done = subprocess.run([os.path.join(p.scripts, 'taskprolog')], env=STEP, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False,
                          stdout=os.open('/dev/full', os.O_WRONLY))
    gs.equal(done.returncode, 0, 'nobody can be told')


def with_wrapper(p, where):
    """`gpustarve run` in a task of ours: listed once, and the command runs."""
    p.program('gpustarve')
    env = gs.environment(**STEP)
    env.update({k: v for k, v in plain(p, GPUSTARVE_OUT=where).items()}, GPUSTARVE_LIB=p.lib)
    done = gs.command([gs.CLI, 'run', '--no-report', '--', '/usr/bin/env'], env=env, cwd=where)
    got = dict(line.split('=', 1) for line in done.stdout.decode().split('\n') if '=' in line)
    gs.equal(done.returncode, 0, 'run inside a task')
    gs.equal(got.get('LD_PRELOAD'), p.lib, 'run inside a task: listed')
    gs.equal(got.get('GPUSTARVE_OUT'), where, 'run inside a task: folder')


def main():
    with gs.scratch() as where:
        p = hooks.Prefix(where)
        guards(p)
        unrecorded(p, os.path.join(where, 'unrecorded'))
        lists(p)
        inherited(p)
        settings(p)
        hostile(p)
        own_folders(p, where)
        sockets(p, where)
        broken_parts(p, where)
        with_wrapper(p, where)
    with gs.scratch() as where:
        task(hooks.Prefix(where, blank=True), 'a prefix with a blank', None)
    gs.finish()


main()
