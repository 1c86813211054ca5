# SPDX-License-Identifier: Apache-2.0
"""Runs the cases with one build, in a world that is the same each time: a folder of its own with copies of the
programs and of the inputs, under a path of always the same length; one time of day, one width, no home."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import time

NOW = '2027-01-01 00:00:00'
NOW_S = 1798761600
LIMIT_S = 120
FAKETIME = (glob.glob('/usr/lib/*/faketime/libfaketime.so.1') or [''])[0]

# What differs between two runs of one build, and nothing else.
MASKS = [
    (rb'(127\.0\.0\.1|localhost):\d{2,5}', rb'\1:PORT', 'ports that the system chose'),
    (rb'after \d+ ms', b'after TIME', 'how long it took'),
    (rb'\b\d+(\.\d+)? (MB|KB|B|events|rows)/s', b'RATE', 'how fast it went'),
    (rb'\bin \d+(\.\d+)? (ms|s)\b', b'in TIME', 'how long it took'),
    (rb'\bpid \d+', b'pid PID', 'process ids'),
    (rb'\bboot \d+ of \b', b'boot TIME of ', 'time since boot, of the last sweep'),
    (rb'\b(0{6}[0-9a-f]{2}0{6}[0-9a-f]{2})[0-9a-f]{16}\b', rb'\1*', 'ids of streams that an import draws'),
]


class World:
    """@where/@name (of three letters) with programs and inputs; what cases write goes below out/."""

    def __init__(self, where, name, build, source, inputs):
        self.root = os.path.join(where, name)
        shutil.rmtree(self.root, ignore_errors=True)
        os.makedirs(os.path.join(self.root, 'home'))
        self.source = source
        for part in 'bin/gpustarve', 'bin/gpustarve-collector', 'lib':
            self.copy(build, part)
        subprocess.run(['cp', '-a', inputs, os.path.join(self.root, 'in')], check=True)
        self.env = {'PATH': '/usr/bin:/bin', 'HOME': os.path.join(self.root, 'home'), 'TZ': 'UTC', 'LANG': 'C.UTF-8',
                    'COLUMNS': '80', 'GPUSTARVE_DMI': '/nonexistent', 'TERM': 'dumb', 'USER': 'user', 'LOGNAME': 'user',
                    'GPUSTARVE_PRICES': os.path.join(self.root, 'in', 'prices.csv'),
                    'LD_PRELOAD': FAKETIME, 'FAKETIME': NOW, 'FAKETIME_DONT_FAKE_MONOTONIC': '1',
                    'FAKETIME_DONT_RESET': '1', 'NO_FAKE_STAT': '1'}

    def copy(self, build, part):
        to = os.path.join(self.root, 'build', part)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        path = os.path.join(build, part)
        if os.path.isdir(path):
            shutil.copytree(path, to, symlinks=True, ignore=shutil.ignore_patterns('*.a'))
        elif os.path.exists(path):
            shutil.copy2(path, to)

    def program(self, name):
        return os.path.join(self.root, 'build', 'bin', name)

    def masked(self, data, more=()):
        data = data.replace(self.root.encode(), b'@')
        for pattern, to, _ in [*MASKS, *more]:
            data = re.sub(pattern, to, data)
        return data

    def files(self, folder):
        """What lies below, by its name."""
        found = {}
        for at, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                path = os.path.join(at, name)
                if os.path.isfile(path) and not name.endswith(('-wal', '-shm')):
                    with open(path, 'rb') as f:
                        found[os.path.relpath(path, folder)] = f.read()
        return found

    def command(self, argv, stdin=None, where=None, **env):
        """status, stdout and stderr of a program of ours, or of another one."""
        argv = [self.program(argv[0]), *argv[1:]] if argv[0].startswith('gpustarve') else argv
        p = subprocess.Popen(argv, cwd=where or self.root, env={**self.env, **env}, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            out, err = p.communicate(stdin, LIMIT_S)
        except subprocess.TimeoutExpired:
            p.kill()
            out, err = p.communicate()
            return b'killed, it did not end', b'', b''
        return str(p.returncode).encode(), out, err


def play(world, case):
    """{what came out: its bytes} of a case."""
    own = os.path.join(world.root, 'out', case.name)
    os.makedirs(own)
    began = time.monotonic()
    told = case.play(world, own)
    case.took = time.monotonic() - began
    for name, data in world.files(own).items():
        if not name.startswith('tmp/') and not re.match(r'(usage|wrong|help)-run', case.name):
            told['file ' + name] = data
    shutil.rmtree(own)
    return {name: in_order(name, world.masked(data, case.masks)) for name, data in told.items()}


def in_order(name, data):
    """Steps of several ranks are dumped in no order, and streams of an import in that of the ids it drew."""
    if ' dump ' in name and (' --steps' in name or '{tmp}' in name):
        return b'\n'.join(sorted(data.splitlines()))
    return data


def play_all(world, cases, width):
    with concurrent.futures.ThreadPoolExecutor(width) as pool:
        return dict(zip([c.name for c in cases], pool.map(lambda c: play(world, c), cases)))
