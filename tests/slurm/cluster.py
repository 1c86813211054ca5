# SPDX-License-Identifier: Apache-2.0
"""A real Slurm of its own on this machine, for as long as a test needs it: munged, slurmctld and a
slurmd per node, all on loopback in one folder, with GPUs that are device files without a device. With
accounting=True also mariadbd and slurmdbd, so that what sacct tells can be looked at.

    with cluster.Cluster(where, nodes=2, gpus=8, TaskProlog=path) as slurm:
        done = slurm.srun('-n2', '--gpus-per-task=1', 'hostname')
        job = slurm.sbatch('script.sh', '--gres=gpu:1'); slurm.wait(job)
        slurm.drained()             # what is wrong with nodes, '' if nothing

Ports are free ones and sockets lie in the folder, so several may run beside each other. keeper.py
starts the daemons and ends them, also when the test is killed."""
import json
import os
import pwd
import random
import re
import shutil
import socket
import stat
import subprocess
import sys
import time

import gs

HERE = os.path.dirname(os.path.abspath(__file__))
NEEDED = ('munged', 'slurmctld', 'slurmd', 'srun', 'sbatch', 'scontrol', 'sinfo', 'scancel')
ACCOUNTING = ('mariadbd', 'mariadb-install-db', 'mariadb', 'slurmdbd', 'sacct', 'sacctmgr')
PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
MEMORY = '/sys/fs/cgroup/memory'
PATIENCE = 180  # seconds for anything that takes one: other tests compute beside this one
ENDED = ('COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'OUT_OF_MEMORY', 'NODE_FAIL', 'BOOT_FAIL',
         'DEADLINE', 'PREEMPTED')


def missing(accounting=False):
    """Why Slurm cannot be started here; None if it can."""
    if os.getuid() != 0:
        return 'Slurm needs root'
    for program in NEEDED + (ACCOUNTING if accounting else ()):
        if not shutil.which(program, path=PATH):
            return f'no {program} here'
    try:
        socket.gethostbyname(socket.gethostname())
    except OSError as e:
        return f'the name of this machine does not resolve: {e}'
    with gs.scratch() as folder:
        try:
            os.mknod(os.path.join(folder, 'gpu'), stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except OSError as e:
            return f'no device files can be made: {e}'
    return None


def no_memory_limits():
    """Why the kernel cannot be asked to limit a job's memory here; None if it can."""
    folder = f'{MEMORY}/gs{os.getpid()}'
    try:
        os.mkdir(folder)
    except OSError as e:
        return f'no cgroup for memory: {e}'
    try:
        with open(f'{folder}/memory.limit_in_bytes', 'r+', encoding='ascii') as f:
            f.write(str(64 << 20))
        return None
    except OSError as e:
        return f'memory cannot be limited: {e}'
    finally:
        os.rmdir(folder)


def free_ports(count):
    """A row of ports that nobody listens on, below those that the system gives out."""
    while True:
        first, held = random.randrange(10000, 32000), []
        try:
            for port in range(first, first + count):
                held.append(socket.socket())
                held[-1].bind(('127.0.0.1', port))
            return first
        except OSError:
            pass
        finally:
            for s in held:
                s.close()


def until(what, ready, patience=PATIENCE):
    """What ready() answers once that is true."""
    end = time.monotonic() + patience
    while True:
        answer = ready()
        if answer:
            return answer
        if time.monotonic() > end:
            raise TimeoutError(f'{what}: not after {patience} s')
        time.sleep(0.05)


class Cluster:
    def __init__(self, where, nodes=2, gpus=8, accounting=False, gpu_type='h100', partitions=('gpu',),
                 cgroup=False, slurm_user='root', **conf):
        """cgroup: memory that a job asked for is all that it gets. slurm_user: whose slurmctld and
        slurmdbd are. conf: further lines of slurm.conf."""
        self.dir, self.gpus, self.gpu_type = os.path.join(where, 'slurm'), gpus, gpu_type
        # The kernel's folders of a node have its name, so that of others must differ.
        self.nodes = [f'gs{os.getpid()}n{i + 1}' if cgroup else f'n{i + 1}' for i in range(nodes)]
        self.cgroup, self.slurm_user = cgroup, slurm_user
        self.accounting, self.partitions, self.more = accounting, partitions, conf
        self.keeper = None
        self.host = socket.gethostname()

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    # the keeper

    def ask(self, **request):
        self.keeper.stdin.write(json.dumps(request).encode() + b'\n')
        self.keeper.stdin.flush()
        line = self.keeper.stdout.readline()
        answer = json.loads(line) if line else {'error': 'the keeper is dead'}
        if 'error' in answer:
            raise RuntimeError(f'{request}: {answer["error"]}')
        return answer

    def daemon(self, name, *argv, **env):
        env = {'PATH': PATH, 'LANG': 'C', 'SLURM_CONF': self.path('slurm.conf'), **env}
        return self.ask(start=name, argv=[str(a) for a in argv], env=env,
                        log=self.path('log', name))['pid']

    def kill(self, name, signal):
        return self.ask(kill=name, signal=signal)['status']

    def others(self):
        """[pid, command line] of what the daemons started and what still lives."""
        return [row for row in self.ask(list=True)['others'] if 'slurmscriptd' not in row[1]]

    def log(self, name):
        try:
            with open(self.path('log', name), encoding='utf-8', errors='replace') as f:
                return f.read()
        except OSError as e:
            return f'{name}: {e}\n'

    # start and stop

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        os.chmod(os.path.dirname(self.dir), 0o755)  # other users run jobs here, too
        for part in ('state', 'log', 'run', 'dev') + tuple(f'spool.{n}' for n in self.nodes):
            os.makedirs(self.path(part), exist_ok=True)
        os.chown(self.path('state'), pwd.getpwnam(self.slurm_user).pw_uid, -1)
        with os.fdopen(os.open(self.path('munge.key'), os.O_WRONLY | os.O_CREAT, 0o600), 'wb') as f:
            f.write(os.urandom(1024))
        self.keeper = subprocess.Popen([sys.executable, os.path.join(HERE, 'keeper.py')],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       start_new_session=True)
        self.start_munge()
        for attempt in range(3):
            self.port = free_ports(2 + len(self.nodes))
            self.write_conf()
            if self.start_daemons():
                return
            print(f'slurm: attempt {attempt + 1}: somebody took a port', flush=True)
        raise RuntimeError(f'Slurm does not start:\n{self.log("slurmctld")}')

    def start_munge(self):
        self.munge = self.path('run', 'munge.sock')
        self.daemon('munged', 'munged', '-F', '--force', f'--key-file={self.path("munge.key")}',
                    f'--socket={self.munge}', f'--pid-file={self.path("run", "munged.pid")}',
                    f'--log-file={self.path("log", "munged.own")}',
                    f'--seed-file={self.path("run", "munged.seed")}', '--num-threads=2')
        self.settle('munged', lambda: os.path.exists(self.munge))

    def settle(self, name, ready):
        """Waits until ready() or the daemon has ended; says whether it is ready."""
        return until(name, lambda: 'ready' if ready() else
                     None if name in self.ask(list=True)['alive'] else 'ended') == 'ready'

    def start_daemons(self):
        if self.accounting and not self.start_accounting():
            return False
        self.daemon('slurmctld', 'slurmctld', '-D', '-i')
        for node in self.nodes:
            self.start_node(node)
        ready = self.settle('slurmctld', self.up) or self.up()
        for name in [] if ready else reversed(self.ask(list=True)['alive']):
            if name != 'munged' and name != 'mariadbd':
                self.kill(name, 15)
        return ready

    def start_node(self, node):
        return self.daemon(node, 'slurmd', '-D', '-N', node)

    def up(self):
        if not set(self.nodes) <= set(self.ask(list=True)['alive']):
            return False
        done = self.tool('sinfo', '-h', '-N', '-o', '%N %t')
        rows = {tuple(line.split()) for line in done.stdout.decode().splitlines()}
        return rows == {(n, 'idle') for n in self.nodes}

    def start_accounting(self):
        sock, data = self.path('run', 'mysql.sock'), self.path('db')
        if not os.path.exists(data):
            gs.command(['mariadb-install-db', '--no-defaults', '--user=root', f'--datadir={data}',
                        '--auth-root-authentication-method=normal', '--skip-test-db'],
                       env=dict(PATH=PATH), timeout=PATIENCE)
            self.daemon('mariadbd', 'mariadbd', '--no-defaults', '--user=root', f'--datadir={data}',
                        f'--socket={sock}', '--skip-networking', '--innodb-buffer-pool-size=32M',
                        '--innodb-flush-log-at-trx-commit=0', '--skip-log-bin')
            self.settle('mariadbd', lambda: gs.command(
                ['mariadb', '--no-defaults', f'--socket={sock}', '-e',
                 'create database if not exists slurm_acct_db'], env=dict(PATH=PATH)).returncode == 0)
        self.daemon('slurmdbd', 'slurmdbd', '-D', MYSQL_UNIX_PORT=sock,
                    SLURM_CONF=self.path('slurmdbd.conf'))
        return self.settle('slurmdbd', lambda: self.tool(
            'sacctmgr', '-i', 'add', 'cluster', 'test').returncode == 0)

    def stop(self):
        """Ends every daemon. Returns what did not end by itself, [pid, command line] each."""
        if not self.keeper:
            return []
        answer, _ = self.keeper.communicate()
        self.keeper = None
        for node in self.nodes if self.cgroup else ():
            for folder, _, _ in os.walk(f'{MEMORY}/slurm_{node}', topdown=False):
                os.rmdir(folder)
        return json.loads(answer.splitlines()[-1])['forced'] if answer else [[0, 'keeper']]

    # configuration

    def write_conf(self):
        lines = dict(
            ClusterName='test', SlurmctldHost=f'{self.host}(127.0.0.1)', SlurmUser=self.slurm_user,
            AuthType='auth/munge', AuthInfo=f'socket={self.munge}', SlurmctldPort=self.port,
            SlurmctldPidFile=self.path('run', 'slurmctld.pid'),
            SlurmdPidFile=self.path('run', 'slurmd.%n.pid'),
            StateSaveLocation=self.path('state'), SlurmdSpoolDir=self.path('spool.%n'),
            ProctrackType='proctrack/linuxproc', TaskPlugin='task/none',
            JobAcctGatherType='jobacct_gather/none', SelectType='select/cons_tres',
            SelectTypeParameters='CR_Core', SlurmdParameters='config_overrides', ReturnToService=2,
            GresTypes='gpu', MpiDefault='none', PrologFlags='Alloc', MinJobAge=86400, KillWait=5,
            MessageTimeout=100, SlurmdTimeout=300, BatchStartTimeout=300, TCPTimeout=60,
            PlugStackConfig=self.path('plugstack.conf'), MailProg='/bin/true', SchedulerParameters='batch_sched_delay=0')
        if self.accounting:
            lines.update(AccountingStorageType='accounting_storage/slurmdbd',
                         AccountingStorageHost='127.0.0.1', AccountingStoragePort=self.port + 1,
                         AccountingStoragePass=self.munge)
            self.write_dbd()
        if self.cgroup:
            lines.update(TaskPlugin='task/cgroup', SelectTypeParameters='CR_Core_Memory', DefMemPerCPU=1000)
            with open(self.path('cgroup.conf'), 'w', encoding='ascii') as f:
                f.write('CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\n'
                        'CgroupAutomount=no\nConstrainRAMSpace=yes\nConstrainSwapSpace=no\n')
        lines.update(self.more)
        text = [f'{k}={v}' for k, v in lines.items() if v is not None]
        gres = []
        for i, node in enumerate(self.nodes):
            text.append(f'NodeName={node} NodeHostname={self.host} NodeAddr=127.0.0.1 '
                        f'Port={self.port + 2 + i} CPUs=32 RealMemory=64000 '
                        f'Gres=gpu:{self.gpu_type}:{self.gpus}')
            gres.append(f'NodeName={node} Name=gpu Type={self.gpu_type} '
                        f'File={self.path("dev", node)}-[0-{self.gpus - 1}]')
            for gpu in range(self.gpus):
                if not os.path.exists(self.path('dev', f'{node}-{gpu}')):
                    os.mknod(self.path('dev', f'{node}-{gpu}'), stat.S_IFCHR | 0o666,
                             os.makedev(1, 3))
        for i, partition in enumerate(self.partitions):
            text.append(f'PartitionName={partition} Nodes=ALL MaxTime=INFINITE State=UP'
                        + (' Default=YES' if i == 0 else ''))
        for name, body in ('slurm.conf', text), ('gres.conf', gres):
            with open(self.path(name), 'w', encoding='ascii') as f:
                f.write('\n'.join(body) + '\n')
        if not os.path.exists(self.path('plugstack.conf')):
            open(self.path('plugstack.conf'), 'w', encoding='ascii').close()

    def write_dbd(self):
        text = ['AuthType=auth/munge', f'AuthInfo={self.munge}', 'DbdHost=localhost',
                'DbdAddr=127.0.0.1', f'DbdPort={self.port + 1}', f'SlurmUser={self.slurm_user}',
                'StorageType=accounting_storage/mysql', 'StorageHost=localhost', 'StorageUser=root',
                'StorageLoc=slurm_acct_db', f'PidFile={self.path("run", "slurmdbd.pid")}']
        with os.fdopen(os.open(self.path('slurmdbd.conf'), os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
                               0o600), 'w') as f:
            f.write('\n'.join(text) + '\n')
        os.chown(self.path('slurmdbd.conf'), pwd.getpwnam(self.slurm_user).pw_uid, -1)

    # what users and admins type

    def environment(self, **more):
        return gs.environment(SLURM_CONF=self.path('slurm.conf'), PATH=PATH, **more)

    def tool(self, *argv, user=None, env=None, **kw):
        who = dict(user=user, group='nogroup', extra_groups=[]) if user else {}
        kw.setdefault('timeout', 2 * PATIENCE)
        kw.setdefault('cwd', '/')
        return gs.command(argv, env=env or self.environment(), stdin=subprocess.DEVNULL, **who, **kw)

    def srun(self, *argv, **kw):
        return self.tool('srun', '-Q', *argv, **kw)  # whether it had to queue is no output of the job

    def sbatch(self, script, *options, **kw):
        """Hands a script's text in; the job's number."""
        path = self.path(f'script-{random.getrandbits(64):x}')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(script)
        os.chmod(path, 0o755)
        done = self.tool('sbatch', '--parsable', *options, path, **kw)
        if done.returncode:
            raise RuntimeError(f'sbatch {options}: {done.stderr.decode()}')
        return int(done.stdout.decode().split(';')[0])

    def job(self, number):
        """The job as scontrol shows it: {name: text}."""
        done = self.tool('scontrol', '-o', 'show', 'job', number)
        line = done.stdout.decode().splitlines()[:1]
        return dict(re.findall(r'(\S+?)=(\S*)', line[0])) if line else {}

    def state(self, number):
        return self.job(number).get('JobState')

    def ended(self, number):
        """The job once it and its epilogs have ended."""
        job = self.job(number)
        return job if job.get('JobState') in ENDED else None

    def wait(self, number):
        return until(f'job {number}', lambda: self.ended(number), 2 * PATIENCE)

    def drained(self):
        """Nodes that are anything but idle, mixed or allocated, with the reason."""
        done = self.tool('sinfo', '-h', '-N', '-o', '%N %T %E')
        rows = done.stdout.decode().splitlines()
        bad = [r for r in rows if not re.search(r' (idle|mixed|allocated|completing) none$', r)]
        return '\n'.join(bad) if rows else 'no nodes: ' + done.stderr.decode()
