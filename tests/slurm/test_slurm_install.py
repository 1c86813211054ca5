#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=slurm waits
"""An admin's day: install on a Slurm with accounting, the first job's
report, its line in AdminComment and its verdict in the mail; a node on which the prefix is not
mounted; and everything taken back, byte for byte. The report, the line and
the mail with --all alone."""
import os
import re
import shutil
import stat
import sys

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


class Site(hooked.Site):
    """Nothing of it is in Slurm's configuration, or in settings, until install says so."""

    def settings(self, **_):
        self.shared, self.state = os.path.join(self.where, 'shared'), os.path.join(self.where, 'verdicts')
        self.launchers = os.path.join(self.where, 'on-each-node')
        # Hooks have no driver's library at hand here unless somebody brings it.
        program = os.path.join(self.prefix, 'bin', 'gpustarve')
        os.rename(program, program + '.real')
        self.write(program, PROGRAM.format(gpus=hooked.GPUS.format(
            gpus=self.gpus, site=self.where, build=gs.BUILD)))

    def folders(self):
        self.out = os.path.join(self.shared, USER)

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


def first_report(site, slurm, plain):
    """The first job after the install has all that a site wants of it."""
    done = task(site, slurm, 'first', *MAIL)
    jobs.same_job('the first job', done, plain)
    folder = os.path.join(site.out, f'test-{done.job}.job')
    for name in 'report.html', 'summary.json':
        cluster.until(name, lambda n=name: os.path.exists(os.path.join(folder, n)))
        gs.equal(os.stat(os.path.join(folder, name)).st_uid, os.stat(folder).st_uid, f'owner of {name}')
    line = cluster.until('AdminComment', lambda: comment(slurm, done.job))
    gs.check(re.match(r'gpustarve( [a-z_]+=[a-z0-9._%:/+@-]+)+$', line), f'AdminComment: {line!r}')
    mail = cluster.until('mail', lambda: [m for m in mails(site) if 'anna' in m])[0]
    gs.check(f'Job_id={done.job} ' in mail and 'GPUs' in mail, f'mail: {mail!r}')
    for_finops(slurm, done.job)
    told = slurm.srun('--help').stdout.decode()
    gs.check('--gpustarve' in told, 'the option in srun --help')
    print(f'first job: {line}\n{mail}', flush=True)
    return done


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
        with hooked.Slurm(where, gpus=site.gpus, nodes=2, accounting=True, hidden=hidden) as slurm:
            plain = task(site, slurm, 'plain')
            before = site.given(slurm)
            done = site.install(slurm, '--dir', f'{site.shared}/%u', '--launchers', site.launchers,
                                '--parts', 'taskprolog,prolog,epilog,epilogslurmctld,mailprog,spank',
                                '--set', f'run={site.run}', '--set', f'state={site.state}',
                                '--set', f'mailer={where}/mailer')
            gs.equal(done.returncode, 0, f'install: {done.stderr.decode()}')
            print(done.stderr.decode())
            site.folders()
            print(slurm.tool('tail', '-n', '12', slurm.path('slurm.conf')).stdout.decode())
            check = site.install(slurm, '--check')
            gs.equal(check.returncode, 0, f'check: {check.stdout.decode()}')
            if '--all' in sys.argv:
                restart(slurm)
                first_report(site, slurm, plain)
            else:
                reconfigure(slurm)
                jobs.same_job('the first job', task(site, slurm, 'first'), plain)
            lost_prefix(site, slurm, plain)
            done = site.install(slurm, '--undo')
            gs.equal(done.returncode, 0, f'undo: {done.stderr.decode()}')
            shutil.rmtree(site.shared, ignore_errors=True)  # the site's own data, and not undone
            now = site.given(slurm)
            now.pop(site.run, None)  # /run is empty after each boot
            now.pop(site.state, None)  # verdicts lie there for a day
            for path in sorted(now.keys() | before.keys()):
                gs.equal(now.get(path), before.get(path), f'{path} is as it was')
            reconfigure(slurm)
            again = task(site, slurm, 'after')
            jobs.same_job('after', again, plain)
            gs.equal(slurm.drained(), '', 'nodes')
            gs.equal(jobs.leftovers(slurm), [], 'left')
            gs.equal(slurm.stop(), [], 'what had to be killed')
    gs.finish()


main()
