# SPDX-License-Identifier: Apache-2.0
"""How far the links in a trace's samples go (docs/FORMAT.md), before any rule: of the submitter's samples
inside of waits, those that say what is waited for, those for which somebody then or up to 2 s before could be
seen to hold it, and those for which somebody was about to give it."""
import bisect
import collections

import gst_reader

SUBMITTER, RUNNING, SOON = 1, 1, 2_000_000_000


def ids(sample, mark):
    return {word[1:] for word in (sample['links'] or '').split() if word[0] == mark}


def reach(run, waits):
    """waits: [begin, end] of the trainer's, sorted. A Counter: waits, asked, held, given."""
    samples = gst_reader.evidence(run)['samples']
    seen = {mark: collections.defaultdict(list) for mark in '!~'}
    for s in sorted(samples, key=lambda s: s['time']):
        for mark in '!~':
            for name in ids(s, mark):
                seen[mark][name].append((s['time'], s['tid']))
    starts, out = [w[0] for w in waits], collections.Counter()
    for s in samples:
        n = bisect.bisect_right(starts, s['time']) - 1
        if s['role'] != SUBMITTER or s['state'] == RUNNING or n < 0 or s['time'] >= waits[n][1]:
            continue
        wanted = ids(s, '?')
        given, held = (any(t <= s['time'] + 200_000_000 and s['time'] - t < SOON and tid != s['tid']
                           for name in wanted for t, tid in seen[mark][name]) for mark in '!~')
        out.update(waits=1, asked=bool(wanted), held=given or held, given=given)
    return out


def told(count):
    return 'links: {waits} samples of waits, {asked} say for what, {held} somebody held, {given} gave'.format(
        **{k: count.get(k, 0) for k in ('waits', 'asked', 'held', 'given')})
