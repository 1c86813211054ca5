# SPDX-License-Identifier: Apache-2.0
"""Says where a replay's loader is while its batch is waited for. A thread in each forked worker, or in
the trainer where it makes its batches itself, looks a hundred times a second whether that worker's
batch is the one awaited, and if so at which line of the user's own code it is and what the time since
the last look went to: a CPU (input.prep), waiting for one (input.cpu_starved), a lock (input.pipeline),
or anything else that blocks (input.fetch). What it cannot tell is input.unknown.

In the file `seen.<trainer>.<pid>` stand lines "class ns line<tab>function<tab>file", to be added up.
Nothing that goes wrong here may reach the program: then there are no lines, and no more."""
import mmap
import os
import struct
import sys
import threading
import time

PERIOD_S = 0.01
FLUSH_NS = 500000000
NOBODY, TRAINER = 0, 0xffff  # whose batch is awaited; a worker is its number + 1
FUTEX = {'x86_64': 202, 'aarch64': 98}.get(os.uname().machine)
FETCH = os.path.join('torch', 'utils', 'data', '_utils', 'fetch.py')


def _installed():
    import sysconfig
    paths = sysconfig.get_paths()
    return tuple(paths[p] + os.sep for p in ('stdlib', 'platstdlib', 'purelib', 'platlib'))


def _own(name, installed):
    return not (name.startswith('<') or name.startswith(installed) or
                '/dist-packages/' in name or '/site-packages/' in name)


def _place(frame, installed):
    """The innermost frame of the user's own below torch's fetch, else what fetch called."""
    own = called = None
    while frame:
        name = frame.f_code.co_filename
        if name.endswith(FETCH):
            return own or called
        here = (frame.f_lineno, frame.f_code.co_name, name)
        called = here
        if not own and _own(name, installed):
            own = here
        frame = frame.f_back
    return None  # not in a fetch


def _sched(thread):
    """What the kernel counts of a thread: ns on a CPU and waiting for one; None: it does not."""
    try:
        with open('/proc/self/task/%d/schedstat' % thread) as f:
            cpu, delay = f.read().split()[:2]
        return int(cpu), int(delay)
    except (OSError, ValueError):
        return None


def _blocked(thread):
    """What a thread that the kernel counts on no CPU is in. One that runs is counted a tick late."""
    try:
        with open('/proc/self/task/%d/syscall' % thread) as f:
            number = f.read().split()[0]
    except (OSError, IndexError):
        return 'input.unknown'
    if number == 'running':
        return 'input.prep'
    return 'input.pipeline' if number == str(FUTEX) else 'input.fetch'


class Look(object):
    """What the trainer tells its workers, and the thread that looks."""

    def __init__(self, here):
        self.state = mmap.mmap(-1, mmap.PAGESIZE)  # shared with whom we fork
        self.here, self.trainer, self.making = here, os.getpid(), False
        self.looking = None  # pid of the process whose thread we are
        self.seen, self.flushed = {}, 0
        os.register_at_fork(after_in_child=self.forked)

    # -- the trainer

    def follow(self, module):
        """Forks between these two are loader workers."""
        base = module._MultiProcessingDataLoaderIter
        original, look = base.__init__, self

        def __init__(iterator, *args, **kwargs):
            look.making = os.getpid() == look.trainer
            try:
                original(iterator, *args, **kwargs)
            finally:
                look.making = False

        base.__init__ = __init__

    def awaits(self, iterator):
        who = NOBODY
        try:
            if hasattr(iterator, '_task_info'):
                task = iterator._task_info.get(iterator._rcvd_idx)
                who = task[0] + 1 if task and len(task) == 1 else NOBODY
            else:
                who = TRAINER
                self.start(lambda: TRAINER)
        except Exception:
            pass
        struct.pack_into('<H', self.state, 0, who)

    def over(self):
        struct.pack_into('<H', self.state, 0, NOBODY)

    # -- whoever makes batches

    def forked(self):
        if self.making:
            self.making, self.seen = False, {}
            self.start(self.worker)

    @staticmethod
    def worker():
        module = sys.modules.get('torch.utils.data._utils.worker')
        info = module and module.get_worker_info()
        return info.id + 1 if info else None

    def start(self, who):
        if self.looking == os.getpid():
            return
        self.looking = os.getpid()
        name = '%s/seen.%d.%d' % (self.here, self.trainer, self.looking)
        try:
            maker = threading.get_ident(), threading.get_native_id()
            threading.Thread(target=self.run, args=(who, maker, name), daemon=True,
                             name='gpustarve-replay').start()
        except Exception:
            pass

    def run(self, who, maker, name):
        try:
            import atexit
            from multiprocessing import util
            installed = _installed()
            while who() is None:
                time.sleep(PERIOD_S)
            atexit.register(self.flush, name)
            util.Finalize(None, self.flush, args=(name,), exitpriority=100)  # workers have no atexit
            self.look(who(), maker, name, installed)
        except Exception:
            pass

    def look(self, mine, maker, name, installed):
        at, sched = time.monotonic_ns(), _sched(maker[1])
        while True:
            time.sleep(PERIOD_S)
            now, then = time.monotonic_ns(), sched
            sched = _sched(maker[1])
            if struct.unpack_from('<H', self.state, 0)[0] == mine:
                place = _place(sys._current_frames().get(maker[0]), installed)
                self.count(place, now - at, then, sched, maker[1])
            if self.seen and now - self.flushed > FLUSH_NS:
                self.flush(name)
            at = now

    def count(self, place, ns, then, sched, thread):
        if not place or not then or not sched:
            self.add('input.unknown', place, ns)
            return
        cpu = min(ns, sched[0] - then[0])
        delay = min(ns - cpu, sched[1] - then[1])
        self.add('input.prep', place, cpu)
        self.add('input.cpu_starved', place, delay)
        if ns > cpu + delay:
            self.add(_blocked(thread), place, ns - cpu - delay)

    def add(self, kind, place, ns):
        if ns:
            self.seen[kind, place] = self.seen.get((kind, place), 0) + ns

    def flush(self, name):
        seen, self.seen, self.flushed = self.seen, {}, time.monotonic_ns()
        if not seen or os.getpid() != self.looking:
            return
        try:
            with open(name, 'a', encoding='utf-8', errors='backslashreplace') as f:
                for (kind, place), ns in list(seen.items()):
                    line, function, file = place or (0, '', '')
                    text = [t.replace('\t', '?').replace('\n', '?')
                            for t in (function, file and os.path.abspath(file))]
                    f.write('%s %d %d\t%s\t%s\n' % (kind, ns, line, *text))
        except OSError:
            pass
