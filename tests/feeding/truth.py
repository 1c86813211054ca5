# SPDX-License-Identifier: Apache-2.0
"""What the GPU truly waited for: the device's idle intervals, cut by the program's own diary.

Every idle nanosecond between the first and the last operation goes to one group (place, state). Inside of a
wait of the trainer (`wait`, with the number of the batch that it got) that is what was done for this batch, by
whoever it was: ('get', 'blocked'), ('make', 'cpu'); state as in planted/truth.py. While nobody was at this
batch yet, what was done for any other: its maker was busy. What was done for others once it was made is
('late/make', ...): it is on its way, and they hold the interpreter or the core. Else 'before', 'between' and
'handoff'. Where batches come in order from processes, ('held/make', ...) is what one did while another lay between two
rows of its own: it is done with a later batch, and gets no more work before that one is done. Outside of waits: 'gpu' (launching, waiting for the device), what else the trainer noted, by its
name, and 'rest'. What the trainer itself ran within a wait is ('own', '')."""
import collections

import gs
from planted.truth import idle, split

EVER = 1 << 62


def span(row):
    return [row['begin'], row['end']]


def shortest_first(rows):
    return sorted(rows, key=lambda r: r['end'] - r['begin'])


def take(pieces, rows, groups, name='{}'):
    """Gives what of the pieces lies in these rows to their groups; the rest."""
    for row in shortest_first(rows):
        part = gs.intersect(pieces, [span(row)])
        if part:
            split(row, part, groups, name.format(row['place']))
            pieces = gs.subtract(pieces, part)
    return pieces


def pauses(work):
    """Where some process was between two rows of its own."""
    rows = collections.defaultdict(list)
    for row in work:
        rows[row['pid']].append(span(row))
    return gs.union(gap for mine in rows.values()
                    for gap in gs.subtract([[min(mine)[0], max(end for _, end in mine)]], gs.union(mine)))


def awaited(pieces, wait, work, groups, held):
    mine = [r for r in work if r['key'] == wait['key']]
    others = [r for r in work if r['key'] != wait['key'] and r['end'] > wait['begin'] and r['begin'] < wait['end']]
    pieces = take(pieces, mine, groups)
    begun = min((r['begin'] for r in mine), default=EVER)
    made = max((r['end'] for r in mine), default=EVER)
    early = gs.intersect(pieces, [[0, begun]])
    pieces = gs.subtract(pieces, early)
    busy = take(gs.intersect(early, held), others, groups, 'held/{}') if held else []
    busy += take(gs.subtract(early, held), others, groups)
    groups['before', ''] += gs.measure(busy)
    groups['between', ''] += gs.measure(gs.intersect(pieces, [[begun, max(begun, made)]]))
    late = take(gs.intersect(pieces, [[made, EVER]]), others, groups, 'late/{}')
    groups['handoff', ''] += gs.measure(late)


def own(wait, work):
    """What the one who waits ran meanwhile, or could have, but for what it made of the batch itself."""
    made = sum(r['cpu'] + r['delay'] for r in work if (r['pid'], r['tid']) == (wait['pid'], wait['tid'])
               and r['begin'] >= wait['begin'] and r['end'] <= wait['end'])
    return max(0, wait['cpu'] + wait['delay'] - made)


def waited(pieces, wait, work, groups, held):
    """As awaited, but for that: who runs does not wait. It may have been while the device was still busy; only
    what that leaves is taken out, in proportion."""
    mine = collections.defaultdict(float)
    awaited(pieces, wait, work, mine, held)
    idle_ns = gs.measure(pieces)
    ran = min(idle_ns, max(0, own(wait, work) - (wait['end'] - wait['begin'] - idle_ns)))
    for group, ns in mine.items():
        groups[group] += ns * (1 - ran / idle_ns)
    groups['own', ''] += ran


def waits(rows):
    return sorted(span(r) for r in rows if r['place'] == 'wait')


def truth(ops, rows, places, in_order=False):
    """(groups: {(place, state): ns}, facts). places: what counts as work for a batch; in_order: processes make them in turn."""
    gaps, (first, last) = idle(ops)
    groups = collections.defaultdict(float)
    work = [r for r in rows if r['place'] in places]
    awaits = [r for r in rows if r['place'] == 'wait']
    held = pauses(work) if in_order else []
    left = gaps
    for row in shortest_first(awaits):
        part = gs.intersect(left, [span(row)])
        if part:
            left = gs.subtract(left, part)
            waited(part, row, work, groups, held)
    made = {r['key'] for r in work}
    facts = dict(idle=gs.measure(gaps), span=last - first, waits=len(awaits),
                 exposed=gs.measure(gaps) - gs.measure(left), kernels=sum(o['kind'] == 'kernel' for o in ops),
                 unmade=len({r['key'] for r in awaits if r['key'] >= 0} - made))
    queued = gs.union([o['launch_ns'], o['start_ns']] for o in ops)
    groups['queued', ''] = gs.measure(gs.intersect(left, queued))
    left = gs.subtract(left, queued)
    for row in shortest_first(r for r in rows if r['place'] not in places and r['place'] != 'wait'):
        part = gs.intersect(left, [span(row)])
        groups[row['place'], ''] += gs.measure(part)
        left = gs.subtract(left, part) if part else left
    groups['rest', ''] += gs.measure(left)
    return {k: round(v) for k, v in groups.items() if round(v)}, facts
