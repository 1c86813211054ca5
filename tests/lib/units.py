# SPDX-License-Identifier: Apache-2.0
"""The units of systemd that are installed, as scripts/systemd has them."""
import os
import re
import shutil
import tempfile

import gs

FOLDER = os.path.join(gs.SOURCE, 'scripts', 'systemd')


def text(name):
    """As it is installed beside the programs of this build."""
    with open(os.path.join(FOLDER, name + '.service.in'), encoding='utf-8') as f:
        return f.read().replace('@GS_BINDIR@', os.path.dirname(gs.CLI))


def capabilities(name):
    """What it may have of root's, as setpriv calls them."""
    given = re.search(r'^CapabilityBoundingSet=(.*)$', text(name), re.M)[1]
    return [word.removeprefix('CAP_').lower() for word in given.split()]


def check(name, exposure):
    """systemd takes it, with no word to say, and thinks that it gives away no more than @exposure tenths."""
    if not shutil.which('systemd-analyze'):
        gs.left_out('no systemd-analyze')
        return
    with tempfile.TemporaryDirectory() as where:
        path = os.path.join(where, name + '.service')
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text(name))
        said = gs.command(['systemd-analyze', 'verify', '--man=no', path]).stderr.decode()
        gs.equal([line for line in said.splitlines() if name + '.service' in line], [], f'{name}: what systemd says of it')
        done = gs.command(['systemd-analyze', 'security', '--offline=true', f'--threshold={exposure}', path])
        if b'nrecognized option' not in done.stderr:
            gs.equal(done.returncode, 0, f'{name}: {done.stdout.decode()[-300:]}')
