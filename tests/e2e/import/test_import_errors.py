# SPDX-License-Identifier: Apache-2.0
"""Bad input to `gpustarve import`: one clear line on stderr, exit status 1, nothing left behind."""
import gzip
import os
import random
import signal
import sqlite3
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import importing


def refuse(where, files, why, out='bad'):
    before = sorted(os.listdir(where))
    done = gs.gpustarve('import', *files, '-o', os.path.join(where, out))
    text = done.stderr.decode()
    name = os.path.basename(str(files[-1])) if files else 'no file'
    gs.equal(done.returncode, 1, f'{name}: exit status')
    gs.check(why in text, f'{name}: "{text.strip()}" does not say "{why}"')
    gs.check(text.startswith('gpustarve: ') and text.count('\n') == 1 and
             text.count(': ') >= 2 and '; ' in text, f'{name}: not one clear line: {text!r}')
    gs.equal(done.stdout, b'', f'{name}: stdout')
    gs.equal(sorted(os.listdir(where)), before, f'{name}: what is left behind')


def made(where, name, data):
    path = os.path.join(where, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def bad_files(where):
    with open(os.path.join(importing.DATA, 'devices.json'), 'rb') as f:
        good = f.read()
    packed = gzip.compress(good)
    db = importing.sqlite_of(os.path.join(importing.DATA, 'nsys_3.sql'), where)
    with open(db, 'rb') as f:
        base = f.read()
    chance = random.Random(7)
    yield os.path.join(where, 'missing.json'), 'no such file'
    yield made(where, 'empty.json', b''), 'the file is empty'
    os.mkdir(os.path.join(where, 'folder'))
    yield os.path.join(where, 'folder'), 'it is a directory'
    yield made(where, 'random.json', chance.randbytes(5000)), 'neither JSON nor SQLite'
    yield made(where, 'cut.json.gz', packed[:len(packed) // 2]), 'the gzip data end early'
    yield made(where, 'damaged.json.gz', packed[:-8] + bytes(8)), \
        'the gzip data are damaged'
    yield made(where, 'cut.json', good[:len(good) // 2]), \
        f'the JSON ends early, at byte {len(good) // 2}'
    yield made(where, 'broken.json', good.replace(b'"ts": 1040', b'"ts": !040')), \
        f'not JSON at byte {good.index(b"1040") + 1}'
    yield os.path.join(importing.DATA, 'cpu_only.json'), 'no GPU work in it'
    yield importing.sqlite_of(os.path.join(importing.DATA, 'nsys_no_gpu.sql'), where), \
        'no GPU work in it'
    yield made(where, 'cut.sqlite', base[:len(base) // 2]), 'SQLite cannot read it'
    yield made(where, 'noise.sqlite', base[:100] + chance.randbytes(len(base) - 100)), \
        'SQLite cannot read it'
    other = os.path.join(where, 'other.sqlite')
    with sqlite3.connect(other) as c:
        c.execute('create table t (x)')
    yield other, 'no trace events in it'
    yield made(where, 'report.nsys-rep', b'NSYS' + bytes(100)), 'nsys export --type sqlite'
    yield made(where, 'wal.sqlite', base), None
    made(where, 'wal.sqlite-wal', b'log')
    yield os.path.join(where, 'wal.sqlite'), 'write-ahead log'


def interrupt(where):
    """A signal ends an import; what it had written goes."""
    before = sorted(os.listdir(where))
    child = subprocess.Popen([gs.CLI, 'import', '/dev/stdin', '-o', os.path.join(where, 'stopped')],
                             stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=gs.environment())
    with open(os.path.join(importing.DATA, 'devices.json'), 'rb') as f:
        data = f.read()
    child.stdin.write(data[:1000])
    child.stdin.flush()
    gs.until('import has begun', lambda: len(os.listdir(where)) > len(before))
    child.send_signal(signal.SIGTERM)
    child.stdin.write(data[1000:])
    child.stdin.close()
    gs.equal(child.wait(60), -signal.SIGTERM, 'exit status of an interrupted import')
    gs.equal(child.stderr.read(), b'', 'stderr of an interrupted import')
    gs.equal(sorted(os.listdir(where)), before, 'what an interrupted import leaves')


with gs.scratch() as scratch:
    interrupt(scratch)
    for path, why in bad_files(scratch):
        if why:
            refuse(scratch, [path], why)
    first = os.path.join(importing.DATA, 'list.json')
    refuse(scratch, [first, os.path.join(scratch, 'missing.json')], 'no such file')
    refuse(scratch, [first], 'cannot make the run directory', out='no/such/place')
    os.mkdir(os.path.join(scratch, 'there.gst'))
    refuse(scratch, [first], 'it exists already', out='there')
    refuse(scratch, [], 'no file given')
    done = gs.gpustarve('import', first)
    gs.check(done.returncode == 1 and b'add -o RUN' in done.stderr, f'no -o: {done.stderr}')
    done = gs.gpustarve('import', '--nonsense')
    gs.check(done.returncode == 1 and b'--nonsense' in done.stderr, f'option: {done.stderr}')
gs.finish()
