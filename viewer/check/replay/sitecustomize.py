# SPDX-License-Identifier: Apache-2.0
"""Paces torch's DataLoader as the GPU of a recorded run would. `gpustarve check --replay` puts a
folder with this file, `plan` and room for results first on PYTHONPATH, so that site imports it in
the place of the program's own sitecustomize, which it then imports, or fails as if there were none.

plan holds, in ns, how long each step of the recorded run took without its waits for the loader (a
line each, begun again at its end). Between two batches that long passes before the next is asked
for; what next() takes beyond is a wait. In the file `took.<pid>` stands, for each step, "held
waited". Processes that this one forks or that multiprocessing starts are left alone, but that
look.py looks at loader workers while the trainer waits for them."""
import sys


def _forget(here):
    sys.path[:] = [p for p in sys.path if p != here]
    sys.path_importer_cache.pop(here, None)
    import os
    rest = os.environ.get('PYTHONPATH', '').split(os.pathsep)
    if rest[0] == here and (len(rest) == 1 or rest[1:] == ['']):
        del os.environ['PYTHONPATH']
    elif rest[0] == here:
        os.environ['PYTHONPATH'] = os.pathsep.join(rest[1:])


class _Pace(object):
    """What passes between batches, and what is written down of it."""

    SPIN_NS = 200000  # sleeps end late; the last of a wait is spent looking at the clock

    def __init__(self, here, look):
        import atexit
        import os
        import threading
        import time
        self.look = look
        self.os, self.sleep, self.now = os, time.sleep, time.monotonic_ns
        self.pid, self.thread = os.getpid(), threading.get_ident
        self.busy = None  # thread in next(): an inner loader is part of the outer one's batch
        with open(here + '/plan') as f:
            self.plan = [int(line) for line in f]
        self.path = '%s/took.%d' % (here, self.pid)
        self.steps, self.rows = 0, []
        self.last = self.ended = None  # when the last batch came; when an epoch was over
        atexit.register(self.flush)

    def flush(self):
        if self.os.getpid() == self.pid and self.rows:
            rows, self.rows = self.rows, []
            with open(self.path, 'a') as f:
                f.write(''.join('%d %d\n' % row for row in rows))

    def hold(self):
        """The GPU's time for the step; the program's own time counts towards it."""
        if self.last is None:
            return
        due = self.last + self.plan[self.steps % len(self.plan)]
        left = due - self.now()
        while left > 0:
            if left > self.SPIN_NS:
                self.sleep((left - self.SPIN_NS) / 1e9)
            left = due - self.now()

    def came(self, asked):
        """Making the loader anew between two epochs is time in which the GPU has nothing either."""
        now = self.now()
        if self.last is not None:
            waited = now - asked
            if self.ended is not None:
                waited += max(0, asked - max(self.ended, self.last + self.held))
            self.rows.append((max(0, now - self.last - waited), waited))
            self.steps += 1
        self.last, self.ended = now, None
        if len(self.rows) >= 64:
            self.flush()

    def next(self, original, iterator):
        if self.os.getpid() != self.pid or self.busy == self.thread():
            return original(iterator)
        self.busy = self.thread()
        try:
            self.held = self.plan[self.steps % len(self.plan)]
            if self.ended is None:
                self.hold()
            asked = self.now()
            self.look.awaits(iterator)
            try:
                batch = original(iterator)
            except StopIteration:
                self.ended = self.now()
                raise
            finally:
                self.look.over()
            self.came(asked)
            return batch
        finally:
            self.busy = None


class _Finder(object):
    """Finds torch's loader module once, the way the others do, and paces it after it ran."""

    def __init__(self, pace):
        self.pace = pace

    def find_spec(self, name, path=None, target=None):
        if name != 'torch.utils.data.dataloader':
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = hasattr(finder, 'find_spec') and finder.find_spec(name, path, target)
            if spec:
                self.follow(spec.loader)
                return spec
        return None

    def follow(self, loader):
        execute, pace = loader.exec_module, self.pace

        def exec_module(module):
            execute(module)
            base = module._BaseDataLoaderIter
            original = base.__next__

            def __next__(iterator):
                return pace.next(original, iterator)

            base.__next__ = __next__
            pace.look.follow(module)

        loader.exec_module = exec_module


def _start():
    here = __file__.rpartition('/')[0]
    import multiprocessing
    if multiprocessing.parent_process() is None:
        from gpustarve_look import Look
        sys.meta_path.insert(0, _Finder(_Pace(here, Look(here))))
    _forget(here)


_start()
del sys.modules['sitecustomize']
import sitecustomize  # noqa: E402,F401  the program's own; where there is none, site expects this ImportError
