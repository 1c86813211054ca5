#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=60
"""The judgements of the GPU check about programs with and without us, on made-up results: what must
not pass does not."""
import json
import os
import sys
import unittest

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path[:0] = [os.path.join(SOURCE, 'tests', 'gpu')]
from parts import injection  # noqa: E402


def done(rc=0, out='', err='', ops=None, notes=()):
    d = injection.Done((rc, out, err, 1.0))
    if ops is not None:
        d.read = dict(gpus=[dict(ops=ops, held_ns=10, classes={'compute': 4, 'host.sync': 6})],
                      quality=dict(notes=list(notes)))
    return d


def sessions(*counts):
    return ''.join(f'session {i} {json.dumps(dict(kernels=n - 2, copies=2, memsets=0))}\n'
                   for i, n in enumerate(counts)) + 'trained\n'


class Profiler(unittest.TestCase):
    """Alone it sees 100 and 110 operations; the loop has 1,000."""

    def judge(self, inside=(100, 110), ours=790, whole=1000, lost=2.1, took=2.0, teardown='0', unreadable=(), rc=0,
              err='W1122 15:01:02.3 99 profiler'):
        a = done(out=sessions(100, 110), err='W1122 14:59:12.1 4711 profiler')
        b = done(rc, sessions(*inside), err, ops=ours)
        return injection.judge_profiler(a, b, done(ops=whole), (lost, took), list(unreadable), teardown)

    def test_right(self):
        words, right, data = self.judge()
        self.assertTrue(right, words)
        self.assertIn('torch saw [100, 110]', words)

    def test_wrong(self):
        for fault in (dict(inside=(36, 110)), dict(inside=(100, 0)), dict(ours=789), dict(lost=0), dict(lost=62),
                      dict(unreadable=['verify: 2']), dict(rc=1), dict(lost=62, teardown='1'),
                      dict(err='unknown buffer')):
            self.assertFalse(self.judge(**fault)[1], fault)

    def test_detached(self):
        self.assertTrue(self.judge(ours=500, lost=7, teardown='1')[1])

    def test_nothing_seen_alone(self):
        a = done(out=sessions(0, 0).replace('-2', '0').replace('2', '0'))
        self.assertFalse(injection.judge_profiler(a, done(out=a.out, ops=1000), done(ops=1000), (1, 1), [], '0')[1])


class Others(unittest.TestCase):
    def test_differences(self):
        self.assertEqual(injection.differences(done(3, 'a', 'b'), done(3, 'a', 'b')), [])
        for b in (done(4, 'a', 'b'), done(3, 'A', 'b'), done(3, 'a', 'b\n'), done('timeout', 'a', 'b')):
            self.assertEqual(len(injection.differences(done(3, 'a', 'b'), b)), 1)

    def test_sums(self):
        s = done(ops=1).report()
        self.assertEqual(injection.sums(s), [])
        s['gpus'][0]['held_ns'] = 11
        self.assertEqual(injection.sums(s), [11])
        self.assertEqual(injection.readable(done()), ['no trace'])

    def test_steady(self):
        one = '==PROF== Connected to process 4711 (/tmp/a/loop)\n0x7f00 1,234.5 ns'
        two = '==PROF== Connected to process 99 (/tmp/b/loop)\n0x8e10 2.5 ns'
        self.assertEqual(injection.steady(one), injection.steady(two))
        self.assertNotEqual(injection.steady(one), injection.steady(two + ' ERROR'))


if __name__ == '__main__':
    unittest.main()
