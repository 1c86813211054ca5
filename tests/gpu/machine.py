# SPDX-License-Identifier: Apache-2.0
"""Which machine it is, which versions are on it, and which tree was built: what stands above every
figure. Standard library only; nothing is imported that only a GPU machine has."""
import concurrent.futures
import hashlib
import importlib.metadata
import json
import os
import re
import sys
import time

import base

COMMIT = os.path.join(base.SOURCE, '.carry', 'commit')
# What the figures depend on.
FOLDERS = ('wire', 'live', 'libprof', 'collector', 'viewer', 'tests/gpu', 'tests/workloads')
PACKAGES = {'torch': ('torch',), 'cupy': ('cupy-cuda13x', 'cupy-cuda12x', 'cupy'), 'jax': ('jax',),
            'triton': ('triton',), 'numpy': ('numpy',),
            'cupti_package': ('nvidia-cuda-cupti', 'nvidia-cuda-cupti-cu13', 'nvidia-cuda-cupti-cu12')}


def installed(known=PACKAGES):
    """{what: version, or 'none'} of this Python's packages."""
    found = {}
    for what, names in known.items():
        for name in names:
            try:
                found.setdefault(what, importlib.metadata.version(name))
            except importlib.metadata.PackageNotFoundError:
                pass
    return {what: found.get(what, 'none') for what in known}


def packages():
    """Of the Python that plays what needs PyTorch: on the simulated GPU that is another one."""
    if base.TORCH in (None, sys.executable):
        return installed()
    told = base.text(base.TORCH, '-c', 'import json, machine; print(json.dumps(machine.installed()))',
                     env=dict(os.environ, PYTHONPATH=base.HERE))
    return json.loads(told) if told else installed()


def nvcc():
    for path in ('nvcc', '/usr/local/cuda/bin/nvcc'):
        found = re.search(r'release [0-9.]+, V([0-9.]+)', base.text(path, '--version'))
        if found:
            return found.group(1)
    return 'none'


def doctor_says(what):
    """The rest of a line of gpustarve doctor, which tries every Python on the PATH: ours is enough."""
    path = os.pathsep.join((os.path.dirname(sys.executable), '/usr/bin', '/bin'))
    told = base.text(base.CLI, 'doctor', env=dict(os.environ, PATH=path))
    found = re.search(rf'^ *\w+ +{re.escape(what)} +(.*)$', told, re.M)
    return found.group(1) if found else 'none'


def digest():
    """Of the files that the figures depend on, so that a tree without git can tell whether it is
    still the one that was carried."""
    h = hashlib.sha256()
    for folder in FOLDERS:
        for place, folders, files in os.walk(os.path.join(base.SOURCE, folder)):
            folders[:] = sorted(d for d in folders if d != '__pycache__')
            for name in sorted(f for f in files if not f.endswith('.pyc')):
                path = os.path.join(place, name)
                if os.path.isfile(path):
                    h.update(os.path.relpath(path, base.SOURCE).encode() + b'\0')
                    with open(path, 'rb') as f:
                        h.update(f.read() + b'\0')
    return h.hexdigest()[:16]


def git_commit():
    """Of the tree that this file is in, not of one around it."""
    top = base.text('git', 'rev-parse', '--show-toplevel', cwd=base.SOURCE)
    if not top or os.path.realpath(top) != os.path.realpath(base.SOURCE):
        return None
    commit = base.text('git', 'rev-parse', '--short=12', 'HEAD', cwd=base.SOURCE)
    changed = base.text('git', 'status', '--porcelain', '-uno', cwd=base.SOURCE)
    return commit + (' and changes' if changed else '') if commit else None


def commit():
    known = git_commit()
    if known:
        return known
    try:
        with open(COMMIT) as f:
            known, then = f.read().strip().rsplit(' ', 1)
    except (OSError, ValueError):
        return f'unknown, files {digest()}'
    return known if then == digest() else f'{known}, changed since: files {digest()}'


def stamp():
    """Notes the commit for a machine without git."""
    os.makedirs(os.path.dirname(COMMIT), exist_ok=True)
    with open(COMMIT, 'w') as f:
        f.write(f'{git_commit() or "unknown"} {digest()}\n')


def facts():
    ask = {'gpu': lambda: base.text('nvidia-smi', '--query-gpu=name,driver_version,memory.total',
                               '--format=csv,noheader') or 'none',
           'cupti': lambda: doctor_says('libcupti'), 'nvcc': nvcc, 'tree': commit}
    with concurrent.futures.ThreadPoolExecutor(len(ask)) as pool:
        told = {k: pool.submit(f) for k, f in ask.items()}
        told = {k: f.result() for k, f in told.items()}
    gpu = [x.strip() for x in told['gpu'].split(',')]
    if base.SIMULATED:
        gpu = ['a simulated GPU, which is a model']
        told['gpu'] = gpu[0]
    return dict(told, driver=gpu[1] if len(gpu) > 1 else 'none', kernel=os.uname().release,
                cpus=os.cpu_count(), python=sys.version.split()[0],
                **packages(), date=time.strftime('%Y-%m-%d'))


if __name__ == '__main__':
    stamp()
