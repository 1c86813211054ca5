# SPDX-License-Identifier: Apache-2.0
"""A job that saves and is killed: insured.py FOLDER SEED KILLS. Starts itself again after each kill
(SIGKILL, some time after it came up) and lets the last one end in order. Each start goes on from the newest
save that is whole, if there is one; saves go to last.pt in place, or beside it and renamed, by the main
thread or one of its own. What happened goes to FOLDER/log as lines of JSON, written before and after."""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time


def log(folder, **what):
    line = json.dumps(dict(what, t=time.time_ns(), pid=os.getpid())) + '\n'
    fd = os.open(folder + '/log', os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, line.encode())
    os.close(fd)


def train(folder, seed, last):
    import torch
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    import gpudev
    r, way = random.Random(seed), seed % 3
    stream = gpudev.Stream(gpudev.Device(0))
    stream.kernel(1000, 'first')
    stream.synchronize()
    path = folder + '/last.pt'
    if os.path.exists(path):
        log(folder, what='opens')
        try:
            torch.load(path)
        except Exception:  # half written when the process before was killed
            log(folder, what='broken')

    def save():
        log(folder, what='saves', way=way)
        if way == 1:
            torch.save({'model': torch.zeros(1 << 16)}, path + '.tmp')
            os.replace(path + '.tmp', path)
        else:
            torch.save({'model': torch.zeros(1 << 16)}, path)
        log(folder, what='saved')

    log(folder, what='up')
    for _ in range(12 if last else 10 ** 6):
        for _ in range(3):
            stream.kernel(20_000_000, 'step')
            stream.synchronize()
        time.sleep(r.uniform(0.02, 0.3))
        if way == 2:
            thread = threading.Thread(target=save)
            thread.start()
            thread.join()
        else:
            save()


def is_up(folder, pid):
    try:
        with open(folder + '/log') as f:
            return any(r['what'] == 'up' and r['pid'] == pid for r in map(json.loads, f))
    except FileNotFoundError:
        return False


def supervise(folder, seed, kills):
    r = random.Random(seed)
    for attempt in range(kills + 1):
        child = subprocess.Popen([sys.executable, __file__, folder, str(seed * 100 + attempt), 'last'
                                  if attempt == kills else 'one'])
        if attempt < kills:
            while child.poll() is None and not is_up(folder, child.pid):
                time.sleep(0.05)
            time.sleep(r.uniform(1.5, 3.5))  # who is killed before its first records are out held no GPU
            child.send_signal(signal.SIGKILL)
            child.wait()
            log(folder, what='killed', of=child.pid)
        else:
            sys.exit(child.wait())


if __name__ == '__main__':
    if sys.argv[3] in ('one', 'last'):
        train(sys.argv[1], int(sys.argv[2]), sys.argv[3] == 'last')
    else:
        supervise(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
