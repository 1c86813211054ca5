#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=7200
"""The packages of scripts/package on Linuxes that debootstrap makes, with nothing of ours in them: as an ordinary user from
the wheel to a report, the tarball, a collector, the .deb installed, upgraded and purged, the .rpm by rpm's own checks; and
the same bytes from another folder. Where the root has glibc 2.28 or newer the job runs on the simulated GPU, which is
built as the packages are.

A campaign (GS_BIG=1), which needs root, debootstrap, mirrors, PyPI and what scripts/setup --campaigns installs.
GPUSTARVE_ROOTS=FOLDER keeps the roots, and names of suites as arguments choose among them."""
import glob
import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import gs

DEBIAN, UBUNTU = 'http://deb.debian.org/debian', 'http://archive.ubuntu.com/ubuntu'
# glibc, mirror, and what has to come before the wheel: pip before 20.3 knows no manylinux_2_28.
SUITES = {'bullseye': ('2.31', DEBIAN), 'bookworm': ('2.36', DEBIAN), 'trixie': ('2.41', DEBIAN), 'bionic': ('2.27', UBUNTU),
          'focal': ('2.31', UBUNTU), 'jammy': ('2.35', UBUNTU), 'noble': ('2.39', UBUNTU)}
OLD_PIP = {'focal'}
NO_WHEEL = {'bionic'}  # its glibc is older than the wheel's name says; the tarball runs there
SECONDS = 180  # from the wheel to an open report
JOB = '''import sys, time
sys.path.insert(0, '/src/tests/workloads')
import gpudev
dev = gpudev.Device(0)
stream = gpudev.Stream(dev)
for step in range(40):
    time.sleep(0.02)  # as a loader would
    stream.kernel(5_000_000)
    stream.synchronize()
print('trained')
'''
SIMULATED = ('LD_LIBRARY_PATH=/build/gpusim:/build/gpusim/cupti-13 GPUSIM_CUPTI=13 GPUSIM_SHM=/tmp/gpusim-$$ ')


class Root:
    """A root file system; what runs in it has a mount namespace of its own, with /src, /build and /packages from outside."""

    def __init__(self, suite, path, build, packages):
        self.suite, self.path, self.build, self.packages = suite, path, build, packages
        self.glibc, self.mirror = SUITES[suite]

    def make(self):
        """Why it cannot be had; None: it is there."""
        if os.path.exists(os.path.join(self.path, 'made')):
            return None
        # Ubuntu's keys are in no package of Debian's; its roots are for trying alone. All of its releases have one script.
        script = [] if self.mirror == DEBIAN else ['gutsy']
        how = [] if self.mirror == DEBIAN else ['--no-check-gpg', '--components=main,universe']
        done = gs.command(['debootstrap', '--variant=minbase', *how, '--include=python3,python3-venv,python3-pip,ca-certificates',
                           self.suite, self.path, self.mirror, *script], timeout=1800)
        if done.returncode:
            return (done.stdout.decode(errors='replace').splitlines() or ['it failed'])[-1]
        with open(os.path.join(self.path, 'made'), 'w', encoding='utf-8'):
            return None

    def prepare(self):
        self.run('id tester >/dev/null 2>&1 || useradd -m -u 1234 tester; rm -rf /home/tester/*; chmod 1777 /tmp', user=None)
        # The machine's own: its network may have an authority of its own in the way.
        for name in 'resolv.conf', 'hosts', 'ssl/certs/ca-certificates.crt':
            shutil.copy(f'/etc/{name}', os.path.join(self.path, 'etc', name))
        with open(os.path.join(self.path, 'home', 'tester', 'train.py'), 'w', encoding='utf-8') as f:
            f.write(JOB)

    def run(self, line, user='tester', timeout=600):
        inside = ('r=$0 && mount -t proc proc "$r/proc" && mount --rbind /dev "$r/dev" && for pair in "$1:src" "$2:build" '
                  '"$3:packages"; do mkdir -p "$r/${pair##*:}" && mount --bind "${pair%:*}" "$r/${pair##*:}"; done && '
                  'shift 3 && exec chroot "$@"')
        who = ['--userspec=1234:1234'] if user else []
        home = f'/home/{user}' if user else '/root'
        return gs.command(['unshare', '--mount', '--propagation', 'private', 'sh', '-c', inside, self.path, gs.SOURCE, self.build,
                           self.packages, *who, self.path, '/usr/bin/env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
                           f'HOME={home}', 'LC_ALL=C.UTF-8', 'sh', '-c', f'cd {home}\n' + line], timeout=timeout)

    def must(self, line, **how):
        done = self.run(line, **how)
        gs.equal(done.returncode, 0, f'{self.suite}: {line}: {(done.stdout + done.stderr).decode(errors="replace")[-1500:]}')
        return done.stdout.decode(errors='replace')


def check_job(root, program, where):
    """A job on the simulated GPU, its report as a file, and what the job has of ours."""
    said = root.must(f'{SIMULATED} {program} run --price 2.50 -o {where} -- python3 train.py 2>&1')
    gs.check('trained' in said and 'report: ' in said, f'{root.suite}: a box at its end: {said}')
    found = json.loads(root.must(f'{program} report {where}/*.gst --format json') or '{}')
    gs.equal(found.get('ledger', {}).get('busy_ns'), 40 * 5_000_000, f'{root.suite}: 40 kernels of 5 ms')
    page = root.must(f'cat {where}/*.gst/report.html')
    gs.check('</html>' in page, f'{root.suite}: report.html')
    variables = root.must(f'{program} run -o {where} -- env')
    gs.check('LD_LIBRARY_PATH' not in variables and 'LD_PRELOAD=' in variables, f'{root.suite}: variables of a job: {variables}')
    maps = root.must(f'{program} run -o {where} -- cat /proc/self/maps')
    ours = {row.split()[-1] for row in maps.splitlines() if 'gpustarve' in row}
    gs.equal({os.path.basename(name) for name in ours}, {'libprof.so'}, f'{root.suite}: what is mapped of ours')
    libc = {row.split()[-1] for row in maps.splitlines() if 'libc' in os.path.basename(row.split()[-1])}
    gs.check(all(name.startswith(('/lib/', '/usr/lib/')) for name in libc), f"{root.suite}: the job's libc: {libc}")


def check_collector(root, program):
    said = root.must(f'{program}-collector --dir c --unix /tmp/c.sock & c=$!; sleep 1; '
                     f'{SIMULATED} {program} run --collector /tmp/c.sock -o c -- python3 train.py 2>&1; kill $c; wait $c; ls c/*.gst')
    gs.check('.gst' in said and '.spool' not in said, f'{root.suite}: stored by a collector of its own: {said}')


def check_https(root, program, where):
    """A node's run reaches a central collector over TLS, both of the package."""
    if not os.path.exists(where + '/server.pem'):
        central.certificates(where)
    home = os.path.join(root.path, 'home', 'tester')
    for name in 'ca.pem', 'server.pem', 'server.key':
        shutil.copy(os.path.join(where, name), home)
        os.chmod(os.path.join(home, name), 0o644)
    url = f'https://127.0.0.1:{gs.free_ports(1)[0]}'
    said = root.must(
        'echo a-token-of-this-test team read,write > tokens; echo a-token-of-this-test > token; chmod 600 tokens token; '
        f'{program}-collector --dir centre --listen {url} --cert server.pem --key server.key --token-file tokens & c=$!; sleep 1; '
        f'export GPUSTARVE_COLLECTOR={url} GPUSTARVE_UPSTREAM_TOKEN_FILE=$HOME/token GPUSTARVE_UPSTREAM_CA=$HOME/ca.pem; '
        f'{program} doctor -- ls; {SIMULATED} {program} run -o sent -- python3 train.py 2>&1; kill $c; wait $c; '
        'echo; ls centre/team/*.gst; rm -rf centre tokens')
    gs.check('would record it' in said and '.gst' in said.rsplit('\n\n', 1)[-1], f'{root.suite}: over HTTPS: {said}')


def check_wheel(root, where):
    """In three commands. Seconds, or None: it is not for this one."""
    begin = time.monotonic()
    root.must('python3 -m venv v')
    if root.suite in OLD_PIP:
        root.must('v/bin/pip install -q --cert /etc/ssl/certs/ca-certificates.crt --upgrade pip')
    install = 'v/bin/pip install -q --no-index /packages/*.whl'
    if root.suite in NO_WHEEL:
        gs.check(root.run(install).returncode != 0, f'{root.suite}: a wheel that is not for its glibc is refused')
        return None
    root.must(install)
    said = root.must(f'{SIMULATED} v/bin/gpustarve run --price 2.50 -o first -- python3 train.py 2>&1; ls first/*.gst/report.html')
    took = time.monotonic() - begin
    gs.check('report.html' in said and took <= SECONDS, f'{root.suite}: a report after {took:.0f} s: {said}')
    gs.check('commit' in root.must('v/bin/gpustarve --version'), f'{root.suite}: --version')
    demo = root.must('v/bin/gpustarve demo')
    gs.check('GPU waited for input' in demo, f'{root.suite}: demo: {demo[-500:]}')
    check_job(root, '~/v/bin/gpustarve', 'runs')
    check_collector(root, '~/v/bin/gpustarve')
    check_https(root, '~/v/bin/gpustarve', where)
    root.must('v/bin/gpustarve doctor')
    root.must('v/bin/pip uninstall -q -y gpustarve')
    gs.equal(root.must('find v -name "*gpustarve*" -o -name "libprof*"'), '', f'{root.suite}: left by pip uninstall')
    return took


def check_tarball(root):
    root.must('mkdir t && tar xzf /packages/*.tar.gz -C t && mv t/gpustarve-* t/here')
    gs.check('GPU waited for input' in root.must('t/here/bin/gpustarve demo'), f'{root.suite}: tarball: demo')
    check_job(root, '~/t/here/bin/gpustarve', 'truns')
    check_collector(root, '~/t/here/bin/gpustarve')


def check_deb(root, newer):
    """Installed, upgraded, purged: what lies there before and afterwards is the same but for dpkg's own."""
    listing = "find / -xdev \\( -path /proc -o -path /dev -o -path /home -o -path /tmp -o -path /var -o -path /src -o -path " \
              "/build -o -path /packages -o -path /root \\) -prune -o -print | sort"
    before = root.must(listing, user=None)
    root.must('dpkg -i /packages/*.deb', user=None)
    check_job(root, '/usr/bin/gpustarve', 'druns')
    shutil.copy(newer, os.path.join(root.path, 'root', 'newer.deb'))
    root.must('dpkg -i /root/newer.deb', user=None)
    gs.check('9.9' in root.must("dpkg-query -W gpustarve", user=None), f'{root.suite}: upgraded')
    root.must('dpkg --verify gpustarve && gpustarve --version', user=None)
    root.must('dpkg --purge gpustarve', user=None)
    gs.equal(set(root.must(listing, user=None).split('\n')) ^ set(before.split('\n')), set(), f'{root.suite}: left by a purge')


def check_piuparts(root):
    """Debian's own tool, in a copy of the root: what is left or broken by installing and purging."""
    if not shutil.which('piuparts'):
        return gs.left_out('no piuparts')
    done = gs.command(['piuparts', '-e', root.path, '-d', root.suite, '--skip-logrotatefiles-test',
                       *glob.glob(root.packages + '/*.deb')], timeout=1800)
    return gs.equal(done.returncode, 0, f'{root.suite}: piuparts: {done.stdout.decode()[-2000:]}')


def newer_deb(where, path):
    """The same under a later version."""
    tree = os.path.join(where, 'newer')
    gs.command(['dpkg-deb', '-R', path, tree])
    control = os.path.join(tree, 'DEBIAN', 'control')
    gs.command(['sed', '-i', 's/^Version: .*/Version: 9.9/', control])
    gs.equal(gs.command(['dpkg-deb', '--root-owner-group', '-Zxz', '-z0', '--build', tree, where + '/newer.deb']).returncode, 0,
             'a newer .deb')
    return where + '/newer.deb'


def check_rpm(packages, where):
    path = glob.glob(packages + '/*.rpm')
    if not path or not shutil.which('rpm'):
        return gs.left_out('no rpm')
    base = os.path.join(where, 'rpmdb')
    gs.equal(gs.command(['rpm', '-K', *path]).returncode, 0, 'rpm -K')
    said = gs.command(['rpm', '-qp', '--requires', *path]).stdout.decode()
    gs.check('libc.so.6(GLIBC_2.27)(64bit)' in said and 'python' not in said, f'what the .rpm requires: {said}')
    for argv in (['-i', '--nodeps', *path], ['-V', '--nodeps', 'gpustarve']):
        done = gs.command(['rpm', '--root', base, *argv])
        gs.equal((done.returncode, done.stdout), (0, b''), f'rpm {argv[0]}: {done.stderr.decode()[-500:]}')
    gs.equal(gs.command([base + '/usr/bin/gpustarve', 'demo']).returncode, 0, 'the demo of an .rpm')
    gs.equal(gs.command(['rpm', '--root', base, '-e', 'gpustarve']).returncode, 0, 'rpm -e')
    left = [os.path.join(d, n) for d, _, names in os.walk(base + '/usr') for n in names]
    return gs.equal(left, [], 'left by rpm -e')


def check_tools(packages, where):
    """PyPI's own: what a wheel's name promises, and what the index would say of it."""
    venv = os.path.join(where, 'tools')
    done = gs.command([sys.executable, '-m', 'venv', venv])
    if not done.returncode:
        done = gs.command([venv + '/bin/pip', 'install', '-q', 'auditwheel', 'twine'])
    if done.returncode:
        return gs.left_out('no auditwheel and twine from PyPI')
    wheel = glob.glob(packages + '/*.whl')
    said = gs.command([venv + '/bin/auditwheel', 'show', *wheel])
    text = ' '.join(said.stdout.decode().split())
    print(text)
    gs.check(said.returncode == 0 and ('manylinux_2_28' in text or 'manylinux_2_27' in text or 'manylinux_2_17' in text),
             f'auditwheel: {text} {said.stderr.decode()}')
    done = gs.command([venv + '/bin/twine', 'check', '--strict', *wheel])
    return gs.equal(done.returncode, 0, f'twine check: {done.stdout.decode()}')


def build(source, folder, **more):
    env = dict(gs.environment(), GPUSTARVE_PACKAGE_BUILD=folder, **more)
    done = gs.command([os.path.join(source, 'scripts', 'package'), folder + '/packages'], env=env, timeout=3600)
    gs.equal(done.returncode, 0, f'scripts/package in {source}: {done.stderr.decode()[-2000:]}')
    done = gs.command([os.path.join(source, 'scripts', 'build'), folder], env=dict(env, GPUSTARVE_TARGET='demo'), timeout=3600)
    gs.equal(done.returncode, 0, f'the simulated GPU beside it: {done.stderr.decode()[-2000:]}')
    return folder + '/packages'


def check_same(where, packages):
    """From a clone elsewhere, at another time, in another zone."""
    clone = os.path.join(where, 'a clone elsewhere').replace(' ', '-')
    gs.equal(gs.command(['git', 'clone', '-q', gs.SOURCE, clone]).returncode, 0, 'git clone')
    again = build(clone, os.path.join(where, 'other-build'), TZ='Pacific/Apia', LC_ALL='C.UTF-8')
    for name in sorted(os.listdir(packages)):
        with open(os.path.join(packages, name), 'rb') as f, open(os.path.join(again, name), 'rb') as g:
            gs.check(f.read() == g.read(), f'two builds, the same bytes: {name}')
    print('two builds, the same bytes:', len(os.listdir(packages)), 'files')


if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')
if os.geteuid() or not shutil.which('debootstrap'):
    gs.skip('needs root and debootstrap')
with gs.scratch() as where:
    os.chmod(where, 0o755)
    roots = os.environ.get('GPUSTARVE_ROOTS') or os.path.join(where, 'roots')
    os.makedirs(roots, exist_ok=True)
    folder = os.environ.get('GPUSTARVE_PACKAGE_BUILD') or os.path.join(where, 'build')
    packages = build(gs.SOURCE, folder)
    if not sys.argv[1:]:
        check_tools(packages, where)
        check_rpm(packages, where)
        check_same(where, packages)
    newer = newer_deb(where, glob.glob(packages + '/*.deb')[0])
    for suite in sys.argv[1:] or SUITES:
        root = Root(suite, os.path.join(roots, suite), folder, packages)
        why = root.make()
        if why:
            gs.left_out(f'{suite} is not to be had: {why}')
            continue
        root.prepare()
        took = check_wheel(root, where)
        check_tarball(root)
        check_deb(root, newer)
        if suite == 'bookworm':
            check_piuparts(root)
        print(f'{suite}, glibc {root.glibc}: ' + (f'wheel to report in {took:.1f} s, ' if took else 'no wheel, as its name says, ') +
              'tarball, .deb', flush=True)
gs.finish()
