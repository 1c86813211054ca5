# SPDX-License-Identifier: Apache-2.0
"""Plays one part in a process of its own, so that whatever becomes of it (an exception, a signal, a
hang) costs its own answers and nothing else. The process sends its answers through a pipe; when it
is over, or its time is, everything that it started is ended. Standard library only."""
import ctypes
import importlib
import json
import os
import select
import signal
import sys
import time
import traceback

import base

GRACE = float(os.environ.get('GPU_CHECK_GRACE') or 12)    # seconds that a part may take beyond its share, for programs that are being ended
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


class Ended(BaseException):
    """Somebody asked the check to end."""


def prctl(option, value):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def adopt():
    """What the parts start and leave behind becomes a child of this process, which can end it."""
    prctl(PR_SET_CHILD_SUBREAPER, 1)


def children():
    """{pid: its parent} of all processes."""
    found = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat') as f:
                    found[int(name)] = int(f.read().rsplit(')', 1)[1].split()[1])
            except (OSError, ValueError, IndexError):
                pass
    return found


def descendants(of):
    """All below @of, the deepest last."""
    parents, found = children(), [of]
    for pid in found:
        found.extend(p for p, parent in parents.items() if parent == pid)
    return found[1:]


def end_descendants():
    """Ends all that is below this process; how many there were. What it leaves behind comes up to
    us, so it is looked for until there is none."""
    ended = set()
    for _ in range(50):
        below = descendants(os.getpid())
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        ended.update(below)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return len(ended)
        time.sleep(0.05)
    return len(ended)


def child(name, seconds, report, scratch, pipe):
    """In the part's process."""
    def send(part, row):
        # Whatever a part takes down beside its answer must not cost the answer.
        text = json.dumps([part, row], default=str, skipkeys=True) + '\n'
        data = text.encode(errors='replace')
        while data:
            data = data[os.write(pipe, data):]

    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    report.to = send
    base.part_ends_in(seconds)
    try:
        importlib.import_module('parts.' + name).part(report, scratch)
    except Exception as error:
        report.put(name, base.THE_PART, f'broke: {error!r}', False, trace=traceback.format_exc())
    sys.stdout.flush()


class Part:
    """A part that is being played."""

    def __init__(self, name, seconds, report, scratch):
        self.name, self.seconds, self.begin, self.rest = name, seconds, time.time(), b''
        self.pipe, theirs = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            status = 1
            try:
                os.close(self.pipe)
                child(name, seconds, report, scratch, theirs)
                status = 0
            finally:
                os._exit(status)
        os.close(theirs)

    def rows(self):
        """Its answers as they come; afterwards self.fault says what was wrong with it, or None."""
        end = min(self.begin + self.seconds, base.BEGIN + base.SECONDS) + GRACE
        self.fault = None
        while True:
            wait = end - time.time()
            ready = wait > 0 and select.select([self.pipe], [], [], wait)[0]
            if not ready:
                self.fault = (f'hung: ended after {time.time() - self.begin:.0f} s, of which '
                              f'{self.seconds:.0f} s were its share; progress.log names the program')
                return
            data = os.read(self.pipe, 1 << 16)
            if not data:
                break
            *lines, self.rest = (self.rest + data).split(b'\n')
            yield from (json.loads(line) for line in lines)
        # The pipe is closed: the process is over, or about to be.
        while time.time() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                if code:
                    self.fault = f'broke: its process ended with status {code}'
                return
            time.sleep(0.01)

    def close(self):
        os.close(self.pipe)
        return end_descendants()
