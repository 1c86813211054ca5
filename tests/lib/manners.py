# SPDX-License-Identifier: Apache-2.0
"""Real programs with gpustarve around them and without: what test_manners_programs plays.

A case is a row of PROGRAMS (tests/lib/programs.py): a script for bash, played in an empty folder with a
fixed environment. It is played twice without us, which proves that what it does is the same each time
but for what the case's `varies` wipes out, and once by `gpustarve run`, in a folder of the same name.
Standard output, standard error, the exit status and every file that it leaves are then the same."""
import contextlib
import os
import pty
import re
import select
import shutil
import signal
import stat
import subprocess
import textwrap
import time

import gs

TIMEOUT = 120
# What differs from one play to the next of many programs.
PIDS = (rb'\b\d{2,7}\b', b'N')
TIMES = (rb'\d+[.,]\d+', b'T')


# What scripts may call: a free port of loopback, and waiting until one answers.
TOOLS = r'''
free() { /usr/bin/python3 -c 'import socket; print(socket.create_server(("127.0.0.1", 0)).getsockname()[1])'; }
ready() { for i in $(seq 200); do (: </dev/tcp/127.0.0.1/$1) 2>/dev/null && return; sleep 0.05; done; }
'''


class Case:
    """needs: programs that must be there; package: of Debian, that they come from; files: {name: text}
    that lie in the folder; varies: [(regular expression, replacement)] for all that is compared; stdin: bytes;
    terminal: played in a pseudo-terminal, keys are stdin; root: only root may; ci: played in every run of
    the tests; ours: what differs by design, as `varies` for the play with us alone, with the heading of
    docs/OPERATIONS.md that explains it."""

    def __init__(self, name, script, needs='', package='', files=None, varies=(), stdin=b'',
                 terminal=False, root=False, ci=False, ours=(), explained=None):
        first, _, rest = script.partition('\n')
        self.name, self.script = name, first + '\n' + textwrap.dedent(rest)
        self.needs, self.package = needs.split(), package
        self.files = {k: textwrap.dedent(v) for k, v in (files or {}).items()}
        self.varies, self.stdin, self.terminal, self.root, self.ci = varies, stdin, terminal, root, ci
        self.ours, self.explained = ours, explained

    def lacks(self):
        """Why it cannot be played here, or None."""
        missing = [n for n in self.needs if not shutil.which(n) and not os.path.exists(n)]
        if missing:
            return f'no {", ".join(missing)}' + (f' (Debian package {self.package})' if self.package else '')
        return 'needs root' if self.root and os.getuid() else None


def environment(where):
    return dict(PATH='/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/games', HOME=where,
                LANG='C.UTF-8', TZ='UTC', TERM='dumb', USER='somebody', LOGNAME='somebody', SHELL='/bin/bash',
                WORK=where, TMPDIR=where, SOURCE=gs.SOURCE)


def end_group(child):
    """What a play leaves behind would be in the way of the next."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def in_terminal(argv, case, where):
    """Types the keys once the program is silent, and returns (status, all that it showed, b'')."""
    master, slave = pty.openpty()
    child = subprocess.Popen(argv, cwd=where, env=environment(where), stdin=slave, stdout=slave,
                             stderr=slave, start_new_session=True)
    os.close(slave)
    said, keys, end = b'', case.stdin.split(b'\0'), time.monotonic() + TIMEOUT
    quiet = time.monotonic()
    while time.monotonic() < end:
        if select.select([master], [], [], 0.1)[0]:
            try:
                more = os.read(master, 65536)
            except OSError:
                break
            if not more:
                break
            said, quiet = said + more, time.monotonic()
        elif keys and time.monotonic() - quiet > 0.7:
            os.write(master, keys.pop(0))
            quiet = time.monotonic()
    try:
        status = child.wait(max(1, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        status = 'still there'
    end_group(child)
    child.wait()
    os.close(master)
    return status, said, b''


def in_pipes(argv, case, where):
    child = subprocess.Popen(argv, cwd=where, env=environment(where), stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(case.stdin, TIMEOUT)
        status = child.returncode
    except subprocess.TimeoutExpired:
        end_group(child)
        out, err = child.communicate()
        status = 'still there'
    end_group(child)
    return status, out, err


def snapshot(folder):
    """{name: (kind and mode, bytes or where a link leads)} of everything below."""
    found = {}
    for base, dirs, files in os.walk(folder):
        for name in dirs + files:
            path = os.path.join(base, name)
            st, kind = os.lstat(path), os.path.relpath(path, folder)
            if stat.S_ISLNK(st.st_mode):
                found[kind] = (st.st_mode, os.fsencode(os.readlink(path)))
            elif stat.S_ISREG(st.st_mode):
                with open(path, 'rb') as f:
                    found[kind] = (st.st_mode, f.read())
            else:
                found[kind] = (st.st_mode, b'')
    return found


def play(case, base, traced):
    """(status, stdout, stderr, files) of one play."""
    where = os.path.join(base, 'w')
    os.mkdir(where)
    os.chmod(where, 0o777)  # cases become somebody else
    for name, text in case.files.items():
        path = os.path.join(where, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    argv = ['/bin/bash', '-c', TOOLS + case.script, 'bash']
    if traced:
        argv = [gs.CLI, 'run', '--quiet', '-o', os.path.join(base, 'runs'), '--', *argv]
    status, out, err = (in_terminal if case.terminal else in_pipes)(argv, case, where)
    files = snapshot(where)
    for path in gone_wrong(where):
        os.chmod(path, 0o700)
    shutil.rmtree(where)
    return status, out, err, files


def gone_wrong(where):
    """Folders that could not be removed."""
    return [os.path.join(b, d) for b, dirs, _ in os.walk(where) for d in dirs
            if not os.path.islink(os.path.join(b, d)) and not os.stat(os.path.join(b, d)).st_mode & 0o200]


def wiped(result, rules):
    def wipe(text):
        for pattern, instead in rules:
            text = re.sub(pattern, instead, text)
        return text
    status, out, err, files = result
    named = {}
    for k, (mode, text) in files.items():
        name = wipe(os.fsencode(k))
        if name not in (b'', b'-'):
            named[name] = (mode, wipe(text))
    return status, wipe(out), wipe(err), named


def differences(a, b):
    """Lines that tell, of two results."""
    for what, x, y in zip(('status', 'stdout', 'stderr'), a, b):
        if x != y:
            yield f'{what}: {x!r:.600} became {y!r:.600}'
    for name in sorted({*a[3], *b[3]}):
        x, y = a[3].get(name), b[3].get(name)
        if x != y:
            if x and y and x[0] == y[0]:
                at = next((i for i, (p, q) in enumerate(zip(x[1], y[1])) if p != q), min(len(x[1]), len(y[1])))
                yield (f'file {name!r}: {len(x[1])} and {len(y[1])} bytes, from {at} on '
                       f'{x[1][at:at + 80]!r} became {y[1][at:at + 80]!r}')
            else:
                yield f'file {name!r}: {x and oct(x[0])} became {y and oct(y[0])}'


def told(case):
    """Plays the case; a line for each difference."""
    with gs.scratch() as base:
        os.chmod(base, 0o755)
        once, twice = [wiped(play(case, base, False), case.varies) for _ in range(2)]
        lines = [f'not the same twice without us: {line}' for line in differences(once, twice)]
        if once[0] == 'still there' or not once[1] or b'command not found' in once[2]:
            lines.append(f'not what it should be: {once[:3]}')
        if lines:
            return lines
        traced = wiped(play(case, base, True), case.varies)
        ours = wiped(traced, case.ours)
        if case.ours and ours == traced:
            lines.append(f'what {case.explained!r} explains is not there')
        return lines + list(differences(wiped(once, case.ours), ours))
