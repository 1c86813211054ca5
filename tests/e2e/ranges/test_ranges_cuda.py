# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=120
"""torch with CUDA and a real GPU (skipped elsewhere): torch.cuda.nvtx, emit_nvtx and NCCL-like use of
real NVTX reach libprof's ranges; what emit_nvtx repeats of RecordFunction is there once."""
import os
import subprocess
import sys
import tempfile

sys.path[:0] = [sys.path[0] + '/../../lib', sys.path[0] + '/../../timing']
import gs
import ranges
import test_ranges_torch as probes


def child(path):
    import torch
    if not torch.cuda.is_available():
        gs.skip('no CUDA device that torch can use')
    probe = probes.Probe(path)
    probe.arm()
    probe.await_torch()
    nvtx = torch.cuda.nvtx
    x = torch.ones(64, 64, device='cuda', requires_grad=True)
    gs.equal(nvtx.range_push('outer'), 0, 'depth of the first range')
    gs.equal(nvtx.range_push('inner'), 1, 'depth of the second')
    gs.equal((nvtx.range_pop(), nvtx.range_pop()), (1, 0), 'depths of the ends')
    handle = nvtx.range_start('started')
    nvtx.range_end(handle)
    nvtx.mark('a mark')
    loader = torch.utils.data.DataLoader(probes.Picklable(), batch_size=20)
    with torch.autograd.profiler.emit_nvtx():
        for _ in loader:
            with torch.profiler.record_function('label'):
                (x @ x).sum().backward()
    torch.cuda.synchronize()
    rows = probe.rows()
    names = [r['name'] for r in rows if r['op'] == ranges.USER]
    for name in ('outer', 'inner', 'started'):
        gs.equal(names.count(name), 1, f'ranges named {name}')
    gs.equal(names.count('label'), 4, 'record_function ranges')
    gs.check('a mark' not in names, 'a mark is no range')
    operators = {r['name'] for r in rows if r['op'] == ranges.OPERATOR}
    gs.check('aten::matmul' in operators and 'aten::sum' in operators, f'operators {operators}')
    gs.check(not any(', seq' in n or ', op_id' in n for n in operators), f'operators {operators}')
    gs.equal(sum(r['op'] == ranges.LOADER for r in rows), 5, 'loader waits')
    gs.equal(probe.lib.probe_dropped(), 0, 'dropped')
    print(f'torch {torch.__version__}: {len(rows)} ranges, {len(operators)} operators')
    gs.finish()


def main():
    with tempfile.TemporaryDirectory() as where:
        env = dict(os.environ, NVTX_INJECTION64_PATH=probes.PROBE)
        done = subprocess.run([sys.executable, os.path.abspath(__file__),
                               os.path.join(where, 'ranges')], env=env, timeout=90)
        sys.exit(done.returncode)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        child(sys.argv[1])
    else:
        main()
