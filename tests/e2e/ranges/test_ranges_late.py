# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=200
"""torch imported after CUDA has begun, torch's profiler at work in the same process, user ranges and
steps, and torch left alone by GPUSTARVE_TORCH=0 and GPUSTARVE_SHIM=0."""
import os
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

MODES = ('late', 'profiler', 'off')


def child(mode, own):
    sys.path.insert(0, gs.WORKLOADS)
    if mode == 'late':
        import gpudev
        device = gpudev.Device(0)
        gpudev.Stream(device).kernel(1000, 'early')  # libprof is at work
    import torch
    from torch.utils.data import DataLoader, Dataset
    if mode != 'late':
        import gpudev
        device = gpudev.Device(0)
    stream = gpudev.Stream(device)
    time.sleep(4)  # the hook comes with the next flush, in half a second; on a busy machine later

    class Sleepy(Dataset):
        def __len__(self):
            return 120

        def __getitem__(self, i):
            time.sleep(0.002)
            return torch.zeros(4)

    waits, phases = [], []

    def loop(profiler):
        batches = iter(DataLoader(Sleepy(), batch_size=4))
        while True:
            s = time.time_ns()
            batch = next(batches, None)
            waits.append((s, time.time_ns()))
            if batch is None:
                break
            stream.kernel(1_000_000, 'step')
            stream.synchronize()
            if profiler:
                profiler.step()
        s = time.time_ns()
        with torch.profiler.record_function('validation'):
            time.sleep(0.05)
        phases.append((s, time.time_ns()))

    loop(None)
    if mode == 'profiler':
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU],
                                    schedule=torch.profiler.schedule(wait=0, warmup=1, active=99)) as p:
            loop(p)
        seen = {e.key for e in p.key_averages()}
        assert 'validation' in seen and any(k.startswith('enumerate(DataLoader)#') for k in seen), seen
        loop(None)
    with open(own, 'w') as f:
        f.write(repr((waits, phases, torch.__version__)))


def case(mode):
    with gs.scratch() as where:
        own = os.path.join(where, 'own')
        ranges.run([gs.PYTHON, os.path.abspath(__file__), mode, own], where,
                   **dict(GPUSTARVE_TORCH=0, GPUSTARVE_SHIM=0) if mode == 'off' else {})
        waits, phases, version = eval(open(own).read())
        streams = ranges.trace(where)
        if not gs.equal(len(streams), 1, f'{mode}: streams'):
            return True
        stream, got = streams[0], ranges.joined(ranges.ranges(streams[0], ranges.LOADER))
        if mode == 'off':
            gs.equal(ranges.ranges(stream), [], 'off: ranges')
            return True
        gs.equal(ranges.hello(stream)['torch'], version, f'{mode}: version of torch')
        users = [r for r in ranges.ranges(stream, ranges.USER) if r['name'] == 'validation']
        gs.equal(len(users), len(phases), f'{mode}: record_function ranges')
        steps = [r['name'] for r in ranges.ranges(stream, ranges.STEP)]
        gs.check(len(steps) in (30, 31) if mode == 'profiler' else not steps, f'{mode}: steps {steps}')
        gs.check(all(s.startswith('ProfilerStep#') for s in steps), f'{mode}: names of steps')
        return ranges.waits_match(got + users, waits + phases, mode)


if len(sys.argv) > 1:
    child(*sys.argv[1:])
else:
    for m in MODES:
        ranges.settled(case, m)
    gs.finish()
