#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e serial timeout=3000
"""A CNN that PyTorch's unchanged wheels train on the simulated GPU (a model), with one thing slow as people plant it
without knowing: the report's verdict is that of the cause, and its first finding has the cause's class and line. Where
others have the cores, a report says so, which is right and not what was planted; the line at which it found most is
then the planted one if by the truth and the program's own clock most idle time was there. GS_BIG=1 alone."""
import collections
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(1, sys.path[0] + '/..')
import cores
import gs
import playing
import torches
from planted import stage

# Slow to compute: on a busy machine those who compute wait for a processor, at the same line.
COMPUTED = ('input.prep', 'input.cpu_starved')
# A step of 9 ms, which four small photos feed.
STEP = ('--width', '64', '--edge', '512', '--batch', '4')

# args: of the program; slow: a slow folder's times, and the option that takes it; line: has the first finding one? What
# runs on the device has none: of copies the report tells how much came from pageable memory.
Plant = collections.namedtuple('Plant', 'args verdict classes line slow env', defaults=(True, None, {}))
PLANTS = {
    'none': Plant(('--steps', '1000'), 'busy', (), False),
    'decoder': Plant(('--steps', '60', '--workers', '1'), 'input-bound', COMPUTED),
    'disk': Plant(('--steps', '60'), 'input-bound', ('input.fetch',),
                  slow=('--data', dict(read=20, size=20_000))),
    'pageable': Plant(('--steps', '600'), 'copy-bound', ('copy',), False, env=dict(GPUSIM_PAGEABLE_GBPS=1)),
    # While it reads numbers the device waits for each launch, for the trainer to wake, or until it has Python's lock again,
    # which it gives away at each of them. So many launches a second are more than the governor traces by default.
    'item': Plant(('--steps', '640', '--batch', '2', '--edge', '448'), 'host-bound',
                  ('host.dispatch', 'host.sync', 'host.lock'), env=dict(GPUSTARVE_MAX_OVERHEAD=0)),
    'checkpoint': Plant(('--steps', '600', '--save', '100'), 'host-bound', ('host.checkpoint',),
                        slow=('--out', dict(write=0.2))),
}

ALL = torches.some()
NEWEST = list({torch.minor: torch for torch in reversed(ALL)}.values())


def expect_cause(play, name, plant):
    s = play.summary
    first = s['findings'][0]
    told = play.told()
    where = [first['where'].get('file'), first['where'].get('line')]
    classes = sorted(((ns, c) for c, ns in s['gpus'][0]['classes'].items()), reverse=True)[:6]
    print(f'{play.what}: {s["verdict"]}, {first["class"]} at {where}, {classes}', flush=True)
    gs.equal(s['verdict'], plant.verdict, f'{play.what}: verdict; {classes}')
    if plant.classes:
        gs.check(first['class'] in plant.classes, f'{play.what}: first finding {first["class"]}; {classes}')
    if plant.line:
        gs.equal(where, told['line'], f'{play.what}: line')
    if name == 'pageable':
        copies = s['copies']['h2d']
        gs.check(copies['pageable_bytes'] > 0.9 * copies['bytes'], f'{play.what}: pageable copies {copies}')
    gs.equal(len(told['waits_ns']), told['steps'] + 1, f'{play.what}: waits')


def planted_share(play):
    """How much of the device's idle time, by the truth, went by while the trainer, by its clock, was at that line."""
    planted = play.told()['planted_ns']
    busy = gs.union([row['start_ns'], row['end_ns']] for row in gs.truth_ops(play.truth))
    idle = gs.subtract([[planted[0][0], planted[-1][1]]], busy)
    return gs.measure(gs.intersect(idle, planted)) / gs.measure(idle)


def expect_most(play, busy):
    """Beside others: gaps of some 10 us, in each of which the trainer wakes up, and stands in line for a core."""
    share, at = planted_share(play), collections.Counter()
    for f in play.summary['findings']:
        at[f['where'].get('file'), f['where'].get('line')] += f['ns']
    lines = [(ns, line) for line, ns in at.items() if line[1]]
    print(f'{play.what}: {busy}, {100 * share:.0f} % of idle time planted, {sorted(lines, reverse=True)[:3]}', flush=True)
    if gs.check(lines, f'{play.what}: no line was found') and share > 0.5:
        gs.equal(list(max(lines)[1]), play.told()['line'], f'{play.what}: the line at which most was found')
    gs.left_out(f'verdict and first finding of {play.what}: {busy}')


def planted(torch, name, plant):
    with gs.scratch() as where, stage.Stage(where) as around:
        more = ()
        if plant.slow:
            option, ms = plant.slow
            try:
                more = (option, around.fuse(**ms))
            except stage.Missing as e:
                gs.left_out(f'{name}: {e}')
                return
        watch = cores.Watch()
        play = playing.play(torch, os.path.join(where, 'play'), 'cnn.py', '--plant', name, *STEP, *plant.args, *more,
                            **plant.env)
        if not playing.expect_ended(play):
            return
        playing.expect_exact(play)
        playing.expect_classes(play)
        busy = watch.taken() if name == 'item' else None
        if busy:
            expect_most(play, busy)
        else:
            expect_cause(play, name, plant)


def test_planted():
    if not gs.BIG:
        gs.skip('GS_BIG=1 plays it')
    only = os.environ.get('GS_ONLY', '').split()
    for torch in NEWEST:
        for name, plant in PLANTS.items():
            if not only or name in only:
                planted(torch, name, plant)


gs.run_tests(globals())
