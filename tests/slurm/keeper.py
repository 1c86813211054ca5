#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Starts daemons for a test and ends everything below itself when its standard input closes: when
the test says so, and just as well when the test is killed. Orphans of the daemons (slurmstepd, what
a prolog left in the background) become its children, so nothing that a test started can outlive it.

One JSON object per line in, one out:
    {"start": NAME, "argv": [...], "env": {...}, "log": FILE}    {"pid": N}
    {"kill": NAME, "signal": N}      {"status": N}: that process and all that it became has ended
    {"list": true}                   {"alive": {NAME: PID}, "others": [[PID, COMMAND LINE], ...]}
At the end, {"stopped": [...], "forced": [[PID, COMMAND LINE], ...]}: what had to be killed."""
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE = 20  # seconds that daemons get to end by themselves
libc = ctypes.CDLL(None)
daemons = {}


def die_with_parent():
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def processes():
    """{pid: (state, parent)} of all there are."""
    found = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as f:
                    state, parent = f.read().rpartition(')')[2].split()[:2]
                found[int(name)] = state, int(parent)
            except (OSError, ValueError):
                pass  # it ended meanwhile
    return found


def descendants(ancestor=None):
    """All that live, those of no child last."""
    all_there_are, found = processes(), [ancestor or os.getpid()]
    for pid in found:
        found += [p for p, (state, parent) in all_there_are.items() if parent == pid and state != 'Z']
    return found[1:]


def command_line(pid):
    try:
        with open(f'/proc/{pid}/cmdline', 'rb') as f:
            return f.read().replace(b'\0', b' ').decode(errors='replace').strip()
    except OSError:
        return ''


def reap():
    """Takes the ends of orphans that became ours; daemons are waited for through their objects."""
    for d in daemons.values():
        d.poll()
    ours = {d.pid for d in daemons.values()}
    for pid, (state, parent) in processes().items():
        if state == 'Z' and parent == os.getpid() and pid not in ours:
            os.waitpid(pid, os.WNOHANG)


def start(request):
    with open(request['log'], 'ab') as log:
        daemons[request['start']] = subprocess.Popen(
            request['argv'], env=request['env'], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            start_new_session=True, preexec_fn=die_with_parent)
    return {'pid': daemons[request['start']].pid}


def kill(request):
    d = daemons[request['kill']]
    d.send_signal(request['signal'])
    try:
        return {'status': d.wait(GRACE)}
    except subprocess.TimeoutExpired:
        d.kill()
        return {'status': d.wait()}


def listing(_):
    reap()
    alive = {name: d.pid for name, d in daemons.items() if d.returncode is None}
    others = [p for p in descendants() if p not in alive.values()]
    return {'alive': alive, 'others': [[p, command_line(p)] for p in others]}


def stop():
    """Daemons in the reverse order of their start, then what is left of anything."""
    for d in reversed(list(daemons.values())):
        if d.poll() is None:
            d.terminate()
            try:
                d.wait(GRACE)
            except subprocess.TimeoutExpired:
                pass
    reap()
    left = descendants()
    forced = [[p, command_line(p)] for p in left]
    while left:
        for p in left:
            try:
                os.kill(p, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.02)
        reap()
        left = descendants()
    return {'stopped': list(daemons), 'forced': forced}


def answer(row):
    try:
        print(json.dumps(row), flush=True)
    except OSError:
        pass  # the test is dead; ending what it left still has to be done


def main():
    for s in signal.SIGINT, signal.SIGHUP, signal.SIGTERM, signal.SIGPIPE:
        signal.signal(s, lambda *_: None)  # what is ignored, daemons would inherit
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    duties = {'start': start, 'kill': kill, 'list': listing}
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer(next(f for word, f in duties.items() if word in request)(request))
        except OSError as e:
            answer({'error': str(e)})
    answer(stop())


if __name__ == '__main__':
    main()
