#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=unit
"""A walk that is kept amid (analysis/engine/kept_walk.c) has all that it goes on with: each member of what makes up its
state is named where that is written and read, or stands here, with why it is left out. A member that was forgotten shows in
few runs, and in these only where a digest was killed."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

ROOT = os.path.join(gs.SOURCE, 'viewer', 'analysis')
ROOM = 'room for more'
MADE = 'made anew when the walk begins, of plan, options and stream'
LOOKED = 'looked up again'
STRUCTS = {  # name: (where it is, where it is kept, {member: why it is not})
    'ana_walk': ('walk/walk.h', 'engine/kept_walk.c', {
        **dict.fromkeys('plan component options observer scratch exact one_gpu late_ns decide_every pause pause_arg pause_every'.split(),
                        MADE),
        'open_events': 'by the feeds', 'cause': 'of one piece', 'err': 'who fails is not kept'}),
    'ana_proc': ('walk/walk.h', 'walk/process_archive.c', {
        'comms': 'no walk whose ranks are compared is kept',
        **dict.fromkeys('source source_index index anchored names waits_at waits_ats waits_at_room gpu_of'.split(), MADE),
        **dict.fromkeys('thread_of last last_ordinal last_gpu waiter_sought only_waiter unplaced_over unplaced_over_at'.split(), LOOKED),
        'thread_room': ROOM}),
    'ana_thread': ('walk/walk.h', 'walk/process_archive.c', {'seen': LOOKED}),
    'ana_takes': ('walk/walk.h', 'walk/process_archive.c', {}),
    'ana_unplaced_call': ('walk/walk.h', 'walk/process_archive.c', {}),
    'ana_waits': ('walk/walk.h', 'walk/process_archive.c', {}),
    'ana_submitter': ('walk/walk.h', 'walk/gpu_archive.c', {}),
    'ana_open_gap': ('walk/walk.h', 'walk/gpu_archive.c', {}),
    'ana_run_of_gaps': ('walk/walk.h', 'walk/gpu_archive.c', {}),
    'ana_copying': ('walk/walk.h', 'walk/gpu_archive.c', {}),
    'ana_stream_state': ('walk/walk.h', 'walk/gpu_archive.c', {}),
    'ana_waiter': ('walk/walk.h', 'walk/gpu_archive.c', {'process': MADE}),
    'ana_gpu_state': ('walk/walk.h', 'walk/gpu_archive.c', {
        **dict.fromkeys('plan gpu index recorder waiter_room masked clipped plain ordinary no_launches'.split(), MADE),
        'top': 'of observers'}),
    'ana_copied': ('walk/copied.h', 'walk/copied.c', {}),
    'ana_copied_row': ('walk/copied.h', 'walk/copied.c', {}),
    'ana_longcalls': ('walk/longcalls.h', 'walk/longcalls.c', {}),
    'ana_longcall': ('walk/longcalls.h', 'walk/longcalls.c', {}),
    'ana_turns': ('walk/turns.h', 'walk/turns.c', {'moved': 'of tests'}),
    'ana_turn': ('walk/turns.h', 'walk/turns.c', {}),
    'ana_call': ('walk/join.h', 'walk/join.c', {}),
    'ana_join_record': ('walk/join_ring.h', 'walk/join.c', {'chain': 'by order'}),
    'ana_join': ('walk/join_ring.h', 'walk/join.c', {
        **dict.fromkeys('slot slot_mask secret exact lost_graphs'.split(), MADE), 'ring': 'record by record', 'stray_room': ROOM,
        'next': LOOKED, 'next_corr': LOOKED, 'newest': 'of the records', 'chained': 'chains are made when asked for'}),
    'ana_steps': ('walk/step.h', 'walk/step.c', dict.fromkeys('source on_step arg observer unrecorded'.split(), MADE)),
    'ana_open_step': ('walk/step.h', 'walk/step.c', {}),
    'ana_step': ('ledger.h', 'walk/step.c', {}),
    'ana_timeline_stack': ('time/timeline_stack.h', 'time/timeline_stack.c', dict.fromkeys(
        'cursor free_from free_until'.split(), LOOKED)),
    'ana_stretch': ('time/timeline_stack.h', 'time/timeline_stack.c', {}),
    'ana_row': ('time/timeline_stack.h', 'time/timeline_stack.c', {}),
    'ana_minutes': ('time/minutes.h', 'time/minutes.c', {'start': MADE}),
    'ana_buckets': ('time/timeline.h', 'time/timeline.c', {**dict.fromkeys('start width fine'.split(), MADE), 'at': LOOKED}),
    'ana_gap': ('ledger.h', 'time/timeline.c', {}),
    'ana_durations': ('time/durations.h', 'time/durations.c', {}),
    'ana_unsampled': ('evidence/unsampled.h', 'evidence/unsampled.c', dict.fromkeys(
        'sum length_low length_high length_sum'.split(), 'made anew where it is stale')),
    'ana_neighbour': ('evidence/unsampled.h', 'evidence/unsampled.c', {}),
    'ana_length': ('evidence/unsampled.h', 'evidence/unsampled.c', {}),
    'ana_unsampled_piece': ('evidence/unsampled.h', 'evidence/unsampled.c', {}),
    'ana_evidence': ('evidence/evidence.h', 'evidence/evidence.c', {
        **dict.fromkeys('pid in_call in_long_call in_call_arg observer process callers'.split(), MADE),
        **dict.fromkeys('thread_of stacks links next'.split(), LOOKED), 'known_room': ROOM, 'thread_room': ROOM,
        'thread': 'those that are alive', 'threads': 'those that are alive', 'asked': 'of one question', 'asked_room': ROOM}),
    'ana_thread_samples': ('evidence/evidence.h', 'evidence/evidence.c', {}),
    'ana_batches': ('evidence/evidence.h', 'evidence/evidence.c', {}),
    'ana_loaders': ('evidence/loaders.h', 'evidence/loaders.c', {'table': MADE, 'apart': 'of trains.c alone'}),
    'ana_loader': ('evidence/loaders.h', 'evidence/loaders.c', {}),
    'ana_hotspots': ('evidence/hotspots.h', 'evidence/hotspots_kept.c', {
        **dict.fromkeys('options observer'.split(), MADE), 'slot': LOOKED, 'mask': LOOKED, 'room': ROOM, 'process': 'of one piece'}),
    'ana_hotspot_row': ('evidence/hotspots.h', 'evidence/hotspots_kept.c', {'hash': LOOKED}),
    'ana_hotspot': ('ledger.h', 'evidence/hotspots_kept.c', dict.fromkeys(
        'confidence nearby_ns nearby_medium_ns chain chains'.split(), 'made when all is summed')),
    'ana_hotspot_chain': ('evidence/hotspot_chain.h', 'evidence/hotspots_kept.c', {}),
    'ana_targets': ('evidence/targets.h', 'evidence/targets.c', {}),
    'ana_target': ('ledger.h', 'evidence/targets.c', {}),
    'ana_feed': ('read/event_feed.h', 'read/event_feed.c', {
        **dict.fromkeys('trace scratch due dues room own watched'.split(), MADE), 'open_room': ROOM, 'spare': ROOM,
        'err': 'who fails is not kept'}),
    'ana_feed_block': ('read/event_feed.c', 'read/event_feed.c', {'next': 'of spare ones'}),
    'ana_row_feed': ('read/row_feed.h', 'read/row_feed.c', {
        **dict.fromkeys('trace scratch kind due dues'.split(), MADE), 'err': 'who fails is not kept'}),
    'ana_row_feed_block': ('read/row_feed.c', 'read/row_feed.c', dict.fromkeys('sample batch room seq'.split(), 'decoded again')),
}


def text_of(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as f:
        return re.sub(r'/\*.*?\*/', '', f.read(), flags=re.S)


def members(struct, path):
    found = re.search(r'struct %s \{ *\n(.*?)\n\}' % struct, text_of(path), re.S)
    if not gs.check(found, f'struct {struct} in {path}'):
        return []
    body = re.sub(r'struct \w* ?\{(.*?)\} *(\**\s*\w+)[^;]*;', r'\1 x \2;', found[1], flags=re.S)
    names = []
    for declaration in body.split(';'):
        pointer = re.search(r'\(\*(\w+)\)\(', declaration)
        if pointer:
            names.append(pointer[1])
            continue
        declaration = re.sub(r'\[.*?\]|_Alignas\(\d+\)', '', declaration)
        names += [re.findall(r'\w+', part)[-1] for part in declaration.split(',') if part.strip()]
    return names


def kept_part(path):
    """The functions at the end, from the first that keeps something."""
    text = text_of(path)
    first = re.search(r'^\w[^;{]*\b\w*(archive|open_again|make_ring|write_all)\w*\([^;{]*\)\n\{', text, re.M)
    return text[first.start():] if first else ''


for name, (where, kept, left_out) in STRUCTS.items():
    text, known = kept_part(kept), members(name, where)
    for member in known:
        is_kept = re.search(r'(->|\.)%s\b' % member, text)
        gs.check(is_kept or member in left_out, f'struct {name}: {member} is not kept in {kept}')
    for member in left_out:
        gs.check(member in known, f'struct {name} has no {member}')

# A GPU is kept as its bytes, and nobody believes an address that a file has.
FUNCTIONS = ('clear_gpu', 'ana_kept_put_gpu')
found = re.search(r'struct ana_gpu \{\n(.*?)\n\};', text_of('ledger.h'), re.S)
pointers = re.findall(r'\*(\w+)[;,]', found[1])
gs.check(len(pointers) > 5, f'pointers of a GPU: {pointers}')
for name in FUNCTIONS:
    body = re.search(r'\b%s\([^;{]*\)\n\{\n(.*?)\n\}' % name, text_of('engine/kept.c'), re.S)[1]
    for pointer in pointers:
        gs.check(re.search(r'->%s\b' % pointer, body), f'{name} passes over the pointer {pointer} of struct ana_gpu')
gs.finish()
