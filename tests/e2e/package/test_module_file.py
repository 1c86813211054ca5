#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The module file by Debian's Environment Modules: load and unload, from a prefix of any name and by a link in a folder of
the site's; below /usr nothing comes before what is on the path already."""
import os
import shlex
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

INIT = '/usr/share/modules/init/sh'
FILES = 'share/gpustarve/modulefiles'


def installed(where, name):
    """A prefix with the module file, as an installation lays it, and the program."""
    prefix = os.path.join(where, name)
    done = gs.command(['cmake', f'-DCMAKE_INSTALL_PREFIX={prefix}', '-P', gs.BUILD + '/scripts/modules/cmake_install.cmake'])
    gs.equal(done.returncode, 0, f'cmake: {done.stderr.decode()}')
    os.mkdir(prefix + '/bin')
    os.symlink(gs.BUILD + '/bin/gpustarve', prefix + '/bin/gpustarve')
    return prefix


def module(lines, **env):
    """What a shell says that runs these lines."""
    done = gs.command(['sh', '-c', f'. {INIT}\n' + '\n'.join(lines)],
                      env=gs.environment(**{'PATH': '/usr/bin:/bin', 'MANPATH': '/site/man', **env}))
    gs.equal(done.returncode, 0, f'{lines}: {done.stderr.decode()}')
    return done.stdout.decode().splitlines(), done.stderr.decode()


def test_prefix(where):
    prefix = installed(where, 'a prefix')
    use = f'module use {shlex.quote(os.path.join(prefix, FILES))}'
    said, told = module([use, 'module load gpustarve', 'command -v gpustarve', 'gpustarve --version', 'echo "$MANPATH"',
                         'module help gpustarve', 'module unload gpustarve', 'echo "$PATH:"', 'echo "$MANPATH"'])
    gs.equal(said[0], prefix + '/bin/gpustarve', f'after load; {told}')
    gs.check(said[1].startswith('gpustarve '), f'version: {said[1]}')
    gs.check(said[2].startswith(prefix + '/share/man:') and '/site/man' in said[2], f'MANPATH: {said[2]}')
    gs.check('gpustarve run --' in told, f'module help: {told}')
    gs.check(prefix not in ''.join(said[-2:]) and '/site/man' in said[-1], f'after unload: {said}')


def test_link(where):
    """A site keeps all its module files in one folder, under names of its own."""
    prefix = installed(where, 'linked')
    version, = os.listdir(os.path.join(prefix, FILES, 'gpustarve'))
    site = os.path.join(where, 'site', 'profilers')
    os.makedirs(site)
    os.symlink(os.path.join('..', '..', 'linked', FILES, 'gpustarve', version), site + '/starve')
    os.symlink('starve', site + '/default-one')
    for name in 'starve', 'default-one':
        said, told = module([f'module use {where}/site', f'module load profilers/{name}', 'command -v gpustarve'])
        gs.equal(said, [prefix + '/bin/gpustarve'], f'{name}: {told}')


def test_packages(where):
    """What is installed below /usr is on everybody's path, behind what they put before it."""
    folder = os.path.join(installed(where, 'other'), FILES, 'gpustarve')
    version, = os.listdir(folder)
    with open(os.path.join(folder, version), encoding='utf-8') as f:
        text = f.read()
    gs.check('"/usr"' in text, 'the rule is there')
    os.makedirs(f'{where}/{FILES}/gpustarve')
    with open(f'{where}/{FILES}/gpustarve/1', 'w', encoding='utf-8') as f:
        f.write(text.replace('"/usr"', f'"{where}"'))
    said, told = module([f'module use {where}/{FILES}', 'module load gpustarve', 'echo "$PATH"', 'echo "$MANPATH"'])
    gs.check(where not in ''.join(said), f'nothing is changed: {said} {told}')


with gs.scratch() as scratch:
    if not os.path.exists(INIT):
        gs.skip('no environment-modules')
    for test in test_prefix, test_link, test_packages:
        place = os.path.join(os.path.realpath(scratch), test.__name__)
        os.mkdir(place)
        test(place)
gs.finish()
