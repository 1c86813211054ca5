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
NOBODYS = (0, '', '')  # a line of torch or of another library
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
    """The innermost frame of the user's own below torch's fetch; NOBODYS: none of them is."""
    own = None
    while frame:
        name = frame.f_code.co_filename
        if name.endswith(FETCH):
            return own or NOBODYS
        if not own and _own(name, installed):
            own = (frame.f_lineno, frame.f_code.co_name, name)
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
    """What a thread is blocked in; None: it runs, or could."""
    try:
        with open('/proc/self/task/%d/syscall' % thread) as f:
            number = f.read().split()[0]
    except (OSError, IndexError):
        return 'input.unknown'
    if number == 'running':
        return None
    return 'input.pipeline' if number == str(FUTEX) else 'input.fetch'


class Look(object):
    """What the trainer tells its workers, and the thread that looks."""

    def __init__(self, here):
        self.state = mmap.mmap(-1, mmap.PAGESIZE)  # shared with whom we fork
        self.here, self.trainer, self.making = here, os.getpid(), False
        self.looking = None  # pid of the process whose thread we are
        self.seen, self.flushed = {}, 0  # ns by class and place
        self.owed, self.blocks = {}, {}  # by place: ns not yet counted, what it blocked in last
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
            awaited = struct.unpack_from('<H', self.state, 0)[0] == mine
            if awaited or self.owed:
                place = _place(sys._current_frames().get(maker[0]), installed) if awaited else None
                self.count(awaited, place, now - at, then, sched, maker[1])
            if self.seen and now - self.flushed > FLUSH_NS:
                self.flush(name)
            at = now

    def count(self, awaited, place, ns, then, sched, thread):
        """A thread that runs, or could, is counted late: by a tick, or when it gets its CPU. What is
        missing of its time is owed until the counters bring it, or it is seen to block."""
        if not then or not sched:
            self.add('input.unknown', place, ns)
            return
        cpu, delay = sched[0] - then[0], sched[1] - then[1]
        late_cpu, late_delay = max(0, cpu - ns), max(0, delay - max(0, ns - cpu))
        cpu, delay = cpu - late_cpu, delay - late_delay
        for owing, owed in list(self.owed.items()):
            by_cpu = min(owed, late_cpu)
            by_delay = min(owed - by_cpu, late_delay)
            late_cpu, late_delay = late_cpu - by_cpu, late_delay - by_delay
            self.add('input.prep', owing, by_cpu)
            self.add('input.cpu_starved', owing, by_delay)
            self.owed[owing] = owed - by_cpu - by_delay
        blocked = _blocked(thread)
        if blocked:
            for owing, owed in self.owed.items():
                self.add(self.blocks.get(owing, 'input.unknown'), owing, owed)
            self.owed = {}
        if not awaited:
            return
        left = ns - cpu - delay
        if not place:
            self.add('input.unknown', None, ns)
            return
        self.add('input.prep', place, cpu)
        self.add('input.cpu_starved', place, delay)
        if blocked:
            self.blocks[place] = blocked
            self.add(blocked, place, left)
        elif left:
            self.owed[place] = self.owed.get(place, 0) + left

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
                    line, function, file = place or NOBODYS
                    text = [t.replace('\t', '?').replace('\n', '?')
                            for t in (function, file and os.path.abspath(file))]
                    f.write('%s %d %d\t%s\t%s\n' % (kind, ns, line, *text))
        except OSError:
            pass
