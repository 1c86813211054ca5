#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""The probe (tests/gpu/probe), dry-run on the simulator: whole in short, its rows against what the
simulator plays; and what becomes of rows when calls hang, a part crashes, rights are refused, libraries
or GPUs are missing, and the probe itself is killed."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs  # noqa: E402

PROBE = os.path.join(gs.SOURCE, 'tests', 'gpu', 'probe')
BINARY = os.path.join(gs.BUILD, 'workloads', 'gpu-probe')
PARTS = ('machine', 'launch', 'rights', 'samples', 'clocks', 'beside', 'shared', 'gpm', 'meters',
         'torch', 'kinds', 'switches', 'hardware', 'second')
KEYS = ['step', 'id', 'question', 'status', 'answer', 'unit', 'figures', 'spread', 'command',
        'versions']
# ns that a launch costs: traced, after the kind is off again, with other kinds on, called back
COST, LEFT, OTHER, BACK = 20_000, 10_000, 7000, 6000
CALL, DECODE, EVALUATE = 1_090_000, 15_000, 7000  # an H100's, ns of CPU to decode samples
LAUNCHED = ('launch.kernel', 'launch.all')
AFTER = ('launch.disabled', 'launch.flushed', 'launch.stayed', 'launch.unsubscribed')
FREE = ('launch.off', 'launch.noise', 'launch.loaded', 'launch.finalized', 'launch.stamps')

# As much of torch as loop.py uses; what it launches are the simulator's kernels.
FAKE_TORCH = '''
import sys
sys.path.insert(0, {workloads!r})
import gpudev
__version__ = '9.9 (made up)'
stream = None
def launch(n=1):
    global stream
    stream = stream or gpudev.Stream(gpudev.Device(0))
    for _ in range(n):
        stream.kernel(1000)
class Thing:
    def __init__(self, *a, **k): pass
    def __call__(self, x): launch(12); return self
    def cuda(self): return self
    def sum(self): return self
    def parameters(self): return []
    def backward(self): launch(12)
    def zero_grad(self): launch()
    def step(self): launch(6)
class cuda:
    is_available = staticmethod(lambda: True)
    synchronize = staticmethod(lambda: stream and stream.synchronize())
class nn:
    Linear = ReLU = Sequential = Thing
class optim:
    SGD = Thing
randn = manual_seed = Thing
'''


def environment(**more):
    more.setdefault('GPUSIM_GPM_REFRESH_MS', 20)
    env = gs.environment(PROBE_ROOTS='/nonexistent', **more)
    return {k: v for k, v in env.items() if not k.startswith('PROBE_') or k in more or
            k == 'PROBE_ROOTS'}


def rows_of(out, what):
    """The rows by id, after a look at whether the file is whole: every question of every part once,
    each row with all its members, figures integers, and the table with as many."""
    with open(os.path.join(out, 'probe.jsonl')) as f:
        lines = f.read().split('\n')
    gs.equal(lines.pop(), '', f'{what}: the last line ends')
    rows = [json.loads(line) for line in lines]
    for r in rows:
        gs.equal(list(r), KEYS, f'{what}: members of {r.get("id")}')
        gs.check(r['status'] in ('answered', 'skipped', 'not asked'), f'{what}: {r}')
        gs.check(r['answer'], f'{what}: no answer and no reason: {r}')
        gs.check(all(type(v) is int for v in r['figures'].values()), f'{what}: {r["figures"]}')
    ids = [r['id'] for r in rows]
    gs.equal(len(ids), len(set(ids)), f'{what}: ids are there once')
    gs.equal(len(rows), 63, f'{what}: questions')
    with open(os.path.join(out, 'probe.md')) as f:
        table = [line for line in f if line.startswith('| ')]
    gs.equal(len(table) - 1, len(rows), f'{what}: rows of the table')
    return {r['id']: r for r in rows}


def play(out, *parts, wrap=True, timeout=240, **more):
    """The program that the build made, in short; its rows."""
    os.makedirs(out, exist_ok=True)
    argv = [BINARY, '--quick', '--here', os.path.dirname(BINARY), out, *parts]
    done = gs.command(([gs.WITH_GPUSIM] if wrap else []) + argv, env=environment(**more),
                      timeout=timeout)
    what = f'{" ".join(parts)} {more}'
    gs.equal(done.returncode, 0, f'{what}: exit, {done.stderr.decode()[-500:]}')
    nothing_left(out, what)
    return rows_of(out, what)


def running(out):
    """Processes that were called with this folder."""
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', 'rb') as f:
                if out.encode() in f.read().split(b'\0') and int(pid) != os.getpid():
                    found.append(int(pid))
        except OSError:
            pass
    return found


def nothing_left(out, what):
    end = time.monotonic() + 20
    while running(out) and time.monotonic() < end:
        time.sleep(0.05)
    gs.equal(running(out), [], f'{what}: processes that were left')


def status(rows, want, ids, words, what):
    for i in ids:
        gs.equal(rows[i]['status'], want, f'{what}: {i}: {rows[i]["answer"]}')
        gs.check(words in rows[i]['answer'], f'{what}: {i}: {rows[i]["answer"]!r} without {words!r}')


def of_part(rows, prefix):
    return [i for i in rows if i.startswith(prefix + '.')]


# ---- the whole ----

def check_launches(f):
    for i in LAUNCHED:
        gs.check(f[i]['call'] >= COST, f'{i}: {f[i]}')
        gs.check(f[i]['over'] >= COST * 3 // 4, f'{i}: {f[i]}')
    gs.check(f['launch.kernel']['records'] >= f['launch.kernel']['launches'],
             f'records of launches: {f["launch.kernel"]}')
    for i in AFTER:
        gs.check(f[i]['call'] >= LEFT, f'{i}: {f[i]}')
    gs.check(f['launch.light']['call'] >= OTHER, f'other kinds: {f["launch.light"]}')
    gs.check(f['launch.callbacks']['call'] >= BACK, f'callbacks: {f["launch.callbacks"]}')
    gs.check(f['launch.stayed']['call'] >= LEFT + BACK, f'callbacks that stay: {f["launch.stayed"]}')
    for i in FREE:
        gs.check(f[i]['call'] < LEFT, f'{i}: {f[i]}')
    gs.check(f['launch.stamps']['event_records'] * 10 >= f['launch.stamps']['launches'],
             f'event records: {f["launch.stamps"]}')
    # How long a spin took on a busy machine is anybody's guess, but not what follows from it.
    cost = f['launch.kernel']['over_loaded']
    for way, left in f['launch.verdict'].items():
        gs.check(abs(left - f[f'launch.{way}']['over_loaded'] * 1000 / cost) <= 1, f'{way}: {left} permille stay')
    gs.equal(len(f['launch.verdict']), 5, 'ways to switch off')


def check_sampling(f, rows):
    gs.equal(f['pm.rights']['own'], 0, 'PM sampling as this user')
    gs.equal(f['pm.passes']['passes'], 1, 'passes')
    for i in ('pm.10ms', 'pm.1ms', 'pm.100us', 'pm.process'):
        got = f[i]
        gs.check(abs(got['samples'] - got['expected']) <= got['expected'] // 10 + 3, f'{i}: {got}')
        # A second kernel of a millisecond is spread over it; edges of the window count, too.
        gs.check(abs(got['busy'] - got['truth']) < 4000, f'{i}: {got}')
        gs.check(abs(got['busy'] - got['sms']) < 1000, f'{i}: {got}')
        # Each is seen, but for those of the last interval and of the millisecond before the first.
        gs.check(abs(got['launches_seen'] - got['launches']) <= (12 if i == 'pm.10ms' else 3), f'{i}: {got}')
        gs.check(1970 <= got['gpc_mhz'] <= 1980, f'{i}: clock: {got}')
        gs.check(got['evaluate_ns'] >= EVALUATE, f'{i}: {got}')
        # A session's first sample says that it began when the process' first session was made.
        gs.equal(got['dark'], 0, f'{i}: samples without a clock')
        gs.check(got['odd'] <= 1 and got['odd'] == (got['odd_us'] > 0), f'{i}: {got}')
        if got['odd']:
            gs.equal(got['first_us'], got['odd_us'], f'{i}: which one that is')
    for i in ('pm.10ms', 'pm.100us'):
        gs.equal(f[i]['odd'], 1, f'{i}: a session that is not the first of its process')
    each = [f[i]['decode_ns'] for i in ('pm.10ms', 'pm.1ms', 'pm.100us')]
    gs.check(each == sorted(each, reverse=True) and each[2] >= DECODE, f'ns to decode a sample: {each}')
    gs.check(abs(f['pm.stamps']['begin']) < 3_000_000, f'stamps: {f["pm.stamps"]}')
    clocks = f['pm.clocks']
    gs.equal([clocks[f'{m}_busy'] for m in ('before', 'enabled', 'during', 'stopped', 'after')],
             [1980, 1980, 1200, 1980, 1980], 'clocks around sampling')
    gs.equal(clocks['reasons'], 2, 'reasons while sampling')
    for i in ('kinds_first', 'sampling_first'):
        gs.equal(f['pm.beside'][f'{i}_rc'], 0, f'beside our kinds, {i}')
        busy, truth = (f['pm.beside'][f'{i}_{x}'] for x in ('busy', 'truth'))
        gs.check(abs(busy - truth) < 4000, f'{i}: {f["pm.beside"]}')
        gs.equal(f['pm.beside'][f'{i}_records'], f['pm.beside'][f'{i}_launches'], f'{i}: records')
    gs.equal(f['pm.twice']['first'], 0, 'the first session goes on')
    status(rows, 'answered', ('pm.bound', 'pm.launch'), 'without', 'cost of sampling')


def check_gpm(f):
    # A window of 120 ms, of which a busy machine may take a part: the truth is the load's own.
    for duty in ('0', '5', '20', '50', '90', '100', 'one', 'traced'):
        got = f[f'gpm.{duty}']
        gs.check(abs(got['id1'] - got['truth']) < 25_000, f'gpm.{duty}: {got}')
        # One warp on each multiprocessor, or on one of 132; each of them holds 64.
        sms = got['id1'] // 132 if duty == 'one' else got['id1']
        gs.check(abs(got['id2'] - sms) < 2000, f'gpm.{duty}: {got}')
        gs.check(abs(got['id3'] - got['id2'] // 64) < 5, f'gpm.{duty}: {got}')
        results = [got[f'id{i}_rc'] for i in (1, 2, 3, 5, 174, 248, 249)]
        gs.equal(results, [0, 0, 0, 0, 0, 2, 2], f'gpm.{duty}: results')
        gs.equal((got['id5'], got['id174']), (0, 0), f'gpm.{duty}: nothing for tensors and switches')
    gs.equal([f[f'gpm.{x}']['id1'] for x in ('nothing', '0')], [0, 5], 'id 1 without and with a context')
    gs.check(f['gpm.100']['id1'] > f['gpm.5']['id1'], 'id 1 rises with the duty')
    gs.check(600 < f['gpm.id1']['slope_permille'] < 1400, f'what id 1 means: {f["gpm.id1"]}')
    gs.check(f['gpm.refresh']['refresh'] >= 15_000_000, f'refresh: {f["gpm.refresh"]}')
    gs.check(f['gpm.cost']['sample'] > 0 and f['gpm.cost']['metrics'] > 0, 'cost of a call')
    if 'other' in f['gpm.user']:
        gs.equal(f['gpm.user']['other'], 0, 'GPM as another user')


def check_torch(f, rows):
    gs.check('torch 9.9 (made up)' in rows['torch.off']['versions'], rows['torch.off']['versions'])
    gs.check(f['torch.on']['step'] >= 31 * COST, f'torch.on: {f["torch.on"]}')
    gs.check(f['torch.disabled']['step'] >= 31 * LEFT, f'torch.disabled: {f["torch.disabled"]}')
    for i in ('torch.off', 'torch.noise', 'torch.duty'):
        gs.check(f[i]['step'] > 0, f'{i}: {f[i]}')


def whole(where):
    """All of it, as it is called on a device."""
    fake, out = os.path.join(where, 'fake'), os.path.join(where, 'whole')
    os.makedirs(fake)
    with open(os.path.join(fake, 'torch.py'), 'w') as f:
        f.write(FAKE_TORCH.format(workloads=gs.WORKLOADS))
    done = gs.command([gs.WITH_GPUSIM, PROBE, '--quick', out], timeout=400,
                      env=environment(PYTHONPATH=fake, GPUSIM_PM=f'clocks=1200,call={CALL},decode={DECODE},evaluate={EVALUATE}',
                                      GPUSIM_TRACE_COST=f'kernel={COST},left={LEFT},other={OTHER},callbacks={BACK}'))
    gs.equal(done.returncode, 0, f'exit: {done.stdout.decode()} {done.stderr.decode()}')
    gs.equal(sorted(os.listdir(out)), ['probe.jsonl', 'probe.log', 'probe.md'], 'files')
    rows = rows_of(out, 'whole')
    f = {i: r['figures'] for i, r in rows.items()}
    old = {'kinds.host', 'kinds.one', 'kinds.two', 'second.all', 'gpm.cycles'}
    skipped = {i: r['answer'] for i, r in rows.items() if r['status'] != 'answered'}
    skipped.pop('gpm.user', None)  # who is not root, or may not change who he is, cannot ask
    gs.equal(set(skipped), old, f'answered, but for what 13.0 and a driver 580 lack: {skipped}')
    gs.check('(simulated)' in rows['gpm.50']['versions'], 'the versions say that it is a model')
    gs.equal(rows['gpm.50']['command'], f'tests/gpu/probe --quick {out}', 'command')
    gs.equal(f['machine.cupti']['used'], 130001, 'CUPTI')
    gs.equal(f['machine.v2']['newest_cupti'], 130001, 'no second interface')
    gs.equal((f['machine.clocks']['sm'], f['machine.clocks']['sm_most']), (345, 1980), 'clocks')
    check_launches(f)
    check_sampling(f, rows)
    check_gpm(f)
    check_torch(f, rows)
    gs.equal([f['nvml.samples'][i] for i in ('gap', 'samples')], [200_000, 71], 'the ring of samples')
    gs.check(f['nvml.processes']['room'] > 64, f'rows are asked for with room: {f["nvml.processes"]}')
    gs.check(abs(f['nvml.processes']['ours'] * 1000 - f['nvml.processes']['truth']) < 25_000,
             f'{f["nvml.processes"]}')
    gs.equal([f['kinds.accepted'][f'kind{k}'] for k in range(56, 60)], [14] * 4, 'kinds in 13.0')
    gs.equal([f['kinds.accepted'][k] for k in ('kernel_bytes', 'kind58_bytes')], [216, 0], 'sizes')
    gs.equal(f['hardware.call']['call'], 15, 'hardware tracing, before cuInit')
    for i in ('hardware.variable', 'hardware.call'):
        gs.check(rows[i]['answer'].startswith('yes') and f[i]['records'] >= 1000, f'{i}: {rows[i]}')
        gs.check(9000 < f[i]['kernel_ns'] < 11_000, f'{i}: {f[i]}')
    nothing_left(out, 'whole')


# ---- what is refused or missing ----

def newer(where):
    rows = play(os.path.join(where, 'newer'), 'kinds', 'switches', GPUSIM_CUPTI='13.1')
    gs.equal([rows['kinds.accepted']['figures'][f'kind{k}'] for k in range(56, 60)], [0, 0, 0, 14],
             'kinds in 13.1')
    status(rows, 'answered', ('kinds.host', 'kinds.one', 'kinds.two'), '', '13.1')
    status(rows, 'not asked', ('launch.off', 'gpm.50'), 'it was not asked for', 'other parts')


def cycles(where):
    """Of a newer library: cycles of the multiprocessors, of which 249 counts the busy ones."""
    f = {i: r['figures'] for i, r in play(os.path.join(where, 'cycles'), 'gpm', GPUSIM_GPM='cycles').items()}
    for duty in ('5', '50', '100'):
        gs.check(abs(f[f'gpm.{duty}']['ratio'] - f[f'gpm.{duty}']['truth']) < 25_000, f'{f[f"gpm.{duty}"]}')
    gs.check(600 < f['gpm.cycles']['slope_permille'] < 1400, f'what they mean: {f["gpm.cycles"]}')
    gs.check(f['gpm.refresh'].get('refresh', 0) >= 15_000_000, f'refresh: {f["gpm.refresh"]}')


def refused(where):
    rows = play(os.path.join(where, 'denied'), 'rights', 'samples', GPUSIM_PM='denied')
    gs.equal(rows['pm.rights']['figures']['own'], 35, 'PM sampling denied')
    status(rows, 'skipped', ('pm.passes', 'pm.1ms', 'pm.10ms', 'pm.100us', 'pm.stamps'), '35', 'denied')
    rows = play(os.path.join(where, 'ampere'), 'gpm', GPUSIM_NAME='NVIDIA A100-SXM4-80GB')
    gs.equal(rows['gpm.support']['figures'], {'supported': 0}, 'GPM below Hopper')
    status(rows, 'skipped', ('gpm.nothing', 'gpm.50', 'gpm.id1'), 'not supported', 'GPM below Hopper')
    if os.geteuid():
        return
    rows = play(os.path.join(where, 'root'), 'rights', GPUSIM_PM='root')
    gs.equal([rows['pm.rights']['figures'][k] for k in ('own', 'other')], [0, 35], 'PM, root alone')
    rows = play(os.path.join(where, 'rootgpm'), 'gpm', GPUSIM_GPM='root', PROBE_PART_SECONDS=5)
    gs.equal(rows['gpm.user']['figures'], {'other': 4, 'root': 0}, 'GPM, root alone')


def missing(where):
    rows = play(os.path.join(where, 'nogpu'), GPUSIM_DEVICES=0)
    status(rows, 'skipped', ['machine.gpu'], 'no GPU: cuInit: error 100', 'no GPU')
    for part in ('launch', 'pm', 'gpm', 'nvml', 'torch', 'kinds', 'hardware'):
        status(rows, 'not asked', of_part(rows, part), 'no GPU: cuInit: error 100', 'no GPU')
    status(rows, 'answered', ['machine.rights', 'machine.cupti'], '', 'no GPU')
    empty = os.path.join(where, 'empty')
    os.makedirs(empty)
    for name in ('libcupti.so', 'libcupti.so.13', 'libcupti.so.12', 'libcupti.so.11.8'):
        open(os.path.join(empty, name), 'w').close()
    shutil.copy(os.path.join(gs.BUILD, 'gpusim', 'libcuda.so.1'), empty)
    open(os.path.join(empty, 'libnvidia-ml.so.1'), 'w').close()
    rows = play(os.path.join(where, 'nolib'), wrap=False, LD_LIBRARY_PATH=empty)
    status(rows, 'answered', ['machine.gpu'], '(simulated)', 'no libraries')
    status(rows, 'skipped', ['machine.clocks', *of_part(rows, 'nvml')], 'NVML: no libnvidia-ml',
           'no libraries')
    for part in ('launch', 'pm', 'kinds', 'hardware', 'torch'):
        status(rows, 'not asked', of_part(rows, part), 'no libcupti was found', 'no libraries')
    os.remove(os.path.join(empty, 'libcuda.so.1'))
    open(os.path.join(empty, 'libcuda.so.1'), 'w').close()
    rows = play(os.path.join(where, 'nothing'), wrap=False, LD_LIBRARY_PATH=empty)
    status(rows, 'skipped', ['machine.gpu'], 'no GPU: ', 'no driver')


# ---- what hangs, crashes, is killed ----

def hangs(where):
    short = dict(PROBE_PART_SECONDS=3)
    rows = play(os.path.join(where, 'nvmlhang'), 'meters', 'kinds', GPUSIM_NVML='hang', **short)
    status(rows, 'not asked', ['machine.clocks', *of_part(rows, 'nvml')], 'its part hung', 'NVML hangs')
    status(rows, 'answered', ['machine.gpu', 'machine.cupti', 'kinds.accepted'], '', 'NVML hangs')
    rows = play(os.path.join(where, 'gpmhang'), 'gpm', GPUSIM_GPM='hang', **short)
    status(rows, 'not asked', of_part(rows, 'gpm'), 'its part hung', 'GPM hangs')
    rows = play(os.path.join(where, 'crash'), 'meters', 'kinds', GPUSIM_NVML='crash')
    status(rows, 'not asked', ['machine.clocks', *of_part(rows, 'nvml')], 'its part died of signal 11',
           'NVML crashes')
    status(rows, 'answered', ['machine.gpu', 'machine.cupti', 'kinds.accepted'], '', 'NVML crashes')


def stray(where):
    """What a part starts and lets go of is ended with it."""
    bin_ = os.path.join(where, 'bin')
    os.makedirs(bin_)
    out = os.path.join(where, 'stray')
    with open(os.path.join(bin_, 'python3'), 'w') as f:
        f.write(f'#!/bin/sh\nsetsid sh -c "sleep 300; :" {out} &\n'
                'echo skip as it was told; exec sleep 300\n')
    os.chmod(os.path.join(bin_, 'python3'), 0o755)
    rows = play(out, 'torch', 'kinds', PATH=bin_ + os.pathsep + os.environ['PATH'], PROBE_PART_SECONDS=4)
    status(rows, 'skipped', of_part(rows, 'torch'), 'as it was told', 'a stray process')
    status(rows, 'answered', ['kinds.accepted'], '', 'a stray process')


def hangs_in_cupti(where):
    rows = play(os.path.join(where, 'pmhang'), 'shared', 'kinds', GPUSIM_PM='hang', PROBE_PART_SECONDS=3)
    status(rows, 'not asked', ('pm.process', 'pm.twice'), 'its part hung', 'sampling hangs')
    status(rows, 'answered', ['kinds.accepted'], '', 'sampling hangs')
    rows = play(os.path.join(where, 'flush'), 'launch', GPUSIM_FAULT='hang:', PROBE_PART_SECONDS=24)
    status(rows, 'answered', FREE[:2], '', 'flushes hang')
    status(rows, 'skipped', ['launch.flushed'], 'did not answer', 'flushes hang')


def begin(out, *parts, **more):
    os.makedirs(out, exist_ok=True)
    return subprocess.Popen([gs.WITH_GPUSIM, BINARY, '--quick', '--here', os.path.dirname(BINARY), out, *parts],
                            env=environment(**more), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(out, run, what, one='launch.off'):
    """Until this is answered. At every moment the file is whole."""
    end, path = time.monotonic() + 120, os.path.join(out, 'probe.jsonl')
    while time.monotonic() < end and run.poll() is None:
        if os.path.exists(path):
            with open(path) as f:
                text = f.read()
            if not gs.check(text.count('\n') == 63 and text.endswith('}\n'), f'{what}: half a file'):
                return False
            rows = {r['id']: r for r in map(json.loads, text.splitlines())}
            if rows[one]['status'] == 'answered':
                return True
        time.sleep(0.002)
    return gs.check(False, f'{what}: it never came so far')


def killed(where):
    for number, words in ((signal.SIGKILL, 'the probe ended before'), (signal.SIGTERM, 'signal')):
        out = os.path.join(where, f'killed{number}')
        run = begin(out)
        wait_for(out, run, f'signal {number}')
        run.send_signal(number)
        run.wait(60)
        nothing_left(out, f'signal {number}')
        rows = rows_of(out, f'signal {number}')
        status(rows, 'answered', ['machine.gpu', 'launch.off'], '', f'signal {number}')
        status(rows, 'not asked', of_part(rows, 'torch'), words, f'signal {number}')


def killed_in_a_hang(where):
    """What hangs in a driver goes with the probe, whoever ends it."""
    out = os.path.join(where, 'killedhang')
    run = begin(out, 'shared', GPUSIM_PM='hang')
    wait_for(out, run, 'killed in a hang', 'machine.clocks')
    time.sleep(1)
    run.kill()
    run.wait(60)
    nothing_left(out, 'killed in a hang')
    status(rows_of(out, 'killed in a hang'), 'not asked', ['pm.twice'], 'the probe ended before', 'hang')


def no_time(where):
    rows = play(os.path.join(where, 'notime'), PROBE_SECONDS=6)
    status(rows, 'answered', ['machine.gpu'], '', 'no time')
    status(rows, 'not asked', ['hardware.call'], 'time was over', 'no time')


def main():
    with gs.scratch() as where:
        gs.side_by_side([lambda case=case: case(where) for case in (
            whole, hangs, hangs_in_cupti, stray, refused, missing, killed, killed_in_a_hang, newer, cycles, no_time)], width=4)
    gs.finish()


main()
