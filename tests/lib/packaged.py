# SPDX-License-Identifier: Apache-2.0
"""The packages of scripts/package in root file systems that debootstrap makes, with nothing of ours in them; for tests that
do so on this machine's processor and on another's, which qemu-user then plays."""
import contextlib
import glob
import json
import os
import re
import shutil
import sys
import tarfile
import time

import booted
import central
import gating
import gs
import objectstore

DEBIAN, UBUNTU = 'http://deb.debian.org/debian', 'http://archive.ubuntu.com/ubuntu'
# glibc, mirror, and what has to come before the wheel: pip before 20.3 knows no manylinux_2_28.
SUITES = {'bullseye': ('2.31', DEBIAN), 'bookworm': ('2.36', DEBIAN), 'trixie': ('2.41', DEBIAN), 'bionic': ('2.27', UBUNTU),
          'focal': ('2.31', UBUNTU), 'jammy': ('2.35', UBUNTU), 'noble': ('2.39', UBUNTU)}
OLD_PIP = {'focal'}
NO_WHEEL = {'bionic'}  # its glibc is older than the wheel's name says; the tarball runs there
NO_UNITS = {'bionic'}  # its systemd (237) knows no set of calls of that name, so that none is left
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
# A program whose loader is a thread with a queue, as the loader command and the shim have to find it without torch.
FED = '''import queue, threading, time
batches = queue.Queue(2)
def make():
    for k in range(60):
        time.sleep(.03)
        batches.put(k)
threading.Thread(target=make).start()
for k in range(60):
    batches.get()
'''
# Cells, as a notebook has them, in the interpreter that a person gets with pip.
CELLS = '''from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in ('%load_ext gpustarve', '%gpustarve on --price 3.6 -o cells', open('train.py').read(), '%gpustarve where'):
    shell.run_cell(cell).raise_error()
'''
# Each command that `gpustarve help` lists, with what it is to say. $R is a recorded run; several lines: in order.
COMMANDS = {
    'run': ('run -q -o played -- true && echo ended', 'ended'),
    'top': ('top --once $R', 'GPU'),
    'report': ('report $R --format html -o page.html && tail -c 20 page.html', '</html>'),
    'runs': ('runs .', 'diagnosis'),
    'verify': ('report $R --format json -o $R/summary.json && $G verify $R', 'every value is what the trace gives'),
    'check': ("check $R --budget 'starved_pct<=100'", 'pass: starved_pct'),
    'fit': ('fit $R', 'more steps per second'),
    'loader': ('loader --step-ms 10 -- python3 fed.py', 'make'),
    'import': ('import /src/tests/data/import/list.json -o imported && $G report imported.gst', '2 GPU operations'),
    'export': ('export $R --format perfetto -o r.pftrace.gz -q && $G export $R --format sqlite -o r.sqlite -q && '
               '$G export $R --format kineto -q | tail -c 3 && ls -s r.pftrace.gz r.sqlite', 'r.sqlite'),
    'job': ('job list --dir .', ''),
    'put': ('put --help', 's3://'),  # check_store puts one
    'dump': ('dump $R | cut -f 2 | grep -c kernel', '19560'),
    'digest': ('digest $R --store sqlite:fleet.sqlite && ls fleet.sqlite', 'fleet.sqlite'),
    'fleet': ('fleet --store sqlite:fleet.sqlite --by review && $G fleet --store sqlite:fleet.sqlite --format html | tail -c 20',
              'wasted'),
    'node': ('node --store sqlite:node.sqlite --look 1 --every 1 --for 3; echo ended', 'ended'),
    'pulses': ('pulses --store sqlite:pulses.sqlite </dev/null && ls pulses.sqlite', 'mark'),
    'prices': ('prices show "NVIDIA H100 80GB HBM3"', 'per GPU-hour'),
    'demo': ('demo storage', 'GPU waited'),
    'doctor': ('doctor', 'libprof'),
}
# By source package of Debian, what both programs are linked with.
LINKED = {'sqlite3', 'yajl', 'zlib', 'elfutils', 'ncurses', 'libmicrohttpd', 'nettle', 'gmp', 'libtasn1-6', 'expat', 'libzstd',
          'protobuf-c', 'gnutls28', 'curl', 'glibc', 'gcc-12', 'uplot'}
# Where Linuxes keep the certificates that they trust.
CA_PLACES = ('/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt', '/etc/ssl/ca-bundle.pem',
             '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem', '/etc/ssl/cert.pem')
# What RHEL and its kin have there, in short, with a word that our GnuTLS does not know.
POLICY = '''[global]
override-mode = allowlist
[overrides]
secure-hash = SHA256
secure-hash = SHA384
tls-enabled-mac = AEAD
tls-enabled-group = X25519-MLKEM768
tls-enabled-group = GROUP-X25519
tls-enabled-group = GROUP-SECP256R1
secure-sig = ECDSA-SECP256R1-SHA256
secure-sig = ECDSA-SHA256
secure-sig-for-cert = ECDSA-SHA256
enabled-curve = X25519
enabled-curve = SECP256R1
tls-enabled-cipher = AES-256-GCM
tls-enabled-kx = ECDHE-ECDSA
enabled-version = TLS1.3
enabled-version = TLS1.2
min-verification-profile = medium
[priorities]
SYSTEM=NONE
'''
# As docs/OPERATIONS.md has it, with a job of a user who records it into his home, and one who does not.
UNITS = '''trap 'systemctl status --no-pager -l gpustarve-collector gpustarve-node || true' EXIT
dpkg -i /packages/*.deb
systemd-sysusers
install -d /etc/gpustarve
install -m 0640 -g gpustarve cert.pem key.pem tokens /usr/share/gpustarve/limits /etc/gpustarve/
echo "GPUSTARVE_NODE_OPTIONS=--store sqlite:/var/lib/gpustarve-node/unwrapped.sqlite --look 1 --every 1" >/etc/gpustarve/node.conf
export GPUSIM_SHM=/dev/shm/gpusim-booted-$$ GPUSIM_CUPTI=13 GPUSIM_DEVICES=2 LD_LIBRARY_PATH=/build/gpusim:/build/gpusim/cupti-13
install -d /run/systemd/system/gpustarve-node.service.d
echo "[Service]
Environment=GPUSIM_SHM=$GPUSIM_SHM GPUSIM_CUPTI=13 GPUSIM_DEVICES=2 LD_LIBRARY_PATH=$LD_LIBRARY_PATH" >/run/systemd/system/gpustarve-node.service.d/simulated.conf
[ ! -w /proc/sys/kernel/pid_max ]
systemctl daemon-reload
systemctl enable --now gpustarve-collector
systemctl enable --now gpustarve-node
systemctl is-active gpustarve-collector gpustarve-node
python3 -c "import ssl, urllib.request as u
context = ssl.create_default_context(cafile='ca.pem')
context.verify_flags &= ~getattr(ssl, 'VERIFY_X509_STRICT', 0)  # our authority is a test's
print('collector:', u.urlopen('https://127.0.0.1:8443/healthz', context=context).status)"
systemctl reload gpustarve-collector
touch $GPUSIM_SHM; chown 1234 $GPUSIM_SHM; chmod 700 /home/tester
as() { setpriv --reuid=1234 --regid=1234 --clear-groups env HOME=/home/tester "$@"; }
as SLURM_JOB_ID=bare python3 /home/tester/hold.py 0 &
as SLURM_JOB_ID=kept gpustarve run -q -o /home/tester/kept -- python3 /home/tester/hold.py 1
wait $!
sleep 2
systemctl stop gpustarve-node
gpustarve fleet --store sqlite:/var/lib/gpustarve-node/unwrapped.sqlite --by label:slurm_job --format csv >jobs.csv
systemctl show -p Result -p ExecMainStatus gpustarve-node
systemctl disable --now gpustarve-collector gpustarve-node
dpkg --purge gpustarve
if systemctl cat gpustarve-node 2>/dev/null; then exit 1; fi
rm -rf $GPUSIM_SHM /etc/gpustarve /var/lib/gpustarve /var/lib/gpustarve-node
'''
HOLD = '''import sys, time
sys.path.insert(0, '/src/tests/workloads')
import gpudev
stream = gpudev.Stream(gpudev.Device(int(sys.argv[1])))
for _ in range(60):
    stream.kernel(60_000_000)
    stream.synchronize()
    time.sleep(.04)
'''
SIMULATED = ('LD_LIBRARY_PATH=/build/gpusim:/build/gpusim/cupti-13 GPUSIM_CUPTI=13 GPUSIM_SHM=/tmp/gpusim-$$ ')


class Root:
    """A root file system; what runs in it has a mount namespace of its own, with /src, /build and /packages from outside."""

    def __init__(self, suite, path, build, packages, arch='amd64'):
        self.suite, self.path, self.build, self.packages, self.arch = suite, path, build, packages, arch
        self.slower = 1 if arch == 'amd64' else 20  # by an emulator
        self.glibc, self.mirror = SUITES[suite]

    def make(self):
        """Why it cannot be had; None: it is there."""
        if os.path.exists(os.path.join(self.path, 'made')):
            return None
        gs.command(['rm', '-rf', '--one-file-system', self.path])  # of a try that failed debootstrap makes nothing more
        # Ubuntu's keys are in no package of Debian's; its roots are for trying alone. All of its releases have one script.
        script = [] if self.mirror == DEBIAN else ['gutsy']
        how = [] if self.mirror == DEBIAN else ['--no-check-gpg', '--components=main,universe']
        done = gs.command(['debootstrap', f'--arch={self.arch}', '--variant=minbase', *how,
                           '--include=python3,python3-venv,python3-pip,ca-certificates',
                           self.suite, self.path, self.mirror, *script], timeout=3600)
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
                           f'HOME={home}', 'LC_ALL=C.UTF-8', 'sh', '-c', f'cd {home}\n' + line], timeout=self.slower * timeout)

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


def ready(words):
    """A shell's words that wait until these succeed: a collector needs its time where others compute."""
    return f'n=0; until {words} || [ $n = 300 ]; do n=$((n + 1)); sleep .1; done; '


def check_collector(root, program):
    said = root.must(f'rm -f /tmp/c.sock; {program}-collector --dir c --unix /tmp/c.sock & c=$!; ' + ready('[ -S /tmp/c.sock ]') +
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
    port, = gs.free_ports(1)
    url = f'https://127.0.0.1:{port}'
    listens = f'python3 -c "import socket; socket.create_connection((\'127.0.0.1\', {port}))" 2>/dev/null'
    said = root.must(
        'echo a-token-of-this-test team read,write > tokens; echo a-token-of-this-test > token; chmod 600 tokens token; '
        f'{program}-collector --dir centre --listen {url} --cert server.pem --key server.key --token-file tokens & c=$!; '
        f'{ready(listens)}'
        f'export GPUSTARVE_COLLECTOR={url} GPUSTARVE_UPSTREAM_TOKEN_FILE=$HOME/token GPUSTARVE_UPSTREAM_CA=$HOME/ca.pem; '
        f'{program} doctor -- ls; {SIMULATED} {program} run -o sent -- python3 train.py 2>&1; kill $c; wait $c; '
        'echo; ls centre/team/*.gst; rm -rf centre tokens')
    gs.check('would record it' in said and '.gst' in said.rsplit('\n\n', 1)[-1], f'{root.suite}: over HTTPS: {said}')


def check_commands(root, program):
    """Each command once, on a run that was recorded on a real GPU."""
    said = root.must(f'{program} help')
    names = re.findall(r'^  (\w+)  +\S', said, re.M)
    gs.equal(sorted(names), sorted(COMMANDS), f'{root.suite}: commands that are tried')
    root.must('rm -rf r.gst imported.gst played *.sqlite page.html; cp -r /src/tests/data/recorded/h100-cnn.gst r.gst')
    with open(os.path.join(root.path, 'home', 'tester', 'fed.py'), 'w', encoding='utf-8') as f:
        f.write(FED)
    for name in names:
        gs.check(f'gpustarve {name}' in root.must(f'{program} {name} --help'), f'{root.suite}: {name} --help')
        line, word = COMMANDS.get(name, ('--version', ''))
        told = root.must(f'G={program} R=r.gst; {SIMULATED} $G {line} 2>&1')
        gs.check(word in told, f'{root.suite}: {name}: {word!r} in {told[-1500:]}')


def check_gate(root, program):
    """What the template of a pipeline runs, where gpustarve alone is on PATH; a broken budget fails it."""
    root.must('rm -rf r.gst; cp -r /src/tests/data/recorded/h100-cnn.gst r.gst')
    with open(os.path.join(root.path, 'home', 'tester', 'gate.sh'), 'w', encoding='utf-8') as f:
        f.write(gating.template())
    for budget, status, word in ('starved_pct<=100', 0, 'pass: starved_pct'), ('wasted_pct<=0', 2, 'FAIL'):
        done = root.run(f"export PATH=$PATH:$(dirname {program}) GPUSTARVE_RUNS=r.gst GPUSTARVE_CHECK='--budget {budget}'; "
                        'rm -rf gpustarve-gate; bash -e gate.sh && ls gpustarve-gate/gate-junit.xml')
        gs.check(done.returncode == status and word in done.stdout.decode(), f'{root.suite}: the gate, {budget}: {done}')


def check_store(root, program, where):
    """A run into an object store over TLS and out again: who is trusted by the machine's file, wherever it is; by the
    environment; and by nobody."""
    if not os.path.exists(where + '/server.pem'):
        central.certificates(where)
    shutil.copy(where + '/ca.pem', os.path.join(root.path, 'home', 'tester', 'ca.pem'))
    os.chmod(os.path.join(root.path, 'home', 'tester', 'ca.pem'), 0o644)
    root.must('rm -rf r.gst; cp -r /src/tests/data/recorded/h100-cnn.gst r.gst')
    held = os.path.join(root.path, 'root', 'trusted')
    os.makedirs(held, exist_ok=True)
    root.must('for f in %s; do [ ! -e $f ] || mv $f /root/trusted/$(echo $f | tr / _); done' % ' '.join(CA_PLACES), user=None)
    try:
        with objectstore.Checked(tls=where) as store:
            words = ' '.join(f'{k}={v}' for k, v in store.environment().items())

            def put(prefix, given=''):
                return root.run(f'export {words} {given}; {program} put r.gst s3://traces/{prefix} 2>&1')
            done = put('nobody')
            gs.check(done.returncode == 1 and 'certificate' in done.stdout.decode(), f'{root.suite}: trusted by nobody: {done}')
            gs.equal(len(store.objects), 0, f'{root.suite}: and nothing is sent')
            for name in 'AWS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'SSL_CERT_FILE':
                done = put(name, f'{name}=ca.pem')
                gs.equal(done.returncode, 0, f'{root.suite}: {name}: {done}')
            for at in CA_PLACES:
                root.must(f'mkdir -p $(dirname {at}) && cp /home/tester/ca.pem {at} && chmod 644 {at}', user=None)
                done = put(at.replace('/', '_'))
                gs.equal(done.returncode, 0, f'{root.suite}: {at}: {done}')
                root.must(f'rm {at}', user=None)
            folder = os.path.join(root.path, 'etc', 'gnutls')
            os.makedirs(folder, exist_ok=True)
            with open(folder + '/config', 'w', encoding='utf-8') as f:
                f.write(POLICY)
            done = put('policy', 'SSL_CERT_FILE=ca.pem')
            shutil.rmtree(folder)
            gs.equal(done.returncode, 0, f'{root.suite}: with a policy of RHEL: {done}')
            near, far = (root.must(f'export {words} SSL_CERT_FILE=ca.pem; {program} report {at} --format json').replace(at, '')
                         for at in ('r.gst', 's3://traces/SSL_CERT_FILE/r'))
            gs.equal(*(re.sub(r'"revision": \d+', '', text) for text in (far, near)), f'{root.suite}: the report of a store')
    finally:
        root.must('for f in %s; do g=/root/trusted/$(echo $f | tr / _); [ ! -e $g ] || mv $g $f; done' % ' '.join(CA_PLACES),
                  user=None)


def check_ipython(root):
    """%load_ext gpustarve, in the environment that has the wheel."""
    if root.run('gpustarve/bin/pip install -q --cert /etc/ssl/certs/ca-certificates.crt ipython').returncode:
        gs.left_out(f'{root.suite}: no IPython from PyPI')
        return
    with open(os.path.join(root.path, 'home', 'tester', 'cells.py'), 'w', encoding='utf-8') as f:
        f.write(CELLS)
    said = root.must(f'{SIMULATED} gpustarve/bin/python cells.py 2>&1')
    gs.check(re.search(r'trained\n.*\bbusy\b', said, re.S) and 'recording into' in said, f'{root.suite}: IPython: {said}')


def first_minutes():
    """README's own lines: of an environment for the wheel, and of a run."""
    with open(os.path.join(gs.SOURCE, 'README.md'), encoding='utf-8') as f:
        text = f.read().split('## The first five minutes')[1].split('\n3. ')[0]
    lines = re.findall(r'^ {7}(\S.*)', text, re.M)
    begin = next(k for k, line in enumerate(lines) if line.startswith('python3 -m venv '))
    run = next(line for line in lines if line.startswith('gpustarve run ') and line.endswith(' train.py'))
    return lines[begin:begin + 3], run


def check_wheel(root, where):
    """README's first minutes to the letter, by somebody who has the wheel and train.py. Seconds, or None: it is not for this one."""
    lines, run = first_minutes()
    gs.check(len(lines) == 3 and 'pip install gpustarve-*.whl' in lines[1] and 'PATH' in lines[2], f'lines of the README: {lines}')
    root.must('cp /packages/*.whl .')
    begin = time.monotonic()
    root.must(lines[0])
    if root.suite in OLD_PIP:
        root.must('gpustarve/bin/pip install -q --cert /etc/ssl/certs/ca-certificates.crt --upgrade pip')
    if root.suite in NO_WHEEL:
        gs.check(root.run(lines[1]).returncode != 0, f'{root.suite}: a wheel that is not for its glibc is refused')
        return None
    root.must(lines[1])
    said = root.must(f'{lines[2]}\n{SIMULATED} {run} 2>&1; ls gpustarve-runs/*.gst/report.html')
    took = time.monotonic() - begin
    gs.check(said.endswith('report.html\n') and took <= root.slower * SECONDS, f'{root.suite}: a report after {took:.0f} s: {said}')
    program = '~/gpustarve/bin/gpustarve'
    gs.check('commit' in root.must(f'{program} --version'), f'{root.suite}: --version')
    demo = root.must(f'{program} demo')
    gs.check('GPU waited for input' in demo, f'{root.suite}: demo: {demo[-500:]}')
    check_job(root, program, 'runs')
    check_collector(root, program)
    check_https(root, program, where)
    check_commands(root, program)
    check_gate(root, program)
    check_store(root, program, where)
    check_ipython(root)
    root.must('gpustarve/bin/pip uninstall -q -y gpustarve')
    gs.equal(root.must('find gpustarve -mindepth 1 \\( -name "*gpustarve*" -o -name "libprof*" \\)'), '',
             f'{root.suite}: left by pip uninstall')
    return took


def check_tarball(root):
    root.must('mkdir t && tar xzf /packages/*.tar.gz -C t && mv t/gpustarve-* t/here')
    gs.check('GPU waited for input' in root.must('~/t/here/bin/gpustarve demo'), f'{root.suite}: tarball: demo')
    check_job(root, '~/t/here/bin/gpustarve', 'truns')
    check_collector(root, '~/t/here/bin/gpustarve')
    check_commands(root, '~/t/here/bin/gpustarve')


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


def check_units(root, where):
    """Both units of the .deb, under a systemd that is process 1 of the root."""
    if root.suite in NO_UNITS:
        return None
    if root.run('[ -x /lib/systemd/systemd ] || apt-get install -q -y --no-install-recommends systemd', user=None).returncode:
        return gs.left_out(f'{root.suite}: no systemd')
    if not os.path.exists(where + '/server.pem'):
        central.certificates(where)
    for name, of in ('cert.pem', 'server.pem'), ('key.pem', 'server.key'), ('ca.pem', 'ca.pem'):
        shutil.copy(os.path.join(where, of), os.path.join(root.path, 'root', name))
    booted.write(root.path, 'root/tokens', 'a-token-of-this-test team read,write\n')
    booted.write(root.path, 'home/tester/hold.py', HOLD)
    said, status = booted.run(root.path, UNITS, [f'{gs.SOURCE}:src', f'{root.build}:build', f'{root.packages}:packages'], root.slower * 180)
    if said == '' and status is None:
        return gs.left_out(f'{root.suite}: its systemd does not start here')
    if not gs.equal(status, 0, f'{root.suite}: units: {said[-3000:]}'):
        return False
    gs.check('active\nactive\n' in said and 'collector: 200' in said, f'{root.suite}: both units: {said}')
    jobs = booted.read(root.path, 'root/jobs.csv')
    gs.check('bare' in jobs and 'kept' not in jobs, f'{root.suite}: jobs that nobody recorded: {jobs} {said}')
    return gs.check('Result=success\nExecMainStatus=0' in said, f'{root.suite}: how it ended: {said}')


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


def check_rpm(packages, where, root=None):
    """@root: of another processor, with a loader for the program."""
    path = glob.glob(packages + '/*.rpm')
    if not path or not shutil.which('rpm'):
        return gs.left_out('no rpm')
    base = os.path.join(where, 'rpmdb')
    gs.equal(gs.command(['rpm', '-K', *path]).returncode, 0, 'rpm -K')
    said = gs.command(['rpm', '-qp', '--requires', *path]).stdout.decode()
    gs.check('libc.so.6(GLIBC_2.27)(64bit)' in said and 'python' not in said, f'what the .rpm requires: {said}')
    for argv in (['-i', '--nodeps', '--ignorearch', *path], ['-V', '--nodeps', 'gpustarve']):
        done = gs.command(['rpm', '--root', base, *argv])
        gs.equal((done.returncode, done.stdout), (0, b''), f'rpm {argv[0]}: {done.stderr.decode()[-500:]}')
    prefix = gs.environment(QEMU_LD_PREFIX=root.path) if root else None
    gs.equal(gs.command([base + '/usr/bin/gpustarve', 'demo'], env=prefix).returncode, 0, 'the demo of an .rpm')
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


@contextlib.contextmanager
def processor(machine):
    """Programs for @machine run here meanwhile, by qemu-user: the kernel hands them to it, in every root file system."""
    known, rule = '/proc/sys/fs/binfmt_misc', f'/usr/lib/binfmt.d/qemu-{machine}.conf'
    ours = False
    if not os.path.exists(rule):
        gs.skip('no qemu-user-static (scripts/setup --arm64)')
    if not os.path.exists(known + '/register') and gs.command(['mount', '-t', 'binfmt_misc', 'binfmt_misc', known]).returncode:
        gs.skip('no binfmt_misc')
    if not os.path.exists(f'{known}/qemu-{machine}'):
        with open(rule, 'rb') as f, open(known + '/register', 'wb', buffering=0) as g:
            g.write(f.read().strip())
        ours = True
    try:
        yield
    finally:
        if ours:
            with open(f'{known}/qemu-{machine}', 'w', encoding='ascii') as f:
                f.write('-1')


def build(source, folder, *options, **more):
    """@options: of scripts/package."""
    env = dict(gs.environment(), GPUSTARVE_PACKAGE_BUILD=folder, **{'LC_ALL': 'POSIX', **more})
    done = gs.command([os.path.join(source, 'scripts', 'package'), *options, folder + '/packages'], env=env, timeout=7200)
    gs.equal(done.returncode, 0, f'scripts/package in {source}: {done.stderr.decode()[-2000:]}')
    done = gs.command([os.path.join(source, 'scripts', 'build'), folder], env=dict(env, GPUSTARVE_TARGET='demo'), timeout=7200)
    gs.equal(done.returncode, 0, f'the simulated GPU beside it: {done.stderr.decode()[-2000:]}')
    return folder + '/packages'


def check_same(where, packages, *options):
    """From a clone elsewhere, at another time, in another zone, with another umask and locale."""
    clone = os.path.join(where, 'a-clone-elsewhere')
    gs.equal(gs.command(['git', 'clone', '-q', gs.SOURCE, clone]).returncode, 0, 'git clone')
    folder, mask = os.path.join(where, 'other-build'), os.umask(0o027)
    try:
        again = build(clone, folder, *options, TZ='Pacific/Apia', LC_ALL='C.UTF-8')
    finally:
        os.umask(mask)
    for name in sorted(os.listdir(packages)):
        with open(os.path.join(packages, name), 'rb') as f, open(os.path.join(again, name), 'rb') as g:
            gs.check(f.read() == g.read(), f'two builds, the same bytes: {name}')
    print('two builds, the same bytes:', len(os.listdir(packages)), 'files')


def check_bill(packages):
    """Everything that is linked stands in the list of what is inside, and its licence in the texts."""
    with open(packages + '/sbom.spdx.json', encoding='utf-8') as f:
        listed = {row['name'] for row in json.load(f)['packages']}
    gs.equal(LINKED - listed, set(), f'linked, and not in the list of what is inside: {sorted(listed)}')
    with tarfile.open(*glob.glob(packages + '/*.tar.gz')) as tar:
        text = next(tar.extractfile(row).read().decode() for row in tar if row.name.endswith('/LICENSES.txt'))
    parts = text.split('\n' + '=' * 100 + '\n\n')
    bare = [part.split('\n')[0] for part in parts if '(no text came with it)' in part]
    gs.equal(bare, [], 'parts without a licence')
    for name in sorted(LINKED):
        gs.check(any(part.startswith(name + ' ') for part in parts), f'{name}: its licence')
