#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""`gpustarve report --job`: made-up runs of a Slurm job joined with what the job was given. Every
nanosecond and cent of GPUs that nobody used, requeues, steps, array tasks, several clusters; what is
missing, and what somebody wrote to break it."""
import csv
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import figures
import gs
import jobsmade
import pagekeys
import schema
from jobsmade import NAME, USED, alloc, run, stream, uuid

S, T0 = 10**9, jobsmade.T0


def report(*args, good=True):
    done = gs.gpustarve('report', *args, '--format', 'json', '--price', '3.60')
    if not good:
        return done
    if not gs.equal(done.returncode, 0, f'report {args}: {done.stderr.decode()}'):
        gs.finish()
    s = json.loads(done.stdout)
    gs.equal(schema.errors(closed, s)[:3], [], f'{args}: schema')
    for i, g in enumerate(s['gpus']):
        gs.equal(sum(g['classes'].values()), g['held_ns'], f'{args}: classes of GPU {i}')
    gs.equal(sum(c['ns'] for c in s['ledger']['classes'].values()), s['ledger']['gpu_ns'], f'{args}: ledger')
    gs.equal(sum(a['gpu_ns'] for a in s['run']['slurm']['attempts']), s['ledger']['gpu_ns'], f'{args}: attempts')
    return s


def told(*args):
    """The text report, its lines joined."""
    return ' '.join(gs.gpustarve('report', *args, '--price', '3.60').stdout.decode().split())


def html(*args):
    return gs.gpustarve('report', *args, '--price', '3.60', '--format', 'html').stdout.decode()


def report_run(path):
    return json.loads(gs.gpustarve('report', path, '--format', 'json', '--price', '3.60').stdout)


def refused(word, *args):
    done = report(*args, good=False)
    text = done.stderr.decode()
    gs.equal((done.returncode, done.stdout, text.count('\n')), (1, b'', 1), f'{args}: one line: {text}')
    gs.check(word in text, f'{args}: {word!r} in {text!r}')


def fresh(where, name):
    out = os.path.join(where, name)
    os.mkdir(out)
    return out


def no_process(s):
    return [g['classes'].get('excluded.no_process', 0) for g in s['gpus']]


def fleet(out):
    done = gs.gpustarve('fleet', out, '--by', 'run', '--format', 'json')
    gs.equal(done.returncode, 0, done.stderr.decode())
    said = json.loads(done.stdout)
    return sorted((r['run'], r['held_ns']) for r in said['runs']['runs'])


def check_fleet(where):
    """A folder with a job, and a run of none: the job's GPUs once, as they were given, at the second look, too: its runs, and
    what none of them held; a step that comes later takes its time from that."""
    out = fresh(where, 'fleet')
    env = [('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', 0)]
    run(out, 'slurm-c1-9.0-0', stream(env=env))
    run(out, 'alone', stream(start=0, end=20))
    alloc(out)
    want = [('alone', 20 * S), ('slurm-c1-9', 370 * S), ('slurm-c1-9.0-0', 30 * S)]
    for what in 'a job', 'of what is kept':
        gs.equal(fleet(out), want, what)
    trace = os.path.join(out, 'slurm-c1-9.0-0.gst')
    trace = os.path.join(trace, os.listdir(trace)[0])
    with open(trace, 'rb') as f:
        data, at = f.read(), os.stat(trace).st_mtime_ns
    with open(trace, 'wb') as f:
        f.write(b'no trace' * 99)
    os.utime(trace, ns=(at, at))
    gs.equal(fleet(out), want, 'not read again')
    with open(trace, 'wb') as f:
        f.write(data)
    os.utime(trace, ns=(at, at))
    alloc(out, end=120)
    gs.equal(fleet(out), [('alone', 20 * S), ('slurm-c1-9', 450 * S), ('slurm-c1-9.0-0', 30 * S)], 'given back later')
    run(out, 'slurm-c1-9.1-0', stream(start=50, end=60, pid=101, env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', 1)]))
    want = [('alone', 20 * S), ('slurm-c1-9', 440 * S), ('slurm-c1-9.0-0', 30 * S), ('slurm-c1-9.1-0', 10 * S)]
    for what in 'another step', 'and once more':
        gs.equal(fleet(out), want, what)
    gs.equal(sorted(sqlite3.connect(os.path.join(out, 'fleet.sqlite')).execute('SELECT run FROM run')),
             [(r,) for r, _ in want], 'what is kept')
    # two at once on one GPU: what each had of it is not known, and the job's digest is of all of it
    run(out, 'slurm-c1-9.2-0', stream(start=55, end=65, pid=102, env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', 2)]))
    for what in 'at once', 'and once more':
        gs.equal(fleet(out), [('alone', 20 * S), ('slurm-c1-9', 480 * S)], what)
    # how it ended: as one of them that failed, whichever was the last; else as one that was killed beside one that was not
    for ends, want in (((0, 3, 0), ('failed', 3)), ((0, 0, 0), ('ok', None)), ((0, None, 0), ('lost', None)), ((None, 5, None), ('failed', 5))):
        for i, status in enumerate(ends):
            record = {'slurm': {'job': 9, 'cluster': 'c1'}, **({} if status is None else {'exit_status': status})}
            with open(os.path.join(out, f'slurm-c1-9.{i}-0.gst', 'run.json'), 'w', encoding='utf-8') as f:
                json.dump({'id': f'slurm-c1-9.{i}-0', 'command': ['x'], 'labels': {}, **record}, f)
        d = json.loads(gs.gpustarve('digest', os.path.join(out, 'c1-9.job')).stdout)
        gs.equal((d.get('runs_overlap'), d['end'], d.get('exit_status')), (True, *want), f'runs that ended {ends}')


def check_contained(where):
    """A container's run knows the number of its job alone: it is of the only job that has it, and billed once."""
    out = fresh(where, 'contained')
    run(out, 'contained', stream(), record={'slurm': {'job': 9}})
    run(out, 'elsewhere', stream(pid=101, start=0, end=20), record={'slurm': {'job': 10}})
    alloc(out)
    gs.equal(fleet(out), [('contained', 30 * S), ('elsewhere', 20 * S), ('slurm-c1-9', 370 * S)], 'beside the rest of its job')
    s = report('--job', '9', '--dir', out)
    gs.equal((s['ledger']['gpu_ns'], sum(no_process(s))), (400 * S, 370 * S), 'of the job')
    out = fresh(where, 'ambiguous')
    run(out, 'contained', stream(), record={'slurm': {'job': 9}})
    alloc(out)
    alloc(out, cluster='c2')
    gs.equal(fleet(out), [('contained', 30 * S), ('slurm-c1-9', 400 * S), ('slurm-c2-9', 400 * S)],
             'of which of two is not known')


WRAPPED = '''mount --bind "$1" /proc/$$/cgroup && shift && exec "$@"'''


def check_cgroup(where):
    """The wrapper takes the number from its cgroup, where the environment tells of no job."""
    out, told = fresh(where, 'cgroup'), os.path.join(where, 'told')
    with open(told, 'w', encoding='utf-8') as f:
        f.write('0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n')
    if os.geteuid() or subprocess.run(['unshare', '-m', 'sh', '-c', WRAPPED, 'sh', told, 'true'], check=False).returncode:
        return  # nobody may mount here; the unit test reads the text
    for env, job in (({}, 4711), ({'SLURM_JOB_ID': '12', 'SLURM_STEP_ID': '0'}, 12)):
        done = gs.command(['unshare', '-m', 'sh', '-c', WRAPPED, 'sh', told, gs.WITH_GPUSIM, gs.CLI, 'run', '--no-report', '-o', out, '--',
                           gs.PYTHON, '-c', 'import gpudev; gpudev.Stream(gpudev.Device(0)).kernel(1000, "k")'],
                          env=gs.environment(PYTHONPATH=gs.WORKLOADS, **env))
        gs.equal(done.returncode, 0, done.stderr.decode())
        [path] = [r for r in gs.runs(out) if json.load(open(os.path.join(r, 'run.json'), encoding='utf-8')).get('slurm', {}).get('job') == job]
        gs.check(os.path.isdir(path), f'{env}: {job}')


def check_prices(where):
    """Runs of other prices: the report has one, says so and which there are; its summary is what the trace gives."""
    out = fresh(where, 'prices')
    for step, price in enumerate(('2.50', '3.60', '2.50')):
        run(out, f'slurm-c1-9.{step}-0', stream(start=30 * step, end=30 * step + 20, pid=100 + step, env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', step)]),
            record={'slurm': {'job': 9, 'cluster': 'c1'}, 'price': {'usd_per_gpu_hour': price, 'from': '--price'}})
    alloc(out, gpus=1)
    words = 'its runs were given different prices ($2.50, $3.60): all dollars here are at one, and gpustarve fleet counts each run at its own'
    folder = os.path.join(out, 'c1-9.job')
    gs.check(words in ' '.join(gs.gpustarve('report', folder).stdout.decode().split()), 'text')
    for options in ((), ('--price', '4')):
        s = json.loads(gs.gpustarve('report', folder, '--format', 'json', *options).stdout)
        gs.equal(s['quality']['notes'].count(words), 1, f'{options}: notes')
    gs.gpustarve('report', folder, '--format', 'json', '-o', f'{folder}/summary.json', '--price', '4')
    gs.equal(gs.gpustarve('verify', folder).returncode, 0, 'at another price it is made anew with the same remark')
    alike = os.path.join(out, 'slurm-c1-9.1-0.gst', 'run.json')
    with open(alike, encoding='utf-8') as f:
        record = json.load(f)
    record['price']['usd_per_gpu_hour'] = '2.50'
    with open(alike, 'w', encoding='utf-8') as f:
        json.dump(record, f)
    s = json.loads(gs.gpustarve('report', folder, '--format', 'json').stdout)
    gs.check(not any('different prices' in n for n in s['quality']['notes']), f'of one price: {s["quality"]}')


def check_digest(where):
    """The digest of a job: also of one without a run, and of one whose summary is older than what is known by now."""
    out = fresh(where, 'digest')

    def digest():
        done = gs.gpustarve('digest', os.path.join(out, 'c1-9.job'))
        gs.equal(done.returncode, 0, done.stderr.decode())
        d = json.loads(done.stdout)
        return d['run'], d.get('whole_job'), sum(l['held_ns'] for l in d['gpus'])

    folder = alloc(out, gpus=2)
    gs.equal(digest(), ('slurm-c1-9', True, 200 * S), 'no process used them')
    gs.equal(fleet(out), [('slurm-c1-9', 200 * S)], 'the fleet of a folder without a run')
    run(out, 'slurm-c1-9.0-0', stream(env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', 0)]))
    gs.equal(digest(), ('slurm-c1-9', None, 170 * S), 'with a step')
    made = os.path.join(folder, 'summary.json')
    gs.equal(gs.gpustarve('report', '--job', '9', '--dir', out, '--format', 'json', '-o', made).returncode, 0, 'summary')
    gs.equal(digest(), ('slurm-c1-9', None, 170 * S), 'of its summary')
    time.sleep(0.02)
    alloc(out, gpus=2, restart=1, start=200, end=250)
    gs.equal(digest(), ('slurm-c1-9', None, 270 * S), 'another life, which the summary does not know')


def check_unused(where):
    """Four GPUs for 100 s, one of them used for 30 s: at 3.60 an hour a second is a tenth of a cent."""
    out = fresh(where, 'unused')
    run(out, 'slurm-c1-9.0-0', stream(env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', 0)]))
    folder = alloc(out)
    s = report('--job', '9', '--dir', out)
    gs.equal([g['uuid'] for g in s['gpus']], [uuid(i) for i in range(4)], 'each GPU once')
    gs.equal([g['held_ns'] for g in s['gpus']], [100 * S] * 4, 'held as long as allocated')
    gs.equal([g['allocated_ns'] for g in s['gpus']], [100 * S] * 4, 'allocated')
    gs.equal(no_process(s), [70 * S] + [100 * S] * 3, 'without a process')
    gs.equal([g['minutes'] for g in s['gpus'][1:]], [[1, 0, 0, 0, 0, 0]] * 3, 'one whole minute, idle')
    gs.equal([g['usd'] for g in s['gpus']], [0.1] * 4, 'dollars of each GPU')
    gs.equal(s['cost']['idle_allocation_usd'], 0.37, 'dollars of what nobody used')
    gs.equal(s['cost']['usd'], 0.4, 'dollars of the job')
    gs.equal(s['ledger']['classes']['excluded.no_process']['usd'], 0.37, 'and in the ledger')
    gs.check(s['cost']['wasted_usd'] >= 0.37, 'they count as waste')
    gs.equal(s['advice'][0]['id'], 'no-process', 'what to do first')
    gs.equal(s['run']['slurm']['steps'], ['0'], 'steps')
    gs.equal((s['run']['user'], s['run']['slurm']['account']), ('anna', 'ml'), 'whose it was')
    gs.equal(s['ledger']['unused'], {'gpus': 3, 'no_process_gpus': 3, 'no_work_gpus': 0, 'ns': 300 * S, 'usd': 0.3},
             'GPUs that did nothing')
    gs.check('3 of 4' in s['advice'][0]['why'] and '1 GPU ' in s['advice'][0]['action'], f"by how many: {s['advice'][0]}")
    text = told('--job', '9', '--dir', out)
    page = html('--job', '9', '--dir', out)
    gs.check(re.search(r'<h1>.*?</span> of .* went to GPUs that no process used', page), 'the page says it in ten seconds')
    for words in (', 3 of 4 GPUs idle. Nobody knows what the GPU waited for in ', '; 4x', 'no process used 3 of 4 GPUs = 30.0 \u00a2', 'next: 3 GPUs fewer;',
                  'start-up, shutdown and time that no process used: '):
        gs.check(words in text, f'{words!r} in {text[:900]}')
    window = report('--job', '9', '--dir', out, '--window', 'device', good=False)
    gs.equal(len(json.loads(window.stdout)['gpus']), 1, 'the window of a device knows of no allocation')
    check_files(out, folder, s)
    check_lines(out)


def check_unseen(where):
    """A task of the job was not recorded on one of its nodes: nobody knows who used what there."""
    out = fresh(where, 'unseen')
    run(out, 'slurm-c1-9.0-0', stream(env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', 0)]))
    folder = alloc(out, gpus=2)
    alloc(out, node='n2', gpus=[{'index': 0, 'uuid': uuid(7), 'name': NAME}])
    for name in ('unrecorded-n1', 'unrecorded-n3', 'unrecorded-', 'unrecorded'):
        with open(os.path.join(folder, name), 'w', encoding='ascii'):
            pass
    s = report('--job', '9', '--dir', out)
    gs.equal([(g['uuid'], g['classes'].get('excluded.unobserved', 0)) for g in s['gpus']],
             [(uuid(0), 70 * S), (uuid(1), 100 * S), (uuid(7), 0)], 'unobserved')
    gs.equal(no_process(s), [0, 0, 100 * S], 'on the node where all was recorded')
    gs.equal(s['cost']['idle_allocation_usd'], 0.1, 'dollars of what nobody used')
    gs.check(any('were not recorded' in n for n in s['quality']['notes']), 'a note says so')
    gs.equal(s['quality']['unobserved_ns'], 170 * S, 'in quality, too')


def check_files(out, folder, s):
    """A job's folder is a run for the other commands: verify, the page, exports."""
    for name, how in (('summary.json', 'json'), ('report.html', 'html')):
        done = gs.gpustarve('report', folder, '--format', how, '--price', '3.60', '-o', os.path.join(folder, name))
        gs.equal(done.returncode, 0, f'report {name}: {done.stderr.decode()}')
    gs.equal(gs.gpustarve('verify', folder).returncode, 0, 'verify')
    with open(os.path.join(folder, 'summary.json'), encoding='utf-8') as f:
        text = f.read()
    gs.equal({k: v for k, v in json.loads(text).items() if k not in ('digest', 'cost')},
             {k: v for k, v in s.items() if k not in ('digest', 'cost')}, 'by folder and by number')
    again = gs.gpustarve('report', os.path.join(folder, 'summary.json'), '--format', 'json').stdout.decode()
    gs.equal(again, text, 'a stored summary comes out as it was')
    with open(os.path.join(folder, 'summary.json'), 'w', encoding='utf-8') as f:
        f.write(text.replace(str(100 * S), str(100 * S + 1), 1))
    gs.equal(gs.gpustarve('verify', folder).returncode, 2, 'one nanosecond more is seen')
    os.unlink(os.path.join(folder, 'summary.json'))
    rows = gs.gpustarve('export', folder, '--format', 'csv').stdout.decode().splitlines()
    at = rows[0].split(',').index('ns')
    of = [r.split(',') for r in rows[1:] if 'excluded.no_process' in r]
    gs.equal(sum(int(r[at]) for r in of), 370 * S, 'pieces of an export')
    focus = list(csv.DictReader(gs.gpustarve('export', folder, '--format', 'focus').stdout.decode().splitlines()))
    gs.equal({r['BillingAccountId'] for r in focus}, {'ml'}, 'charged to the job\'s account')


def check_lines(out):
    """What accounting gets, and the list of jobs."""
    done = gs.gpustarve('job', 'comment', '9', '--dir', out, '--price', '3.60')
    line = done.stdout.decode()
    gs.check(line.startswith('gpustarve verdict=') and line == line.lower() and len(line) < 250, line)
    said = dict(word.split('=') for word in line.split()[1:])
    gs.equal({k: said[k] for k in ('gpus', 'unused_gpus', 'gpu_hours', 'usd')},
             {'gpus': '4', 'unused_gpus': '3', 'gpu_hours': '0.11', 'usd': '0.40'}, 'a line for accounting')
    gs.check(said['price_source'] and said['price_date'], 'no price without its source and date')
    without = gs.gpustarve('job', 'comment', '9', '--dir', out,
                           env=gs.environment(GPUSTARVE_PRICES='/nonexistent', GPUSTARVE_DMI='/nonexistent'))
    gs.equal(without.returncode, 0, 'whatever prices there are')
    gs.equal(('usd=' in without.stdout.decode()), 'price_source=' in without.stdout.decode(), 'dollars and source')
    alloc(out, job=10, cluster='c2', end=None, gpus=2, user='e\x1b[2Jve\u202e')
    done = gs.gpustarve('job', 'list', '--dir', out)
    rows = [r.split() for r in done.stdout.decode('ascii').splitlines()]
    gs.equal([(r[0], r[1], r[3], r[4], r[5], r[6], r[-1]) for r in rows[1:]],
             [('9', 'c1', '1', '0', '1', '4', 'ended'), ('10', 'c2', '0', '0', '1', '2', 'open')], 'list')
    gs.check('?[2Jve' in rows[2][2], f'nothing that moves a cursor: {rows[2]}')
    refused_job = gs.gpustarve('job', 'comment', '77', '--dir', out)
    gs.equal((refused_job.returncode, refused_job.stdout), (1, b''), 'no such job')


def check_requeue(where):
    """Killed, requeued 460 s later: joined it is the sum of both runs, and the time between is nobody's."""
    out = fresh(where, 'requeue')
    env = [('SLURM_JOB_ID', 9), ('SLURM_CLUSTER_NAME', 'c1'), ('SLURM_STEP_ID', 0)]
    one = run(out, 'slurm-c1-9.0-0', stream(killed=True, env=env + [('SLURM_RESTART_COUNT', 0)]))
    two = run(out, 'slurm-c1-9.0-1', stream(start=510, end=600, pid=7, env=env + [('SLURM_RESTART_COUNT', 1)]))
    both = report('--job', '9', '--dir', out)
    parts = [json.loads(report(p, good=False).stdout) for p in (one, two)]
    gs.equal(both['gpus'][0]['held_ns'], 120 * S, 'without an allocation: what processes held')
    for name in sorted({*parts[0]['ledger']['classes'], *parts[1]['ledger']['classes']}):
        gs.equal(both['ledger']['classes'].get(name, {}).get('ns', 0),
                 sum(p['ledger']['classes'].get(name, {}).get('ns', 0) for p in parts), f'sum of {name}')
    gs.equal([(a['restart'], a['gpu_ns']) for a in both['run']['slurm']['attempts']], [(0, 30 * S), (1, 90 * S)],
             'held by each attempt')
    alloc(out, gpus=1)
    alloc(out, gpus=1, restart=1, start=500, end=640)
    s = report('--job', '9', '--dir', out)
    gs.equal([(a['restart'], a['start_ns'], a['end_ns'], a['gpus'], a['gpu_ns'])
              for a in s['run']['slurm']['attempts']],
             [(0, T0, T0 + 100 * S, 1, 100 * S), (1, T0 + 500 * S, T0 + 640 * S, 1, 140 * S)], 'attempts')
    gs.equal((s['gpus'][0]['held_ns'], no_process(s)), (240 * S, [120 * S]), 'the gap between them is not held')
    gs.equal(s['run']['slurm']['restart'], 1, 'requeued once')
    gs.equal([r['restart'] for r in s['run']['slurm']['runs']], [0, 1], 'runs')
    for name, c in both['ledger']['classes'].items():
        gs.equal(s['ledger']['classes'][name]['ns'], c['ns'], f'{name} stays, whatever was given')
    text = gs.gpustarve('report', '--job', '9', '--dir', out).stdout.decode()
    gs.check('restart 1: ' in text and 'requeued 1 time' in text, 'the text tells of them')


def check_steps(where):
    """Two steps at once, of a rank each, on two nodes; a third run was made in the batch script."""
    out = fresh(where, 'steps')
    for i, host in enumerate(('n1', 'n2')):
        run(out, f'slurm-c1-9.{i}-0', stream(rank=i, world=2, pid=50 + i, host=host,
                   env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', i)]))
        alloc(out, node=host, end=None, gpus=[{'index': 3, 'uuid': f'GPU-0102000{i}' + USED[8:], 'name': NAME}])
    run(out, '20261109T000000Z-train-1', stream(start=50, end=60, pid=90), record={'slurm': {'job': 9, 'cluster': 'c1'}})
    run(out, '20261109T000000Z-other-1', stream(pid=91), record={'slurm': {'job': 99, 'cluster': 'c1'}})
    run(out, '20261109T000000Z-local-1', stream(pid=92), record={})
    s = report('--job', '9', '--dir', out)
    gs.equal((len(s['gpus']), s['run']['ranks'], s['run']['hosts']), (2, 2, ['n1', 'n2']), 'ranks over steps')
    gs.equal(s['run']['slurm']['steps'], ['0', '1'], 'steps')
    gs.equal(len(s['run']['slurm']['runs']), 3, 'by name and by run.json, and no others')
    gs.equal([g['held_ns'] for g in s['gpus']], [60 * S, 40 * S], 'no end is known: until the last sign of life')
    gs.equal([a['open'] for a in s['run']['slurm']['attempts']], [True], 'which is said')
    gs.check(any('end of some allocations is not known' in n for n in s['quality']['notes']), 'in a note, too')


def check_labels(where):
    """Experiments in one allocation: what all of them were labelled with is the job's, and nothing that one alone was."""
    out = fresh(where, 'labels')
    for i, labels in enumerate(({'experiment': 'alpha', 'team': 'x', 'first': '1'}, {'experiment': 'beta', 'team': 'x'},
                                {'experiment': 'alpha', 'team': 'x', 'last': '3'})):
        run(out, f'slurm-c1-9.{i}-0', stream(start=20 * i, end=20 * i + 10, pid=50 + i, env=[('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', i)]),
            record={'slurm': {'job': 9, 'cluster': 'c1'}, 'labels': labels})
    alloc(out)
    several = {'experiment': 'several', 'team': 'x', 'first': 'several', 'last': 'several'}
    gs.equal(report('--job', '9', '--dir', out)['run']['labels'], several, 'labels of a job')
    said = json.loads(gs.gpustarve('fleet', out, '--by', 'label:experiment', '--format', 'json').stdout)
    held = {r['name']: (r['runs'], r['held_ns']) for r in said['by']['label']}
    gs.equal(held, {'alpha': (2, 20 * S), 'beta': (1, 10 * S), None: (0, 370 * S)}, 'each experiment has what it held, and none the rest')


def check_ends(where):
    """Each run of a label or of a job ended in its own way, and the last one does not speak for those before."""
    out = fresh(where, 'ends')
    for job, env in ('label:try=2', []), ('9', [('SLURM_JOB_ID', 9)]):
        shutil.rmtree(out)
        os.mkdir(out)
        for i, status in enumerate((137, None, 3, 0)):
            name = f'slurm-c1-9.{i}-0' if env else f'd-{7 - i}'  # by name they are in no order
            run(out, name, stream(start=20 * i, end=20 * i + 10, env=env + [('SLURM_STEP_ID', i)] if env else []), record={
                'labels': {'try': '2'}, 'start_unix_ns': T0 + 20 * i * S, 'wall_ns': 10 * S, 'exit_status': status,
                'exits': [] if status is None else [{'host': 'n1', 'pid': 5, 'start_ns': 1, 'end_ns': 2, 'status': status}]})
        text = told('--job', job, '--dir', out)
        gs.check('exit status: 137 (signal 9), then not known, then 3, then 0 ' in text, f'{job}: {text[text.find("exit"):][:200]}')
        said = gs.gpustarve('report', '--job', job, '--dir', out, '--format', 'json').stdout.decode()
        s = json.loads(said)
        gs.equal(schema.errors(closed, s)[:3], [], f'{job}: schema')
        runs = (s['run']['slurm'] or s['run'])['runs']
        gs.equal([r['exit_status'] for r in runs], [137, None, 3, 0], f'{job}: each')
        page = gs.gpustarve('report', '--job', job, '--dir', out, '--format', 'html').stdout.decode()
        wrong, _ = pagekeys.problems(page, figures.parse(said))
        gs.equal(wrong[:3], [], f'{job}: each number of the page')
        plain = ' '.join(re.sub(r'<[^>]+>', ' ', page).split())
        gs.check('Exit status 137 , then not known, then 3 , then 0 ' in plain, f'{job}: page {plain[plain.find("Exit"):][:200]}')
        with open(os.path.join(where, 'ends.json'), 'w', encoding='utf-8') as f:
            f.write(said)
        again = gs.gpustarve('report', os.path.join(where, 'ends.json'), '--format', 'json')
        gs.equal(json.loads(again.stdout)['run'], s['run'], f'{job}: read again')


def check_names(where):
    """Which job is meant."""
    out = fresh(where, 'names')
    for cluster in ('c1', 'big-1'):
        run(out, f'slurm-{cluster}-9.0-0', stream(env=[('SLURM_JOB_ID', 9)]))
    refused('9 on big-1, 9 on c1', '--job', '9', '--dir', out)
    for cluster in ('c1', 'big-1'):
        runs = report('--job', '9', '--dir', out, '--cluster', cluster)['run']['slurm']['runs']
        gs.equal([r['id'] for r in runs], [f'slurm-{cluster}-9.0-0'], f'on {cluster}')
    for task in (1, 2):
        env = [('SLURM_JOB_ID', 20 + task), ('SLURM_ARRAY_JOB_ID', 22), ('SLURM_ARRAY_TASK_ID', task)]
        run(out, f'slurm-c1-{20 + task}.0-0', stream(pid=task, env=env))
    for name, want in (('22_1', 21), ('22_2', 22), ('21', 21), ('22', 22)):
        s = report('--job', name, '--dir', out)
        gs.equal((s['run']['slurm']['job'], s['run']['slurm']['array_job']), (want, 22), f'--job {name}')
    alloc(out, job=31, array_job=30, array_task=0)
    alloc(out, job=32, array_job=30, array_task=1)
    refused('30_0 on c1, 30_1 on c1', '--job', '30', '--dir', out)
    for name, word in (('77', 'nothing of it'), ('22_3', 'nothing of it'), ('x', 'not a number'),
                       ('-1', 'not a number'), ('9_', 'not a number'), ('9' * 30, 'not a number')):
        refused(word, '--job', name, '--dir', out)
    refused('there is no folder', '--job', '9', '--dir', os.path.join(out, 'nowhere'))
    refused('nothing of it', '--job', '99', '--dir', out)
    alloc(out, job=40, array_job=40, array_task=3)
    for name, notes in ('40', 1), ('40_3', 0), ('31', 0):
        done = report('--job', name, '--dir', out, good=False)
        gs.equal((done.returncode, done.stderr.count(b'one task of an array, 40_3')), (0, notes), f'--job {name}')
    refused('name one of them', '--job', '9', os.path.join(out, 'slurm-c1-9.0-0.gst'))
    refused('--dir is for --job', os.path.join(out, 'slurm-c1-9.0-0.gst'), '--dir', out)


def check_never(where):
    """A job that never touches its GPUs has no run at all; without NVML its GPUs have no name."""
    out = fresh(where, 'never')
    alloc(out, gpus=2)
    s = report('--job', '9', '--dir', out)
    gs.equal((s['verdict'], no_process(s), s['cost']['wasted_usd']), ('inconclusive', [100 * S] * 2, 0.2), 'all waste')
    gs.equal((s['run']['wall_ns'], s['run']['slurm']['runs']), (100 * S, []), 'as long as it had them')
    text, page = told('--job', '9', '--dir', out), html('--job', '9', '--dir', out)
    gs.check(text.startswith('gpustarve: idle. No process used any of the 2 GPUs = 20.0 \u00a2 of 20.0 \u00a2 at')
             and ' this run: 2x NVIDIA' in text,
             f'it says what is the case: {text[:400]}')
    gs.check('>idle</span>' in page and 'inconclusive' not in page, 'so does the page')
    gs.check('ask for none' in s['advice'][0]['action'], f"and what to do: {s['advice'][0]}")
    run(out, 'slurm-c1-9.0-0', stream())
    alloc(out, gpus=3, named=False)
    s = report('--job', '9', '--dir', out)
    gs.equal([(g['index'], g['name'], g['allocated_ns']) for g in s['gpus']],
             [(i, NAME, 100 * S) for i in range(3)], 'by number on the same host')
    gs.check(any('taken to be like the others' in n for n in s['quality']['notes']), 'whose name is a guess')
    alloc(out, gpus=1, node='elsewhere', named=False)
    s = report('--job', '9', '--dir', out)
    gs.equal([g['host'] for g in s['gpus']], ['n1', 'elsewhere', 'n1', 'n1'], 'a GPU elsewhere is another one')


def check_held(where):
    """Two processes hold a GPU each; one of them never runs anything on its own."""
    out = fresh(where, 'held')
    path = run(out, 'r', stream(), stream(rank=1, pid=101, first=30, last=30))
    s = report_run(path)
    gs.equal(s['ledger']['unused'], {'gpus': 1, 'no_process_gpus': 0, 'no_work_gpus': 1, 'ns': 30 * S, 'usd': 0.03},
             'held, and nothing ran on it')
    advice = [a for a in s['advice'] if a['id'] == 'idle-gpu']
    gs.equal([(a['class'], a['saving_upper_ns']) for a in advice], [('excluded.startup', 30 * S)], 'advice')
    text = told(path)
    gs.check('1 of 2 GPUs idle. ' in text and 'nothing ran on 1 of 2 GPUs that processes held = 3.00 \u00a2' in text,
             f'it says so: {text[:500]}')
    path = run(out, 's', stream(first=30, last=30))
    text = told(path)
    gs.check(text.startswith('gpustarve: idle. Nothing ran on the GPU that a process held = 3.00 \u00a2 of 3.00 \u00a2 at'),
             f'of the only one: {text[:500]}')
    both = ' '.join(gs.gpustarve('report', path, os.path.join(out, 'r.gst')).stdout.decode().split())
    gs.check('s: idle, 1x NVIDIA' in both and '1 of 2 GPUs idle, 2x NVIDIA' in both, f'beside each other: {both[:500]}')


def check_hostile(where):
    out = fresh(where, 'hostile')
    run(out, 'slurm-c1-9.0-0', stream())
    folder = alloc(out)
    want = report('--job', '9', '--dir', out)
    bad = {
        'not-json': b'{', 'wrong-schema': {'schema': 'x'}, 'other-job': {'job': 10}, 'no-job': {'job': -1},
        'text-job': {'job': '9'}, 'negative': {'start_unix_ns': -5}, 'late': {'start_unix_ns': 2**62},
        'backwards': {'end_unix_ns': T0 - S}, 'endless': {'end_unix_ns': 2**63 - 1}, 'no-gpus': {'gpus': None},
        'many': {'gpus': [{}] * 1025}, 'big': {'x': 'x' * (1 << 20)}, 'restart': {'restart': 2**40},
        'no-node': {'node': None, 'host': None}}
    with open(os.path.join(folder, 'alloc-n1-0.json'), encoding='utf-8') as f:
        good = json.load(f)
    for name, change in bad.items():
        with open(os.path.join(folder, f'alloc-{name}-5.json'), 'wb') as f:
            f.write(change if isinstance(change, bytes) else json.dumps({**good, **change}).encode())
    os.symlink('alloc-n1-0.json', os.path.join(folder, 'alloc-link-5.json'))
    os.mkfifo(os.path.join(folder, 'alloc-pipe-5.json'))
    s = report('--job', '9', '--dir', out)
    notes = [n for n in s['quality']['notes'] if 'cannot be used' in n]
    gs.equal(s['gpus'], want['gpus'], 'what cannot be used changes nothing')
    gs.equal(len(notes), len(bad) + 2, f'and each is told: {notes}')
    odd = [{'index': 1, 'uuid': 7, 'name': ['x']}, {'index': -3, 'uuid': 'GPU-zz'}, 5, {'index': 2, 'uuid': uuid(0)},
           {'uuid': uuid(0).upper().replace('GPU', 'GPU')}, {'index': 2**40, 'name': '<script>', 'mig_slices': 9}]
    shutil.rmtree(folder)
    for restart, (start, end) in enumerate(((0, 100), (50, 60), (90, 200), (200, 200))):
        alloc(out, restart=restart, start=start, end=end, gpus=odd)
    done = report('--job', '9', '--dir', out, good=False)
    s = json.loads(done.stdout)
    gs.equal([g['held_ns'] for g in s['gpus']], [200 * S] * len(s['gpus']), 'what overlaps counts once')
    for g in s['gpus']:
        gs.equal(sum(g['classes'].values()), g['held_ns'], 'classes')
    page = gs.gpustarve('report', folder, '--format', 'html').stdout.decode()
    gs.check('<script>' not in page.split('</head>')[1].split('<script', 1)[0], 'no markup of theirs')
    shutil.rmtree(folder)
    os.symlink(out, folder)
    s = report('--job', '9', '--dir', out)
    gs.equal((len(s['gpus']), s['gpus'][0]['allocated_ns']), (1, None), 'a link in the place of the folder')


closed = schema.close(schema.ours())
with gs.scratch() as scratch:
    for check in (check_unused, check_fleet, check_contained, check_cgroup, check_prices, check_digest, check_unseen, check_requeue, check_steps, check_labels, check_ends, check_names, check_never,
                  check_held, check_hostile):
        check(scratch)
gs.finish()
