#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What tests/feeds takes for true and what it says of reports, over made-up diaries and reports: whose work an
idle nanosecond is, which report is right, at which line, and that each bar can be missed."""
import os
import signal
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

sys.path[:0] = [os.path.join(gs.SOURCE, 'tests'), os.path.join(gs.SOURCE, 'tests', 'workloads', 'feeds')]

from feeding import cases, judge, kinds, others, truth  # noqa: E402
import kit  # noqa: E402

MS = 1_000_000


def row(place, key, begin, end, cpu=0, delay=0, pid=1, tid=1):
    return dict(place=place, key=key, begin=begin * MS, end=end * MS, cpu=cpu * MS, delay=delay * MS, pid=pid, tid=tid)


def op(begin, end):
    return dict(kind='kernel', launch_ns=begin * MS, start_ns=begin * MS, end_ns=end * MS)


# Three kernels of 10 ms with 40 and 50 ms between them. The trainer waits for batch 1 from 12 to 48; it is got
# until 20 and made until 46, half of that on a CPU. For batch 2 from 62 to 108, which nobody begins before 80:
# its maker is busy with 3; when it is made, 3 goes on.
OPS = [op(0, 10), op(50, 60), op(110, 120)]
ROWS = [row('wait', 1, 12, 48), row('get', 1, 8, 20, 1, 0, 2), row('make', 1, 20, 46, 13, 13, 2),
        row('wait', 2, 62, 108), row('make', 3, 60, 80, 20, 0, 2), row('make', 2, 80, 100, 20, 0, 3),
        row('make', 3, 100, 120, 20, 0, 2), row('gpu', 1, 48, 61), row('gpu', 2, 108, 121)]


def owners():
    true, facts = truth.truth(OPS, ROWS, {'get', 'make'})
    gs.equal(facts, dict(idle=90 * MS, span=120 * MS, waits=2, exposed=82 * MS, kernels=3, unmade=0), 'idle time')
    got = {f'{place} {state}'.strip(): ns / MS for (place, state), ns in true.items()}
    gs.equal({k: v for k, v in got.items() if not k.startswith('get')}, {
        'make cpu': 13 + 18 + 20, 'make delay': 13, 'handoff': 2, 'late/make cpu': 8, 'gpu': 2 + 1 + 2,
        'rest': 2 + 1}, 'whose work')
    gs.equal((round(got['get cpu'], 2), round(got['get blocked'], 2)), (0.67, 7.33), 'and who got it')
    gs.check(sum(true.values()) in range(90 * MS - 9, 90 * MS + 9), 'every idle nanosecond has one owner')


def own_time():
    """While the trainer runs it waits for nobody: of batch 2's wait of 46 ms, 42 of them with the GPU idle, it
    runs 14 and lacks a CPU for 2, of which at least 12 are then. What it makes of a batch itself is no such time."""
    rows = [row('wait', 1, 12, 48, cpu=13), row('make', 1, 20, 46, cpu=13),
            row('wait', 2, 66, 112, cpu=14, delay=2), row('make', 2, 80, 100, 20, 0, 3)]
    ops = [op(0, 10), op(50, 60), op(108, 120)]
    true, _ = truth.truth(ops, rows, {'make'})
    gs.equal(round(true['own', ''] / MS, 3), 12, 'its own time')
    gs.equal(round(true['make', 'cpu'] / MS, 2), round(13 + 20 * 30 / 42, 2), 'is nobody else\'s')


def case(name='thread_function', variant='prep', **expect):
    c = cases.Case(next(k for k in kinds.EVERY if k.name == name), variant, 1)
    c.plan['steps'] = 3
    c.expect = expect
    return c


def report(classes, file='birds.py', line=7, cls='input.prep'):
    return dict(gpus=[dict(idle_ns=90 * MS, classes={c: ns * MS for c, ns in classes.items()})],
                findings=[dict({'class': 'host.lock'}, where=dict(file='/x/z.py', line=1)),
                          dict({'class': cls}, where=dict(file='/x/' + file, line=line))],
                causes=[dict(findings=[1]), dict(findings=[0])])  # several lines of one cause come first


MARKS = dict(make={('birds.py', 7)}, get={('birds.py', 9)})


def judged(summary, c=None, whole=None):
    true, facts = truth.truth(OPS, ROWS, {'get', 'make'})
    result = judge.Result(c or case(get=cases.IO, make=cases.CPU))
    judge.judge(result, summary, true, facts, MARKS, whole)
    return result


def reports():
    good = judged(report({'input.prep': 74, 'input.fetch': 8, 'host.dispatch': 8}))
    gs.equal((good.planted, round(good.right), good.unknown, good.line, good.notes),
             (72 * MS, 72 * MS, 0, True, []), 'a good report')
    gs.check(all(ok for _, ok in judge.verdicts([good])), f'its verdicts {judge.verdicts([good])}')
    for what, summary, missed in (
            ('the wrong class', report({'host.lock': 90}), (0, 2)),
            ('unknown', report({'input.prep': 74, 'host.wait': 16}), (0, 1)),
            ('a decoy\'s line', report({'input.prep': 74, 'input.fetch': 8, 'host.dispatch': 8}, line=9), (2,)),
            ('another file', report({'input.prep': 74, 'input.fetch': 8, 'host.dispatch': 8}, 'x.py'), (2,))):
        verdicts = [ok for _, ok in judge.verdicts([judged(summary)])]
        wrong = {n for n, ok in enumerate(verdicts) if not ok}
        gs.check(wrong and wrong <= {*missed, 1, 2}, f'{what}: {verdicts}')
        gs.check(missed[0] in wrong, f'{what} is missed: {verdicts}')
    gs.equal(judged(report({'host.lock': 90})).right, 0, 'nothing right')
    short = report({'input.prep': 90})
    short['gpus'][0]['idle_ns'] = 40 * MS
    gs.check(judged(short).notes, 'records that are wrong')
    gs.check(judge.doubts(c := case(make=cases.CPU), dict(unmade=1, kernels=3)), 'a batch that nobody made')
    gs.check(judge.doubts(c, dict(unmade=0, kernels=2)), 'too few kernels')
    gs.equal(judge.doubts(c, dict(unmade=0, kernels=3)), [], 'no doubt')
    gs.equal(judged(report({'input.prep': 90}), case(get=cases.IO)).line, None, 'little is planted: no line is asked for')
    none = dict(report({'input.prep': 90}), findings=[], causes=[])
    gs.equal(judged(none).line, False, 'no finding')


def never():
    c = case()
    c.never = True
    good = judged(report({'host.lock': 90}), c, report({'host.lock': 90}))
    bad = judged(report({'host.lock': 90}), c, report({'host.lock': 89, 'input.fetch': 1}))
    gs.equal((good.charged, bad.charged), (0, MS), 'called input')
    gs.equal([[ok for _, ok in judge.verdicts([r])] for r in (good, bad)], [[True, True], [False, True]],
             'what is no input')
    gs.check(not all(ok for _, ok in judge.verdicts([])), 'nothing was played')
    c.expect = dict(rest={'': ['host.no_work']}, gpu={'': ['host.no_work']})
    idle = [judged(report({cls: 90}), c, report({cls: 90})) for cls in ('host.no_work', 'host.net')]
    gs.equal([r.planted for r in idle], [8 * MS] * 2, 'nothing to do')
    gs.equal([[ok for _, ok in judge.verdicts([r])] for r in idle], [[True] * 3, [False, True, True]],
             'and what is said of that')


def diaries():
    """What the programs write down is read again, of a child that was killed too."""
    with tempfile.TemporaryDirectory() as where:
        kit.cfg.own = where
        with kit.note('wait') as n:
            n.key = 7
        child = os.fork()
        if not child:
            with kit.note('make', 8):
                pass
            os.kill(os.getpid(), 9)
        os.waitpid(child, 0)
        rows = kit.read_diary(where)
        gs.equal({(r['place'], r['key'], r['pid']) for r in rows}, {('wait', 7, os.getpid()), ('make', 8, child)},
                 'rows of two processes')
        gs.check(all(r['begin'] <= r['end'] and r['cpu'] >= 0 for r in rows), f'{rows}')


def programs():
    """Each place that a case expects something of has a line in its program, and each program is played."""
    for kind in kinds.EVERY + others.EVERY:
        path = os.path.join(cases.PROGRAMS, kind.program)
        gs.check(os.access(path, os.X_OK), f'{kind.program} is there')
        gs.check(kind.never or cases.marks(path), f'{kind.program} has marks')
    gs.equal({file for file, _ in cases.marks(os.path.join(cases.PROGRAMS, 'books.py'))['make']}, {'tokenise.py'},
             'lines of what a program starts')
    names = [k.name for k in kinds.EVERY + others.EVERY]
    gs.equal(len(names), len(set(names)), 'kinds are named once')


def each_other():
    """Programs that start themselves, and each other, are read once each."""
    was = cases.PROGRAMS
    with tempfile.TemporaryDirectory() as folder:
        cases.PROGRAMS = folder
        for name, other in ('first.py', 'second.py'), ('second.py', 'first.py'):
            with open(os.path.join(folder, name), 'w') as f:
                f.write(f"start('{name}', '{other}')  #: make\n")
        signal.alarm(20)  # for one that never ends
        gs.equal(dict(cases.marks(os.path.join(folder, 'first.py'))), {'make': {('first.py', 1), ('second.py', 1)}}, 'marks')
        signal.alarm(0)
        with open(os.path.join(folder, 'first.py'), 'w') as f:
            f.write('# it reads ahead  #: make in ahead.py\nload()  #: make read\n')
        gs.equal(dict(cases.marks(os.path.join(folder, 'first.py'))),
                 {'make': {('ahead.py', None), ('first.py', 2)}, 'read': {('first.py', 2)}}, 'marks of a library')
    cases.PROGRAMS = was


for test in (owners, own_time, reports, never, diaries, programs, each_other):
    test()
gs.finish()
