# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""The shim in a real torch: the first wait of each epoch is of a class of its own, checkpoints and
collections are where the program had them, the program's own sitecustomize runs, and `python -I`
runs as ever and says what is missing."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

LOOP = os.path.join(gs.SOURCE, 'tests', 'lib', 'shimloop.py')
TICK = 10 * ranges.MS  # the clock of files goes by the kernel's
SITE = 'import sys, os\nos.environ["OWN_SITE"] = "yes"\n'


def starting(waits):
    """How long these waited for workers that had not begun with any batch of their epoch."""
    begun, lasted = {}, 0
    for w in waits:
        of, batch = (w['epoch'], w['batch']['pid']), w['batch']
        if of not in begun:
            begun[of] = batch['begin']
            lasted += max(0, min(w['end'], batch['begin']) - w['begin'])
    return lasted


def epochs():
    """Making workers anew each epoch costs GPU time, and that is said."""
    with gs.scratch() as where:
        with open(os.path.join(where, 'sitecustomize.py'), 'w') as f:
            f.write(SITE)
        out = os.path.join(where, 'own.json')
        done, run, _ = gs.traced([gs.PYTHON, LOOP, out, 'workers=2', 'epochs=4', 'batches=4'], where,
                                 ['--quiet'], PYTHONPATH=where)
        gs.equal(done.returncode, 0, f'epochs: {done.stderr.decode()[-800:]}')
        own, s = json.load(open(out)), gs.summary(run)
        gs.equal((own['python_path'], own['own_site']), (where, 'yes'), 'epochs: environment')
        rows = [line.split('\t') for line in
                gs.gpustarve('dump', run).stdout.decode().splitlines() if line[:1] != '#']
    first = [w for w in own['waits'] if w['batch'] and w['batch']['ids'][0] == 0]
    gs.equal(len(first), 4, 'epochs: first waits')
    starts = starting([w for w in own['waits'] if w['batch'] and w not in first])
    lost = sum(w['end'] - w['begin'] for w in first[1:])
    ends = [w for w in own['waits'] if not w['batch']]
    # Between two epochs; what lies in a wait before the first operation or after the last one; and what
    # a later batch waits for while its worker has not begun with any. A wait that nothing explains is
    # given what its neighbours are, and marked as low: that is no claim to hold against the program.
    most = sum(b['end'] - a['begin'] for a, b in zip(ends, first[1:])) \
        + first[0]['end'] - first[0]['made'] + ends[-1]['end'] - ends[-1]['begin'] + starts
    told = s['ledger']['classes'].get('input.epoch', {'ns': 0, 'confidence': {}})
    got, guessed = told['ns'], told['confidence'].get('low', 0)
    gs.check(0.9 * lost <= got and got - guessed <= most, f'epochs: input.epoch is {got}, of which {guessed} are '
             f'guessed, first waits {lost}, between epochs {most}, of which {starts} are starts of workers')
    found = sorted({r[1] for r in rows})
    print(f'epochs: input.epoch {got / 1e6:.1f} ms, first waits {lost / 1e6:.1f} ms; {found}')


def inside(rows, own, what):
    begin, end = own
    ok = [r for r in rows if begin <= r['start'] and r['end'] <= end]
    gs.check(ok, f'{what}: none in {own} of {rows}')
    return max(ok, key=lambda r: r['end'] - r['start']) if ok else None


def saves_and_collections():
    with gs.scratch() as where:
        out = os.path.join(where, 'own.json')
        ranges.run([gs.PYTHON, LOOP, out, 'workers=0'], where)
        own, stream = json.load(open(out)), ranges.trace(where)[0]
        there = os.stat(out + '.pt')
    path = out + '.pt'
    saved = inside([r for r in ranges.ranges(stream, 7) if r['name'] == path], own['saves'][0], 'save')
    gs.check(saved and saved['start'] - TICK <= there.st_mtime_ns <= saved['end'],
             f'save: {saved}, own {own["saves"]}, written {there.st_mtime_ns}')
    points = [c for r in stream if r.get('frame') == 'facts' for c in r['checkpoints']]
    gs.equal([(c['state'], c['path'], c['bytes'], c['size'], c['inode'], c['mtime']) for c in points],
             [(1, path, 0, 0, 0, 0), (2, path, there.st_size, there.st_size, there.st_ino, there.st_mtime_ns)],
             'checkpoints')
    gc = inside(ranges.joined(ranges.ranges(stream, 6)), own['collected'], 'gc')
    gs.check(gc and gc['end'] - gc['start'] > 1_000_000, f'gc: {gc}')
    gs.equal(ranges.hello(stream)['notes'], [], 'notes')


def isolated():
    with gs.scratch() as where:
        out = os.path.join(where, 'own.json')
        run = 'import sys; sys.path[:0] = [sys.argv.pop(1)]; import shimloop, time; ' \
              'shimloop.main(sys.argv[1], shimloop.parse(sys.argv[2:])); time.sleep(1.5)'
        ranges.run([gs.PYTHON, '-I', '-c', run, os.path.dirname(LOOP), out, 'workers=2',
                    'batches=1000', 'fast=1'], where, PYTHONPATH='/nowhere')
        own, stream = json.load(open(out)), ranges.trace(where)[0]
    gs.equal(own['python_path'].split(':')[-1], '/nowhere', '-I: PYTHONPATH')
    gs.equal([r for r in stream if 'batch' in r], [], '-I: rows')
    gs.equal(len(ranges.joined(ranges.ranges(stream, ranges.LOADER))), 1001, '-I: waits')
    notes = ranges.hello(stream)['notes']
    gs.check(any('shim' in n for n in notes), f'-I: notes {notes}')


def unreachable():
    """Spawned workers that cannot find the main process's memory."""
    with gs.scratch() as where:
        out = os.path.join(where, 'own.json')
        ranges.run([gs.PYTHON, LOOP, out, 'workers=1', 'start=spawn', 'batches=300', 'fast=1',
                    'end=hide'], where)
        stream = ranges.trace(where)[0]
    gs.equal([r for r in stream if r.get('batch') == 2], [], 'unreachable: FETCH rows')
    notes = [n for r in stream if r.get('frame') == 'bye' for n in r['notes']]
    gs.check(any('workers do not reach' in n for n in notes), f'unreachable: notes {notes}')


epochs()
unreachable()
saves_and_collections()
isolated()
gs.finish()
