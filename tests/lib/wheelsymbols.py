# SPDX-License-Identifier: Apache-2.0
"""What the libraries of a torch wheel want of NVIDIA's: the fixtures tests/gpusim/symbols/torch-VERSION.txt, of which the
stand-ins are generated. `wheelsymbols.py FOLDER VERSION` prints one (FOLDER has torch/ in it)."""
import glob
import os
import re
import subprocess
import sys

# Most carry their library's version node, which is its SONAME. These libraries have none, or one of another name.
BY_PREFIX = (('nccl', 'libnccl.so.2'), ('cusparseLt', 'libcusparseLt.so.0'), ('cuFile', 'libcufile.so.0'),
             ('nvml', 'libnvidia-ml.so.1'), ('nvshmem', 'libnvshmem_host.so.3'))
DRIVER = re.compile(r'cu[A-Z]\w*$')
NVIDIA = re.compile(r'lib(cu|nv|nccl)\w*(-ml)?\.so')


def library(symbol, node):
    """The SONAME that a symbol is wanted of, or None where that is none of NVIDIA's."""
    if NVIDIA.match(node):
        return node
    if node not in ('', 'NVSHMEM'):
        return None
    for prefix, soname in BY_PREFIX:
        if symbol.startswith(prefix):
            return soname
    return 'libcuda.so.1' if DRIVER.match(symbol) else None


def undefined(path):
    """(symbol, node) that the library must find to load; weak ones may be missing."""
    done = subprocess.run(['nm', '-D', '--undefined-only', '--with-symbol-versions', path], check=True,
                          stdout=subprocess.PIPE)
    for line in done.stdout.decode().splitlines():
        kind, name = line.split()
        if kind == 'U':
            symbol, _, node = name.partition('@')
            yield symbol, node.lstrip('@')


def needed(path):
    done = subprocess.run(['readelf', '-dW', path], check=True, stdout=subprocess.PIPE)
    return re.findall(r'\(NEEDED\).*\[(.*)\]', done.stdout.decode())


def libraries(folder):
    return sorted(glob.glob(os.path.join(folder, 'torch', 'lib', '*.so*')) +
                  glob.glob(os.path.join(folder, 'torch', '*.so')))


def of_wheel(folder):
    """({SONAME that is needed}, {(SONAME, symbol)}), NVIDIA's alone."""
    sonames, symbols = set(), set()
    for path in libraries(folder):
        sonames.update(name for name in needed(path) if NVIDIA.match(name))
        symbols.update((library(*pair), pair[0]) for pair in undefined(path) if library(*pair))
    return sonames, symbols


def render(version, sonames, symbols):
    lines = [f'# What the libraries of torch {version} want of NVIDIA\'s: LIBRARY SYMBOL. Written by tests/lib/wheelsymbols.py.',
             '# Needed, also where no symbol is asked for:']
    lines += ['# needed ' + name for name in sorted(sonames)]
    lines += [' '.join(pair) for pair in sorted(symbols)]
    return '\n'.join(lines) + '\n'


if __name__ == '__main__':
    sys.stdout.write(render(sys.argv[2], *of_wheel(sys.argv[1])))
