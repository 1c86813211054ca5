#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The words that users see (scripts/words), against those that were decided against: one name per thing, British
spelling, a space before a unit, nothing that readers stumbled over. What summaries say (tests/data/summary) has no
hole where a part is missing: no colon with nothing behind it, no two spaces, no space before a stop."""
import glob
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

# What is not said, as a pattern; what is said instead; what shows that the pattern finds it.
AGAINST = (
    # Readers stumbled over these.
    (r'the trainer on CPU', 'the main process on a CPU', 'the trainer on CPU'),
    (r'Hand batches over more cheaply', 'Speed up passing batches from workers', 'Hand batches over more cheaply'),
    (r'\bnot counted\b', 'left out', 'time is not counted, so'),
    (r'and its kin\b', 'the likes by name', 'select() and its kin'),
    (r'nothing came true', 'none of it was realised', 'nothing came true'),
    (r'of no team \(label', 'has no team label', '3 runs of no team (label team)'),
    (r': no price(?! is known| known)', 'no price is known', '%s: no price'),
    (r'after it was taken', 'after the step that took it', 'after it was taken'),
    (r'95 %+ within', '95 %% sure: %s to %s', '95 %% within 3 ms'),
    # One name per thing.
    (r'\btrainer\b', 'main process', "the trainer's memory"),
    (r'\blooks? (?:fell|was|were|left)|%s were left out, for|%\w+ looks?\b', 'sample', 'no look fell into'),
    (r'may be given several times', 'may be repeated', 'KEY=VALUE; may be given several times'),
    (r'budgets? (?:\w+ )*(?:is|are) told|told once at', 'reported', 'when a budget is told'),
    (r'\bsub-command', 'subcommand', 'no sub-command'),
    (r'\b[Gg][Pp][Uu] hours?\b', 'GPU-hours', '3 GPU hours'),
    (r'\binput bound\b|\bhost bound\b', 'input-bound, host-bound', 'it is input bound'),
    (r'\bthe kernel(?:\'s thread ids| counted| cannot| does not)', 'Linux; a kernel is the GPU\'s', 'the kernel counted'),
    (r'\bthe centre\b', 'the upstream', 'should the centre lose it'),
    # English.
    (r'do(?:es)? not add up', 'overlap: in English what does not add up makes no sense', 'they do not add up'),
    (r'(?:^|\b)(?<!there )(?<!There )(?:is|are) no (?!longer|more|grade|price)', 'is not a', 'it is no baseline'),
    (r': no (?:such number|number|size|time|date|percentage|length)\b', 'not a', '--top %s: no such number'),
    (r', for (?:it|they|all|that|recording)\b', 'because', '%s were left out, for they cost'),
    (r'\banew\b', 'again', 'install gpustarve anew'),
    (r'\bstands? (?:in|before|above|behind)\b(?! for)', 'is in, comes before', 'it stands in the table'),
    (r'\b(?:for|wait|take|took|are) so (?:long|much|many)\b|^so (?:long|much|many)\b(?! )', 'this long', 'wait so long'),
    (r'\bfor ever\b', 'forever', 'silent for ever'),
    (r'\bin the place of\b', 'in place of', 'in the place of libprof'),
    (r'\bruns? (?:that )?goes? on\b|^,? ?goes on$', 'running', 'no such run goes on'),
    (r'\bonce a run\b', 'once per run', 'paid once a run'),
    (r'\bppm\b|parts in a million', 'percent', '300 parts in a million'),
    # British spelling, as the documents have it; a torch optimizer is called as torch calls it.
    (r'\b[a-z]*(?:utiliz|normaliz|initializ|synchroniz|organiz|realiz|customiz|recogniz)(?:e[ds]?|ing|ation)\b(?!\()',
     '-ise', 'GPU utilization'),
    (r'(?i)\b(?:neighbor|behavior|favorite|catalog|center|canceled|labeled|color)s?\b(?![-:])', 'neighbour, colour, centre',
     'the neighbors'),
    (r'(?<![(/*,\w])(?<!such as )(?:host|device|excluded|comm|input)\.[a-z_]{3,}', 'words, the class behind them in brackets',
     'their time is device.lost'),
    # Units.
    (r'(?:\d|%[.\d*]*(?:s|d|f|u|zu|lld|llu|<PRI\w+>)|\})%%', '5 %%', '%s%% of it'),
    (r'\b\d+(?:us|ms|ns|KiB|MiB|GiB|kB|MB)\b', '5 ms', 'over 60us'),
    (r'[a-z,;.]  [a-zA-Z]', 'one space', 'the  GPU'),
)
# Where it is right: the pattern's word, and a part of the line of scripts/words.
RIGHT = (
    ('trainer thread', 'viewer/findings/words.c:'),  # a role's name in summary.json
    ('  waiting for a batch', 'viewer/feed/feed_text.c:'),  # heads of columns
    ('q quit  s sort', 'viewer/top/screen.c:'),
    ('%-16.16s  no summary', 'viewer/cmd/runs.c:'),
    ('comment  one line', 'viewer/cmd/job.c:'),
    ('device.context.stream', 'viewer/cmd/dump.c:'),
    ('/ledger/classes/', 'viewer/report/html/'),  # keys of numbers
)

HOLES = re.compile(r'[:,;]$|[:,;] *[:,;.](?!\w|\.\.)|(?<!\w)\(\)|\( | \)|  | [,.;](?!\.\.|\w|$)')


def printed(*paths):
    return subprocess.run([os.path.join(gs.SOURCE, 'scripts/words'), *paths], capture_output=True, text=True,
                          check=True).stdout.splitlines()


def wrong(line):
    """What is said instead of what this line has."""
    words = line.split(': ', 1)[1].replace('\\n', '\n')
    if any(word in words and where in line for word, where in RIGHT):
        return []
    return [f'{line}: better "{instead}"' for against, instead, _ in AGAINST if re.search(against, words)]


def said(at):
    """The sentences of a summary: strings with spaces, but those that the run brought along."""
    if isinstance(at, dict):
        for name, value in at.items():
            if name not in ('command', 'name', 'kernels'):
                yield from said(value)
    elif isinstance(at, list):
        for value in at:
            yield from said(value)
    elif isinstance(at, str) and ' ' in at:
        yield at


def check_can_fail():
    for against, _, example in AGAINST:
        gs.check(wrong(f'viewer/x.c:1: {example}'), f'{against} is found in "{example}"')
    for hole in ('waited for batches:', 'a , b', 'two  spaces', 'waited: ; so', 'at (): it'):
        gs.check(HOLES.search(hole), f'a hole: {hole}')


def check_reading():
    """The script itself: what it takes for words, and what it joins."""
    with gs.scratch() as folder:
        path = os.path.join(folder, 'a.c')
        with open(path, 'w', encoding='utf-8') as f:
            f.write('#include "not here.h"\n/* "nor here" */\nint c = \'"\';\nsay("one of %" PRIu64\n    " parts, \\"quoted\\"");\n'
                    'key("a_key"); sql("SELECT a FROM b");\n#define X "two words"\n"three words"\n')
        gs.equal([line.split(':', 1)[1] for line in printed(path)],
                 ['4: one of %<PRIu64> parts, \\"quoted\\"', '7: two words', '8: three words'], 'what is printed')


check_can_fail()
lines = printed()
gs.check(len(lines) > 3000, f'{len(lines)} strings were read')
for line in lines:
    for words in wrong(line):
        gs.check(False, words)
for path in sorted(glob.glob(os.path.join(gs.SOURCE, 'tests/data/summary/*.json'))):
    with open(path, encoding='utf-8') as f:
        for text in said(json.load(f)):
            gs.check(not HOLES.search(text), f'{os.path.basename(path)}: {text}')
gs.finish()
