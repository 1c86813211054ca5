# SPDX-License-Identifier: Apache-2.0
"""The PyTorches that `scripts/setup --campaigns` put into the user's cache: CUDA's wheels, without NVIDIA's libraries
beside them, so that the simulator's are found."""
import collections
import glob
import os
import re

import gs

CACHE = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
ROOT = os.path.join(CACHE, 'gpustarve', 'programs')
SYMBOLS = os.path.join(gs.SOURCE, 'tests', 'gpusim', 'symbols')

# name: torch-2.14; version: 2.14.1, minor: 2.14; number: 3.11, of the Python; packages: where torch/ lies.
Torch = collections.namedtuple('Torch', 'name version minor python number packages')


def at(folder):
    """The Torch in that venv, or None."""
    python = os.path.join(folder, 'bin', 'python')
    here = glob.glob(os.path.join(folder, 'lib', 'python3.*', 'site-packages', 'torch-*.dist-info'))
    if len(here) != 1 or not os.path.exists(python):
        return None
    version = re.search(r'torch-([0-9.]+)(\+\w+)?\.dist-info$', here[0])[1]
    packages = os.path.dirname(here[0])
    number = os.path.basename(os.path.dirname(packages))[len('python'):]
    return Torch(os.path.basename(folder), version, '.'.join(version.split('.')[:2]), python, number, packages)


def found():
    """All that are there, oldest torch first, of each Debian's Python (or the one it was made with) first."""
    folders = sorted(glob.glob(os.path.join(ROOT, 'torch-*')))
    return [torch for torch in map(at, folders) if torch]


def fixtures():
    """The versions of torch whose symbols are known."""
    names = (re.fullmatch(r'torch-(.*)\.txt', name) for name in os.listdir(SYMBOLS))
    return sorted(match[1] for match in names if match)


def fixture(version):
    return os.path.join(SYMBOLS, f'torch-{version}.txt')


def some():
    """found(), or the end of the test as skipped."""
    return found() or gs.skip(f'no torch in {ROOT}; scripts/setup --campaigns makes it')


def campaign():
    """Ends the test as skipped where CI plays: PyTorch's programs have a minute of it, and others take that."""
    if not gs.BIG:
        gs.skip('a campaign: GS_BIG=1')
