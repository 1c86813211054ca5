# truth: input
# cause: fetch
# who waits: LINE-MARKER W
import asyncio
import multiprocessing
import random
import threading
import time
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn

import numpy as np
import torch

SIDE = 32
SAMPLE = 3 * SIDE * SIDE


class Bucket(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        key = int(self.path.split("/")[-1])
        body = np.random.default_rng(key).integers(0, 256, SAMPLE, dtype=np.uint8).tobytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        half = len(body) // 2
        self.wfile.write(body[:half])
        time.sleep(0.06)  # <P>
        self.wfile.write(body[half:])

    def log_message(self, fmt, *args):
        return


class Server(ThreadingMixIn, TCPServer):
    daemon_threads = True
    request_queue_size = 64


def serve(sock_port):
    with Server(("127.0.0.1", 0), Bucket) as s:
        sock_port.put(s.server_address[1])
        s.serve_forever()


class Downloader:
    def __init__(self, port: int, connections: int = 4):
        self.port = port
        self.n = connections
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="downloader", daemon=True)
        self.thread.start()

    def _run(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    async def _get(self, reader, writer, key) -> bytes:
        writer.write(f"GET /bucket/{key} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await writer.drain()
        head = await reader.readuntil(b"\r\n\r\n")  # <P>
        size = next(int(h.split(b":")[1]) for h in head.split(b"\r\n") if h.lower().startswith(b"content-length"))
        return await reader.readexactly(size)  # <P>

    async def _lane(self, keys):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            return [await self._get(reader, writer, k) for k in keys]  # <P>
        finally:
            writer.close()
            await writer.wait_closed()

    async def batch(self, keys):
        lanes = await asyncio.gather(*(self._lane(keys[i::self.n]) for i in range(self.n)))  # <P>
        raw = b"".join(b for lane in lanes for b in lane)
        arr = np.frombuffer(raw, np.uint8).reshape(len(keys), 3, SIDE, SIDE)
        return torch.from_numpy(arr.astype(np.float32) / 255.0)

    def submit(self, keys):
        return asyncio.run_coroutine_threadsafe(self.batch(keys), self.loop)

    def stop(self):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()


def train_loop(dl: Downloader, steps: int):
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, 2, 1), torch.nn.GELU(),
        torch.nn.Conv2d(32, 64, 3, 2, 1), torch.nn.GELU(),
        torch.nn.Flatten(), torch.nn.Linear(64 * 8 * 8, 100)).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    rnd = random.Random(0)

    def keys():
        return [rnd.randrange(10 ** 6) for _ in range(32)]

    stalled = 0.0
    began = time.perf_counter()
    ahead = dl.submit(keys())
    for step in range(steps):
        future, ahead = ahead, dl.submit(keys())
        mark = time.perf_counter()
        images = future.result()  # <W>
        stalled += time.perf_counter() - mark
        target = torch.tensor([rnd.randrange(100) for _ in images]).cuda()
        for _ in range(2):      # two gradient steps per downloaded batch
            opt.zero_grad()
            torch.nn.functional.cross_entropy(net(images.cuda()), target).backward()
            opt.step()
        if step % 5 == 0:
            torch.cuda.synchronize()
            print("step", step, "%.2f s" % (time.perf_counter() - began), flush=True)
    ahead.cancel()
    wall = time.perf_counter() - began
    print("wall", round(wall, 1), "stalled", round(stalled, 1), "share", round(stalled / wall, 2))


if __name__ == "__main__":
    ctx = multiprocessing.get_context("fork")
    ports = ctx.SimpleQueue()
    srv = ctx.Process(target=serve, args=(ports,), daemon=True)
    srv.start()
    dl = Downloader(ports.get())
    try:
        train_loop(dl, steps=52)
    finally:
        dl.stop()
        srv.terminate()
        srv.join()
