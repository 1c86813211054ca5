#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What the README and the manual tell people to type does what they say: every command line quoted
there is run as it stands, in a folder that has what it names (runs, traces, a train.py that uses the
simulated GPU), and must succeed. Other people's programs are stand-ins."""
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import manual
import tiny

MS = 10**6
OURS = re.compile(r'(gpustarve|gpustarve-collector|sqlite3|nsys) ')
PLACES = {'/var/lib/node_exporter': 'node_exporter', '/scratch/traces': 'traces'}
MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
SKYPILOT = '''InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone
p4d.24xlarge,A100,8,96,1152,,32.77,9.8,us-east-1,us-east-1a
'''
STANDINS = {
    'python': f'exec {gs.PYTHON} "$@"',
    **{name: f'exec {gs.PYTHON} "${{@: -1}}"' for name in ('torchrun', 'accelerate', 'deepspeed')},
    'flamegraph.pl': 'exec cat',
    'jq': f'exec {gs.PYTHON} -c "import json, sys; print(json.load(sys.stdin))"',
    'nsys': ':',
}
LOOP = '''from torch.utils.data import DataLoader
for batch in DataLoader(range(80), batch_size=2):
    pass
'''
TRAIN = f'''import os
if os.environ.get('GPUSTARVE_LOADER') == '1':
    import loader_loop
    raise SystemExit
os.execv({MIXLOOP!r}, [{MIXLOOP!r}, '--ops=200', '--devices=1', '--processes=1'])
'''


def blocks(path):
    """Line number and lines of each indented block that begins with a command line."""
    out, block, above = [], [], ''
    for number, line in enumerate(manual.read(path).splitlines() + [''], 1):
        inside = line.startswith('    ') and (block or not above.strip())
        if inside:
            block.append((number, line.strip()))
        elif line.strip() or block:
            commands = [(n, l) for n, l in block if OURS.match(l)]
            if block and OURS.match(block[0][1]) or len(commands) > 1:
                out.append((commands[0][0], [l for _, l in commands]))
            block = []
        above = line if not inside else above
    return out


def healthy(run):
    """Sixty steps of 50 ms that wait 1 ms for a loader whose two workers take 20 ms for a batch."""
    os.makedirs(run)
    lines = [f'process 100 0 {60 * 50 * MS}', 'batch 1 0 1 100 100 1 0 0 0 0 kind=torch workers=2 prefetch=2']
    for i in range(60):
        t = i * 50 * MS
        lines += [f'op {t} {t + 48 * MS} {i + 1} 7', f'api {t} {t + 1} {i + 1} 100 cudaLaunchKernel',
                  f'range 1 {t + 48 * MS} {t + 49 * MS} 100 0 enumerate(DataLoader)#_Multi.__next__',
                  f'batch 3 {t + 48 * MS} {t + 49 * MS} 100 100 1 0 {i} {MS} 0',
                  f'batch 2 {t} {t + 20 * MS} {200 + i % 2} {200 + i % 2} 1 {i % 2 + 1} {i} {10 * MS} 0']
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'evidence_make'), run], text=True, check=True,
                   input='\n'.join(lines) + '\n')
    return run


def samples(where):
    """A folder with everything that the manual's lines name."""
    os.makedirs(where)
    for name, wait in (('BEFORE', 900), ('AFTER', 100)):
        tiny.imported(where, name, steps=60, wait_us=wait)
    for name in ('RUN', 'RUN.gst', 'gpustarve-runs/RUN.gst',
                 'gpustarve-runs/20261109T140211Z-train-4f2a11.gst', 'main', 'branch'):
        run = healthy(os.path.join(where, name))
        gs.equal(gs.gpustarve('report', run, '--format', 'json', '-o', os.path.join(run, 'summary.json'))
                 .returncode, 0, 'summary of a sample')
    for name in 'trace.json.gz', 'rank0.json.gz', 'rank1.json.gz', 'report.sqlite':
        shutil.copy(os.path.join(where, 'AFTER.json'), os.path.join(where, name))
    gs.gpustarve('check', run, '--baseline', os.path.join(where, 'gpustarve-baseline.json'), '--update-baseline',
                 '--window', 'device')
    for name, text in (('train.py', TRAIN), ('loader_loop.py', LOOP), ('aws/vms.csv', SKYPILOT),
                       ('report.nsys-rep', '')):
        os.makedirs(os.path.dirname(os.path.join(where, name)), exist_ok=True)
        with open(os.path.join(where, name), 'w', encoding='utf-8') as f:
            f.write(text)
    for name in 'node_exporter', 'traces', 'runtime/gpustarve', 'runs':
        os.makedirs(os.path.join(where, name))


def standins(where):
    os.makedirs(where)
    for name, text in STANDINS.items():
        with open(os.path.join(where, name), 'w', encoding='utf-8') as f:
            f.write(f'#!/bin/bash\n{text}\n')
        os.chmod(os.path.join(where, name), 0o755)


def script(lines):
    """A block as a script: each line must succeed; what goes on behind is ended."""
    text = '\n'.join(lines)
    for place, here in PLACES.items():
        text = text.replace(place, here)
    behind = '\nkill %1\nwait %1 || true' if text.rstrip().endswith('&') or '&\n' in text else ''
    return f'set -e -o pipefail\n{text}{behind}\n'


def try_block(where, what, lines):
    env = gs.environment(PATH=':'.join((os.path.join(where, 'bin'), os.path.join(gs.BUILD, 'bin'),
                                        '/usr/local/bin:/usr/bin:/bin')),
                         XDG_RUNTIME_DIR=os.path.join(where, 'runtime'), SLURM_JOB_ID='7')
    folder = os.path.join(where, re.sub(r'\W', '-', what))
    shutil.copytree(os.path.join(where, 'samples'), folder, symlinks=True)
    done = gs.command([gs.WITH_GPUSIM, 'bash', '-c', script(lines)], env=env, cwd=folder)
    said = done.stderr.decode()
    gs.check(done.returncode == 0, f'{what}: exit {done.returncode}: {said[-600:]} {done.stdout[-300:]}\n' +
             '\n'.join(lines))
    gs.check('never touched a GPU' not in said and 'unrecorded' not in said, f'{what}: {said[-300:]}')
    return len(lines)


with gs.scratch() as where:
    samples(os.path.join(where, 'samples'))
    standins(os.path.join(where, 'bin'))
    tried = 0
    for path in [os.path.join(gs.SOURCE, 'README.md')] + sorted(glob.glob(os.path.join(manual.DOCS, '*.md'))):
        name = os.path.basename(path)
        for number, lines in blocks(path):
            if name == 'MEASUREMENTS.md':
                continue  # how figures were taken: minutes each
            if any(re.search(r' --(listen|upstream) ', l) for l in lines):
                continue  # certificates and a browser: test_browser_centre follows these
            if any(l.startswith('sqlite3') for l in lines) and not lines[0].startswith('gpustarve'):
                lines = ['gpustarve export RUN.gst --format sqlite -o run.sqlite'] + lines
            if any(l.startswith('sqlite3') for l in lines) and not shutil.which('sqlite3'):
                gs.left_out(f'{name}:{number}: no sqlite3')
                continue
            tried += try_block(where, f'{name}:{number}', lines)
    gs.check(tried >= 30, f'{tried} lines were found')
    print(f'{tried} lines')
gs.finish()
