# SPDX-License-Identifier: Apache-2.0
"""What a file of the packages needs of the machine that it is carried to."""
import os
import re
import subprocess

GLIBC = {'libc.so.6', 'libm.so.6', 'libpthread.so.0', 'libdl.so.2', 'librt.so.1', 'ld-linux-x86-64.so.2',
         'ld-linux-aarch64.so.1'}
PROGRAMS = (2, 27)  # which they are linked against; manylinux_2_28 promises no more than 2.28
IN_THE_JOB = (2, 17)  # what is loaded into other people's programs


def files(root):
    """Every ELF file below @root."""
    for folder, _, names in sorted(os.walk(root)):
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, 'rb') as f:
                if f.read(4) == b'\x7fELF':
                    yield path


def machine(path):
    """As uname -m has it; None: another one."""
    with open(path, 'rb') as f:
        return {62: 'x86_64', 183: 'aarch64'}.get(int.from_bytes(f.read(20)[18:20], 'little'))


def needs(path):
    """(libraries, newest version of glibc, search paths)"""
    def read(*options):
        return subprocess.run(['readelf', '-W', *options, path], capture_output=True, text=True, check=True).stdout
    dynamic = read('-d')
    libraries = set(re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic))
    versions = re.findall(r'Name: GLIBC_([0-9.]+|[A-Z]\S*)  Flags', read('-V'))
    odd = [v for v in versions if not v[0].isdigit()]
    newest = max((tuple(map(int, v.split('.'))) for v in versions if v[0].isdigit()), default=(0,))
    return libraries, (99,) if odd else newest, re.findall(r'\((?:RPATH|RUNPATH)\).*', dynamic)


def trouble(root):
    """What of @root would not run on every Linux that the wheel's name promises, a line each."""
    for path in files(root):
        name = os.path.relpath(path, root)
        libraries, newest, search = needs(path)
        if libraries - GLIBC:
            yield f'{name} needs {" ".join(sorted(libraries - GLIBC))}'
        if search:
            yield f'{name} has a search path of its own'
        most = PROGRAMS if os.access(path, os.X_OK) and '/bin/' in f'/{name}' or name.endswith('/collector') else IN_THE_JOB
        if newest[:2] > most:
            yield f'{name} needs glibc {".".join(map(str, newest))}, which is newer than {most[0]}.{most[1]}'
