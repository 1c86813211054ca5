#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""What a file costs does not depend on how it was thought out: runs that are made to aim at one place of a table, or at
a search that begins at the wrong end, against runs of the same size that are not. CPU time of the one against the
other's, in one run; each of them took fifty times as long before. Small files that ask for much memory, against the
engine's bound. And runs of many ranks: what each of them keeps, and more files than a process may hold."""
import json
import os
import resource
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

MAKE = os.path.join(gs.BUILD, 'tests', 'run_make')
HOSTILE = os.path.join(gs.BUILD, 'tests', 'hostile_make')
TIMES, GRACE_S = 10, 0.3
MOST_KB = 256 << 10
RANK_KB = 190  # of a run of many, each, and what the program takes by itself
ALONE_KB = 24 << 10
MEETINGS_KB = 96 << 10
BASE = 1_000_000
LOSS, BAD_STAMP = 1, 2  # enum LossReason


def make(where, name, lines):
    run = os.path.join(where, name + '.gst')
    os.mkdir(run)
    subprocess.run([MAKE, run], input=('\n'.join(lines) + '\n').encode(), check=True)
    return run


def cpu_of(run):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = gs.gpustarve('report', run, '--format', 'json')
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    gs.equal(done.returncode, 0, f'{run}: {done.stderr.decode()[-500:]}')
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def made(where, what, n):
    """One of hostile_make's runs."""
    run = os.path.join(where, f'{what}-{n}.gst')
    os.mkdir(run)
    subprocess.run([HOSTILE, run, what, str(n)], check=True)
    return run


def expect_alike(where, name, plain, hostile):
    compare(name, *(cpu_of(make(where, f'{name}-{i}', lines)) for i, lines in enumerate((plain, hostile))))


def compare(name, usual, cost, times=TIMES):
    print(f'{name}: {usual:.2f} s of CPU as usual, {cost:.2f} s as made up')
    gs.check(cost <= times * usual + GRACE_S, f'{name}: {cost:.2f} s where {usual:.2f} s are usual')


def launch(t, corr, device=0):
    return [f'api {t} {t + 2000} {corr} 5 cudaLaunchKernel', f'kernel {t + 5000} {t + 200_000} {corr} 7 {device} k']


def steps(count, stray):
    """Steps that wait for input; @stray: one operation on a second GPU, which then has nothing to tell."""
    lines = [f'stream node 10 0 {BASE + count * 400_000} -1 0 - train', 'device 0 1 GPU', 'device 1 2 GPU']
    if stray:
        lines += launch(BASE, count + 1, 1)
    for i in range(count):
        t = BASE + 300_000 + i * 400_000
        lines.append(f'range 1 {t} {t + 100_000} 5 0 enumerate(DataLoader)#x.__next__')
        lines += launch(t + 100_000, i + 1)
        lines.append(f'range 2 {t + 103_000} {t + 104_000} 5 0 Optimizer.step#SGD.step')
    return lines


def waits(count, rising):
    """Ranges that all begin at once; @rising: each is outside of those before it."""
    lines = ['stream node 10 0 500000000 -1 0 - train', 'device 0 1 GPU'] + launch(BASE, 1)
    for i in range(count):
        end = 30_000_000 + (i if rising else count - i)
        lines.append(f'range 1 20000000 {end} 5 0 enumerate(DataLoader)#x.__next__')
    return lines + launch(BASE + 100_000_000, 2)


def aimed(number):
    """Eight bytes that a table without a secret put where all of these went."""
    odd, all64 = 0x9e3779b97f4a7c15, (1 << 64) - 1
    back = pow(odd, -1, 1 << 64)

    def undone(out, into):
        return ((out ^ out >> 32) * back & all64) ^ into

    return undone(undone((number + 1) << 32 | 0x12345678, 0), 8).to_bytes(8, 'little')


def names(count, hostile):
    lines = [f'stream node 10 0 {BASE + count * 1000} -1 0 - train', 'device 0 1 GPU']
    for i in range(count):
        name = aimed(i) if hostile else b'name%04x' % i
        text = ''.join(f'%{b:02x}' for b in name)
        lines.append(f'kernel {BASE + i * 1000} {BASE + i * 1000 + 900} {i + 1} 7 0 {text}')
    return lines


def written(where, name, lines):
    """The same as make(), of lines that are never all there: what this program takes counts for whom it starts."""
    run = os.path.join(where, name + '.gst')
    os.mkdir(run)
    with subprocess.Popen([MAKE, run], stdin=subprocess.PIPE, text=True) as child:
        child.stdin.writelines(line + '\n' for line in lines)
    gs.equal(child.returncode, 0, name)
    return run


def threads(count, of_each, once=()):
    """A launch a thread; @of_each: what (its number, the time) it does besides; @once: behind the first one."""
    yield f'stream node 10 0 {BASE + (count + 2) * 20_000} -1 0 - train'
    yield 'device 0 1 GPU'
    for i in range(count):
        t = BASE + i * 20_000
        yield f'api {t} {t + 2000} {i + 1} {100 + i} cudaLaunchKernel'
        yield f'kernel {t + 5000} {t + 9000} {i + 1} 7 0 k'
        yield from of_each(100 + i, t)
        yield from once if i == 0 else ()


def waiting(tid, t):
    """Until long after the last launch, in each way that a thread may."""
    return [f'range 1 {t + 2000} {t + 10**10} {tid} 0 enumerate(DataLoader)#x.__next__', f'api {t + 2000} {t + 10**10} 0 {tid} cudaFree',
            f'range 6 {t + 2000} {t + 10**10} {tid} 0 -']


THREADS = {  # of so many threads that each launch once
    'that launch': threads(200_000, lambda tid, t: ()),
    'that wait': threads(200_000, waiting),
    'of which one is looked at': threads(200_000, lambda tid, t: (), [f'sample {BASE + 12_000} 10 5 1 1 0 0 1 0 main|train.py|10 - - -']),
}


def peak_of(what, run):
    size = sum(e.stat().st_size for e in os.scandir(run))
    with subprocess.Popen([gs.CLI, 'report', run, '--format', 'json'], stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    print(f'{what}: {size} bytes, {used.ru_maxrss} KB')
    gs.equal(child.returncode, 0, what)
    return used.ru_maxrss


def test_memory():
    """The peak of each process alone, as wait4() tells it: this program's own until then counts, so this comes first."""
    with open(gs.CLI, 'rb') as program:
        if b'__asan_init' in program.read():
            gs.left_out('memory: a sanitizer takes its own')
            return
    with gs.scratch() as where:
        for what, n, most in (('nested', 3_000_000, MOST_KB), ('samples', 40, MOST_KB), ('batches', 40, MOST_KB),
                              ('operations', 40, MOST_KB), ('steps', 300, ALONE_KB + 300 * RANK_KB)):
            peak = peak_of(what, made(where, what, n))
            gs.check(peak <= most, f'{what}: {peak} KB, {most} at most')
        for what, lines in THREADS.items():
            peak = peak_of(f'threads {what}', written(where, what, lines))
            gs.check(peak <= MOST_KB, f'threads {what}: {peak} KB, {MOST_KB} at most')


def test_meetings_without_end():
    """What memory has no room for lies in a file; without a place for that it is said how far ranks were compared."""
    with gs.scratch() as where:
        run, tmp = made(where, 'meetings', 60), os.path.join(where, 'tmp')
        os.mkdir(tmp)
        for folder in tmp, os.path.join(where, 'nowhere'):
            out = os.path.join(where, 'out.json')
            with open(out, 'w', encoding='utf-8') as f, \
                    subprocess.Popen([gs.CLI, 'report', run, '--format', 'json'], stdout=f,
                                     env={**os.environ, 'TMPDIR': folder}) as child:
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            gs.equal(child.returncode, 0, folder)
            with open(out, encoding='utf-8') as f:
                s = json.load(f)
            print(f'meetings: {s["ranks"]["matched"]} matched, {s["ranks"]["refused"]} refused, {used.ru_maxrss} KB')
            notes = [n for n in s['quality']['notes'] if 'TMPDIR' in n]
            if folder == tmp:
                gs.equal(s['ranks']['matched'], 60_000, 'all that met')
                gs.equal(s['ranks']['refused'], 0, 'none is left out')
                gs.equal(notes, [], 'nothing to say')
            else:
                gs.check(0 < s['ranks']['matched'] < 60_000, 'some of those that met')
                gs.check(s['ranks']['refused'] > 0, 'the others are counted')
                gs.check(len(notes) == 1 and 'No such file' in notes[0] and '8 GPUs' in notes[0], f'why: {notes}')
            gs.check(used.ru_maxrss <= MEETINGS_KB, f'{used.ru_maxrss} KB, {MEETINGS_KB} at most')
        gs.equal(os.listdir(tmp), [], 'what is left of it')


def test_a_gpu_that_is_behind():
    with gs.scratch() as where:
        expect_alike(where, 'steps', steps(60_000, False), steps(60_000, True))


def test_ranges_that_begin_together():
    with gs.scratch() as where:
        expect_alike(where, 'waits', waits(40_000, False), waits(40_000, True))


def test_names_that_collide():
    gs.equal(len({aimed(i) for i in range(1000)}), 1000, 'names')
    with gs.scratch() as where:
        expect_alike(where, 'names', names(40_000, False), names(40_000, True))


def test_a_gpu_of_many_processes():
    with gs.scratch() as where:
        compare('shared', cpu_of(made(where, 'own', 800)), cpu_of(made(where, 'shared', 800)))


def test_workers_that_begin_anew():
    with gs.scratch() as where:
        compare('workers', cpu_of(made(where, 'lasting', 1600)), cpu_of(made(where, 'workers', 1600)))


def loop(count, row):
    """A launch each 20 us, and what row(t) says of the time behind it."""
    lines = [f'stream node 10 0 {BASE + (count + 2) * 20_000} -1 0 - train', 'device 0 1 GPU']
    for i in range(count):
        lines += [f'api {BASE + i * 20_000} {BASE + i * 20_000 + 2000} {i + 1} 5 cudaLaunchKernel',
                  f'kernel {BASE + i * 20_000 + 5000} {BASE + i * 20_000 + 9000} {i + 1} 7 0 k', row(BASE + i * 20_000)]
    return lines


def test_stamps_that_are_bad():
    """A GPU's lost time was put in order anew for each."""
    def lost(reason):
        return lambda t: f'loss {reason} {t + 9000} {t + 12_000} 3'
    with gs.scratch() as where:
        expect_alike(where, 'stamps', loop(30_000, lost(LOSS)), loop(30_000, lost(BAD_STAMP)))


def test_frames_that_are_missing():
    """For each all pulses before it were looked through."""
    with gs.scratch() as where:
        usual, gaps = (cpu_of(make(where, name, loop(60_000, lambda t: f'pulse {t} {t} 0{more}'))) for name, more in (
            ('sent', ''), ('missing', '\nmissing 1')))
        compare('missing', usual, gaps, times=2)


def test_looks_close_to_each_other():
    """For each gap all looks at who waited were searched, of two seconds, for how much it read."""
    def look(tid):
        return lambda t: f'sample {t + 12_000} 10 {tid} 1 2 1 0 1 0 main|train.py|10 /data/a - -'
    with gs.scratch() as where:
        expect_alike(where, 'looks', loop(80_000, look(6)), loop(80_000, look(5)))


def test_looks_at_a_thread_that_waits():
    """For each of its looks all others of the step were searched for who works for it."""
    def look(wait):
        return lambda t: f'sample {t + 12_000} 10 5 1 2 {wait} 0 1 0 main|train.py|10 - - -'
    with gs.scratch() as where:
        compare('waits', *(cpu_of(make(where, name, loop(40_000, look(wait)))) for name, wait in (('sleep', 7), ('lock', 10))), times=3)


def test_calls_of_many_threads():
    """For each call of another thread all looks of the step were searched for what that thread is."""
    step = 10_000 * 20_000

    def call(threads):
        return lambda t: (f'api {t + 6000} {t + 16_000} 0 {100 + t // 20_000 % threads} cudaMalloc\n'
                          f'sample {t + 12_000} 10 5 1 1 0 0 1 0 main|train.py|10 - - -'
                          + (f'\nrange 4 {t} {t + step - 1000} 5 0 ProfilerStep#{t // step}' if (t - BASE) % step == 0 else ''))
    with gs.scratch() as where:
        compare('calls', *(cpu_of(make(where, f'calls-{n}', loop(40_000, call(n)))) for n in (1, 40_000)), times=3)


def test_queues_that_many_fill():
    """For each gap all threads were asked that had ever filled the queue, or, where none had, another one."""
    wait = 'f0%09/home/me/a0.py%091%0af1%09/home/me/a1.py%092'

    def fill(threads, queue):
        return lambda t: (f'links ?o1\nsample {t + 12_000} 10 5 1 2 10 0 1 0 {wait} - - -\nlinks !o{queue}\n'
                          f'sample {t + 12_000} 10 {1000 + t // 20_000 % threads} 5 1 0 0 1 0 main|train.py|10 - - -')
    with gs.scratch() as where:
        usual = cpu_of(make(where, 'few', loop(30_000, fill(10, 1))))
        for queue in 1, 2:
            compare(f'queue {queue}', usual, cpu_of(make(where, f'many-{queue}', loop(30_000, fill(30_000, queue)))), times=3)


def test_groups_that_end_at_once():
    with gs.scratch() as where:
        compare('groups', cpu_of(made(where, 'apart', 160)), cpu_of(made(where, 'groups', 160)))


def test_many_names_that_end_at_once():
    """For each collective all that ended with it were looked at, also those of other names."""
    with gs.scratch() as where:
        compare('strangers', cpu_of(made(where, 'apart', 320)), cpu_of(made(where, 'strangers', 320)), times=4)


def test_more_files_than_descriptors():
    ranks = 400
    lines = []
    for i in range(ranks):
        lines += [f'stream node{i} {100 + i} 0 {BASE + 1_000_000} {i} {ranks} - train', f'device 0 {i + 1} GPU']
        lines += launch(BASE, 1)
    with gs.scratch() as where:
        run = make(where, 'files', lines)
        for most in 300, 40:
            done = subprocess.run(['prlimit', f'--nofile={most}:{most}', gs.CLI, 'report', run, '--format', 'json'],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
            gs.equal(len(json.loads(done.stdout)['gpus']), ranks, f'GPUs in the report with {most} descriptors')
            gs.check(b'cannot be read' not in done.stdout + done.stderr, 'all files are read')
            gs.equal(done.stderr, b'', 'what else it opens')


gs.run_tests(globals())
