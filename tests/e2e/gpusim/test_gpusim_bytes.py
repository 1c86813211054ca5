#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""Bytes on the simulated device move in the order of the stream, also behind what is not over yet: a
host function, a collective that a rank has not come to. Whoever waits finds them moved."""
import unittest

import test_gpusim

# hold() keeps the stream busy until let(): what is submitted behind it is pending.
HEAD = '''
import threading
gate = threading.Event()
def hold(): s.host(gate.wait)
let = gate.set
def pinned(n, fill=0):
    p = d.host_alloc(n)
    ctypes.memset(p, fill, n)
    return p
def at(p, n): return ctypes.string_at(p, n)
BIG = 4 << 20        # too much to move with the lock held
for n in 64, BIG:
    gate.clear()
    a, b, x, y = d.malloc(n), d.malloc(n), pinned(n, 7), pinned(n, 9)
'''


class Bytes(test_gpusim.Case):
    def program(self, text, **env):
        return self.run_sim(test_gpusim.python(HEAD + text), GPUSIM_DATA=1, **env)

    def test_in_the_order_of_the_stream(self):
        """A memset behind two copies, each behind what waits; nothing has moved before it is let go."""
        self.program('''
    hold()
    d.h2d(a, x, n, s)
    d.d2d(b, a, n, s)
    d.memset(a, 5, n, s)
    d.d2h(y, b, n, s)
    e = s.record()
    assert at(y, n) == bytes([9]) * n and not e.done()
    let()
    s.synchronize()
    assert at(y, n) == bytes([7]) * n
    d.d2h(y, a, n, s)
    s.synchronize()
    assert at(y, n) == bytes([5]) * n
''')

    def test_across_streams(self):
        self.program('''
    t = Stream(d)
    hold()
    d.h2d(a, x, n, s)
    t.wait(s.record())
    d.d2h(y, a, n, t)
    let()
    t.synchronize()
    assert at(y, n) == bytes([7]) * n
''')

    def test_events_and_contexts_wait_for_them(self):
        self.program('''
    hold()
    d.h2d(a, x, n, s)
    d.d2h(y, a, n, s)
    e = s.record()
    let()
    e.synchronize()
    assert at(y, n) == bytes([7]) * n
    gate.clear()
    hold()
    d.memset(a, 3, n, s)
    d.d2h(y, a, n, s)
    let()
    d.synchronize()
    assert at(y, n) == bytes([3]) * n
''')

    def test_pageable_memory_is_free_after_the_call(self):
        self.program('''
    gate.clear()
    hold()
    host = bytearray([1]) * 4096
    d.h2d(a, host, 64, s)
    host[:] = bytes(4096)
    let()
    d.d2h(y, a, 64, s)
    s.synchronize()
    assert at(y, 64) == bytes([1]) * 64
''')

    def test_launching_goes_on_meanwhile(self):
        """Another stream comes and goes while there are bytes to move, which are moved all the same."""
        self.program('''
    hold()
    for i in range(20): d.h2d(a, x, n, s)
    d.d2h(y, a, n, s)
    other = Stream(d)
    other.kernel(1000)
    other.synchronize()
    assert at(y, n) == bytes([9]) * n
    let()
    for i in range(100): other.kernel(1000)
    other.synchronize()
    s.synchronize()
    assert at(y, n) == bytes([7]) * n
''')

    def test_a_captured_memset_does_nothing_at_once(self):
        self.program('''
    raw = driver()
    d.memset(a, 1, n)
    raw.cuStreamBeginCapture_v2(s.handle, 2)
    d.memset(a, 2, n, s)
    graph = P()
    raw.cuStreamEndCapture(s.handle, ctypes.byref(graph))
    d.d2h(y, a, n)
    assert at(y, n) == bytes([1]) * n
''')

    def test_graphs_move_them_at_each_launch(self):
        """Captured copies and memsets, in their order, with what is in their source by then; also behind what waits."""
        self.program('''
    def body(s):
        d.h2d(a, x, n, s)
        d.d2d(b, a, n, s)
        d.memset(a, 5, n, s)
        d.d2h(y, b, n, s)
    graph = Graph(s, body)
    assert at(y, n) == bytes([9]) * n
    for value in 7, 8:
        ctypes.memset(x, value, n)
        graph.launch(s)
        s.synchronize()
        assert at(y, n) == bytes([value]) * n
        d.d2h(y, a, n, s)
        s.synchronize()
        assert at(y, n) == bytes([5]) * n
    hold()
    graph.launch(s)
    assert at(y, n) == bytes([5]) * n
    ctypes.memset(x, 1, n)
    let()
    s.synchronize()
    assert at(y, n) == bytes([1]) * n
''')

    def test_graphs_by_hand_move_them(self):
        self.program('''
    class Box(ctypes.Structure):   # CUDA_MEMCPY3D
        _fields_ = [(k + f, t) for k in ('src', 'dst') for f, t in (
            ('X', SIZE), ('Y', SIZE), ('Z', SIZE), ('Lod', SIZE), ('Type', UINT), ('Host', P), ('Device', U64),
            ('Array', P), ('No', P), ('Pitch', SIZE), ('Height', SIZE))] + [('width', SIZE), ('height', SIZE), ('depth', SIZE)]
    class Fill(ctypes.Structure):  # CUDA_MEMSET_NODE_PARAMS
        _fields_ = [('dst', U64), ('pitch', SIZE), ('value', UINT), ('element', UINT), ('width', SIZE), ('height', SIZE)]
    drv, graph, copy, fill, run, ctx = driver(), P(), P(), P(), P(), P()
    drv.cuCtxGetCurrent(ctypes.byref(ctx))
    drv.cuGraphCreate(ctypes.byref(graph), 0)
    box = Box(srcType=2, srcDevice=a, dstType=1, dstHost=y, width=n, height=1, depth=1)
    rows = Fill(a, 32, 0x0403, 2, 4, 2)
    drv.cuGraphAddMemsetNode(ctypes.byref(fill), graph, None, SIZE(0), ctypes.byref(rows), ctx)
    drv.cuGraphAddMemcpyNode(ctypes.byref(copy), graph, (P * 1)(fill), SIZE(1), ctypes.byref(box), ctx)
    drv.cuGraphInstantiateWithFlags(ctypes.byref(run), graph, U64(0))
    d.memset(a, 6, n, s)
    drv.cuGraphLaunch(run, s.handle)
    s.synchronize()
    row = bytes([3, 4] * 4) + bytes([6] * 24)
    assert at(y, n) == row * 2 + bytes([6]) * (n - 64)
''')

    def test_written_values_come_in_their_turn(self):
        self.program('''
    hold()
    driver().cuStreamWriteValue32(s.handle, U64(y), UINT(0x04030201), 0)
    driver().cuStreamWriteValue64(s.handle, U64(a), U64(0x0807060504030201), 0)
    d.d2h(y + 8, a, 8, s)
    assert at(y, 16) == bytes([9]) * 16
    let()
    s.synchronize()
    assert at(y, 4) == bytes([1, 2, 3, 4]) and at(y + 8, 8) == bytes(range(1, 9))
''')


if __name__ == '__main__':
    unittest.main()
