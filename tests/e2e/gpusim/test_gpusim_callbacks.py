#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=240
"""What Kineto asks of CUPTI beside records of device work, on the simulator: callbacks at the entry and exit of
calls, with what they are told; unsubscribing and cuptiFinalize from within one; records of external correlation; and
calls that answer with an error."""
import json
import unittest

import test_gpusim

HEAD = r'''
import json, struct, threading
c, ref = ctypes, ctypes.byref
runtime = c.CDLL('libgpusimrt.so')
cupti = c.CDLL({'12.6': 'libcupti.so.12', '12.4': 'libcupti.so.12', '11.8': 'libcupti.so.11.8'}.get(
    os.environ.get('GPUSIM_CUPTI', ''), 'libcupti.so.13'))
DRIVER, RUNTIME, RESOURCE = 1, 2, 3
ENTER, EXIT = 0, 1
class Data(c.Structure):
    _fields_ = [('site', INT), ('function', c.c_char_p), ('params', P), ('result', c.POINTER(INT)), ('symbol', c.c_char_p),
                ('context', P), ('uid', UINT), ('data', c.POINTER(U64)), ('correlation', UINT)]
CALLBACK = c.CFUNCTYPE(None, P, INT, UINT, c.POINTER(Data))

class Subscriber:
    """Each call back becomes a row of `rows`; then comes `also`."""
    def __init__(self, also=None):
        self.rows, self.handle, self.also, self.thrown = [], P(), also, []
        self.fn = CALLBACK(self.called)
    def subscribe(self):
        return cupti.cuptiSubscribe(ref(self.handle), self.fn, P(77))
    def on(self, domain, cbid=None, enable=1):
        return (cupti.cuptiEnableDomain(enable, self.handle, domain) if cbid is None else
                cupti.cuptiEnableCallback(enable, self.handle, domain, cbid))
    def called(self, user, domain, cbid, at):
        try:
            d = at.contents
            self.rows.append(dict(user=user, domain=domain, cbid=cbid, site=d.site, name=d.function.decode(),
                                  symbol=d.symbol and d.symbol.decode(), context=bool(d.context), uid=d.uid,
                                  id=d.correlation, result=d.result[0] if d.result else None,
                                  params=d.params, thread=threading.get_ident(), data=d.data[0]))
            if self.also:
                self.also(self, domain, cbid, d)
        except Exception as e:
            self.thrown.append(repr(e))
    def take(self):
        assert not self.thrown, self.thrown
        rows, self.rows = self.rows, []
        return rows

u8p = c.POINTER(c.c_uint8)
REQUEST = c.CFUNCTYPE(None, c.POINTER(u8p), c.POINTER(SIZE), c.POINTER(SIZE))
COMPLETE = c.CFUNCTYPE(None, P, UINT, P, SIZE, SIZE)
held, records = {}, []
@REQUEST
def request(buffer, size, most):
    b = (U64 * 8192)()
    held[c.addressof(b)] = b
    buffer[0], size[0], most[0] = c.cast(b, u8p), 65536, 0
SIZES = {39: 24, 4: 40, 5: 40}
@COMPLETE
def complete(context, stream, buffer, size, valid):
    at = P()
    while not cupti.cuptiActivityGetNextRecord(P(buffer), SIZE(valid), ref(at)):
        kind = UINT.from_address(at.value).value
        if kind == 39:
            records.append(('external', *struct.unpack('=IQI', c.string_at(at.value + 4, 16))))
        elif kind in (4, 5):
            records.append(('call', kind, *struct.unpack('=I', c.string_at(at.value + 4, 4)),
                            *struct.unpack('=I', c.string_at(at.value + 32, 4))))
        else:
            records.append(('device', kind, *struct.unpack('=I', c.string_at(at.value + 92, 4)),
                            *struct.unpack('=QQ', c.string_at(at.value + 16, 16))))
def trace(*kinds):
    assert cupti.cuptiActivityRegisterCallbacks(request, complete) == 0
    for kind in kinds:
        assert cupti.cuptiActivityEnable(kind) == 0, kind
def flushed():
    assert cupti.cuptiActivityFlushAll(1) == 0
    rows, records[:] = list(records), []
    return rows
def push(kind, id):
    return cupti.cuptiActivityPushExternalCorrelationId(kind, U64(id))
def pop(kind):
    last = U64(0)
    rc = cupti.cuptiActivityPopExternalCorrelationId(kind, ref(last))
    return rc, last.value
def function(name):
    module, fn = P(), P()
    drv = driver()
    drv.cuModuleLoadData(ref(module), b'anything\0')
    drv.cuModuleGetFunction(ref(fn), module, name)
    return fn
class Dim(c.Structure):
    _fields_ = [('x', UINT), ('y', UINT), ('z', UINT)]
one = Dim(1, 1, 1)
ns = U64(2000)
params = (P * 2)(c.addressof(ns), None)
def launch(fn):
    return runtime.cudaLaunchKernel(fn, one, one, params, SIZE(0), s.handle)
s.kernel(1000)
s.synchronize()
'''


class Callbacks(test_gpusim.Case):
    def program(self, text, **env):
        return self.run_sim(test_gpusim.python(HEAD + text), **env)

    def rows(self, text, **env):
        return json.loads(self.program(text + '\nprint(json.dumps(x.take()))', **env))

    def test_driver_calls(self):
        rows = self.rows('''
x = Subscriber()
assert x.subscribe() == 0
assert x.take() == []
assert x.on(DRIVER) == 0
s.kernel(1000, 'called_kernel'); s.synchronize()''', GPUSIM_TRUTH_API=1)
        launches = [r for r in rows if r['cbid'] == 307]
        self.assertEqual([r['site'] for r in launches], [0, 1])
        for r in launches:
            self.assertEqual((r['name'], r['symbol'], r['domain'], r['user']),
                             ('cuLaunchKernel', 'called_kernel', 1, 77))
            self.assertTrue(r['context'])
            self.assertEqual((r['uid'], r['params']), (1, None))
        self.assertEqual([r['result'] for r in launches], [None, 0])
        call, = [t for t in self.truth() if t.get('api') == 'cuLaunchKernel' and t['correlation'] == launches[0]['id']]
        self.assertEqual(launches[1]['id'], call['correlation'])
        self.assertEqual([r['site'] for r in rows if r['name'] == 'cuStreamSynchronize'], [0, 1])
        self.assertEqual([r['symbol'] for r in rows if r['name'] == 'cuStreamSynchronize'], [None, None])

    def test_every_version(self):
        for version in ('11.8', '12.4', '12.6', '13.0', '13.1'):
            rows = self.rows('x = Subscriber()\nassert x.subscribe() == 0 and x.on(DRIVER, 307) == 0\n'
                             's.kernel(1000); s.synchronize()', GPUSIM_CUPTI=version)
            self.assertEqual([(r['cbid'], r['site']) for r in rows], [(307, 0), (307, 1)])

    def test_runtime_calls_and_driver_calls_within(self):
        """A launch by the runtime is told four times, under one id."""
        rows = self.rows('''
fn = function(b'layer')
x = Subscriber()
assert x.subscribe() == 0 and x.on(DRIVER) == 0 and x.on(RUNTIME) == 0
assert launch(fn) == 0''')
        self.assertEqual([(r['domain'], r['name'], r['site']) for r in rows],
                         [(2, 'cudaLaunchKernel', 0), (1, 'cuLaunchKernel', 0), (1, 'cuLaunchKernel', 1),
                          (2, 'cudaLaunchKernel', 1)])
        self.assertEqual({r['symbol'] for r in rows}, {'layer'})
        self.assertEqual(len({r['id'] for r in rows}), 1)
        self.assertNotEqual(rows[0]['id'], 0)

    def test_only_what_is_on(self):
        self.program('''
x = Subscriber()
assert x.subscribe() == 0 and x.on(DRIVER, 307) == 0
state = UINT(9)
assert cupti.cuptiGetCallbackState(ref(state), x.handle, DRIVER, 307) == 0 and state.value == 1
assert cupti.cuptiGetCallbackState(ref(state), x.handle, DRIVER, 126) == 0 and state.value == 0
s.kernel(1000); s.synchronize()
assert [r['cbid'] for r in x.take()] == [307, 307]
assert x.on(DRIVER, 307, 0) == 0
s.kernel(1000); s.synchronize()
assert x.take() == []
assert cupti.cuptiEnableAllDomains(1, x.handle) == 0
s.kernel(1000)
assert [r['cbid'] for r in x.take() if r['cbid'] == 307] == [307, 307]
assert x.on(DRIVER, enable=0) == 0
s.kernel(1000)
assert x.take() == []
for domain in (3, 4, 5, 6):
    assert x.on(domain) == 0
count, table = SIZE(), c.POINTER(INT)()
assert cupti.cuptiSupportedDomains(ref(count), ref(table)) == 0 and table[:count.value] == [1, 2, 3, 4, 5, 6]''')

    def test_refused(self):
        """As the manual has it: the wrong handle, domain or number is an invalid parameter (1), a second client 39."""
        self.program('''
x, y = Subscriber(), Subscriber()
assert x.subscribe() == 0 and y.subscribe() == 39
other = P(x.handle.value + 8)
for args in ((1, other, DRIVER, 307), (1, x.handle, 0, 307), (1, x.handle, 7, 307), (1, x.handle, DRIVER, 0),
             (1, x.handle, DRIVER, 1 << 20)):
    assert cupti.cuptiEnableCallback(*args) == 1, args
assert cupti.cuptiEnableDomain(1, x.handle, 0) == 1 and cupti.cuptiEnableDomain(1, None, DRIVER) == 1
assert cupti.cuptiEnableAllDomains(1, other) == 1 and cupti.cuptiUnsubscribe(other) == 1
old = P(x.handle.value)
assert cupti.cuptiUnsubscribe(x.handle) == 0 and cupti.cuptiUnsubscribe(old) == 1
assert y.subscribe() == 0 and y.on(DRIVER) == 0
assert cupti.cuptiEnableDomain(1, old, DRIVER) == 1 and cupti.cuptiUnsubscribe(old) == 1
s.kernel(1000)
assert x.take() == [] and len(y.take()) == 2''')

    def test_word_from_entry_to_exit(self):
        self.program('''
def also(x, domain, cbid, d):
    if d.site == ENTER:
        d.data[0] = 1000 + len(x.rows)
x = Subscriber(also)
assert x.subscribe() == 0 and x.on(DRIVER) == 0
for i in range(3):
    s.kernel(1000)
rows = x.take()
assert [r['data'] for r in rows if r['site'] == EXIT] == [1001, 1003, 1005], rows''')

    def test_which_context(self):
        rows = self.rows('''
other = Device(1)
other.use()
t = Stream(other)
x = Subscriber()
assert x.subscribe() == 0 and x.on(DRIVER, 307) == 0
t.kernel(1000)
d.use()
s.kernel(1000)''', GPUSIM_DEVICES=2)
        self.assertEqual([r['uid'] for r in rows], [2, 2, 1, 1])

    def test_failed_call(self):
        rows = self.rows('''
x = Subscriber()
assert x.subscribe() == 0 and x.on(DRIVER) == 0
assert driver().lib.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, s.handle, None, None) == 400''')
        self.assertEqual([(r['site'], r['result'], r['symbol']) for r in rows], [(0, None, None), (1, 400, None)])
        rows = self.rows('''
x = Subscriber()
assert x.subscribe() == 0 and x.on(RUNTIME) == 0
assert launch(None) == 98''')
        self.assertEqual([(r['site'], r['result'], r['symbol']) for r in rows], [(0, None, None), (1, 98, None)])

    def test_calls_within_a_callback(self):
        """They have records and ids of their own, and are told in their turn."""
        rows = self.rows('''
def also(x, domain, cbid, d):
    if cbid == 307 and d.site == ENTER and len(x.rows) == 1:
        n = INT()
        assert driver().lib.cuDriverGetVersion(ref(n)) == 0
x = Subscriber(also)
trace(4)
assert x.subscribe() == 0 and x.on(DRIVER) == 0
s.kernel(1000); s.synchronize()
calls = [r for r in flushed() if r[0] == 'call' and r[2] in (2, 307)]
assert [r[2] for r in calls] == [2, 307] and calls[0][3] != calls[1][3], calls''')
        self.assertEqual([(r['name'], r['site']) for r in rows][:4],
                         [('cuLaunchKernel', 0), ('cuDriverGetVersion', 0), ('cuDriverGetVersion', 1),
                          ('cuLaunchKernel', 1)])
        self.assertEqual(rows[0]['id'], rows[3]['id'])
        self.assertNotEqual(rows[0]['id'], rows[1]['id'])

    def test_unsubscribe_within(self):
        """At the entry: no exit is told; the next client gets its own."""
        self.program('''
def also(x, domain, cbid, d):
    assert cupti.cuptiUnsubscribe(x.handle) == 0
    assert y.subscribe() == 0 and y.on(DRIVER) == 0
x, y = Subscriber(also), Subscriber()
assert x.subscribe() == 0 and x.on(DRIVER) == 0
s.kernel(1000)
assert [r['site'] for r in x.take()] == [ENTER] and y.take() == []
s.kernel(1000)
assert x.take() == [] and [r['site'] for r in y.take()] == [ENTER, EXIT]''')

    def test_who_comes_during_a_call(self):
        """A call that has begun before is told neither at its exit."""
        self.program('''
x = Subscriber()
trace(4)
s.kernel(3_000_000_000)
calls = threading.Event()
def wait():
    calls.set()
    s.synchronize()
t = threading.Thread(target=wait)
t.start(); calls.wait(); time.sleep(.5)  # it is in there
assert x.subscribe() == 0 and x.on(DRIVER) == 0
t.join()
assert x.take() == []
s.synchronize()
assert [r['site'] for r in x.take()] == [ENTER, EXIT]''')

    def test_other_threads(self):
        self.program('''
x = Subscriber()
assert x.subscribe() == 0 and x.on(DRIVER, 307) == 0
def work():
    d.use()
    mine = Stream(d)
    for i in range(50):
        mine.kernel(1000)
    mine.synchronize()
threads = [threading.Thread(target=work) for i in range(4)]
for t in threads: t.start()
idents = {t.ident for t in threads}
for t in threads: t.join()
rows = x.take()
assert len(rows) == 400 and len({r['id'] for r in rows}) == 200
for r in rows: assert r['thread'] in idents
''')

    def test_finalize_within(self):
        """Kineto's way (TEARDOWN_CUPTI=1, CuptiActivityApi.cpp and CuptiCallbackApi.cpp of pytorch/kineto): a thread
        enables both domains, forces a flush and waits; whoever comes to an exit of the runtime's unsubscribes and calls
        cuptiFinalize. Twice, with a session of records before each."""
        self.program('''
torn, over = threading.Event(), []
def also(x, domain, cbid, d):
    if domain == RUNTIME and d.site == EXIT and asked.is_set() and not torn.is_set():
        over.append((cupti.cuptiUnsubscribe(x.handle), cupti.cuptiFinalize()))
        torn.set()
def teardown():
    assert x.on(RUNTIME) == 0 and x.on(DRIVER) == 0
    assert cupti.cuptiActivityFlushAll(1) == 0
    asked.set()
    assert torn.wait(60)
    assert x.on(RUNTIME, enable=0) == 1 and x.on(DRIVER, enable=0) == 1
fn = function(b'layer')
for session in range(2):
    asked = threading.Event()
    torn.clear()
    x = Subscriber(also)
    assert x.subscribe() == 0
    trace(10, 5, 39)
    assert push(3, 5) == 0
    for i in range(10):
        assert launch(fn) == 0
    runtime.cudaDeviceSynchronize()
    t = threading.Thread(target=teardown)
    t.start()
    assert asked.wait(60)
    assert launch(fn) == 0
    t.join()
    rows = records[:]
    records[:] = []
    assert sum(r[0] == 'device' for r in rows) == 10, rows
    assert pop(3)[0] == 18
    # Everything is off: nothing is recorded or told.
    n = len(x.rows)
    assert launch(fn) == 0 and flushed() == [] and len(x.rows) == n
assert over == [(0, 0), (0, 0)]''')


class External(test_gpusim.Case):
    def program(self, text, **env):
        return self.run_sim(test_gpusim.python(HEAD + text), **env)

    def test_record_before_each_call(self):
        for version in ('11.8', '12.4', '12.6', '13.0', '13.1'):
            self.program('''
trace(4, 39)
s.kernel(1000)
assert push(3, 7 << 40) == 0 and push(4, 9) == 0 and push(3, 8) == 0
s.kernel(1000)
assert pop(3) == (0, 8)
s.kernel(1000)
assert pop(3) == (0, 7 << 40) and pop(4) == (0, 9)
s.kernel(1000)
rows = flushed()
ids = [r[3] for r in rows if r[0] == 'call']
assert len(ids) == 4 and len(set(ids)) == 4, rows
assert rows == [('call', 4, 307, ids[0]),
                ('external', 3, 8, ids[1]), ('external', 4, 9, ids[1]), ('call', 4, 307, ids[1]),
                ('external', 3, 7 << 40, ids[2]), ('external', 4, 9, ids[2]), ('call', 4, 307, ids[2]),
                ('call', 4, 307, ids[3])], rows''', GPUSIM_CUPTI=version)

    def test_leads_to_the_kernel(self):
        """By the call's id, which the kernel carries: what torch.profiler does."""
        self.program('''
fn = function(b'layer')
trace(5, 10, 39)
for i in range(20):
    assert push(3, 100 + i) == 0
    assert launch(fn) == 0
    assert pop(3) == (0, 100 + i)
runtime.cudaDeviceSynchronize()
rows = flushed()
outer, operators = {}, []
for r in rows:  # as Kineto reads: what belongs to a kernel has come before it
    if r[0] == 'external':
        outer[r[3]] = r[2]
    elif r[0] == 'device':
        operators.append(outer[r[2]])
assert operators == list(range(100, 120)), rows''')

    def test_only_with_the_kind_and_the_calls_record(self):
        self.program('''
trace(5, 10)
fn = function(b'layer')
assert push(3, 1) == 0
assert launch(fn) == 0
assert cupti.cuptiActivityDisable(5) == 0 and cupti.cuptiActivityEnable(39) == 0
assert launch(fn) == 0
runtime.cudaDeviceSynchronize()
assert [r[0] for r in flushed() if r[0] == 'external'] == []
assert cupti.cuptiActivityEnable(5) == 0 and cupti.cuptiActivityEnableRuntimeApi(211, 0) == 0
assert launch(fn) == 0
assert [r for r in flushed() if r[0] != 'device'] == []
assert cupti.cuptiActivityEnableRuntimeApi(211, 1) == 0
assert launch(fn) == 0
assert [r[0] for r in flushed() if r[0] != 'device'] == ['external', 'call']''')

    def test_each_thread_has_its_own(self):
        self.program('''
trace(4, 39)
assert push(3, 1) == 0
seen = []
def work():
    seen.append(pop(3))
    d.use()
    s.kernel(1000)
    seen.append(push(3, 2))
    s.kernel(1000)
t = threading.Thread(target=work)
t.start(); t.join()
assert seen == [(18, 0), 0], seen
assert pop(3) == (0, 1) and pop(3) == (18, 0)
assert [r[2] for r in flushed() if r[0] == 'external'] == [2]''')

    def test_finalize_forgets_those_of_all_threads(self):
        self.program('''
assert push(3, 1) == 0
t = threading.Thread(target=cupti.cuptiFinalize)
t.start(); t.join()
assert pop(3) == (18, 0)
assert push(3, 2) == 0 and pop(3) == (0, 2)''')

    def test_deep(self):
        self.program('''
for i in range(10000):
    assert push(5, i) == 0
for i in reversed(range(10000)):
    assert pop(5) == (0, i)
assert cupti.cuptiActivityPopExternalCorrelationId(5, None) == 18
assert push(5, 1) == 0 and cupti.cuptiActivityPopExternalCorrelationId(5, None) == 0''')

    def test_refused(self):
        """An unknown kind before everything else, as the real library without a driver answers too."""
        self.program('''
for kind in (0, 6, 100, -1):
    assert push(kind, 1) == 1 and pop(kind)[0] == 1
for kind in range(1, 6):
    assert pop(kind) == (18, 0)''')

    def test_pushed_at_the_entry(self):
        """By a callback, which pops at the exit: HPCToolkit's way (src/hpcrun/gpu/api/nvidia/cupti-api.c)."""
        self.program('''
def also(x, domain, cbid, d):
    if d.site == ENTER:
        assert push(1, 500 + d.correlation) == 0
    else:
        assert pop(1) == (0, 500 + d.correlation)
x = Subscriber(also)
trace(4, 39)
assert x.subscribe() == 0 and x.on(DRIVER, 307) == 0
s.kernel(1000); s.kernel(1000); s.synchronize()
x.take()
rows = [r for r in flushed() if r[0] == 'external']
assert len(rows) == 2, rows
for r in rows: assert r[2] == 500 + r[3]''')


class Others(test_gpusim.Case):
    def test_answers(self):
        self.run_sim(test_gpusim.python(HEAD + '''
n = UINT(0)
assert cupti.cuptiGetContextId(d.ctx, ref(n)) == 0 and n.value == 1
assert cupti.cuptiGetDeviceId(d.ctx, ref(n)) == 0 and n.value == 0
assert cupti.cuptiGetContextId(P(8), ref(n)) == 3
name = c.c_char_p()
for domain, cbid, text in ((2, 504, b'__cudaGetKernel_v13000'), (2, 505, b'__cudaLaunchKernel_v13000'),
                           (2, 506, b'__cudaLaunchKernel_ptsz_v13000'), (1, 307, b'cuLaunchKernel')):
    assert cupti.cuptiGetCallbackName(domain, cbid, ref(name)) == 0 and name.value == text
assert cupti.cuptiGetCallbackName(3, 1, ref(name)) == 1
assert cupti.cuptiGetResultString(18, ref(name)) == 0 and name.value == b'CUPTI_ERROR_QUEUE_EMPTY'
assert cupti.cuptiActivityEnableCudaEventDeviceTimestamps(1) == 0'''))

    def test_clock_of_a_client(self):
        """Stamps are that clock's reading at the moment, seconds later too, and also when it is registered again, as
        Kineto does for each session; lengths are its ticks."""
        out = self.run_sim(test_gpusim.python(HEAD + '''
clock = c.CDLL('gpusim-otherclock.so').other_clock  # two ticks per ns of CLOCK_MONOTONIC
offset = max(time.time_ns() - time.monotonic_ns() for i in range(100))
trace(10)
for i in range(4):
    assert cupti.cuptiActivityRegisterTimestampCallback(clock) == 0
    time.sleep(.5)
    s.kernel(1_000_000); s.synchronize()
for kind, number, correlation, start, end in flushed():
    print(correlation, start // 2 + offset, end - start)'''))
        truth = {r['correlation']: r['start_ns'] for r in self.truth('kernel')}
        rows = [tuple(map(int, line.split())) for line in out.splitlines()]
        self.assertEqual(len(rows), 4)
        for correlation, start, ticks in rows:
            self.assertLess(abs(start - truth[correlation]), 100_000)
            self.assertLess(abs(ticks - 2_000_000), 200)

    def test_what_is_absent_is_counted(self):
        self.run_sim(test_gpusim.python(HEAD + '''
for i in range(3):
    assert cupti.cuptiProfilerBeginSession(None) == 27
assert cupti.cuptiProfilerHostGetBaseMetrics(None) == 27'''))
        told = {r['missing']: r['calls'] for r in self.truth() if 'missing' in r and 'calls' in r}
        self.assertEqual(told, {'cuptiProfilerBeginSession': 3, 'cuptiProfilerHostGetBaseMetrics': 1})


if __name__ == '__main__':
    unittest.main()
