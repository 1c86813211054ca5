#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""The wrapper is invisible to signals: what is sent to it reaches the command, what the terminal
sends reaches the command once, its exit status is the command's, and it dies of the signal the
command died of. The command finds mask, dispositions, limits, folder and group as without us."""
import os
import pty
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

RUN = [gs.CLI, 'run', '--quiet', '--no-report', '--']
LISTENER = r'''
import os, signal, sys, time
seen = []
def note(number, frame):
    seen.append(signal.Signals(number).name)
for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
          signal.SIGCONT):
    signal.signal(s, note)
print('ready', flush=True)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end and 'SIGALRM' not in seen:
    time.sleep(0.05)
    if len(seen) >= int(sys.argv[2]):
        time.sleep(0.3)
        break
print(' '.join(seen), flush=True)
sys.exit(7)
'''
STATE = r'''
import os, resource, signal
status = open('/proc/self/status').read()
for key in 'SigBlk', 'SigIgn', 'SigCgt', 'Umask':
    print([l for l in status.splitlines() if l.startswith(key)])
print(os.getcwd(), os.getpgrp() == int(os.environ['GROUP']), os.getsid(0) == int(os.environ['SESSION']))
print([resource.getrlimit(r) for r in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE, resource.RLIMIT_STACK)])
print(sorted(int(f) for f in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + f)))
print(os.nice(0), os.isatty(0))
'''


def start(argv, **kw):
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=gs.environment(), **kw)


def ready(p):
    gs.equal(p.stdout.readline(), b'ready\n', 'the command is there')


with gs.scratch() as where:
    os.chdir(where)

    # Sent to the wrapper: the command gets it, and answers.
    for name in 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGCONT':
        p = start(RUN + [gs.PYTHON, '-c', LISTENER, '20', '1'])
        ready(p)
        p.send_signal(getattr(signal, name))
        out, err = p.communicate(timeout=60 * gs.PATIENCE)
        gs.equal((p.returncode, out.decode().split(), err), (7, [name], b''), f'{name} is forwarded')

    # The command dies of it: so do we.
    for name in 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT':
        p = start(RUN + ['sh', '-c', 'echo ready; exec sleep 60'])
        ready(p)
        time.sleep(0.2)
        p.send_signal(getattr(signal, name))
        p.communicate(timeout=60 * gs.PATIENCE)
        gs.equal(p.returncode, -getattr(signal, name), f'died of {name}')
    for name in 'SEGV', 'ABRT', 'KILL', 'TERM', 'PIPE', 'ALRM', 'FPE':
        done = gs.command(RUN + ['sh', '-c', f'kill -{name} $$'])
        gs.equal(done.returncode, -getattr(signal, 'SIG' + name), f'the command died of {name}')
        gs.equal((done.stdout, done.stderr), (b'', b''), f'in silence, {name}')
    for status in 0, 1, 2, 77, 126, 127, 255:
        done = gs.command(RUN + ['sh', '-c', f'exit {status}'])
        gs.equal((done.returncode, done.stderr), (status, b''), f'exit status {status}')

    # From the terminal: the whole group gets it, the command once, and we live on.
    for key, name in (b'\x03', 'SIGINT'), (b'\x1c', 'SIGQUIT'):
        pid, fd = pty.fork()
        if not pid:
            os.execvpe(RUN[0], RUN + [gs.PYTHON, '-c', LISTENER, '3', '2'], gs.environment())
        text = b''
        while b'ready' not in text:
            text += os.read(fd, 4096)
        os.write(fd, key)
        try:
            while True:
                text += os.read(fd, 4096)
        except OSError:
            pass
        status = os.waitpid(pid, 0)[1]
        os.close(fd)
        gs.equal(os.waitstatus_to_exitcode(status), 7, f'{name} from the terminal: {text}')
        gs.equal(text.decode().count(name), 1, f'{name} once: {text}')

    # The hang-up of a terminal whose session we lead.
    pid, fd = pty.fork()
    if not pid:
        os.execvpe(RUN[0], RUN + ['sh', '-c', 'trap "echo hup > hup; exit 0" HUP; echo ready; '
                                  'while :; do sleep 0.1; done'], gs.environment())
    text = b''
    while b'ready' not in text:
        text += os.read(fd, 4096)
    os.close(fd)
    os.waitpid(pid, 0)
    gs.until('the command hears that the terminal hung up', lambda: os.path.exists('hup'))

    # A command that stops itself stops us; CONT goes on with both. It ends at once then, in the
    # middle of our taking the signal: many times, for each order of the two.
    for _ in range(20):
        p = start(RUN + ['sh', '-c', 'echo ready; kill -STOP $$; echo on; exit 5'])
        ready(p)
        end = time.monotonic() + 120 * gs.PATIENCE
        while True:
            with open(f'/proc/{p.pid}/stat') as f:
                state = f.read().rsplit(')', 1)[1].split()[0]
            if state == 'T' or time.monotonic() > end:
                break
            time.sleep(0.002)
        gs.equal(state, 'T', 'stopped along')
        p.send_signal(signal.SIGCONT)
        out, _ = p.communicate(timeout=60 * gs.PATIENCE)
        gs.equal((p.returncode, out), (5, b'on\n'), 'and goes on')

    # SIGKILL of the wrapper: the command lives, the collector goes when it is done.
    p = start(RUN + ['sh', '-c', 'echo ready; sleep 1; echo alive > alive'])
    ready(p)
    p.kill()
    p.wait()
    gs.until('the command outlives its wrapper', lambda: os.path.exists('alive'))

    # What the command finds.
    def state(argv, **kw):
        env = gs.environment(GROUP=os.getpgrp(), SESSION=os.getsid(0))
        return subprocess.run(argv + [gs.PYTHON, '-c', STATE], env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, **kw).stdout.decode()

    def strange():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGWINCH})
        for s in signal.SIGHUP, signal.SIGCHLD, signal.SIGPIPE:
            signal.signal(s, signal.SIG_IGN)
        os.umask(0o027)
        os.nice(3)

    gs.equal(state(RUN), state([]), 'the same process')
    gs.equal(state(RUN, preexec_fn=strange, restore_signals=False),
             state([], preexec_fn=strange, restore_signals=False), 'the same strange process')

    # Pipes close when the command ends, not when the report is made.
    done = gs.command(['sh', '-c', '"$0" run --quiet -- sh -c "echo a; exit 4" | cat; echo end', gs.CLI])
    gs.equal(done.stdout, b'a\nend\n', 'pipeline')
gs.finish()
