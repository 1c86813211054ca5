#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""A real program of the driver API that nobody here wrote: Debian's ffmpeg copies frames to the
simulated GPU (a model, here with content: GPUSIM_DATA=1) and back under libprof. Its frames are those
of the CPU alone, its copies are in the trace, as many and as large as the frames demand and as long as
the truth says; what the model cannot do it refuses as a driver does, with libprof and without."""
import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

FFMPEG = shutil.which('ffmpeg')
if not FFMPEG:
    gs.skip('no ffmpeg')
if b' cuda' not in subprocess.run([FFMPEG, '-hide_banner', '-hwaccels'], stdout=subprocess.PIPE,
                                  check=False).stdout.replace(b'\n', b' '):
    gs.skip('this ffmpeg knows nothing of CUDA')
FRAMES = 10
LOUD = re.compile(rb' @ 0x[0-9a-f]+')  # addresses differ between any two runs
H2D, D2H = 1, 2
SLACK = prof.SECOND // 2  # of a machine that has other things to do, as in test_prof_kill


def planes(pixels, width, height):
    """(bytes of a row, rows) of each plane of a frame."""
    half, rows = (width + 1) // 2, (height + 1) // 2
    return {'yuv420p': [(width, height), (half, rows), (half, rows)],
            'yuv444p': [(width, height)] * 3,
            'nv12': [(width, height), (2 * half, rows)],
            'p010le': [(2 * width, height), (4 * half, rows)],
            'bgr0': [(4 * width, height)]}[pixels]


def demanded(pixels, size):
    """What a frame costs in one direction: for each plane the sizes that a copy of it may have. ffmpeg
    copies rows as long as the shorter of its own two ends has them, that is with their padding where
    both have some (none, or up to 64 bytes; the device's rows are padded to 512)."""
    width, height = map(int, size.split('x'))
    return [{row * n, (row + 63) // 64 * 64 * n} for row, n in planes(pixels, width, height)]


def source(size, frames=FRAMES, rate=25):
    return ['-f', 'lavfi', '-i', f'testsrc2=size={size}:rate={rate}:duration={frames / rate}']


def ffmpeg(*args, level='error'):
    return [FFMPEG, '-nostdin', '-hide_banner', '-loglevel', level, *args]


def on_cpu(pixels, size):
    done = gs.command(ffmpeg(*source(size), '-vf', f'format={pixels}', '-f', 'framemd5', '-'))
    gs.equal(done.returncode, 0, f'on the CPU: {done.stderr.decode()}')
    return frames(done.stdout)


def frames(text):
    """The checksums of the frames, in order."""
    return [line.split(b',')[-1].strip() for line in text.splitlines() if line[:1].isdigit()]


def upload(pixels, how='hwupload'):
    """To the GPU, and back."""
    device = ['-init_hw_device', 'cuda=g:0', '-filter_hw_device', 'g'] if how == 'hwupload' else []
    return [*device, '-vf', f'format={pixels},{how},hwdownload,format={pixels}']


def count(t, pixels, size, what, device=0, n=FRAMES):
    """The copies of a device against the arithmetic of the frames."""
    want = demanded(pixels, size)
    for way, name, ends in (H2D, 'to the device', (1, 3)), (D2H, 'from the device', (3, 1)):
        ops = [e for e in t.ops if e['copy'] == way and e['device'] == device]
        gs.equal(len(ops), n * len(want), f'{what}: copies {name}')
        gs.equal({(e['src'], e['dst']) for e in ops}, {ends}, f'{what}: memory of copies {name}')
        ops.sort(key=lambda e: e['start'])
        for i, e in enumerate(ops):
            if e['bytes'] not in want[i % len(want)]:
                gs.equal(e['bytes'], want[i % len(want)], f'{what}: bytes of copy {i} {name}')
                break
    gs.equal([e for e in t.ops if e['op'] != prof.COPY], [], f'{what}: work that is no copy')


def called(t, what):
    """Each copy belongs to the call that ffmpeg makes for a plane."""
    calls = {e['corr']: e['name'] for e in t.events[prof.API]}
    gs.equal({calls.get(e['corr']) for e in t.ops}, {'cuMemcpy2DAsync_v2'}, f'{what}: calls')


def same_frames(pixels, size, how='hwupload', **env):
    what = f'{pixels} {size} {how} {env}'
    with gs.scratch() as where:
        done = prof.run(ffmpeg(*source(size), *upload(pixels, how), '-f', 'framemd5', '-'), where,
                        GPUSIM_DATA=1, **env)
        gs.equal((done.returncode, done.stderr), (0, b''), what)
        gs.equal(len(frames(done.stdout)), FRAMES, f'{what}: frames')
        gs.equal(frames(done.stdout), on_cpu(pixels, size), f'{what}: frames')
        t = prof.trace(where)
        prof.expect_exact(where, t, what)
        gs.equal(t.losses, [], f'{what}: losses')
        count(t, pixels, size, what)
        called(t, what)
        print(f'{what}: {len(frames(done.stdout))} frames, {len(t.ops)} copies of '
              f'{sum(e["bytes"] for e in t.ops)} bytes', flush=True)


def without_content():
    """The comparison can fail: a model that moves no bytes gives other frames."""
    done = gs.command([gs.WITH_GPUSIM] + ffmpeg(*source('512x288'), *upload('nv12'), '-f', 'framemd5',
                                                '-'), env=gs.environment(GPUSIM_DATA=0))
    gs.equal(len(frames(done.stdout)), FRAMES, 'without content: frames')
    gs.check(frames(done.stdout) != on_cpu('nv12', '512x288'), 'without content: the same frames')


def two_devices():
    """One source, two GPUs, two outputs."""
    graph = ';'.join(['[0]format=nv12,split[a][b]',
                      *(f'[{name}]hwupload_cuda=device={i},hwdownload,format=nv12[{name}{name}]'
                        for i, name in enumerate('ab'))])
    with gs.scratch() as where:
        out = [os.path.join(where, f'{name}.md5') for name in 'ab']
        done = prof.run(ffmpeg(*source('512x288'), '-filter_complex', graph, '-map', '[aa]', '-f',
                               'framemd5', out[0], '-map', '[bb]', '-f', 'framemd5', out[1]), where,
                        GPUSIM_DATA=1, GPUSIM_DEVICES=2)
        gs.equal((done.returncode, done.stderr), (0, b''), 'two devices')
        for name in out:
            with open(name, 'rb') as f:
                gs.equal(frames(f.read()), on_cpu('nv12', '512x288'), 'two devices: frames')
        t = prof.trace(where)
        prof.expect_exact(where, t, 'two devices')
        for device in 0, 1:
            count(t, 'nv12', '512x288', f'device {device} of two', device)


def report():
    """`gpustarve run` around it: the report's sums are those of the frames."""
    with gs.scratch() as where:
        done, run, _ = gs.traced(ffmpeg(*source('512x288'), *upload('p010le'), '-f', 'null', '-'), where,
                                 GPUSIM_DATA=1)
        gs.equal(done.returncode, 0, 'report: status')
        copies = gs.summary(run)['copies']
        want = sum(min(sizes) for sizes in demanded('p010le', '512x288')) * FRAMES
        for way in 'h2d', 'd2h':
            gs.equal((copies[way]['count'], copies[way]['bytes'], copies[way]['pageable_bytes']),
                     (2 * FRAMES, want, want), f'report: {way}')


def refused(what, *args):
    """What needs kernels, decoders or encoders ends with the driver's word for it, and libprof changes
    nothing of what the program says."""
    *args, word = args
    seen = {}
    for preload in False, True:
        with gs.scratch() as where:
            done = prof.run(ffmpeg(*args, '-f', 'null', '-'), where, preload=preload, GPUSIM_DATA=1)
            seen[preload] = done.returncode, done.stdout, LOUD.sub(b'', done.stderr)
            if preload:
                for t in prof.traces(where):
                    prof.expect_exact(where, t, what)
                    gs.equal([e for e in t.ops if e['op'] == prof.KERNEL], [], f'{what}: kernels')
    gs.equal(seen[True], seen[False], f'{what}: with libprof')
    gs.check(seen[True][0] == 1 and word in seen[True][2], f'{what}: {seen[True]}')


def killed():
    """kill -9 amid the frames: what was copied a second before is in the report."""
    with gs.scratch() as where:
        truth = os.path.join(where, 'truth')
        os.mkdir(truth)
        p = subprocess.Popen(
            [gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, 'runs'), '--',
             *ffmpeg('-re', *source('512x288', 1000), *upload('nv12'), '-f', 'framemd5', '-flush_packets', '1', '-')],
            env=gs.environment(GPUSIM_DATA=1, GPUSIM_TRUTH=truth), cwd=where, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)
        seen, old_enough = 0, 0
        while seen < 40 or time.monotonic() < old_enough:  # some 1.6 s; who begins late is in a hurry then
            line = p.stdout.readline()
            if not line:
                break
            seen += line[:1].isdigit()
            if seen == 1:
                old_enough = time.monotonic() + 1.1 + SLACK / prof.SECOND
        pid = int(next(name for name in os.listdir(truth)).split('.')[0])
        at = time.time_ns()
        os.kill(pid, signal.SIGKILL)
        p.stdout.read()
        gs.equal(p.wait(60), -signal.SIGKILL, 'killed: status of the wrapper')
        run = gs.runs(os.path.join(where, 'runs'))[-1]
        old = [o for o in gs.truth_ops(truth) if o['end_ns'] < at - prof.SECOND - SLACK]
        copies = gs.summary(run)['copies']
        got = sum(copies[way]['count'] for way in ('h2d', 'd2h'))
        gs.check(got >= len(old) > 0, f'killed: {got} copies in the report, {len(old)} were old enough')


def main():
    copied = [('nv12', '512x288'), ('yuv420p', '512x288', 'hwupload_cuda'), ('yuv420p', '500x270'),
              ('yuv444p', '512x288')]
    on_gpu = 'format=yuv420p,hwupload_cuda,{},hwdownload,format=yuv420p'
    refusals = [(name, *source('512x288'), '-vf', on_gpu.format(name),
                 b'CUDA_ERROR_JIT_COMPILER_NOT_FOUND')
                for name in ('scale_cuda=256:144', 'yadif_cuda', 'thumbnail_cuda')]
    refusals += [('a device that is not there', '-init_hw_device', 'cuda=g:7', *source('512x288'),
                  b'CUDA_ERROR_INVALID_DEVICE'),
                 ('encoding', *source('512x288'), '-c:v', 'h264_nvenc', b'libnvidia-encode.so.1')]
    gs.side_by_side([killed, report, two_devices, without_content,
                     *(functools.partial(same_frames, *case) for case in copied),
                     functools.partial(same_frames, 'p010le', '512x288', GPUSIM_CUPTI='12.4'),
                     functools.partial(same_frames, 'bgr0', '512x288', GPUSIM_CUPTI='11.8'),
                     *(functools.partial(refused, *case) for case in refusals)])


main()
gs.finish()
