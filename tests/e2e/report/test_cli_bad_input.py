#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Bad input to every command that reads a run: one clear line, the right exit status, no crash."""
import os
import random
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny

READERS = [['report'], ['report', '--format', 'json'], ['report', '--format', 'html'], ['verify'],
           ['dump'], ['dump', '--steps']]


def refused(argv, what, status=1):
    done = gs.gpustarve(*argv)
    gs.equal(done.returncode, status, f'{what}: {" ".join(argv)}: {done.stderr.decode()}')
    lines = done.stderr.decode().splitlines()
    gs.equal(len(lines), 1, f'{what}: {" ".join(argv)}: lines {lines}')
    for line in lines:
        gs.check(line.startswith('gpustarve: ') and ': ' in line[11:] and ';' in line,
                 f'{what}: says what, why and what to do: {line}')
    return done


def survives(argv, what):
    done = gs.gpustarve(*argv)
    gs.check(done.returncode in (0, 1, 2), f'{what}: {" ".join(argv)}: exit {done.returncode}')
    for line in done.stderr.decode().splitlines():
        gs.check(line.startswith('gpustarve: '), f'{what}: {line}')
    return done


with gs.scratch() as where:
    at = lambda name: os.path.join(where, name)  # noqa: E731
    open(at('empty'), 'w').close()
    os.mkdir(at('folder'))
    with open(at('random'), 'wb') as f:
        f.write(random.Random(1).randbytes(100_000))
    os.mkdir(at('random.gst'))
    shutil.copy(at('random'), os.path.join(at('random.gst'), '00.gst'))
    os.mkdir(at('empty.gst'))
    open(os.path.join(at('empty.gst'), '00.gst'), 'w').close()
    for reader in READERS:
        for name in ('missing', 'empty', 'folder', 'random', 'random.gst', 'empty.gst'):
            refused([*reader, at(name)], name)
        refused(reader, 'no run named')
        refused([*reader, '--nonsense', at('folder')], 'unknown option')

    # A good run, cut and damaged: what is whole is shown, and the loss is said.
    run = tiny.imported(where, steps=50)
    file = os.path.join(run, [f for f in os.listdir(run) if f.endswith('.gst')][0])
    with open(file, 'rb') as f:
        good = f.read()
    rng = random.Random(2)
    for i in range(25):
        data = bytearray(good)
        if i % 2:
            data = data[:rng.randrange(len(data))]
        else:
            for _ in range(rng.randrange(1, 40)):
                data[rng.randrange(len(data))] = rng.randrange(256)
        with open(file, 'wb') as f:
            f.write(data)
        for reader in READERS:
            if reader[0] != 'verify':
                survives([*reader, run], f'damage {i}')
    with open(file, 'wb') as f:
        f.write(good[:len(good) - 7])
    done = survives(['report', run], 'cut')
    gs.equal(done.returncode, 0, 'a cut trace still makes a report')
    gs.check(b'damage' in done.stdout or b'cut' in done.stdout or b'last word' in done.stdout or
             b'lost' in done.stdout or b'ends' in done.stdout, 'and the report says so')

    with open(file, 'wb') as f:
        f.write(good)
    refused(['report', run, '--format', 'xml'], 'format')
    refused(['report', run, '--price', 'free'], 'price')
    refused(['report', run, '--price-model', 'gift'], 'price model')
    refused(['report', run, '--window', 'moon'], 'window')
    refused(['report', run, '--waste', 'time'], 'waste')
    refused(['report', run, '--format'], 'option without value')
    refused(['report', run, '-o', at('no/such/folder/file')], 'output')
    refused(['report', run, '--runs-per-month', '3'], 'one run per month')
    refused(['nonsense'], 'no such command')

    # What was probably meant is said.
    def meant(argv, words, **env):
        done = gs.gpustarve(*argv, env=gs.environment(**env))
        said = done.stderr.decode()
        gs.equal((done.returncode, said.count('\n')), (1, 1), f'{argv}: {said}')
        gs.check(words in said, f'{argv}: {words} in {said}')

    meant(['reprot'], 'did you mean report?')
    meant(['report', run, '--fromat=json'], 'did you mean --format?')
    meant(['verify'], f'the newest one is {run}', GPUSTARVE_OUT=where)
    meant(['export'], f'the newest one is {run}', GPUSTARVE_OUT=where)
    meant(['report', where], f'the newest is {run}')
    meant(['report', os.path.basename(run)[:-4]], f'did you mean {run}?', GPUSTARVE_OUT=where)
    gs.equal(gs.gpustarve('help', 'run').stdout, gs.gpustarve('run', '--help').stdout, 'help run')
    refused(['help', 'nonsense'], 'help for no command')
    refused(['run'], 'no command to run')
    refused(['run', '--level', '7', '--', 'true'], 'level')
    refused(['run', '--price', 'x', '--', 'true'], 'price of run')
    refused(['run', '--label', 'x', '--', 'true'], 'label of run')
    refused(['run', '--max-trace', 'huge', '--', 'true'], 'max-trace of run')
    refused(['run', '--', at('missing')], 'no such program', 127)
    refused(['run', '--', at('random')], 'not executable', 126)
    refused(['prices', 'import', at('missing')], 'prices: missing')
    refused(['prices', 'import', at('empty')], 'prices: empty')
    refused(['prices', 'import', at('random')], 'prices: random')
    refused(['prices', 'import', at('folder')], 'prices: folder')
    refused(['prices', 'nonsense'], 'prices: no such thing')
    gs.equal(gs.gpustarve('--help').returncode, 0, '--help')
    gs.equal(gs.gpustarve('--version').stdout.split()[0], b'gpustarve', '--version')
    for name in 'run', 'report', 'verify', 'dump', 'doctor', 'prices', 'import':
        done = gs.gpustarve(name, '--help')
        gs.equal(done.returncode, 0, f'{name} --help')
        gs.check(done.stdout.startswith(b'usage: gpustarve ' + name.encode()), f'{name} --help')
        gs.equal(done.stderr, b'', f'{name} --help')
gs.finish()
