# truth: not input
# cause: network
# who waits: LINE-MARKER W
import http.client
import json
import multiprocessing as mp
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class TrackingHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        n = int(self.headers["Content-Length"])
        rec = json.loads(self.rfile.read(n))
        time.sleep(0.11 + 0.02 * (rec["step"] % 3))  # <P>
        body = b'{"ok": true}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


def tracking_server(port_pipe):
    srv = ThreadingHTTPServer(("127.0.0.1", 0), TrackingHandler)
    srv.daemon_threads = True
    port_pipe.send(srv.server_address[1])
    srv.serve_forever()


class Run:
    """A little experiment-tracking client: run.log({...}) per step."""

    def __init__(self, port, project):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.project = project
        self.seconds = 0.0

    def log(self, step, **metrics):
        t = time.perf_counter()
        body = json.dumps({"project": self.project, "step": step, "metrics": metrics})
        self.http.request("POST", "/api/runs/1/log", body, {"Content-Type": "application/json"})
        resp = self.http.getresponse()  # <W> <P>
        resp.read()
        self.seconds += time.perf_counter() - t
        if resp.status != 200:
            raise RuntimeError(f"tracking server said {resp.status}")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.http.close()


def train(port):
    import torch
    import torch.nn as nn

    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    ).cuda()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 110)
    crit = nn.CrossEntropyLoss()
    images = torch.randn(512, 3, 32, 32).cuda()
    labels = torch.randint(0, 10, (512,)).cuda()

    start = time.perf_counter()
    with Run(port, "cifar-ish") as run:
        for step in range(110):
            sel = torch.arange(32, device="cuda") + (step * 32) % 480
            out = net(images[sel])
            loss = crit(out, labels[sel])
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            run.log(step, loss=loss.item(), lr=sched.get_last_lr()[0])  # <W>
            if step % 20 == 19:
                print("step", step + 1, "lr", round(sched.get_last_lr()[0], 4), flush=True)
        span = time.perf_counter() - start
        print(f"finished: {span:.1f}s, log() {run.seconds:.1f}s, {100 * run.seconds / span:.0f}%")


if __name__ == "__main__":
    ctx = mp.get_context("fork")
    here, there = ctx.Pipe()
    server = ctx.Process(target=tracking_server, args=(there,), daemon=True)
    server.start()
    try:
        train(here.recv())
    finally:
        server.terminate()
        server.join()
