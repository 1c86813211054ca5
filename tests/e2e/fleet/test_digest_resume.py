#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""An analysis that goes on where an earlier one was ended says byte for byte what one says that was not: ended at every
unit, amid one and at random moments, with what it kept cut, of another trace or damaged; and what somebody made up there
breaks nothing."""
import glob
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

SEED = int(os.environ.get('GS_SEED') or random.SystemRandom().randrange(1 << 30))
rng = random.Random(SEED)
TOOLS = os.path.join(gs.BUILD, 'tests')
PROGRAM = os.path.join(gs.BUILD, 'bin', 'gpustarve')
HEAD, RECORD, AMID = 32, 24, 1 << 31
BRIEF = 'GPUSTARVE_TEST_CASES' in os.environ  # the other build saw it in full
EVENTS, GPUS, KILLS = (1_600_000_000, 8, 30) if gs.BIG else (100_000 if BRIEF else 2_000_000, 4, 3)
BASE, MS = 1_780_000_000_000_000_000, 10**6


def demo(run):
    """Real evidence: samples, chains, loaders."""
    os.makedirs(run)
    for path in glob.glob(os.path.join(gs.SOURCE, 'docs', 'demo', '*.gst', '*.gst')):
        shutil.copy(path, run)
    shutil.copy(os.path.join(gs.SOURCE, 'docs', 'demo', 'storage.gst', 'run.json'), run)


def ranks(run, world=4, steps=120):
    """Ranks that meet in each step, one of them late now and then: a component each, compared with each other."""
    os.makedirs(run)
    begun = [[BASE + k * 10 * MS + rng.randrange(3 * MS) + (k % 7 == r) * 2 * MS for k in range(steps)] for r in range(world)]
    lines = []
    for r in range(world):
        lines.append(f'stream {r} {world} {100 + r} {BASE} here')
        for k in range(steps):
            t, end, corr = begun[r][k], max(b[k] for b in begun) + 5 * MS, 3 * k
            lines += [f'api {t - 50000} {t - 40000} {corr} {100 + r} cudaLaunchKernel', f'op {t} {t + 2 * MS} {corr} 7 gemm{k % 3}',
                      f'api {t - 30000} {t - 20000} {corr + 1} {100 + r} cudaLaunchKernel',
                      f'op {t + 2 * MS + 1000} {end} {corr + 1} 7 ncclDevKernel_AllReduce_Sum_f32_RING_LL',
                      f'range 1 {end + 1000} {end + MS} {100 + r} 0 enumerate(DataLoader)#x.__next__',
                      f'range 4 {t - 60000} {end + MS} {100 + r} 0 ProfilerStep#{k}']
        if r:
            lines.append(f'api {BASE + steps * 10 * MS} {BASE + steps * 10 * MS + 9000} {3 * steps} {100 + r} cudaLaunchKernel')
        lines.append(f'bye {BASE + (steps + 1) * 10 * MS}')
    subprocess.run([os.path.join(TOOLS, 'ranks_make'), run], input='\n'.join(lines) + '\n', text=True, check=True)


def hardly_looked_at(run, launches=12_000):
    """Four seconds in which looks hit few of the gaps and few of the waits: the others wait for what their neighbours are."""
    os.makedirs(run)
    lines = [f'stream node 10 {BASE} {BASE + launches * 300_000 + MS} -1 0 - train', 'device 0 1 GPU']
    for i in range(launches):
        t = BASE + i * 300_000
        lines += [f'api {t} {t + 5000} {i + 1} 10 cudaLaunchKernel', f'kernel {t + 7000} {t + 100_000} {i + 1} 7 0 k']
        lines += [f'range 1 {t + 100_000} {t + 250_000} 10 0 enumerate(DataLoader)#x.__next__'] * (i % 8 == 0)
        lines += [f'sample {t + 200_000} 10 10 1 1 0 0 1 0 step%09/home/me/train.py%09{i % 3} - - -'] * (i % 14 == 1 or i % 56 == 8)
    subprocess.run([os.path.join(TOOLS, 'run_make'), run], input='\n'.join(lines) + '\n', text=True, check=True)


def long_run(where, name, events, gpus):
    """GPUs that do the same, so that what is kept of each is about as long."""
    run = os.path.join(where, name + '.gst')
    os.makedirs(run)
    subprocess.run([os.path.join(TOOLS, 'long_make'), run, str(events), str(gpus), '0'], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(run, 'run.json'), 'w', encoding='utf-8') as f:
        f.write('{"schema":"gpustarve.run/1","run_id":"long"}')
    return run


def dump(run, how, *more):
    done = subprocess.run([os.path.join(TOOLS, 'parts_dump'), run, how, *map(str, more)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=600)
    gs.equal((done.returncode, done.stderr[-300:]), (0, b''), f'{run} {how} {more}')
    return done.stdout


def parts(run):
    return os.path.join(run, '.digest-parts')


def records(run):
    """Component and length of each whole record, in order; of a walk amid it: with AMID."""
    if not os.path.exists(parts(run)):
        return []
    with open(parts(run), 'rb') as f:
        text = f.read()
    at, found = HEAD, []
    while at + RECORD <= len(text):
        _, component, length = struct.unpack_from('<IIQ', text, at)
        at += RECORD + length
        if at <= len(text):
            found.append((component, length))
    return found


def components(run):
    """Those of which all is kept."""
    return [component for component, _ in records(run) if component < AMID]


def stops(run):
    """How often a walk was kept amid."""
    return len(records(run)) - len(components(run))


def cut(run, size):
    os.truncate(parts(run), size)


def check_same(run, want):
    """Kept, taken from there, cut somewhere, of another version, damaged: it is always the same."""
    gs.check(dump(run, 'keep') == want, f'{run}: while it is kept')
    size, kept = os.path.getsize(parts(run)), components(run)
    gs.check(dump(run, 'keep') == want, f'{run}: taken from what was kept')
    gs.equal((os.path.getsize(parts(run)), components(run)), (size, kept), f'{run}: nothing was walked again')
    for _ in range(4):
        cut(run, rng.randrange(size))
        gs.check(dump(run, 'keep') == want, f'{run}: with a part of it')
        gs.equal(sorted(components(run)), sorted(kept), f'{run}: the others were walked')
    with open(parts(run), 'r+b') as f:
        f.seek(rng.randrange(HEAD + RECORD, size))
        f.write(bytes([rng.randrange(256)] * 3))
    gs.check(dump(run, 'keep') == want, f'{run}: with damage')
    with open(parts(run), 'r+b') as f:
        f.write(b'another')
    gs.check(dump(run, 'keep') == want, f'{run}: of another version')
    gs.equal(sorted(components(run)), sorted(kept), f'{run}: begun anew')
    stream = glob.glob(os.path.join(run, '*.gst'))[0]
    os.utime(stream, (time.time() + 9, time.time() + 9))
    gs.check(dump(run, 'keep') == want, f'{run}: of a trace that was written to')
    gs.equal(len(components(run)), len(kept), f'{run}: begun anew, too')


def check_amid(run, every, least):
    """From each place at which a walk is kept it goes on, and says the same; changed bytes of it break nothing."""
    said = dump(run, 'amid', every).decode().split()
    gs.check(len(said) == 3 and said[0] == said[2] and int(said[0]) >= least, f'{run}: amid: {said}')
    for _ in range(20 if gs.BIG else 1 if BRIEF else 2):
        done = subprocess.run([os.path.join(TOOLS, 'parts_dump'), run, 'amid', str(every), str(rng.randrange(1 << 30))],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=600)
        gs.check(done.returncode == 0 and b'Sanitizer' not in done.stderr and b'runtime error' not in done.stderr,
                 f'{run}: amid, spoilt: {done.stderr[-2000:]}')


def check_made_up(run):
    """Bytes with right checksums that nobody wrote: no worse than a trace that lies."""
    with open(parts(run), 'rb') as f:
        sound = f.read()
    for seed in range(400 if gs.BIG else 10 if BRIEF else 25):
        with open(parts(run), 'wb') as f:
            f.write(sound)
        dump(run, 'spoil', rng.randrange(1 << 30))
        done = subprocess.run([os.path.join(TOOLS, 'parts_dump'), run, 'keep'], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=120)
        gs.check(done.returncode in (0, 1) and b'Sanitizer' not in done.stderr, f'{run}: spoilt: {done.stderr[-2000:]}')
    os.unlink(parts(run))


def digest(run, *options, most=None):
    """Of the command: its output, None if it was ended; @most: it dies where it writes beyond so many bytes."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    done = subprocess.run([PROGRAM, 'digest', run, '--revision', '7', *options], stdout=subprocess.PIPE,
                          env=gs.environment(), preexec_fn=limit)
    return done.stdout if done.returncode == 0 else None


def check_killed(run):
    """Each kill leaves what was finished, and that is not walked again."""
    began = os.times().children_user
    want = digest(run)
    whole = os.times().children_user - began
    gs.equal(digest(run, '--resume'), want, 'kept, and not ended')
    record = max(length for component, length in records(run) if component < AMID)
    os.unlink(parts(run))
    for n in range(GPUS):
        gs.equal(digest(run, '--resume', most=HEAD + n * record + record // 2), None, f'ended behind unit {n}')
        gs.check(len(components(run)) == n or gs.BIG and len(components(run)) < n, f'finished by the end of {n}')
    gs.equal(digest(run, '--resume'), want, 'ended at each unit')
    gs.equal(sorted(components(run)), list(range(GPUS)), 'each was walked once')
    began = os.times().children_user
    gs.equal(digest(run, '--resume'), want, 'once more')
    print(f'{EVENTS} events: {whole:.2f} s of CPU, {os.times().children_user - began:.2f} s where all is kept; '
          f'a unit costs {whole / GPUS:.2f} s and {record} bytes')
    os.unlink(parts(run))
    ended = 0
    for _ in range(KILLS):
        p = subprocess.Popen([PROGRAM, 'digest', run, '--resume'], stdout=subprocess.DEVNULL, env=gs.environment())
        time.sleep(rng.uniform(0, 2 * whole))
        p.kill()
        ended += p.wait() != 0
    gs.equal(digest(run, '--resume'), want, f'ended at {ended} random moments')
    kept = components(run)
    gs.equal(sorted(set(kept)), list(range(GPUS)), 'and each is there')


def check_one_gpu(run):
    """A run of one GPU is ended again and again, each time soon after it got on; no work is done twice."""
    want = digest(run)
    gs.equal(digest(run, '--resume'), want, 'one GPU, not ended')
    each, longest = stops(run), max(length for _, length in records(run))
    gs.check(each >= 2, f'one GPU: kept amid {each} times')
    os.unlink(parts(run))
    ended = 0
    while digest(run, '--resume', most=HEAD + sum(RECORD + n for _, n in records(run)) + longest + RECORD) != want:
        ended += 1
        gs.check(stops(run) >= ended, f'one GPU, ended {ended} times: it got on')
        if gs.failures:
            return
    print(f'one GPU: ended {ended} times, kept {stops(run)} times where {each} do')
    gs.check(1 <= ended and stops(run) <= each + ended, 'one GPU: it went on from where it was')
    gs.check(os.stat(parts(run)).st_blocks * 512 < 2 * longest, 'what is of no use has no room')


def check_beside(run):
    """Of two at once one keeps, and both say the same."""
    os.unlink(parts(run))
    both = [subprocess.Popen([PROGRAM, 'digest', run, '--revision', '7', '--resume'], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=gs.environment()) for _ in range(2)]
    first, second = (p.communicate()[0] for p in both)
    gs.check(first and first == second, 'two at once')
    gs.equal(sorted(components(run)), list(range(GPUS)), 'one of them kept')


with gs.scratch() as where:
    print(f'seed {SEED}')
    for name, make in ('demo', demo), ('ranks', ranks):
        run = os.path.join(where, name + '.gst')
        make(run)
        check_same(run, dump(run, 'plain'))
        check_made_up(run)
    check_amid(os.path.join(where, 'demo.gst'), 150 if gs.BIG else 600, 3)
    shared = os.path.join(where, 'shared.gst')
    os.makedirs(shared)
    subprocess.run([os.path.join(TOOLS, 'hostile_make'), shared, 'shared', '4'], check=True)
    check_amid(shared, 9_000 if gs.BIG else 40_000, 2)
    looked_at = os.path.join(where, 'looked-at.gst')
    hardly_looked_at(looked_at)
    check_amid(looked_at, 1_000 if gs.BIG else 4_000, 2)
    run = long_run(where, 'long', EVENTS, GPUS)
    check_killed(run)
    check_beside(run)
    check_one_gpu(long_run(where, 'one', 5_000_000 if not gs.BIG else 200_000_000, 1))
gs.finish()
