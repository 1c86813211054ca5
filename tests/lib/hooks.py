# SPDX-License-Identifier: Apache-2.0
"""The SLURM scripts in a prefix of their own, and calling them without a SLURM: the environment that
slurmd, slurmstepd and slurmctld 22.05 give them is made up."""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile

import gs

SCRIPTS = os.path.join(gs.SOURCE, 'scripts', 'slurm')
JOB = dict(SLURM_JOB_ID='77', SLURM_JOBID='77', SLURM_CLUSTER_NAME='big', SLURMD_NODENAME='n1',
           SLURM_JOB_USER='nobody', SLURM_JOB_UID='65534', SLURM_JOB_GID='65534',
           SLURM_JOB_NAME='a;b "c\' $(touch /nonexistent/x) `id`\nexport EVIL=1')


class Prefix:
    """libexec/gpustarve/slurm, lib/gpustarve and bin below one folder, as `cmake --install` makes it."""

    def __init__(self, where, **settings):
        self.dir = os.path.join(where, 'pre fix' if settings.pop('blank', False) else 'prefix')
        self.scripts = os.path.join(self.dir, 'libexec', 'gpustarve', 'slurm')
        self.lib = os.path.join(self.dir, 'lib', 'gpustarve', 'libprof.so')
        shutil.copytree(SCRIPTS, self.scripts, ignore=shutil.ignore_patterns('spank', 'CMake*'))
        if os.environ.get('HOOKS_SHELL'):
            self.use_shell(os.environ['HOOKS_SHELL'])
        os.makedirs(os.path.dirname(self.lib))
        os.makedirs(self.path('bin'))
        shutil.copy(gs.LIBPROF, self.lib)
        self.lib = os.path.realpath(self.lib)
        self.settings(**settings)

    def use_shell(self, shell):
        """Another /bin/sh than this machine's, such as '/bin/bash --posix'; to be tried by hand."""
        for name in os.listdir(self.scripts):
            path = os.path.join(self.scripts, name)
            with open(path, encoding='utf-8') as f:
                text = f.read()
            with open(path, 'w', encoding='utf-8') as f:
                f.write(text.replace('#!/bin/sh\n', f'#!{shell}\n', 1))

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def settings(self, text='', **values):
        with open(os.path.join(self.scripts, 'site.conf'), 'w', encoding='utf-8') as f:
            f.write(''.join(f'{k}={v}\n' for k, v in values.items()) + text)

    def program(self, name, text=None):
        """bin/NAME: ours, or a script."""
        path = self.path('bin', name)
        if os.path.lexists(path):
            os.unlink(path)
        if text is None:
            os.symlink(os.path.join(gs.BUILD, 'bin', name), path)
        else:
            with open(path, 'w', encoding='utf-8') as f:
                f.write('#!/bin/sh\n' + text)
            os.chmod(path, 0o755)

    def call(self, script, env, argv=(), stdin=b'', shell=(), **kw):
        """Nothing is in its environment but env: no PATH either. What it leaves in its process group
        is killed, as SLURM does."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            child = subprocess.Popen([*shell, os.path.join(self.scripts, script), *argv], env=env,
                                     stdin=given, stdout=out, stderr=err, start_new_session=True, **kw)
            try:
                child.wait(300)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(child.args, child.returncode, out.read(), err.read())


def said(done):
    """What slurmstepd makes of TaskProlog's output: {NAME: value, or None for unset}."""
    out = {}
    for line in done.stdout.decode().split('\n'):
        if line.startswith('export '):
            name, value = line[7:].split('=', 1)
            out[name] = value
        elif line.startswith('unset '):
            out[line[6:]] = None
        elif line:
            gs.check(False, f'TaskProlog said {line!r}')
    return out
