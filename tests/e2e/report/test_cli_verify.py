#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""verify: agrees with what report wrote, and exits 2 when any one digit of it is another; also of what
samples and batches told."""
import json
import os
import random
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny
from gst_reader import crc32c

def change_digits(run, path, count):
    """Each of so many digits changed alone makes verify exit 2; returns how often it names the key."""
    with open(path) as f:
        text = f.read()
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    named = 0
    for at in random.sample(digits, count):
        other = random.choice([d for d in '0123456789' if d != text[at]])
        with open(path, 'w') as f:
            f.write(text[:at] + other + text[at + 1:])
        done = gs.gpustarve('verify', run)
        line = text[:at].count('\n') + 1
        gs.equal(done.returncode, 2, f'digit at {at}, line {line}: {text.splitlines()[line - 1]}')
        gs.check(done.stderr.startswith(b'gpustarve: '), 'one line says so')
        named += b': summary.json says' in done.stdout
    with open(path, 'w') as f:
        f.write(text)
    return named


def block_of(text):
    """Where the data block of a page begins and ends."""
    mark = '<script type="application/json" id="gpustarve-data">'
    at = text.index(mark) + len(mark)
    return at, text.index('</script>', at)


def change_block(run, count):
    """Each of so many digits of the page's data block changed alone makes verify exit 2."""
    path = os.path.join(run, 'report.html')
    with open(path) as f:
        text = f.read()
    begin, end = block_of(text)
    digits = [i for i in range(begin, end) if text[i].isdigit()]
    for at in random.sample(digits, count):
        other = random.choice([d for d in '0123456789' if d != text[at]])
        with open(path, 'w') as f:
            f.write(text[:at] + other + text[at + 1:])
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 2, f'block, digit at {at}: {text[at - 40:at + 10]}')
        gs.check(b'data block' in done.stderr, f'says which: {done.stderr}')
    with open(path, 'w') as f:
        f.write(text)
    return text


def sealed(text):
    """The page with a checksum that fits what stands in its block: a forger's."""
    begin, end = block_of(text)
    body = text[begin:end - len(',"checksum":"0123456789abcdef"}')]
    h = 0xcbf29ce484222325
    for byte in body.encode():
        h = (h ^ byte) * 0x100000001b3 % 2**64
    return f'{text[:begin]}{body},"checksum":"{h:016x}"}}{text[end:]}'


def pages(run):
    """The data block of report.html: verified where there is one, and named where there is none."""
    path = os.path.join(run, 'report.html')
    for options in [], ['--window', 'device']:  # the summary's window, and another
        gs.gpustarve('report', run, '--format', 'html', '-o', path, *options)
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 0, f'page {options}: {done.stdout} {done.stderr}')
        gs.check(b'data block' in done.stdout, f'page {options}: it was compared')
    text = change_block(run, 24)
    begin, end = block_of(text)
    digits = [i for i in range(begin + 200, end - 40) if text[i].isdigit()]
    named = 0
    for at in random.sample(digits, 12):  # forged, checksum and all
        with open(path, 'w') as f:
            f.write(sealed(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1:]))
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 2, f'forged, digit at {at}: {text[at - 40:at + 10]}')
        named += b'report.html says' in done.stdout  # unless it is JSON no more, as 012 is not
    gs.check(named > 6, f'names the value: {named} of 12')
    for what, page in [('no data block', text[:begin - 60] + text[end:]),
                       ('made by version 0.0.0',
                        sealed(text.replace('"version":"' + text[begin:].split('"version":"')[1]
                                            .split('"')[0], '"version":"0.0.0'))),
                       ('without the trace', text[:begin] + sealed_bare(text[begin:end]) + text[end:])]:
        with open(path, 'w') as f:
            f.write(page)
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 0, f'{what}: {done.stdout} {done.stderr}')
        gs.check(what.encode() in done.stderr, f'{what}: says so: {done.stderr}')
    with open(path, 'w') as f:
        f.write(text.replace('</body>', text[begin - 60:end] + '</script></body>'))
    gs.equal(gs.gpustarve('verify', run).returncode, 2, 'two blocks')
    os.unlink(path)
    done = gs.gpustarve('verify', run)
    gs.equal((done.returncode, done.stderr), (0, b''), 'no page')


def sealed_bare(block):
    """A block that says that it has no series."""
    head = block[:block.index('"series":true')] + '"series":false'
    mark = '<script type="application/json" id="gpustarve-data">'
    page = sealed(mark + head + ',"checksum":"0123456789abcdef"}</script>')
    return page[len(mark):-len('</script>')]


def signed(text):
    """With the digest of what stands before it."""
    at = text.rindex('"digest"')
    body = text[:at].rstrip().rstrip(',').rstrip()
    return text[:at] + f'"digest": "crc32c:{crc32c(body.encode()):08x}"' + '\n}\n'


def other_version(run, path):
    """A summary as written by one that knows less, or more: what both know is compared, and must be right."""
    with open(path) as f:
        text = f.read()
    gs.equal(json.loads(signed(text)), json.loads(text), 'the digest is as here')
    lines = text.split('\n')
    at = next(i for i, l in enumerate(lines) if l.startswith('  "severity"'))
    for what, other in (('less', lines[:at] + lines[at + 1:]), ('more', lines[:at] + ['  "later": 7,'] + lines[at:])):
        for status, written in (0, signed('\n'.join(other))), (2, '\n'.join(other)):
            with open(path, 'w') as f:
                f.write(written)
            done = gs.gpustarve('verify', run)
            gs.equal(done.returncode, status, f'{what}: {done.stdout} {done.stderr}')
            gs.equal(b'by another version' in done.stderr, not status, f'{what}: {done.stderr}')
    i = next(i for i, l in enumerate(other) if '"held_ns"' in l)
    other[i] = other[i].replace('0', '1', 1) if '0' in other[i] else other[i].replace('1', '2', 1)
    with open(path, 'w') as f:
        f.write(signed('\n'.join(other)))
    gs.equal(gs.gpustarve('verify', run).returncode, 2, 'more, and a value that is another')
    with open(path, 'w') as f:
        f.write(text)


def loader():
    """A job whose loader starves it: findings with lines of code, facts of the loader."""
    with gs.scratch() as where:
        done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps',
                                  '40', '--sample-ms', '8', '--workers', '1'], where)
        gs.equal(done.returncode, 0, f'loader: {done.stderr.decode()[-300:]}')
        path = os.path.join(run, 'summary.json')
        gs.equal(gs.gpustarve('verify', run).returncode, 0, 'loader: as run left it')
        gs.gpustarve('report', run, '--format', 'json', '-o', path)
        one = str(min(os.sched_getaffinity(0)))
        for how in ['taskset', '-c', one], []:  # one thread, and many
            done = gs.command([*how, gs.CLI, 'verify', run])
            gs.equal(done.returncode, 0, f'loader: {how}: {done.stdout} {done.stderr}')
        with open(path) as f:
            made = json.load(f)
        gs.check(any(f['where'].get('function') for f in made['findings']), 'a line of code')
        gs.check(made['loader'].get('settings'), 'settings of the loader')
        change_digits(run, path, 40)
        change_block(run, 16)  # as run left it


random.seed(5)
with gs.scratch() as where:
    run = tiny.imported(where, gpus=2)
    path = os.path.join(run, 'summary.json')
    done = gs.gpustarve('verify', run)
    gs.equal(done.returncode, 1, 'no summary yet')
    gs.check(b'report' in done.stderr, 'says how to make one')
    for options in ['--price', '6.88'], ['--window', 'device', '--waste', 'input.*'], \
            ['--price-model', 'spot'], []:
        gs.gpustarve('report', run, '--format', 'json', '-o', path, *options)
        done = gs.gpustarve('verify', run)
        gs.equal(done.returncode, 0, f'verify {options}: {done.stdout} {done.stderr}')
    gs.gpustarve('report', run, '--format', 'json', '-o', path, '--price', '6.88')
    with open(path) as f:
        text = f.read()
    named = change_digits(run, path, 120)
    gs.check(named > 60, f'the key is named: {named} of 120')
    with open(path, 'w') as f:
        f.write(text.replace('  ', '\t').replace('": ', '":'))
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'white space does not matter')
    with open(path, 'w') as f:
        f.write(text[:len(text) // 2])
    gs.equal(gs.gpustarve('verify', run).returncode, 2, 'a cut summary')
    with open(path, 'w') as f:
        f.write(text)
    other_version(run, path)
    pages(run)
loader()
gs.finish()
