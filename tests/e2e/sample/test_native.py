#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""Native stacks: threads blocked in C functions under a Python line are unwound, and the viewer names
the functions."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

TESTS = os.path.join(gs.BUILD, 'tests')
TRAIN = os.path.join(gs.SOURCE, 'tests', 'lib', 'native_train.py')
PROBE, BLOCKS, FRAMED = (os.path.join(TESTS, f'lib{f}.so')
                         for f in ('pystack_probe', 'native_block', 'native_framed'))
WORK = os.path.join(gs.SOURCE, 'tests', 'lib', 'native.py')
STEPS, SLEEP_S = 250, 0.02 * gs.PATIENCE  # so that the worker is looked at also where the one who looks hardly has a core
LINE = next(n for n, text in enumerate(open(WORK), 1) if 'the line of reads' in text)

if not os.path.exists(PROBE):
    gs.skip('the probe cannot be loaded into Python in this build')


def look(library):
    done = gs.command([gs.PYTHON, WORK, PROBE, library], timeout=60)
    if not gs.equal(done.returncode, 0, f'native.py: {done.stderr.decode()[-2000:]}'):
        gs.finish()
    return json.loads(done.stdout.decode().splitlines()[-1])


def names(frames):
    """Functions of frames, those of Python's interpreter as '<python>'."""
    done = gs.command([os.path.join(TESTS, 'symbol_dump')], input='\n'.join(frames).encode())
    gs.equal(done.returncode, 0, 'symbol_dump')
    found = done.stdout.decode().splitlines()
    gs.equal(len(found), len(frames), 'names')
    return [frame if frame == '<python>' else name for frame, name in zip(frames, found)]


def check_python(of, what):
    gs.equal(of['reads']['python'][:1], [f'reads\t{WORK}\t{LINE}'], f'{what}: Python line above the C function')
    gs.equal(of['waits']['python'][0].split('\t')[0], 'Condition.wait', f'{what}: a lock')


def check_native(of):
    for function, hidden, known in [('reads', 'hidden_read', 'known_reader'),
                                    ('polls', 'hidden_poll', 'known_poller')]:
        found = names(of[function]['native'])
        gs.check(found[1:3] == [hidden, known], f'{function}: functions are {found}')
        gs.check(of[function]['native'][1].startswith(BLOCKS + '\t'), f'{function}: {of[function]}')
        print(f"{function}: {' < '.join(found)}; {of[function]['us']:.0f} us")
    found = names(of['waits']['native'])
    gs.check(len(found) > 1 and found.index('<python>') == len(found) - 1,
             f'waits: the C library, then Python: {found}')
    print(f"waits: {' < '.join(found)}; {of['waits']['us']:.0f} us")
    for function in of:
        gs.check(of[function]['same'], f'{function}: a blocked thread has one native stack')


def check_framed():
    """Built with frame pointers, as whole distributions are; its read is inlined."""
    if not os.path.exists(FRAMED):
        gs.left_out('code with frame pointers: built on x86-64 only')
        return
    found = names(look(FRAMED)['of']['reads']['native'])
    gs.equal(found[:2] + found[-1:], ['hidden_read', 'known_reader', '<python>'], 'with frame pointers')


seen = look(BLOCKS)
gs.equal((seen['ready'], seen['note'], seen['child']), (1, '', 0), 'ready')
check_native(seen['of'])
check_python(seen['of'], 'Python')
check_framed()

with gs.scratch() as where:
    done, run, _ = gs.traced([gs.PYTHON, TRAIN, BLOCKS, str(STEPS), str(SLEEP_S)], where, ['--quiet'],
                             WORKLOADS=gs.WORKLOADS)
    gs.equal(done.returncode, 0, f'native_train.py: {done.stderr.decode()[-500:]}')
    line = next(n for n, text in enumerate(open(TRAIN), 1) if 'the line of the worker' in text)
    found = [(f['class'], f['where']) for f in gs.summary(run)['findings'] if f.get('where')]
    first = next((w for c, w in found if c == 'input.fetch'), {})
    gs.equal((first.get('file'), first.get('line'), first.get('role')), (TRAIN, line, 'worker'),
             f'the line of the worker: {found}')
    gs.equal(first.get('symbol'), 'hidden_read', f'the function below it: {first}')
    print(f'a worker: {first.get("symbol")} below {os.path.basename(TRAIN)}:{first.get("line")}')
gs.finish()
