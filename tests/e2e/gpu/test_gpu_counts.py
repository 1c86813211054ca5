#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The arithmetic of the GPU check, with made-up counts: what must not pass does not. And the training
script that it runs on a GPU, on the CPU in all its variants."""
import json
import os
import sys
import tempfile
import unittest

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path[:0] = [os.path.join(SOURCE, 'tests', 'gpu'), os.path.join(SOURCE, 'tests', 'workloads')]
import base  # noqa: E402
import counting  # noqa: E402
import judging  # noqa: E402
import spans  # noqa: E402
import traces  # noqa: E402
from counting import Op  # noqa: E402
import programs  # noqa: E402
from parts import loader, names, works  # noqa: E402

STEPS, LENGTH = 10, 1000


class Seen:
    """What a profiler saw, made up."""

    def __init__(self, ops, rc=0, others=None, steps=STEPS):
        self.ops, self.rc, self.others = ops, rc, others or {}
        self.steps = [(i * LENGTH, i * LENGTH, (i + 1) * LENGTH) for i in range(steps)]

    def steady(self, warm):
        return counting.Steady(counting.in_steps(self.ops, self.steps)[0], warm)


class Made(Seen):
    """A run of ours, made up."""
    level = 1

    def __init__(self, ops, faults=(), **more):
        super().__init__(ops, **more)
        self.found = list(faults)

    def faults(self):
        return self.found


def loop(each, setup=(), steps=STEPS):
    """Operations of a loop: @each and @setup are (kind, name, how many)."""
    ops = [Op(kind, name, -1, 8) for kind, name, n in setup for _ in range(n)]
    for i in range(steps):
        ops += [Op(kind, name, i * LENGTH + 10, 8) for kind, name, n in each for _ in range(n)]
    return ops


EACH = (('copy-h2d', '', 2), ('kernel', 'gemm', 3), ('kernel', 'relu', 1), ('memset', '', 1))
SETUP = (('kernel', 'fill', 5), ('copy-h2d', '', 4))
GRAPHED = (('copy-h2d', '', 2), ('graph', '', 1))
APART = (('copy-h2d', '', 2), ('kernel', 'gemm', 3), ('kernel', 'relu', 1))


def without(ops, kind, name, at_step=None):
    """One operation less."""
    for i, o in enumerate(ops):
        if (o.kind, o.name) == (kind, name) and (at_step is None or o.at // LENGTH == at_step):
            return ops[:i] + ops[i + 1:]
    raise AssertionError('nothing to take away')


class Counting(unittest.TestCase):
    def test_dump(self):
        text = ('# stream\ts\thost h\tpid 1\n'
                's\truntime\t100\t5\t7\t1\t0\tcudaLaunchKernel_v7000\n'
                's\tkernel\t120\t5\t0.1.7\t1\t0\t_Z3addPfi\n'
                's\tcopy-h2d\t130\t5\t0.1.7\t2\t64\t\n'
                's\tgraph\t140\t5\t0.1.7\t3\t0\t\n'
                's\tsync-stream\t150\t5\t0.1.7\t4\t0\t\n'
                's\tloader\t160\t5\t7\t0\t0\tnext\n'
                's\tsample\t170\t0\t7.7\tnone\n')
        ops, calls = counting.of_dump(text)
        self.assertEqual(ops, [Op('kernel', 'add(float*, int)', 100, 0), Op('copy-h2d', '', 130, 64),
                               Op('graph', '', 140, 0)])
        self.assertEqual(dict(calls), {'cudaLaunchKernel_v7000': 1})

    def test_names(self):
        self.assertEqual(counting.readable('_ZN2at6native4fillIfEEvPT_'),
                         'void at::native::fill<float>(float*)')
        self.assertEqual(counting.readable('_Zwhat'), '_Zwhat')
        self.assertEqual(counting.readable('triton_poi_fused_0'), 'triton_poi_fused_0')
        long = '_Z' + '3add' * 300
        self.assertEqual(counting.readable(long), long)
        # Substitutions make a short symbol long: of that torch.profiler prints all, a trace keeps a part.
        twice = 'St4pairIS_S_E' + ''.join(f'S0_IS{n}_S{n}_E' for n in range(1, 9))
        grown = counting.readable('_Z1f1a' + twice)
        self.assertEqual(len(grown), counting.NAME_MAX)
        self.assertEqual(grown[:30], 'f(a, std::pair<a, a>, std::pai')

    def test_steps(self):
        each, rest = counting.in_steps(loop(EACH, SETUP), Made([]).steps)
        self.assertEqual([sum(c.values()) for c in each], [7] * STEPS)
        self.assertEqual(sum(rest.values()), 9)
        # At the border an operation is of the step that begins.
        each, rest = counting.in_steps([Op('kernel', 'a', LENGTH, 0)], Made([]).steps)
        self.assertEqual((each[1]['kernel', 'a'], sum(rest.values())), (1, 0))

    def test_profile(self):
        trace = dict(baseTimeNanoseconds=1000, traceEvents=[
            dict(ph='X', cat='cuda_runtime', name='cudaLaunchKernel', ts=1.5, args=dict(correlation=9)),
            dict(ph='X', cat='kernel', name='gemm', ts=3.0, args=dict(correlation=9)),
            dict(ph='X', cat='gpu_memcpy', name='Memcpy HtoD (Pageable -> Device)', ts=4,
                 args=dict(correlation=10, bytes=64)),
            dict(ph='X', cat='gpu_memset', name='Memset (Device)', ts=5, args=dict(bytes=4)),
            dict(ph='X', cat='gpu_user_annotation', name='Optimizer.step#SGD.step', ts=3, args={}),
            dict(ph='X', cat='cuda_sync', name='Stream Sync', ts=6, args={}),
            dict(ph='X', cat='cpu_op', name='aten::mm', ts=1), dict(ph='M', name='process_name')])
        try:
            import torch_train
        except ImportError:
            self.skipTest('no torch')
        ops, others = torch_train.work_of(trace)
        self.assertEqual(ops, [['kernel', 'gemm', 2500, 0], ['copy-h2d', trace['traceEvents'][2]['name'],
                                                            5000, 64], ['memset', 'Memset (Device)', 6000, 4]])
        self.assertEqual(others, dict(gpu_user_annotation=1, cuda_sync=1))
        with tempfile.NamedTemporaryFile('w') as f:
            json.dump(dict(ops=ops, others=others), f)
            f.flush()
            self.assertEqual(counting.of_profile(f.name)[0][1], Op('copy-h2d', '', 5000, 64))

    def test_faults(self):
        def summary(**quality):
            return dict(quality=dict(dict(dropped=0, invalid=0), **quality),
                        ledger=dict(gpu_ns=10, classes=dict(compute=dict(ns=10))),
                        gpus=[dict(index=0, held_ns=10, ops_without_launch=0, ops=3,
                                   classes=dict(compute=10))])
        self.assertEqual(traces.faults_of(summary(), 1), [])
        self.assertEqual(len(traces.faults_of(summary(dropped=1, invalid=2), 1)), 2)
        s = summary()
        s['ledger']['gpu_ns'] = 11
        self.assertEqual(len(traces.faults_of(s, 1)), 1)
        s = summary()
        s['gpus'][0].update(ops_without_launch=1, held_ns=9)
        self.assertEqual(len(traces.faults_of(s, 1)), 2)
        self.assertEqual(len(traces.faults_of(s, 0)), 1)  # no calls are recorded there


    def test_unended(self):
        text = ('# frames\ta\t3\tbytes 9\tended without a last word\na\tkernel\t1\t2\t0.1.7\t1\t0\tk\n'
                '# frames\tb\t3\tbytes 9\tended without a last word\nb\truntime\t1\t2\t7\t1\t0\tc\n'
                '# frames\tc\t3\tbytes 9\tended exit\nc\tgraph\t1\t2\t0.1.7\t1\t0\t\n')
        self.assertEqual(traces.unended(text), ['a'])

    def test_expected(self):
        counted = counting.count(loop((('kernel', 'add_one_0d', 2), ('copy-h2d', '', 1),
                                       ('kernel', 'add', 1))))
        self.assertEqual(counting.expected(counted, {'add_one': 2 * STEPS, 'copy': STEPS, 'kernel':
                                                     3 * STEPS, 'copy-h2d': STEPS}), [])
        self.assertEqual(counting.expected(counted, {'add_on': 1, 'memset': 0}), [('add_on', 0, 1)])


class Judging(unittest.TestCase):
    def right(self, got):
        self.assertTrue(got[1], got[0])

    def look(self, got, *words):
        self.assertFalse(got[1], got[0])
        text = '; '.join(got[0])
        for word in words:
            self.assertIn(word, text)

    def test_plain(self):
        ops = loop(EACH, SETUP)
        self.right(judging.plain(Made(ops), Seen(ops, others=dict(cuda_sync=10))))
        self.right(judging.plain(Made(ops), exact=dict(gemm=3, copy=2, memset=1)))
        self.look(judging.plain(Made(ops), exact=dict(gemm=4)), 'gemm')
        # The first steps are not compared with each other; what is known of them holds all the same.
        self.look(judging.plain(Made(without(ops, 'kernel', 'gemm', 0)), exact=dict(gemm=3)), '29, 30')
        self.look(judging.plain(Made(ops), exact={}))
        self.look(judging.plain(Made(ops, faults=['dropped 3'])), 'dropped 3')
        self.look(judging.plain(Made([])))
        self.look(judging.plain(Made(ops, steps=2)), 'no step')
        self.look(judging.plain(Made(ops), Seen([])), 'saw nothing')
        self.look(judging.plain(Made(ops), Seen([], rc=1)), 'rc 1')

    def test_lost(self):
        ops = loop(EACH, SETUP)
        lost = without(ops, 'kernel', 'relu', 7)
        self.look(judging.plain(Made(lost)), '1 of 8 steps', 'step 7', 'relu 0 for 1')
        self.look(judging.plain(Made(lost), Seen(ops)), 'relu 9 for 10')
        # Lost where no step is looked at, or in each step alike: only the profiler's count tells.
        for less in (without(ops, 'kernel', 'fill'), without(ops, 'copy-h2d', '', 0)):
            self.right(judging.plain(Made(less)))
            self.look(judging.plain(Made(less), Seen(ops)), 'differ')
        always = [o for o in ops if o.name != 'relu']
        self.right(judging.plain(Made(always)))
        self.look(judging.plain(Made(always), Seen(ops)), 'relu 0 for 10')

    def test_too_many(self):
        ops = loop(EACH, SETUP)
        more = ops + [Op('kernel', 'gemm', 5 * LENGTH + 20, 0)]
        self.look(judging.plain(Made(more)), 'step 5', 'gemm 4 for 3')
        self.look(judging.plain(Made(ops), Seen(more)), 'gemm 30 for 31')

    def test_other_names(self):
        ops = loop(EACH, SETUP)
        named = [o._replace(name='gemm2') if o.name == 'gemm' else o for o in ops]
        self.look(judging.plain(Made(ops), Seen(named)), '2 kinds or names', 'gemm 30 for 0')
        turned = [o._replace(kind='copy-d2h') if o.kind == 'copy-h2d' else o for o in ops]
        self.look(judging.plain(Made(ops), Seen(turned)), 'copy-d2h')
        bigger = [o._replace(bytes=9) if o.kind == 'copy-h2d' else o for o in ops]
        self.look(judging.plain(Made(ops), Seen(bigger)), 'bytes')

    def test_program(self):
        """One of tests/programs: what it told itself, and what torch.profiler saw by told.py's words."""
        ours = Made([Op('kernel', 'gemm', 1, 0), Op('kernel', 'gemm', 2, 0), Op('copy-h2d', '', 3, 8)])
        ours.each = {'copy-h2d': 1}
        theirs = Seen([])
        saw = {'kernel': {'gemm': 2}, 'copy-h2d': {'Memcpy HtoD (Pinned -> Device)': 1}}

        def right(saw):
            theirs.counted = programs.of_told(saw)
            return programs.judge(ours, theirs)[1]
        self.assertTrue(right(saw))
        self.assertFalse(right(dict(saw, kernel={'gemm': 1})))
        self.assertFalse(right(dict(saw, memset={'Memset (Device)': 1})))
        self.assertFalse(right({}))
        ours.each = {'copy-h2d': 2}
        self.assertFalse(right(saw))
        ours.each = {}
        self.assertFalse(right(saw))

    def test_graph_step(self):
        whole, apart = loop(GRAPHED, SETUP), loop(APART, SETUP)
        self.right(judging.graph_step(Made(whole), Made(apart)))
        self.right(judging.graph_step(Made(whole), Made(apart), Seen(apart)))
        blind = [o for o in whole if o.kind != 'graph']
        got = judging.graph_step(Made(whole), Made(apart), Seen(blind))
        self.right(got)
        self.assertIn('sees nothing inside graphs', '; '.join(got[0]))
        self.look(judging.graph_step(Made(whole), Made(without(apart, 'kernel', 'gemm', 6))),
                  '29 nodes in 10 launches')
        self.look(judging.graph_step(Made(without(whole, 'graph', '', 6)), Made(apart)), '9 launches')
        self.look(judging.graph_step(Made(whole), Made(whole)), 'left')
        self.look(judging.graph_step(Made(whole), Made(blind)), 'no node')
        self.look(judging.graph_step(Made(whole), Made(without(apart, 'copy-h2d', '', -1))), 'beside')
        self.look(judging.graph_step(Made(whole), Made(apart),
                                     Seen(without(apart, 'kernel', 'gemm'))), 'gemm 30 for 29')
        self.look(judging.graph_step(Made(whole), Made(apart), Seen(without(blind, 'copy-h2d', ''))),
                  'differ')
        # As often lost as there are steps: the steps' own arithmetic is content, the profiler's not.
        self.look(judging.graph_step(Made(whole), Made([o for o in apart if o.name != 'relu']),
                                     Seen(apart)), 'relu 0 for 10')

    def test_graphs_within(self):
        # Set-up differs from run to run; the steps do not.
        whole, apart = loop(GRAPHED, SETUP), loop(APART)
        other = loop(APART, (('kernel', 'tried', 99),))
        self.right(judging.graphs_within(Made(whole), Made(apart), Seen(other)))
        self.look(judging.graphs_within(Made(whole), Made(apart),
                                        Seen(without(other, 'kernel', 'gemm', 8))), 'step 8')
        fewer = [o for o in other if o.name != 'relu']
        self.look(judging.graphs_within(Made(whole), Made(apart), Seen(fewer)), 'relu 1 for 0')
        self.look(judging.graphs_within(Made(apart), Made(apart)), 'no graph is launched')
        self.look(judging.graphs_within(Made(whole), Made(apart), Made(other, ['invalid 1'])), 'invalid')
        self.look(judging.graphs_within(Made(whole), Made(whole)), 'left')
        self.look(judging.graphs_within(Made(whole), Made(without(apart, 'copy-h2d', '', 9))), 'step 9')
        self.look(judging.graphs_within(Made(whole), Made(apart), Seen([], rc='timeout')), 'timeout')


class Parts(unittest.TestCase):
    """What the parts make of what they read."""

    def test_spans(self):
        busy = spans.union([(10, 20), (15, 30), (30, 35), (50, 50), (60, 70)])
        self.assertEqual(busy, [[10, 35], [60, 70]])
        self.assertEqual(spans.gaps(busy), [[35, 60]])
        self.assertEqual(spans.common([[0, 40], [50, 65]], spans.gaps(busy)), [[35, 40], [50, 60]])
        self.assertEqual(spans.measure([[35, 40], [50, 60]]), 15)
        text = ('# stream\ts\n' 's\tkernel\t100\t10\t0.1.7\t1\t0\tk\n'
                's\tloader\t110\t5\t7\t0\t0\tnext\n' 's\tgraph\t130\t5\t0.1.7\t2\t0\t\n'
                's\truntime\t90\t5\t7\t1\t0\tcudaLaunchKernel\n')
        self.assertEqual(spans.of_dump(text), ([[100, 110], [130, 135]], [(110, 115)]))

    def test_named(self):
        here = os.path.abspath(__file__)
        with open(here) as f:
            line = 1 + f.read().splitlines().index('import json')

        def summary(*findings):
            return dict(findings=[dict({'class': c}, ns=ns, where=dict(file=file, line=at))
                                  for c, ns, file, at in findings])
        right = ('input.fetch', 5, here, line)
        self.assertTrue(loader.named(summary(right), here, 'import json')[0])
        self.assertTrue(loader.named(summary(('input.epoch', 9, '/x.py', 1), right), here, '')[0])
        self.assertFalse(loader.named(summary(right), here, 'time.sleep')[0])
        self.assertFalse(loader.named(summary(right, ('input.prep', 9, '/x.py', 1)), here, '')[0])
        self.assertFalse(loader.named(summary(('input.fetch', 5, here, 10 ** 6)), here, '')[0])
        self.assertFalse(loader.named(summary(('input.fetch', 5, None, None)), here, '')[0])

    def test_waited(self):
        run = Made([])
        run.said = 'waited 70 ns for the end of the data\ntrained 10 steps\n'
        run.steps = [(0, 10, 100), (100, 130, 200)]
        simulated, loader.base.SIMULATED = loader.base.SIMULATED, False
        self.assertEqual(loader.waited(run, ''), 110)
        run.said = ''
        self.assertEqual(loader.waited(run, ''), 40)
        loader.base.SIMULATED = simulated

    def test_names(self):
        self.assertEqual(names.provider_of(dict(sys_vendor='Amazon EC2', product_name='p5.48xlarge')),
                         'aws p5.48xlarge')
        self.assertEqual(names.provider_of(dict(sys_vendor='Google', product_name='x')), 'gcp')
        self.assertEqual(names.provider_of(dict(sys_vendor='QEMU')), '')
        self.assertEqual(names.form_of('NVIDIA H100 80GB HBM3', '700'), 'SXM by its name and its 700 W')
        self.assertEqual(names.form_of('NVIDIA H100 PCIe', ''), 'PCIe by its name')
        doctor = '  ok       GPU                    0: H100\n  BROKEN   libprof.so             gone; do\n'
        self.assertEqual(names.doctor_line(doctor, 'GPU'), ('ok', '0: H100'))
        self.assertEqual(names.doctor_line(doctor, 'libprof.so')[0], 'BROKEN')
        self.assertEqual(names.doctor_line(doctor, 'libcupti')[0], '')
        rows = [dict(gpu='NVIDIA X', provider=p, usd_per_gpu_hour=usd, price_model='spot', date=d)
                for p, usd, d in (('guide', '1', '2026-01-01'), ('aws', '3', '2026-01-01'),
                                  ('gcp', '3.0', '2026-02-01'), ('oci', '4', '2026-03-01'))]
        self.assertEqual(names.best_of(rows, 'x (simulated)', 'spot')['provider'], 'gcp')
        self.assertEqual(names.best_of(rows[:1], 'NVIDIA X', 'spot')['provider'], 'guide')
        self.assertIsNone(names.best_of(rows, 'NVIDIA X', 'on-demand'))

    def test_driver_loop(self):
        told = dict(steps=STEPS, each=dict(gemm=3, graph=1), nodes=dict(node=2), bytes_each=8)
        told['each'].update({'copy-h2d': 2, 'copy-d2h': 1, 'copy-d2d': 1})

        def made(level, each, calls):
            run = Made([o._replace(bytes=4) if o.kind == 'copy-d2d' else o for o in loop(each)])
            run.level, run.calls, run.told = level, dict(cuGraphLaunch=calls), lambda: told
            return run
        plain = (('kernel', 'gemm', 3), ('copy-h2d', '', 2), ('copy-d2h', '', 1), ('copy-d2d', '', 1))
        graph, node = (('graph', '', 1),), (('kernel', 'node', 2),)
        good = [made(0, plain + graph, 0), made(1, plain + graph, STEPS), made(2, plain + node, STEPS)]
        self.assertTrue(works.judge_driver(*good)[1], works.judge_driver(*good)[0])
        for n, bad in ((0, made(0, plain + graph, 1)), (1, made(1, plain + graph, 9)),
                       (1, made(1, plain, STEPS)), (2, made(2, plain, STEPS)),
                       (2, made(2, plain + node + (('kernel', 'more', 1),), STEPS))):
            self.assertFalse(works.judge_driver(*good[:n], bad, *good[n + 1:])[1])


class Whole(Made):
    """In place of traces.Run: a run that holds what its name promises, or one kernel less."""
    bad, began = (), []

    def __init__(self, name, argv, out, level=1, timeout=100, rows=True, options=(), **env):
        graphed = any(w in name for w in ('graph', 'compiled', 'jax')) and 'plain' not in name
        each = APART if graphed and level == 2 or 'plain' in name else GRAPHED if graphed else EACH
        each = works_told(level)[1] if 'driver' in name else each
        ops = loop(each, SETUP if 'driver' not in name else ())
        if name in self.bad:
            ops = without(ops, 'kernel', ops[-2].name if graphed else 'gemm', 8)
        ops = [o._replace(bytes=4) if o.kind == 'copy-d2d' else o for o in ops]
        refused = 'autotune' in env.get('XLA_FLAGS', '') and 'refuse' in self.bad
        super().__init__(ops, rc=1 if refused else 0)
        self.name, self.level, self.out, self.dir = name, level, out, name
        self.err = 'Unknown flags in XLA_FLAGS' if refused else ''
        self.summary = dict(verdict='busy', severity=None, findings=[], gpus=[], quality=dict(
            dropped=0, invalid=0), ledger=dict(gpu_ns=1, classes={}))
        self.calls = dict(cuGraphLaunch=STEPS if level else 0)
        self.began.append((name, list(argv), dict(env), list(options)))

    def told(self):
        return works_told(self.level)[0] if 'driver' in self.name else dict(each=dict(gemm=3))

    def data(self):
        return {}


class Profiled(Seen):
    """In place of traces.Profile."""

    def __init__(self, name, argv, out, timeout=100, **env):
        super().__init__(loop(APART if name in ('graph', 'compiled') else EACH, SETUP))
        Whole.began.append((name, [*argv, '--profile'], dict(env), []))

    def data(self):
        return {}


class WholeProgram(Whole):
    """In place of programs.Told."""

    def __init__(self, name, python, program, out, timeout):
        super().__init__(name, [python, *program], out)
        self.began.pop()  # what follows is asked of the others
        self.each = {'copy-h2d': 1}


class SeenProgram(Seen):
    """In place of programs.Seen."""

    def __init__(self, name, python, program, out, timeout):
        super().__init__([])
        self.counted = counting.count(loop(EACH, SETUP))

    def data(self):
        return {}


def works_told(level):
    """What the loop over the driver says of itself, and what a trace of it holds per step."""
    told = dict(steps=STEPS, each={'gemm': 3, 'graph': 1, 'copy-h2d': 2, 'copy-d2h': 1, 'copy-d2d': 1},
                nodes=dict(node=2), bytes_each=8)
    plain = (('kernel', 'gemm', 3), ('copy-h2d', '', 2), ('copy-d2h', '', 1), ('copy-d2d', '', 1))
    return told, plain + ((('kernel', 'node', 2),) if level == 2 else (('graph', '', 1),))


class Rows:
    """In place of base.Report."""

    def __init__(self):
        self.rows = {}

    def put(self, part, question, answer, ok=None, **data):
        assert question not in self.rows, question
        self.rows[question] = (answer, ok)

    def skip(self, part, question, why):
        self.put(part, question, 'not asked: ' + why)


class Works(unittest.TestCase):
    """The part as a whole, with made-up runs in place of programs."""

    def play(self, *bad, left=500):
        kept = works.Run, works.Profile, works.base.SIMULATED, works.base.left, Whole.bad
        theirs = programs.Told, programs.Seen, programs.importable
        programs.Told, programs.Seen, programs.importable = WholeProgram, SeenProgram, lambda python, module: True
        Whole.bad, Whole.began = bad, []
        works.Run, works.Profile, works.base.SIMULATED = Whole, Profiled, False
        works.base.left = lambda: left
        works.reported.clear()
        report = Rows()
        try:
            works.part(report, 'out')
        finally:
            works.Run, works.Profile, works.base.SIMULATED, works.base.left, Whole.bad = kept
            programs.Told, programs.Seen, programs.importable = theirs
        return report.rows

    def questions(self, rows, ok):
        return [q for q, (_, o) in rows.items() if o is ok and 'the report' not in q]

    def test_right(self):
        rows = self.play()
        self.assertEqual(self.questions(rows, False), [], rows)
        self.assertEqual(len(self.questions(rows, True)), 11 + len(programs.PROGRAMS), rows.keys())
        self.assertEqual(sum('the report' in q for q in rows), 10 + len(programs.PROGRAMS))
        profiled = [name for name, argv, *_ in Whole.began if '--profile' in argv]
        self.assertEqual(sorted(profiled), ['cnn', 'compiled', 'ddp', 'graph', 'transformer'])
        launched = next(argv for name, argv, *_ in Whole.began if name == 'torchrun')
        self.assertEqual(launched[1:3], ['-m', 'torch.distributed.run'])
        self.assertTrue(launched[launched.index('1') + 1].endswith('torch_train.py'), launched)
        for name, argv, _, options in Whole.began:
            self.assertIn('{times}', argv)
            if '--profile' not in argv:
                self.assertEqual('--max-overhead' in options, name.startswith(('compiled', 'jax')), name)

    def test_lost(self):
        for name, words in (('cnn', 'ResNet'), ('transformer', 'eager'), ('graph-level-2', 'as one CUDA'),
                            ('compiled-level-2', 'torch.compile'), ('jax-plain', 'JAX'),
                            ('triton', 'Triton'), ('torchrun', 'distributed.run')):
            with self.subTest(name=name):
                bad = self.questions(self.play(name), False)
                self.assertEqual(len(bad), 1, bad)
                self.assertIn(words, bad[0])

    def test_flags(self):
        rows = self.play('refuse')
        self.assertTrue(rows['JAX'][1], rows['JAX'])
        self.assertTrue(any(name == 'jax-plain-1' and env['XLA_FLAGS'] == '--xla_gpu_enable_command_buffer='
                            for name, _, env, _ in Whole.began))

    def test_time(self):
        rows = self.play(left=3)
        self.assertTrue(all(answer.startswith('not asked') for answer, _ in rows.values()), rows)


class Training(unittest.TestCase):
    """torch_train.py on the CPU: its own code, with each of its options."""

    @classmethod
    def setUpClass(cls):
        try:
            import torch
            import torch_train
        except ImportError as error:
            raise unittest.SkipTest(f'no torch: {error}')
        torch.set_num_threads(1)
        cls.script = torch_train

    def test_variants(self):
        small = ['--device', 'cpu', '--width', '8', '--batch', '2', '--steps', '3']
        with tempfile.TemporaryDirectory() as folder:
            times, profile = (os.path.join(folder, n) for n in ('times', 'profile'))
            for more in (['--data', 'jpeg', '--workers', '2', '--pixels', '32', '--pin'],
                         ['--data', 'jpeg', '--workers', '0', '--sample-ms', '1'],
                         ['--model', 'transformer'], ['--model', 'transformer', '--graph'],
                         ['--model', 'transformer', '--compile'], ['--ddp'],
                         ['--model', 'tiny', '--launches', '5'], ['--profile', profile],
                         ['--profile-inside', '1'], ['--look-every', '2']):
                with self.subTest(more=more):
                    self.assertEqual(self.script.main(small + more + ['--step-times', times]), 0)
                    rows = counting.read_steps(times)
                    self.assertEqual(len(rows), 3)
                    self.assertTrue(all(b <= g <= e for b, g, e in rows))
                    self.assertTrue(all(a[2] == b[0] for a, b in zip(rows, rows[1:])))
            self.assertEqual(counting.of_profile(profile), ([], {}))

    def test_profile(self):
        with tempfile.TemporaryDirectory() as folder:
            argv = [sys.executable, self.script.__file__, '--device', 'cpu', '--width', '8', '--batch', '2',
                    '--steps', '2', '--step-times', '{times}']
            base.part_ends_in(300)
            seen = traces.Profile('small', argv, folder, timeout=300)
            self.assertEqual((seen.rc, len(seen.steps), seen.ops), (0, 2, []), seen.err[-500:])
            self.assertEqual(seen.data()['kinds'], {})

    def test_seconds(self):
        args = self.script.parse(['--device', 'cpu', '--width', '8', '--batch', '2', '--steps',
                                  '1000000', '--seconds', '0.05', '--model', 'tiny'])
        self.assertLess(len(self.script.train(args)), 1000000)


if __name__ == '__main__':
    unittest.main()
