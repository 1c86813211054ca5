#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The status line: on a terminal, in its last row, with dollars, and gone at the end; none where
stderr is no terminal, with --quiet, or for a command without a GPU."""
import fcntl
import os
import pty
import re
import struct
import termios

import gs

TRAIN = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', '150', '--sample-ms', '5',
         '--gpu-ms', '6']


def on_terminal(argv, **env):
    pid, fd = pty.fork()
    if not pid:
        os.execvpe(argv[0], argv, gs.environment(TERM='xterm', **env))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', 30, 100, 0, 0))
    text = b''
    try:
        while True:
            text += os.read(fd, 65536)
    except OSError:
        pass
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), text.decode(errors='replace')


with gs.scratch() as where:
    os.chdir(where)
    full = [gs.WITH_GPUSIM, gs.CLI, 'run', '--price', '36', '--', *TRAIN]
    status, text = on_terminal(full)
    gs.equal(status, 0, text[-500:])
    lines = re.findall(r'\x1b7\x1b\[30;1H\x1b\[7m(.*?)\x1b\[K\x1b\[0m\x1b8', text)
    gs.check(len(lines) >= 2, f'the line is renewed: {text[:400]!r}')
    for line in lines:
        gs.check(re.match(r' gpustarve \d+:\d\d:\d\d  1 GPU  busy [\d.]+ %  starved about [\d.]+ %  '
                          r'\$36.00/h, of it \$[\d.]+/h for nothing', line), line)
        gs.check(len(line) <= 100, 'fits the terminal')
    gs.equal(text.count('\x1b[1;29r'), 1, 'the row is kept free')
    gs.check(text.index('\x1b[30;1H\x1b[K\x1b[r') > text.rindex(lines[-1]), 'and given back')
    gs.check('\x1b[1;31minput-bound' in text, 'the verdict is coloured')
    status, text = on_terminal(full, NO_COLOR='1')
    gs.check('input-bound' in text and '\x1b[1;31m' not in text, 'but not with NO_COLOR')
    status, text = on_terminal(full[:3] + ['--quiet'] + full[3:])
    gs.check('\x1b' not in text and 'gpustarve' not in text, f'--quiet: {text!r}')
    status, text = on_terminal([gs.CLI, 'run', '--', 'sleep', '2.5'])
    gs.check('\x1b' not in text, f'a command without a GPU: {text!r}')
gs.finish()
