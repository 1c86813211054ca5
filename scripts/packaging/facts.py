# SPDX-License-Identifier: Apache-2.0
"""What the packages are of: version, commit, time, and what is inside of them besides ours."""
import json
import os
import re
import subprocess

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
SUMMARY = 'Says how long GPUs waited in a training job, for which line of the code, and what that cost'
# By source package of Debian: as SPDX names its licence.
LICENCES = {
    'sqlite3': 'blessing', 'yajl': 'ISC', 'zlib': 'Zlib', 'elfutils': 'LGPL-3.0-or-later OR GPL-2.0-or-later',
    'ncurses': 'X11-distribute-modifications-variant', 'libmicrohttpd': 'LGPL-2.1-or-later',
    'nettle': 'LGPL-3.0-or-later OR GPL-2.0-or-later', 'gmp': 'LGPL-3.0-or-later OR GPL-2.0-or-later',
    'libtasn1-6': 'LGPL-2.1-or-later', 'expat': 'MIT', 'libzstd': 'BSD-3-Clause', 'protobuf-c': 'BSD-2-Clause',
    'gnutls28': 'LGPL-2.1-or-later', 'curl': 'curl', 'glibc': 'LGPL-2.1-or-later',
    'gcc-12': 'GPL-3.0-or-later WITH GCC-exception-3.1',
}


def git(*argv):
    done = subprocess.run(['git', '-C', SOURCE, *argv], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ''


class Facts:
    """version: of PEP 440; debian: the same, as dpkg and rpm order it; epoch: of every file, in seconds; machine: as uname
    -m has it; arch: as Debian calls it."""

    def __init__(self, machine='x86_64'):
        self.machine, self.arch = machine, {'x86_64': 'amd64', 'aarch64': 'arm64'}[machine]
        with open(os.path.join(SOURCE, 'CMakeLists.txt'), encoding='utf-8') as f:
            released = re.search(r'project\(gpustarve VERSION ([0-9.]+)', f.read())[1]
        self.commit = git('rev-parse', 'HEAD')
        self.epoch = int(os.environ.get('SOURCE_DATE_EPOCH') or git('log', '-1', '--format=%ct') or 0)
        count = git('rev-list', '--count', 'HEAD')
        tagged = git('tag', '--points-at', 'HEAD', f'v{released}')
        self.version = released if tagged or not count else f'{released}.dev{count}'
        self.debian = self.version.replace('.dev', '~dev')


class Part:
    """Something of somebody else's inside: @text is its licence, or None."""

    def __init__(self, name, version, licence, origin, text):
        self.name, self.version, self.licence, self.origin, self.text = name, version, licence, origin, text


def read(path):
    try:
        with open(path, encoding='utf-8', errors='replace') as f:
            return f.read()
    except OSError:
        return None


def libraries(folder):
    """Of scripts/packaging/libraries, whose list has "source version package" in each line; no folder: none."""
    for line in (read(os.path.join(folder, 'list')) or '').splitlines() if folder else []:
        name, version, package = line.split()
        if name not in LICENCES:
            continue  # headers alone
        text = read(os.path.join(folder, 'deps', name + '.copyright')) or read(f'/usr/share/doc/{package}/copyright')
        yield Part(name, version, LICENCES[name], f'https://tracker.debian.org/pkg/{name}', text)


def linked_by_compiler(folder, machine):
    """What every program begins and ends with, and the helpers of the compiler; no folder: this machine's, as anywhere."""
    if folder:
        cross = '' if machine == 'x86_64' else '-arm64-cross'
        yield Part('glibc', '2.27-3ubuntu1', LICENCES['glibc'], 'https://launchpad.net/ubuntu/+source/glibc',
                   read(os.path.join(folder, 'root', 'usr', 'share', 'doc', 'libc6-dev' + cross, 'copyright')))
        done = subprocess.run(['dpkg-query', '-W', '-f', '${Version}', 'libgcc-12-dev' + cross], capture_output=True,
                              text=True, check=False)
        yield Part('gcc-12', done.stdout or 'NOASSERTION', LICENCES['gcc-12'], 'https://tracker.debian.org/pkg/gcc-12',
                   read('/usr/share/doc/libgcc-12-dev/copyright'))


def charts(build):
    """What npm's lock file has of libraries in the report's script."""
    where = os.path.join(build, 'viewer', 'charts')
    for path, row in sorted(json.loads(read(os.path.join(where, 'package-lock.json')) or '{}').get('packages', {}).items()):
        if not path or row.get('dev') or not os.path.isdir(os.path.join(where, path)):
            continue
        name = path.rpartition('node_modules/')[2]
        names = sorted(n for n in os.listdir(os.path.join(where, path)) if n.upper().startswith('LICEN'))
        text = read(os.path.join(where, path, names[0])) if names else None
        yield Part(name, row['version'], row.get('license', 'NOASSERTION'), f'https://www.npmjs.com/package/{name}', text)


def inside(folder, build, machine):
    parts = [*libraries(folder), *linked_by_compiler(folder, machine), *charts(build)]
    return sorted({p.name: p for p in parts}.values(), key=lambda p: p.name)
