# SPDX-License-Identifier: Apache-2.0
"""The inputs of tests/same, made once by the old build: imports of small and of real traces, made-up
runs of every kind, recordings on the simulated GPU, runs with faults in their bytes, a job's runs, a
fleet's digests and its store, baselines of the gate, and frames for a collector."""
import json
import os
import random
import shutil
import struct
import subprocess
import sys

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
S = 10**9
T0 = 1_700_000_000 * S
GIVEN = ('--price', '6.88')


def helpers(build):
    """The tests' own makers, with @build below them."""
    os.environ['GPUSTARVE_BUILD'] = build
    for folder in ('lib', 'e2e', 'ranks', 'browser'):
        sys.path.insert(0, os.path.join(SOURCE, 'tests', folder))


def make(build, into):
    """Everything below @into, which appears when it is whole."""
    part = into + '.part'
    shutil.rmtree(part, ignore_errors=True)
    os.makedirs(os.path.join(part, 'runs'))
    helpers(build)
    for step in (traces, made_up, recorded, ranks, broken, stored, job, gate, fleet, frames, lists):
        print(f'inputs: {step.__name__}', flush=True)
        step(part)
    os.rename(part, into)


def into_runs(where, path, name):
    to = os.path.join(where, 'runs', name + '.gst')
    shutil.move(path, to)
    return to


def traces(where):
    """Files of other tools, and the runs that they become."""
    import importing
    import tiny
    folder = os.path.join(where, 'traces')
    os.makedirs(folder)
    for name in sorted(os.listdir(importing.DATA)):
        path = os.path.join(importing.DATA, name)
        if name.endswith('.sql'):
            path = importing.sqlite_of(path, folder)
        elif name.endswith('.json') and not name.startswith('expected'):
            shutil.copy(path, folder)
    for name, shape in ('tiny', {}), ('tiny-two', dict(gpus=2)), ('tiny-slow', dict(wait_us=5000)), \
            ('tiny-other', dict(gpu='Prototype 9', steps=6)):
        with open(os.path.join(folder, name + '.json'), 'w', encoding='utf-8') as f:
            json.dump(tiny.kineto(**shape), f)
    if os.path.isdir(importing.TRACES):
        for name in sorted(os.listdir(importing.TRACES)):
            if name.endswith('.gz'):
                shutil.copy(os.path.join(importing.TRACES, name), os.path.join(folder, 'real-' + name))
    for name in sorted(os.listdir(folder)):
        run = os.path.join(where, 'runs', name.split('.')[0][:40] + '.gst')
        importing.gs.gpustarve('import', os.path.join(folder, name), '-o', run)
    with open(os.path.join(folder, 'none.json'), 'w', encoding='utf-8') as f:
        f.write('{"traceEvents": [{"ph": "X", "ts": 1e400, ')
    with open(os.path.join(folder, 'words.txt'), 'w', encoding='utf-8') as f:
        f.write('no trace at all\n')


def made_up(where):
    import golden
    import made
    own = os.path.join(where, 'made')
    for name, write in made.KINDS.items():
        into_runs(where, write(own), 'made-' + name)
    into_runs(where, golden.made_up(own), 'made-evidence')
    shutil.rmtree(own)


def recorded(where):
    """Live ones. What a machine of today makes of them is kept in their bytes."""
    import exporting
    import gs
    label = ['--label', 'team=vision', '--label', 'experiment=<b>x</b>', '--alert', 'busy_pct>=0',
             '--alert', 'usd>0', '--budget', '0.000001', '--max-overhead', '0']

    def keep(name, argv, options=(), **env):
        own = os.path.join(where, 'live', name)
        done, run, _ = gs.traced(argv, own, [*options, *GIVEN], **env)
        if run:
            into_runs(where, run, 'live-' + name)
        else:
            print(f'inputs: {name}: no run: {done.stderr.decode()[-300:]}')

    loader = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', '20', '--workers', '2']
    keep('loader', loader, label)
    keep('loader-jpeg', [*loader, '--dataset', 'jpeg'], label[:2])
    keep('loader-inline', [*loader[:-1], '0'])
    keep('mix', [exporting.MIXLOOP, '--ops=2500', '--devices=2', '--processes=2', '--pageable=20',
                 '--peer=5', '--collective-every=500'], ['--quiet'], GPUSIM_DEVICES=2)
    keep('level-0', [exporting.MIXLOOP, '--ops=500'], ['--level', '0'])
    keep('faulty', [exporting.MIXLOOP, '--ops=2500'], GPUSIM_FAULT='drop:every=100')
    nvtx = os.path.join(gs.BUILD, 'workloads', 'nvtx_loop')
    if os.path.exists(nvtx):
        keep('nvtx', [nvtx, os.path.join(where, 'nvtx.txt'), '10', '2'])
    rank = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'launch_ranks.py'), '--ranks', '3', gs.PYTHON,
            os.path.join(gs.WORKLOADS, 'ranks_train.py'), '--steps', '12', '--late', '1']
    meet = os.path.join(where, 'meet')
    os.makedirs(meet)
    keep('ranks', [*rank, '--meet', meet], GPUSIM_DEVICES=3, GPUSIM_NCCL_PARAM=1, OMP_NUM_THREADS=1)
    collected(where, exporting.MIXLOOP)
    for left in 'live', 'meet', 'collected', 'nvtx.txt':
        path = os.path.join(where, left)
        (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)


def collected(where, program):
    import collector
    import gs
    base = os.path.join(where, 'collected')
    with collector.Collector(os.path.join(gs.BUILD, 'bin'), base) as c:
        gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', base, '--quiet', '--collector',
                    'unix:' + c.socket, '--', program, '--ops=1500'], cwd=where)
        c.stop()
    for run in gs.runs(base):
        into_runs(where, run, 'live-collected')


def ranks(where):
    folder = os.path.join(SOURCE, 'tests', 'ranks')
    kinds = {'eight': ['--ranks', '8', '--hosts', '2', '--loader', '3:4000000', '--gc', '5:3000000'],
             'killed': ['--ranks', '4', '--kill', '2:50'],
             'hung': ['--ranks', '4', '--hang', '1:40'],
             'pipeline': ['--shape', '2,2,2', '--steps', '40', '--slow', '3:30', '--samples'],
             'late': ['--ranks', '4', '--backward', '1:5000000', '--checkpoint', '2:9000000']}
    for name, options in kinds.items():
        subprocess.run([sys.executable, os.path.join(folder, 'made.py'), os.path.join(where, 'runs', f'ranks-{name}.gst'),
                        '--seed', '7', *options], check=True, stdout=subprocess.DEVNULL)


def streams(run):
    return sorted(os.path.join(run, f) for f in os.listdir(run) if f.endswith('.gst'))


def broken(where):
    """Cut and damaged copies: seeded, so that the same bytes are wrong each time."""
    rng = random.Random(3)
    for name in 'live-loader', 'made-classes', 'ranks-eight':
        run = os.path.join(where, 'runs', name + '.gst')
        if not os.path.isdir(run):
            continue
        for how in 'cut', 'flipped', 'noise':
            to = os.path.join(where, 'runs', f'bad-{how}-{name}.gst')
            shutil.copytree(run, to)
            for left in 'summary.json', 'report.html':
                if os.path.exists(os.path.join(to, left)):
                    os.unlink(os.path.join(to, left))
            for path in streams(to)[:2]:
                damage(path, how, rng)
    empty = os.path.join(where, 'runs', 'bad-empty.gst')
    os.makedirs(empty)
    text = os.path.join(where, 'runs', 'bad-text.gst')
    os.makedirs(text)
    for name in '1.gst', 'run.json', 'summary.json':
        with open(os.path.join(text, name), 'w', encoding='utf-8') as f:
            f.write('{"schema": [1, ')


def damage(path, how, rng):
    with open(path, 'rb') as f:
        data = bytearray(f.read())
    if how == 'cut':
        del data[len(data) * 2 // 3:]
    else:
        for _ in range(3 if how == 'flipped' else 60):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    with open(path, 'wb') as f:
        f.write(data)


def stored(where):
    """Some runs have the files that a run ends with: summary.json and the page."""
    import gs
    for name in 'made-classes', 'made-starved', 'ranks-eight', 'tiny', 'made-hostile':
        run = os.path.join(where, 'runs', name + '.gst')
        gs.gpustarve('report', run, '--format', 'json', '-o', os.path.join(run, 'summary.json'))
        gs.gpustarve('report', run, '--format', 'html', '-o', os.path.join(run, 'report.html'))


def process(rank, start, end, env=(), pid=100):
    lines = [f'env {k} {v}' for k, v in env] + [f'stream {rank} 1 {pid} {T0 + start * S} n1']
    for i, t in enumerate(range(start + 5, end - 5)):
        at = T0 + t * S
        lines += [f'op {at} {at + S // 2} {i + 1} 7 gemm', f'api {at - 20000} {at - 10000} {i + 1} 9 cudaLaunchKernel']
    return lines + [f'pulse {T0 + end * S}', f'bye {T0 + end * S}']


def job(where):
    """A requeued job of two GPUs on two nodes, as the hooks and two runs of it left it."""
    out = os.path.join(where, 'jobs')
    program = os.path.join(os.environ['GPUSTARVE_BUILD'], 'tests', 'ranks_make')
    for restart, (start, end) in enumerate(((10, 40), (60, 90))):
        run = os.path.join(out, f'slurm-c1-9.0-{restart}.gst')
        os.makedirs(run)
        env = [('SLURM_JOB_ID', 9), ('SLURM_STEP_ID', 0), ('SLURM_RESTART_COUNT', restart)]
        subprocess.run([program, run], input='\n'.join(process(0, start, end, env)) + '\n', text=True, check=True)
        with open(os.path.join(run, 'run.json'), 'w', encoding='utf-8') as f:
            json.dump({'id': f'slurm-c1-9.0-{restart}', 'command': ['python', 'train.py'], 'labels': {},
                       'slurm': {'job': '9', 'cluster': 'c1'}}, f)
    folder = os.path.join(out, 'c1-9.job')
    os.makedirs(folder)
    for restart, node, begin, end in (0, 'n1', 0, 50), (1, 'n1', 55, 100), (1, 'n2', 55, None):
        gpus = [{'index': i, 'uuid': f'GPU-{i:08x}-1111-2222-3333-444444444444', 'name': 'NVIDIA H100 80GB HBM3'}
                for i in range(2)]
        if node == 'n1':
            gpus[0]['uuid'] = 'GPU-01020000-0000-0000-0000-000000000000'
        with open(os.path.join(folder, f'alloc-{node}-{restart}.json'), 'w', encoding='utf-8') as f:
            json.dump({'schema': 'gpustarve.allocation/1', 'cluster': 'c1', 'job': 9, 'restart': restart,
                       'user': 'anna', 'account': 'ml', 'partition': 'gpu', 'qos': 'high', 'node': node, 'host': node,
                       'gpus': gpus, 'start_unix_ns': T0 + begin * S,
                       'end_unix_ns': None if end is None else T0 + end * S}, f)


def gate(where):
    """Runs of one code and of a slower one, and a baseline of eight."""
    import gating
    import gs
    folder = os.path.join(where, 'gate')
    os.makedirs(folder)
    for seed in range(5):
        gating.steady(folder, f'same-{seed}', seed, steps=120)
    gating.steady(folder, 'slower', 11, steps=120, ms=22)
    gating.steady(folder, 'waits', 12, steps=120, wait=0.3)
    gating.steady(folder, 'short', 13, steps=12)
    times = gating.noisy(14, 120, 20)
    gating.run_of(folder, 'other', times, [t // 10000 * 1000 for t in times], gpu='NVIDIA A100-SXM4-80GB')
    gs.gpustarve('check', *[os.path.join(folder, f'same-{i}.gst') for i in range(4)], '--baseline',
                 os.path.join(folder, 'baseline.json'), '--update-baseline')


def fleet(where):
    import fleets
    import gs
    found = fleets.digests(400)
    odd = [b'{', b'[]', fleets.text([dict(found[0], run='')]).strip(), fleets.text([dict(found[0], wall_ns=-1)]).strip(),
           fleets.text([dict(found[1], gpus=found[1]['gpus'] * 9)]).strip(), b'{"schema":"gpustarve.digest/2","run":"x"}']
    with open(os.path.join(where, 'digests.jsonl'), 'wb') as f:
        f.write(fleets.text(found))
    with open(os.path.join(where, 'odd.jsonl'), 'wb') as f:
        f.write(b'\n'.join(odd) + b'\n' + fleets.text([dict(found[2], more={'a': [1, 2]}, classes={'input.newer': [1, 2]})]))
    store = 'sqlite:' + os.path.join(where, 'fleet.sqlite')
    gs.gpustarve('digest', '--from', os.path.join(where, 'digests.jsonl'), '--store', store)
    runs = sorted(os.listdir(os.path.join(where, 'runs')))
    for i, name in enumerate(runs):
        if name.startswith(('made-', 'live-', 'ranks-', 'real-')):
            gs.gpustarve('digest', os.path.join(where, 'runs', name), '--store', store, '--revision', str(i + 1))


def frames(where):
    """What two processes tell a collector, with stamps that do not change."""
    import collector
    import pulsing
    real = collector.time.time_ns
    collector.time.time_ns = lambda: T0
    folder = os.path.join(where, 'frames')
    os.makedirs(folder)
    for n, run in enumerate(('first', 'second')):
        t = pulsing.Trainer(run, uuid=bytes([n + 1] * 16), rank=n, host=f'node{n}')
        t.id, t.start = bytes([0xa0 + n] * 16), T0
        said = [t.hello()] + [t.pulse(s, s / 2, s / 4, 10 * s, 0.5, s) for s in range(1, 20)]
        with open(os.path.join(folder, run + '.bin'), 'wb') as f:
            f.write(b''.join(said))
        with open(os.path.join(folder, run + '-end.bin'), 'wb') as f:
            f.write(t.bye(20, 10, 5, 19))
        with open(os.path.join(folder, run + '.seq'), 'w', encoding='ascii') as f:
            f.write(f'{t.id.hex()} {t.seq}\n')
    with open(os.path.join(folder, 'bad.bin'), 'wb') as f:
        f.write(struct.pack('<4sHH', b'GSTF', 9, 9) + b'x' * 100)
    collector.time.time_ns = real


def lists(where):
    """Prices, and summaries that are kept beside the tests."""
    kept = os.path.join(SOURCE, 'tests', 'data', 'summary')
    os.makedirs(os.path.join(where, 'kept'))
    for name in sorted(os.listdir(kept)):
        shutil.copy(os.path.join(kept, name), where if name == 'prices.csv' else os.path.join(where, 'kept'))
    with open(os.path.join(where, 'words.csv'), 'w', encoding='utf-8') as f:
        f.write('gpu,usd_per_gpu_hour,source,date\nNVIDIA L4,x,me,2026-01-01\nNVIDIA L4,0.5,,\n"=1+2,0.7,me,2026-01-01\n')
    with open(os.path.join(where, 'vms.csv'), 'w', encoding='utf-8') as f:
        f.write('InstanceType,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n'
                'p5.48xlarge,192,2048,H100,8,x,98.32,40.1,us-east-1,us-east-1a\ng6.xlarge,4,16,L4,1,x,0.8048,0.3,us-east-1,us-east-1b\n'
                'odd,4,16,L4,0,x,,,,\n')
