#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""Names of kernels, ranges, GPUs and labels are other people's: exports stay well formed, whatever
they are. Damaged traces give an export of what is left, or one line of error, never a crash."""
import csv
import glob
import io
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import exporting
import gs
import tiny

NASTY = ['</script><script>alert(1)</script>', '"; DROP TABLE gaps; --', "' OR 1=1", '=HYPERLINK("x")',
         'a;b c\nnew line\ttab', '\u202eright to left', '\\', '\x00nul', '\x1b[31mred', '{}[],:', '%s%n',
         'é' * 3000, '\ud83d\ude00', '', '-', 'run="x"} 1\nfake 1']
FORMATS = ('perfetto', 'kineto', 'sqlite', 'folded', 'pprof', 'prometheus', 'focus', 'csv')


def nasty_run(where):
    trace = tiny.kineto(steps=len(NASTY), gpu='GPU "</script>;\n=1+1')
    for row in trace['traceEvents']:
        if row['cat'] in ('kernel', 'cuda_runtime'):
            row['name'] = NASTY[int(row['ts'] // 10_000) % len(NASTY)]
    for i, name in enumerate(NASTY):
        trace['traceEvents'].append(dict(ph='X', cat='user_annotation', name=name, ts=1_000_000 + i * 10_000,
                                         dur=50, pid=1000, tid=1000 + i, args={}))
    trace['traceEvents'] = [dict(r, ts=r['ts'] + 1_700_000_000_000_000) for r in trace['traceEvents']]
    file = os.path.join(where, 'nasty.json')
    with open(file, 'w') as f:
        json.dump(trace, f)
    run = os.path.join(where, 'nasty.gst')
    done = gs.gpustarve('import', file, '-o', run, '-q')
    gs.equal(done.returncode, 0, f'import: {done.stderr.decode()}')
    with open(os.path.join(run, 'run.json'), 'w') as f:
        json.dump({'id': NASTY[0] + '"\n', 'command': NASTY, 'start_unix_ns': 1, 'wall_ns': 1, 'exit_status': 0,
                   'labels': {'account': '=cmd|"x"', NASTY[1]: NASTY[4]}}, f)
    return run


def export(run, form, file):
    return gs.gpustarve('export', run, '--format', form, '-o', file, '-q', *exporting.PRICE)


def check_nasty(where):
    run = nasty_run(where)
    files = {f: exporting.export(run, f, os.path.join(where, 'x.' + f), *exporting.PRICE) for f in FORMATS}
    with open(files['kineto'], encoding='utf-8') as f:
        rows = json.load(f)['traceEvents']
    names = {r['name'] for r in rows if r['ph'] == 'X' and r['cat'] == 'kernel'}
    gs.check(NASTY[0] in names and NASTY[4] in names and NASTY[5] in names, 'kineto: names as they are')
    db = sqlite3.connect(files['sqlite'])
    texts = {t for t, in db.execute('SELECT value FROM StringIds')}
    gs.check(NASTY[1] in texts and NASTY[2] in texts, 'sqlite: names as they are')
    gs.equal(db.execute('PRAGMA integrity_check').fetchone(), ('ok',), 'sqlite: integrity')
    gs.check(db.execute('SELECT count(*) FROM gaps').fetchone()[0] > 0, 'sqlite: no table was dropped')
    db.close()
    with open(files['folded'], 'rb') as f:
        for line in f.read().decode().splitlines():
            gs.check(line.rsplit(' ', 1)[1].isdigit(), f'folded: {line[:80]!r}')
    with open(files['prometheus'], encoding='utf-8') as f:
        text = f.read()
    gs.check(not [l for l in text.split('\n') if l and not l.startswith(('#', 'gpustarve_'))],
             'prometheus: no label ends its line')
    if shutil.which('promtool'):
        done = subprocess.run(['promtool', 'check', 'metrics'], input=text.encode(), stdout=subprocess.PIPE)
        gs.equal((done.returncode, done.stdout), (0, b''), 'promtool')
    with open(files['focus'], newline='', encoding='utf-8') as f:
        rows = list(csv.DictReader(f))
    gs.check(rows and all(None not in r and None not in r.values() for r in rows), 'focus: columns')
    gs.check(not [v for r in rows for v in r.values() if v[:1] in '=@+' and v[:1]], 'focus: no formula')
    gs.check(all(isinstance(json.loads(r['Tags']), dict) for r in rows), 'focus: Tags is JSON')
    for form, message, proto in (('perfetto', 'perfetto.protos.Trace', 'perfetto.proto'),
                                 ('pprof', 'perftools.profiles.Profile', 'pprof.proto')):
        with open(files[form], 'rb') as f:
            data = f.read()
        if form == 'pprof':
            data = __import__('gzip').decompress(data)
        done = subprocess.run(['protoc', f'--decode={message}', f'-I{exporting.PROTO}', proto], input=data,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        gs.equal((done.returncode, done.stderr), (0, b''), f'protoc {form}: valid UTF-8 and all')


def check_damage(where):
    """Every export of traces with flipped, cut and repeated bytes ends by itself and well."""
    rng, ended = random.Random(5), set()
    run = tiny.imported(where, 'whole', steps=6)
    broken = os.path.join(where, 'broken.gst')
    for round_ in range(24):
        shutil.rmtree(broken, ignore_errors=True)
        shutil.copytree(run, broken)
        file, = glob.glob(os.path.join(broken, '*.gst'))
        with open(file, 'rb') as f:
            data = bytearray(f.read())
        for _ in range(rng.choice((1, 4, 30))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if round_ % 4 == 3:
            del data[rng.randrange(len(data)):]
        with open(file, 'wb') as f:
            f.write(data)
        form = FORMATS[round_ % len(FORMATS)]
        done = export(broken, form, os.path.join(where, 'y'))
        gs.check(done.returncode in (0, 1), f'{form} of a damaged trace: {done.returncode} {done.stderr!r}')
        gs.check(done.returncode == 0 or done.stderr.startswith(b'gpustarve: '), f'{form}: {done.stderr!r}')
        ended.add(done.returncode)
    gs.check(0 in ended, 'some damaged traces are exported')
    gs.equal([n for n in os.listdir(where) if '.part-' in n], [], 'no part is left')


with gs.scratch() as where:
    check_nasty(where)
    check_damage(where)
gs.finish()
