# SPDX-License-Identifier: Apache-2.0
"""A loop of kernels, graphs and copies for as long as the time goes: is all of it in the trace,
does memory grow on host or device, do our threads take more and more per event, and can the report
be made of it?"""
import glob
import json
import os
import shutil
import subprocess
import threading
import time

import base
import rawtrace
import truth

SECONDS = 50
PART = 'endurance'
RATE = 35_000          # launches per second
MB = 1 << 20
RSS_GROWTH = 8 * MB    # in the later half of the run, of the job with us in it
DEVICE_GROWTH = 4 * MB
CPU_DRIFT = 1.25       # last quarter against first, per event
COLLECTOR_MB = 64      # what the collector may take, and libprof in a process
BYTES_PER_EVENT = 6    # what a trace may take, with launch times


class Watch(threading.Thread):
    """Memory of the collector that writes to this folder, and of processes on the device."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.ended, self.begin = folder, threading.Event(), time.time()
        self.collector, self.device = [], []

    def run(self):
        smi = shutil.which('nvidia-smi')
        for i in range(10 ** 6):
            if self.ended.wait(1):
                return
            kb = self.collector_kb()
            if kb:
                self.collector.append((time.time() - self.begin, kb * 1024))
            if smi and i % 5 == 2:
                text = base.text(smi, '--query-compute-apps=used_memory',
                                 '--format=csv,noheader,nounits')
                used = [int(n) for n in text.split() if n.isdigit()]
                if used:
                    self.device.append((time.time() - self.begin, sum(used) * MB))

    def collector_kb(self):
        for path in glob.glob('/proc/[0-9]*/cmdline'):
            try:
                with open(path, 'rb') as f:
                    argv = f.read().split(b'\0')
                if b'gpustarve-collector' in argv[0] and \
                        any(os.fsencode(self.folder) in a for a in argv):
                    with open(path.replace('cmdline', 'status')) as f:
                        return int(f.read().split('VmRSS:')[1].split()[0])
            except (OSError, IndexError):
                continue   # it ended while we looked
        return None


def measured(argv, timeout):
    """(exit status, stdout, stderr, seconds, peak memory in bytes, CPU seconds)"""
    out = os.path.join(base.BUILD, f'.endurance-{os.getpid()}')
    t = time.time()
    with open(out + '.out', 'wb') as o, open(out + '.err', 'wb') as e:
        p = subprocess.Popen(argv, stdout=o, stderr=e, env=base.environment())
        timer = threading.Timer(timeout, p.kill)
        timer.start()
        _, status, use = os.wait4(p.pid, 0)
        timer.cancel()
        p.returncode = os.waitstatus_to_exitcode(status)
    texts = []
    for suffix in ('.out', '.err'):
        with open(out + suffix, errors='replace') as f:
            texts.append(f.read())
        os.remove(out + suffix)
    return (p.returncode, *texts, time.time() - t, use.ru_maxrss * 1024,
            use.ru_utime + use.ru_stime)


def mb(value):
    return 'none' if value is None else f'{value / MB:.1f} MB'


def growth(samples):
    """For the table: first, last, growth of the later half, per hour."""
    if len(samples) < 4:
        return 'too short to tell'
    return (f'{mb(samples[0][1])} at first, {mb(samples[-1][1])} at the end, later half '
            f'{truth.later_half(samples) / MB:+.2f} MB, '
            f'{truth.slope_per_hour(samples) / MB:+.0f} MB per hour by a line through all')


def counted(r, summary, last, per_graph):
    """Launched against recorded."""
    gpu = summary['gpus'][0]
    copies = sum(summary['copies'][k]['count'] for k in ('h2d', 'd2h'))
    want = last['kernels'] + last['copies'] + last['memsets'] + last['graphs'] * per_graph
    q = summary['quality']
    lost = dict(dropped=q['dropped'], invalid=q['invalid'], without=gpu['ops_without_launch'])
    r.put(PART, 'records traced', f'{gpu["ops"]} of {want} launched in {last["s"]:.0f} s '
          f'({want / last["s"]:.0f}/s); copies {copies} of {last["copies"]}; dropped '
          f'{q["dropped"]}, without launch {gpu["ops_without_launch"]}',
          gpu['ops'] == want and copies == last['copies'] and not any(lost.values()),
          goal='all', launched=last, recorded=gpu['ops'], **lost)
    r.put(PART, 'invalid timestamps', str(q['invalid']), not q['invalid'], goal='0')


def memory(r, rows, watch):
    rss = [(x['s'], x['rss_kb'] * 1024) for x in rows]
    device = [(x['s'], x['device_used']) for x in rows]
    for name, samples, most in (('memory of the process', rss, RSS_GROWTH),
                                ('memory of the device (cuMemGetInfo)', device, DEVICE_GROWTH),
                                ('memory of the device (nvidia-smi, processes)', watch.device,
                                 DEVICE_GROWTH),
                                ('memory of the collector', watch.collector, RSS_GROWTH)):
        if not samples:
            r.skip(PART, name, 'no figure to be had')
            continue
        grown = truth.later_half(samples)
        ok = None if grown is None else grown <= most
        if 'collector' in name:
            peak = max(v for _, v in samples)
            ok = peak <= COLLECTOR_MB * MB and ok is not False
        r.put(PART, name, growth(samples), ok, samples=samples,
              goal=f'later half at most {mb(most)}')


def own_cost(r, raw, run):
    first, last = (truth.cpu_per_event(raw.pulses, q) for q in (0, 3))
    drift = last / first if first and last else None
    events, cpu = raw.last['events'], raw.last['cpu']
    # Beside others on few cores our threads' caches are cold: no verdict there.
    ok = None if drift is None or base.SIMULATED else drift <= CPU_DRIFT
    text = 'too short to tell' if drift is None else \
        f'{first:.0f} ns per event in the first quarter, {last:.0f} in the last: {drift:.2f} times'
    r.put(PART, "drift in our threads' CPU time",
          f'{text}; in all {cpu / max(1, events):.0f} ns for each of {events}', ok,
          goal=f'at most {CPU_DRIFT} times', first=first, last=last,
          pulses=[(p['t'], p['cpu'], p['events'], p['memory']) for p in raw.pulses])
    peak = raw.last['memory']
    r.put(PART, "libprof's own memory at most", f'{mb(peak)} (goal {COLLECTOR_MB} MB)',
          peak <= COLLECTOR_MB * MB)
    size = sum(os.path.getsize(p) for p in glob.glob(run + '/*.gst') + glob.glob(run + '/*.spool'))
    r.put(PART, 'bytes per event on disk', f'{size / max(1, events):.2f} ({mb(size)}, {events} '
          f'events with launches; goal {BYTES_PER_EVENT})',
          None if events < 100_000 else size <= BYTES_PER_EVENT * events, bytes=size)


def afterwards(r, run):
    for name, argv in (('report', [base.CLI, 'report', run, '--format', 'json', '-o', os.devnull]),
                       ('verify', [base.CLI, 'verify', run])):
        if base.left() < 5:
            r.skip(PART, name, 'out of time')
            continue
        rc, o, e, seconds, peak, cpu = measured(argv, max(5, base.left() - 2))
        if rc == -9 and base.SIMULATED:
            r.skip(PART, name, 'no time was left on this machine')
            continue
        r.put(PART, name, f'rc {rc}, {seconds:.2f} s ({cpu:.2f} s CPU), {mb(peak)} at most'
              + (f'; {e.strip()[-200:]}' if rc else ''), rc == 0, seconds=seconds, peak=peak,
              cpu=cpu)


class Pulses:
    """Pulses and the last counts of the run, by the dumper, without its events."""

    def __init__(self, run, timeout):
        files = sorted(glob.glob(run + '/*.gst') + glob.glob(run + '/*.spool'))
        done = subprocess.run([rawtrace.DUMP, '--frames', *files], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=timeout)
        rows = [json.loads(line) for line in done.stdout.decode(errors='replace').splitlines()]
        self.pulses = [x for x in rows if x.get('frame') == 'pulse']
        byes = [x for x in rows if x.get('frame') == 'bye']
        self.last = byes[-1]['last'] if byes else self.pulses[-1]
        self.nodes = any(x['graphs'] == 'node' for x in rows if x.get('frame') == 'hello')


def part(r, out):
    seconds = 3 if base.QUICK else max(5, min(base.left() - 16, 300))
    watch = Watch(os.path.join(out, 'runs', 'endurance'))
    watch.start()
    try:
        rc, o, e, run, summary = base.traced(
            'endurance', [os.path.join(base.BUILD, 'workloads', 'endure'), f'{seconds:.1f}',
                          4_000 if base.SIMULATED else RATE], out, ['--max-overhead', '0'],
            seconds + 15)
    finally:
        watch.ended.set()
    rows = [json.loads(line) for line in o.splitlines() if line.startswith('{')]
    if rc == 'timeout' and base.SIMULATED:
        for question in ('records traced', 'memory', 'invalid timestamps',
                         "drift in our threads' CPU time"):
            r.skip(PART, question, 'no time was left on this machine')
        return
    if rc or not run or not summary or not rows:
        r.put(PART, 'the loop', f'rc {rc}; {e.strip()[-300:]}', False)
        return
    try:
        raw = Pulses(run, max(10, base.left() - 5))
    except (subprocess.TimeoutExpired, OSError, ValueError, LookupError) as error:
        raw = None
        r.put(PART, "drift in our threads' CPU time: the trace's pulses", repr(error)[:300], False)
    for question, answer in (
            ('records traced', lambda: counted(r, summary, rows[-1],
                                               20 if raw and raw.nodes else 1)),
            ('memory', lambda: memory(r, rows, watch)),
            ('our cost', lambda: raw and own_cost(r, raw, run)),
            ('report and verify', lambda: afterwards(r, run))):
        try:
            answer()
        except Exception as error:   # one question must not lose the others
            r.put(PART, question, f'broke: {error!r}'[:400], False)
