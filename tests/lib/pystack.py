# SPDX-License-Identifier: Apache-2.0
"""Run by test_pystack.py under every Python that is here: reads Python stacks with
libprof's reader, of its own threads and of children, and compares them with what Python says of
itself. Prints failures and figures as one line of JSON. No import of gs: it runs anywhere.

    python3 pystack.py PROBE MODE"""
import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

ROOM = 1 << 16
FRAMES = 64
PROBE = ctypes.CDLL(sys.argv[1]) if len(sys.argv) > 1 and os.path.exists(sys.argv[1]) else None
FUNCTIONS = {'probe_note': (ctypes.c_char_p, []),
             'probe_walk': (ctypes.c_long, [ctypes.c_int, ctypes.c_char_p, ctypes.c_long]),
             'probe_many': (ctypes.c_long, [ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
                                            ctypes.c_char_p, ctypes.c_long]),
             'probe_times': (ctypes.c_int, [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]),
             'probe_in_runtime': (ctypes.c_int, [ctypes.c_ulong])}
failures = []
figures = {}


def check(ok, what):
    if not ok:
        failures.append(what)
    return ok


def equal(got, want, what):
    return check(got == want, '%s: got %r, want %r' % (what, got, want))


def declare():
    for name, (result, arguments) in FUNCTIONS.items():
        function = getattr(PROBE, name)
        function.restype, function.argtypes = result, arguments


def walk(tid):
    """[(function, file, line)], innermost first, generators and coroutines with a star; a number below 0 is the error."""
    text = ctypes.create_string_buffer(ROOM)
    n = PROBE.probe_walk(tid, text, ROOM)
    return n if n < 0 else parse(text.value.decode())


def parse(text):
    frames = [line.split('\t') for line in text.split('\n')] if text else []
    return [(f + '*' * (rest == ['g']), path, int(line)) for f, path, line, *rest in frames]


def many(tid, walks, us):
    """Stacks of so many walks, and how many were torn."""
    torn = ctypes.c_int()
    room = walks * 4096
    text = ctypes.create_string_buffer(room)
    n = PROBE.probe_many(tid, walks, us, ctypes.byref(torn), text, room)
    check(n >= 0, 'thread %d is not there: %d' % (tid, n))
    return [parse(one) for one in text.value.decode().split('\n--\n')[:-1]], torn.value


def names(stack):
    return [f.split('.')[-1].rstrip('*') for f, _, _ in stack]


def python_says(ident):
    """The same from the interpreter; lines None become 0."""
    frame = sys._current_frames()[ident]
    said = []
    while frame and len(said) < FRAMES:
        code = frame.f_code
        star = '*' if code.co_flags & 0x2a0 else ''
        said.append((getattr(code, 'co_qualname', code.co_name) + star, code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    return said


# ---- threads that are blocked, in many ways ----

class Gate:
    """Where threads stop until they may go."""

    def __init__(self):
        self.go = threading.Event()
        self.lock = threading.Lock()

    def stop(self):
        self.go.wait()


gate = Gate()


def plain():
    gate.stop()


def over_lines():
    return (1 +
            (gate.stop() or 2) +
            3)


def recursive(n):
    if n:
        return recursive(n - 1)
    return gate.stop()


def generator():
    yield 1
    gate.stop()
    yield 2


def by_generator():
    return list(generator())


def from_generator():
    yield from generator()


def nested():
    def inner():
        return [gate.stop() for _ in range(1)]
    return max(inner(), key=lambda x: x is None)


def by_lambda():
    return sorted([1], key=lambda _: gate.stop() or 0)


def in_except():
    try:
        raise ValueError
    except ValueError:
        try:
            pass
        finally:
            gate.stop()


class Ünïcode:
    def método(self):
        with gate.lock:
            gate.stop()

    def __getattr__(self, name):
        return gate.stop()


def by_attribute():
    return Ünïcode().日本


async def coroutine():
    async def inner():
        gate.stop()
    await inner()


def by_coroutine():
    try:
        coroutine().send(None)
    except StopIteration:
        pass


def made_by_exec():
    scope = {'gate': gate}
    source = '\n' * 300 + 'def f(x):\n' + ''.join('    x += %d\n' % i for i in range(3000)) + '    gate.stop()\n'
    exec(compile(source, 'bad\tname\n.py', 'exec'), scope)
    scope['f'](1)


def in_sleep():
    while not gate.go.is_set():
        time.sleep(0.2)


WAYS = [plain, over_lines, lambda: recursive(5), lambda: recursive(200), by_generator,
        lambda: list(from_generator()), nested, by_lambda, in_except, Ünïcode().método, by_attribute,
        by_coroutine, made_by_exec, in_sleep]


RESTS = ('wait', 'in_sleep', 'plain_lock')


def clean(stack):
    return [(f, path.replace('\t', '?').replace('\n', '?'), line) for f, path, line in stack]


def place(t):
    """Where a thread has come to rest, or that it spins; None on the way."""
    stack = python_says(t.ident)
    if 'spin' in names(stack):
        return 'spin'
    with open('/proc/self/task/%d/stat' % t.native_id) as f:
        state = f.read().rpartition(') ')[2][0]
    return stack if state == 'S' and names(stack)[0] in RESTS else None


def start(functions):
    """Threads that have come where they stop, which takes its time where others have the cores."""
    threads = [threading.Thread(target=f, daemon=True) for f in functions]
    for t in threads:
        t.start()
    end, were = time.monotonic() + 60, None
    while time.monotonic() < end:
        time.sleep(0.05)
        now = [place(t) for t in threads]
        if now == were and None not in now:
            break
        were = now
    return threads


def take_times(short, deep):
    ns = (ctypes.c_long * 500)()
    for what, t in (('short', short), ('deep', deep)):
        PROBE.probe_times(t.native_id, 500, ns)
        figures[what] = '%d frames %.1f us' % (len(walk(t.native_id)), sorted(ns)[250] / 1000)


def take_cost():
    """For tests/bench."""
    threads = start([plain, lambda: recursive(200)])
    take_times(*threads)
    listing, holder = (ctypes.c_long * 500)(), (ctypes.c_long * 500)()
    PROBE.probe_list_times(500, listing, holder)
    figures.update(list=sorted(listing)[250] / 1000, holder=sorted(holder)[250] / 1000)
    gate.go.set()


def test_blocked():
    threads = start(WAYS)
    tids = (ctypes.c_int * 256)()
    n = PROBE.probe_threads(tids, 256)
    equal(n, len(threads) + 1, 'threads listed')
    listed = set(tids[:max(n, 0)])
    equal(listed, {t.native_id for t in threads} | {threading.get_native_id()}, 'their tids')
    torn = walks = 0
    for t in threads:
        said = clean(python_says(t.ident))
        equal(walk(t.native_id), said, 'stack of a blocked thread')
        stacks, bad = many(t.native_id, 40, 0)
        torn, walks = torn + bad, walks + 40
        check(all(s == said for s in stacks), 'stack of a blocked thread changed: %r' % said[:2])
    equal(torn, 0, 'torn stacks of blocked threads')
    own = walk(threading.get_native_id())
    equal(names(own)[1:], ['test_blocked', 'main', '<module>'], 'our own stack')
    take_times(threads[0], threads[3])
    figures['blocked'] = walks
    gate.go.set()
    for t in threads:
        t.join(10)
    equal(walk(threads[0].native_id), -3, 'a thread that has ended')


def test_one_after_another():
    """A new thread often has the state and the descriptor of one that has ended, but never its tid."""
    idents, wrong = set(), []
    tids = (ctypes.c_int * 16)()
    for _ in range(200):
        go = threading.Event()
        t = threading.Thread(target=go.wait, daemon=True)
        t.start()
        idents.add(t.ident)
        listed = tids[:max(PROBE.probe_threads(tids, 16), 0)]
        if set(listed) != {t.native_id, threading.get_native_id()}:
            wrong.append((t.native_id, listed))
        go.set()
        t.join(10)
    figures['stale'] = len(wrong)
    check(len(idents) <= 100, 'descriptors of new threads: %d are other ones' % len(idents))
    check(not wrong, 'tids of new threads: %d of 200 are wrong, such as %r' % (len(wrong), wrong[:1]))


# ---- threads that run flat out ----

running = True
WALKS, ROUNDS = 1000, 5
TORN_PCT = 2.5  # of the walks of a round, at most


def leaf(x):
    return x * 3 % 7


def branch_a(x):
    return leaf(x) + leaf(x + 1)


def branch_b(x):
    total = 0
    for i in range(3):
        total += branch_a(i)
    return total + sum(counted(x))


def counted(x):
    for i in range(x % 5):
        yield leaf(i)


def tree(n):
    if n == 0:
        return branch_b(n)
    return tree(n - 1) + (branch_a(n) if n % 2 else branch_b(n))


def spin():
    while running:
        tree(9)


OUTER = ('spin', 'run', '_bootstrap_inner', '_bootstrap')


def stacks_of(function, *arguments):
    """Names of all stacks that there are while function runs, innermost first, down to it."""
    seen = set()

    def note(frame, event, _):
        stack = []
        while event == 'call' and frame.f_code is not stacks_of.__code__:
            stack.append(frame.f_code.co_name)
            frame = frame.f_back
        seen.add(tuple(stack))
    sys.setprofile(note)
    function(*arguments)
    sys.setprofile(None)
    return seen


def lines_of(function):
    code = function.__code__
    return range(code.co_firstlineno, max(line for _, line in dis_lines(code)) + 1)


def dis_lines(code):
    import dis
    return [(a, line) for a, line in dis.findlinestarts(code) if line]


LINES = {f.__name__: lines_of(f) for f in (leaf, branch_a, branch_b, counted, tree, spin)}


def is_possible(stack, known):
    return tuple(names(stack)) in known and \
        all(line == 0 or name not in LINES or line in LINES[name]
            for name, (_, _, line) in zip(names(stack), stack))


def apart():
    """A core for the thread that is looked at and one for the looker, where there are two: on one
    core a thread stands still whenever it is looked at."""
    cores = sorted(os.sched_getaffinity(0))
    return {cores[0]}, {cores[-1]}


def differing_of(thread, stacks):
    """The different ones; on a busy machine the thread may hardly have had its core by now."""
    differing = {tuple(names(s)) for s in stacks}
    end = time.monotonic() + 60
    while len(differing) <= 10 and time.monotonic() < end:
        differing |= {tuple(names(s)) for s in many(thread.native_id, 10, 5000)[0]}
    return differing


def test_running():
    global running
    its, own = apart()
    before = os.sched_getaffinity(0)
    known = {stack + OUTER for stack in stacks_of(tree, 9)} | {OUTER[i:] for i in range(len(OUTER))}
    threads = start([spin])
    os.sched_setaffinity(threads[0].native_id, its)
    os.sched_setaffinity(0, own)
    stacks, torn, wrong, shares = [], 0, [], []
    # On a busy machine no round of the first ones may be left alone.
    while len(shares) < ROUNDS or len(shares) < 4 * ROUNDS and min(shares) > TORN_PCT:
        some, bad = many(threads[0].native_id, WALKS // ROUNDS, 100)
        impossible = [s for s in some if not is_possible(s, known)]
        shares.append(100 * (bad + len(impossible)) * ROUNDS / WALKS)
        stacks, torn, wrong = stacks + some, torn + bad, wrong + impossible
    walks = len(shares) * WALKS // ROUNDS
    figures.update(torn_percent=100 * torn / walks, impossible=len(wrong), running=len(stacks),
                   median_percent=sorted(shares)[len(shares) // 2],
                   such=[names(s) for s in wrong[:2]], lengths=len({len(s) for s in stacks}))
    # A walk is torn where the thread went on in the middle of it. How often the walker loses its
    # core there is the scheduler's; the walker's own share shows in the round that was left alone.
    check(min(shares) <= TORN_PCT, 'torn or impossible stacks of a thread that runs flat out: %s %% in rounds '
          '(%d, %d in all), such as %r' % (shares, torn, len(wrong), wrong[:1]))
    check(len(wrong) <= walks // 50, 'impossible stacks that the walker took for good: %d of %d, such as %r' %
          (len(wrong), walks, wrong[:1]))
    check(len(differing_of(threads[0], stacks)) > 10, 'stacks of a running thread differ')
    running = False
    threads[0].join(10)
    os.sched_setaffinity(0, before)


# ---- the global lock and the collector ----

def test_lock():
    global running
    running = True
    threads = start([spin, spin, plain_lock])
    tids = (ctypes.c_int * 3)(*[t.native_id for t in threads])
    seen = holders(tids)
    with_lock = ctypes.PyDLL(sys.argv[1])  # which keeps the global lock: the others wait for it
    waited = looks = 0
    end = time.monotonic() + 60
    # A waiter looks up every 5 ms, and has no core for that at once on a busy machine: then it is runnable.
    while looks < 300 or waited <= 50 and time.monotonic() < end:
        waited += any(with_lock.probe_waits(tid) == 1 for tid in tids[:2])
        equal(with_lock.probe_waits(tids[2]), 0, 'a lock of the program is none of the runtime')
        looks += 1
    figures.update(held=sum(seen), waited=waited)
    check(seen[0] + seen[1] > 250 and not seen[2], 'holders of the global lock: %r' % seen)
    check(waited > 50, 'a thread that waits for the global lock was seen %d times of %d' % (waited, looks))
    running = False
    gate.lock.release()
    for t in threads:
        t.join(10)


def holders(tids):
    """How often each was seen with the global lock. Nobody has it while who is to take it next has no core."""
    seen, some, end = [0] * len(tids), (ctypes.c_int * len(tids))(), time.monotonic() + 60
    while sum(seen) <= 250 and time.monotonic() < end:
        PROBE.probe_holders(500, 200, tids, some, len(tids))
        seen = [a + b for a, b in zip(seen, some)]
    return seen


def plain_lock():
    gate.lock.acquire()
    gate.lock.acquire()
    gate.lock.release()


def test_collecting():
    seen = []
    gc.callbacks.append(lambda phase, info: seen.append(PROBE.probe_collecting()))
    equal(PROBE.probe_collecting(), 0, 'no collection')
    gc.collect()
    gc.callbacks.pop()
    equal(seen[:1], [1], 'a collection')
    equal(PROBE.probe_collecting(), 0, 'and its end')


# ---- children ----

def blocked_child(ready):
    """Where children stop; the line is told to the parent."""
    ready.send((os.getpid(), threading.get_native_id()))
    ready.recv()


def look_at_child(pid, tid, function, what):
    """The child's stack by the time it is blocked in function."""
    rc = PROBE.probe_open(pid)
    if not equal(rc, 0, '%s: open, %s' % (what, PROBE.probe_note())):
        return []
    end = time.monotonic() + 60
    while time.monotonic() < end:
        stack = walk(tid)
        if not isinstance(stack, int) and function in names(stack) and names(stack)[0] != function:
            return stack
        time.sleep(0.02)
    check(False, '%s: it is not in %s: %r' % (what, function, stack))
    return []


def test_multiprocessing():
    import multiprocessing
    for method in ('fork', 'spawn', 'forkserver'):
        context = multiprocessing.get_context(method)
        mine, theirs = context.Pipe()
        child = context.Process(target=blocked_child, args=(theirs,))
        child.start()
        pid, tid = mine.recv()
        stack = look_at_child(pid, tid, 'blocked_child', method)
        got = names(stack)
        check('test_multiprocessing' not in got, '%s: frames of the parent: %r' % (method, got))
        if method == 'fork':
            equal(got[got.index('blocked_child'):] if got else got,
                  ['blocked_child', 'run', '_bootstrap'], 'fork: the worker\'s frames')
        mine.send(None)
        child.join(10)
    PROBE.probe_open(0)


def fork_by(fork, what):
    """A child by os.fork or by C's, which Python does not know of."""
    r, w = os.pipe()
    there, here = os.pipe()
    threads = start([plain])
    pid = fork()
    if not pid:
        os.write(here, b'.')
        os.close(w)
        os.read(r, 1)
        os._exit(0)
    os.read(there, 1)
    time.sleep(0.05)
    equal(PROBE.probe_open(pid), 0, what + ': open')
    stack = walk(pid)
    equal(names(stack) if not isinstance(stack, int) else stack,
          ['fork_by', 'test_fork', 'main', '<module>'], what + ': its only thread')
    tids = (ctypes.c_int * 16)()
    equal(PROBE.probe_threads(tids, 16), 1, what + ': threads')
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    check(isinstance(walk(pid), int), what + ': a child that is gone')
    PROBE.probe_open(0)
    for fd in (r, w, there, here):
        os.close(fd)
    gate.go.set()
    threads[0].join(10)
    gate.go.clear()


def test_fork():
    gate.go.clear()
    fork_by(os.fork, 'os.fork')
    fork_by(ctypes.PyDLL(None).fork, 'fork of C')


def test_other_python():
    """A child that is another Python than we are, where there is one."""
    other = os.environ.get('PYSTACK_OTHER')
    if not other:
        return
    code = 'import sys\ndef known():\n    sys.stdin.read()\nprint("ready", flush=True)\nknown()\n'
    child = subprocess.Popen([other, '-c', code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    child.stdout.readline()
    equal(PROBE.probe_open(child.pid), 0, 'another Python: open, %s' % PROBE.probe_note())
    check(PROBE.probe_version() >> 16 != sys.hexversion >> 16, 'another Python: version')
    stack, end = walk(child.pid), time.monotonic() + 60
    while (isinstance(stack, int) or 'known' not in names(stack)) and time.monotonic() < end:
        time.sleep(0.02)
        stack = walk(child.pid)
    equal([(f, line) for f, _, line in stack][-2:] if not isinstance(stack, int) else stack,
          [('known', 3), ('<module>', 5)], 'another Python: stack')
    child.communicate()
    PROBE.probe_open(0)


# ---- processes that may not read as they like ----

def forbid_vm():
    """seccomp: process_vm_readv gives EPERM, as stricter containers have it."""
    class Filter(ctypes.Structure):
        _fields_ = [('code', ctypes.c_ushort), ('jt', ctypes.c_ubyte), ('jf', ctypes.c_ubyte),
                    ('k', ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [('len', ctypes.c_ushort), ('filter', ctypes.POINTER(Filter))]
    rules = (Filter * 4)(Filter(0x20, 0, 0, 0), Filter(0x15, 0, 1, 310), Filter(0x06, 0, 0, 0x00050001),
                         Filter(0x06, 0, 0, 0x7fff0000))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)
    return libc.prctl(22, 2, ctypes.byref(Program(4, rules)), 0, 0) == 0


def by_pipe(thread):
    """Of a thread that has descriptors of its own."""
    if PROBE.probe_leave():
        figures['pipe'] = 'not to be had'
        return
    equal(PROBE.probe_open(0), 0, 'without /proc/PID/mem')
    check(b'by a pipe' in PROBE.probe_note(), 'note: %r' % PROBE.probe_note())
    equal(walk(thread.native_id), python_says(thread.ident), 'by a pipe')


def test_forbidden():
    if not forbid_vm():
        figures['seccomp'] = 'not to be had'
        return
    equal(PROBE.probe_open(0), 0, 'without process_vm_readv')
    check(b'/proc/PID/mem' in PROBE.probe_note(), 'note: %r' % PROBE.probe_note())
    threads = start([plain])
    equal(walk(threads[0].native_id), python_says(threads[0].ident), 'by /proc/PID/mem')
    ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: /proc is root's
    if os.geteuid() == 0:
        os.setresuid(65534, 65534, 65534)
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
    check(PROBE.probe_open(0) < 0, 'without /proc/PID/mem, among the descriptors of the program')
    check(b'cannot be read' in PROBE.probe_note(), 'note: %r' % PROBE.probe_note())
    apart = threading.Thread(target=by_pipe, args=(threads[0],))
    apart.start()
    apart.join(10)
    gate.go.set()
    threads[0].join(10)


MODES = {'threads': [test_one_after_another, test_blocked, test_running, test_lock,
                     test_collecting],
         'children': [test_multiprocessing, test_fork, test_other_python],
         'forbidden': [test_forbidden],
         'cost': [take_cost]}


def main():
    declare()
    equal(PROBE.probe_open(0), 0, 'open: %s' % PROBE.probe_note())
    for test in MODES[sys.argv[2]]:
        if failures:
            break
        try:
            test()
        except Exception:
            check(False, traceback.format_exc())
    print(json.dumps({'failures': failures, 'figures': figures}))


if __name__ == '__main__':
    main()
