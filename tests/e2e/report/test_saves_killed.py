# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""A job with torch.save that is killed and started again, on the simulated GPU: what became of its
time is what its own log says, within the loss span of LEDGER 9, and never in favour of safety. With a
number, so many jobs of four kills each (15: the sixty of docs/MEASUREMENTS.md)."""
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

JOB = os.path.join(gs.WORKLOADS, 'insured.py')
EDGE = 60_000_000  # from the log's line to the call, and from the kill to its being seen


def python():
    own = os.path.expanduser('~/.cache/gpustarve/programs/torch-2.14/bin/python')
    return own if os.path.exists(own) else gs.PYTHON


def starts(rows):
    """[{pid, saved: [(begun, whole)], begun: unfinished or None, opened: bool}], in order."""
    out = []
    for r in rows:
        if r['what'] == 'killed':
            out[-1]['killed'] = r['t']
            continue
        if not out or out[-1]['pid'] != r['pid']:
            out.append(dict(pid=r['pid'], saved=[], begun=None, opened=False, killed=None, up=None))
        one = out[-1]
        if r['what'] == 'saves':
            one['begun'], one['way'] = r['t'], r['way']
        elif r['what'] == 'saved':
            one['saved'].append((one['begun'], r['t']))
            one['begun'] = None
        elif r['what'] == 'up':
            one['up'] = r['t']
        elif r['what'] == 'opens':
            one['opened'] = True
        elif r['what'] == 'broken':
            one['opened'] = False
    return [s for s in out if s['up']]


def job(seed, kills=4):
    with gs.scratch() as where:
        os.mkdir(where + '/out')
        done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', where + '/runs', '--price', '3.60', '--', python(),
                           '-W', 'ignore', JOB, where + '/out', str(seed), str(kills)],
                          env=gs.environment(HOME=where), cwd=where)
        gs.equal(done.returncode, 0, f'job {seed}: {done.stderr.decode()[-500:]}')
        run = [n for n in os.listdir(where + '/runs') if n.endswith('.gst')][0]
        run = where + '/runs/' + run
        gs.command([gs.CLI, 'report', run, '--format', 'json', '-o', where + '/s.json'])
        summary = json.load(open(where + '/s.json'))
        text = gs.command([gs.CLI, 'report', run]).stdout.decode()
        verified = gs.command([gs.CLI, 'verify', run])
        digest = json.loads(gs.command([gs.CLI, 'digest', run]).stdout)
        log = [json.loads(line) for line in open(where + '/out/log')]
        if os.environ.get('KEEP'):
            shutil.copytree(run, os.environ['KEEP'] + '/%d.gst' % seed)
    gs.equal(schema.errors(schema.ours(), summary), [], f'job {seed}: schema')
    gs.equal(verified.returncode, 0, f'job {seed}: verify {verified.stdout.decode()[-300:]}')
    saves, told = summary['saves'], starts(log)
    segments = saves['segments']
    gs.equal(digest['saves'], dict({p: [v['ns'], round(v['usd'] * 10**9)] for p, v in saves['parts'].items()
                                    if p != 'other' and v['ns']}, checkpoints=saves['checkpoints'],
                                   kills=saves['kills']), f'job {seed}: digest')
    gs.equal([s['end'] for s in segments], ['killed'] * kills + ['ordered'], f'job {seed}: ends')
    gs.equal(sum(p['ns'] for p in saves['parts'].values()), summary['ledger']['gpu_ns'], f'job {seed}: held')
    gs.check(f'of {kills + 1} starts {kills} {"was" if kills == 1 else "were"} killed' in text, f'job {seed}: text')
    gs.equal(len(told), kills + 1, f'job {seed}: starts')
    worst = missed = 0
    for k, (one, seg) in enumerate(zip(told, segments)):
        known = one['saved'] + ([(one['begun'], seg['end_ns'])] if one['begun'] else [])
        until = seg['saved_until_ns']
        if until is not None:
            gs.check(any(b - 1_000_000 <= until <= w for b, w in known),
                     f'job {seed}, start {k}: saved until {until}, own {known[-3:]}')
        # A save that became whole is known, unless that was within the loss span.
        old = [b for b, w in one['saved'] if w < seg['end_ns'] - saves['silent_ns'] - EDGE]
        if old and not (one['begun'] and one['way'] != 1):
            gs.check(until is not None and until >= old[-1] - 1_000_000,
                     f'job {seed}, start {k}: saved until {until}, own {old[-1]}, silent {saves["silent_ns"]}')
        lacks = (one['saved'][-1][0] if one['saved'] else seg['end_ns']) - (until or seg['start_ns'])
        missed += lacks > EDGE and not one['begun']
        worst = max(worst, lacks if one['saved'] and until else 0)
        if k and seg['opened_segment'] is not None:
            gs.check(one['opened'], f'job {seed}, start {k}: it opened nothing')
    opened = sum(s['opened_segment'] is not None for s in segments[1:])
    want = sum(s['opened'] for s in told[1:])
    gs.check(opened <= want, f'job {seed}: {opened} opened, own {want}')
    return kills, want, opened, missed, saves['silent_ns']


def main(jobs):
    sums = [0] * 4
    silent = 0
    for seed in range(jobs):
        *counts, quiet = job(seed)
        sums = [a + b for a, b in zip(sums, counts)]
        silent = max(silent, quiet)
    print(f'{jobs} jobs, {sums[0]} kills: {sums[1]} starts opened a save, {sums[2]} of them known; of {sums[3]} kills '
          f'the last save was not known, within the loss span of at most {silent / 1e6:.0f} ms')


main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
gs.finish()
