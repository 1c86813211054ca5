#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""The status line under a shell with job control: Ctrl-Z gives the row back before the shell gets
the terminal and stops the wrapper of the same signal as without a line; in the background nothing
is written, not even where that would stop the job (stty tostop); in the foreground it comes back."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from terminal import Terminal

# What a shell does with `%1`: a process group of its own, the terminal, and back.
SHELL = r'''
import os, signal, sys, termios, time
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
settings = termios.tcgetattr(0)
settings[3] |= termios.TOSTOP
termios.tcsetattr(0, termios.TCSANOW, settings)
def say(text):
    os.write(1, ('shell: ' + text + '\n').encode())
job = os.fork()
if not job:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
try:
    os.setpgid(job, job)
except OSError:
    pass
def wait(flags=0):
    pid, status = os.waitpid(job, os.WUNTRACED | flags)
    if pid and os.WIFSTOPPED(status):
        say('stopped by ' + signal.Signals(os.WSTOPSIG(status)).name)
    elif pid:
        say('ended with %d' % os.waitstatus_to_exitcode(status))
        sys.exit(0)
wait()
os.tcsetpgrp(0, os.getpgrp())
say('in front')
os.killpg(job, signal.SIGCONT)
time.sleep(3.5)
wait(os.WNOHANG)
say('to the front')
os.tcsetpgrp(0, job)
os.killpg(job, signal.SIGCONT)
wait()
'''
WORK = ['sh', '-c', '"$@" & while [ ! -e stop ]; do sleep 0.2; done; kill $!', 'sh',
        os.path.join(gs.BUILD, 'workloads', 'mixloop'), '--ops=1000000000', '--pause-every=20',
        '--pause-us=100000']
DRAWN = r'\x1b\[24;1H\x1b\[7m'

with gs.scratch() as where:
    os.chdir(where)
    t = Terminal([gs.PYTHON, '-c', SHELL, gs.WITH_GPUSIM, gs.CLI, 'run', '--price', '36', '--', *WORK],
                 24, 80, gs.environment(TERM='xterm', LC_ALL='C.UTF-8'))
    gs.check(t.until(DRAWN), 'there is a line')
    t.key(b'\x1a')
    gs.check(t.until('shell: in front'), t.raw[-300:])
    gs.check('shell: stopped by SIGTSTP' in t.raw, f'the shell sees the stop that it knows: {t.raw[-300:]!r}')
    stop = t.raw.index('shell: stopped')
    gs.check(t.raw[:stop].rindex('\x1b[r\x1b8') > t.raw[:stop].rindex('\x1b[7m'),
             'the row is given back before the shell has the terminal')
    gs.check(t.until('shell: to the front'), t.raw[-300:])
    aside = t.raw[t.raw.index('shell: in front'):t.raw.index('shell: to the front')]
    gs.check('\x1b' not in aside and 'stopped' not in aside, f'in the background: {aside!r}')
    at = t.raw.index('shell: to the front')
    gs.check(t.until(DRAWN, at), 'in the foreground it comes back')
    open('stop', 'w').close()
    gs.equal(t.finish(), 0, t.raw[-500:])
    gs.check('shell: ended with 0' in t.raw, t.raw[-300:])
    gs.equal((t.screen.top, t.screen.bottom), (0, 23), 'no region stays')
    gs.check(not [l for l in t.screen.all() if re.match(r' gpustarve \d', l)], 'and no line')
    gs.check([l for l in t.screen.all() if 'gpustarve \u2500' in l], 'the verdict is there')
gs.finish()
