# SPDX-License-Identifier: Apache-2.0
"""What an import costs: MB of JSON per second and the greatest memory, for the public
workers_0 trace repeated six times with shifted stamps (454 k rows), plain and packed.

    bench_import.py [TRACE]        another Kineto trace to repeat

Needs ../shared/traces unless a trace is given. Best of three by the clock; processor time beside it,
as it does not depend on what else runs here."""
import gzip
import json
import os
import shutil
import sys
import tempfile
import time

SOURCE = os.environ.get('GPUSTARVE_SOURCE') or os.path.abspath(
    os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.environ.get('GPUSTARVE_BUILD') or os.path.join(SOURCE, 'build')
CLI = os.path.join(BUILD, 'bin', 'gpustarve')
TRACE = os.path.join(SOURCE, '..', 'shared', 'traces',
                     'resnet50_num_workers_0__383a0664.pt.trace.json.gz')
TIMES = 6
ROUNDS = 3


def repeated(path, to):
    """Writes the trace TIMES over, each copy behind the one before it. Returns the rows."""
    with (gzip.open if path.endswith('.gz') else open)(path) as f:
        trace = json.load(f)
    rows = trace['traceEvents']
    stamps = [e['ts'] for e in rows if e.get('ph') == 'X']
    span = int(max(stamps) - min(stamps)) + 1000000
    trace['traceEvents'] = [{**e, 'ts': e['ts'] + k * span} if 'ts' in e else e
                            for k in range(TIMES) for e in rows]
    with open(to, 'w', encoding='utf-8') as f:
        json.dump(trace, f)
    return len(trace['traceEvents'])


def run(argv):
    """Seconds by the clock, seconds of processor, and kilobytes of memory at most."""
    begin = time.monotonic()
    pid = os.spawnv(os.P_NOWAIT, argv[0], argv)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit(f'{argv}: status {status}')
    return time.monotonic() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss


def measure(where, path, size, what):
    out = os.path.join(where, 'run.gst')
    best = None
    for _ in range(ROUNDS):
        shutil.rmtree(out, ignore_errors=True)
        took = run([CLI, 'import', '-q', path, '-o', out])
        best = min(best or took, took)
    wall, cpu, memory = best
    stored = sum(os.path.getsize(os.path.join(out, f)) for f in os.listdir(out))
    print(f'import of {what}: {wall:.2f} s, {size / wall / 1e6:.0f} MB/s of JSON (goal >= 175); '
          f'{cpu:.2f} s of processor, {size / cpu / 1e6:.0f} MB/s per core; '
          f'{memory * 1024 / 1e6:.0f} MB of memory at most (goal <= 100); '
          f'{stored / 1e6:.2f} MB stored')


def main(path):
    if not os.path.exists(path):
        print(f'skipped: no {path}')
        sys.exit(77)
    where = tempfile.mkdtemp(prefix='gsbench-')
    try:
        plain = os.path.join(where, 'trace.json')
        rows = repeated(path, plain)
        size = os.path.getsize(plain)
        print(f'{rows} rows, {size / 1e6:.0f} MB of JSON, {os.cpu_count()} processors, '
              f'load {os.getloadavg()[0]:.1f}')
        measure(where, plain, size, 'plain JSON')
        with open(plain, 'rb') as f, gzip.open(plain + '.gz', 'wb', compresslevel=6) as z:
            shutil.copyfileobj(f, z)
        measure(where, plain + '.gz', size, 'gzip')
    finally:
        shutil.rmtree(where)


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else TRACE)
