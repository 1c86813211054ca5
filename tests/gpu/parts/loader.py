# SPDX-License-Identifier: Apache-2.0
"""Loaders that starve the GPU by a known time, and one that does not: the script's own clock and the
trace's own rows against the ledger, and the line of the program that is named."""
import concurrent.futures
import json
import os
import re
import sys

import base
import spans
from traces import Run

SECONDS = 40
NEEDED = 20     # a program that has less time left is not begun
AROUND = 14     # what a program takes beside its training: imports, the report
SIM_TRAIN = os.path.join(base.WORK, 'train_loader.py')
# Causes that are a line of the data set's code; others are the loop's own line.
MAKING = ('input.fetch', 'input.prep', 'input.cpu_starved', 'input.inline')
# A script's clock is read some instructions away from the hook; a core may be lost in between.
NEAR_NS = 100_000_000 if base.SIMULATED else 5_000_000


def python_with_torch(r):
    """This one, where the report's head names its torch; the simulator's machine keeps it elsewhere: one that
    works on the device, or Debian's, before which a loop of our own stands."""
    if base.SIMULATED and base.TORCH:
        return base.TORCH
    if r.machine['torch'] != 'none':
        return sys.executable
    other = '/usr/bin/python3'
    return other if base.text(other, '-c', 'import torch; print(1)') == '1' else None


def cases(python):
    """(question, what is expected, arguments)"""
    if not base.TORCH:
        own = [python, SIM_TRAIN, '--own-ledger', '{times}', '--batch', '4']
        return [('workers, slow samples', 'time.sleep', own + ['--workers', '2', '--dataset', 'sleep',
                                                               '--sample-ms', '20', '--steps', '30']),
                ('no workers, JPEG decoding', '', own + ['--workers', '0', '--dataset', 'jpeg',
                                                         '--steps', '30']),
                ('a model that is slower than its loader', None, own + [
                    '--workers', '2', '--dataset', 'sleep', '--sample-ms', '1', '--gpu-ms', '40', '--pin',
                    '--sync', 'late', '--steps', '20' if base.QUICK else '60'])]
    own = [python, base.TRAIN, '--model', 'cnn', '--data', 'jpeg', '--step-times', '{times}']
    return [('workers, slow samples', 'time.sleep', own + ['--workers', '4', '--batch', '32',
                                                           '--sample-ms', '8', '--steps', '60']),
            ('no workers, JPEG decoding', '', own + ['--workers', '0', '--batch', '32', '--pixels', '256',
                                                     '--steps', '40']),
            ('a model that is slower than its loader', None, own + [
                '--workers', '8', '--batch', '64', '--width', '256', '--pin', '--look-every', '20',
                '--steps', '100000', '--seconds', '{seconds}'])]


def waited(run, path):
    """ns that the script spent in next() by its own clock, the one that ended the data included."""
    if not base.TORCH:
        with open(path) as f:
            total = json.loads(f.read().splitlines()[-1])
        return total['wait_ns'] + total['ending_ns']
    found = re.search(r'waited (\d+) ns for the end', run.said)
    return sum(got - begin for begin, got, _ in run.steps) + (int(found[1]) if found else 0)


def input_ns(summary):
    return sum(v['ns'] for k, v in summary['ledger']['classes'].items() if k.startswith('input.'))


def trained_ns(summary):
    out = ('excluded.startup', 'excluded.teardown', 'excluded.no_process')
    return max(1, sum(v['ns'] for k, v in summary['ledger']['classes'].items() if k not in out))


def line_of(place):
    """The source line that a finding names, '' where it names none."""
    try:
        with open(place['file']) as f:
            return f.read().splitlines()[place['line'] - 1].strip()
    except (OSError, IndexError, KeyError, TypeError):
        return ''


def named(summary, script, words):
    """(does the greatest finding of a starved loader that has a place name a line of the script, with
    these words in it; the place in words)"""
    with_place = [f for f in summary['findings'] if f['class'] in MAKING and f['where'].get('file')]
    if not with_place:
        return False, 'no line named'
    where = max(with_place, key=lambda f: f['ns'])['where']
    text = line_of(where)
    right = os.path.basename(where['file']) == os.path.basename(script) and words in text and bool(text)
    return right, f'{os.path.basename(where["file"])}:{where.get("line")} {where.get("function")}: {text}'


def seen(run):
    """The loader's waits and the exposed part of them, by the trace's own rows."""
    busy, waits = spans.of_dump(run.text)
    return waits, spans.measure(spans.common(spans.union(waits), spans.gaps(busy)))


def common_words(run, own):
    """What is asked of both kinds: (words, right, the waits)."""
    gpu, found = run.summary['gpus'][0], run.faults()
    waits, exposed = seen(run)
    got, told = gpu['loader_wait_ns'], gpu['loader_exposed_ns']
    words = (f'waited {own / 1e9:.3f} s by the script\'s clock, recorded {got / 1e9:.3f} s; exposed '
             f'{told / 1e9:.3f} s by the ledger, {exposed / 1e9:.3f} s by the trace\'s rows')
    right = abs(got - own) <= 0.02 * own + NEAR_NS and abs(told - exposed) <= 0.01 * exposed + 1_000_000
    return '; '.join(found + [words]), right and not found, waits


def ask_starved(r, question, run, own, script, words):
    text, right, _ = common_words(run, own)
    s, gpu = run.summary, run.summary['gpus'][0]
    line, place = named(s, script, words)
    text += (f'; input.* {input_ns(s) / 1e9:.3f} s of {gpu["held_ns"] / 1e9:.3f} s held; {s["verdict"]}, '
             f'{place}')
    r.put('loader', question, text, right and line and s['verdict'] == 'input-bound' and bool(s['advice']),
          goal='2 % of the waits, input-bound, its line', place=place, **run.data())


def ask_fed(r, question, run, own):
    """Its loader's waits are hidden behind the GPU's work, but the first, in which workers start."""
    text, right, waits = common_words(run, own)
    s, gpu = run.summary, run.summary['gpus'][0]
    busy, _ = spans.of_dump(run.text)
    later = spans.measure(spans.common(spans.union(waits[1:]), spans.gaps(busy)))
    span, worked = max(1, gpu['span_ns']), trained_ns(s)
    share, computed = 100 * later / span, 100 * gpu['classes'].get('compute', 0) / worked
    text += (f'; behind the first {later / 1e9:.3f} s = {share:.2f} % of the {span / 1e9:.1f} s between '
             f'first and last operation; computing {computed:.1f} % of the time without start-up and '
             f'teardown, {s["verdict"]}')
    # On the simulator a busy machine may keep the loop from queueing work for longer than it has.
    right = right and (base.SIMULATED or share <= 1 and computed >= 80)
    r.put('loader', question, text, right, goal='exposed 1 %, computing 80 %', share=share, **run.data())


def answer(r, out, question, words, argv, run):
    if run is None or base.SIMULATED and run.late:
        r.skip('loader', question, 'out of time')
        return
    times = os.path.join(out, run.name + '.steps')
    if not run.summary or not os.path.exists(times):
        r.put('loader', question, f'rc {run.rc}; {base.verdict_of(run.summary, run.err)}', False)
        return
    own, script = waited(run, times), argv[1]
    if words is None:
        ask_fed(r, question, run, own)
    else:
        ask_starved(r, question, run, own, script, words)


def play(out, number, argv):
    if base.left() < (5 if base.SIMULATED else NEEDED):
        return None
    seconds = str(int(max(4, min(10, base.left() - AROUND))))
    argv = [seconds if a == '{seconds}' else a for a in argv]
    return Run(f'loader-{number}', argv, out, timeout=90 if not base.SIMULATED else 400, rows=bool(base.TORCH))


def part(r, out):
    python = python_with_torch(r)
    if not python:
        r.skip('loader', 'all', 'no Python here has torch')
        return
    asked = cases(python)
    # Those that starve leave the GPU idle, and run beside each other; the last one has it alone.
    together, alone = (asked[::2], []) if base.SIMULATED and base.QUICK else (asked[:2], asked[2:])
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(play, out, i, c[2]) for i, c in enumerate(together)]
        for (question, words, argv), run in zip(together, runs):
            guarded(r, out, question, words, argv, run.result)
    for question, words, argv in alone:
        guarded(r, out, question, words, argv, lambda: play(out, len(together), argv))


def guarded(r, out, question, words, argv, run):
    try:
        answer(r, out, question, words, argv, run())
    except Exception as error:  # one question that breaks leaves the others theirs
        r.put('loader', question, f'broke: {error!r}', False)
