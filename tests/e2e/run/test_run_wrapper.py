#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits first timeout=300
"""The wrapper around commands: what they print stays what it was, run.json tells of the run, a
folder that cannot be written to costs a line and no more, several wrappers make one run and one
verdict, and the end of a run says what summary.json says."""
import contextlib
import functools
import glob
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

COMMANDS = [
    ['true'],
    ['bash', '-c', 'echo out; echo err >&2; exit 9'],
    ['bash', '-c', 'seq 1 20000 | sort -n | tail -1; cat <<< here'],
    ['cat'],
    ['env', 'FOO=bar', 'sh', '-c', 'echo $FOO'],
    [gs.PYTHON, '-c', 'import subprocess; print(subprocess.run(["echo", "x"]).returncode)'],
    [gs.PYTHON, '-c', 'import os; os.write(2, b"\\xff\\x00"); os._exit(3)'],
    ['sh', '-c', 'ulimit -a; umask; pwd; id -u'],
    ['git', '--version'],
]
TRAIN = [gs.PYTHON, os.path.join(gs.WORKLOADS, 'train_loader.py'), '--steps', '30', '--sample-ms', '3',
         '--gpu-ms', '4']


def run(*argv, options=(), stdin=b'some input\n', env=None, **kw):
    return gs.command([gs.CLI, 'run', *options, '--', *argv], input=stdin, env=env, **kw)


def run_json(path):
    with open(os.path.join(path, 'run.json')) as f:
        return json.load(f)


def identical(where):
    for argv in COMMANDS:
        bare = gs.command(argv, input=b'some input\n', cwd=where)
        quiet = run(*argv, options=['--quiet', '--no-report'], cwd=where)
        gs.equal((quiet.returncode, quiet.stdout, quiet.stderr),
                 (bare.returncode, bare.stdout, bare.stderr), f'the same: {argv}')
        loud = run(*argv, cwd=where)
        gs.equal((loud.returncode, loud.stdout), (bare.returncode, bare.stdout), f'stdout: {argv}')
        gs.check(loud.stderr.startswith(bare.stderr), f'stderr begins the same: {argv}')
        ours = loud.stderr[len(bare.stderr):].decode().splitlines()
        gs.check(len(ours) == 1 and ours[0].startswith('gpustarve: '), f'one line of ours: {ours}')
    gs.equal(gs.runs(os.path.join(where, 'gpustarve-runs')), [], 'nothing is left behind')


def switched_off(where):
    done = run('sh', '-c', 'echo "[$LD_PRELOAD]"; exit 6', cwd=where, env=gs.environment(GPUSTARVE='0'))
    gs.equal((done.returncode, done.stdout, done.stderr), (6, b'[]\n', b''), 'GPUSTARVE=0')
    gs.equal(os.listdir(where), [], 'nothing is made')


def unwritable(where):
    closed = os.path.join(where, 'a-file')
    open(closed, 'w').close()
    done = run('sh', '-c', 'echo out; exit 6', options=['-o', os.path.join(closed, 'runs')], cwd=where)
    gs.equal((done.returncode, done.stdout), (6, b'out\n'), 'a folder that cannot be')
    lines = done.stderr.decode().splitlines()
    gs.check(len(lines) == 1 and 'unrecorded' in lines[0], f'one line tells: {lines}')
    done = run('sh', '-c', 'echo $LD_PRELOAD; exit 6', options=['-o', 'runs'], cwd=where,
               env=gs.environment(GPUSTARVE_LIB='/nonexistent/libprof.so'))
    gs.equal((done.returncode, done.stdout), (6, b'\n'), 'no libprof')
    gs.check(b'GPUSTARVE_LIB' in done.stderr, 'says how to name it')


def the_environment(where):
    show = ['sh', '-c', 'echo "$LD_PRELOAD|$CUDA_INJECTION64_PATH|$NVTX_INJECTION64_PATH|'
            '$GPUSTARVE_OUT|$GPUSTARVE_RUN_ID|$GPUSTARVE_LEVEL|$GPUSTARVE_MAX_OVERHEAD|'
            '$GPUSTARVE_MAX_TRACE|$GPUSTARVE_LABELS"; test -S "$GPUSTARVE_SOCKET" && stat -c %a '
            '"$(dirname "$GPUSTARVE_SOCKET")"']
    done = run(*show, options=['-o', 'rel', '--level', '0', '--max-overhead', '0.5', '--max-trace',
                               '2G', '--label', 'a=b', '--label', 'c=d=e', '--quiet'], cwd=where,
               env=gs.environment(GPUSTARVE_RUN_ID='me/and you'))
    line, mode = done.stdout.decode().split()
    real = os.path.realpath(gs.LIBPROF)
    named, *rest = line.split('|')
    gs.equal(rest, [named, named, os.path.join(where, 'rel'), 'me_and_you-ba304892', '0', '0.5', '2G',
                    'a=b,c=d=e'], 'what the command finds')
    gs.check(os.path.realpath(named) == real and (named == real or ' ' in real), f'libprof: {named}')
    gs.equal(mode, '700', 'the socket lies in a folder of ours alone')
    tool = os.path.join(where, 'ncu')
    with open(tool, 'w') as f:
        f.write("#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ\n")  # as it was given to it
    os.chmod(tool, 0o755)
    found = run(tool, options=['--quiet'], cwd=where).stdout.decode()
    gs.check(f'LD_PRELOAD={named}' in found and '_INJECTION64_PATH' not in found,
             f'a tool that loads itself into CUDA finds: {found}')
    said = run(tool, cwd=where).stderr.decode()
    gs.check('nothing of it is recorded' in said, f'a tool that preloads itself into all: {said}')
    other = glob.glob('/usr/lib/*-linux-gnu/libz.so.1')[0]
    if os.path.exists(other):
        done = run(*show, options=['--quiet'], cwd=where, env=gs.environment(
            LD_PRELOAD=f'{other}', CUDA_INJECTION64_PATH='/mine.so', NVTX_INJECTION64_PATH='/its.so'))
        gs.equal(done.stdout.decode().split('|')[:3], [f'{other}:{named}', '/mine.so', '/its.so'],
                 'what was there stays')
        done = run(*show, options=['--quiet'], cwd=where, env=gs.environment(
            LD_PRELOAD=f'{other} {named}'))
        gs.equal(done.stdout.decode().split('|')[0], f'{other} {named}', 'preloaded once')


def verdict(where):
    done, path, _ = gs.traced(TRAIN, where, ['--price', '7200', '--label', 'team=vision'],
                              GPUSIM_DEVICES=1)
    gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
    gs.equal(done.stdout, gs.command([gs.WITH_GPUSIM, *TRAIN], cwd=where).stdout, 'its output')
    told = done.stderr.decode()
    with open(os.path.join(path, 'summary.json')) as f:
        s = json.load(f)
    r = run_json(path)
    gs.equal(r['command'], TRAIN, 'the command')
    gs.equal((r['exit_status'], r['labels']), (0, {'team': 'vision'}), 'status and labels')
    gs.equal(len(r['exits']), 1, 'one end')
    gs.equal((r['exits'][0]['pid'], r['exits'][0]['status']), (s['run']['processes'][0]['pid'], 0),
             'of the trainer')
    gs.equal(r['exits'][0]['end_ns'] - r['exits'][0]['start_ns'], r['wall_ns'], 'from start to end')
    gs.equal(s['run']['id'], os.path.basename(path)[:-4], 'id')
    gs.check(s['run']['simulated'] and '(simulated)' in told, 'the simulator is called one')
    gs.equal(s['verdict'], 'input-bound', 'verdict')
    flat = ' '.join(told.split())
    # On a busy machine the program may have lacked a CPU for longer: that leads, and input stands beside it.
    starved = f"{s['ledger']['starved_of_working_pct']:.1f} %"
    share = f'{starved} of the training time: '
    if 'host-bound and input-bound' in flat:
        share = f'and it waited for input for {starved}: '
    else:
        gs.check(f"this run: ${s['cost']['starved_usd']:,.2f} of ${s['cost']['usd']:,.2f}" in flat,
                 f'the dollars of the summary: {flat}')
    gs.check(share in flat and ' of each $7200.00 GPU-hour of training was paid for waiting' in flat, f'{share} leads: {flat}')
    gs.check('per thousand steps: ' in flat and ' per month' not in flat, f'what that comes to, of a short run: {flat}')
    sums = ' '.join(gs.gpustarve('report', path, '--no-projection').stdout.decode().split('\n\n')[0].split())
    gs.check(not re.search(r'of each|per (day|month|thousand)', sums) and share[:-2] in sums, f'sums alone: {sums}')
    gs.check('$7200.00 per GPU-hour (--price, given, ' in flat, 'the price and where it is from')
    gs.check(told.rstrip().endswith('report.html'), 'the last line names the report')
    gs.check(os.path.exists(os.path.join(where, told.rstrip().split()[-1])), 'and it is there')
    gs.equal(gs.gpustarve('verify', path).returncode, 0, 'verify')
    # The price given to run stays with it.
    gs.equal(gs.summary(path)['cost']['usd'], s['cost']['usd'], 'the price is kept')
    gs.equal(gs.summary(path, '--price', '1')['cost']['rates'][0]['usd_per_gpu_hour'], 1,
             'and may be overruled')


def several(where):
    """As `srun -n4 gpustarve run -- ...`: wrappers side by side, one run."""
    env = gs.environment(GPUSTARVE_RUN_ID='several', GPUSIM_DEVICES=4)
    script = 'for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=4 "$@" & done; wait'
    done = gs.command([gs.WITH_GPUSIM, 'bash', '-c', script, 'bash', gs.CLI, 'run', '-o', 'runs', '--',
                       *TRAIN], env=env, cwd=where)
    found = gs.runs(os.path.join(where, 'runs'))
    gs.equal([os.path.basename(p) for p in found], ['several.gst'], 'one run')
    told = done.stderr.decode()
    gs.equal(len(re.findall(r'^gpustarve: ', told, re.M)), 1, f'one verdict: {told}')
    names = os.listdir(found[0])
    gs.equal(len([n for n in names if n.startswith('exit-') and 'coll' not in n]), 3,
             f'three more ends: {names}')
    with open(os.path.join(found[0], 'summary.json')) as f:
        s = json.load(f)
    gs.equal((s['run']['ranks'], len(s['gpus'])), (4, 4), 'all ranks, all GPUs')
    gs.check(s['run']['complete'], 'all ended')
    gs.check('several ranks' in told, 'a lower bound, and said to be one')
    gs.equal(gs.gpustarve('verify', found[0]).returncode, 0, 'verify')


def no_collector(where):
    """A collector that cannot be: the processes write the trace themselves. It is told where something is missed."""
    bin_dir = os.path.join(where, 'bin')
    os.mkdir(bin_dir)
    cli = os.path.join(bin_dir, 'gpustarve')
    subprocess.run(['cp', gs.CLI, cli], check=True)
    out = os.path.join(where, 'spool')
    done = gs.command([gs.WITH_GPUSIM, cli, 'run', '-o', out, '--price', '1', '--', *TRAIN], cwd=where,
                      env=gs.environment(GPUSTARVE_LIB=gs.LIBPROF))
    gs.equal(done.returncode, 0, done.stderr.decode())
    gs.check(re.match(rb'gpustarve: (host-bound and )?input-bound', done.stderr),
             f'the verdict comes first: {done.stderr.decode()}')
    gs.check(any(n.endswith('.spool') for n in os.listdir(gs.runs(out)[0])), 'from spool files')
    url = 'http://127.0.0.1:9'
    done = gs.command([cli, 'run', '-o', out, '--collector', url, '--', 'true'], cwd=where,
                      env=gs.environment(GPUSTARVE_LIB=gs.LIBPROF))
    told = done.stderr.decode().splitlines()
    gs.check(told and told[0].startswith('gpustarve: no collector: ') and told[0].endswith(f' and does not go to {url}'),
             f'with somewhere to forward to: {told}')


def left_behind(where):
    """A command that leaves a process on the GPU behind does not keep its caller waiting for long."""
    stay = [gs.PYTHON, '-c', 'import sys, time; sys.path.insert(0, sys.argv[1]); import gpudev\n'
            's = gpudev.Stream(gpudev.Device(0)); s.kernel(1000); s.synchronize(); print("on", flush=True)\n'
            'import os\nfor i in range(6000):\n    if os.path.exists("go"): break\n    time.sleep(0.1)\n', gs.WORKLOADS]
    began = time.monotonic()
    done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', 'runs', '--price', '1', '--', 'bash', '-c',
                       '"$@" >line 2>/dev/null & until grep -q on line; do sleep 0.1; done; sleep 1.5', 'bash', *stay],
                      cwd=where, env=gs.environment(GPUSIM_DEVICES=1))
    took = time.monotonic() - began
    with open(os.path.join(where, 'go'), 'w'):
        pass
    gs.check(took < 60, f'took {took:.1f} s')  # it would stay for ten minutes; what else there is to do may take long on a busy machine
    gs.check(b'lower bound' in done.stderr, f'and is said to be unfinished: {done.stderr.decode()}')


def leftovers(where):
    """Collectors of our runs that are still there."""
    left = subprocess.run(['pgrep', '-f', os.path.join(gs.BUILD, 'bin', 'gpustarve-collector')],
                          capture_output=True).stdout.split()
    mine = []
    for p in left:
        with contextlib.suppress(OSError), open(f'/proc/{p.decode()}/cmdline', 'rb') as f:
            mine += [p] if where.encode() in f.read() else []
    return mine


LISTENER = """
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
static void *listen(void *unused)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
    for (;;)
        pause();
    return unused;
}
__attribute__((constructor)) static void loaded(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, listen, 0);
}
"""


def thread_of_another(where):
    """As compute-sanitizer does it: SIGCHLD goes to a thread of the wrapper that is not the wrapper's."""
    source, library = os.path.join(where, 'listener.c'), os.path.join(where, 'listener.so')
    with open(source, 'w') as f:
        f.write(LISTENER)
    gs.command(['cc', '-shared', '-fPIC', '-pthread', '-o', library, source])
    done = run('sh', '-c', 'unset LD_PRELOAD; sleep 0.2; exit 7', cwd=where, timeout=240,
               env=gs.environment(LD_PRELOAD=library))
    gs.equal(done.returncode, 7, 'beside a thread of another')


with gs.scratch() as top:
    def alone(test):
        folder = os.path.join(top, test.__name__)
        os.mkdir(folder)
        test(folder)

    gs.side_by_side([functools.partial(alone, test) for test in (
        left_behind, several, verdict, identical, no_collector, the_environment, unwritable, switched_off,
        thread_of_another)])
    end = time.monotonic() + 120  # what left_behind left behind goes now
    while leftovers(top) and time.monotonic() < end:
        time.sleep(0.5)
    gs.equal(leftovers(top), [], 'no collector is left')
gs.finish()
