#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chess positions. Everything is a coroutine, the trainer too; work goes to an executor of processes."""
import asyncio
import concurrent.futures
import random

from kit import Card, cfg, note, settle


def search(k):
    with note('get', k):
        with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
            opening = f.read()  #: get
    with note('make', k):
        rng, board = random.Random(k), list(opening[:64])
        for _ in range(1000 * cfg.rounds):
            a, b = rng.randrange(64), rng.randrange(64)  #: make
            board[a], board[b] = board[b], board[a]  #: make
        return bytes(board) * 1024


async def main():
    loop = asyncio.get_running_loop()
    with concurrent.futures.ProcessPoolExecutor(cfg.workers, initializer=settle) as pool:
        waiting = [loop.run_in_executor(pool, search, k) for k in range(cfg.workers + 1)]
        card = Card()
        for k in range(cfg.steps):
            with note('wait', k):
                boards = await waiting.pop(0)  #: wait
            if k + cfg.workers + 1 < cfg.steps:
                waiting.append(loop.run_in_executor(pool, search, k + cfg.workers + 1))
            card.step(boards)


if __name__ == '__main__':
    asyncio.run(main())
