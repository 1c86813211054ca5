#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Every format but Kineto's of one run of the simulator with a loader and one with several processes,
read with other programs: protoc, the sqlite3 shell, promtool. All totals are summary.json's."""
import collections
import csv
import datetime
import fcntl
import gzip
import io
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import exporting
import gs

FOCUS = '''BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd
BillingPeriodStart ChargeCategory ChargeClass ChargeDescription ChargePeriodEnd ChargePeriodStart
ContractedCost EffectiveCost InvoiceIssuerName ListCost PricingQuantity PricingUnit ProviderName
PublisherName ServiceCategory ServiceName'''.split()
BUSY = ('compute', 'comm', 'copy', 'comm.skew')


def decode(message, proto, data):
    """What protoc makes of bytes, as (text of) the message."""
    done = subprocess.run(['protoc', f'--decode={message}', f'-I{exporting.PROTO}', proto], input=data,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    gs.equal(done.returncode, 0, f'protoc {proto}: {done.stderr.decode()}')
    return done.stdout.decode(errors='replace')


def fields(text):
    """protoc's text as nested dictionaries of lists."""
    top = collections.defaultdict(list)
    stack = [top]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith('{'):
            inner = collections.defaultdict(list)
            stack[-1][line[:-1].strip()].append(inner)
            stack.append(inner)
        elif line == '}':
            stack.pop()
        elif line:
            key, value = line.split(': ', 1)
            stack[-1][key].append(value.strip('"') if value.startswith('"') else value)
    return top


def idle(summary):
    return {c: v['ns'] for c, v in summary['ledger']['classes'].items() if c not in BUSY}


def dumped(run, what):
    lines = gs.gpustarve('dump', run, what).stdout.splitlines()
    return sum(not l.startswith(b'#') for l in lines)


def check_perfetto(run, summary, file):
    with open(exporting.export(run, 'perfetto', file), 'rb') as f:
        packets = fields(decode('perfetto.protos.Trace', 'perfetto.proto', f.read()))['packet']
    tracks, names, slices, open_slices = {}, {}, collections.defaultdict(list), collections.defaultdict(list)
    flows, ends, instants = set(), set(), collections.Counter()
    for p in packets:
        for d in p['track_descriptor']:
            tracks[d['uuid'][0]] = d
        for d in p['interned_data']:
            for n in d['event_names']:
                names[p['trusted_packet_sequence_id'][0], n['iid'][0]] = n['name'][0]
    events = [p for p in packets if p['track_event']]
    gs.check(all(e['track_uuid'][0] in tracks for p in events for e in p['track_event']),
             'perfetto: every event lies on a track that is described')
    order = sorted(range(len(events)), key=lambda i: (int(events[i]['timestamp'][0]), i))
    for i in order:
        p = events[i]
        e, t = p['track_event'][0], int(p['timestamp'][0])
        uuid = e['track_uuid'][0]
        if e['type'] == ['TYPE_INSTANT']:
            instants[tracks[uuid]['name'][0]] += 1
        elif e['type'] == ['TYPE_SLICE_BEGIN']:
            open_slices[uuid].append((t, names.get((p['trusted_packet_sequence_id'][0],
                                                    e['name_iid'][0]))))
            flows |= set(e['flow_ids'])
            ends |= set(e['terminating_flow_ids'])
        else:
            begin, name = open_slices[uuid].pop()
            slices[uuid].append((begin, t, name))
    gs.check(not any(open_slices.values()), 'perfetto: every slice ends')
    gs.check(all(n for s in slices.values() for _, _, n in s), 'perfetto: every slice has a name')

    def of(what):
        return [s for u, ss in slices.items() for s in ss
                if re.match(what, tracks[u]['name'][0] if tracks[u]['name'] else 'thread')]
    gs.equal(len(of(r'stream -?\d+$')), sum(g['ops'] for g in summary['gpus']),
             'perfetto: a slice for each operation')
    sums = collections.Counter()
    for begin, end, name in of('why it was idle'):
        sums[name] += end - begin
    gs.equal(dict(sums), idle(summary), 'perfetto: idle slices sum to the classes')
    gs.check(ends and ends <= flows, 'perfetto: each arrow begins at a call')
    waits = re.findall(rb'\tloader\t', gs.gpustarve('dump', run).stdout)
    gs.equal(len(of(r'thread \d+ waits for the loader')), len(waits), 'perfetto: waits')
    gs.equal(sum(instants.values()), dumped(run, '--samples'), 'perfetto: an instant for each sample')
    gs.check(all('samples of thread' in n for n in instants), f'perfetto: {instants}')
    gs.equal(len(of('batches in thread')), dumped(run, '--batches'), 'perfetto: a slice for each batch')
    text = ' '.join(d['name'][0] for d in tracks.values() if d['name'])
    gs.check('(simulated)' in text and 'model' in text, 'perfetto: it says that it is simulated')


def shell(file, query):
    done = subprocess.run(['sqlite3', '-separator', '|', file, query], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    gs.equal(done.returncode, 0, f'sqlite3: {query}: {done.stderr.decode()}')
    return [l.split('|') for l in done.stdout.decode().splitlines()]


def manual_queries():
    with open(os.path.join(gs.SOURCE, 'docs', 'gpustarve-export.md'), encoding='utf-8') as f:
        return re.findall(r'sqlite3 run\.sqlite "([^"]+)"', f.read())


def check_sqlite(run, summary, file):
    exporting.export(run, 'sqlite', file)
    gs.equal(shell(file, 'PRAGMA integrity_check'), [['ok']], 'sqlite: integrity')
    ops = shell(file, ' UNION ALL '.join(
        f'SELECT count(*) FROM CUPTI_ACTIVITY_KIND_{t}' for t in
        ('KERNEL', 'MEMCPY', 'MEMSET', 'GRAPH_TRACE')))
    gs.equal(sum(int(n) for n, in ops), sum(g['ops'] for g in summary['gpus']), 'sqlite: operations')
    classes = {c: int(n) for c, n in shell(file, 'SELECT class, sum(ns) FROM classes GROUP BY class')}
    gs.equal(classes, {c: v['ns'] for c, v in summary['ledger']['classes'].items()}, 'sqlite: classes')
    compute = [(k, p, int(n), int(c)) for k, p, n, c in shell(file, 'SELECT kind, precision, ns, count FROM compute')]
    gs.equal(compute, [(r['kind'], r['precision'], r['ns'], r['count']) for r in summary['ledger']['compute']],
             'sqlite: compute')
    pieces = {c: int(n) for c, n in
              shell(file, 'SELECT class, sum(end_ns - start_ns) FROM pieces GROUP BY class')}
    gs.equal(pieces, idle(summary), 'sqlite: pieces sum to the classes')
    for i, gpu in enumerate(summary['gpus']):
        gs.equal(shell(file, f'SELECT count(*), sum(ns), sum(empty_ns) FROM gaps WHERE gpu = {i}'),
                 [[str(gpu['gaps']), str(gpu['idle_ns']), str(gpu['empty_ns'])]], f'sqlite: gaps {i}')
    if summary['steps']['count']:
        gs.check(int(shell(file, 'SELECT count(*) FROM steps')[0][0]) >= summary['steps']['count'],
                 'sqlite: steps')
    gs.equal(shell(file, "SELECT value FROM run WHERE name = 'starved_ns'"),
             [[str(summary['ledger']['starved_ns'])]], 'sqlite: starved')
    for table in 'samples', 'batches':
        gs.equal(int(shell(file, f'SELECT count(*) FROM {table}')[0][0]), dumped(run, '--' + table),
                 f'sqlite: {table}')
    gs.check('model' in str(shell(file, 'SELECT text FROM caveats')), 'sqlite: says it is simulated')
    gs.check(len(manual_queries()) >= 4, 'the manual shows queries')
    for query in manual_queries():
        gs.check(shell(file, query), f'sqlite: the manual\'s query answers: {query}')


def check_tables(run, summary):
    def table(name):
        text = gs.gpustarve('export', run, '--format', 'csv', '--table', name, '-q', *exporting.PRICE).stdout
        return list(csv.DictReader(io.StringIO(text.decode())))
    sums, gaps = collections.Counter(), collections.defaultdict(set)
    for row in table('gaps'):
        gs.check(int(row['ns']) == int(row['end_ns']) - int(row['start_ns']) > 0, f'csv: {row}')
        sums[row['class']] += int(row['ns'])
        if row['state'] != 'outside':
            gaps[int(row['gpu'])].add((row['gap_start_ns'], row['gap_end_ns']))
    gs.equal(dict(sums), idle(summary), 'csv: gaps sum to the classes')
    gs.equal([len(gaps[i]) for i in range(len(summary['gpus']))], [g['gaps'] for g in summary['gpus']],
             'csv: number of gaps')
    for i, gpu in enumerate(summary['gpus']):
        rows = [r for r in table('classes') if int(r['gpu']) == i]
        gs.equal({r['class']: int(r['ns']) for r in rows}, gpu['classes'], 'csv: classes')
        gs.check(abs(sum(float(r['usd']) for r in rows) - gpu['usd']) < 1e-9, 'csv: dollars')
        gs.equal(int(table('gpus')[i]['held_ns']), gpu['held_ns'], 'csv: held')
    gs.check(len(table('steps')) >= summary['steps']['count'], 'csv: steps')


def check_stacks(run, summary, where):
    with open(exporting.export(run, 'folded', os.path.join(where, 'f')), encoding='utf-8') as f:
        lines = f.read().splitlines()
    sums = collections.Counter()
    for line in lines:
        frames, ns = line.rsplit(' ', 1)
        frames = frames.split(';')
        gs.equal(frames[0], 'simulated GPU (a model)', 'folded: says that it is simulated')
        sums[frames[1]] += int(ns)
    gs.equal(dict(sums), idle(summary), 'folded: stacks sum to the classes')
    if any('train_loader' in c for c in summary['run']['command']) and summary['quality']['evidence']['samples']:
        gs.check(any(re.search(r';train \([^;]+/train_loader\.py:\d+\);', l) for l in lines),
                 'folded: whole stacks')

    with gzip.open(exporting.export(run, 'pprof', os.path.join(where, 'p'), *exporting.PRICE)) as f:
        profile = fields(decode('perftools.profiles.Profile', 'pprof.proto', f.read()))
    strings = profile['string_table']
    gs.equal(strings[0], '', 'pprof: the first string is empty')
    gs.equal([(strings[int(t['type'][0])], strings[int(t['unit'][0])]) for t in profile['sample_type']],
             [('gpu_idle', 'nanoseconds'), ('gpu_idle_cost', 'microdollars')], 'pprof: values')
    names = {f['id'][0]: strings[int(f['name'][0])] for f in profile['function']}
    place = {l['id'][0]: names[l['line'][0]['function_id'][0]] for l in profile['location']}
    got, usd = collections.Counter(), 0
    for sample in profile['sample']:
        frames = [place[i] for i in sample['location_id']]
        gs.equal(frames[-1], 'simulated GPU (a model)', 'pprof: outermost last')
        got[frames[-2]] += int(sample['value'][0])
        usd += int(sample['value'][1])
    gs.equal(dict(got), idle(summary), 'pprof: stacks sum to the classes')
    want = sum(v['usd'] for c, v in summary['ledger']['classes'].items() if c not in BUSY) * 1e6
    gs.check(abs(usd - want) <= len(profile['sample']), f'pprof: {usd} micro-dollars, not {want}')


def check_prometheus(run, summary, file):
    with open(exporting.export(run, 'prometheus', file, *exporting.PRICE), encoding='utf-8') as f:
        text = f.read()
    values = dict(re.findall(r'^(\S+\{.*\}) (\S+)$', text, re.M))
    sums = collections.Counter()
    for key, value in values.items():
        sums[key.split('{')[0]] += round(float(value) * 1e9)
    gs.equal(sums['gpustarve_gpu_seconds_total'], summary['ledger']['gpu_ns'], 'prometheus: seconds')
    gs.equal(sums['gpustarve_starved_seconds_total'], summary['ledger']['starved_ns'], 'prometheus')
    gs.equal(sums['gpustarve_compute_seconds_total'], sum(r['ns'] for r in summary['ledger']['compute']),
             'prometheus: compute by kind and precision')
    gs.equal(sums['gpustarve_gpu_usd_total'], round(summary['cost']['usd'] * 1e9), 'prometheus: $')
    gs.check('simulated="true"' in text, 'prometheus: says that it is simulated')
    gs.check(len(values) <= 80, f'prometheus: {len(values)} series')
    promtool = shutil.which('promtool')
    if not promtool:
        print('skipped: no promtool in PATH (Debian package prometheus)')
        return
    done = subprocess.run([promtool, 'check', 'metrics'], input=text.encode(), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    gs.equal((done.returncode, done.stdout), (0, b''), 'promtool check metrics')


def check_focus(run, summary, file):
    with open(exporting.export(run, 'focus', file, '--price', '123456.789'), newline='',
              encoding='utf-8') as f:
        rows = list(csv.DictReader(f))
    dear = gs.summary(run, '--price', '123456.789')
    gs.equal(len(rows), 2 * len(summary['gpus']), 'focus: rows')
    for row in rows:
        gs.check(set(FOCUS) <= set(row), 'focus: mandatory columns')
        gs.check(all(row[c] for c in FOCUS if c != 'ChargeClass'), 'focus: no empty cell')
        gs.check(all(c in FOCUS or c.startswith('x_') or c[0].isupper() for c in row), 'focus: names')
        gs.equal(float(row['BilledCost']), 0.0, 'focus: billed')
        begin, end = (datetime.datetime.strptime(row[k], '%Y-%m-%dT%H:%M:%SZ')
                      for k in ('ChargePeriodStart', 'ChargePeriodEnd'))
        gs.check(begin < end and row['BillingPeriodStart'] <= row['ChargePeriodStart'], 'focus: period')
    cents = sum(round(float(r['EffectiveCost']) * 100) for r in rows)
    gs.equal(cents, round(dear['cost']['usd'] * 100), 'focus: rows sum to the cent')
    exact = sum(round(float(r['x_ExactCost']) * 1e9) for r in rows)
    gs.equal(exact, round(dear['cost']['usd'] * 1e9), 'focus: exact rows sum')
    gs.equal({r['x_GpustarveState'] for r in rows}, {'Busy', 'Idle'}, 'focus: states')
    hours = sum(round(float(r['PricingQuantity']) * 1e9) for r in rows)
    gs.check(abs(hours - summary['ledger']['gpu_ns'] / 3600) <= len(rows), 'focus: hours')


def check_manners(run, where):
    """Bad requests say what is wrong; nothing half-written is left."""
    for options, word in ((['--format', 'xml'], 'unknown format'), ([], 'no format'),
                          (['--format', 'sqlite'], 'add -o'),
                          (['--format', 'csv', '--table', 'x'], 'unknown table'),
                          (['--format', 'focus', '--table', 'gaps'], '--table'),
                          (['--format', 'csv', '-o', os.path.join(where, 'no', 'x')], 'No such')):
        done = gs.gpustarve('export', run, *options)
        gs.equal(done.returncode, 1, f'export {options}')
        gs.check(word in done.stderr.decode(), f'export {options}: {done.stderr.decode()}')
    gs.equal(gs.gpustarve('export', os.path.join(where, 'none'), '--format', 'csv').returncode, 1, 'no run')
    full = gs.gpustarve('export', run, '--format', 'kineto', '-o', '/dev/full')
    gs.equal(full.returncode, 1, 'a full disk')
    gs.check('No space' in full.stderr.decode(), f'a full disk: {full.stderr.decode()}')
    gs.equal([n for n in os.listdir(where) if '.part-' in n], [], 'no part is left')


def check_progress(run, where):
    """Progress on a terminal after two seconds, nothing otherwise; a signal ends it."""
    fifo = os.path.join(where, 'fifo')
    os.mkfifo(fifo)
    for terminal, stop in ((True, False), (False, True)):
        main, other = pty.openpty()
        pipe = subprocess.PIPE
        argv = [gs.CLI, 'export', run, '--format', 'kineto', '-o', fifo]
        holder = os.open(fifo, os.O_RDWR)
        fcntl.fcntl(holder, fcntl.F_SETPIPE_SZ, 4096)  # the smallest run does not fit
        child = subprocess.Popen(argv, stderr=other if terminal else pipe, env=gs.environment())
        with open(fifo, 'rb') as f:
            f.read(1)
            os.close(holder)
            time.sleep(2.5 if terminal else 0.2)
            if stop:
                child.send_signal(signal.SIGTERM)
            f.read()
        status = child.wait(timeout=60)
        os.close(other)
        said = gs.written(main) if terminal else child.stderr.read()
        os.close(main)
        gs.equal(status, -signal.SIGTERM if stop else 0, 'export into a pipe')
        gs.equal(b'exporting ' in said and b' events/s' in said, terminal, f'progress: {said[:80]!r}')


with gs.scratch() as where:
    for name, run in (('loader', exporting.loader_run(where, '--workers', 2)), ('mix', exporting.mix_run(where))):
        summary = gs.summary(run, *exporting.PRICE)
        check_perfetto(run, summary, os.path.join(where, 'perfetto'))
        check_sqlite(run, summary, os.path.join(where, 'sqlite'))
        check_tables(run, summary)
        check_stacks(run, summary, where)
        check_prometheus(run, summary, os.path.join(where, 'prometheus'))
        check_focus(run, summary, os.path.join(where, 'focus'))
    check_manners(run, where)
    check_progress(run, where)

gs.finish()
