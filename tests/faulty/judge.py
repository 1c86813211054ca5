# SPDX-License-Identifier: Apache-2.0
"""Judges a round once all is mended: the centre has, of each frame that was acknowledged, one copy, as it
was sent; it has what the nodes have, and nothing else; its reports are those of the nodes, or those of a
collector to which nothing happened. @w: the world."""
import os
import shutil

import gs

from . import ledger, senders

LOOK_S = 0.2  # files are read as a whole each time


def settle(w, name):
    """Waits until the centre has what the nodes have, and notes what is wrong."""
    streams = [ledger.Stream(s) for s in w.played]
    w.known += streams
    runs = sorted({s.run for s in streams})
    w.runs.update(runs)
    w.drive(lambda: not any(s.missing(path_of(w, s)) for s in streams) and
            all(not differences(w, run) for run in runs), 'all of it at the centre', LOOK_S)
    if not os.path.exists(w.archive):  # it was taken, and what came since went
        w.drive(lambda: not any(s.missing(path_of(w, s)) for s in w.known) and
                all(not differences(w, run) for run in w.runs), 'all earlier runs at the centre', LOOK_S * 10)
    for s in streams:
        w.now.problems += s.check(path_of(w, s))
    for run in runs:  # a node may have read its clock meanwhile: that is on its way
        if differences(w, run) and not w.drive(lambda: not differences(w, run), f'{run} at the centre', LOOK_S):
            w.now.problems += differences(w, run)
    for wire in w.wires:
        w.now.problems += wire.wrong
        wire.wrong.clear()
    if not w.now.problems:
        w.now.problems += job_whole(w, 'j' + name)
        for run in runs:
            w.now.problems += report(w, run)


def path_of(w, stream):
    return os.path.join(w.centre.run(stream.run), stream.name + '.gst')


def at_nodes(w, run):
    """Streams of all nodes together, and side files: what each node has under that name (on one machine
    without namespaces all nodes have one name)."""
    streams, small, wrong = {}, {}, []
    for node in w.nodes:
        there, bad = ledger.of_node(node.run(run))
        wrong += bad
        for stream, numbered in there.items():
            streams.setdefault(stream, {}).update(numbered)
        for name, text in ledger.sides(node.run(run)).items():
            small.setdefault(name, []).append(text)
    return streams, small, wrong


def differences(w, run):
    """Between the centre's run and the nodes'."""
    want, small, wrong = at_nodes(w, run)
    got, bad = ledger.of_centre(w.centre.run(run))
    wrong = wrong + bad
    for stream in sorted(set(want) | set(got)):
        a, b = want.get(stream, {}), got.get(stream, {})
        if a != b:
            odd = sorted(n for n in set(a) | set(b) if a.get(n) != b.get(n))
            wrong.append(f'{run}/{stream}: frames {odd[:5]} of its node and of the centre differ')
    there = ledger.sides(w.centre.run(run))
    return wrong + [f'{run}/{n}: differs' for n in sorted(set(small) | set(there))
                    if there.get(n) not in small.get(n, ())]


def job_whole(w, run):
    """Nothing of the job's own stream is missing, unless its node's disk was full."""
    if w.job_node in w.was_full:
        return []
    ours = {s.name for s in w.known if s.run == run}
    streams, _ = ledger.of_centre(w.centre.run(run))
    own = [there for name, there in streams.items() if name not in ours]
    if len(own) == 1 and ledger.whole(own[0]):
        return []
    return [f'{run}: the job left {[sorted(there) for there in own]}, not one whole stream']


def report(w, run):
    """The centre's report against that of the node; of runs that are on both nodes, and that we have in
    our hands frame by frame, against what a faultless collector makes of them."""
    if run.startswith('x'):
        return []
    other = without_faults(w, run) if run.startswith('r') else \
        next(n.run(run) for n in w.nodes if os.path.isdir(n.run(run)))
    for _ in range(5):
        before = at_nodes(w, run)
        a, b = (gs.gpustarve('report', where, '--format', 'json') for where in (w.centre.run(run), other))
        if a.returncode or b.returncode:
            return [f'{run}: no report: {(a.stderr + b.stderr).decode()[-400:]}']
        if a.stdout == b.stdout:
            return verify(w, run, a.stdout)
        if at_nodes(w, run) == before and not differences(w, run):
            return [f'{run}: the report differs from that of {other}']
        # The end of a process was noted amid this: once more, with it at both places.
        w.drive(lambda: not differences(w, run), 'all of it at the centre', LOOK_S)
    return [f'{run}: the report goes on differing from that of {other}']


def verify(w, run, summary):
    with open(os.path.join(w.centre.run(run), 'summary.json'), 'wb') as f:
        f.write(summary)
    done = gs.gpustarve('verify', w.centre.run(run))
    return [f'{run}: verify: {(done.stdout + done.stderr).decode()[-400:]}'] if done.returncode else []


def without_faults(w, run):
    """The same frames, as they were sent, through a collector to which nothing happens. How far nodes'
    clocks were from the centre's is measured on the way and cannot come out the same: those files are
    taken over."""
    sent = [s for s in w.played if s.run == run]
    kept, w.played = w.played, [senders.Sender(w.faultless, run, s.stream, s.sent, 0, 0.001) for s in sent]
    w.drive(lambda: all(s.done for s in w.played), 'the faultless collector')
    for s in w.played:
        s.lose()
    w.played = kept
    for file in ledger.sides(w.centre.run(run)):
        if file.startswith('clock-'):
            shutil.copy(os.path.join(w.centre.run(run), file), w.faultless.run(run))
    return w.faultless.run(run)


def everything(w):
    """All rounds once more, at the end: what came late has changed nothing, and nothing is there that
    nobody sent."""
    for s in w.known:
        w.now.problems += s.check(path_of(w, s))
    for run in sorted(w.runs):
        w.now.problems += differences(w, run)
    there = {n[:-len('.gst')] for n in ledger.listing(os.path.dirname(w.centre.run('x')))
             if n.endswith('.gst')}
    if there != w.runs:
        w.problem(f'runs of nobody, or missing ones: {sorted(there ^ w.runs)}')
