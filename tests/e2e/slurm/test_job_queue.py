#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""What epilogslurmctld leaves behind on slurmctld's host when a large array ends: two processes at most,
whatever nodes have not said yet; each job gets its report, once, and one whose worker was killed, too."""
import os
import shutil
import signal
import stat
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

JOBS = 24
PROGRAM = '''#!/bin/sh
# Says what it is asked, by a line; a report takes as long as there is no file `go`.
echo "$*" >>{where}/said
case $* in *text) ;; *) exit 0 ;; esac
while [ ! -e {where}/go ]; do sleep 0.1; done
echo verdict
'''


def site(where):
    """A prefix with the hooks, and a program that only takes notes. Its user may be anybody."""
    scripts, binary = os.path.join(where, 'prefix', 'libexec', 'slurm'), os.path.join(where, 'prefix', 'bin')
    for folder in scripts, binary, os.path.join(where, 'runs'):
        os.makedirs(folder)
    for name in 'common', 'epilogslurmctld', 'jobreport':
        shutil.copy(os.path.join(gs.SOURCE, 'scripts', 'slurm', name), scripts)
    write(os.path.join(binary, 'gpustarve'), PROGRAM.format(where=where), 0o755)
    write(os.path.join(where, 'said'), '', 0o666)
    write(os.path.join(scripts, 'site.conf'), f'prefix={where}/prefix\ndir={where}/runs\nstate={where}/state\n'
          'comment=off\nnodes_wait=300\n')
    os.chmod(where, 0o755)
    return scripts


def write(path, text, mode=0o644):
    with open(path, 'w', encoding='ascii') as f:
        f.write(text)
    os.chmod(path, mode)


def allocation(where, job, end):
    folder = os.path.join(where, 'runs', f'c1-{job}.job')
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o777)
    write(os.path.join(folder, 'alloc-n1-0.json'), f'{{"end_unix_ns": {end}}}')


def end_job(scripts, job):
    done = gs.command([os.path.join(scripts, 'epilogslurmctld')], env=gs.environment(
        SLURM_CLUSTER_NAME='c1', SLURM_JOB_ID=job, SLURM_JOB_UID=os.geteuid() or 65534,
        SLURM_JOB_GID=os.getegid() or 65534, SLURM_JOB_USER='anna', SLURM_JOB_WORK_DIR='/'))
    gs.equal(done.returncode, 0, f'epilog of {job}')


def shells(scripts):
    """Whoever runs jobreport, but for what it started."""
    out = []
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/cmdline', 'rb') as f:
                words = f.read().split(b'\0')
        except OSError:
            continue
        if os.path.join(scripts, 'jobreport').encode() in words[:3]:
            out.append(int(name))
    return out


def leads(pid):
    try:
        return os.getsid(pid) == pid
    except ProcessLookupError:  # it has ended since
        return False


def leaders(scripts):
    return [p for p in shells(scripts) if leads(p)]


def queued(where):
    folder = os.path.join(where, 'state', 'queue')
    return os.listdir(folder) if os.path.isdir(folder) else []


def said(where, what):
    with open(os.path.join(where, 'said'), encoding='ascii') as f:
        return [line.split() for line in f if what in line]


def test_array(where):
    """Nodes have not said that they are done: nobody polls for that but two."""
    scripts = site(where)
    for job in range(JOBS):
        allocation(where, 100 + job, 'null')
        end_job(scripts, 100 + job)
    gs.until('two at most wait, and have a job each', lambda: len(leaders(scripts)) <= 2 and len(queued(where)) <= JOBS - 2)
    gs.equal(len(queued(where)), JOBS - 2, 'the others are files')
    gs.equal(said(where, 'report'), [], 'no report before nodes are done')
    gs.check(all(stat.S_IMODE(os.stat(os.path.join(where, 'state', n)).st_mode) & 0o077 == 0
                 for n in ('', 'queue')), 'nobody else reads the queue')
    for job in range(JOBS):
        allocation(where, 100 + job, 1)
    gs.until('both places are at a report', lambda: len(said(where, 'text')) == 2)
    victim = leaders(scripts)[0]
    os.killpg(victim, signal.SIGKILL)
    gs.until('it is gone', lambda: victim not in shells(scripts))
    allocation(where, 999, 1)
    end_job(scripts, 999)
    write(os.path.join(where, 'go'), '')
    gs.until('nobody is left', lambda: not shells(scripts), 480)
    want = [str(j) for j in [*range(100, 100 + JOBS), 999]]
    gs.equal(sorted({w[2] for w in said(where, 'json')}), want, 'a report of each')
    gs.equal(sorted(w[2] for w in said(where, 'json')), want, 'and of each one')
    gs.equal(len(said(where, 'text')), len(want) + 1, 'the one that was cut off is begun again')
    gs.equal(sorted(n for n in os.listdir(os.path.join(where, 'state')) if n.endswith('.verdict')),
             sorted(f'{j}-0.verdict' for j in want), 'verdicts for the mail')
    left = [n for folder in ('queue', 'taken.0', 'taken.1') for n in os.listdir(os.path.join(where, 'state', folder))]
    gs.equal(left, [], 'nothing waits any more')


with gs.scratch() as scratch:
    os.umask(0o022)
    test_array(scratch)
gs.finish()
