# SPDX-License-Identifier: Apache-2.0
"""EpilogSlurmctld and MailProg without a SLURM: the report of a job that has ended, its line in
AdminComment, the verdict in its mail; with parts that fail, hang, or say strange things."""
# ctest: labels=e2e,slurm waits
import concurrent.futures
import os
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hooks

JOB = dict(hooks.JOB, SLURM_SCRIPT_CONTEXT='epilog_slurmctld', SLURM_JOB_RESTART_COUNT='0',
           SLURM_JOB_NUM_NODES='1')
GPUSTARVE = r'''
case "$1 $2" in
'job comment') printf '%s\n' {comment} ;;
'report --job')
	out=
	while [ $# -gt 0 ]; do
		[ "$1" != -o ] || out=$2
		shift
	done
	if [ -n "$out" ]; then
		echo "$GPUSTARVE_OUT $(id -u)" >"$out"
	else
		printf '%s\n' {text}
	fi ;;
esac
'''
SACCTMGR = 'for a in "$@"; do printf "%s\\n" "$a"; done >"{log}.new"; mv "{log}.new" "{log}"; echo Modified\n'
MAILER = 'for a in "$@"; do printf "%s\\n" "$a"; done >"{log}.new"; echo -- >>"{log}.new"\n' \
    'cat >>"{log}.new"; mv "{log}.new" "{log}"; exit 3\n'


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


def read(path):
    with open(path, encoding='utf-8', errors='surrogateescape') as f:
        return f.read()


class Controller:
    def __init__(self, where, name, comment='gpustarve=1 starved_pct=38', text='input-bound\n~! x\n.',
                 had='', **settings):
        self.where = os.path.join(where, name)
        self.work, self.state = os.path.join(self.where, 'w'), os.path.join(self.where, 'state')
        self.log, self.mail = os.path.join(self.where, 'sacctmgr.log'), os.path.join(self.where, 'mail')
        self.folder = os.path.join(self.work, 'gpustarve-runs', 'big-77.job')
        os.makedirs(self.folder)
        for path in (self.where, self.work, os.path.dirname(self.folder), self.folder):
            os.chmod(path, 0o755)
            if os.getuid() == 0 and path != self.where:
                os.chown(path, 65534, 65534)
        self.alloc('1')
        self.p = hooks.Prefix(self.where)
        self.values = dict(state=self.state, sacctmgr=self.p.path('bin', 'sacctmgr'),
                           mailer=self.p.path('bin', 'mailer'), nodes_wait='30', **settings)
        self.p.settings(**self.values)
        self.p.program('gpustarve', GPUSTARVE.format(comment=quoted(comment), text=quoted(text)))
        self.p.program('sacctmgr', SACCTMGR.format(log=self.log))
        self.p.program('sacct', f'printf "%s\\n" {quoted(had)}\n')
        self.p.program('mailer', MAILER.format(log=self.mail))

    def alloc(self, end):
        with open(os.path.join(self.folder, 'alloc-n1-0.json'), 'w') as f:
            f.write('{"job": 77,\n "end_unix_ns": %s}\n' % end)

    def end(self, **env):
        full = {**JOB, 'SLURM_JOB_WORK_DIR': self.work, **env}
        began = time.monotonic()
        done = self.p.call('epilogslurmctld', {k: v for k, v in full.items() if v is not None})
        gs.equal((done.returncode, done.stdout, done.stderr), (0, b'', b''), 'EpilogSlurmctld')
        return time.monotonic() - began

    def send(self, subject, want=0, stdin=b'given\n', **env):
        argv = ['-s', subject, 'a b@c;d']
        done = self.p.call('mailprog', {**JOB, **env}, argv=argv, stdin=stdin)
        gs.equal(done.returncode, want, f'mail of {subject!r}')
        return '\n'.join(argv) + '\n--\n' + stdin.decode()

    def reports(self):
        if os.getuid() == 0:
            return self.folder
        return os.path.join(self.state, 'reports', 'big-77')

    def reported(self):
        return gs.until('a report', lambda: os.path.exists(os.path.join(self.reports(), 'report.html')))

    def over(self):
        """The background is done: nobody holds the place any more."""
        return gs.until('an end', lambda: not [f for f in os.listdir(self.state)
                                            if f.endswith('.pending')])


def report(where):
    c = Controller(where, 'report')
    c.alloc('null')
    c.end()
    gs.check(os.path.exists(os.path.join(c.state, '77-0.pending')), 'mail may wait')
    time.sleep(1.5)
    gs.check(not os.path.exists(os.path.join(c.reports(), 'report.html')), 'a node is not done yet')
    c.alloc('2')
    c.reported()
    user = 65534 if os.getuid() == 0 else os.getuid()
    for name in ('report.html', 'summary.json'):
        path = os.path.join(c.reports(), name)
        gs.equal(read(path), f'{c.work}/gpustarve-runs {user}\n', f'{name}: where from, as whom')
        gs.equal(os.stat(path).st_uid, user, f'{name}: whose')
    gs.until('a comment', lambda: os.path.exists(c.log))
    gs.equal(read(c.log).split('\n'), ['-i', 'modify', 'job', 'where', 'jobid=77', 'set',
                                       'AdminComment=gpustarve=1 starved_pct=38', ''], 'the comment')
    gs.equal(oct(os.stat(c.state).st_mode & 0o777), '0o700', "the state's mode")
    gs.equal(sorted(f for f in os.listdir(c.folder) if f[0] == '.'), [], 'nothing half-made')


def comments(where):
    for name, comment, want in (
            ('hostile', 'starved=1 "; rm -rf / #$(id)`id` UPPER é\nline=2',
             'gpustarve starved=1 ; rm -rf / idid   line=2'),
            ('long', 'gpustarve=' + 'x' * 5000, 'gpustarve=' + 'x' * 990)):
        c = Controller(where, 'comment-' + name, comment=comment)
        c.end(SLURM_ARRAY_JOB_ID='70', SLURM_ARRAY_TASK_ID='7')
        gs.until('a comment', lambda log=c.log: os.path.exists(log))
        got = read(c.log).split('\n')
        gs.equal((got[4], got[6].split('=', 1)[1]), ('jobid=70_7', want), f'{name}: the comment')


def no_comment(where):
    made = [Controller(where, 'none-empty', comment=''), Controller(where, 'none-words', comment='hello'),
            Controller(where, 'none-other', had='js1:abc'), Controller(where, 'none-off', comment='off')]
    made[3].p.settings(**{**made[3].values, 'comment': 'off'})
    for c in made:
        c.end()
    for c in made:
        c.reported()
    time.sleep(4)
    for c in made:
        gs.check(not os.path.exists(c.log), f'{c.where}: no comment')


def none_of_ours(where):
    c = Controller(where, 'foreign')
    for env in (dict(SLURM_JOB_ID='78'), dict(SLURM_JOB_ID='7/7'), dict(SLURM_JOB_ID=None),
                dict(SLURM_JOB_WORK_DIR=None), dict(SLURM_JOB_WORK_DIR='/nonexistent'),
                dict(SLURM_JOB_UID='x'), dict(SLURM_CLUSTER_NAME='../x'),
                dict(SPANK__SLURM_SPANK_OPTION_gpustarve_gpustarve='off')):
        c.end(**env)
    c.over()
    c.p.settings(**{**c.values, 'report': 'off'})
    c.end()
    os.unlink(c.p.path('bin', 'gpustarve'))
    c.p.settings(**c.values)
    c.end()
    c.over()
    gs.equal(os.listdir(c.folder), ['alloc-n1-0.json'], 'no report of others')
    os.chmod(c.state, 0o777)
    c.end()
    gs.equal([f for f in os.listdir(c.state) if not f.startswith('place')], [],
             'a state that others may write to')


def hangs(where):
    c = Controller(where, 'hangs')
    c.p.program('gpustarve', 'p=$GPUSTARVE_OUT/../pid; [ ! -e "$p" ] || exit 1\n'
                'echo $$ >"$p"; exec sleep 600\n')
    c.end()
    pid = os.path.join(c.work, 'pid')
    gs.until('its start', lambda: os.path.exists(pid) and read(pid).strip())
    gs.check(True, 'slurmctld has long gone on')
    os.kill(int(read(pid)), 9)
    c.over()


def through(where):
    """Mail that is none of ours comes out as it went in, with the mailer's status."""
    c = Controller(where, 'through')
    for subject, env in (('Slurm Job_id=77 Name=x Began, Queued time 0', {}),
                         ('Slurm Job_id=77 Name=x Began, y', dict(SLURM_JOB_MAIL_TYPE='Began')),
                         ('Slurm Job_id=77 Name=Ended, x', dict(SLURM_JOB_MAIL_TYPE='Requeued')),
                         ('odd "q" $(id) `id` \\ ~! *', dict(SLURM_JOB_MAIL_TYPE='x')),
                         ('Slurm Job_id=77 Name=x Ended, y', dict(SLURM_JOB_ID='x'))):
        want = c.send(subject, want=3, **env)
        gs.equal(read(c.mail), want, f'mail of {subject!r}')
        os.unlink(c.mail)
    os.mkdir(c.state)
    os.chmod(c.state, 0o777)
    want = c.send('Slurm Job_id=77 Ended, x', want=3)
    gs.equal(read(c.mail), want, 'a state that others may write to')
    os.unlink(c.p.path('bin', 'mailer'))
    for name in ('/usr/bin/mail', '/bin/mail', '/usr/bin/mailx'):
        if os.path.exists(name):
            return
    c.send('Slurm Job_id=77 Began, x')


def verdict(where):
    c = Controller(where, 'verdict')
    want = c.send('Slurm Job_id=77 Name=x Ended, Run time 1, COMPLETED', stdin=b'')
    time.sleep(0.5)
    gs.check(not os.path.exists(c.mail), 'it waits for the verdict')
    c.end()
    gs.until('mail', lambda: os.path.exists(c.mail))
    gs.equal(read(c.mail), want + '\n input-bound\n ~! x\n .\n', 'mail with the verdict')
    os.unlink(c.mail)
    want = c.send('x', SLURM_JOB_MAIL_TYPE='Failed')
    gs.until('mail', lambda: os.path.exists(c.mail))
    gs.equal(read(c.mail), want + '\n input-bound\n ~! x\n .\n', 'the verdict was there')
    os.unlink(c.mail)
    # Another end of the same job, which was requeued: it has a verdict of its own, or none.
    want = c.send('x', SLURM_JOB_MAIL_TYPE='Ended', SLURM_JOB_RESTART_COUNT='1')
    gs.until('mail', lambda: os.path.exists(c.mail))
    gs.equal(read(c.mail), want, 'no verdict: unchanged')


def main():
    with gs.scratch() as where:
        os.chmod(where, 0o755)
        tests = (verdict, no_comment, report, comments, none_of_ours, hangs, through)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for test in [pool.submit(test, where) for test in tests]:
                test.result()
    gs.finish()


main()
