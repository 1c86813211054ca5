# SPDX-License-Identifier: Apache-2.0
"""The guest's first process: runs the tests in BUILD/tests.json, as many at once as there are processors, and switches off."""
import concurrent.futures
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SKIPPED = 77
POWER_OFF = 0x4321FEDC
PATIENCE = 10  # times as long as a test waits elsewhere


def prepare():
    os.environ.clear()
    os.environ.update(PATH='/usr/sbin:/usr/bin:/sbin:/bin', HOME='/root', LC_ALL='C.UTF-8', PYTHONDONTWRITEBYTECODE='1',
                      GS_PATIENCE=str(PATIENCE))
    for kind, at in ('tmpfs', '/tmp'), ('tmpfs', '/run'), ('tmpfs', '/dev/shm'), ('devpts', '/dev/pts'):
        os.makedirs(at, exist_ok=True)
        subprocess.run(['mount', '-t', kind, kind, at], check=True)
    os.chmod('/tmp', 0o1777)
    os.chmod('/dev/shm', 0o1777)
    subprocess.run(['/bin/busybox', 'ifconfig', 'lo', 'up'], check=True)


def run(test):
    """Exit status, seconds, what it printed."""
    began = time.monotonic()
    env = dict(os.environ, **dict(e.split('=', 1) for e in test['environment']))
    with tempfile.TemporaryFile() as said:
        child = subprocess.Popen(test['command'], stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env,
                                 start_new_session=True, cwd='/tmp')
        try:
            status = child.wait(test['timeout'])
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            status = child.wait()
        said.seek(0)
        return status, time.monotonic() - began, said.read()


def record(build):
    """A run of this machine, to be read on the other one. Was it recorded?"""
    source, traces = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), os.path.join(build, 'traces')
    shutil.rmtree(traces, ignore_errors=True)
    job = ('import sys, time\n'
           f'sys.path.insert(0, {source + "/tests/workloads"!r})\n'
           'import gpudev\n'
           'dev = gpudev.Device(0)\n'
           'stream = gpudev.Stream(dev)\n'
           'for step in range(40):\n'
           '    time.sleep(0.05)\n'
           '    stream.kernel(5000000)\n'
           '    stream.synchronize()\n')
    with open('/tmp/job.py', 'w', encoding='utf-8') as f:
        f.write(job)
    done = subprocess.run([source + '/scripts/with-gpusim', build + '/bin/gpustarve', 'run', '--quiet', '--no-report', '-o', '/tmp/runs',
                           '--', '/usr/bin/python3', '/tmp/job.py'], env=dict(os.environ, GPUSTARVE_BUILD=build), check=False,
                          capture_output=True)
    runs = [name for name in (os.listdir('/tmp/runs') if os.path.isdir('/tmp/runs') else []) if name.endswith('.gst')]
    print(f'recorded: {len(runs)} runs, status {done.returncode} {done.stderr.decode(errors="replace")[-500:]}', flush=True)
    for name in runs[:1]:
        shutil.copytree(os.path.join('/tmp/runs', name), os.path.join(traces, 'guest.gst'))
    return len(runs) == 1 and not done.returncode


def main():
    build, counts = sys.argv[1], {'passed': 0, 'skipped': 0, 'failed': 0}
    prepare()
    with open(os.path.join(build, 'tests.json'), encoding='utf-8') as f:
        tests = json.load(f)
    counts['passed' if record(build) else 'failed'] += 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        running = {pool.submit(run, test): test for test in tests}
        for i, done in enumerate(concurrent.futures.as_completed(running)):
            status, seconds, said = done.result()
            how = 'passed' if not status else 'skipped' if status == SKIPPED else 'failed'
            counts[how] += 1
            print(f'{i + 1}/{len(tests)} {running[done]["name"]}: {how} {seconds:.1f} s', flush=True)
            if how == 'failed':
                print(f'status {status}', said.decode(errors='replace')[-3000:], flush=True)
    print(', '.join(f'{n} {how}' for how, n in counts.items()), f'of {len(tests)} and a run, on', os.uname().machine, os.uname().release, flush=True)
    with open(os.path.join(build, 'result'), 'w', encoding='utf-8') as f:
        f.write(str(1 if counts['failed'] or not tests else 0))


try:
    main()
except Exception:
    traceback.print_exc()
    sys.stderr.flush()
os.sync()
time.sleep(1)  # what was printed is on its way
ctypes.CDLL(None).reboot(POWER_OFF)
