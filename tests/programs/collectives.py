#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every collective of torch.distributed over NCCL, for torchrun: each checks the values that it got. --eager binds the
device at the start, which makes communicators without blocking. --computed adds what PyTorch sizes by the result of a
kernel: objects of different lengths, and lists of objects that are broadcast."""
import argparse
import os
import sys
import warnings

import torch
import torch.distributed as dist

warnings.simplefilter('ignore', FutureWarning)


def here(*values, dtype=torch.float32):
    return torch.tensor(values, dtype=dtype).cuda()


def is_now(tensor, *values):
    assert tensor.tolist() == list(values), (tensor.tolist(), values)


def reductions(r, n):
    t = here(r + 1, r + 1)
    dist.all_reduce(t)
    is_now(t, *[n * (n + 1) / 2] * 2)
    for op, want in (dist.ReduceOp.MAX, n), (dist.ReduceOp.MIN, 1), (dist.ReduceOp.AVG, (n + 1) / 2):
        t = here(r + 1)
        dist.all_reduce(t, op)
        is_now(t, want)
    for dtype in torch.int64, torch.int32, torch.uint8, torch.float16, torch.bfloat16, torch.float64:
        t = here(r + 1, dtype=dtype)
        dist.all_reduce(t)
        is_now(t, n * (n + 1) / 2)
    t = here(r + 1)
    dist.reduce(t, 0)
    is_now(t, n * (n + 1) / 2 if r == 0 else r + 1)
    out = here(0)
    dist.reduce_scatter_tensor(out, here(*range(n)))
    is_now(out, n * r)
    dist.reduce_scatter(out, [here(i + 1) for i in range(n)])
    is_now(out, n * (r + 1))
    t = here(2)
    dist.all_reduce(t, async_op=True).wait()
    is_now(t, 2 * n)


def movements(r, n):
    t = here(r, dtype=torch.int64)
    dist.broadcast(t, 1)
    is_now(t, 1)
    out = [here(-1) for _ in range(n)]
    dist.all_gather(out, here(r))
    is_now(torch.tensor([t.item() for t in out]), *range(n))
    out = here(*[-1] * n)
    dist.all_gather_into_tensor(out, here(r))
    is_now(out, *range(n))
    dist.all_to_all_single(out, here(*(10 * r + i for i in range(n))))
    is_now(out, *(10 * i + r for i in range(n)))
    out = [here(-1) for _ in range(n)]
    dist.all_to_all(out, [here(10 * r + i) for i in range(n)])
    is_now(torch.tensor([t.item() for t in out]), *(10 * i + r for i in range(n)))
    t = here(-1)
    dist.scatter(t, [here(5 + i) for i in range(n)] if r == 0 else None, src=0)
    is_now(t, 5 + r)
    out = [here(-1) for _ in range(n)] if r == 0 else None
    dist.gather(here(r), out, dst=0)
    is_now(torch.tensor([t.item() for t in out or []]), *range(n) if r == 0 else ())


def messages(r, n):
    t = here(42 if r == 0 else -1)
    if r == 0:
        dist.send(t, 1)
    elif r == 1:
        dist.recv(t, 0)
        is_now(t, 42)
    out = here(-1)
    for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, here(r), (r + 1) % n),
                                           dist.P2POp(dist.irecv, out, (r - 1) % n)]):
        request.wait()
    is_now(out, (r - 1) % n)


def groups(r, n):
    even = dist.new_group(list(range(0, n, 2)))
    if r % 2 == 0:
        t = here(1)
        dist.all_reduce(t, group=even)
        is_now(t, (n + 1) // 2)
    mine, _ = dist.new_subgroups(n // 2)
    t = here(r)
    dist.all_reduce(t, dist.ReduceOp.MAX, group=mine)
    is_now(t, (r // (n // 2) + 1) * (n // 2) - 1)


def objects(r, n, computed):
    want = [{'rank': i, 'text': 'x' * (i + 1 if computed else 3)} for i in range(n)]
    got = [None] * n
    dist.all_gather_object(got, want[r])
    assert got == want, got
    got = [None]
    dist.scatter_object_list(got, want if r == 0 else None, src=0)
    assert got == want[r:r + 1], got
    if computed:
        got = list(want) if r == 0 else [None] * n
        dist.broadcast_object_list(got, src=0)
        assert got == want, got


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--eager', action='store_true')
    p.add_argument('--computed', action='store_true')
    p.add_argument('--told', help='not used')
    args = p.parse_args()
    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))
    device = torch.device('cuda', torch.cuda.current_device())
    dist.init_process_group('nccl', **({'device_id': device} if args.eager else {}))
    rank = dist.get_rank(), dist.get_world_size()
    reductions(*rank)
    movements(*rank)
    messages(*rank)
    groups(*rank)
    objects(*rank, args.computed)
    dist.barrier()
    dist.destroy_process_group()
    print('all values are right\n', end='')  # one write: others print, too


if __name__ == '__main__':
    sys.exit(main())
