#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Completion in bash and in zsh: commands, the options that --help shows (and no others), values,
classes, formats, run directories; and both files are installed where the shells look."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import completing
import gs
import manual
import schema

COMMON = {'-h', '--help'}


def options_of(name):
    told = manual.of_help(name)
    return {o: told[o].argument is not None for o in set(told) - COMMON}


def program(name):
    return ['gpustarve-collector'] if name == 'collector' else ['gpustarve', name]


def questions():
    """Lines, and of each which words must come, given as a set, or a function that says what is
    wrong with an answer."""
    names = manual.commands()
    classes = set(schema.ours()['$defs']['class']['enum'])
    models = {'on-demand', 'spot', 'reserved', 'owned'}
    yield ['gpustarve', ''], set(names) | {'--help', '--version'}
    yield ['gpustarve', 're'], {n for n in names if n.startswith('re')}
    for name in names + ['collector']:
        options = options_of(name)
        yield program(name) + ['-'], set(options) | COMMON
        for option, takes in sorted(options.items()):
            others = (set(options) | COMMON) - {option}
            yield program(name) + [option, '-'], (lambda got, takes=takes, others=others:
                                                  bool(got & others) == takes and
                                                  f'takes a value: {takes}, but offered {sorted(got)}')
    for name in 'run', 'report', 'check', 'export', 'prices':
        yield ['gpustarve', name, '--price-model', ''], models
    said = re.search(r'--format ([a-z|]+)', manual.help_text('report')).group(1)
    yield ['gpustarve', 'report', '--format', ''], set(said.split('|'))
    yield ['gpustarve', 'check', '--format', ''], {'text'} | set(manual.formats('check'))
    yield ['gpustarve', 'export', '--format', ''], set(manual.formats())
    yield ['gpustarve', 'export', '--format', 'p'], {f for f in manual.formats() if f.startswith('p')}
    for name in 'report', 'check', 'export':
        yield ['gpustarve', name, '--window', ''], {'job', 'device'}
    yield ['gpustarve', 'export', '--table', ''], {'gaps', 'classes', 'gpus', 'steps', 'outcomes'}
    yield ['gpustarve', 'run', '--level', ''], {'0', '1', '2'}
    for name in 'report', 'check':
        yield ['gpustarve', name, '--waste', ''], classes
    yield (['gpustarve', 'report', '--waste', 'input.fetch,host.s'],
           {'input.fetch,' + c for c in classes if c.startswith('host.s')})
    for name in 'report', 'verify', 'check', 'export', 'dump':
        yield ['gpustarve', name, ''], {'a.gst', 'runs'}
        yield ['gpustarve', name, 'runs/'], {'runs/b.gst'}
    yield ['gpustarve', 'report', 'a.gst', '--price', '2', 'runs/'], {'runs/b.gst'}
    yield ['gpustarve', 'import', 'tr'], {'trace.json'}
    yield ['gpustarve', 'prices', ''], {'list', 'show', 'import'}
    yield ['gpustarve', 'job', ''], {'begin', 'end', 'comment', 'list'}
    yield ['gpustarve', 'run', '--', 'bas'], lambda got: 'bash' not in got and f'no bash in {sorted(got)}'
    yield ['gpustarve', 'run', '--price', '2', 'bash', 'tr'], {'trace.json'}
    yield ['gpustarve', 'nonsense', '-'], set()


def judge(shell, lines, answers, wanted):
    gs.equal(len(answers), len(lines), f'{shell}: answers')
    for line, answer, want in zip(lines, answers, wanted):
        # zsh tells the part of a path behind the last slash; a lone - stands for "options follow"
        lead = line[-1][:line[-1].rfind('/') + 1]
        got = {a if a.startswith(lead) else lead + a for a in answer} - {'-'}
        if callable(want):
            wrong = want(got)
            gs.check(not wrong, f'{shell}: {" ".join(line)}: {wrong}')
        else:
            gs.equal(sorted(got), sorted(want), f'{shell}: {" ".join(line)}')


def check_shells():
    pairs = list(questions())
    lines, wanted = [l for l, _ in pairs], [w for _, w in pairs]
    with gs.scratch() as where:
        for made in 'a.gst', 'runs/b.gst':
            os.makedirs(os.path.join(where, made))
        for file in 'trace.json', 'notes.txt':
            open(os.path.join(where, file), 'w').close()
        judge('bash', lines, completing.in_bash(lines, where), wanted)
        equals = completing.in_bash([['gpustarve', 'report', '--format', '=', 'j']], where)
        gs.equal(equals, [['json']], 'bash: --format=j')
        answers = completing.in_zsh(lines, where)
        if answers is None:
            gs.left_out('no zsh: its completion')
        else:
            judge('zsh', lines, answers, wanted)
    print(f'{len(lines)} lines')


def check_tables():
    """What the files hold of the commands' tables of options is what the tables hold."""
    maker = os.path.join(gs.BUILD, 'tests', 'completions')
    if not os.path.exists(maker):
        gs.left_out('no collector: whether completions follow the tables of options')
        return
    for file in 'gpustarve.bash', '_gpustarve':
        made = gs.command([maker, os.path.join(completing.FOLDER, file)])
        gs.equal((made.returncode, made.stdout.decode()), (0, manual.read(completing.FOLDER, file)),
                 f'{file}; build/tests/completions --write makes it anew')


def check_installed():
    with gs.scratch() as where:
        done = gs.command(['cmake', '--install', gs.BUILD, '--prefix', where])
        gs.equal(done.returncode, 0, f'cmake --install: {done.stderr.decode()}')
        for file, source in (('bash-completion/completions/gpustarve', 'gpustarve.bash'),
                             ('bash-completion/completions/gpustarve-collector', 'gpustarve.bash'),
                             ('zsh/site-functions/_gpustarve', '_gpustarve')):
            gs.equal(manual.read(where, 'share', file), manual.read(completing.FOLDER, source), file)


check_shells()
check_tables()
check_installed()
gs.finish()
