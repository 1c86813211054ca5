#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""What check --replay puts in the place of sitecustomize leaves site as it was: in a Python without one of its
own, in one that has one, and in one whose own fails."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

REPLAY = os.path.join(gs.SOURCE, 'viewer', 'check', 'replay')
# A Python that has none but what lies in the folders that are named, whatever the distribution added to it.
START = '''
import sys
from importlib.machinery import PathFinder
class Only:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != 'sitecustomize':
            return None
        spec = PathFinder.find_spec(name, [p for p in sys.path if p in %r])
        if spec is None:
            raise ModuleNotFoundError('No module named %%r' %% name, name=name)
        return spec
sys.meta_path.insert(0, Only)
import site
site.execsitecustomize()
import builtins, os
print(getattr(builtins, 'mine', 0), 'sitecustomize' in sys.modules, os.environ.get('PYTHONPATH'))
'''


def started(folders):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(folders))
    done = subprocess.run([gs.PYTHON, '-S', '-c', START % (folders,)], env=env, capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


with gs.scratch() as where:
    ours, own = os.path.join(where, 'ours'), os.path.join(where, 'own')
    for folder in (ours, own):
        os.mkdir(folder)
    shutil.copy(os.path.join(REPLAY, 'sitecustomize.py'), ours)
    shutil.copy(os.path.join(REPLAY, 'look.py'), os.path.join(ours, 'gpustarve_look.py'))
    with open(os.path.join(ours, 'plan'), 'w') as f:
        f.write('1000\n')

    gs.equal(started([]), (0, '0 False \n', ''), 'a Python without one')
    gs.equal(started([ours]), (0, '0 False None\n', ''), 'the same under replay')
    for text, shown in (('import builtins; builtins.mine = 1\n', '1 True'), ('import no_such_module\n', None),
                        ('1 / 0\n', None)):
        with open(os.path.join(own, 'sitecustomize.py'), 'w') as f:
            f.write(text)
        alone, under = started([own]), started([ours, own])
        gs.equal(under[0], alone[0], f'exit status with {text!r}')
        gs.equal(under[1], alone[1].replace(f'{ours}:', ''), f'output with {text!r}')
        gs.equal(under[2].splitlines()[-1:], alone[2].splitlines()[-1:], f'what is said of {text!r}')
        gs.check(not shown or under[1].startswith(shown), f'the own one ran: {under[1]}')
gs.finish()
