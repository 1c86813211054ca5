# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""Digests that a collector has made: whose come when others' cannot be made, what of that a restart
remembers, how long they may take."""
import os
import re
import shutil
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
from central import TOKENS, Centre
from collector import BYE, bin_dir, frame, hello, seeded, wait_for

BIN = bin_dir()
TRACE = os.path.join(gs.SOURCE, "tests", "data", "wire-v1.gst")
HUNDRED = 100
rng = seeded()


def beside(d, gpustarve):
    """A folder with the collector, and this shell script in the place of gpustarve."""
    path = os.path.join(d, "bin")
    os.makedirs(path)
    shutil.copy2(os.path.join(BIN, "gpustarve-collector"), path)
    with open(os.path.join(path, "gpustarve"), "w") as f:
        f.write("#!/bin/sh\n" + gpustarve)
    os.chmod(os.path.join(path, "gpustarve"), 0o755)
    return path


def centre(d, where=BIN, *options):
    return Centre(where, d, https=False, base=os.path.join(d, "runs"),
                  options=["--store", f"sqlite:{d}/fleet", "--limit", "digest-after=1s", *options])


def metrics(c):
    """The collector's own, without labels."""
    text = c.ask("GET", "/metrics")[2].decode()
    return {m[1]: float(m[2]) for m in re.finditer(r"^gpustarve_collector_(\w+) (\S+)$", text, re.M)}


def make_run(d, team, name, size=200, age_s=60):
    """One that no collector has open, of bytes that are no trace; of a large one most are a hole."""
    path = os.path.join(d, "runs", team, name + ".gst")
    os.makedirs(path)
    stream = os.path.join(path, "%032x.gst" % rng.getrandbits(128))
    with open(stream, "wb") as f:
        f.truncate(size)
    os.utime(stream, (time.time() - age_s, time.time() - age_s))
    return path


def is_done(path):
    return os.path.exists(os.path.join(path, "digest.done"))


def tries_of(path):
    """What is noted of the tries; nothing as long as none has failed: the note comes after the try's end."""
    try:
        with open(os.path.join(path, ".digest-tries")) as f:
            return f.read()
    except FileNotFoundError:
        return ""


def calls(d):
    """Runs that a digest was begun of, in order."""
    try:
        with open(os.path.join(d, "calls")) as f:
            return f.read().split()
    except FileNotFoundError:
        return []


# Says in the file `calls` which run it is for.
NOTE = 'for a; do case "$a" in *.gst) run="${a##*/}"; run="${run%.gst}";; esac; done\necho "$run" >>"$(dirname "$0")/../calls"\n'


def test_a_thousand_that_fail():
    """Runs of one team that cannot be digested, more than fit into any list, hold up nobody's."""
    with tempfile.TemporaryDirectory() as d, centre(d) as c:
        for first in range(0, 1030, HUNDRED):
            frames = []
            for i in range(first, min(first + HUNDRED, 1030)):
                s = rng.randbytes(16)
                frames += [hello(s, "bad%04d" % i), frame(s, 2, BYE)]
            status, _, _ = c.post(*frames)
            gs.equal(status, 200, "status")
        wait_for(lambda: metrics(c)["digest_failures_total"] > 20, "some that failed", 120)
        good, s = make_run(d, "beta", "good"), rng.randbytes(16)
        for entry in os.scandir(good):
            shutil.copy(TRACE, entry.path)
        c.post(hello(s, "good"), frame(s, 2, BYE), token=TOKENS["beta"])
        began = time.monotonic()
        wait_for(lambda: is_done(good), "another team's digest", 90)
        print("another team's run was billed after %.1f s" % (time.monotonic() - began))
        gs.equal(c.ask("GET", "/healthz", token=None)[0], 200, "/healthz")
        c.stop()


def test_parked():
    """One that fails again and again is left alone after a while, and a line, a counter and the next
    collector know it; it is tried again once it grows."""
    with tempfile.TemporaryDirectory() as d:
        where = beside(d, NOTE + 'echo "no \033[31mtrace" >&2\nexit 1\n')
        run = make_run(d, "alpha", "bad")
        with centre(d, where) as c:
            wait_for(lambda: calls(d) == ["bad"], "the first try")
            wait_for(lambda: "attempts 1\n" in tries_of(run), "its note")
            gs.check("error exit status 1: no ?[31mtrace\n" in tries_of(run), tries_of(run))
            c.stop()
        with centre(d, where) as c:
            time.sleep(4)
            gs.equal(calls(d), ["bad"], "tried again at once by the next collector")
            c.stop()
        for attempts in range(2, 9):
            text = re.sub(r"^next .*$", "next 1", tries_of(run), flags=re.M)
            with open(os.path.join(run, ".digest-tries"), "w") as f:
                f.write(text)
            with centre(d, where) as c:
                wait_for(lambda n=attempts: f"attempts {n}\n" in tries_of(run), "the next try")
                gs.equal(metrics(c)["parked_digests"], attempts == 8, "parked")
                gs.equal(metrics(c)["digests_parked_total"], attempts == 8, "parked now")
                gs.equal("digest of alpha/bad.gst failed 8 times" in c.log(), attempts == 8, c.log())
                gs.equal(c.ask("GET", "/healthz", token=None)[0], 200, "/healthz")
                c.stop()
        gs.equal(len(calls(d)), 8, "tries")
        with open(os.path.join(run, ".digest-tries"), "a") as f:
            f.write("next 1\n")
        with centre(d, where) as c:
            wait_for(lambda: metrics(c)["parked_digests"] == 1, "a sweep's word")
            wait_for(lambda: "1 runs have no digest" in c.log(), "a line")
            time.sleep(2)
            gs.equal(len(calls(d)), 8, "a parked run was tried")
            c.stop()
        os.utime(next(e.path for e in os.scandir(run) if e.name.endswith(".gst")))
        with centre(d, where) as c:
            wait_for(lambda: len(calls(d)) == 9, "a try of what grew")
            wait_for(lambda: "attempts 1\n" in tries_of(run), "its note")
            c.stop()


def test_store_away():
    """What is the store's fault is not counted as the run's."""
    with tempfile.TemporaryDirectory() as d:
        where = beside(d, NOTE + f'[ -e {d}/back ] && exit 0\nexit 3\n')
        run = make_run(d, "alpha", "good")
        with centre(d, where) as c:
            wait_for(lambda: metrics(c)["digest_failures_total"] == 1, "a failure")
            gs.check(not os.path.exists(os.path.join(run, ".digest-tries")), "the run is blamed")
            open(os.path.join(d, "back"), "w").close()
            wait_for(lambda: is_done(run), "a digest")
            c.stop()
        gs.check(not os.path.exists(f"{d}/fleet"), "the script is no gpustarve")
    with tempfile.TemporaryDirectory() as d:
        made = os.path.join(make_run(d, "", "made"), "ab" * 16 + ".gst")
        shutil.copy(TRACE, made)
        for store, want in ((f"sqlite:{TRACE}/none", 3), (f"sqlite:{d}/fleet", 0)):
            p = gs.gpustarve("digest", os.path.dirname(made), "--store", store)
            gs.equal(p.returncode, want, (store, p.stderr))
        p = gs.gpustarve("digest", d, "--store", f"sqlite:{d}/fleet")
        gs.equal(p.returncode, 1, p.stderr)


def test_hostile_tries():
    """What a run directory says of itself makes it wait an hour at most, and ends nothing."""
    with tempfile.TemporaryDirectory() as d:
        where = beside(d, NOTE + "exit 0\n")
        runs = {}
        for name, text in (("empty", b""), ("noise", rng.randbytes(3000)), ("long", b"attempts 9\n" * 5000),
                           ("other", b"gpustarve digest tries 2\nattempts 9\n"), ("zero", b"\0" * 100)):
            runs[name] = make_run(d, "alpha", name)
            with open(os.path.join(runs[name], ".digest-tries"), "wb") as f:
                f.write(text)
        for name in ("folder", "link"):
            runs[name] = make_run(d, "alpha", name)
        os.mkdir(os.path.join(runs["folder"], ".digest-tries"))
        os.symlink("/dev/zero", os.path.join(runs["link"], ".digest-tries"))
        with centre(d, where) as c:
            wait_for(lambda: all(map(is_done, runs.values())), "digests")
            c.stop()


def test_large():
    """A large trace has its own time and its own slot, and while it takes it others' are made."""
    with tempfile.TemporaryDirectory() as d:
        where = beside(d, NOTE + 'ulimit -t >"$(dirname "$0")/../limit-$run"\n'
                       f'[ "$run" = small ] || while [ ! -e {d}/go ]; do sleep 0.1; done\nexit 0\n')
        large = [make_run(d, "alpha", "large%d" % i, size=40 << 30) for i in range(2)]
        small = make_run(d, "alpha", "small")
        with centre(d, where) as c:
            wait_for(lambda: is_done(small), "a small one's digest")
            wait_for(lambda: "large0" in calls(d) or "large1" in calls(d), "a large one's begin")
            time.sleep(2)
            gs.equal(len(calls(d)), 2, "large ones at the same time")
            later = make_run(d, "beta", "small")
            s = rng.randbytes(16)
            c.post(hello(s, "small"), frame(s, 2, BYE), token=TOKENS["beta"])
            wait_for(lambda: is_done(later), "a later one's digest")
            open(os.path.join(d, "go"), "w").close()
            wait_for(lambda: all(map(is_done, large)), "large ones' digests")
            c.stop()
        for name, want in ("small", 901), ("large0", 901 + 40 * 256), ("large1", 901 + 40 * 256):
            with open(os.path.join(d, "limit-" + name)) as f:
                gs.equal(f.read().strip(), str(want), name)


def test_nobody_has_all_slots():
    """However slow one team's digests are, another's begin."""
    with tempfile.TemporaryDirectory() as d:
        where = beside(d, NOTE + f'case "$run" in slow*) while [ ! -e {d}/go ]; do sleep 0.1; done;; esac\nexit 0\n')
        slow = [make_run(d, "alpha", "slow%d" % i) for i in range(6)]
        with centre(d, where) as c:
            wait_for(lambda: len(calls(d)) == 2, "two at a time")
            s = rng.randbytes(16)
            c.post(hello(s, "quick"), frame(s, 2, BYE), token=TOKENS["beta"])
            wait_for(lambda: is_done(os.path.join(d, "runs", "beta", "quick.gst")), "another team's digest")
            gs.equal(len(calls(d)), 3, "more than two of one team")
            open(os.path.join(d, "go"), "w").close()
            wait_for(lambda: all(map(is_done, slow)), "slow ones' digests")
            c.stop()


if __name__ == "__main__":
    gs.run_tests(globals())
