# SPDX-License-Identifier: Apache-2.0
"""Prolog and Epilog without a SLURM: the collector of a job starts and ends with it, as its user; what
killed jobs left is cleared away; nothing of another user is touched, whatever lies there; and both
end with 0 and soon."""
# ctest: labels=e2e,slurm waits
import concurrent.futures
import contextlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hooks

NOBODY = 65534
JOB = dict(hooks.JOB, SLURM_JOB_GPUS='0,1', CUDA_VISIBLE_DEVICES='0,1', SLURM_JOB_NUM_NODES='1',
           SLURM_JOB_RESTART_COUNT='0', SLURM_SCRIPT_CONTEXT='prolog_slurmd')
OPTION = 'SPANK__SLURM_SPANK_OPTION_gpustarve_gpustarve'
TELLER = 'echo "$(id -u) $*" >>"{log}"\n'


class Node:
    def __init__(self, where, name, **settings):
        self.where = os.path.join(where, name)
        os.mkdir(self.where)
        os.chmod(self.where, 0o755)
        self.run, self.work = os.path.join(self.where, 'run'), os.path.join(self.where, 'w d')
        os.mkdir(self.work)
        os.chown(self.work, NOBODY, NOBODY)
        self.p = hooks.Prefix(self.where, run=self.run, **settings)
        self.p.program('gpustarve-collector')
        self.told = os.path.join(self.work, 'told')
        self.p.program('gpustarve', TELLER.format(log=self.told))

    def hook(self, script, expect=0, **env):
        full = {**JOB, 'SLURM_JOB_WORK_DIR': self.work, **env}
        done = self.p.call(script, {k: v for k, v in full.items() if v is not None})
        gs.equal((done.returncode, done.stdout, done.stderr), (expect, b'', b''),
                 f'{script}: status and output')

    def settings(self, **more):
        self.p.settings(**{'run': self.run, **more})

    def state(self, at='77@n1'):
        with open(os.path.join(self.run, at + '.state')) as f:
            return f.read().split('\n')

    def pid(self, at='77@n1'):
        return int(self.state(at)[0])

    def left(self):
        return sorted(os.listdir(self.run)) if os.path.isdir(self.run) else []

    def no_collector(self, what, left=('77@n1.out', '77@n1.state')):
        gs.equal(self.left(), list(left), f'{what}: no collector')
        self.hook('epilog')
        gs.equal(self.left(), [], f'{what}: cleared away')


def lives(pid):
    try:
        with open(f'/proc/{pid}/stat') as f:
            return f.read().rsplit(')', 1)[1].split()[0] not in 'ZX'
    except OSError:
        return False


def goes(pid):
    for _ in range(3000):
        if not lives(pid):
            return True
        time.sleep(0.02)
    return False


@contextlib.contextmanager
def other(*argv, **kw):
    """A process that is none of theirs."""
    child = subprocess.Popen(argv or ['sleep', '600'], start_new_session=True, **kw)
    try:
        yield child.pid
    finally:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def life(where):
    n = Node(where, 'life')
    n.hook('prolog')
    gs.equal(n.left(), ['77@n1', '77@n1.out', '77@n1.state'], 'what Prolog leaves')
    out = n.work + '/gpustarve-runs'
    pid, since, uid, gid, told = n.state()[:5]
    gs.equal((uid, gid, told), ('65534', '65534', out), 'what is written down')
    with open(f'/proc/{pid}/stat') as f:
        gs.equal(f.read().rsplit(')', 1)[1].split()[19], since, 'its start time')
    with open(f'/proc/{pid}/status') as f:
        status = dict(line.split(':\t', 1) for line in f.read().split('\n') if ':\t' in line)
    gs.equal(status['Uid'].split(), ['65534'] * 4, "the collector is the user's")
    gs.equal(status['Gid'].split(), ['65534'] * 4, 'its group')
    gs.equal((int(status['CapEff'], 16), int(status['CapBnd'], 16), status['NoNewPrivs'].strip()),
             (0, 0, '1'), 'it can become nobody else')
    fds = {os.readlink(f'/proc/{pid}/fd/{fd}') for fd in os.listdir(f'/proc/{pid}/fd')}
    gs.check(not any(name.startswith(('pipe:', gs.SOURCE)) for name in fds),
             f"it holds nothing of slurmd's: {fds}")
    folder = os.stat(os.path.join(n.run, '77@n1'))
    gs.equal((folder.st_uid, stat.S_IMODE(folder.st_mode)), (0, 0o711), "the socket's folder is root's")
    gs.equal(os.listdir(os.path.join(n.run, '77@n1')), ['sock'], 'and holds the socket alone')
    told = os.stat(os.path.join(n.run, '77@n1.out'))
    gs.equal((told.st_uid, told.st_gid, stat.S_IMODE(told.st_mode)), (0, NOBODY, 0o440),
             'what the user may read, and not fill')
    task = {**JOB, 'SLURM_STEP_ID': '0', 'SLURM_STEP_GPUS': '0', 'SLURM_SUBMIT_DIR': '/elsewhere'}
    said = hooks.said(n.p.call('taskprolog', task, user=NOBODY, group=NOBODY, extra_groups=[]))
    gs.equal((said.get('GPUSTARVE_OUT'), said.get('GPUSTARVE_SOCKET')),
             (out, os.path.join(n.run, '77@n1', 'sock')), 'what the task is told')
    n.hook('epilog', SLURM_JOB_EXIT_CODE='0')
    gs.check(not lives(int(pid)), 'Epilog ends it')
    gs.equal(n.left(), [], 'nothing is left')
    with open(n.told) as f:
        gs.equal(f.read(), f'65534 job begin --dir {out}\n65534 job end --dir {out}\n',
                 'the allocation is written down by the user')
    n.hook('epilog')
    gs.equal(n.left(), [], 'an Epilog that finds no state')
    with open(n.told) as f:
        gs.equal(f.read().count(f'65534 job end --dir {out}\n'), 2, 'it tells of the end all the same')


def guarded(where):
    """Its user's processes can neither trace it nor look into it: it is outside of their jobs' limits."""
    n = Node(where, 'guarded')
    for mode, want in ((0o755, True), (0o711, False)):
        copy = os.path.join(n.p.scripts, 'collector')
        shutil.copy(os.path.join(gs.BUILD, 'bin', 'gpustarve-collector'), copy)
        os.chmod(copy, mode)
        n.hook('prolog')
        look = subprocess.run(['cat', f'/proc/{n.pid()}/environ'], user=NOBODY, group=NOBODY,
                              extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              check=False)
        gs.equal((look.returncode == 0, b'PATH' in look.stdout), (want, want), f'mode {mode:o}')
        n.hook('epilog')
        gs.equal(n.left(), [], 'it is stopped all the same')


def not_wanted(where):
    n = Node(where, 'unwanted')
    n.hook('prolog', SLURM_JOB_GPUS=None, CUDA_VISIBLE_DEVICES=None)
    n.hook('prolog', SLURM_JOB_GPUS=None, CUDA_VISIBLE_DEVICES='NoDevFiles')
    n.hook('prolog', **{OPTION: 'off'})
    n.settings(default='off')
    n.hook('prolog')
    for name, value in (('SLURM_JOB_UID', 'x'), ('SLURM_JOB_UID', None), ('SLURM_JOB_ID', '7;7'),
                        ('SLURM_JOB_ID', '../7'), ('SLURM_JOB_WORK_DIR', 'a'), (OPTION, 'a\nb'),
                        (OPTION, '/' + 'x' * 4000)):
        n.settings()
        n.hook('prolog', **{name: value})
    gs.equal([e for e in n.left() if not e.endswith('.state')], [], 'jobs that are none of ours')
    n.settings(default='off', partitions_on='a,gpu')
    n.hook('prolog', SLURM_JOB_PARTITION='b')
    n.settings(partitions_off='b')
    n.hook('prolog', SLURM_JOB_PARTITION='b')
    gs.equal([e for e in n.left() if not e.endswith('.state')], [], 'jobs of another partition')
    for partition, options in (('gpu', {}), ('b', {OPTION: '(null)'})):
        n.settings(default='off', partitions_on='a,gpu')
        n.hook('prolog', SLURM_JOB_PARTITION=partition, **options)
        gs.check(lives(n.pid()), f'a job of {partition}, {options}')
        n.hook('epilog', SLURM_JOB_PARTITION=partition, **options)
        gs.equal(n.left(), [], f'its end in {partition}')
    n.settings(default='off')
    evil = 'x "$(touch evil)" \'; `id`'
    n.hook('prolog', **{OPTION: evil})
    gs.equal(n.state()[4], f'{n.work}/{evil}', 'a folder that was asked for')
    gs.check(lives(n.pid()), 'and its collector')
    n.hook('epilog')
    gs.check(not os.path.exists(os.path.join(n.work, 'evil')), 'nothing is run of it')
    n.settings(collector='off')
    n.hook('prolog')
    gs.check(os.path.isdir(os.path.join(n.work, 'gpustarve-runs')), 'a folder for the allocation')
    n.no_collector('switched off')


def leftovers(where):
    n = Node(where, 'left')
    n.hook('prolog')
    first = n.pid()
    n.hook('prolog', SLURM_JOB_RESTART_COUNT='1')
    gs.check(not lives(first) and lives(n.pid()), 'a requeued job has one collector')
    os.kill(n.pid(), signal.SIGKILL)
    goes(n.pid())
    n.hook('prolog')
    gs.check(lives(n.pid()), 'after a collector that was killed')
    # Another job's Epilog never came: a day later it is cleared away, unless the job is here.
    n.hook('prolog', SLURM_JOB_ID='78')
    n.hook('prolog', SLURM_JOB_ID='79')
    old = [n.pid('78@n1'), n.pid('79@n1')]
    stray = os.path.join(n.run, '80@n1')
    os.mkdir(stray)
    os.chown(stray, NOBODY, NOBODY)
    with open(os.path.join(stray, 'x'), 'w'):
        pass
    n.hook('prolog', SLURM_JOB_ID='81')
    gs.check(lives(old[0]) and lives(old[1]) and os.path.exists(stray), 'young ones stay')
    for name in ('78@n1.state', '79@n1.state', '80@n1'):
        os.utime(os.path.join(n.run, name), (1, 1))
    with other('bash', '-c', 'exec -a "slurmstepd: [79.0]" sleep 600'):
        while subprocess.run(['pgrep', '-f', r'^slurmstepd: \[79\.0\]'], stdout=subprocess.DEVNULL,
                             check=False).returncode:
            time.sleep(0.05)
        n.hook('epilog', SLURM_JOB_ID='81')
    gs.check(not lives(old[0]), 'left by a job that is gone')
    gs.check(lives(old[1]), 'of a job that is still here')
    gs.equal(n.left(), ['77@n1', '77@n1.out', '77@n1.state', '79@n1', '79@n1.out', '79@n1.state'],
             'what stays')
    n.hook('epilog', SLURM_JOB_ID='79')
    n.hook('epilog')
    gs.equal(n.left(), [], 'nothing is left')


def not_ours(where):
    """A state file that tells of a process that is not the collector (any more)."""
    n = Node(where, 'alien')
    n.hook('prolog')
    mine = n.pid()
    state = os.path.join(n.run, '77@n1.state')
    with other(user=NOBODY, group=NOBODY) as alien:
        lines = n.state()
        lines[0] = str(alien)
        with open(state, 'w') as f:
            f.write('\n'.join(lines))
        n.hook('epilog')
        gs.check(lives(alien), 'a process with that number that began at another time')
    gs.check(lives(mine), 'a collector that nobody tells of')
    os.kill(mine, signal.SIGKILL)
    for text in ('', 'x\ny\nz\n', '1\n', '-1\n-1\n-1\n-1\n', '\0' * 100, '0\n0\n0\n0\n/\n'):
        with open(state, 'w') as f:
            f.write(text)
        n.hook('epilog')
        gs.equal(n.left(), [], f'a state of {text!r}')


def no_start(where):
    n = Node(where, 'broken')
    for what, text in (('ends at once', 'exit 1\n'), ('is no program', '\0\0'),
                       ('never listens', 'sleep 600\n'),
                       ('makes something else', 'mkdir "${4%/*}/x"; mkfifo "$4"; sleep 600\n')):
        n.p.program('gpustarve-collector', text)
        n.hook('prolog')
        n.no_collector(what)
    os.unlink(n.p.path('bin', 'gpustarve-collector'))
    n.hook('prolog')
    n.no_collector('is not here')
    n.p.program('gpustarve-collector')
    os.rmdir(os.path.join(n.work, 'gpustarve-runs'))
    os.chown(n.work, 0, 0)
    n.hook('prolog')
    n.no_collector('may not write')


LISTENER = """exec python3 -c '
import os, signal, socket, sys
path = sys.argv[4]
folder = os.path.dirname(path)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
while os.stat(folder).st_uid:
    os.lstat(path)
for _ in range(3000):
    os.lstat(path)
listener.listen()
signal.pause()' "$@"
"""


def slow_to_listen(where):
    """Its folder becomes root's while the collector, which has bound its socket, goes on looking there."""
    n = Node(where, 'slow')
    n.p.program('gpustarve-collector', LISTENER)
    for _ in range(4):
        n.hook('prolog')
        gs.check(lives(n.pid()), 'a collector that is slow to listen')
        n.hook('epilog')
    gs.equal(n.left(), [], 'and its end')


def teller_hangs(where):
    n = Node(where, 'hangs')
    n.p.program('gpustarve', 'sleep 600\n')
    n.hook('prolog')
    gs.check(lives(n.pid()), 'a teller that hangs holds nothing up')
    n.p.program('gpustarve', 'exit 1\n')
    n.hook('epilog')
    gs.equal(n.left(), [], 'nor later')


def roots_folders(where):
    n = Node(where, 'roots')
    os.mkdir(n.run)
    for mode in (0o777, 0o1777, 0o775, 0o757):
        os.chmod(n.run, mode)
        n.hook('prolog')
        gs.equal(n.left(), [], f'state in a folder of mode {mode:o}')
    os.chmod(n.run, 0o755)
    os.chown(n.run, NOBODY, NOBODY)
    n.hook('prolog')
    gs.equal(n.left(), [], "state in a user's folder")
    os.rmdir(n.run)
    os.symlink(n.work, n.run)
    n.hook('prolog')
    gs.equal(sorted(os.listdir(n.work)), [], 'state behind a link')
    os.unlink(n.run)


def own_folders(where):
    n = Node(where, 'own')
    site = os.path.join(n.where, 'site')
    os.mkdir(site)
    os.chmod(site, 0o1777)
    n.settings(dir=site + '/%u')
    n.hook('prolog')
    mine = os.path.join(site, 'nobody')
    gs.equal((n.state()[4], os.stat(mine).st_uid), (mine, NOBODY), 'made by the user')
    n.hook('epilog')
    os.rmdir(mine)
    private = os.path.join(n.where, 'private')
    os.mkdir(private)
    for what, make in (('a link', lambda: os.symlink(private, mine)), ("root's", lambda: os.mkdir(mine))):
        make()
        for option in (None, '(null)'):  # --gpustarve without a folder
            n.hook('prolog', **{OPTION: option})
            gs.equal((n.left(), os.listdir(private)), ([], []), f'{what} is not used, {option}')
        os.unlink(mine) if os.path.islink(mine) else os.rmdir(mine)


def mapping(where):
    n = Node(where, 'dcgm', collector='off')
    dcgm = os.path.join(n.where, 'map')
    os.mkdir(dcgm)
    n.settings(collector='off', dcgm=dcgm)

    def mapped():
        out = {}
        for name in sorted(os.listdir(dcgm)):
            if name[0] != '.':
                with open(os.path.join(dcgm, name)) as f:
                    out[name] = f.read()
        return out

    n.hook('prolog')
    gs.equal(mapped(), {'0': '77\n', '1': '77\n'}, 'a job')
    n.hook('prolog', SLURM_JOB_ID='7', SLURM_JOB_GPUS='1-3')
    n.hook('prolog', SLURM_JOB_ID='7', SLURM_JOB_GPUS='1-3')
    gs.equal(mapped(), {'0': '77\n', '1': '77\n7\n', '2': '7\n', '3': '7\n'}, 'two that share')
    n.hook('epilog')
    gs.equal(mapped(), {'1': '7\n', '2': '7\n', '3': '7\n'}, 'one is over')
    n.hook('epilog', SLURM_JOB_ID='7', SLURM_JOB_GPUS='1-3')
    for bad in ('../x', '0;1', 'a', '-', '3-1', '5000', '1-99999', ',', '$(id)', '*'):
        n.hook('prolog', SLURM_JOB_GPUS=bad)
    gs.equal((mapped(), sorted(os.listdir(dcgm))), ({}, ['.lock']), 'nothing is left')
    os.chmod(dcgm, 0o777)
    n.hook('prolog')
    gs.equal(mapped(), {}, 'a folder that others may write to')


def main():
    if os.getuid() != 0:
        gs.skip('Prolog and Epilog are for root')
    with gs.scratch() as where:
        os.chmod(where, 0o755)
        # They mostly sleep, each on a node of its own.
        tests = (no_start, slow_to_listen, teller_hangs, leftovers, life, guarded, not_wanted, not_ours, roots_folders, own_folders, mapping)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for test in [pool.submit(test, where) for test in tests]:
                test.result()
    gs.finish()


main()
