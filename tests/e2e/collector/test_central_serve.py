# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""What a central collector shows, and to whom: metrics, lists, reports and pages behind tokens;
hostile labels; programs that fail, hang or pile up; slow and greedy clients; settings read again."""
import ctypes
import hashlib
import html.parser
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import gs
import promtext
from central import TOKENS, Centre
from collector import BYE, PULSE, Frame, bin_dir, frame, hello, seeded, wait_for
from pulsing import S, Trainer

BIN = bin_dir()
DATA = os.path.join(gs.SOURCE, "tests", "data")
SHOWN = ("/", "/runs", "/metrics", "/v1/runs", "/v1/runs/none/summary", "/runs/none")
HOSTILE = {"a": "<script>pwned()</script>", "b": "'); DROP TABLE runs; --", "c": "$(reboot)`id`",
           "d\"<img src=x onerror=pwned()>": "\" onclick=pwned() '", "e": "\u202edesrever\u2028",
           "f": "%s%n\\u003c", "g": "x" * 5000, "h": "</title></table>\r\nSet-Cookie: a=b"}
with open(os.path.join(BIN, "gpustarve"), "rb") as program:
    SANITIZED = b"__asan_init" in program.read()
rng = seeded()


class place:
    """A folder for a test and what it makes there."""

    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix="gpustarve-serve-")
        return self.path

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def stored(c, run, token=TOKENS["alpha"]):
    s = rng.randbytes(16)
    status, acks, _ = c.post(hello(s, run), frame(s, 2, PULSE, body=b"x" * 100), frame(s, 3, BYE),
                             token=token)
    gs.check(status == 200 and acks == {s: 3}, ('status == 200 and acks == {s: 3}', acks))
    return s


def real(c, run):
    """A trace with events in it, from the tests' data, as a run."""
    folder = os.path.join(c.base, "alpha", run + ".gst")
    os.makedirs(folder)
    shutil.copy(os.path.join(DATA, "wire-v1.gst"), os.path.join(folder, "ab" * 16 + ".gst"))


def put(c, run, name, value, **kw):
    return c.ask("PUT", f"/v1/runs/{run}/files/{name}", json.dumps(value), **kw)[0]


def with_program(root, text):
    """A bin folder with the real collector and a `gpustarve` that is told."""
    folder = os.path.join(root, "bin")
    os.makedirs(folder)
    shutil.copy2(os.path.join(BIN, "gpustarve-collector"), folder)
    path = os.path.join(folder, "gpustarve")
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return folder


def ended(c, timeout=60):
    gs.equal(c.stop(timeout=timeout), 0, 'c.stop(timeout=timeout)')
    for token in TOKENS.values():
        gs.check(token not in c.log(), "a secret in the log")


def test_who_sees_what():
    with place() as root, Centre(BIN, root, https=False) as c:
        c.options.append("--verbose")
        stored(c, "mine")
        stored(c, "theirs", TOKENS["beta"])
        for path in SHOWN:
            status, headers, body = c.ask("GET", path, token=None)
            gs.check(status == 401 and headers["www-authenticate"].startswith("Basic"),
                     f'status == 401 and headers["www-authenticate"].startswith("Basic"): {(path, body)}')
            gs.equal(c.ask("GET", path, token="not-one-of-these-tokens")[0], 401,
                     'c.ask("GET", path, token="not-one-of-these-tokens")[0]')
            gs.equal(c.ask("GET", path + "?token=" + TOKENS["alpha"], token=None)[0], 401,
                     'c.ask("GET", path + "?token=" + TOKENS["alpha"], token=None)[0]')
        for path in "/runs/theirs", "/v1/runs/theirs/summary":
            gs.equal(c.ask("GET", path)[0], 404, 'c.ask("GET", path)[0]')
        for path in ("/runs/../beta/theirs", "/runs/..%2fbeta%2ftheirs", "/runs/%2e%2e", "/runs/..",
                     "/runs/.", "/runs/", "//", "/runs/theirs/../../../etc/passwd", "/runs/a%00b",
                     "/v1/runs/../../beta/theirs/summary", "/runs/" + "a" * 300, "/runs/a/b"):
            gs.equal(c.ask("GET", path)[0], 404, 'c.ask("GET", path)[0]')
        ids = {t: [r["id"] for r in json.loads(c.ask("GET", "/v1/runs", token=TOKENS[t])[2])["runs"]]
               for t in TOKENS}
        gs.equal(ids, {"alpha": ["mine"], "beta": ["theirs"], "reader": ["mine"]}, 'ids')
        for token, mine, other in (("alpha", b"mine", b"theirs"), ("beta", b"theirs", b"mine")):
            page = c.ask("GET", "/", token=TOKENS[token])[2]
            gs.check(mine in page and other not in page, 'mine in page and other not in page')
            gs.check(other not in c.ask("GET", "/metrics", token=TOKENS[token])[2],
                     'other not in c.ask("GET", "/metrics", token=TOKENS[token])[2]')
        gs.equal(c.ask("GET", "/healthz", token=None)[0], 200, 'c.ask("GET", "/healthz", token=None)[0]')
        for method in "POST", "PUT", "DELETE":
            gs.equal(c.ask(method, "/metrics")[0], 405, 'c.ask(method, "/metrics")[0]')
        gs.equal(c.ask("HEAD", "/v1/runs")[0], 200, 'c.ask("HEAD", "/v1/runs")[0]')
        ended(c)


class Page(html.parser.HTMLParser):
    """Which elements and attributes a page has."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.attributes = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_hostile_labels():
    with place() as root, Centre(BIN, root, https=False) as c:
        stored(c, "evil")
        gs.equal(put(c, "evil", "run.json", {"labels": HOSTILE, "id": "<b>"}), 200,
                 'put(c, "evil", "run.json", {"labels": HOSTILE, "id": "<b>"})')
        status, headers, body = c.ask("GET", "/v1/runs")
        gs.check(status == 200 and headers["content-type"] == "application/json",
                 'status == 200 and headers["content-type"] == "application/json"')
        gs.check(b"<" not in body and b"&" not in body, 'b"<" not in body and b"&" not in body')
        labels = json.loads(body)["runs"][0]["labels"]
        gs.equal(labels, {k: v[:255] for k, v in HOSTILE.items()}, 'labels')
        status, headers, body = c.ask("GET", "/")
        page = Page(body.decode())
        gs.check(not page.elements & {"script", "img", "style", "iframe"},
                 ('not page.elements & {"script", "img", "style", "iframe"}', page.elements))
        gs.check(page.attributes <= {"lang", "charset", "name", "content", "href", "scope"},
                 ('page.attributes <= {"lang", "charset", "name", "content", "href", "...', page.attributes))
        gs.check("set-cookie" not in headers, '"set-cookie" not in headers')
        gs.equal(headers["content-security-policy"], "default-src 'none'; frame-ancestors 'none'",
                 'headers["content-security-policy"]')
        for name in ("x-content-type-options", "cache-control", "referrer-policy"):
            gs.check(name in headers, 'name in headers')
        for text in ('{"labels":[]}', "[" * 100000, '{"labels":{"a":{}}}', "", "\0", '{"labels":'):
            gs.check(c.ask("PUT", "/v1/runs/evil/files/run.json", text)[0] in (200, 400),
                     'c.ask("PUT", "/v1/runs/evil/files/run.json", text)[0] in (200, 400)')
            gs.equal(json.loads(c.ask("GET", "/v1/runs")[2])["runs"][0]["labels"], {},
                     'json.loads(c.ask("GET", "/v1/runs")[2])["runs"][0]["labels"]')
        ended(c)


def test_pages_of_runs():
    with place() as root, Centre(BIN, root, https=False) as c:
        names = {"run-%d" % i for i in range(25)}
        for name in names:
            stored(c, name)
        seen, after, turns = [], "", 0
        while True:
            answer = json.loads(c.ask("GET", "/v1/runs?limit=7" + after)[2])
            gs.check(answer["total"] == 25 and len(answer["runs"]) <= 7,
                     'answer["total"] == 25 and len(answer["runs"]) <= 7')
            seen += [r["id"] for r in answer["runs"]]
            turns += 1
            if not answer["next"]:
                break
            after = "&after=" + answer["next"]
        gs.check(turns == 4 and len(seen) == 25 and set(seen) == names,
                 'turns == 4 and len(seen) == 25 and set(seen) == names')
        page = c.ask("GET", "/runs?limit=20")[2].decode()
        more = re.search(r'href="(/runs\?after=[^"]+)"', page)[1]
        rest = c.ask("GET", more)[2].decode()
        gs.equal(set(re.findall(r'href="/runs/(run-\d+)"', page + rest)), names,
                 'set(re.findall(r\'href="/runs/(run-\\d+)"\', page + rest))')
        gs.check("older ones" not in rest, '"older ones" not in rest')
        newest = [r["last_write_unix_ns"] for r in
                  json.loads(c.ask("GET", "/v1/runs?limit=1000")[2])["runs"]]
        gs.equal(newest, sorted(newest, reverse=True), 'newest')
        for query in ("limit=0", "limit=1001", "limit=x", "limit=-1", "limit=", "after=x", "after=1",
                      "after=1:" + "a" * 400, "after=99999999999999999999:a", "after=1:%2e", "after=:"):
            gs.equal(c.ask("GET", "/v1/runs?" + query)[0], 400, 'c.ask("GET", "/v1/runs?" + query)[0]')
        gs.equal(json.loads(c.ask("GET", "/v1/runs?after=0:z")[2])["runs"], [],
                 'json.loads(c.ask("GET", "/v1/runs?after=0:z")[2])["runs"]')
        ended(c)


def of_run(c, run):
    runs = json.loads(c.ask("GET", "/v1/runs?limit=1000")[2])["runs"]
    return next((r for r in runs if r["id"] == run), None)


def test_many_runs():
    """More than are looked at one by one: what changes by way of the collector shows at once."""
    with place() as root:
        folder = os.path.join(root, "centre", "alpha")
        for i in range(1100):
            os.makedirs(os.path.join(folder, f"r{i}.gst"))
            central.write(os.path.join(folder, f"r{i}.gst", "run.json"), "{}")
            central.grow_old(os.path.join(folder, f"r{i}.gst", "run.json"), (3 if i < 1050 else 40) * 86400)
        with Centre(BIN, root, https=False, options=["--verbose", "--keep", "30d"]) as c:
            wait_for(lambda: "runs are known" in c.log() and c.log().count("removed alpha ") == 50, 60)
            before = json.loads(c.ask("GET", "/v1/runs?limit=1")[2])
            gs.equal((before["total"], before["runs"][0]["open"]), (1050, False), before)
            stream = rng.randbytes(16)
            for seq, size in (2, 100), (3, 9000):
                gs.equal(c.post(*([hello(stream, "new")] if seq == 2 else []),
                                frame(stream, seq, body=b"x" * size))[0], 200, "stored")
                run = of_run(c, "new")
                gs.equal((run["streams"], run["trace_bytes"], run["open"]),
                         (1, os.path.getsize(c.path("new", stream)), True), run)
            gs.equal(c.post(frame(stream, 4, kind=BYE))[0], 200, "stored")
            wait_for(lambda: not of_run(c, "new")["open"], 30)
            gs.equal(put(c, "r7", "run.json", {"labels": {"a": "b"}}), 200, "stored")
            first = json.loads(c.ask("GET", "/v1/runs?limit=1")[2])
            gs.equal((first["total"], first["runs"][0]["id"], first["runs"][0]["labels"]),
                     (1051, "r7", {"a": "b"}), first)
            gs.equal(put(c, "side-alone", "run.json", {}), 200, "stored")
            gs.check(of_run(c, "side-alone"), "a run of a side file alone")
            gs.equal(len(c.names()), 1052, "runs on disk")
            ended(c)


def test_metrics():
    with place() as root, Centre(BIN, root, https=False, options=["--limit", "quota=1G"]) as c:
        stored(c, "one")
        status, headers, body = c.ask("GET", "/metrics")
        gs.check(status == 200 and headers["content-type"].startswith("text/plain; version=0.0.4"),
                 'status == 200 and headers["content-type"].startswith("text/plain; v...')
        values = dict(line.rsplit(" ", 1) for line in body.decode().splitlines() if line[0] != "#")
        gs.equal(values["gpustarve_collector_frames_total"], "3", 'values["gpustarve_collector_frames_total"]')
        gs.check(int(values["gpustarve_collector_commits_total"]) >= 1,
                 'int(values["gpustarve_collector_commits_total"]) >= 1')
        gs.equal(values["gpustarve_collector_commit_seconds_count"], values["gpustarve_collector_commits_total"],
                 'values["gpustarve_collector_commit_seconds_count"]')
        gs.equal(values['gpustarve_collector_limit{name="quota"}'], str(1 << 30),
                 'values[\'gpustarve_collector_limit{name="quota"}\']')
        promtext.check(body.decode())
        with open(os.path.join(gs.SOURCE, "collector", "core", "counters.h")) as f:
            counters = re.findall(r"X\((\w+), \"", f.read())
        gs.check(len(counters) > 30, 'len(counters) > 30')
        for name in counters:
            gs.check(f"gpustarve_collector_{name}_total" in values,
                     ('f"gpustarve_collector_{name}_total" in values', name))
        ended(c)


def of_runs(c, token="alpha"):
    """{metric: {run: value}} of the runs that go on, as text."""
    families = promtext.check(c.ask("GET", "/metrics", token=TOKENS[token])[2].decode())
    return {name[len("gpustarve_run_"):]: {dict(labels)["run"]: v for (_, labels), v in f.samples.items()}
            for name, f in families.items() if name.startswith("gpustarve_run_")}


def decimal(number, digits):
    """An integer of 10^-digits as a decimal."""
    return f"{number // 10**digits}.{number % 10**digits:0{digits}d}"


class Told(Trainer):
    """A process, and what its pulses say, kept in whole nanoseconds by docs/FORMAT.md."""

    def __init__(self, *args, **kw):
        super().__init__(*args, **kw)
        self.points, self.made, self.dropped = [], None, 0

    def pulse(self, seconds, busy, wait=0.0, dropped=0):
        out = super().pulse(seconds, busy, wait, dropped=dropped)
        self.made = self.made or Frame(out, 0).time_ns
        self.keep(seconds, busy, wait, dropped)
        return out

    def bye(self, seconds, busy, wait=0.0, dropped=0):
        self.keep(seconds, busy, wait, dropped)
        return super().bye(seconds, busy, wait, dropped)

    def keep(self, seconds, busy, wait, dropped):
        self.points.append((int(seconds * S), int(busy * S), int(wait * S)))
        self.dropped = dropped

    def held(self):
        """From the process's start, which its first pulse tells by when it was made."""
        return self.made - self.start + self.points[-1][0] - self.points[0][0]

    def share(self, which):
        """In millionths of the time between the first and the last pulse: 1 busy, 2 starved."""
        window = self.points[-1][0] - self.points[0][0]
        busy, wait = ((2 * 10**6 * (self.points[-1][i] - self.points[0][i]) + window) // (2 * window)
                      for i in (1, 2))
        return busy if which == 1 else min(wait, 10**6 - busy)


def expected(trainers, alive):
    held, busy = sum(t.held() for t in trainers), sum(t.points[-1][1] for t in trainers)
    starved = sum(min(t.points[-1][2], t.held() - t.points[-1][1]) for t in trainers)
    known = [t for t in alive if len(t.points) > 1]
    ratio = [decimal(sum(t.share(i) for t in known) // len(known), 6) if known else "NaN" for i in (1, 2)]
    return {"gpus": str(len(alive)), "busy_ratio": ratio[0], "starved_ratio": ratio[1],
            "held_gpu_seconds_total": decimal(held, 9), "busy_gpu_seconds_total": decimal(busy, 9),
            "starved_gpu_seconds_total": decimal(starved, 9),
            "dropped_events_total": str(sum(t.dropped for t in trainers))}


def shows(c, run, trainers, alive):
    """Within some seconds, for sums are made once in each, /metrics says what the pulses said."""
    want, got = expected(trainers, alive), {}

    def look():
        got.update({name: runs.get(run) for name, runs in of_runs(c).items()})
        return got == want
    try:
        wait_for(look, "what pulses say", 60)
    except TimeoutError:
        raise AssertionError((got, want)) from None


def test_metrics_of_runs():
    """While runs send pulses their metrics are what the pulses say, to the nanosecond."""
    with place() as root, Centre(BIN, root, https=False) as c:
        a, b = Told("live", ago=100, rank=0), Told("live", ago=90, rank=1)
        other = Told("other", ago=50)

        def said(*frames, **kw):
            gs.equal(c.post(*frames, **kw)[0], 200, 'c.post(*frames, **kw)[0]')
        said(a.hello(), a.pulse(1, 0.5, 0.25))
        shows(c, "live", [a], [a])  # one pulse tells no share
        said(a.pulse(2, 0.7, 0.9), b.hello(), b.pulse(1.5, 1.125), other.hello(), other.pulse(3, 3))
        shows(c, "live", [a, b], [a, b])
        said(a.pulse(5, 1.1, 3.3, dropped=7), b.pulse(4.000000001, 3.1, 0.123456789, dropped=2))
        shows(c, "live", [a, b], [a, b])
        shows(c, "other", [other], [other])
        said(a.pulse(9, 1.2, 9.0, dropped=11), b.bye(5, 3.5, 0.2, dropped=3))
        shows(c, "live", [a, b], [a])
        gs.check(all(not runs for runs in of_runs(c, "beta").values()), "another team's runs")
        ended(c)


def test_reports():
    """Of a real trace, by the real program; made once, and again when the trace grows."""
    with place() as root, Centre(BIN, root, https=False) as c:
        real(c, "real")
        status, headers, page = c.ask("GET", "/runs/real")
        gs.check(status == 200 and headers["content-type"] == "text/html; charset=utf-8",
                 ('status == 200 and headers["content-type"] == "text/html; charset=ut...', page))
        policy = headers["content-security-policy"]
        gs.check(policy.startswith("default-src 'none'; style-src 'sha256-"),
                 ('policy.startswith("default-src \'none\'; style-src \'sha256-")', policy))
        gs.check(policy.endswith("; frame-ancestors 'none'") and "unsafe" not in policy,
                 'policy.endswith("; frame-ancestors \'none\'") and "unsafe" not in policy')
        status, headers, body = c.ask("GET", "/v1/runs/real/summary")
        gs.check(status == 200 and headers["content-type"] == "application/json",
                 'status == 200 and headers["content-type"] == "application/json"')
        gs.check(json.loads(body)["schema"].startswith("gpustarve.summary/"),
                 'json.loads(body)["schema"].startswith("gpustarve.summary/")')
        made = [n for n in os.listdir(os.path.join(c.base, "alpha", "real.gst")) if n[0] == "."]
        gs.equal(len(made), 2, 'len(made)')
        inode = os.stat(os.path.join(c.base, "alpha", "real.gst", made[0])).st_ino
        gs.equal(c.ask("GET", "/runs/real")[2], page, 'c.ask("GET", "/runs/real")[2]')
        gs.equal(os.stat(os.path.join(c.base, "alpha", "real.gst", made[0])).st_ino, inode,
                 'os.stat(os.path.join(c.base, "alpha", "real.gst", made[0])).st_ino')
        os.utime(os.path.join(c.base, "alpha", "real.gst", made[0]), (1, 1))
        gs.equal(c.ask("GET", "/runs/real")[0], 200, 'c.ask("GET", "/runs/real")[0]')  # older than the trace, but made just now
        gs.equal(os.stat(os.path.join(c.base, "alpha", "real.gst", made[0])).st_ino, inode,
                 'os.stat(os.path.join(c.base, "alpha", "real.gst", made[0])).st_ino')
        stored(c, "broken")
        os.remove(os.path.join(c.base, "alpha", "broken.gst",
                               os.listdir(os.path.join(c.base, "alpha", "broken.gst"))[0]))
        gs.check(c.ask("GET", "/runs/broken")[0] in (404, 500, 200),
                 'c.ask("GET", "/runs/broken")[0] in (404, 500, 200)')
        ended(c)


def later(c, path):
    """A request that is on its way."""
    s = socket.create_connection(("127.0.0.1", c.port), timeout=60)
    s.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKENS['alpha']}\r\n\r\n"
              .encode())
    return s


def status_of(s):
    got = b""
    while b"\r\n" not in got:
        more = s.recv(4096)
        if not more:
            break
        got += more
    return int(got.split()[1]) if got else 0


class Opened:
    """Which files of a folder were opened since it was last asked."""

    def __init__(self, folder):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.fd = self.libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        gs.check(self.libc.inotify_add_watch(self.fd, os.fsencode(folder), 0x20) > 0, "IN_OPEN")

    def names(self):
        try:
            data, out = os.read(self.fd, 1 << 16), []
        except BlockingIOError:
            return []
        while data:
            length = int.from_bytes(data[12:16], "little")
            out.append(data[16:16 + length].rstrip(b"\0").decode())
            data = data[16 + length:]
        return out


def test_nothing_that_a_trace_names_is_opened():
    """Neither the program's own lines nor modules, though the trace says that it is of this host. By hand
    the same run's own lines are looked for."""
    with place() as root, Centre(BIN, root, https=False) as c:
        mine = os.path.join(root, "mine")
        os.mkdir(mine)
        script = central.write(os.path.join(mine, "train.py"), "loader = DataLoader(d)\n")
        central.grow_old(script)
        real(c, "named")
        run = os.path.join(c.base, "alpha", "named.gst")
        central.write(os.path.join(run, "run.json"),
                      json.dumps({"run_id": "named", "host": socket.gethostname(), "command": ["python", script]}))
        opened = Opened(mine)
        for path in "/runs/named", "/v1/runs/named/summary":
            gs.equal(c.ask("GET", path)[0], 200, path)
        gs.equal(opened.names(), [], "opened at the centre")
        done = gs.command([os.path.join(BIN, "gpustarve"), "report", run, "--format", "markdown"])
        gs.equal((done.returncode, opened.names()[:1]), (0, ["train.py"]), done.stderr)
        beyond_the_run(run, mine)


def beyond_the_run(run, mine):
    """Whatever a trace may bring such a report to do: beside its run it can open no file of anybody's."""
    stream = next(n for n in os.listdir(run) if n.endswith(".gst"))
    os.rename(os.path.join(run, stream), os.path.join(mine, stream))
    os.symlink(os.path.join(mine, stream), os.path.join(run, stream))
    argv = [os.path.join(BIN, "gpustarve"), "report", run, "--format", "json"]
    gs.equal(gs.command(argv).returncode, 0, "the file that lies elsewhere is found by hand")
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1 or SANITIZED:
        gs.left_out("no Landlock here")
        return
    done = gs.command(argv, env=gs.environment(GPUSTARVE_LOCAL_FILES="0"))
    gs.check(done.returncode, ("it was opened", done.stdout[:200]))


def test_programs():
    """One child per page, two of a team at a time, a bounded queue; failures are told; a slow one ends with us."""
    with place() as root:
        count = os.path.join(root, "count")
        folder = with_program(root, f'echo "$2" >>{count}\n'
                              'case "$2" in *fail*) echo "secret path /srv/x" >&2; exit 1;; esac\n'
                              f'while [ -e {root}/hold ]; do sleep 0.1; done\n'
                              'for o; do :; done\necho "<p>made</p>" >"$o"\n')
        hold = os.path.join(root, "hold")
        open(hold, "w").close()
        with Centre(folder, root, https=False, options=["--limit", "reports=3"]) as c:
            for name in ["fail"] + ["r%d" % i for i in range(8)]:
                stored(c, name)
            status, _, body = c.ask("GET", "/runs/fail")
            gs.check(status == 500 and b"secret" not in body, ('status == 500 and b"secret" not in body', body))
            gs.check("secret path" in c.log(), '"secret path" in c.log()')
            waiting = [later(c, "/runs/r0") for _ in range(5)]  # one child for five
            wait_for(lambda: open(count).read().count("r0.gst") == 1, "a child", timeout=60)
            waiting += [later(c, f"/runs/r{i}") for i in range(1, 5)]
            wait_for(lambda: b"waiting_reports 3\n" in c.ask("GET", "/metrics")[2], "a queue", 60)
            status, headers, _ = c.ask("GET", "/runs/r5")
            gs.check(status == 503 and headers["retry-after"] == "10",
                     'status == 503 and headers["retry-after"] == "10"')
            os.remove(hold)
            gs.equal([status_of(s) for s in waiting], [200] * len(waiting), '[status_of(s) for s in waiting]')
            with open(count) as f:
                gs.equal(f.read().count("r0.gst"), 1, 'f.read().count("r0.gst")')
            for s in waiting:
                s.close()
            open(hold, "w").close()
            s = later(c, "/runs/r6")
            wait_for(lambda: "r6.gst" in open(count).read(), "a child", timeout=60)
            begin = time.monotonic()
            c.process.terminate()
            gs.equal(status_of(s), 503, "a request in flight is answered")
            gs.check(c.process.wait(60) == 0 and time.monotonic() - begin < 60,
                     'c.process.wait(60) == 0 and time.monotonic() - begin < 60')
            s.close()


def test_reports_of_others():
    """A team whose reports hang, and fill what there is of the queue for one, keeps nobody else's back."""
    with place() as root:
        folder = with_program(root, 'case "$2" in */alpha/*) exec sleep 600;; esac\n'
                              'for o; do :; done\necho "<p>made</p>" >"$o"\n')
        with Centre(folder, root, https=False, options=["--limit", "reports=8"]) as c:
            for i in range(12):
                stored(c, f"a{i}")
            stored(c, "b", token=TOKENS["beta"])
            waiting = [later(c, f"/runs/a{i}") for i in range(8)]
            wait_for(lambda: b"waiting_reports 6\n" in c.ask("GET", "/metrics")[2], "a queue", 60)
            gs.equal(c.ask("GET", "/runs/a9")[0], 503, "no more of one team")
            gs.equal(c.ask("GET", "/runs/b", token=TOKENS["beta"])[0], 200, "another team's")
            for s in waiting:
                s.close()


def half_hello(context):
    """What a client says first in TLS."""
    out = ssl.MemoryBIO()
    try:
        context.wrap_bio(ssl.MemoryBIO(), out, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        return out.read()


class Slow:
    """A client that says a first thing, and then a byte at a time."""

    def __init__(self, c, first, rest=b"", tls=False):
        self.begin, self.rest, self.took = time.monotonic(), rest, None
        self.sock = socket.create_connection(("127.0.0.1", c.port), timeout=90)
        if tls:
            self.sock = c.context().wrap_socket(self.sock, server_hostname="127.0.0.1")
        self.sock.sendall(first)

    def go_on(self):
        """True: it is still connected."""
        try:
            self.sock.send(self.rest[:1])
            self.rest = self.rest[1:]
            self.sock.settimeout(0.02)
            if self.sock.recv(100):
                return True
        except TimeoutError:
            return True
        except OSError:
            pass
        self.took = time.monotonic() - self.begin
        self.sock.close()
        return False


def slow_clients(https, idle=300):
    """With --silence 2: 4 s without a word, 6 s for headers, 2 s and then 1 KiB/s for a body. It may take this test
    seconds to say the next byte to each."""
    with place() as root, Centre(BIN, root, https=https, options=["--silence", "2"]) as c:
        head = f"POST /v1/frames HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKENS['alpha']}\r\n"
        body = (head + "Content-Length: 1000000\r\n\r\n").encode()
        more = b"x" * 1000
        slow = {"nothing": (Slow(c, b""), 4), "body": (Slow(c, body, more, https), 2),
                "header": (Slow(c, b"GET / HT", more, https), 6),
                "headers": (Slow(c, b"GET / HTTP/1.1\r\nA: b\r\n", more, https), 6)}
        if https:
            said = half_hello(c.context())
            gs.check(len(said) > 200, 'len(said) > 200')  # at a byte each time it lasts longer than we wait
            slow["handshake"] = Slow(c, said[:5], said[5:]), 4
        idle = [socket.create_connection(("127.0.0.1", c.port)) for _ in range(idle)]
        open_ones, deadline = dict(slow), time.monotonic() + 90
        while open_ones and time.monotonic() < deadline:
            open_ones = {n: s for n, s in open_ones.items() if s[0].go_on()}
            gs.equal(c.ask("GET", "/healthz")[0], 200, "others are served meanwhile")
            time.sleep(0.2)
        gs.check(not open_ones, ('not open_ones', open_ones.keys()))
        for name, (client, least) in slow.items():
            gs.check(client.took >= least, f'client.took >= least: {(name, client.took)}')
        for s in idle:
            s.settimeout(90)
            try:
                while s.recv(100):  # with TLS it says that it closes
                    pass
            except ConnectionResetError:
                pass
            s.close()
        ended(c)
        counters = c.counters()
        gs.equal(counters["http_mute"], len(slow) - 1 + len(idle), 'counters["http_mute"]')  # but for the body
        gs.check(counters["http_slow"] >= 1, ('counters["http_slow"] >= 1', counters))


def test_slow_clients():
    """Slow handshakes, headers and bodies, and many that say nothing: closed, counted; others are
    served meanwhile, with and without TLS."""
    gs.side_by_side([lambda: slow_clients(False), lambda: slow_clients(True, 50)])


def test_too_large():
    with place() as root, Centre(BIN, root, https=False) as c:
        for request in (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: " + b"a" * 200000 + b"\r\n\r\n",
                        b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
                        b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 20000 + b"\r\n",
                        rng.randbytes(100000)):
            s = socket.create_connection(("127.0.0.1", c.port), timeout=90)
            try:
                s.sendall(request)
                gs.check(status_of(s) in (0, 400, 404, 413, 414, 431), 'status_of(s) in (0, 400, 404, 413, 414, 431)')
            except (BrokenPipeError, ConnectionResetError):
                pass
            s.close()
        for path in "/v1/runs/x/files/run.json", "/v1/frames":
            gs.equal(c.ask("PUT" if "files" in path else "POST", path,
                         headers={"Content-Length": str(1 << 40)})[0], 413, 'c.ask("PUT" if "files" in path else "POST", path, headers={"Content...')
        s = later(c, "/runs/x")
        s.close()
        ended(c)


def test_limits():
    """Rates, streams and quotas hold for what comes by HTTP, too."""
    with place() as root:
        path = central.write(os.path.join(root, "limits"), "rate 100K\nstreams 3\n")
        with Centre(BIN, root, https=False, options=["--limits", path]) as c:
            for i in range(3):
                stored(c, "r%d" % i)
            s = rng.randbytes(16)
            status, text, headers = c.post(hello(s, "r3"))
            gs.check(status == 503 and "retry-after" in headers, ('status == 503 and "retry-after" in headers', text))
            big = rng.randbytes(16)
            central.write(path, "rate 100K\nteam-quota 2M\nstreams 20\n")
            c.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "limits: read again" in c.log(), "a reload", 60)
            gs.equal(c.post(hello(big, "big"), frame(big, 2, PULSE, body=b"z" * 1500000))[0], 200,
                     'c.post(hello(big, "big"), frame(big, 2, PULSE, body=b"z" * 1500000)...')
            status, _, headers = c.post(frame(big, 3, PULSE))
            gs.check(status == 429 and 1 <= int(headers["retry-after"]) <= 16,
                     ('status == 429 and 1 <= int(headers["retry-after"]) <= 16', status))
            central.write(path, "team-quota 2M\n")
            c.process.send_signal(signal.SIGHUP)
            wait_for(lambda: c.log().count("limits: read again") == 2, "a reload", 60)
            status, _, headers = c.post(frame(big, 3, PULSE, body=b"z" * 1500000))
            gs.check(status == 507 and "retry-after" in headers, 'status == 507 and "retry-after" in headers')
            gs.equal(put(c, "big", "run.json", {"x": "y" * 900000}), 507,
                     'put(c, "big", "run.json", {"x": "y" * 900000})')
            gs.equal(c.post(hello(s, "b"), token=TOKENS["beta"])[0], 200, "another team has room")
            gs.equal(c.ask("GET", "/healthz", token=None)[0], 503, "it says that it cannot store")
            gs.equal([f.seq for f in c.frames("big", big)], [1, 2], '[f.seq for f in c.frames("big", big)]')
            ended(c)
            gs.equal(c.log().count("limit team-quota is reached"), 1, 'c.log().count("limit team-quota is reached")')


def test_trouble_of_one():
    """A stream that cannot be stored is its team's alone: /healthz goes on, and so do others."""
    with place() as root, Centre(BIN, root, https=False) as c:
        stored(c, "good", token=TOKENS["beta"])
        s, folder = rng.randbytes(16), os.path.join(c.base, "beta", "bad.gst")
        os.mkdir(folder)
        os.symlink("/dev/null", os.path.join(folder, s.hex() + ".gst"))
        status, _, words = c.post(hello(s, "bad"), token=TOKENS["beta"])
        gs.equal(status, 503, words)
        gs.equal(c.ask("GET", "/healthz", token=None)[0], 200, "others are served")
        stored(c, "good", token=TOKENS["alpha"])
        gs.equal(c.stop(), 0, "c.stop()")
        gs.equal((c.counters()["store_errors"], "others are stored" in c.log()), (1, True), c.log())


def test_streams_of_a_team():
    """The nodes of a team send as one: what one client may feed is no limit of theirs."""
    limits = ["--limit", "client-streams=2", "--limit", "team-streams=5"]
    with place() as root, Centre(BIN, root, https=False, options=limits) as c:
        got = [c.post(hello(rng.randbytes(16), "wide"))[0] for _ in range(6)]
        gs.equal(got, [200] * 5 + [503], "six streams")
        gs.equal(c.post(hello(rng.randbytes(16), "wide"), token=TOKENS["beta"])[0], 200, "another team")
        gs.equal(c.ask("GET", "/healthz", token=None)[0], 200, "others are served")


def test_reload_of_tokens():
    with place() as root, Centre(BIN, root, https=False) as c:
        stored(c, "one")
        tokens = os.path.join(root, "tokens")
        central.write(tokens, "# nothing here\nbad line\n")
        c.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "line 2" in c.log(), "a refusal of the file", 60)
        gs.equal(c.ask("GET", "/v1/runs")[0], 200, "the old tokens hold")
        central.write(tokens, "a-new-token-of-alpha alpha read\n")
        c.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "tokens: read again" in c.log(), "a reload", 60)
        gs.equal(c.ask("GET", "/v1/runs")[0], 401, 'c.ask("GET", "/v1/runs")[0]')
        gs.equal(c.ask("GET", "/v1/runs", token="a-new-token-of-alpha")[0], 200,
                 'c.ask("GET", "/v1/runs", token="a-new-token-of-alpha")[0]')
        gs.equal(c.post(hello(rng.randbytes(16), "x"), token="a-new-token-of-alpha")[0], 403,
                 'c.post(hello(rng.randbytes(16), "x"), token="a-new-token-of-alpha")[0]')
        ended(c)
        gs.check("a-new-token" not in c.log() and "bad line" not in c.log().replace("a bad line", ""),
                 '"a-new-token" not in c.log() and "bad line" not in c.log().replace(...')


def visit(c, folder):
    """A connection on which a request was answered, by who holds that folder's authority and client
    certificate, and which certificate the server showed. Raises where they do not fit."""
    context = ssl.create_default_context(cafile=os.path.join(folder, "ca.pem"))
    context.load_cert_chain(os.path.join(folder, "client.pem"), os.path.join(folder, "client.key"))
    k = http.client.HTTPSConnection("127.0.0.1", c.port, timeout=60, context=context)
    healthy(k)
    shown = hashlib.sha256(k.sock.getpeercert(binary_form=True)).hexdigest()
    return k, shown


def healthy(k):
    k.request("GET", "/healthz")
    answer = k.getresponse()
    gs.check(answer.read() and answer.status == 200, ('answer.read() and answer.status == 200', answer.status))


def hash_of(folder):
    return central.fingerprint(folder, "server").replace(":", "").lower()


def install(folder, *names):
    """A folder's files in place of those that the collector reads, which lie in the one above."""
    for name in names:
        shutil.copy(os.path.join(folder, name), os.path.dirname(folder))


def test_reload_of_certificates():
    """New connections see what is new, those that are there go on; what is damaged is not taken."""
    with place() as root:
        old, new = os.path.join(root, "old"), os.path.join(root, "new")
        for folder in old, new:
            os.makedirs(folder)
            central.certificates(folder)
        install(old, "server.pem", "server.key", "ca.pem")
        demand = ["--client-ca", os.path.join(root, "ca.pem")]
        with Centre(BIN, root, options=demand) as c:
            before, shown = visit(c, old)
            gs.equal(shown, hash_of(old), 'shown')
            install(new, "server.pem", "server.key", "ca.pem")
            c.process.send_signal(signal.SIGHUP)
            wait_for(lambda: "certificates: read again" in c.log(), "a reload", 60)
            healthy(before)
            after, shown = visit(c, new)
            gs.equal(shown, hash_of(new), 'shown')
            try:  # its authority is not ours any more, nor is ours its
                visit(c, old)
                raise AssertionError("the old client certificate is still let in")
            except (ssl.SSLError, ConnectionError):
                pass
            bad = {"server.pem": (b"no certificate\n", b""), "server.key": (b"no key\n", None),
                   "ca.pem": (b"", b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")}
            refused = 0
            for name, texts in bad.items():
                for text in texts + (b"old",):
                    path = os.path.join(root, name)
                    if text is None:
                        os.remove(path)
                    elif text == b"old" and name != "ca.pem":  # whole, but not of the other file
                        install(old, name)
                    else:
                        with open(path, "wb") as f:
                            f.write(text)
                    c.process.send_signal(signal.SIGHUP)
                    refused += 1
                    wait_for(lambda: c.log().count("the earlier ones stay in use") == refused, name, 60)
                    k, shown = visit(c, new)
                    gs.equal(shown, hash_of(new), 'shown')
                    k.close()
                install(new, name)
            told = [line for line in c.log().splitlines() if "--cert" in line or "--key" in line or
                    "--client-ca" in line]
            gs.equal(len(told), refused, 'len(told)')
            c.process.send_signal(signal.SIGHUP)
            wait_for(lambda: c.log().count("certificates: read again") == 2, "a reload", 60)
            for k in before, after, visit(c, new)[0]:
                healthy(k)
                k.close()
            ended(c)
            gs.check("PRIVATE KEY" not in c.log(), '"PRIVATE KEY" not in c.log()')


def test_posts_again():
    """A replayed body stores nothing twice."""
    with place() as root, Centre(BIN, root, https=False) as c:
        s = rng.randbytes(16)
        body = [hello(s, "again"), *[frame(s, i, PULSE, body=rng.randbytes(50)) for i in range(2, 30)]]
        for _ in range(4):
            status, acks, _ = c.post(*body)
            gs.check(status == 200 and acks == {s: 29}, 'status == 200 and acks == {s: 29}')
        status, acks, _ = c.post(*body, token=TOKENS["beta"])
        gs.equal(status, 200, "another team's replay is its own run")
        gs.equal(c.seqs("again", s), list(range(1, 30)), 'c.seqs("again", s)')
        gs.equal(c.ask("POST", "/v1/frames", body[0], token=TOKENS["reader"])[0], 403,
                 'c.ask("POST", "/v1/frames", body[0], token=TOKENS["reader"])[0]')
        ended(c)
        gs.equal(c.counters()["duplicates"], 3 * 29, 'c.counters()["duplicates"]')


if __name__ == "__main__":
    gs.run_tests(globals())
