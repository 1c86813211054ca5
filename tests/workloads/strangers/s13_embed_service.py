# truth: not input
# cause: requests
# who waits: LINE-MARKER W
from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field

CALLER = r"""
import json, random, socket, sys, time
port, seed, until = int(sys.argv[1]), int(sys.argv[2]), time.time() + float(sys.argv[3])
rnd = random.Random(seed)
words = "red blue cat dog runs jumps over the lazy quick river stone".split()
s = socket.create_connection(("127.0.0.1", port)); f = s.makefile("rw")
while time.time() < until:
    time.sleep(min(1.5, rnd.expovariate(2.5)))  # <P>
    f.write(json.dumps({"text": " ".join(rnd.choices(words, k=rnd.randint(4, 24)))}) + "\n"); f.flush()
    f.readline()
s.close()
"""


@dataclass
class Stats:
    served: int = 0
    batches: int = 0
    quiet: float = 0.0
    started: float = field(default_factory=time.monotonic)


class Encoder:
    def __init__(self, vocab: int = 4096, dim: int = 128) -> None:
        import torch
        self.torch = torch
        self.vocab = vocab
        self.emb = torch.nn.EmbeddingBag(vocab, dim, mode="mean").cuda()
        self.mlp = torch.nn.Sequential(torch.nn.Linear(dim, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).cuda()

    def __call__(self, texts: list[str]) -> list[list[float]]:
        torch = self.torch
        ids, offs = [], []
        for t in texts:
            offs.append(len(ids))
            ids += [hash(w) % self.vocab for w in t.split()]
        with torch.inference_mode():
            v = self.mlp(self.emb(torch.tensor(ids).cuda(), torch.tensor(offs).cuda()))
            return v.cpu().tolist()


async def batcher(q: asyncio.Queue, enc: Encoder, st: Stats) -> None:
    while True:
        t = time.monotonic()
        first = await q.get()  # <W> <P>
        st.quiet += time.monotonic() - t
        group = [first]
        deadline = time.monotonic() + 0.01
        while len(group) < 32 and (left := deadline - time.monotonic()) > 0:
            try:
                group.append(await asyncio.wait_for(q.get(), left))
            except asyncio.TimeoutError:
                break
        vecs = enc([text for text, _ in group])
        for (_, fut), v in zip(group, vecs):
            if not fut.done():
                fut.set_result(v)
        st.served += len(group)
        st.batches += 1
        if st.batches % 20 == 0:
            print(f"[{time.monotonic() - st.started:5.1f}s] served={st.served}", flush=True)


async def serve(seconds: float) -> None:
    enc = Encoder()
    enc(["warm up please"])
    q: asyncio.Queue = asyncio.Queue()
    st = Stats()

    async def on_conn(rd: asyncio.StreamReader, wr: asyncio.StreamWriter) -> None:
        try:
            while line := await rd.readline():  # <W> <P>
                fut = asyncio.get_running_loop().create_future()
                await q.put((json.loads(line)["text"], fut))
                wr.write((json.dumps(await fut) + "\n").encode())
                await wr.drain()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            wr.close()

    server = await asyncio.start_server(on_conn, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    callers = [subprocess.Popen([sys.executable, "-c", CALLER, str(port), str(i), str(seconds)]) for i in range(3)]
    work = asyncio.create_task(batcher(q, enc, st))
    try:
        await asyncio.sleep(seconds)
    finally:
        work.cancel()
        server.close()
        for c in callers:
            c.terminate()
        for c in callers:
            c.wait()
    span = time.monotonic() - st.started
    print(f"served {st.served} in {st.batches} batches, {span:.1f}s, no work {st.quiet:.1f}s ({st.quiet / span:.0%})")


if __name__ == "__main__":
    random.seed(0)
    asyncio.run(serve(16.0))  # <W>
