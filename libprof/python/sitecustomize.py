# SPDX-License-Identifier: Apache-2.0
"""How gpustarve comes into a Python process: libprof puts this folder first on PYTHONPATH, so that
site imports this file in the place of the program's own sitecustomize. It wipes its traces off
sys.path and the environment, asks to be called when torch's DataLoader and profilers are imported,
and then imports the program's own sitecustomize, or fails as if there were none. Runs in any Python 3;
most have sitecustomize.abi3.so do the same in its place, in less time (fastsite.c)."""
import sys


def _finder(here):
    file = here + '/waiting.py'
    own = {'__name__': 'sitecustomize', '__file__': file}
    with open(file, 'rb') as f:
        exec(compile(f.read(), file, 'exec', dont_inherit=True), own)
    return own['_Waiting'](here)


def _start(here, environ):
    sys.path[:] = [p for p in sys.path if p != here]
    sys.path_importer_cache.pop(here, None)
    first, _, rest = environ.get('PYTHONPATH', '').partition(':')
    if first == here:
        if rest:
            environ['PYTHONPATH'] = rest
        else:
            del environ['PYTHONPATH']
    sys.meta_path.insert(0, _finder(here))


try:
    _start(__file__.rpartition('/')[0], sys.modules['os'].environ)
except Exception:
    pass
del sys.modules['sitecustomize']
import sitecustomize  # noqa: E402,F401  the program's own
