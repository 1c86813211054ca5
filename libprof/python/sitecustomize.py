# SPDX-License-Identifier: Apache-2.0
"""How gpustarve comes into a Python process: libprof puts this folder first on PYTHONPATH, so that
site imports this file in the place of the program's own sitecustomize. It wipes its traces off
sys.path and the environment, asks to be called when torch's DataLoader and profilers are imported,
and then imports the program's own sitecustomize, or fails as if there were none. Runs in any Python 3.
Every Python of a job runs it: what need not be here is in waiting.py, and sitecustomize.abi3.so
(fastsite.c) spares what importlib would do to run it."""
import sys


class _Waiting(object):
    """Is asked for each module that is imported; the first of these brings the rest (waiting.py)."""

    NAMES = ('torch.autograd.profiler', 'torch.utils.data.dataloader', 'jax._src.profiler',
             'tensorflow.python.profiler.profiler_v2', 'triton.profiler.profile')

    def __init__(self, here):
        self.here = here

    def find_spec(self, name, path=None, target=None):
        if name in self.NAMES:
            rest = self.replaced()
            return rest and rest.find_spec(name, path, target)

    def replaced(self):
        file = self.here + '/waiting.py'
        own = {'__name__': 'sitecustomize', '__file__': file}
        try:
            with open(file, 'rb') as f:
                exec(compile(f.read(), file, 'exec', dont_inherit=True), own)
            found = own['_Waiting'](self.here)
            sys.meta_path[sys.meta_path.index(self)] = found
            return found
        except Exception:
            return None


def _start(here, environ):
    sys.path[:] = [p for p in sys.path if p != here]
    sys.path_importer_cache.pop(here, None)
    first, _, rest = environ.get('PYTHONPATH', '').partition(':')
    if first == here:
        if rest:
            environ['PYTHONPATH'] = rest
        else:
            del environ['PYTHONPATH']
    sys.meta_path.insert(0, _Waiting(here))


try:
    _start(__file__.rpartition('/')[0], sys.modules['os'].environ)
except Exception:
    pass
del sys.modules['sitecustomize']
import sitecustomize  # noqa: E402,F401  the program's own
