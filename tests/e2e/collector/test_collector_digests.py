# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""Digests that a collector has made: whose come when others' cannot be made, what of that a restart
remembers, how long they may take."""
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
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


def try_at(path, ns):
    """Notes that the next try is due then."""
    text = re.sub(r"^next .*$", f"next {ns}", tries_of(path), flags=re.M)
    with open(os.path.join(path, ".digest-tries"), "w") as f:
        f.write(text)


def calls(d, of="calls"):
    """Runs that a digest was begun of, in order; or what else the script noted."""
    try:
        with open(os.path.join(d, of)) as f:
            return f.read().split()
    except FileNotFoundError:
        return []


# Says in the file `calls` which run it is for; of a provisional row in `rows`, after which that is made.
NAME = 'for a; do case "$a" in *.gst) run="${a##*/}"; run="${run%.gst}";; --provisional) row=1;; esac; done\n'
NOTE_ROW = '[ "$row" ] && echo "$run" >>"$(dirname "$0")/../rows"\n'
NOTE = NAME + NOTE_ROW + '[ "$row" ] && exit 0\necho "$run" >>"$(dirname "$0")/../calls"\n'


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
        due_ns = int(re.search(r"^next (\d+)$", tries_of(run), re.M)[1])
        gs.check(due_ns - os.stat(os.path.join(run, ".digest-tries")).st_mtime_ns > 7 * 10**9, "not at once")
        try_at(run, time.time_ns() + 600 * 10**9)  # which a busy machine does not reach meanwhile
        with centre(d, where) as c:
            time.sleep(4)
            gs.equal(calls(d), ["bad"], "tried again at once by the next collector")
            c.stop()
        for attempts in range(2, 9):
            try_at(run, 1)
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


def row_mark(path):
    """What the mark of the run's provisional row says; None: there is none."""
    try:
        with open(os.path.join(path, ".digest-row")) as f:
            return f.read()
    except FileNotFoundError:
        return None


def test_rows():
    """What may take long, and what has failed, gets a provisional row first, once for what is there; where none can
    be made, or the store is away, the digest comes all the same in its turn."""
    with tempfile.TemporaryDirectory() as d:
        where = beside(d, NAME + NOTE_ROW + f'case "$run$row" in none1) exit 1;; away1) [ -e {d}/back ] || exit 3;; esac\n'
                       '[ "$row" ] && exit 0\necho "$run" >>"$(dirname "$0")/../calls"\n[ "$run" != bad ]\n')
        runs = {name: make_run(d, "alpha", name, size) for name, size in
                (("small", 200), ("bad", 200), ("long", 2 << 20), ("none", 2 << 20), ("away", 2 << 20))}
        with centre(d, where) as c:
            wait_for(lambda: is_done(runs["small"]) and is_done(runs["long"]) and is_done(runs["none"]), "digests")
            wait_for(lambda: calls(d, "rows").count("bad") == 1, "the row of one that failed")
            wait_for(lambda: metrics(c)["digest_rows_total"] == 2, "the end of what makes it")
            gs.equal((row_mark(runs["long"]), row_mark(runs["none"]), row_mark(runs["small"])), ("", "none\n", None), "marks")
            gs.equal((row_mark(runs["away"]), "away" in calls(d)), (None, False), "as long as the store is away")
            gs.equal(metrics(c)["digest_rows_total"], 2, "rows")
            c.stop()
        open(os.path.join(d, "back"), "w").close()
        with centre(d, where) as c:
            wait_for(lambda: is_done(runs["away"]), "the digest, once the store is back")
            c.stop()
        rows = calls(d, "rows")
        gs.equal([rows.count(name) for name in ("small", "bad", "long", "none")], [0, 1, 1, 1], rows)
        stream = next(e.path for e in os.scandir(runs["bad"]) if e.name.endswith(".gst"))
        os.utime(stream, (time.time() - 30, time.time() - 30))
        with centre(d, where) as c:
            wait_for(lambda: calls(d, "rows").count("bad") == 2, "another row, once it has grown")
            c.stop()


def fleet(d):
    p = gs.gpustarve("fleet", "--store", f"sqlite:{d}/fleet", "--format", "json")
    gs.equal(p.returncode, 0, p.stderr)
    return json.loads(p.stdout)


def make_long(d, team, name, events, gpus):
    """A run that was made up, of so many events in all, of GPUs that do the same."""
    path = os.path.join(d, "runs", team, name + ".gst")
    os.makedirs(path)
    subprocess.run([os.path.join(gs.BUILD, "tests", "long_make"), path, str(events), str(gpus), "0"], check=True,
                   stdout=subprocess.DEVNULL)
    with open(os.path.join(path, "run.json"), "w") as f:
        json.dump({"schema": "gpustarve.run/1", "run_id": name}, f)
    for entry in os.scandir(path):
        os.utime(entry.path, (time.time() - 60, time.time() - 60))
    return path


def kept_records(run, file=None):
    """Components of which a digest has kept something, with how much, in order; the torn end does not count."""
    with file or open(os.path.join(run, ".digest-parts"), "rb") as f:
        text = f.read()
    at, found = 32, []
    while at + 24 <= len(text):
        _, component, length = struct.unpack_from("<IIQ", text, at)
        at += 24 + length
        if at <= len(text):
            found.append((component, length))
    return found


def kept(run):
    """Those that it has finished."""
    return [component for component, _ in kept_records(run) if component < 1 << 31]


def test_billed_at_once():
    """What a long run held is billed while its digest is being made. That is ended again and again, and the collector
    with it: it goes on where it was, and is not blamed. Others' runs are billed meanwhile, and when the digest is
    there, it counts in the row's place."""
    gpus = 4
    with tempfile.TemporaryDirectory() as d:
        real = os.path.join(BIN, "gpustarve")
        # ended by the write of a record beyond the limit, so that we know behind how many
        where = beside(d, NAME + 'if [ ! "$row" ] && [ "$run" = long ]; then ulimit -c 0\n'
                       f'while [ -e {d}/wait ]; do sleep 0.1; done\nread most <{d}/most && ulimit -f "$most"; fi\n'
                       f'exec {shlex.quote(real)} "$@"\n')
        run = make_long(d, "alpha", "long", 8_000_000, gpus)
        gs.check(sum(e.stat().st_size for e in os.scandir(run)) >= 256 << 10, "long enough for a row")
        trial = make_long(d, "", "trial", 2_000_000, 1)
        gs.equal(gs.gpustarve("digest", trial, "--resume").returncode, 0, "one GPU of it, alone")
        record = os.path.getsize(os.path.join(trial, ".digest-parts")) - 32
        shutil.rmtree(trial)
        for n in (1, 3):
            with open(f"{d}/most", "w") as f:
                f.write("%d\n" % ((32 + n * record + record // 2) // 512))
            with centre(d, where) as c:
                wait_for(lambda: metrics(c)["digest_failures_total"] == 1, "the end of a digest", 120)
                gs.equal(len(kept(run)), n, "what it had finished")
                gs.equal(tries_of(run), "", "it got on, and is not blamed")
                row = fleet(d)
                gs.equal((row["total"]["runs"], row["provisional"]["runs"]), (1, 1), "the row alone")
                gs.equal((row["by"]["class"][0]["class"], row["bill"]["lines"][0]["team"]), ("not_analysed", "alpha"), "as such")
                c.kill()
        open(f"{d}/wait", "w").close()
        with open(f"{d}/most", "w") as f:
            f.write("unlimited\n")
        small = make_run(d, "beta", "small")
        for entry in os.scandir(small):
            shutil.copy(TRACE, entry.path)
            os.utime(entry.path, (time.time() - 60, time.time() - 60))
        with centre(d, where) as c:
            wait_for(lambda: is_done(small), "another team's digest meanwhile", 60)
            gs.check(not is_done(run), "the long one's digest")
            mark = open(os.path.join(run, ".digest-parts"), "rb")
            os.unlink(f"{d}/wait")
            wait_for(lambda: is_done(run), "the long one's digest", 120)
            wait_for(lambda: not os.path.exists(os.path.join(run, ".digest-parts")), "what was kept is of no use any more")
            walked = sorted(component for component, _ in kept_records(run, mark) if component < 1 << 31)
            gs.equal(walked, list(range(gpus)), "each was walked once")
            c.stop()
        now = fleet(d)
        gs.equal((now["total"]["runs"], now["provisional"]["runs"]), (2, 0), "each of both once")
        held = {l["team"]: l["held_ns"] for l in now["bill"]["lines"]}
        gs.equal(held["alpha"], row["total"]["held_ns"], "it held as long as its row had")
        gs.equal(sum(k["ns"] for k in now["by"]["class"]), now["total"]["held_ns"], "classes sum to what was held")


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


def bill_small(c, d, n):
    """Seconds from the last word of another team's small run to its bill."""
    run, s = make_run(d, "beta", f"small{n}"), rng.randbytes(16)
    for entry in os.scandir(run):
        shutil.copy(TRACE, entry.path)
        os.utime(entry.path, (time.time() - 60, time.time() - 60))
    c.post(hello(s, f"small{n}"), frame(s, 2, BYE), token=TOKENS["beta"])
    began = time.monotonic()
    wait_for(lambda: is_done(run), "a small run's digest", 120)
    return time.monotonic() - began


def one_gpu_ends(run):
    """After how many blocks of 512 bytes a digest of it is to be ended, so that it was kept amid once and no more."""
    gs.equal(gs.gpustarve("digest", run, "--resume").returncode, 0, "a trial")
    first, second = (length for _, length in kept_records(run)[:2])
    os.unlink(os.path.join(run, ".digest-parts"))
    return (32 + 24 + first + second // 2) // 512


def test_one_gpu():
    """The digest of a run of one GPU is ended amid it, by a limit or with the collector, and goes on where it was. Small runs
    are billed meanwhile. With GS_BIG=1 it has 1.6 G events and a hundredth of the time that it may take, again and again."""
    with tempfile.TemporaryDirectory() as d:
        run = make_long(d, "alpha", "long", 1_600_000_000 if gs.BIG else 8_000_000, 1)
        size = sum(e.stat().st_size for e in os.scandir(run))
        part = (900 + size // (4 << 20)) // 100
        how = f"ulimit -t {part}" if gs.BIG else f"[ -e {d}/once ] || {{ >{d}/once; ulimit -f {one_gpu_ends(run)}; }}"
        real = shlex.quote(os.path.join(BIN, "gpustarve"))
        where = beside(d, NAME + f'if [ ! "$row" ] && [ "$run" = long ]; then ulimit -c 0; {how}; fi\nexec {real} "$@"\n')
        began, took, before = time.monotonic(), [], 0
        c = centre(d, where)
        while not is_done(run):
            took.append(bill_small(c, d, len(took)))
            failures = metrics(c)["digest_failures_total"]
            if failures and not before:
                gs.check(kept_records(run), "it was kept amid")
                gs.equal(tries_of(run), "", "it got on, and is not blamed")
                c.kill()
                before = failures
                c = centre(d, where)
            if not gs.check(len(took) < 1000, "the long one's digest"):
                break
        ended = before + metrics(c)["digest_failures_total"]
        c.stop()
        took.sort()
        print(f"{size >> 10} KiB of one GPU, ended {ended:.0f} times by its limit, and the collector once, digested after "
              f"{time.monotonic() - began:.0f} s, {part if gs.BIG else 'all'} s of CPU each time; {len(took)} small runs billed "
              f"after {took[len(took) // 2]:.1f} s, {took[-1]:.1f} s at most")
        gs.check(ended >= 1, "it was ended")
        gs.equal(fleet(d)["provisional"]["runs"] if fleet(d).get("provisional") else 0, 0, "no row is left")


if __name__ == "__main__":
    gs.run_tests(globals())
