#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm waits
"""An admin's day, as docs/SLURM.md tells it, on a Slurm with accounting whose SlurmUser is not root: a
dry run, the install for one of two partitions, the first job's report, its line in AdminComment and its
verdict in the mail; jobs of the other partition; a node on which the prefix is not mounted; and
everything taken back, byte for byte."""
import os
import pwd
import re
import shutil
import stat

import gs
import cluster
import hooked
import jobs

PROGRAM = '''#!/bin/sh
if [ -n "$SLURMD_NODENAME" ]; then
{gpus}fi
exec "$0.real" "$@"
'''
USER = 'nobody'
PARTITIONS = ('gpu', 'other')


def slurm_user():
    """Debian's packages make one; any that is not root and not the jobs' will do."""
    known = {p.pw_name for p in pwd.getpwall()}
    return next(name for name in ('slurm', 'daemon', 'bin', 'sys') if name in known)


class Site(hooked.Site):
    """Nothing of it is in Slurm's configuration, or in settings, until install says so. Every node and
    user finds the runs at one path, which is USER's here."""

    def settings(self, **_):
        self.shared, self.state = os.path.join(self.where, 'shared'), os.path.join(self.where, 'verdicts')
        self.launchers = os.path.join(self.where, 'on-each-node')
        self.out = os.path.join(self.shared, USER)
        # Hooks have no driver's library at hand here unless somebody brings it.
        program = os.path.join(self.prefix, 'bin', 'gpustarve')
        os.rename(program, program + '.real')
        self.write(program, PROGRAM.format(gpus=hooked.GPUS.format(
            gpus=self.gpus, site=self.where, build=gs.plain(gs.BUILD))))

    def install(self, slurm, *args):
        site = os.path.join(self.scripts, 'site.conf')
        done = slurm.tool(os.path.join(self.scripts, 'install'), '--slurm-conf', slurm.path('slurm.conf'),
                          '--site', site, *args)
        return done

    def given(self, slurm):
        """All that install may have touched: {path: content, or kind and mode of a folder}."""
        found = {}
        for top in slurm.dir, self.scripts, self.where:
            for name in sorted(os.listdir(top)):
                path = os.path.join(top, name)
                st = os.lstat(path)
                if stat.S_ISDIR(st.st_mode):
                    found[path] = stat.S_IMODE(st.st_mode)
                elif stat.S_ISREG(st.st_mode) and (name.endswith('.conf') or top == self.scripts):
                    with open(path, 'rb') as f:
                        found[path] = f.read()
        return found


def reconfigure(slurm):
    gs.equal(slurm.tool('scontrol', 'reconfigure').returncode, 0, 'reconfigure')


def restart(slurm):
    """slurmctld takes a new EpilogSlurmctld at its start alone (22.05)."""
    slurm.kill('slurmctld', 15)
    slurm.daemon('slurmctld', 'slurmctld', '-D')
    gs.check(slurm.settle('slurmctld', slurm.up), 'slurmctld is up again')


MAIL = ['--mail-type=END,FAIL', '--mail-user=anna']  # END alone is not told of a job that failed


def task(site, slurm, name, *options, node='n1'):
    return slurm.run_step(name, '-w', node, '-n1', '--gpus=1', *options, *site.task('--exit', 3), user=USER)


def comment(slurm, job):
    done = slurm.tool('sacct', '-nXP', '-j', job, '-o', 'AdminComment')
    return done.stdout.decode().strip()


def first_report(site, slurm, done):
    """The first job after the install has all that a site wants of it."""
    folder = os.path.join(site.state, 'reports', f'test-{done.job}')
    for name in 'report.html', 'summary.json':
        path = os.path.join(folder, name)
        cluster.until(name, lambda p=path: os.path.exists(p))
        gs.equal((os.stat(path).st_uid, stat.S_IMODE(os.stat(path).st_mode)),
                 (pwd.getpwnam(slurm.slurm_user).pw_uid, 0o600), f"{name} is SlurmUser's alone")
    line = cluster.until('AdminComment', lambda: comment(slurm, done.job))
    gs.check(re.match(r'gpustarve( [a-z_]+=[a-z0-9._%:/+@-]+)+$', line), f'AdminComment: {line!r}')
    mail = cluster.until('mail', lambda: [m for m in mails(site) if 'anna' in m])[0]
    gs.check(f'Job_id={done.job} ' in mail and 'GPUs' in mail, f'mail: {mail!r}')
    for_finops(slurm, done.job)
    print(f'first job: {line}\n{mail}', flush=True)


def by_hand(site, slurm, job):
    """What the job's user may ask for, with GPUSTARVE_OUT as their only setting."""
    told = slurm.tool(os.path.join(site.prefix, 'bin', 'gpustarve'), 'report', '--job', job, user=USER,
                      env=slurm.environment(GPUSTARVE_OUT=site.out))
    gs.check(told.returncode == 0 and b'GPU' in told.stdout, f'report --job: {told.stdout + told.stderr}')


def partitions(site, slurm, plain):
    """The other partition's jobs are none of ours, unless they ask."""
    done = task(site, slurm, 'other', '-p', 'other')
    jobs.same_job('in the other partition', done, plain)
    gs.equal((site.runs(done.job), site.allocations(done.job), site.notes(done.job)[0]['preload']
              .count('libprof')), ([], [], 0), 'in the other partition')
    done = task(site, slurm, 'asks', '-p', 'other', '--gpustarve')
    jobs.same_job('asked for in the other partition', done, plain)
    recorded(site, done.job)
    done = task(site, slurm, 'declines', '--gpustarve=off')
    jobs.same_job('declined', done, plain)
    gs.equal((site.runs(done.job), site.allocations(done.job)), ([], []), 'declined')


def recorded(site, job):
    gs.equal((len(site.runs(job)), len(site.allocations(job))), (1, 1), f'job {job}: runs and allocations')
    marks = [n for n in os.listdir(os.path.join(site.out, f'test-{job}.job')) if n.startswith('unrecorded')]
    gs.equal(marks, [], f'job {job}: nothing of it is said to be unrecorded')


def for_finops(slurm, job):
    """The line of docs/SLURM.md that lists what jobs cost."""
    with open(os.path.join(gs.SOURCE, 'docs', 'SLURM.md'), encoding='utf-8') as f:
        line = re.search(r'^ +(sacct -a.*)$', f.read(), re.M).group(1)
    def told():
        rows = slurm.tool(*line.split()).stdout.decode().splitlines()
        return any(row.startswith(f'{job}|{USER}|') and '|gpustarve ' in row for row in rows)
    cluster.until(line, told)  # sacct leaves out what accounting has not seen end yet


def mails(site):
    folder = os.path.join(site.where, 'mails')
    out = []
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), encoding='utf-8') as f:
            out.append(f.read())
    return out


def lost_prefix(site, slurm, plain):
    """n2 does not have the prefix: its jobs are as ever, and it stays in use."""
    done = task(site, slurm, 'lost', node='n2')
    jobs.same_job('without the prefix', done, plain)
    gs.equal(site.runs(done.job), [], 'without the prefix: runs')


def main():
    why = cluster.missing(accounting=True)
    if why:
        gs.skip(why)
    with gs.scratch() as where:
        site = Site(where)
        hidden = {'n2': site.prefix}
        with hooked.Slurm(where, gpus=site.gpus, nodes=2, accounting=True, hidden=hidden,
                          partitions=PARTITIONS, slurm_user=slurm_user()) as slurm:
            plain = task(site, slurm, 'plain')
            before = site.given(slurm)
            wanted = ['--partitions', 'gpu', '--dir', f'{site.shared}/%u', '--launchers', site.launchers,
                      '--parts', 'taskprolog,prolog,epilog,epilogslurmctld,mailprog,spank',
                      '--set', f'run={site.run}', '--set', f'state={site.state}',
                      '--set', f'mailer={where}/mailer']
            done = site.install(slurm, *wanted, '--dry-run')
            gs.equal((done.returncode, site.given(slurm) == before), (0, True), 'a dry run changes nothing')
            done = site.install(slurm, *wanted)
            gs.equal(done.returncode, 0, f'install: {done.stderr.decode()}')
            print(done.stderr.decode())
            print(slurm.tool('tail', '-n', '12', slurm.path('slurm.conf')).stdout.decode())
            check = site.install(slurm, '--check')
            gs.equal(check.returncode, 0, f'check: {check.stdout.decode()}')
            print(check.stdout.decode())
            gs.check('--gpustarve' in slurm.srun('--help').stdout.decode(), 'the option in srun --help')
            reconfigure(slurm)
            restart(slurm)
            first = task(site, slurm, 'first', *MAIL)
            jobs.same_job('the first job', first, plain)
            recorded(site, first.job)
            partitions(site, slurm, plain)
            lost_prefix(site, slurm, plain)
            first_report(site, slurm, first)
            by_hand(site, slurm, first.job)
            for _ in range(2):  # first what is configured, then the launchers that it named
                done = site.install(slurm, '--undo')
                gs.equal(done.returncode, 0, f'undo: {done.stderr.decode()}')
                jobs.same_job('while it is undone', task(site, slurm, 'undone'), plain)
                reconfigure(slurm)
            shutil.rmtree(site.shared, ignore_errors=True)  # the site's own data, and not undone
            now = site.given(slurm)
            now.pop(site.run, None)  # /run is empty after each boot
            now.pop(site.state, None)  # verdicts lie there for a day
            for path in sorted(now.keys() | before.keys()):
                gs.equal(now.get(path), before.get(path), f'{path} is as it was')
            gs.equal(slurm.drained(), '', 'nodes')
            gs.equal(jobs.leftovers(slurm), [], 'left')
            gs.equal(slurm.stop(), [], 'what had to be killed')
    gs.finish()


main()
