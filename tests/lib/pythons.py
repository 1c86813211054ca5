# SPDX-License-Identifier: Apache-2.0
"""Which CPythons are on this machine."""
import glob
import os
import re
import shutil
import subprocess

import gs

with open(os.path.join(gs.SOURCE, 'facts', 'pythons.def')) as _rows:
    KNOWN = ['3.' + minor for minor in re.findall(r'^FACTS_PYTHON_\w+\((\d+),', _rows.read(), re.M)]


def version(path):
    """'3.11', or None where that is no CPython that starts."""
    code = 'import sys; print(sys.implementation.name, "%d.%d" % sys.version_info[:2])'
    try:
        done = subprocess.run([path, '-I', '-S', '-c', code], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.decode().split()
    return words[1] if done.returncode == 0 and words[:1] == ['cpython'] else None


def paths(number):
    found_in_path = shutil.which('python' + number)
    own = glob.glob(os.path.expanduser('~/.pyenv/versions/' + number + '.*/bin/python3'))
    return [path for path in [found_in_path, *sorted(own)] if path and version(path) == number]


def candidates():
    yield '/usr/bin/python3'
    for number in KNOWN:
        yield from paths(number)


def found():
    """{version: path}; of the system's own version also another build of it, as 'x.y other'."""
    result = {}
    for path in candidates():
        number = version(path) if path else None
        if number in KNOWN:
            name = number if number not in result else number + ' other'
            if os.path.realpath(path) not in map(os.path.realpath, result.values()):
                result.setdefault(name, path)
    return result


def missing(result):
    return [number for number in KNOWN if number not in result]
