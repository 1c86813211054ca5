# SPDX-License-Identifier: Apache-2.0
"""Every variant of the formats that real files have, in small traces of our own: the values that
the reference program gave for them come out of `import` and `report`. And the same file plain,
packed, without its suffix, and through a pipe."""
import gzip
import json
import os
import pty
import shutil
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import importing

NO_GPU = {'cpu_only.json', 'nsys_no_gpu.sql'}


def check_expected(where):
    for window, name in (('device', 'expected.json'), ('job', 'expected_job.json')):
        with open(os.path.join(importing.DATA, name), encoding='utf-8') as f:
            expected = json.load(f)
        for file, want in expected.items():
            path = os.path.join(importing.DATA, file)
            if file.endswith('.sql'):
                path = importing.sqlite_of(path, where)
            if file in NO_GPU:
                done, run = importing.imported(where, path)
                gs.equal(done.returncode, 1, f'{file}: exit status')
                gs.check(b'no GPU work in it' in done.stderr, f'{file}: {done.stderr}')
                gs.check(not os.path.exists(run), f'{file}: a run was left behind')
            else:
                importing.compare(importing.gpus(where, path, window, file), want,
                                  f'{file}, window {window}')
            if path.startswith(where):
                os.unlink(path)


def packed(path, to):
    with open(path, 'rb') as f, gzip.open(to, 'wb') as z:
        shutil.copyfileobj(f, z)
    return to


def check_wrappings(where):
    json_file = os.path.join(importing.DATA, 'devices.json')
    db = importing.sqlite_of(os.path.join(importing.DATA, 'nsys_3.sql'), where)
    for path in (json_file, db):
        want = importing.gpus(where, path, 'job', path)
        gz = packed(path, os.path.join(where, 'trace.gz'))
        two = os.path.join(where, 'two members')
        with open(path, 'rb') as f, open(two, 'wb') as out:
            data = f.read()
            out.write(gzip.compress(data[:1000]) + gzip.compress(data[1000:]) + bytes(100))
        bare = shutil.copy(path, os.path.join(where, 'odd ? name % #'))
        for variant in (gz, two, bare):
            gs.equal(importing.gpus(where, variant, 'job', variant), want,
                     f'{path} as {os.path.basename(variant)}')


def check_pipe(where):
    path = os.path.join(importing.DATA, 'devices.json')
    want = importing.gpus(where, path, 'job', path)
    run = os.path.join(where, 'piped.gst')
    with open(path, 'rb') as f:
        data = f.read()
    done = gs.gpustarve('import', '/dev/stdin', '-o', run, input=data)
    gs.equal(done.returncode, 0, f'import from a pipe: {done.stderr}')
    made = gs.summary(run, '--window', 'job')
    gs.equal(made and made['gpus'], want, 'imported from a pipe')


def check_several(where):
    """Several files make one run: each keeps its processes, its GPUs and its window."""
    paths = [os.path.join(importing.DATA, f) for f in ('list.json', 'devices.json', 'list.json')]
    db = importing.sqlite_of(os.path.join(importing.DATA, 'nsys_3.sql'), where)
    want = [g for path in [*paths, db] for g in importing.gpus(where, path, 'job', path)]
    done, run = importing.imported(where, *paths, db)
    gs.equal(done.returncode, 0, f'import of four files: {done.stderr}')
    made = gs.summary(run, '--window', 'job')
    got = made and made['gpus']

    def key(g):
        return g['name'], g['index'], json.dumps(g['classes'], sort_keys=True)
    gs.equal(sorted(map(key, got)), sorted(map(key, want)), 'GPUs of four files')


def check_progress(where):
    """On a terminal, and only there, an import that takes more than two seconds says how far it
    is, and wipes that out in the end."""
    run = os.path.join(where, 'slow.gst')
    master, slave = pty.openpty()
    child = subprocess.Popen([gs.CLI, 'import', '/dev/stdin', '-o', run], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=slave, env=gs.environment())
    os.close(slave)
    with open(os.path.join(importing.DATA, 'devices.json'), 'rb') as f:
        data = f.read()
    for i in range(0, len(data), 100):
        child.stdin.write(data[i:i + 100])
        child.stdin.flush()
        time.sleep(.13)
    child.stdin.close()
    gs.equal(child.wait(60), 0, 'slow import')
    shown = gs.written(master)
    gs.check(b'importing stdin: ' in shown and shown.endswith(b'\r\x1b[K'), f'progress: {shown!r}')
    gs.check(child.stdout.read().startswith(run.encode()), 'summary of a slow import')


def check_machine(where):
    """Names, memory, host: what the files say of the machine shows in the summary."""
    db = importing.sqlite_of(os.path.join(importing.DATA, 'nsys_3.sql'), where)
    found = importing.gpus(where, db, 'job', db)
    gs.equal([(g['host'], g['name'], g['uuid'], g['memory_total_bytes']) for g in found],
             [('node18', 'NVIDIA H100 80GB HBM3', 'GPU-00010203-0405-0607-0809-0a0b0c0d0e0f',
               85899345920),
              ('node18', 'NVIDIA H100 PCIe', 'GPU-f6b62fcc-9318-c13e-22f6-766d35cb6503',
               85899345920)], 'devices of nsys_3')
    path = os.path.join(importing.DATA, 'devices.json')
    found = importing.gpus(where, path, 'job', path)
    gs.equal([(g['host'], g['name'], g['memory_total_bytes']) for g in found],
             [('node17', 'NVIDIA A100-SXM4-80GB', 84990623744),
              ('node17', 'NVIDIA A100-SXM4-40GB', 42505273344)], 'devices of devices.json')


with gs.scratch() as scratch:
    check_expected(scratch)
    check_wrappings(scratch)
    check_pipe(scratch)
    check_machine(scratch)
    check_several(scratch)
    check_progress(scratch)
gs.finish()
