#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""The stand-in for libcudart.so.13 under a program as nvcc compiles one: what it answers (the program expects
that itself), what of it is in the truth file and in CUPTI's records, and its symbols."""
import collections
import os
import subprocess
import unittest

import test_gpusim

TOUR = os.path.join(test_gpusim.BUILD, 'tests', 'cudart_tour')
LIBRARY = os.path.join(test_gpusim.SIM, 'libcudart.so.13')


class Runtime(test_gpusim.Case):
    def tour(self, group, **env):
        p = self.start([TOUR, group], tap=True, GPUSIM_DEVICES=2, GPUSIM_QUIET=1, **env)
        out, err = p.communicate(timeout=100)
        self.assertEqual(p.returncode, 0, out + err)
        test_gpusim.truth_check.main([self.path('truth')] + self.taps())
        return out

    def names(self, kind='kernel'):
        return collections.Counter(r['name'] for r in self.truth(kind))

    def geometry(self, name):
        return [(r['grid'], r['block'], r['shared']) for r in self.tap(10) if r['name'] == name]

    def test_devices(self):
        self.tour('devices')
        self.assertEqual(self.truth('kernel') + self.truth('memcpy'), [])

    def test_errors(self):
        self.tour('errors')
        self.assertEqual(self.truth('kernel'), [])

    def test_no_device(self):
        self.run_sim([TOUR, 'none'], CUDA_VISIBLE_DEVICES='')

    def test_old_driver(self):
        self.run_sim([TOUR, 'old'], GPUSIM_DRIVER_VERSION=12040)

    def test_first_call_from_many_threads(self):
        self.run_sim([TOUR, 'race'], GPUSIM_INIT_MS=50)

    def test_copies(self):
        self.tour('copies', GPUSIM_TRUTH_API=1)
        mb = 1 << 20
        self.assertEqual([(r['copy'], r['src'], r['dst'], r['bytes']) for r in self.truth('memcpy')], [
            ('d2h', 'device', 'pageable', mb), ('h2d', 'pageable', 'device', mb),
            ('d2d', 'device', 'device', mb), ('d2h', 'device', 'pinned', mb),
            ('d2h', 'device', 'pageable', 2000), ('d2h', 'device', 'pageable', 200),
            ('d2d', 'device', 'device', 4096), ('h2d', 'pageable', 'device', 16),
            ('d2h', 'device', 'pageable', 256)])
        self.assertEqual([r['bytes'] for r in self.truth('memset')], [1000, 24])
        calls = {r['call']: r['api'] for r in self.truth() if r.get('domain') == 'runtime'}
        self.assertEqual([calls[r['call']] for r in self.truth('memcpy') + self.truth('memset')], [
            'cudaMemcpy', 'cudaMemcpy', 'cudaMemcpyAsync', 'cudaMemcpyAsync', 'cudaMemcpy', 'cudaMemcpy2DAsync',
            'cudaMemcpyPeerAsync', 'cudaMemcpyToSymbol', 'cudaMemcpyFromSymbol', 'cudaMemset', 'cudaMemsetAsync'])

    def test_kinds_of_memory(self):
        self.tour('kinds')
        self.assertEqual([(r['copy'], r['dst'], r['bytes']) for r in self.truth('memcpy')],
                         [('h2d', 'device', 64), ('d2h', 'pageable', 16)])
        self.assertEqual([(r['dst'], r['bytes']) for r in self.truth('memset')], [('managed', 10)])

    def test_streams(self):
        elapsed = float(self.tour('streams'))
        kernels = self.truth('kernel')
        self.assertEqual(self.names(), {'_Z4gemmPf': 100, '_Z4reluPf': 1})
        # From before the first kernel to the end of the last one.
        span = (max(k['end_ns'] for k in kernels) - min(k['start_ns'] for k in kernels)) / 1e6
        self.assertGreaterEqual(elapsed, span)
        self.assertEqual(len(self.truth('host')), 3)

    def test_launches(self):
        self.tour('launches', GPUSIM_TRUTH_API=1)
        self.assertEqual(self.names(), {'_Z4gemmPf': 4, '_Z4reluPf': 3, '_Z5laterPf': 1})
        # What was compiled for a default stream per thread is on that, the rest on the legacy one.
        launched = [r['stream'] for r in sorted(self.truth('kernel'), key=lambda r: r['launch_ns'])]
        legacy, own = launched[0], launched[4]
        self.assertNotEqual(own, legacy)
        self.assertEqual(launched, [legacy] * 4 + [own] * 2 + [legacy] * 2)
        lines = list(test_gpusim.truth_check.lines(self.path('truth')))
        self.assertEqual({r['missing'] for r in lines if 'missing' in r}, {'cudaLaunchKernelExC with an event'})
        calls = collections.Counter((r['api'], r['cbid']) for r in lines if r.get('domain') == 'runtime')
        for call, n in {('__cudaLaunchKernel', 505): 2, ('cudaLaunchKernel', 211): 2, ('__cudaGetKernel', 504): 2,
                        ('cudaLaunchKernelExC', 430): 2, ('cudaLaunchCooperativeKernel', 269): 1}.items():
            self.assertEqual(calls[call], n, call)
        self.assertEqual(self.geometry('_Z4gemmPf'), [([4, 1, 1], [128, 1, 1], 0), ([8, 1, 1], [64, 1, 1], 0),
                                                      ([1, 1, 1], [32, 1, 1], 0), ([1, 1, 1], [32, 1, 1], 100000)])
        # Driver calls within leave no record; each kernel is one of its call.
        self.assertEqual([r for r in lines if r.get('domain') == 'driver' and r['api'] == 'cuLaunchKernel'], [])

    def test_graphs(self):
        self.tour('graphs')
        self.assertEqual(self.names(), {'_Z4gemmPf': 3, '_Z4reluPf': 6})
        self.assertEqual(len(self.truth('graph')), 3)
        self.assertEqual(len({r['node'] for r in self.truth('kernel')}), 3)  # the same in each launch
        # Nodes' records say of a launch what those of plain ones do.
        self.run_sim([TOUR, 'graphs'], tap=True, TAP_KINDS='10', GPUSIM_DEVICES=2, GPUSIM_QUIET=1)
        self.assertEqual(self.geometry('_Z4gemmPf'), [([16, 2, 3], [32, 4, 2], 1000)] * 3)

    def test_pools(self):
        self.tour('pools')
        self.assertEqual([r['copy'] for r in self.truth('memcpy')], ['h2d', 'd2d', 'd2h'])

    def test_peers(self):
        self.tour('peers')
        want = [(100, 0, 1), (256, 0, 1), (50, 1, 0), (64, 1, 0)]
        self.assertEqual([(r['bytes'], r['from'], r['peer']) for r in self.truth('memcpy') if r['copy'] == 'p2p'], want)
        self.assertEqual([(r['bytes'], r['src_device'], r['dst_device']) for r in self.tap(22)], want)

    def test_absent(self):
        self.tour('absent')
        self.assertEqual(self.names(), {'attention': 1})

    def test_many(self):
        self.tour('many')
        self.assertEqual(self.names(), {'_Z49999v': 1})


class Symbols(unittest.TestCase):
    def test_what_torch_imports_is_there(self):
        out = subprocess.run(['nm', '-D', '--defined-only', LIBRARY], text=True, capture_output=True, check=True).stdout
        have = {line.split()[2] for line in out.splitlines()}
        for version in ('2.13.0', '2.14.1'):
            path = os.path.join(test_gpusim.SOURCE, 'tests', 'gpusim', 'symbols', f'torch-{version}.txt')
            with open(path) as f:
                want = {line.split()[1] + '@@libcudart.so.13' for line in f if line.startswith('libcudart.so.13 ')}
            self.assertGreater(len(want), 90)
            self.assertEqual(want - have, set())


if __name__ == '__main__':
    unittest.main()
