# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=1200
"""What a collector keeps: retention by age, label and size against a model of it, sweeps that are
killed, runs that are open, limits, settings read again, words to a service manager."""
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import units
from central import Centre, upstream
from collector import (BYE, PULSE, Collector, bin_dir, frame, hello, read_stream, seeded, wait_for)
from gst_reader import HELLO, crc32c
from gst_writer import field

BIN = bin_dir()
PROGRAM = os.path.join(BIN, "gpustarve-collector")
VERSION = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout.split()[1]
DAY = 86400
rng = seeded()


def sweep(base, *options, dry=False, **kw):
    p = subprocess.run([PROGRAM, "--dir", base, "--sweep", *(["--dry-run"] if dry else []), *options],
                       capture_output=True, text=True, timeout=120, **kw)
    gs.equal(p.returncode, 0, 'p.returncode')
    return p.stdout.splitlines()


def make_run(base, team, name, age_s, labels=None, size=5000, files=2):
    path = os.path.join(base, team, name + ".gst")
    os.makedirs(path)
    for i in range(files):
        with open(os.path.join(path, "%032x.gst" % rng.getrandbits(128)), "wb") as f:
            f.write(rng.randbytes(size))
    with open(os.path.join(path, "run.json"), "w") as f:
        json.dump({"labels": labels or {}, "exit_status": 0}, f)
    for entry in os.scandir(path):
        when = time.time() - age_s
        os.utime(entry, (when, when))
    return path


def disk(path):
    return sum(os.lstat(os.path.join(path, n)).st_blocks * 512 for n in os.listdir(path))


def runs_of(base):
    out = set()
    for folder, dirs, _ in os.walk(base):
        out |= {os.path.relpath(os.path.join(folder, d), base) for d in dirs if d.endswith(".gst")}
    return out


class Model:
    """What retention should do, told once more."""

    def __init__(self, runs, keep, rules, quota, team_quota):
        self.left = sorted(runs, key=lambda r: (-r["age"], r["name"]))
        self.keep, self.rules = keep, rules
        self.by_rules()
        for team in {r["team"] for r in runs}:
            self.make_room([r for r in self.left if r["team"] == team], team_quota)
        self.by_quota(quota)

    def keep_of(self, run):
        for key, value, span in self.rules:
            if run["labels"].get(key) == value:
                return span
        return self.keep

    def may_go(self, run):
        return run["age"] >= 600 and self.keep_of(run) != "forever"

    def by_rules(self):
        self.left = [r for r in self.left if not (
            self.may_go(r) and self.keep_of(r) and r["age"] > self.keep_of(r))]

    def make_room(self, runs, quota):
        used = sum(r["bytes"] for r in runs)
        if not quota or used <= quota:
            return
        for r in runs:
            if used > quota - quota // 10 and self.may_go(r):
                self.left.remove(r)
                used -= r["bytes"]

    def by_quota(self, quota):
        if not quota or sum(r["bytes"] for r in self.left) <= quota:
            return
        while sum(r["bytes"] for r in self.left) > quota - quota // 10:
            use = {}
            for r in self.left:
                use[r["team"]] = use.get(r["team"], 0) + r["bytes"]
            goers = [r for r in self.left if self.may_go(r)]
            if not goers:
                return
            most = max(use[r["team"]] for r in goers)
            self.left.remove(next(r for r in goers if use[r["team"]] == most))


def random_runs(base, count):
    runs = []
    for i in range(count):
        labels = rng.choice([{}, {"team": "x"}, {"team": "x:y", "keep": "yes"}, {"keep": "yes"},
                             {"team": "'; DROP TABLE runs; --"}, {"team": 7}])
        run = {"team": rng.choice(["", "red", "blue"]), "name": "r%d" % i, "labels": labels,
               "age": rng.choice([10, 300, 2 * DAY, 20 * DAY, 60 * DAY, 400 * DAY]) + i}
        path = make_run(base, run["team"], run["name"], run["age"], labels,
                        rng.choice([100, 9000, 70000]))
        run["bytes"] = disk(path)
        runs.append(run)
    return runs


def one_round(base):
    runs = random_runs(base, rng.randrange(1, 30))
    total = sum(r["bytes"] for r in runs)
    keep = rng.choice([0, 30 * DAY, "forever"])
    rules = [r for r in [("team", "x", 90 * DAY), ("team", "x:y", 5 * DAY), ("keep", "yes", "forever")]
             if rng.random() < 0.7]
    quota, team_quota = rng.choice([0, total // 2, total * 2]), rng.choice([0, total // 5])
    options = ["--keep", keep if keep == "forever" else f"{keep}s"] if keep else []
    for key, value, span in rules:
        options += ["--keep-label", f"{key}={value}:{span if span == 'forever' else f'{span}s'}"]
    options += ["--quota", str(quota), "--limit", f"team-quota={team_quota}"]
    want = {os.path.join(r["team"], r["name"] + ".gst")
            for r in Model(runs, keep, rules, quota, team_quota).left}
    before = runs_of(base)
    told = sweep(base, *options, dry=True)
    gs.equal(runs_of(base), before, "a dry run removed something")
    gs.equal([line for line in sweep(base, *options) if not line.startswith("team")], [line for line in told if not line.startswith("team")],
             '[line for line in sweep(base, *options) if not line.startswith("tea...')
    gs.equal(runs_of(base), want, 'runs_of(base)')
    removed = {re.sub("^-/", "", "/".join(line.split()[1:3])) for line in told
               if line.startswith("removed ")}
    gs.equal(removed, before - want, 'removed')
    gs.check(not [n for _, d, f in os.walk(base) for n in d + f if n.startswith(".gone")],
             'not [n for _, d, f in os.walk(base) for n in d + f if n.startswith(...')


def test_against_model():
    for _ in range(25):
        with tempfile.TemporaryDirectory() as base:
            one_round(base)


def test_only_runs():
    """What is no run is left alone, and links lead nowhere."""
    with tempfile.TemporaryDirectory() as base, tempfile.TemporaryDirectory() as elsewhere:
        with open(os.path.join(elsewhere, "keep me"), "w") as f:
            f.write("please")
        os.symlink(elsewhere, os.path.join(base, "link.gst"))
        os.makedirs(os.path.join(base, "empty.gst"))
        os.makedirs(os.path.join(base, "c-1.job"))
        os.makedirs(os.path.join(base, "results", "old"))
        with open(os.path.join(base, "results", "old", "run.json"), "w") as f:
            f.write("{}")
        run = make_run(base, "", "run", 90 * DAY)
        os.symlink(elsewhere, os.path.join(run, "inner"))
        os.makedirs(os.path.join(run, "sub", "sub"))
        bad = make_run(base, "", "bad", 90 * DAY)
        for text in (b"", b"[" * 500000, b'{"labels":' * 60, b'{"labels":{"team":"x"}}\0',
                     b'{"labels":[1]}', b'{"labels":{"team":null}}', b"\xff\xfe"):
            with open(os.path.join(bad, "run.json"), "wb") as f:
                f.write(text)
            sweep(base, "--keep", "1y", "--keep-label", "team=x:1d")
            gs.check(os.path.exists(bad), ('os.path.exists(bad)', text[:20]))
        os.utime(os.path.join(bad, "run.json"), (1, 1))
        sweep(base, "--keep", "30d")
        gs.equal(sorted(os.listdir(base)), [".sweep-clock", "c-1.job", "empty.gst", "link.gst", "results"], 'sorted(os.listdir(base))')
        gs.equal(os.listdir(elsewhere), ["keep me"], 'os.listdir(elsewhere)')
        gs.equal(os.listdir(os.path.join(base, "results", "old")), ["run.json"],
                 'os.listdir(os.path.join(base, "results", "old"))')


def test_killed_sweeps():
    """A run is there as a whole or not at all, whenever a sweep is killed."""
    killed = 0
    for _ in range(12):
        with tempfile.TemporaryDirectory() as base:
            for i in range(30):
                make_run(base, rng.choice(["", "red"]), "r%d" % i, 90 * DAY, size=1000, files=6)
            p = subprocess.Popen([PROGRAM, "--dir", base, "--sweep", "--keep", "30d"],
                                 stdout=subprocess.PIPE, text=True)
            left = rng.randrange(30)
            wait_for(lambda: len(runs_of(base)) <= left or p.poll() is not None, "a sweep")
            p.kill()
            killed += p.wait() == -signal.SIGKILL
            p.stdout.close()
            for run in runs_of(base):
                if not os.path.basename(run).startswith(".gone-"):
                    gs.equal(len(os.listdir(os.path.join(base, run))), 7, 'len(os.listdir(os.path.join(base, run)))')
            sweep(base)
            gs.check(not [d for d in runs_of(base) if os.path.basename(d).startswith(".gone-")],
                     'not [d for d in runs_of(base) if os.path.basename(d).startswith(".g...')
    print("sweeps killed amid their work:", killed)


def test_open_runs_stay():
    with Collector(BIN) as c:
        s = rng.randbytes(16)
        client = c.client()
        client.send(hello(s, "open"), frame(s, 2, PULSE, body=b"x" * 5000))
        client.wait_ack(s, 2)
        for run in ("open", "other"):
            if run == "other":
                make_run(c.base, "", run, 90 * DAY)
            folder = os.path.join(c.base, run + ".gst")
            for name in os.listdir(folder):
                os.utime(os.path.join(folder, name), (1, 1))
        told = sweep(c.base, "--keep", "30d", "--quota", "1")
        gs.check("kept - open.gst: it is being written" in told,
                 ('"kept - open.gst: it is being written" in told', told))
        gs.equal(runs_of(c.base), {"open.gst"}, 'runs_of(c.base)')
        client.send(frame(s, 3, BYE))
        client.wait_ack(s, 3)
        client.close()
        gs.equal(c.stop(), 0, 'c.stop()')
        gs.equal([f.seq for f in c.frames("open", s)], [1, 2, 3], '[f.seq for f in c.frames("open", s)]')
        os.utime(c.path("open", s), (1, 1))
        sweep(c.base, "--keep", "30d")
        gs.equal(runs_of(c.base), set(), 'runs_of(c.base)')


def cursor(run, *lines, first="gpustarve upstream 1\nto https://centre:1"):
    with open(os.path.join(run, ".upstream"), "w") as f:
        f.write("".join(line + "\n" for line in (first, *lines)))


def acknowledged(run):
    """Lines of a cursor by which the upstream has all of it."""
    lines = []
    for entry in os.scandir(run):
        st = entry.stat()
        if entry.name.endswith(".gst"):
            lines.append(f"frames {st.st_size} {entry.name}")
        elif entry.name[0] != ".":
            lines.append(f"side {st.st_mtime_ns} {st.st_size} {entry.name}")
    return lines


def test_unforwarded_stay():
    """Neither age nor a quota removes what the upstream does not have."""
    with tempfile.TemporaryDirectory() as base:
        runs = {name: make_run(base, "", name, 90 * DAY) for name in
                ("nothing", "less", "side", "damaged", "empty", "all", "forwarded", "never")}
        whole = {name: acknowledged(run) for name, run in runs.items()}
        cursor(runs["nothing"])
        cursor(runs["less"], *[line.replace("frames 5000", "frames 4999") for line in whole["less"]])
        cursor(runs["side"], *[line for line in whole["side"] if line.startswith("frames")])
        cursor(runs["damaged"], *whole["damaged"], first="something")
        open(os.path.join(runs["empty"], ".upstream"), "w").close()
        cursor(runs["all"], *whole["all"])
        cursor(runs["forwarded"], "forwarded")
        stay = {"nothing.gst", "less.gst", "side.gst", "damaged.gst", "empty.gst"}
        size = sum(disk(runs[name[:-4]]) for name in stay)
        for options in (["--keep", "30d"], ["--quota", "1"]):
            told = sweep(base, *options, dry=True)
            for name in stay:
                gs.check(f"kept - {name}: the upstream does not have all of it" in told,
                         ('f"kept - {name}: the upstream does not have all of it" in told', told))
            gs.check(f"waiting {len(stay)} {size}" in told,
                     f'f"waiting {{len(stay)}} {{size}}" in told: {(told, size)}')
            gs.equal(sum(line.startswith("removed ") for line in told), len(runs_of(base)) - len(stay),
                     'sum(line.startswith("removed ") for line in told)')
            sweep(base, *options)
            gs.equal(runs_of(base), stay, 'runs_of(base)')
        for name in stay:
            cursor(runs[name[:-4]], *whole[name[:-4]])
        sweep(base, "--keep", "30d")
        gs.equal(runs_of(base), set(), 'runs_of(base)')


def is_unlocked(path):
    """No collector has the stream open."""
    with open(path, "rb") as f:
        try:
            fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_upstream_away():
    """A node whose centre is away keeps what is too old for it; the centre gets it when it is back."""
    with tempfile.TemporaryDirectory() as root, Centre(BIN, root, https=False) as centre:
        centre.kill()
        with Collector(BIN, options=upstream(centre) + ["--keep", "30d", "--quota", "1M"]) as c:
            s = rng.randbytes(16)
            client = c.client()
            client.send(hello(s, "run"), frame(s, 2, PULSE, body=b"x" * 5000))
            client.wait_ack(s, 2)
            client.close()
            wait_for(lambda: is_unlocked(c.path("run", s)), "its end", 60)
            folder = os.path.join(c.base, "run.gst")
            for name in os.listdir(folder):
                os.utime(os.path.join(folder, name), (1, 1))
            reload(c)
            wait_for(lambda: said(c, "are to be removed, but the upstream does not have all of them") == 1,
                     "a line", 60)
            gs.equal([f.seq for f in c.frames("run", s)], [1, 2], '[f.seq for f in c.frames("run", s)]')
            gs.check(not counters(c).get("runs_removed"), 'not counters(c).get("runs_removed")')
            centre.start()
            wait_for(lambda: centre.seqs("run", s) == [1, 2], "the centre has it", 120)
            gs.equal(c.stop(), 0, 'c.stop()')


def pulses(path, started_s, held_s, name="GPU-1", run="r"):
    """A stream in the run at @path of a process that uses one GPU, with a large block before its last pulse."""
    s, host = rng.randbytes(16), b"node1"
    device = field(1, 0) + field(2, name.encode().ljust(16, b"-")) + field(3, "H100")
    first = (field(1, host) + field(2, 7) + field(3, started_s * 10**9) + field(11, device) + field(12, run))
    out = [frame(s, 1, HELLO, body=first)]
    for seq, at in (2, 1), (3, held_s):
        if seq == 3:
            out.append(frame(s, 9, 3, body=rng.randbytes(3 << 20)))
        body = field(1, (started_s + at) * 10**9) + field(3, field(1, 0) + field(2, 10**9) + field(3, 5))
        made = bytearray(frame(s, 10 * seq, PULSE, body=body))
        struct.pack_into("<q", made, 40, (started_s + at) * 10**9)
        struct.pack_into("<I", made, 60, crc32c(bytes(made[:60])))
        out.append(bytes(made))
    with open(os.path.join(path, s.hex() + ".gst"), "wb") as f:
        f.write(b"".join(out))


def unbilled(folder):
    try:
        with open(os.path.join(folder, "unbilled.jsonl")) as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return []


def digested(path):
    """As if its digest had been handed over."""
    mark = os.path.join(path, "digest.done")
    open(mark, "w").close()
    when = max(os.stat(e.path).st_mtime for e in os.scandir(path) if e.name.endswith((".gst", ".json")))
    os.utime(mark, (when + 1, when + 1))


def grow_old(path, age_s):
    for entry in os.scandir(path):
        os.utime(entry, (time.time() - age_s, time.time() - age_s))


def test_quota_takes_digested_first():
    """For a quota an undigested run goes when nothing else may, and leaves a line with its held time."""
    with tempfile.TemporaryDirectory() as base:
        old = make_run(base, "red", "old", 90 * DAY, files=0)
        began = int(time.time()) - 90 * DAY
        for start, held in (0, 5000), (1000, 3000), (4000, 2000):  # share the GPU
            pulses(old, began + start, held)
        pulses(old, began, 250, name="GPU-2")
        grow_old(old, 80 * DAY)
        mute = make_run(base, "red", "mute", 70 * DAY, size=3 << 20)
        open(os.path.join(mute, ".digest-row"), "w").close()
        parked = make_run(base, "red", "parked", 60 * DAY, size=3 << 20)
        newest = int(max(os.stat(e.path).st_mtime_ns for e in os.scandir(parked)))
        with open(os.path.join(parked, ".digest-tries"), "w") as f:
            f.write(f"gpustarve digest tries 1 {VERSION}\nattempts 8\nnext 1\ntrace {newest}\nerror no \"trace\"\n")
        billed = [make_run(base, "blue", f"billed{i}", (30 - i) * DAY, size=1 << 20) for i in range(3)]
        for path in billed:
            digested(path)
        total = sum(disk(p) for p in (old, mute, parked, *billed))
        quota = ["--store", "sqlite:x", "--quota"]
        told = sweep(base, *quota, str(total - 1000), dry=True)
        gs.equal([line.split()[2] for line in told if line.startswith("removed")], ["parked.gst"], told)
        gs.equal(unbilled(os.path.join(base, "red")), [], "a line of a dry run")
        told = sweep(base, *quota, str(disk(old) + disk(mute) + 1000))
        gone = [line.split()[2] for line in told if line.startswith("removed")]
        gs.equal(gone[:4], ["parked.gst", "billed0.gst", "billed1.gst", "billed2.gst"], told)
        gs.check("unbilled 2" in told, told)  # parked, and for the tenth that is made room for old
        gs.equal(gone[4:], ["old.gst"], told)
        told = sweep(base, *quota, "1")
        lines = unbilled(os.path.join(base, "red"))
        gs.equal([(n["run"], n["team"]) for n in lines], [("parked", "red"), ("old", "red"), ("mute", "red")], lines)
        gs.equal([n["provisional"] for n in lines], [False, False, True], lines)
        gs.equal(lines[0]["held_ns"], None, lines[0])
        gs.equal((lines[0]["digest_attempts"], lines[0]["digest_error"]), (8, 'no "trace"'), lines[0])
        gs.equal((lines[1]["held_ns"], lines[1]["gpus"]), (6250 * 10**9, 2), lines[1])
        gs.equal((lines[1]["files"], lines[1]["files_read"]), (4, 4), lines[1])
        gs.check(lines[1]["why"] == "the quota is used up" and lines[1]["bytes"] > 9 << 20, lines[1])
        gs.equal(unbilled(os.path.join(base, "blue")), [], "lines of billed runs")
        gs.equal(runs_of(base), set(), "what is left")


def test_unwritten_line_keeps_the_run():
    """A run whose line cannot be written stays."""
    with tempfile.TemporaryDirectory() as base:
        run = make_run(base, "red", "run", 60 * DAY)
        os.mkdir(os.path.join(base, "red", "unbilled.jsonl"))
        p = subprocess.run([PROGRAM, "--dir", base, "--sweep", "--store", "x:y", "--quota", "1"],
                           capture_output=True, text=True, timeout=120)
        gs.check("kept red run.gst" in p.stdout and p.returncode == 1, (p.stdout, p.stderr))
        gs.check(os.path.exists(run), "it is gone")


def test_free_floor():
    """Before the disk is full frames and files are refused with 507 and a time to come again, and what is
    there stays readable; with less of a floor they are taken."""
    with tempfile.TemporaryDirectory() as d:
        base, limits = os.path.join(d, "runs"), os.path.join(d, "limits")
        os.makedirs(base)
        mounted = os.getuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "none", base],
                                                      stderr=subprocess.DEVNULL).returncode == 0
        if not mounted:
            gs.left_out("only root may mount a file system")
            return
        try:
            with open(limits, "w") as f:
                f.write("free-floor 1M\n")
            with Centre(BIN, d, https=False, options=["--limits", limits], base=base) as c:
                s = rng.randbytes(16)
                gs.equal(c.post(hello(s, "run"))[0], 200, "the first")
                with open(os.path.join(base, "filler"), "wb") as f:
                    f.write(bytes((16 << 20) - (1 << 20) - 200000))
                wait_for(lambda: metrics(c).get("disk_spare_bytes", 1 << 30) < 300000, "a look at the disk", 60)
                status, text, headers = c.post(frame(s, 2, PULSE, body=bytes(500000)))
                gs.check(status == 507 and headers["retry-after"] == "10", (status, text, headers))
                status, _, _ = c.ask("PUT", "/v1/runs/run/files/run.json", json.dumps({"x": "y" * 500000}))
                gs.equal(status, 507, "a file")
                gs.check(os.statvfs(base).f_bavail * os.statvfs(base).f_frsize > 1 << 20, "the floor")
                gs.check(metrics(c)["limit_free_total"] >= 2, "counted")
                gs.check("limit free-floor is reached (1048576)" in c.log(), c.log())
                c.stop()
            with Centre(BIN, d, https=False, base=base) as c:  # by itself 64 MiB, of this disk an eighth
                wait_for(lambda: metrics(c).get("disk_spare_bytes", 1 << 30) == 0, "a look at the disk", 60)
                gs.equal(c.post(frame(s, 2, PULSE, body=bytes(5000)))[0], 507, "of a small disk")
                gs.check("limit free-floor is reached (2097152)" in c.log(), c.log())
                c.stop()
            with Centre(BIN, d, https=False, options=["--limits", limits], base=base) as c:
                with open(limits, "w") as f:
                    f.write("free-floor 0\n")
                c.process.send_signal(signal.SIGHUP)
                wait_for(lambda: c.post(frame(s, 2, PULSE, body=bytes(500000)))[0] == 200, "it is taken", 60)
                c.stop()
        finally:
            subprocess.run(["umount", "-l", base], check=True)


def boot():
    """Which one this is, and nanoseconds since it."""
    with open("/proc/sys/kernel/random/boot_id") as f:
        return f.read().strip(), time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def test_clock_jumps():
    """After a clock that went forward by more than time can have passed nothing is removed, neither by age
    nor for a quota, until it is right again or somebody says that it is."""
    this, since = boot()
    other = "00000000-0000-4000-8000-000000000000"
    now = time.time_ns()
    with tempfile.TemporaryDirectory() as base:
        runs = {"old.gst", "older.gst"}
        make_run(base, "", "old", 91 * DAY)
        make_run(base, "", "older", 100 * DAY)
        path = os.path.join(base, ".sweep-clock")

        def swept(real_ns, boot_ns, boot_id, *options):
            text = f"real {real_ns} boot {boot_ns} of {boot_id}\n"
            with open(path, "w") as f:
                f.write(text)
            told = sweep(base, *options)
            jumped = [int(line.split()[1]) for line in told if line.startswith("clock ")]
            with open(path) as f:
                kept = f.read() == text
            return jumped, kept, told

        day = DAY * 10**9
        for options in ("--keep", "90d"), ("--quota", "1"):
            for boot_ns, boot_id in (since, this), (5, other), (since + day, this):
                jumped, kept, told = swept(now - 91 * day, boot_ns, boot_id, *options)
                gs.equal(runs_of(base), runs, "runs after a jump")
                gs.check(kept and 90.9 * DAY < jumped[0] < 91.2 * DAY, (options, boot_id, told))
        for real_ns, boot_ns, boot_id in ((now - 6 * day, 5, other), (now - day // 2, since, this),
                                          (now + 50 * day, since, this), (now - 91 * day, since - 91 * day, this)):
            jumped, kept, told = swept(real_ns, boot_ns, boot_id, "--keep", "1y")
            gs.equal((jumped, kept), ([0], real_ns > now), told)
        os.remove(path)
        told = sweep(base, "--keep", "95d", dry=True)
        gs.check(not os.path.exists(path), "a dry run wrote the clock down")
        for text in (b"", b"real 1", b"real -5 boot 1 of x", b"real 99999999999999999999999 boot 1 of x", b"\xff" * 150,
                     b"real 1 boot 1 of " + b"x" * 5000):
            with open(path, "wb") as f:
                f.write(text)
            sweep(base, "--keep", "95d", dry=True)
        gs.equal(runs_of(base), runs, "runs")
        os.remove(path)
        gs.check("clock 0" in sweep(base, "--keep", "95d"), "no clock")
        gs.equal(runs_of(base), {"old.gst"}, "what is left")
        gs.equal([line for line in sweep(base, "--keep", "90d") if line.startswith("clock")], ["clock 0"], "a second sweep")
        gs.equal(runs_of(base), set(), "what is left")


def test_clock_jump_is_told():
    """A collector that serves says it in its log and in /metrics, and goes on serving."""
    with tempfile.TemporaryDirectory() as d:
        base = os.path.join(d, "runs")
        make_run(base, "alpha", "old", 91 * DAY)
        with open(os.path.join(base, ".sweep-clock"), "w") as f:
            f.write(f"real {time.time_ns() - 91 * DAY * 10**9} boot {boot()[1]} of {boot()[0]}\n")
        with Centre(BIN, d, https=False, options=["--keep", "90d"], base=base) as c:
            wait_for(lambda: metrics(c)["clock_jump_seconds"] > 90 * DAY, "a metric")
            gs.check("has jumped by 9" in c.log() and ".sweep-clock" in c.log(), c.log())
            gs.equal(runs_of(base), {"alpha/old.gst"}, "runs")
            os.remove(os.path.join(base, ".sweep-clock"))
            c.process.send_signal(signal.SIGHUP)
            wait_for(lambda: not runs_of(base), "its going")
            wait_for(lambda: metrics(c)["clock_jump_seconds"] == 0, "a metric")
            c.stop()


def alone(d, gpustarve=None):
    """A folder with the collector and, if there is one, this script in the place of gpustarve."""
    path = os.path.join(d, "bin")
    os.makedirs(path)
    shutil.copy2(PROGRAM, path)
    if gpustarve:
        with open(os.path.join(path, "gpustarve"), "w") as f:
            f.write("#!/bin/sh\n" + gpustarve)
        os.chmod(os.path.join(path, "gpustarve"), 0o755)
    return path


def metrics(centre):
    """The collector's own, without labels."""
    text = centre.ask("GET", "/metrics")[2].decode()
    return {m[1]: float(m[2]) for m in re.finditer(r"^gpustarve_collector_(\w+) (\S+)$", text, re.M)}


def test_long_sweep():
    """The sums come through however much a sweep has to say before them: here 5 MB."""
    count, name = 9000, "r%05d-" + "x" * 230
    with tempfile.TemporaryDirectory() as d:
        for i in range(count):
            path = os.path.join(d, "runs", "alpha", name % i + ".gst")
            os.makedirs(path)
            with open(os.path.join(path, "%032x.gst" % i), "wb") as f:
                f.write(b"x")
        options = ["--store", "sqlite:x", "--limit", "team-quota=1", "--limit", "digest-after=0s"]
        with Centre(alone(d), d, https=False, options=options, base=os.path.join(d, "runs")) as centre:
            wait_for(lambda: metrics(centre).get("team_disk_runs") == count, "the sums of a sweep", 120)
            centre.stop()


def counters(c):
    """By SIGUSR1, from what it logs. They are complete when the next ones begin."""
    at = len(c.errors())
    for n in 1, 2:
        c.process.send_signal(signal.SIGUSR1)
        wait_for(lambda n=n: c.errors().count("status: ", at) == n, "counters")
    told = c.errors()[at:].split("status: ")[1]
    return {m[1]: int(m[2]) for m in re.finditer(r"^gpustarve: collector: ([a-z_]+) +(\d+)  ", told, re.M)}


def limits_file(c, text):
    path = os.path.join(c.root, "limits")
    with open(path, "w") as f:
        f.write(text)
    return path


def reload(c):
    before = counters(c).get("reloads", 0)
    c.process.send_signal(signal.SIGHUP)
    wait_for(lambda: counters(c).get("reloads", 0) > before, "a reload")


def said(c, words):
    return sum(words in line for line in c.errors().splitlines())


def test_reload():
    root = tempfile.mkdtemp(prefix="gpustarve-keep-")
    path = os.path.join(root, "limits")
    with open(path, "w") as f:
        f.write("# what one may\nruns 1\n\nclient-streams\t2 # of them\n")
    with Collector(BIN, root=root, options=["--limits", path, "--limit", "streams=50"]) as c:
        one, two, three = rng.randbytes(16), rng.randbytes(16), rng.randbytes(16)
        client = c.client()
        client.send(hello(one, "one"))
        client.wait_ack(one, 1)
        for _ in range(3):  # a second run: refused, counted, logged once
            other = c.client()
            other.send(hello(two, "two"))
            other.wait_closed()
        gs.check(not os.path.exists(os.path.join(c.base, "two.gst")),
                 'not os.path.exists(os.path.join(c.base, "two.gst"))')
        gs.equal(counters(c)["limit_runs"], 3, 'counters(c)["limit_runs"]')
        gs.equal(said(c, "limit runs is reached (1)"), 1, 'said(c, "limit runs is reached (1)")')
        limits_file(c, "runs 1\nclient-streams two\n")
        reload(c)
        gs.equal(said(c, "limits, line 2: not a number"), 1, 'said(c, "limits, line 2: not a number")')
        other = c.client()
        other.send(hello(two, "two"))
        other.wait_closed()
        limits_file(c, "runs 2\nclient-streams 2\n")
        reload(c)
        other = c.client()
        other.send(hello(two, "two"), hello(three, "two"))
        other.wait_ack(two, 1)
        other.wait_ack(three, 1)
        other.send(hello(rng.randbytes(16), "two"))  # a third stream of one client
        other.wait_closed()
        gs.equal(counters(c)["limit_streams"], 1, 'counters(c)["limit_streams"]')
        gs.equal(c.stop(), 0, 'c.stop()')
    shutil.rmtree(root)


def test_bad_limits():
    with tempfile.TemporaryDirectory() as d:
        for text in ("quota\n", "quota 1 2\n", "quota -1\n", "quota 99999999999T\n", "keep 30\n",
                     "keep-label x:3d\n", "keep-label =x:3d\n", "nonsense 1\n", "runs 1\0\n"):
            with open(os.path.join(d, "l"), "w") as f:
                f.write("# ok\n" + text)
            p = subprocess.run([PROGRAM, "--unix", os.path.join(d, "s"), "--dir", d + "/r", "--limits",
                                os.path.join(d, "l")], capture_output=True, text=True, timeout=60)
            gs.check(p.returncode == 1 and len(p.stderr.splitlines()) == 1,
                     f'p.returncode == 1 and len(p.stderr.splitlines()) == 1: {(text, p)}')
        for option in (["--limit", "quota"], ["--limit", "=1"], ["--keep", "x"], ["--quota", "1Q"],
                       ["--keep-label", "a=b"], ["--limits", "/nowhere/at/all"], ["--dry-run"]):
            p = subprocess.run([PROGRAM, "--unix", os.path.join(d, "s"), "--dir", d + "/r", *option],
                               capture_output=True, text=True, timeout=60)
            gs.check(p.returncode == 1 and len(p.stderr.splitlines()) == 1,
                     f'p.returncode == 1 and len(p.stderr.splitlines()) == 1: {(option, p)}')


def test_quota():
    """Over the quota frames are refused to the byte; a sweep makes room, and then they are taken."""
    root = tempfile.mkdtemp(prefix="gpustarve-keep-")
    path = os.path.join(root, "limits")
    with open(path, "w") as f:
        f.write("quota 400K\nstream-size 300K\n")
    old = make_run(os.path.join(root, "runs"), "", "old", 90 * DAY, size=150000)
    with Collector(BIN, root=root, options=["--limits", path]) as c:
        reload(c)  # its first sweep is through, or is asked for again
        wait_for(lambda: not counters(c).get("runs_removed") and os.path.exists(old), "a sweep")
        s = rng.randbytes(16)
        client = c.client()
        client.send(hello(s, "new"))
        client.wait_ack(s, 1)
        for seq in range(2, 10):
            client.send(frame(s, seq, PULSE, body=rng.randbytes(50000)))
            try:
                client.wait_ack(s, seq)
            except ConnectionError:
                break
        stored = c.frames("new", s)
        gs.equal(client.acked(s), stored[-1].seq, 'client.acked(s)')
        got = counters(c)
        gs.equal(got.get("limit_quota", 0) + got.get("limit_size", 0), 1,
                 'got.get("limit_quota", 0) + got.get("limit_size", 0)')
        gs.check(sum(f.bytes for f in stored) <= 300 << 10, 'sum(f.bytes for f in stored) <= 300 << 10')
        wait_for(lambda: not os.path.exists(old), "room", timeout=60)
        wait_for(lambda: counters(c).get("runs_removed") == 1, "its count")
        client = c.client()
        sent = stored[-1].seq
        wait_for(lambda: counters(c).get("bytes_removed", 0) > 0, "bytes")
        client.send(frame(s, sent + 1, PULSE, body=b"y" * 1000))
        client.wait_ack(s, sent + 1)
        gs.equal(said(c, "removed - old.gst"), 1, 'said(c, "removed - old.gst")')
        gs.equal(c.stop(), 0, 'c.stop()')
    shutil.rmtree(root)


def test_rate():
    """Who sends too fast is read more slowly; everything arrives."""
    with Collector(BIN, options=["--limit", "client-rate=500K", "--limit", "rate=2M"]) as c:
        s = rng.randbytes(16)
        client = c.client(timeout=120)
        # Made beforehand: checksums in Python take longer on a busy machine than the rate allows.
        client.send(hello(s, "fast"), *[frame(s, seq, PULSE, body=b"z" * 65536) for seq in range(2, 34)],
                    frame(s, 34, BYE))
        client.wait_ack(s, 34, timeout=120)
        gs.equal([f.seq for f in c.frames("fast", s)], list(range(1, 35)), '[f.seq for f in c.frames("fast", s)]')
        gs.check(counters(c)["limit_rate"] > 0, 'counters(c)["limit_rate"] > 0')
        gs.equal(said(c, "limit client-rate is reached"), 1, 'said(c, "limit client-rate is reached")')
        gs.equal(c.stop(), 0, 'c.stop()')


def test_rate_is_no_silence():
    """Who is not read from, amid a frame, for having sent too much has not fallen silent."""
    with Collector(BIN, options=["--limit", "client-rate=100K", "--silence", "1"]) as c:
        s = rng.randbytes(16)
        frames = [hello(s, "fast"), *(frame(s, n, PULSE, body=rng.randbytes(90001)) for n in range(2, 9))]
        client = c.client(timeout=120)
        client.send(*frames)
        client.wait_ack(s, 8, timeout=120)
        got = counters(c)
        gs.check(got.get("limit_rate") and not got.get("clients_stalled"),
                 ('got.get("limit_rate") and not got.get("clients_stalled")', got))
        gs.equal(c.stop(), 0, 'c.stop()')


def notify_socket(root):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    path = os.path.join(root, "notify")
    sock.bind(path)
    sock.settimeout(60)
    return sock, path


def hear(sock, word):
    """The next message with the word; others may come before."""
    for _ in range(1000):
        message = sock.recv(4096).decode().splitlines()
        if word in message:
            return message
    raise TimeoutError(word)


def test_service_manager():
    root = tempfile.mkdtemp(prefix="gpustarve-keep-")
    sock, path = notify_socket(root)
    os.environ.update(NOTIFY_SOCKET=path, WATCHDOG_USEC="2000000")
    try:
        with Collector(BIN, root=root) as c:
            hear(sock, "READY=1")
            hear(sock, "WATCHDOG=1")
            hear(sock, "WATCHDOG=1")
            c.process.send_signal(signal.SIGHUP)
            message = hear(sock, "RELOADING=1")
            gs.check(any(re.fullmatch(r"MONOTONIC_USEC=\d+", line) for line in message),
                     ('any(re.fullmatch(r"MONOTONIC_USEC=\\d+", line) for line in message)', message))
            hear(sock, "READY=1")
            c.process.send_signal(signal.SIGTERM)
            hear(sock, "STOPPING=1")
            gs.equal(c.process.wait(60), 0, 'c.process.wait(60)')
    finally:
        del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
        sock.close()
        shutil.rmtree(root)


def test_unit():
    """The unit that is installed is one that systemd takes, and gives little away."""
    units.check("gpustarve-collector", 20)
    with tempfile.TemporaryDirectory() as d:
        sweep(d, "--limits", os.path.join(units.FOLDER, "limits"))


def test_digests():
    """Ended runs get a digest once, again when they grow, and are tried again after a failure."""
    with tempfile.TemporaryDirectory() as d:
        os.makedirs(os.path.join(d, "bin"))
        shutil.copy2(PROGRAM, os.path.join(d, "bin"))
        log = os.path.join(d, "log")
        with open(os.path.join(d, "bin", "gpustarve"), "w") as f:
            f.write(f'#!/bin/sh\necho "$@" >>{log}\n'
                    f'[ -e {d}/fail ] && {{ echo "the store is \033[31maway" >&2; exit 3; }}\nexit 0\n')
        os.chmod(os.path.join(d, "bin", "gpustarve"), 0o755)
        open(os.path.join(d, "fail"), "w").close()
        earlier = make_run(os.path.join(d, "runs"), "red", "earlier", DAY)

        def calls(run):
            if not os.path.exists(log):
                return 0
            with open(log) as f:
                return f.read().count(f"/{run}.gst --store sqlite:x" +
                                      (" --team red" if run == "earlier" else "") +
                                      " --budget team=5 --budget run=2 --exec say it\n")

        options = ["--store", "sqlite:x", "--limit", "digest-after=1s", "--alert", "idle_for>9h", "--exec", "no",
                   "--budget", "team=5", "--budget", "run=2", "--exec", "say it"]
        with Collector(os.path.join(d, "bin"), base=os.path.join(d, "runs"), options=options) as c:
            wait_for(lambda: calls("earlier") == 1, "the first try", timeout=60)
            wait_for(lambda: said(c, "digest of earlier.gst: exit status 3: the store is ?[31maway"),
                     "a line", timeout=60)
            os.remove(os.path.join(d, "fail"))
            s = rng.randbytes(16)
            client = c.client()
            client.send(hello(s, "now"), frame(s, 2, BYE))
            client.wait_ack(s, 2)
            time.sleep(3)
            gs.equal(calls("now"), 0, "a digest of an open run")
            client.close()
            wait_for(lambda: calls("now") == 1, "a digest", timeout=60)
            wait_for(lambda: calls("earlier") == 2, "the second try", timeout=60)
            marks = [os.path.join(d, "runs", "now.gst", "digest.done"),
                     os.path.join(earlier, "digest.done")]
            wait_for(lambda: all(map(os.path.exists, marks)), "marks", timeout=60)
            gs.equal(c.stop(), 0, 'c.stop()')
        with Collector(os.path.join(d, "bin"), base=os.path.join(d, "runs"), options=options) as c:
            client = c.client()
            client.send(frame(s, 3, PULSE))
            client.wait_ack(s, 3)
            client.close()
            wait_for(lambda: calls("now") == 2, "a digest of what grew", timeout=60)
            gs.equal(calls("earlier"), 2, "told twice")
            gs.equal(c.stop(), 0, 'c.stop()')


if __name__ == "__main__":
    gs.run_tests(globals())
