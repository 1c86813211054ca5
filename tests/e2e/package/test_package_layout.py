#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Packages of an ordinary build: what lies where, the same bytes when made twice, nothing newer than glibc 2.17 in what is
loaded into a job, and a job that inherits nothing of what it was started from. Programs of this build need libraries of
this machine; that those of scripts/package do not is test_package_roots' part, but what tells is tried here."""
import base64
import concurrent.futures
import csv
import glob
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(1, os.path.join(sys.path[0], '..', '..', 'scripts', 'packaging'))
import gs
sys.dont_write_bytecode = True
import archive
import elf

PACK = os.path.join(gs.SOURCE, 'scripts', 'packaging', 'pack')
COLLECTOR = os.path.exists(os.path.join(gs.BUILD, 'bin', 'gpustarve-collector'))
PARTS = ['bin/gpustarve', 'lib/gpustarve/libprof.so', 'lib/gpustarve/python/sitecustomize.py',
         'lib/gpustarve/python/sitecustomize.abi3.so', 'share/gpustarve/demo/storage.gst/run.json']
PARTS += ['bin/gpustarve-collector'] if COLLECTOR else []
# What no page names by its path.
QUIET = ['libexec/gpustarve/ci/gate', 'libexec/gpustarve/ci/gitlab.yml', 'lib/systemd/system/gpustarve-node.service', 'lib/gpustarve/slurm/gpustarve.so', 'share/gpustarve/spank/plugin.c',
         'share/gpustarve/kubernetes/base/kustomization.yaml', 'share/gpustarve/kubernetes/monitoring/dashboard.json',
         'share/gpustarve/kubernetes/monitoring/alerts.yml', 'share/gpustarve/ipython/gpustarve.py',
         'share/doc/gpustarve/OPERATIONS.md', 'lib/systemd/system/gpustarve-collector.service', 'lib/sysusers.d/gpustarve.conf']
# What `gpustarve run` sets, and a shell by itself.
OURS = re.compile(r'(GPUSTARVE_\w+|LD_PRELOAD|CUDA_INJECTION64_PATH|NVTX_INJECTION64_PATH|PWD|SHLVL|_)$')


def pack(out, zone, umask):
    done = gs.command([sys.executable, PACK, gs.BUILD, out], umask=umask,
                      env=gs.environment(TZ=zone, SOURCE_DATE_EPOCH=1700000000))
    gs.equal(done.returncode, 0, f'pack: {done.stderr.decode()[-2000:]}')
    return {name: os.path.join(out, name) for name in sorted(os.listdir(out))}


def content(path):
    with open(path, 'rb') as f:
        return f.read()


def check_sums(made):
    for line in content(made['SHA256SUMS']).decode().splitlines():
        seal, name = line.split()
        gs.equal(hashlib.sha256(content(made[name])).hexdigest(), seal, f'SHA256SUMS: {name}')
    gs.equal(len(content(made['SHA256SUMS']).decode().splitlines()), len(made) - 1, 'files in SHA256SUMS')


def check_bill(text):
    bill = json.loads(text)
    gs.equal(bill['spdxVersion'], 'SPDX-2.3', 'list of what is inside')
    ids = {row['SPDXID'] for row in bill['packages']}
    gs.check('SPDXRef-gpustarve' in ids, f'packages of the list: {ids}')
    for row in bill['relationships']:
        gs.check(row['relatedSpdxElement'] in ids, f'a relation to what is not listed: {row}')


def unpack_wheel(path, prefix):
    """As an installer does: what scripts/ has goes into bin, data/ below the prefix. What it must hold itself is checked."""
    modules = []
    with zipfile.ZipFile(path) as z:
        names = z.namelist()
        top = re.match(r'gpustarve-(.*)-py3-none-manylinux_2_28_x86_64\.whl$', os.path.basename(path))
        info = f'gpustarve-{top[1]}.dist-info/'
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(z.read(info + 'RECORD').decode()))}
        gs.equal(sorted(rows), sorted(names), 'RECORD names every file')
        for row in z.infolist():
            data = z.read(row)
            if row.filename != info + 'RECORD':
                seal = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
                gs.equal(rows[row.filename], ['sha256=' + seal, str(len(data))], f'RECORD: {row.filename}')
            kind, _, inside = row.filename.partition('.data/')[2].partition('/')
            if row.filename == 'gpustarve.py':
                gs.check(b'def load_ipython_extension(' in data, 'the module is the extension')
                modules.append(row.filename)
                continue
            if not inside:
                gs.check(row.filename.startswith(info), f'neither data nor of the wheel itself: {row.filename}')
                continue
            target = os.path.join(prefix, {'scripts': 'bin', 'data': ''}[kind], inside)
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with open(target, 'wb') as f:
                f.write(data)
            os.chmod(target, row.external_attr >> 16 & 0o777)
        about = z.read(info + 'METADATA').decode()
        gs.check(f'\nVersion: {top[1]}\n' in about and 'Requires-Dist' not in about, f'needs nothing: {about}')
        gs.check(f'Tag: py3-none-manylinux_2_28_x86_64' in z.read(info + 'WHEEL').decode(), 'tag')
        gs.equal(modules, ['gpustarve.py'], 'modules of the wheel')
        check_bill(z.read(info + 'sboms/gpustarve.spdx.json'))
        gs.check('Apache-2.0' in z.read(info + 'licenses/LICENSES.txt').decode(), 'licences')


def check_prefix(prefix, what):
    for name in PARTS:
        gs.check(os.path.isfile(os.path.join(prefix, name)), f'{what}: {name} is there')
    gs.check(not os.path.isdir(os.path.join(prefix, 'lib', 'gpustarve', 'python', '__pycache__')), f'{what}: no bytecode')
    program = os.path.join(prefix, 'bin', 'gpustarve')
    said = gs.command([program, '--version']).stdout.decode()
    gs.check(re.match(r'gpustarve [0-9.]+( \(commit [0-9a-f]{12}\+?\))?\n$', said), f'{what}: --version: {said!r}')


def named_in_docs():
    """What the pages say lies below the prefix."""
    text = ''.join(content(path).decode() for path in [gs.SOURCE + '/README.md', *glob.glob(gs.SOURCE + '/docs/*.md')])
    found = {path.rstrip('.') for path in re.findall(r'/opt/gpustarve/([\w./-]+)|`((?:bin|lib|libexec|share)/[\w./-]+)`', text)
             for path in path if path}
    gs.check(len(found) > 10, f'paths that the pages name: {found}')
    return found


def check_named(prefix, what, left_out=()):
    """It is there, and a page of the manual for each command."""
    there = ['/' + os.path.relpath(os.path.join(folder, name), prefix) for folder, folders, names in os.walk(prefix)
             for name in names + folders]
    said = gs.command([os.path.join(prefix, 'bin', 'gpustarve'), 'help']).stdout.decode()
    pages = [f'share/man/man1/gpustarve-{name}.1' for name in re.findall(r'^  (\w+)  +\S', said, re.M)]
    gs.check(len(pages) > 10, f'commands: {said}')
    for name in sorted({*named_in_docs(), *QUIET, *pages, 'share/man/man1/gpustarve-collector.1'}):
        if not COLLECTOR and ('collector' in name or 'systemd' in name or 'sysusers' in name or 'limits' in name):
            continue
        pattern = re.escape('/' + name).replace(r'/\.\.\./', '/(.*/)?')  # lib/.../libprof.so
        found = any(re.fullmatch(pattern + r'(\.gz)?', path) for path in there)
        gs.equal(found, not f'{name}/'.startswith(tuple(left_out)), f'{what}: {name} is there')


def check_job(prefix, where):
    """What a job has of the prefix: variables that name libprof.so, and that file mapped; nothing else."""
    program = os.path.join(prefix, 'bin', 'gpustarve')
    given = {'PATH': '/usr/bin:/bin', 'HOME': where, 'KEPT': 'a b'}
    line = 'env -0; echo; cat /proc/self/maps'

    def variables(argv):
        done = subprocess.run([*argv, '/bin/sh', '-c', line], env=given, cwd=where, capture_output=True, check=False)
        gs.equal(done.returncode, 0, f'{argv}: {done.stderr.decode()}')
        env, _, maps = done.stdout.rpartition(b'\0\n')
        return dict(row.split('=', 1) for row in env.decode().split('\0')), maps.decode()

    plain, _ = variables([])
    traced, maps = variables([program, 'run', '-o', os.path.join(where, 'runs'), '--'])
    changed = {k for k in {*plain, *traced} if plain.get(k) != traced.get(k) and not OURS.match(k)}
    gs.equal(changed, set(), 'variables that the job would not have without us')
    lib = os.path.join(prefix, 'lib', 'gpustarve', 'libprof.so')
    gs.equal((traced['LD_PRELOAD'], traced['CUDA_INJECTION64_PATH']), (lib, lib), 'the library is named where it lies')
    mapped = {row.split(None, 5)[5] for row in maps.splitlines() if row.count(' ') > 4 and prefix in row}
    gs.equal(mapped, {lib}, 'files of the prefix in a job')


def check_job_libraries(prefix):
    for name in 'lib/gpustarve/libprof.so', 'lib/gpustarve/python/sitecustomize.abi3.so':
        libraries, newest, search = elf.needs(os.path.join(prefix, name))
        gs.check(libraries <= elf.GLIBC and newest <= (2, 17, 99) and not search, f'{name}: {libraries} {newest} {search}')
    said = list(elf.trouble(prefix))
    gs.check(any('libsqlite3' in line and line.startswith('bin/gpustarve ') for line in said),
             f'an ordinary build needs this machine, and is told so: {said}')
    gs.check(not any('libprof' in line for line in said), f'libprof needs nothing: {said}')


def check_machines(where):
    """What packages are named after is what their programs are for."""
    gs.equal(elf.machine(os.path.join(gs.BUILD, 'bin', 'gpustarve')), os.uname().machine, 'of this build')
    for number, name in ((183, 'aarch64'), (62, 'x86_64'), (243, None)):
        path = os.path.join(where, f'machine-{number}')
        with open(path, 'wb') as f:
            f.write(b'\x7fELF' + bytes(14) + number.to_bytes(2, 'little'))
        gs.equal(elf.machine(path), name, f'machine {number}')


def check_commit(where):
    """--version of a tree that was copied is that of the tree; a + tells of what differs, and of nothing else."""
    tree, copy = os.path.join(where, 'a tree'), os.path.join(where, 'a copy')
    os.mkdir(tree)
    for text, argv in (('one', ['init', '-q']), ('one', ['add', 'file']), ('one', ['commit', '-qm', 'One'])):
        with open(os.path.join(tree, 'file'), 'w', encoding='utf-8') as f:
            f.write(text)
        done = gs.command(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false', *argv], cwd=tree)
        gs.equal(done.returncode, 0, f'git {argv}: {done.stderr.decode()}')
    head = gs.command(['git', 'rev-parse', '--short=12', 'HEAD'], cwd=tree).stdout.decode().strip()
    shutil.copytree(tree, copy, copy_function=shutil.copyfile)
    for text, expected in ('one', head), ('two', head + '+'):
        with open(os.path.join(copy, 'file'), 'w', encoding='utf-8') as f:
            f.write(text)
        out = os.path.join(where, 'commit.c')
        done = gs.command(['cmake', '-DGIT=git', f'-DSOURCE={copy}', '-DGIVEN=', f'-DOUT={out}', '-P', gs.SOURCE + '/cmake/commit.cmake'])
        gs.equal(done.returncode, 0, f'commit.cmake: {done.stderr.decode()}')
        gs.equal(re.findall(r'"([^"]*)";', content(out).decode()), [expected], f'the commit of a copy with {text}')


def check_deb(path, where):
    gs.equal(gs.command(['dpkg-deb', '-f', path, 'Package', 'Architecture', 'Depends']).stdout.decode(),
             'Package: gpustarve\nArchitecture: amd64\nDepends: libc6 (>= 2.27)\n', 'control')
    control = gs.command(['dpkg-deb', '--ctrl-tarfile', path]).stdout
    with tarfile.open(fileobj=io.BytesIO(control)) as tar:
        gs.equal(sorted(tar.getnames()), ['.', './control'], 'no scripts of its own')
    root = os.path.join(where, 'deb')
    gs.equal(gs.command(['dpkg-deb', '-x', path, root]).returncode, 0, 'dpkg-deb -x')
    gs.equal(sorted(os.listdir(root)), ['usr'], 'below /usr alone')
    for unit, program in ('collector', 'gpustarve-collector'), ('node', 'gpustarve'):
        text = content(os.path.join(root, 'usr', 'lib', 'systemd', 'system', f'gpustarve-{unit}.service'))
        gs.check(f'\nExecStart="/usr/bin/{program}" '.encode() in text, f'the unit {unit} names the program')
    gs.check(os.path.isfile(os.path.join(root, 'usr', 'share', 'doc', 'gpustarve', 'copyright')), 'copyright')
    return os.path.join(root, 'usr')


with gs.scratch() as where:
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made, again = pool.map(lambda how: pack(os.path.join(where, how[0]), *how[1:]),
                               [('one', 'UTC', 0o022), ('two', 'Pacific/Apia', 0o077)])
    gs.equal(sorted(made), sorted(again), 'names of two builds')
    for name in made:
        gs.check(content(made[name]) == content(again[name]), f'two builds, the same bytes: {name}')
    check_sums(made)
    check_machines(where)
    check_commit(where)
    check_bill(content(made['sbom.spdx.json']))
    kinds = {name.rpartition('.')[2]: path for name, path in made.items()}
    gs.check({'whl', 'deb', 'gz'} <= set(kinds), f'kinds of packages: {sorted(made)}')

    wheel = os.path.join(where, 'a wheel')  # a path with a blank, where --version and the demo work
    unpack_wheel(kinds['whl'], wheel)
    check_prefix(wheel, 'wheel')
    check_named(wheel, 'wheel', (*archive.NOT_IN_WHEEL, archive.IPYTHON))
    gs.check(not os.path.exists(os.path.join(wheel, 'lib', 'systemd')), 'the wheel has no unit')
    gs.check(os.access(os.path.join(wheel, 'libexec', 'gpustarve', 'ci', 'gate'), os.X_OK), 'the wheel has the gate')
    venv = os.path.join(where, 'venv')
    os.rename(wheel, venv)
    check_job(venv, where)
    check_job_libraries(venv)

    with tarfile.open(kinds['gz']) as tar:
        names = tar.getnames()
        gs.equal({(row.uid, row.gid, row.mtime) for row in tar}, {(0, 0, 1700000000)}, 'owners and times of the tarball')
        tar.extractall(where, filter='fully_trusted') if hasattr(tarfile, 'data_filter') else tar.extractall(where)
    tops = {name.split('/')[0] for name in names}
    gs.equal(len(tops), 1, f'one folder: {tops}')
    moved = os.path.join(where, 'moved')
    os.rename(os.path.join(where, *tops), moved)
    check_prefix(moved, 'tarball')
    check_named(moved, 'tarball')
    check_job(moved, where)
    usr = check_deb(kinds['deb'], where)
    check_prefix(usr, '.deb')
    check_named(usr, '.deb')
    if 'rpm' not in kinds:
        gs.left_out('no rpmbuild (rpm): no .rpm')
gs.finish()
