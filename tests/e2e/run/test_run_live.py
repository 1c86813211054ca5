#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""The status line, on a real pseudo-terminal: in the last row, with dollars, renewed, gone before
the verdict, and never between the command's own lines, whatever the terminal's size and however it
changes. None where stderr is not a terminal, with --quiet, or for a command without a GPU."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from terminal import Terminal

TRAIN = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', '150', '--sample-ms', '5',
         '--gpu-ms', '6']
# Starts in no time and works until it is ended.
ENDLESS = [os.path.join(gs.BUILD, 'workloads', 'mixloop'), '--ops=1000000000', '--pause-every=20',
           '--pause-us=100000']
BRIEF = [ENDLESS[0], '--ops=600', '--pause-every=20', '--pause-us=100000']  # three seconds
# Writes meanwhile: whole lines, and lines in two pieces with a pause between them.
CHATTY = ['sh', '-c', '"$@" >/dev/null & p=$!; i=0; while kill -0 $p 2>/dev/null; do i=$((i+1)); '
          'echo "line $i"; printf "begin $i "; sleep 0.1; echo "end $i" >&2; '
          '[ ! -e stop ] || kill $p; done; printf "no end of line"', 'sh']
LINE = re.compile(r'\x1b7\x1b\[(\d+);1H\x1b\[7m(.*?)\x1b\[K\x1b\[0m\x1b8', re.S)


def run(*argv, options=('--price', '36')):
    return [gs.WITH_GPUSIM, gs.CLI, 'run', *options, '--', *argv]


def env(**more):
    return gs.environment(**{'TERM': 'xterm', 'LC_ALL': 'C.UTF-8', 'NO_COLOR': None, **more})


def whole(t, what):
    """The command's lines, in order and in one piece, among all that was seen."""
    seen = [l for l in t.screen.all() if re.match(r'(line|begin) \d', l)]
    count = len(seen) // 2
    want = [l for i in range(1, count + 1) for l in (f'line {i}', f'begin {i} end {i}')]
    gs.check(count >= 10, f'{what}: it wrote {count} times')
    odd = [(s, w) for s, w in zip(seen, want) if s != w]
    gs.equal(odd[:2], [], f'{what}: lines as they were written')
    gs.check(len(seen) - len(want) < 2, f'{what}: nothing else')
    gs.equal(t.screen.unknown, [], f'{what}: only known sequences')


def gone(t, what):
    gs.equal((t.screen.top, t.screen.bottom), (0, t.screen.rows - 1), f'{what}: the row is given back')
    gs.check(not [l for l in t.screen.all() if re.match(r' gpustarve \d', l)], f'{what}: and cleared')


with gs.scratch() as where:
    os.chdir(where)

    t = Terminal(run(*CHATTY, *TRAIN), 30, 100, env())
    gs.check(t.until(LINE.pattern), 'there is a line')
    gs.check(t.screen.line[-1].startswith(' gpustarve '), f'in the last row: {t.screen.line[-1]!r}')
    gs.equal(t.settings(), t.before, 'the terminal has the settings it had')
    gs.equal(t.finish(), 0, t.raw[-500:])
    lines = LINE.findall(t.raw)
    gs.check(len(lines) >= 2, 'it is renewed')
    # Once the process has let go of its GPU nothing is paid for any more.
    rates = [re.search(r'\$(\d+)\.00/h  ', line)[1] for _, line in lines]
    gs.equal(rates, ['36'] * rates.count('36') + ['0'] * rates.count('0'), 'dollars per hour')
    gs.equal(rates[0], '36', 'dollars per hour at first')
    for row, line in lines:
        gs.equal(row, '30', 'row')
        gs.check(re.fullmatch(r' gpustarve \d+:\d\d:\d\d  1 GPU  busy [\d.]+ %  starved ~[\d.]+ %  '
                              r'\$(36|0)\.00/h(  \$[\d.]+/h of it wasted)?  <?\$[\d.]+ so far', line), line)
        gs.check(len(line) <= 99, 'fits the terminal')
    gs.equal(t.raw.count('\x1b[1;29r'), 1, 'the row is kept free')
    gone(t, 'wide')
    whole(t, 'wide')
    box = [l for l in t.screen.all() if l.startswith(('\u256d', '\u2502', '\u2570'))]
    gs.check(box and box[0].startswith('\u256d\u2500 gpustarve') and len(set(map(len, box))) == 1,
             f'the box stands on lines of its own: {box}')
    gs.check('no end of line' in t.screen.all(), 'after an unfinished line of the command')
    tail = [l for l in t.screen.all() if l]
    gs.check(tail[-1].startswith('  report: ') and tail[-2].startswith('\u2570'), f'at the end: {tail[-3:]}')
    # On a busy machine the program may have lacked a CPU for longer: that leads.
    gs.check(re.search(r'\x1b\[1;31m(host-bound and )?input-bound', t.raw), 'the verdict is coloured')

    # Narrow, without colour and in ASCII; then taller and wider, then lower, while it runs.
    t = Terminal(run(*CHATTY, *ENDLESS), 12, 40, env(NO_COLOR='1', LC_ALL='C'))
    gs.check(t.until(LINE.pattern), 'narrow: there is a line')
    t.resize(20, 60)
    gs.check(t.until(r'\x1b\[20;1H\x1b\[7m'), 'taller: it moves to the new last row')
    gs.check('\x1b[1;19r' in t.raw, 'and keeps that one free')
    at = len(t.raw)
    t.resize(9, 40)
    gs.check(t.until(r'\x1b\[9;1H\x1b\[7m', at), 'lower: and back')
    t.resize(9, 18)
    gs.check(t.until(r'\x1b\[r', at), 'no room: it goes')
    at = len(t.raw)
    t.resize(9, 40)
    gs.check(t.until(r'\x1b\[9;1H\x1b\[7m', at), 'and comes back')
    open('stop', 'w').close()
    gs.equal(t.finish(), 0, t.raw[-500:])
    for row, line in LINE.findall(t.raw):
        gs.check(len(line) <= (59 if row == '20' else 39), f'{row}: {line!r}')
        gs.check(re.match(r' gpustarve \d+:\d\d:\d\d  ', line), line)
    gs.check(any('starved' in line for _, line in LINE.findall(t.raw)), 'what matters is there')
    gs.check(not re.search(r'\x1b\[1;3\dm', t.raw), 'no colour with NO_COLOR')
    box = [l for l in t.screen.all() if re.match(r'[+|]', l)]
    gs.check(box and {len(l) for l in box} == {40} and '\u2502' not in t.raw, f'ASCII, 40 columns: {box}')

    # None: --quiet; a dumb terminal; a command without a GPU.
    for what, argv, more in (('quiet', run(*BRIEF, options=('--quiet',)), {}),
                             ('dumb', run(*BRIEF), {'TERM': 'dumb'}),
                             ('no GPU', [gs.CLI, 'run', '--', 'sleep', '2.5'], {})):
        t = Terminal(argv, 30, 100, env(**more))
        gs.equal(t.finish(), 0, what)
        gs.check('\x1b' not in t.raw, f'{what}: {t.raw!r}')
        gs.check(what != 'quiet' or 'gpustarve' not in t.raw, f'{what}: {t.raw!r}')

    # A pipe: the command's bytes and nothing else; without --quiet the verdict follows, plain.
    chat = ['sh', '-c', 'printf "out \\033[1mx\\r\\n\\000y"; printf "err\\t\\200" >&2; "$@" >/dev/null', 'sh',
            ENDLESS[0], '--ops=300']
    plain = gs.command([gs.WITH_GPUSIM, *chat], env=env())
    quiet = gs.command(run(*chat, options=('--quiet',)), env=env())
    gs.equal((quiet.returncode, quiet.stdout, quiet.stderr),
             (plain.returncode, plain.stdout, plain.stderr), '--quiet in a pipe')
    piped = gs.command(run(*chat), env=env())
    gs.equal(piped.stdout, plain.stdout, 'a pipe gets the command\'s output')
    gs.check(piped.stderr.startswith(plain.stderr + b'gpustarve: '), f'and the verdict: {piped.stderr!r}')
    gs.check(b'\x1b' not in piped.stderr, 'plain')
gs.finish()
