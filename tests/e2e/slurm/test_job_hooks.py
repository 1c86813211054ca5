#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""`gpustarve job begin` and `end`, as a Prolog and an Epilog call them, with Slurm's variables made
up: what is written, with which GPUs and times; requeues with and without a number; and that nothing
goes through what others left in the way."""
import contextlib
import json
import os
import stat
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

GPUS = {'GPUSIM_DEVICES': 4, 'GPUSIM_NAME': 'NVIDIA H100 80GB HBM3'}


def hook(what, out, nvml=True, cwd=None, **slurm):
    env = {'SLURM_CLUSTER_NAME': 'c1', 'SLURM_JOB_ID': '4711', 'SLURM_JOB_GPUS': '0,1',
           'SLURM_JOB_USER': 'anna', 'SLURM_JOB_UID': '1234', 'SLURM_JOB_PARTITION': 'gpu',
           'SLURM_JOB_ACCOUNT': 'ml', 'SLURMD_NODENAME': 'n1', **(GPUS if nvml else {}), **slurm}
    return gs.command(([gs.WITH_GPUSIM] if nvml else []) + [gs.CLI, 'job', what, '--dir', out],
                      env=gs.environment(**env), cwd=cwd)


def good(what, out, **kw):
    done = hook(what, out, **kw)
    gs.equal((done.returncode, done.stdout), (0, b''), f'job {what}: {done.stderr.decode()}')
    return done


def refused(what, out, word, **kw):
    done = hook(what, out, **kw)
    text = done.stderr.decode()
    gs.equal((done.returncode, text.count('\n')), (1, 1), f'job {what}: one line: {text}')
    gs.check(word in text, f'job {what}: {word!r} in {text!r}')


def files(out, job='c1-4711'):
    folder = os.path.join(out, job + '.job')
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def read(out, name, job='c1-4711'):
    with open(os.path.join(out, job + '.job', name), encoding='utf-8') as f:
        return json.load(f)


def fresh(where, name):
    out = os.path.join(where, name)
    os.mkdir(out)
    return out


def check_plain(where):
    out, before = fresh(where, 'plain'), time.time_ns()
    good('begin', out)
    gs.equal(files(out), ['alloc-n1-0.json'], 'one file, and nothing temporary')
    a = read(out, 'alloc-n1-0.json')
    between = time.time_ns()
    gs.equal({k: a[k] for k in ('schema', 'cluster', 'job', 'restart', 'array_job', 'user', 'uid', 'account',
                                'partition', 'qos', 'node', 'host', 'end_unix_ns')},
             {'schema': 'gpustarve.allocation/1', 'cluster': 'c1', 'job': 4711, 'restart': 0,
              'array_job': None, 'user': 'anna', 'uid': 1234, 'account': 'ml', 'partition': 'gpu',
              'qos': None, 'node': 'n1', 'host': os.uname().nodename, 'end_unix_ns': None}, 'who and where')
    gs.check(before <= a['start_unix_ns'] <= between, 'begun when it was called')
    gs.equal([(g['index'], g['name'], g['uuid'][:4]) for g in a['gpus']],
             [(i, 'NVIDIA H100 80GB HBM3 (simulated)', 'GPU-') for i in (0, 1)], 'the two GPUs, by NVML')
    good('end', out, SLURM_JOB_QOS='high')
    b = read(out, 'alloc-n1-0.json')
    gs.check(between <= b['end_unix_ns'] <= time.time_ns(), 'ended when it was called')
    gs.equal({k: v for k, v in b.items() if k not in ('end_unix_ns', 'qos')},
             {k: v for k, v in a.items() if k not in ('end_unix_ns', 'qos')}, 'nothing else changed')
    gs.equal(b['qos'], 'high', 'what the Epilog knows is added')
    good('end', out)
    gs.equal(read(out, 'alloc-n1-0.json')['end_unix_ns'], b['end_unix_ns'], 'an end stays')
    mode = os.stat(os.path.join(out, 'c1-4711.job', 'alloc-n1-0.json')).st_mode
    gs.equal(stat.S_IMODE(mode), 0o644, 'readable by all, whatever the umask')


def check_gpus(where):
    out = fresh(where, 'gpus')
    all_ = [g['uuid'] for g in read_gpus(out, '1', SLURM_JOB_GPUS='0-3')]
    gs.equal(len(set(all_)), 4, 'a range of numbers')
    gs.equal([g['uuid'] for g in read_gpus(out, '2', SLURM_JOB_GPUS='0', CUDA_VISIBLE_DEVICES=all_[2])],
             [all_[2]], 'a UUID comes before numbers')
    sliced = {'GPUSIM_MIG': '0:1g.10gb,3g.40gb'}
    mig = read_gpus(out, '3', SLURM_JOB_GPUS='0', **sliced)
    gs.equal([(g['index'], g['uuid']) for g in mig], [(0, None)], 'a number cannot name a slice of a GPU')
    uuid = slices_of(**sliced)[1]
    gs.equal(read_gpus(out, '6', SLURM_JOB_GPUS='0', CUDA_VISIBLE_DEVICES=uuid, **sliced),
             [{'index': 0, 'uuid': uuid, 'name': 'NVIDIA H100 80GB HBM3 (simulated) MIG 3g.40gb',
               'mig_profile': '3g.40gb', 'mig_slices': 3, 'mig_slices_total': 7}], 'a slice by its UUID')
    done = good('begin', out, nvml=False, SLURM_JOB_ID='4')
    gs.check(b'known by number alone' in done.stderr, 'without NVML that is said')
    gs.equal(read(out, 'alloc-n1-0.json', 'c1-4')['gpus'],
             [{'index': i, 'uuid': None, 'name': None} for i in (0, 1)], 'and numbers are kept')
    for names in ({}, {'CUDA_VISIBLE_DEVICES': 'NoDevFiles'}, {'SLURM_JOB_GPUS': 'x,-1,3-1'}):
        good('begin', out, SLURM_JOB_ID='5', **{'SLURM_JOB_GPUS': '', **names})
    gs.equal(files(out, 'c1-5'), [], 'a job without GPUs leaves nothing')


SLICES = """
import ctypes
nvml, device, slice_ = ctypes.CDLL('libnvidia-ml.so.1'), ctypes.c_void_p(), ctypes.c_void_p()
nvml.nvmlInit_v2()
nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(device))
text = ctypes.create_string_buffer(96)
for i in range(7):
    if not nvml.nvmlDeviceGetMigDeviceHandleByIndex(device, i, ctypes.byref(slice_)):
        nvml.nvmlDeviceGetUUID(slice_, text, 96)
        print(text.value.decode())
"""


def slices_of(**env):
    done = gs.command([gs.WITH_GPUSIM, gs.PYTHON, '-c', SLICES], env=gs.environment(**GPUS, **env))
    return done.stdout.decode().split()


def read_gpus(out, job, **slurm):
    good('begin', out, SLURM_JOB_ID=job, **slurm)
    return read(out, 'alloc-n1-0.json', f'c1-{job}')['gpus']


def check_ill_nvml(where):
    """An NVML that hangs, crashes, ends the process or refuses costs names, and nothing else."""
    out = fresh(where, 'ill')

    def one(job, how):
        done = good('begin', out, SLURM_JOB_ID=str(job), GPUSIM_NVML=how)
        gs.check(b'NVML does not work: GPUs are known by number alone' in done.stderr, f'{how}: {done.stderr}')
        gs.equal(read(out, 'alloc-n1-0.json', f'c1-{job}')['gpus'],
                 [{'index': i, 'uuid': None, 'name': None} for i in (0, 1)], f'{how}: numbers are kept')
        good('end', out, SLURM_JOB_ID=str(job), GPUSIM_NVML=how)
        gs.check(read(out, 'alloc-n1-0.json', f'c1-{job}')['end_unix_ns'], f'{how}: ended')
    gs.side_by_side([lambda j=j, how=how: one(j, how)
                     for j, how in enumerate(('hang', 'crash', 'exit', 'refuse'), 1)], 4)
    for _ in range(1000):
        left = [line for line in command_lines() if out in line]
        if not left:
            break
        time.sleep(0.05)
    gs.equal(left, [], 'nobody is left behind')


def command_lines():
    for name in os.listdir('/proc'):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f'/proc/{name}/cmdline', encoding='utf-8', errors='replace') as f:
                yield f.read()


def check_start(where):
    out, now = fresh(where, 'start'), int(time.time())
    for job, told, want in (('1', now - 90, (now - 90) * 10**9), ('2', now + 999, None), ('3', '-5', None)):
        before = time.time_ns()
        good('begin', out, SLURM_JOB_ID=job, SLURM_JOB_START_TIME=str(told))
        got = read(out, 'alloc-n1-0.json', f'c1-{job}')['start_unix_ns']
        gs.check(got == want if want else before <= got <= time.time_ns(), f'start told as {told}: {got}')
    good('end', out, SLURM_JOB_ID='4', SLURM_JOB_START_TIME=str(now - 7))
    late = read(out, 'alloc-n1-0.json', 'c1-4')
    gs.equal(late['start_unix_ns'], (now - 7) * 10**9, 'an Epilog alone, told the start')
    gs.check(late['end_unix_ns'] >= now * 10**9, 'and its end')
    refused('end', out, 'c1-5.job', SLURM_JOB_ID='5')


def check_requeue(where):
    out = fresh(where, 'requeue')
    for node in ('n1', 'n2'):
        good('begin', out, SLURMD_NODENAME=node)
    good('begin', out)  # slurmd was restarted: the same node again is the next attempt
    for node in ('n1', 'n2'):
        good('end', out, SLURMD_NODENAME=node)
    gs.equal(files(out), ['alloc-n1-0.json', 'alloc-n1-1.json', 'alloc-n2-0.json'], 'without a number')
    gs.equal([bool(read(out, n)['end_unix_ns']) for n in files(out)], [False, True, True], 'the last one ends')
    for node in ('n3', 'n2'):  # all of the last attempt have ended: the next one, on both
        good('begin', out, SLURMD_NODENAME=node)
    gs.equal(files(out)[3:], ['alloc-n2-2.json', 'alloc-n3-2.json'], 'and on others')
    # A node was lost, and its allocation never ends; Prolog is told which life this is. Epilog of a job
    # that is requeued is told of the next one.
    lost = fresh(where, 'lost')
    for node, life in (('n1', '0'), ('n2', '0'), ('n3', '1')):
        good('begin', lost, SLURMD_NODENAME=node, SLURM_JOB_RESTART_COUNT=life)
    good('end', lost, SLURMD_NODENAME='n2', SLURM_JOB_RESTART_COUNT='1')
    gs.equal(files(lost), ['alloc-n1-0.json', 'alloc-n2-0.json', 'alloc-n3-1.json'], 'after a lost node')
    gs.equal([bool(read(lost, n)['end_unix_ns']) for n in files(lost)], [False, True, False], 'who ended')
    good('begin', out, SLURM_RESTART_COUNT='7')
    first = read(out, 'alloc-n1-7.json')['start_unix_ns']
    good('begin', out, SLURM_RESTART_COUNT='7')
    gs.equal(read(out, 'alloc-n1-7.json')['start_unix_ns'], first, 'the same attempt twice keeps its start')


def check_names(where):
    out = fresh(where, 'names')
    good('begin', out, SLURM_CLUSTER_NAME='../x y', SLURMD_NODENAME='/etc/n\n1')
    gs.equal(os.listdir(out), ['_._x_y-4711.job'], 'a cluster is no path')
    gs.equal(files(out, '_._x_y-4711'), ['alloc-_etc_n_1-0.json'], 'a node is none')
    gs.equal(read(out, 'alloc-_etc_n_1-0.json', '_._x_y-4711')['node'], '/etc/n\n1', 'their names are kept')


def check_traps(where):
    """What a user can leave where root will write."""
    out, aside = fresh(where, 'traps'), fresh(where, 'aside')
    os.symlink(aside, os.path.join(out, 'c1-1.job'))
    refused('begin', out, 'not a folder', SLURM_JOB_ID='1')
    with open(os.path.join(out, 'c1-2.job'), 'w', encoding='utf-8') as f:
        f.write('x')
    refused('begin', out, 'not a folder', SLURM_JOB_ID='2')
    os.mkdir(os.path.join(out, 'c1-3.job'))
    victim = os.path.join(aside, 'victim')
    with open(victim, 'w', encoding='utf-8') as f:
        f.write('mine')
    os.symlink(victim, os.path.join(out, 'c1-3.job', 'alloc-n1-0.json'))
    good('begin', out, SLURM_JOB_ID='3', SLURM_RESTART_COUNT='0')
    gs.check(not os.path.islink(os.path.join(out, 'c1-3.job', 'alloc-n1-0.json')), 'a link is replaced')
    with open(victim, encoding='utf-8') as f:
        gs.equal(f.read(), 'mine', 'not followed')
    gs.equal(os.listdir(aside), ['victim'], 'nothing was made aside')
    for i, text in enumerate((b'', b'{', b'[]', b'{"schema": "gpustarve.allocation/1"}', b'\0' * 70000,
                              b'{"schema": "gpustarve.allocation/2"}', b' ' * (2 << 20))):
        with open(os.path.join(out, 'c1-3.job', f'alloc-bad-{i}.json'), 'wb') as f:
            f.write(text)
    os.mkfifo(os.path.join(out, 'c1-3.job', 'alloc-pipe-0.json'))
    good('end', out, SLURM_JOB_ID='3')
    gs.check(read(out, 'alloc-n1-0.json', 'c1-3')['end_unix_ns'], 'ended among rubbish')
    refused('begin', os.path.join(where, 'nowhere'), 'nowhere')
    refused('begin', out, 'SLURM_JOB_ID', SLURM_JOB_ID='')
    refused('begin', out, 'SLURM_JOB_ID', SLURM_JOB_ID='12; rm')


def check_owner(where):
    """As root, what is made in somebody's folder is theirs; and a stranger's folder is left alone."""
    if os.geteuid():
        print('not root: who owns what is not tried')
        return
    out = fresh(where, 'owner')
    os.chmod(where, 0o755)
    os.chown(out, 4321, 4322)
    good('begin', out)
    made = os.stat(os.path.join(out, 'c1-4711.job', 'alloc-n1-0.json'))
    gs.equal((made.st_uid, made.st_gid), (4321, 4322), 'the owner of the folder owns it')
    shared = fresh(where, 'shared')
    os.mkdir(os.path.join(shared, 'c1-4711.job'))
    os.chown(os.path.join(shared, 'c1-4711.job'), 4321, 4322)
    refused('begin', shared, 'somebody else')


with gs.scratch() as scratch:
    os.umask(0o077)
    for check in (check_plain, check_gpus, check_ill_nvml, check_start, check_requeue, check_names, check_traps, check_owner):
        check(scratch)
gs.finish()
