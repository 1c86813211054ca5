# SPDX-License-Identifier: Apache-2.0
"""The wheel and the tarball. Both have the same bytes whenever and wherever they are made of the same files."""
import base64
import gzip
import hashlib
import io
import os
import tarfile
import time
import zipfile

from facts import SUMMARY

PLATFORM = 'manylinux_2_28_{}'
# What a person's own environment has no use for: units, hooks of SLURM, the manual of admins.
NOT_IN_WHEEL = ('lib/systemd/', 'lib/sysusers.d/', 'lib/gpustarve/slurm/', 'libexec/gpustarve/slurm/', 'share/doc/',
               'share/gpustarve/kubernetes/', 'share/gpustarve/modulefiles/', 'share/gpustarve/spank/')
IPYTHON = 'share/gpustarve/ipython/'  # a module: %load_ext gpustarve
ABOUT = SUMMARY + '''.

    gpustarve run -- python train.py

One command in front of the one that trains, on Linux (x86-64 and aarch64, glibc 2.28 or newer) with CUDA 11.8 to 13.x. No change to
the code, no root, no dependency, and no GPU needed to try it: `gpustarve demo` shows three recorded runs.
'''


def tree(root):
    """(name, path, executable) of every file below @root, in order."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            found.append((os.path.relpath(path, root), path, os.access(path, os.X_OK)))
    return sorted(found)


def data_of(path):
    with open(path, 'rb') as f:
        return f.read()


class Wheel:
    def __init__(self, facts):
        self.facts, self.rows = facts, []
        self.stamp = time.gmtime(max(facts.epoch, 315532800))[:6]  # zip knows nothing before 1980
        self.info = f'gpustarve-{facts.version}.dist-info/'
        self.data = f'gpustarve-{facts.version}.data/'
        self.bytes = io.BytesIO()
        self.zip = zipfile.ZipFile(self.bytes, 'w', zipfile.ZIP_DEFLATED, compresslevel=9)

    def add(self, name, data, executable=False):
        row = zipfile.ZipInfo(name, self.stamp)
        row.external_attr = (0o100755 if executable else 0o100644) << 16
        row.create_system = 3
        row.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(row, data)
        seal = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()
        self.rows.append(f'{name},sha256={seal},{len(data)}')

    def finish(self):
        record = self.info + 'RECORD'
        self.add(record, ('\n'.join([*self.rows, f'{record},,']) + '\n').encode())
        self.zip.close()
        return self.bytes.getvalue()


def wheel(facts, root, licences, bill):
    """(file name, bytes). Programs go where scripts go, all else below the environment's prefix, as an installation has it
    around them: a program finds its parts from where it lies."""
    w, platform = Wheel(facts), PLATFORM.format(facts.machine)
    for name, path, executable in tree(root):
        if name.startswith('bin/'):
            w.add(w.data + 'scripts/' + name[4:], data_of(path), True)
        elif name.startswith(IPYTHON):
            w.add(name[len(IPYTHON):], data_of(path))
        elif not name.startswith(NOT_IN_WHEEL):
            w.add(w.data + 'data/' + name, data_of(path), executable)
    w.add(w.info + 'METADATA', (
        'Metadata-Version: 2.4\nName: gpustarve\n'
        f'Version: {facts.version}\nSummary: {SUMMARY}\nLicense-Expression: Apache-2.0\nLicense-File: LICENSES.txt\n'
        'Requires-Python: >=3.8\nClassifier: Operating System :: POSIX :: Linux\n'
        f'Description-Content-Type: text/markdown\n\n{ABOUT}').encode())
    w.add(w.info + 'WHEEL', f'Wheel-Version: 1.0\nGenerator: gpustarve\nRoot-Is-Purelib: false\nTag: py3-none-{platform}\n'
          .encode())
    w.add(w.info + 'licenses/LICENSES.txt', licences.encode())
    w.add(w.info + 'sboms/gpustarve.spdx.json', bill.encode())
    return f'gpustarve-{facts.version}-py3-none-{platform}.whl', w.finish()


def tarball(facts, root):
    """(file name, bytes). One folder, which runs wherever it is unpacked."""
    top = f'gpustarve-{facts.version}-{facts.machine}'
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode='w', format=tarfile.GNU_FORMAT) as tar:
        for name, path, _ in tree(root):
            row = tarfile.TarInfo(f'{top}/{name}')
            row.size, row.mtime = os.path.getsize(path), facts.epoch
            row.mode = os.stat(path).st_mode & 0o755  # the node's collector may be run and not read
            with open(path, 'rb') as f:
                tar.addfile(row, f)
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode='wb', filename='', mtime=0, compresslevel=9) as f:
        f.write(raw.getvalue())
    return top + '.tar.gz', packed.getvalue()
