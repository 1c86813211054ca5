# SPDX-License-Identifier: Apache-2.0
"""The finder that takes the place of fastsite.c's once a module is asked for that is waited
for. Run by it, in its name."""
import sys


class _Waiting(object):
    """A finder that finds some modules, each once, the way the others do, and runs a file of ours after
    it, which knows the module by a name."""

    FILES = {'torch.utils.data.dataloader': ('shim.py', 'DATALOADER'),
             'torch.serialization': ('saves.py', 'SAVER'),
             'torch.distributed.checkpoint.state_dict_saver': ('saves.py', 'SAVER'),
             'torch.distributed.checkpoint.state_dict_loader': ('saves.py', 'SAVER'),
             'safetensors.torch': ('saves.py', 'SAVER'),
             'lightning.fabric.utilities.cloud_io': ('saves.py', 'SAVER'),
             'lightning_fabric.utilities.cloud_io': ('saves.py', 'SAVER'),
             'deepspeed.runtime.engine': ('saves.py', 'SAVER'),
             'orbax.checkpoint._src.checkpointers.checkpointer': ('saves.py', 'SAVER'),
             'orbax.checkpoint._src.checkpointers.async_checkpointer': ('saves.py', 'SAVER'),
             'torch.autograd.profiler': ('lend.py', 'PROFILER'),
             'jax._src.profiler': ('lend.py', 'PROFILER'),
             'tensorflow.python.profiler.profiler_v2': ('lend.py', 'PROFILER'),
             'triton.profiler.profile': ('lend.py', 'PROFILER')}

    LOADER = {'queue': ('queues.py', 'QUEUE'), 'multiprocessing.queues': ('queues.py', 'QUEUES')}

    def __init__(self, here):
        self.files = dict(self.FILES)
        if sys.modules['os'].environ.get('GPUSTARVE_LOADER') == '1':
            self.files.update(self.LOADER)
        self.here, self.waited_for = here, set(self.files)

    def find_spec(self, name, path=None, target=None):
        if name not in self.waited_for:
            return None
        self.waited_for.discard(name)
        if not self.waited_for and self in sys.meta_path:
            sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = hasattr(finder, 'find_spec') and finder.find_spec(name, path, target)
            if spec:
                try:
                    self.follow(spec.loader)
                except (AttributeError, TypeError):
                    pass  # a loader of another kind: no shim
                return spec
        return None

    def follow(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            del loader.exec_module
            execute(module)
            self.run(module)

        loader.exec_module = exec_module

    def run(self, module):
        try:
            file, key = self.files[module.__name__]
            with open(self.here + '/' + file, 'rb') as f:
                code = compile(f.read(), '<gpustarve>', 'exec', dont_inherit=True)
            exec(code, {'__name__': '_gpustarve', 'HERE': self.here, key: module})
        except Exception:
            if not self.is_own(*sys.exc_info()[1:]):
                raise
            # Not a word: the program's output is its own.

    def is_own(self, error, trace):
        """As in shim.py; what it imports may also fail."""
        while trace.tb_next:
            trace = trace.tb_next
        name = trace.tb_frame.f_code.co_filename
        return bool(error.args) and (name in ('<gpustarve>', __file__) or name.endswith(
            '/ctypes/__init__.py') or name.startswith('<frozen importlib'))
