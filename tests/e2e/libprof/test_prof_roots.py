#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=2400
"""Containers with another glibc than the one we were built with: the installed prefix inside of Debian's releases,
made by debootstrap. Programs there write and end with libprof preloaded as without it, libprof finds and does there
what it does elsewhere, and `gpustarve run` works where its own libraries are to be had.

A campaign (GS_BIG=1), which needs root, debootstrap and a mirror. Older releases than these are not to be had from
one; that libprof starts there, down to glibc 2.17, is shown by the list of versions it needs (test_prof_gates)."""
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

SUITES = {'bullseye': '2.31', 'bookworm': '2.36', 'trixie': '2.41'}
INSIDE = '/opt/gpustarve'
VIEWER = 'libsqlite3-0 libyajl2 zlib1g libcurl4 libelf1 libncursesw6 libmicrohttpd12 libgnutls30'
BUILDING = ('build-essential cmake ninja-build pkg-config libzstd-dev libprotobuf-c-dev protobuf-c-compiler '
            'libsqlite3-dev libyajl-dev zlib1g-dev')
MUSL = shutil.which('musl-gcc')
PROGRAMS = {
    'sh': 'echo out; echo err >&2; for i in 1 2 3; do (echo $i); done | sort -r; exit 4',
    'bash': "bash -c 'cat <(echo one) <(echo two); kill -TERM $$'",
    'python3': "python3 -c 'import sys, threading; print(sys.version_info[0]); t = threading.Thread(target=print,"
               " args=(5,)); t.start(); t.join(); sys.exit(9)'",
    'python3 forks': "python3 -c 'import os\nfor i in range(9):\n p = os.fork()\n if not p: os._exit(i)\n"
                     " print(os.waitpid(p, 0)[1] >> 8)'",
    'python3 pool': 'python3 /root/pool.py',
    'perl': "perl -e 'print sort { $a <=> $b } (3, 1, 2); system(\"echo shell; exit 3\"); exit($? >> 8)'",
    'apt and dpkg': 'dpkg -l | wc -l; apt-get --version; dpkg --print-architecture',
    'tools': 'tar cf - /etc/debian_version 2>&1 | tar tf -; find /etc -maxdepth 1 -name passwd; grep -c root /etc/passwd;'
             ' awk \'BEGIN { print 6 * 7 }\'; ls -l /proc/self/fd | wc -l; env -i /bin/echo bare',
    'descriptors closed': '/bin/echo gone >&- 2>/dev/null; echo $?; cat <&- ; echo $?',
}
POOL = '''import multiprocessing as mp
def square(x): return x * x
if __name__ == '__main__':
    for method in 'fork', 'spawn', 'forkserver':
        with mp.get_context(method).Pool(2) as p: print(method, p.map(square, range(9)))
'''
# The library armed without a GPU: all of its threads, its shared memory and its spool in that libc.
ARMED = '''import ctypes, os, sys, time
lib = ctypes.CDLL(sys.argv[1])
assert lib.InitializeInjection() == 1
time.sleep(1.2)
p = os.fork()
if not p: os._exit(0)
sys.exit(os.waitpid(p, 0)[1])
'''


class Root:
    def __init__(self, suite, path):
        self.suite, self.path, self.log = suite, path, path + '.log'

    def make(self):
        """Why it cannot be had; None: it is there."""
        with open(self.log, 'wb') as log:
            done = subprocess.run(['debootstrap', '--variant=minbase', '--include=python3,perl', self.suite, self.path],
                                  stdout=log, stderr=log, timeout=900, check=False)
        if done.returncode:
            with open(self.log, errors='replace', encoding='utf-8') as log:
                return (log.read().splitlines() or [f'status {done.returncode}'])[-1]
        done = gs.command(['cmake', '--install', gs.BUILD, '--prefix', self.path + INSIDE])
        if not gs.equal(done.returncode, 0, f'{self.suite}: install'):
            return 'no prefix'
        for name, text in ('pool.py', POOL), ('armed.py', ARMED):
            with open(os.path.join(self.path, 'root', name), 'w', encoding='utf-8') as f:
                f.write(text)
        self.lib = glob.glob(self.path + INSIDE + '/lib/**/libprof.so', recursive=True)[0][len(self.path):]
        return None

    def make_room(self, packages):
        """Are they there, or could they be installed?"""
        return not self.run('export DEBIAN_FRONTEND=noninteractive; apt-get -q update && apt-get -q -y '
                            '--no-install-recommends install ' + packages, timeout=900).returncode

    def run(self, line, timeout=300, **env):
        """A line of shell inside, in a mount namespace of its own with /proc; what it writes below /work is kept."""
        inside = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && src=$1 && shift && '
                  'mkdir -p "$0/src" && mount --bind "$src" "$0/src" && exec chroot "$0" /usr/bin/env -i -C /work '
                  'PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C "$@"')
        os.makedirs(self.path + '/work', exist_ok=True)
        given = [f'{k}={v}' for k, v in env.items()]
        return gs.command(['unshare', '--mount', '--propagation', 'private', 'sh', '-c', inside, self.path,
                           gs.SOURCE, *given, 'sh', '-c',
                           line], timeout=timeout)

    def files(self):
        """Names of what lies in /work, which is emptied."""
        found = sorted(os.path.relpath(os.path.join(d, n), self.path + '/work')
                       for d, _, names in os.walk(self.path + '/work') for n in names)
        shutil.rmtree(self.path + '/work')
        return found

    def play(self, line, **env):
        done = self.run(line, **env)
        return done.stdout, done.stderr, done.returncode, self.files()


def check_libc(root):
    said = root.run('ldd --version | head -n 1').stdout.decode()
    gs.check(SUITES[root.suite] in said, f'{root.suite}: its glibc is {said!r}')


def check_programs(root):
    for name, line in PROGRAMS.items():
        plain = root.play(line)
        gs.check(plain[0], f'{root.suite}, {name}: says nothing: {plain}')
        gs.equal(root.play(line, LD_PRELOAD=root.lib), plain, f'{root.suite}, {name}')


def check_loaded(root):
    """The same programs would pass if ld.so had refused it in silence."""
    for argv in 'env', "python3 -c 'import os; [print(*x, sep=\"=\") for x in os.environ.items()]'":
        said = root.run(argv, LD_PRELOAD=root.lib).stdout.decode().splitlines()
        have = dict(line.split('=', 1) for line in said if '=' in line)
        gs.equal((have.get('CUDA_INJECTION64_PATH'), 'GPUSTARVE_RUN_ID' in have), (root.lib, True),
                 f'{root.suite}: what {argv[:7]} finds set')
    root.files()


def check_armed(root):
    done = root.run(f'python3 /root/armed.py {root.lib}', LD_PRELOAD=root.lib, GPUSTARVE_RUN_ID='armed')
    gs.equal((done.stdout, done.returncode), (b'', 0), f'{root.suite}: armed: {done.stderr}')
    spools = glob.glob(root.path + '/work/gpustarve-runs/armed.gst/*.spool')
    if gs.equal(len(spools), 1, f'{root.suite}: traces of the armed process'):
        dump = gs.command([os.path.join(gs.BUILD, 'tests', 'prof_dump'), *spools])
        rows = [json.loads(line) for line in dump.stdout.decode().splitlines()]
        gs.equal(dump.returncode, 0, f'{root.suite}: reading its trace')
        gs.equal([r['frame'] for r in rows if r.get('frame') in ('hello', 'bye')], ['hello', 'bye'],
                 f'{root.suite}: a whole trace')
    root.files()


def check_musl(root, where):
    if not MUSL:
        return print('no musl-gcc (musl-tools): no program of musl in the roots')
    path = root.path + '/root/musl'
    source = os.path.join(where, root.suite + '.c')
    with open(source, 'w', encoding='utf-8') as f:
        f.write('#include <stdio.h>\nint main(void) { puts("musl"); return 6; }\n')
    gs.equal(gs.command([MUSL, '-o', path, source]).returncode, 0, 'musl-gcc')
    if not root.make_room('musl'):
        return print(f'{root.suite}: no musl is to be had')
    version = root.run('dpkg-query -W musl').stdout.decode().split()[-1]
    gs.equal(root.play('/root/musl', LD_PRELOAD=root.lib), (b'musl\n', b'', 6, []), f'{root.suite}: musl {version}')
    return print(f'{root.suite}: musl {version}')


def check_viewer(root):
    """`gpustarve run` in those whose glibc is no older than the one that the viewer was linked with."""
    root.make_room(VIEWER)
    said = root.run(f'{INSIDE}/bin/gpustarve --version')
    if said.returncode:
        why = said.stderr.decode().splitlines()[-1:]
        gs.check(root.suite == 'bullseye', f'{root.suite}: the viewer does not run: {why}')
        return print(f'{root.suite}: gpustarve itself does not run here: {why}')
    root.files()
    done = root.run(f"{INSIDE}/bin/gpustarve run -o runs -- sh -c 'echo out; python3 /root/armed.py {root.lib}; exit 5'")
    gs.equal((done.stdout, done.returncode), (b'out\n', 5), f'{root.suite}: gpustarve run: {done.stderr}')
    found = root.files()
    for name in '/run.json', '.gst':  # it used no GPU, so that there is nothing to sum up
        gs.check(any(f.endswith(name) for f in found), f'{root.suite}: gpustarve run: no {name} in {found}')
    return print(f'{root.suite}: gpustarve run works')


def check_built(root):
    """libprof.so of the newest of them asks for no more than ours: new headers give old names new versions."""
    if not root.make_room(BUILDING):
        return print(f'{root.suite}: no compiler is to be had')
    done = root.run('cmake -S /src -B /root/build -G Ninja -DGPUSTARVE_CHARTS=OFF -DGPUSTARVE_WERROR=OFF && '
                    'ninja -C /root/build -j 2 prof', timeout=900)
    if not gs.equal(done.returncode, 0, f'{root.suite}: building: {done.stdout[-2000:]}'):
        return None
    for name in 'test_prof_gates.py', 'test_prof_musl.py':
        done = gs.command([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), name)],
                          env=gs.environment(GPUSTARVE_BUILD=root.path + '/root/build'))
        gs.check(done.returncode in (0, 77), f'{root.suite}: {name} with what was built there: {done.stderr.decode()}')
    return print(f'{root.suite}: built there, too')


def check(root, where):
    why = root.make()
    if why:
        return why
    check_libc(root)
    check_programs(root)
    check_loaded(root)
    check_armed(root)
    check_musl(root, where)
    check_viewer(root)
    if root.suite == 'trixie':
        check_built(root)
    return None


if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')
if os.geteuid() or not shutil.which('debootstrap'):
    gs.skip('needs root and debootstrap')
with gs.scratch() as where:
    os.chmod(where, 0o755)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        roots = [Root(suite, os.path.join(where, suite)) for suite in SUITES]
        missing = {r.suite: why for r, why in zip(roots, pool.map(lambda r: check(r, where), roots)) if why}
for suite, why in missing.items():
    print(f'{suite}: not to be had, and not tried: {why}', file=sys.stderr)
if len(missing) == len(SUITES) and not gs.failures:
    gs.skip('no release is to be had')
gs.finish()
