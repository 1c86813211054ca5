#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What a run brought forth, and the dollars of each: real DataLoaders of known length, with short and
dropped batches, iterable data sets, workers, ranks with a DistributedSampler, passes that are left and
batches that are made and never taken, beside what the program counted itself. Counts are exact or not
told; dollars are the exact fraction, rounded once. --unit and lines on GPUSTARVE_UNITS beside them."""
import csv
import glob
import inspect
import io
import json
import os
import re
import sys
from fractions import Fraction

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema
import torch.utils.data

LOOP = os.path.join(gs.WORKLOADS, 'counted_loop.py')
RANKS = os.path.join(gs.WORKLOADS, 'launch_ranks.py')
PRICE = '3.33'


def nano(text):
    return Fraction(str(text)) * 10**9


def half_even(x):
    return round(x)  # of Fraction: half to even


def outcome(s, unit):
    found = [o for o in s['cost'].get('outcomes', ()) if o['unit'] == unit]
    return found[0] if found else None


def play(options, ranks=1, run_options=()):
    with gs.scratch() as where:
        truth = os.path.join(where, 'own')
        os.mkdir(truth)
        argv = [gs.PYTHON, LOOP, '--truth', truth, *options]
        if ranks > 1:
            argv = [gs.PYTHON, RANKS, '--ranks', str(ranks), *argv]
        done, run, _ = gs.traced(argv, where, ('--price', PRICE, *run_options), GPUSIM_DEVICES=ranks)
        with_failure = '--fail' in options
        gs.equal(done.returncode, 3 if with_failure else 0, done.stderr.decode()[-600:])
        own = []
        for name in glob.glob(truth + '/*.json'):
            with open(name) as f:
                own.append(json.load(f))
        raw = gs.gpustarve('report', run, '--format', 'json').stdout
        s = json.loads(raw, parse_float=str)
        text = gs.gpustarve('report', run).stdout.decode()
        with open(os.path.join(run, 'report.html')) as f:
            page = f.read()
        more = {'text': text, 'page': page, 'schema': schema.errors(schema.ours(), json.loads(raw)),
                'verify': gs.gpustarve('verify', run).returncode,
                'csv': gs.gpustarve('export', run, '--format', 'csv', '--table', 'outcomes').stdout.decode(),
                'given': json.loads(gs.gpustarve('report', run, '--format', 'json', '--unit', 'frames=7').stdout,
                                    parse_float=str)}
        total = sum(t['samples'] for t in own), sum(t['batches'] for t in own), sum(t['whole'] for t in own)
        gs.equal(len(own), ranks, 'ranks that told')
        return s, total, more


def judge(what, s, unit, count):
    """count None: not known."""
    o = outcome(s, unit)
    if count is None:
        gs.equal(o, None, f'{what}: {unit} is not known')
        return
    if not o:
        gs.check(False, f'{what}: no {unit} where there were {count}: {s["loader"]["settings"]}')
        return
    gs.equal(Fraction(o['count'], o['divisor']), Fraction(count), f'{what}: {unit}')
    per = {'epochs': 1, 'tokens': 10**6}.get(unit, 1000)
    gs.equal(o['per'], per, f'{what}: per')
    gs.equal(nano(o['usd']), half_even(nano(s['cost']['usd']) * per / Fraction(count)), f'{what}: dollars of {unit}')


LOOPS = [
    # options, ranks, are samples known, are epochs
    ([], 1, True, True),
    (['--drop-last', '--workers', '2'], 1, True, True),
    (['--workers', '2', '--persistent', '--epochs', '3'], 1, True, True),
    (['--workers', '3', '--stop', '2', '--samples', '200'], 1, True, True),
    (['--iterable'], 1, True, True),
    (['--iterable', '--workers', '3', '--samples', '61'], 1, True, True),
    (['--iterable', '--drop-last', '--workers', '2', '--samples', '61'], 1, True, True),
    (['--late', '--samples', '64'], 1, True, True),
    (['--late', '--workers', '2'], 1, False, True),  # its workers tell of the first pass to nobody
    (['--no-batches', '--samples', '12'], 1, False, True),
    (['--epochs', '1', '--stop', '3'], 1, True, False),
    (['--samples', '101', '--workers', '1'], 2, True, True),
    (['--samples', '101', '--drop-last'], 4, True, True),
    (['--samples', '203', '--batch', '5', '--epochs', '3'], 8, True, True),
]


if 'in_order' in inspect.signature(torch.utils.data.DataLoader.__init__).parameters:
    LOOPS.append((['--unordered', '--workers', '2'], 1, True, True))


def played():
    for options, ranks, samples_known, epochs_known in LOOPS:
        what = f'{" ".join(options) or "plain"}, {ranks} rank(s)'
        s, (samples, batches, whole), more = play(options, ranks)
        judge(what, s, 'samples', samples if samples_known else None)
        of_pass = None
        if epochs_known and whole:
            # passes that were left count by their batches
            full = batches if '--stop' not in options else batches - 2 * ranks
            of_pass = Fraction(whole * batches, full * ranks)
        judge(what, s, 'epochs', of_pass)
        gs.equal(more['verify'], 0, f'{what}: verify')
        if samples_known:
            rows = list(csv.DictReader(io.StringIO(more['csv'])))
            gs.equal(int(rows[0]['count']), samples, f'{what}: the table')
            gs.check(f'{samples:,} samples' in more['text'], f'{what}: text: {more["text"][:400]}')
            gs.check('/cost/outcomes/0/usd' in more['page'], f'{what}: page')
        judge(f'{what}: --unit', more['given'], 'frames', 7)


def several():
    """Where nothing tells which trains, a count is no more than what all gave, in text and page, too."""
    for validate in 9, 500:
        s, (samples, _, _), more = play(['--validate', str(validate)])
        judge(f'validates {validate}', s, 'samples', samples + 2 * validate)
        judge(f'validates {validate}', s, 'epochs', 4)
        gs.equal([o['bound'] for o in s['cost']['outcomes']], ['at_most', 'at_most'], f'validates {validate}')
        text = ' '.join(more['text'].split())
        gs.check(f'at most {samples + 2 * validate:,} samples, as all loaders gave them: at least ' in text and
                 'nothing tells which train, and some may validate' in text, f'validates {validate}: {text[:900]}')
        gs.check('at most <' in more['page'] and 'Nothing tells which' not in more['page'] and
                 'nothing tells which train' in more['page'], f'validates {validate}: page')
    for learn, ranks in (1, 1), (3, 1), (1, 2):
        what = f'learns from {learn}, {ranks} rank(s)'
        s, (samples, _, _), more = play(['--validate', '500', '--learn', str(learn), '--workers', '2'], ranks)
        judge(what, s, 'samples', samples)
        judge(what, s, 'epochs', 2)
        text = ' '.join(more['text'].split())
        gs.check('that trains, of 3: a batch of it came before each step of the optimizer' in text, f'{what}: {text[:900]}')
        gs.check('is of the one made at counted_loop.py' in more['page'], f'{what}: page')
        gs.equal([r.get('trains') for r in s['loader']['settings'] if r['batch_size'] == 8], [True], what)
        gs.equal([r.get('trains') for r in s['loader']['settings'] if r['batch_size'] == 4], [None], what)
        gs.equal(more['schema'], [], f'{what}: schema')
        gs.equal(more['verify'], 0, f'{what}: verify')
    s, (samples, _, _), more = play(['--validate', '500', '--learn', '1', '--learn-all'])
    judge('learns from all', s, 'samples', samples + 1000)
    gs.equal(outcome(s, 'samples').get('bound'), None, 'learns from all')
    s, _, _ = play(['--validate', '500', '--learn', '7', '--epochs', '1', '--samples', '56'])
    judge('one step alone', s, 'samples', 556)
    gs.equal(outcome(s, 'samples').get('bound'), 'at_most', 'one step alone')
    _, _, more = play([])
    gs.check('may validate' not in more['text'] + more['page'], 'one loader')


def told():
    """What the program counts line by line; what --unit says gives way to it."""
    s, (samples, batches, _), more = play(['--count', 'tokens'], 2, ('--unit', 'tokens=5', '--unit', 'requests=77'))
    judge('counted', s, 'tokens', samples * 128)
    judge('given', s, 'requests', 77)
    gs.equal(outcome(s, 'tokens')['source'], 'counted', 'source')
    gs.equal(outcome(s, 'requests')['source'], 'given', 'source')
    gs.check('per million tokens' in more['text'], more['text'][:600])


def gate(run, how, tokens, frames):
    """What is a bound keeps a budget or breaks it only where it tells."""
    for unit, metric, bound in ('tokens', 'usd_per_1m_tokens', tokens), ('frames', 'usd_per_1k_frames', frames):
        for op, large in ('<=', True), ('<=', False), ('>=', False), ('>=', True):
            argv = ('check', run, '--budget', f'{metric}{op}{1000 if large else "0.000000001"}')
            done = gs.gpustarve(*argv, '--format', 'json')
            below = large  # what is known lies below the limit
            unsure = bound == ('at_most' if below else 'at_least')
            status = 4 if unsure else 0 if below == (op == '<=') else 2
            what = f'{how}: {unit} {op} {"much" if large else "little"}'
            gs.equal(done.returncode, status, what)
            told = json.loads(done.stdout)['judgements']
            gs.equal([j['status'] for j in told[:-1]], ['warn'] if how != 'end' else [], f'{what}: a warning')
            gs.equal(told[-1].get('bound'), {'at_most': 'at_least', 'at_least': 'at_most'}.get(bound), what)
            text = ' '.join(gs.gpustarve(*argv).stdout.decode().split())
            gs.equal(f'{metric} is not known: it is at ' in text, unsure, f'{what}: {text}')
            gs.equal(('exit status 3' in text, 'did not end normally' in text), (how == 'fail', how == 'kill'), f'{what}: {text}')
            gs.equal(gs.gpustarve(*argv, '--fail-on-warn').returncode, status or (3 if how != 'end' else 0), f'{what}: --fail-on-warn')


KILLED = '''
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import gpudev
stream = gpudev.Stream(gpudev.Device(0))
for i in range(60):
    stream.kernel(20_000_000, 'step')
    stream.synchronize()
    with open(os.environ['GPUSTARVE_UNITS'], 'a') as f:
        f.write('tokens 100\\n')
how = sys.argv[2]
if how == 'kill':
    os.kill(os.getpid(), signal.SIGKILL)
sys.exit(3 if how == 'fail' else 0)
'''


def check_steps(run, how, s, text, page):
    """Steps of a run that was killed are those that were told of, at least: in every form, and what each costs at most."""
    bound, steps = 'at_least' if how == 'kill' else None, f'{s["steps"]["count"]:,} steps'
    gs.check(s['steps']['count'] > 5, f'{how}: {s["steps"]}')
    gs.equal(s['steps'].get('bound'), bound, f'{how}: steps')
    gs.equal((f'at least {steps}' in text, '; at most $' in text or re.search(r'; at most [\d.]+ \u00a2 each', text) is not None), (bool(bound),) * 2, f'{how}: {text}')
    gs.check(steps in text, f'{how}: {text}')
    gs.equal((f'At least {steps}' in page, 'each cost at most ' in page, 'a step at most ' in page), (bool(bound),) * 3, f'{how}: page')
    gs.equal(json.loads(gs.gpustarve('digest', run).stdout)['program'].get('bound'), bound, f'{how}: steps of the digest')
    done = gs.gpustarve('report', run, run)
    told = ' '.join(done.stdout.decode().split())
    gs.equal((f'at least {steps}' in told, 'per step at most what stands here' in told), (bool(bound),) * 2, f'{how}: {told} {done.stderr}')
    both = json.loads(gs.gpustarve('report', run, run, '--format', 'json').stdout)
    gs.equal([r.get('steps_bound') for r in both['runs']], [bound] * 2, f'{how}: compared')
    for limit, want in (1e9, 0), (1e-9, 4 if bound else 2):
        done = gs.gpustarve('check', run, '--budget', f'usd_per_1k_steps<={limit:.9f}')
        gs.equal(done.returncode, want, f'{how}: {limit}: {done.stdout}')


def bounded():
    """Of a run that was killed at least what was told; of one that failed at most what was planned."""
    for how, tokens, frames in ('end', None, None), ('fail', None, 'at_most'), ('kill', 'at_least', 'at_most'):
        with gs.scratch() as where:
            argv = [gs.WITH_GPUSIM, gs.CLI, 'run', '-o', where + '/runs', '--price', PRICE, '--unit', 'frames=1000', '--',
                    gs.PYTHON, '-c', KILLED, gs.WORKLOADS, how]
            gs.command(argv, env=gs.environment(HOME=where), cwd=where)
            run = gs.runs(where + '/runs')[-1]
            s = json.loads(gs.gpustarve('report', run, '--format', 'json').stdout, parse_float=str)
            judge(how, s, 'tokens', 6000)
            judge(how, s, 'frames', 1000)
            gs.equal((outcome(s, 'tokens').get('bound'), outcome(s, 'frames').get('bound')), (tokens, frames), how)
            rows = csv.DictReader(io.StringIO(gs.gpustarve('export', run, '--format', 'csv', '--table', 'outcomes').stdout.decode()))
            gs.equal(rows.fieldnames[-1], 'bound', f'{how}: behind the others')
            gs.equal({r['unit']: r['bound'] for r in rows}, {'tokens': tokens or 'exact', 'frames': frames or 'exact'}, f'{how}: table')
            gate(run, how, tokens, frames)
            units = {u[0]: u[3:] for u in json.loads(gs.gpustarve('digest', run).stdout)['units']}
            gs.equal((units['tokens'], units['frames']), ([tokens] if tokens else [], [frames] if frames else []), f'{how}: digest')
            text = ' '.join(gs.gpustarve('report', run).stdout.decode().split())
            gs.equal(('at least 6,000 tokens' in text, 'at most 1,000 frames' in text), (bool(tokens), bool(frames)), text)
            with open(os.path.join(run, 'report.html'), encoding='utf-8') as f:
                page = f.read()
            gs.equal('at least <' in page, bool(tokens), f'{how}: page')
            check_steps(run, how, s, text, re.sub('<[^>]*>', '', page))
            given = json.loads(gs.gpustarve('report', run, '--format', 'json', '--unit', 'frames=7').stdout)
            gs.equal(schema.errors(schema.ours(), given), [], f'{how}: schema')
            gs.equal(outcome(given, 'frames').get('bound'), None, f'{how}: --unit of report')


def hostile():
    """Lines that are none, a line without an end, a pipe, and a run that was killed amid."""
    with gs.scratch() as where:
        own = os.path.join(where, 'own')
        os.mkdir(own)
        done, run, _ = gs.traced([gs.PYTHON, LOOP, '--truth', own, '--count', 'frames'], where, ('--price', PRICE))
        gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
        want = json.load(open(own + '/rank0.json'))['samples'] * 128
        with open(os.path.join(run, 'units-x-1.txt'), 'wb') as f:
            f.write(b'frames=1000\n\nframes\nframes 12x\nframes -4\nframes 0\n\x00\xff 3\n' + b'a' * 300 +
                    b'\nsteps 4\nframes 99999999999999999999\nframes 4')
        os.mkfifo(os.path.join(run, 'units-pipe-1.txt'))
        os.symlink('/etc/passwd', os.path.join(run, 'units-link-1.txt'))
        s = json.loads(gs.gpustarve('report', run, '--format', 'json').stdout, parse_float=str)
        judge('bad lines', s, 'frames', want + 1000)
        notes = [n for n in s['quality']['notes'] if 'of what the program counted' in n]
        gs.check(notes and notes[0].startswith('9 lines'), f'a note: {notes}')
    for bad in 'tokens', 'tokens=', 'tokens=-1', 'Tokens=3', 'tokens=1e9', 'steps=3', 'tokens=' + '9' * 30:
        done = gs.gpustarve('run', '--unit', bad, '--', 'true')
        gs.check(done.returncode == 1 and b'--unit' in done.stderr, f'--unit {bad}: {done.stderr}')


played()
several()
told()
bounded()
hostile()
gs.finish()
