# SPDX-License-Identifier: Apache-2.0
"""What the export tests share: a few runs (of the simulator, of small imported traces, of real ones
where ../shared is there), `gpustarve export`, and which numbers of two summaries must agree."""
import collections
import glob
import os
import shutil

import gs
import importing
import tiny

MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
PROTO = os.path.join(gs.SOURCE, 'viewer', 'export')
PRICE = ('--price', '2.5')

# What a file of another tool has no place for, or what is a time of day and no length.
ELSEWHERE = {'uuid', 'host', 'held_start_ns', 'held_end_ns', 'memory_used_peak_bytes', 'shared_with',
             'nvml_utilization_pct', 'mig_profile', 'mig_slices', 'mig_slices_total'}


def export(run, form, file, *options):
    done = gs.gpustarve('export', run, '--format', form, '-o', file, '-q', *options)
    gs.equal(done.returncode, 0, f'export {form}: {done.stderr.decode()[-300:]}')
    gs.equal(done.stderr, b'', f'export {form} -q says nothing')
    return file


def keep(run, where, name):
    to = os.path.join(where, name + '.gst')
    shutil.move(run, to)
    return to


# Rows of JSON hold no samples and no batches of workers, so what these tell cannot come back.
NO_EVIDENCE = {'GPUSTARVE_SAMPLER': 0, 'GPUSTARVE_SHIM': 0}


def simulated(where, name, argv, **env):
    """A run of the simulator, kept as name.gst."""
    done, run, _ = gs.traced(argv, where, ['--quiet', *PRICE], **env)
    gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-300:]}')
    return keep(run, where, name) if run else None


def loader_run(where, *args, name='loader', **env):
    return simulated(where, name, [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'),
                                   '--steps', 20, *args], **env)


def mix_run(where, name='mix', ops=2500, devices=2, processes=2, **env):
    return simulated(where, name, [MIXLOOP, f'--ops={ops}', f'--devices={devices}',
                                   f'--processes={processes}', '--pageable=20', '--peer=5',
                                   '--collective-every=500'], GPUSIM_DEVICES=devices, **env)


def small_imports(where):
    """Every small trace of tests/data that has a GPU."""
    files = sorted(glob.glob(os.path.join(importing.DATA, '*.json')))
    files += [importing.sqlite_of(s, where)
              for s in sorted(glob.glob(os.path.join(importing.DATA, '*.sql')))]
    for file in files:
        if os.path.basename(file).startswith('expected'):
            continue
        done, run = importing.imported(where, file)
        if done.returncode == 0:
            yield os.path.basename(file), keep(run, where, os.path.basename(file))


def tiny_run(where, **shape):
    return tiny.run(where, **shape)


def gpu_numbers(gpu):
    return {k: v for k, v in gpu.items() if k not in ELSEWHERE}


def compute(rows):
    """What compute consists of; Kineto's files know no graph launch as one operation: it becomes a kernel."""
    out = collections.defaultdict(collections.Counter)
    for row in rows:
        kind = 'unknown' if row['kind'] == 'graph' else row['kind']
        out[kind + ' ' + row['precision']].update(ns=row['ns'], count=row['count'])
    return {k: dict(v) for k, v in out.items()}


def numbers(summary):
    """The numbers that an export to Kineto and an import of it must keep."""
    ledger = dict(summary['ledger'])
    ledger.pop('before_cuda_ns', None)  # when CUDA was first called is told by a process alone
    ledger['compute'] = compute(ledger.get('compute', []))
    return {'gpus': [gpu_numbers(g) for g in summary['gpus']], 'ledger': ledger,
            'steps': summary['steps'], 'loader': summary['loader'], 'copies': summary['copies'],
            'verdict': summary['verdict'], 'usd': summary['cost']['usd'],
            'wasted_usd': summary['cost']['wasted_usd']}


def without_evidence(summary):
    """The same without what samples refine: only the groups of classes stay."""
    out = numbers(summary)
    for gpu in out['gpus']:
        groups = collections.Counter()
        for name, ns in gpu.pop('classes').items():
            group = name.split('.')[0]
            groups['wait' if group in ('input', 'host') else name] += ns
        gpu['groups'] = dict(groups)
        for key in 'verdict', 'severity', 'flagged', 'starved_ns', 'wasted_usd', 'usd':
            gpu.pop(key)
    return {'gpus': out['gpus'], 'copies': out['copies'], 'gpu_ns': out['ledger']['gpu_ns']}


def differences(a, b, path=''):
    if isinstance(a, dict) and isinstance(b, dict):
        return [d for k in sorted(set(a) | set(b)) for d in differences(a.get(k), b.get(k), f'{path}.{k}')]
    if isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        return [d for i, (x, y) in enumerate(zip(a, b)) for d in differences(x, y, f'{path}[{i}]')]
    return [] if a == b else [f'{path}: {a!r} became {b!r}']
