#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Why was my job not recorded? Each link of the chain is broken on purpose, and `gpustarve doctor --pid` names it in one
line; and of a job, a pod and a command that was not started. Where sudo and Ray are not here, programs of these names
stand in: what is asked of them is that they drop a variable."""
import contextlib
import os
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import gs

BIN = os.path.join(gs.BUILD, 'bin')
MUSL = shutil.which('musl-gcc')
SLEEPS = '#include <unistd.h>\nint main(void) { sleep(300); return 0; }\n'
LOADED = {'LD_PRELOAD': gs.LIBPROF}


@contextlib.contextmanager
def started(argv, child=False, user=None, ready=None, **env):
    """A process of its own session; its pid, or that of the last below it, or what ready() answers."""
    p = subprocess.Popen([str(a) for a in argv], env=dict({'PATH': '/usr/bin:/bin', 'LC_ALL': 'C'}, **env),
                         start_new_session=True, stderr=subprocess.DEVNULL, user=user)
    try:
        pid = p.pid
        found = gs.until(f'{argv[0]} runs', ready or (lambda: settled(pid, child)))
        while child and below(pid):
            pid = below(pid)
        yield found if ready else pid
    finally:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def below(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='utf-8') as f:
        return next(map(int, f.read().split()), None)


def asleep(pid):
    try:
        with open(f'/proc/{pid}/wchan', encoding='utf-8') as f, open(f'/proc/{pid}/stat', encoding='utf-8') as g:
            return g.read().rsplit(')', 1)[1].split()[0] == 'S' and 'nanosleep' in f.read()
    except OSError:
        return False


def settled(pid, child):
    """It, or the last below it, sleeps in the call that it was started for."""
    while child and below(pid):
        pid = below(pid)
    return asleep(pid)


def doctor(*argv, **env):
    done = gs.gpustarve('doctor', *argv, env=gs.environment(**env))
    text = done.stdout.decode() + done.stderr.decode()
    gs.check(text.count('\n') == 1, f'one line: {text!r}')
    return text, done.returncode


def named(what, pid, words, status=1):
    said, got = doctor('--pid', pid)
    gs.check(all(word in said for word in words) and got == status, f'{what}: exit {got}: {said!r}')
    gs.equal('not recorded' in said, status == 1, f'{what}: {said!r}')


def compile_to(path, *argv):
    done = gs.command([*argv, '-x', 'c', '-o', path, '-'], input=SLEEPS.encode())
    return path if gs.equal(done.returncode, 0, f'{argv}: {done.stderr.decode()}') else None


def check_environment():
    with started(['sleep', '300']) as pid:
        named('nobody', pid, ['LD_PRELOAD names no libprof.so', 'or in any process above', '`gpustarve run --`'])
    with started(['sleep', '300'], LD_PRELOAD='/nowhere/libprof.so') as pid:
        named('no file', pid, ['/nowhere/libprof.so', 'No such file'])
    with started(['sleep', '300'], GPUSTARVE='0', **LOADED) as pid:
        named('opt-out', pid, ['GPUSTARVE=0'])
    with started(['sleep', '300'], CUDA_INJECTION64_PATH='/opt/other/tool.so', **LOADED) as pid:
        named("another tool's", pid, ["another tool's", '/opt/other/tool.so'])
    with started(['sleep', '300'], NV_SANITIZER_INJECTION_TRANSPORT_TYPE='uds', **LOADED) as pid:
        named('a tool', pid, ['compute-sanitizer'])
    with started(['sleep', '300'], GPUSTARVE_SOCKET='/nowhere/collector.sock', **LOADED) as pid:
        named('collector', pid, ['/nowhere/collector.sock', '.spool'])
    with started(['sleep', '300'], GPUSTARVE_PRELOAD='0') as pid:
        named('no preload', pid, ['GPUSTARVE_PRELOAD is off'])
    with started(['sleep', '300'], **LOADED) as pid:
        named('no CUDA', pid, ['nothing to record so far'], 0)


def check_launchers(where):
    for name, words in [('sudo', ['sudo (pid', 'drops LD_PRELOAD']), ('raylet', ['Ray', 'runtime_env']),
                        ('launch', ['dropped on the way', 'env'])]:
        program = shutil.copy('/bin/dash', os.path.join(where, name))
        line = 'env -u LD_PRELOAD sh -c "sleep 300; :"; :'
        with started([program, '-c', line], child=True, **({} if name == 'raylet' else LOADED)) as pid:
            named(name, pid, words if name != 'launch' else words[:1])


def check_programs(where):
    static = compile_to(os.path.join(where, 'static'), 'gcc', '-static')
    with started([static], **LOADED) as pid:
        named('static', pid, ['static is linked statically'])
    asan = compile_to(os.path.join(where, 'asan'), 'gcc', '-fsanitize=address')
    with started([asan], ASAN_OPTIONS='detect_leaks=0') as pid:
        named('ASan', pid, ['libasan.so', 'CUDA alone'])
    gs.check('libasan.so' in doctor('--', asan)[0], 'ASan, not started')
    gs.check('statically' in doctor('--', static)[0], 'static, not started')
    if MUSL:
        musl = compile_to(os.path.join(where, 'musl'), MUSL)
        with started([musl], **LOADED) as pid:
            named('musl', pid, ['musl is a program of musl'])
        gs.check('musl' in doctor('--', musl)[0], 'musl, not started')
    else:
        gs.left_out('no musl-gcc (musl-tools)')


def check_privileged(where):
    if os.geteuid():
        return gs.left_out('no setuid program: not root')
    os.chmod(where, 0o755)
    program = shutil.copy('/bin/sleep', os.path.join(where, 'raised'))
    os.chmod(program, 0o4755)
    with started([program, '300'], user=65534, **LOADED) as pid:
        named('setuid', pid, ['raised is setuid'])
    os.chown(program, 1, 1)
    os.chmod(program, 0o4755)
    return gs.check('setuid' in doctor('--', program)[0], 'setuid, not started')


def check_others():
    env = {'SLURM_JOB_ID': '77123', 'HOSTNAME': 'trainer-0'}
    with started(['sh', '-c', 'sleep 300; :'], child=True, **env) as pid:
        for option, name in ('--job', '77123'), ('--pod', 'trainer-0'):
            said, status = doctor(option, name)
            gs.check(f'pid {pid} (sleep): not recorded' in said and status == 1, f'{option}: {said!r}')
    said, status = doctor('--job', '77124')
    gs.check('no process of it' in said and status == 1, f'a job that is not here: {said!r}')
    said, status = doctor('--pid', 'x')
    gs.check('not the number' in said and status == 1, f'no pid: {said!r}')
    said, status = doctor('--pid', '1', '--job', '2')
    gs.check('give only one of' in said and status == 1, f'two at once: {said!r}')


def check_commands(where):
    for argv, env, words, status in [
            (['ls', '-l'], {}, '`gpustarve run -- ls` would record it', 0), (['sudo', 'ls'], {}, 'sudo drops', 1),
            (['ls'], {'GPUSTARVE': 'off'}, 'GPUSTARVE=off', 1), (['nothing-here'], {}, 'is not a program here', 1),
            (['ls'], {'CUDA_INJECTION64_PATH': '/other.so'}, '/other.so', 1)]:
        said, got = doctor('--', *argv, **env)
        gs.check(words in said and got == status, f'{argv} {env}: exit {got}: {said!r}')
    if not os.path.exists(os.path.join(BIN, 'gpustarve-collector')):
        return gs.left_out('no collector')
    good = central.write(os.path.join(where, 'good'), central.TOKENS['alpha'] + '\n')
    bad = central.write(os.path.join(where, 'bad'), 'no such token at all\n')
    with central.Centre(BIN, where, https=False) as centre:
        url = f'http://127.0.0.1:{centre.port}'
        for token, words, status in (good, 'would record it', 0), (bad, 'HTTP 401', 1):
            said, got = doctor('--', 'ls', GPUSTARVE_COLLECTOR=url, GPUSTARVE_UPSTREAM_TOKEN_FILE=token)
            gs.check(words in said and got == status, f'token: exit {got}: {said!r}')
        with started(['sleep', '300'], GPUSTARVE_COLLECTOR=url, GPUSTARVE_UPSTREAM_TOKEN_FILE=bad, **LOADED) as pid:
            named('token', pid, ['refuses it', 'HTTP 401'])
    said, got = doctor('--', 'ls', GPUSTARVE_COLLECTOR=url, GPUSTARVE_UPSTREAM_TOKEN_FILE=good)
    return gs.check('refuses it' in said and got == 1, f'nobody there: exit {got}: {said!r}')


def check_recorded(where):
    """On the simulated GPU, by `gpustarve run`: the process says when it has used it."""
    job, used = os.path.join(where, 'job.py'), os.path.join(where, 'used')
    with open(job, 'w', encoding='utf-8') as f:
        f.write(f'import os, sys, time\nsys.path.insert(0, {gs.WORKLOADS!r})\nimport gpudev\ndev = gpudev.Device(0)\n'
                f'gpudev.Stream(dev).kernel(1000)\nwith open({used!r} + ".part", "w") as f:\n    f.write(str(os.getpid()))\n'
                f'os.rename({used!r} + ".part", {used!r})\ntime.sleep(300)\n')

    def ready():
        if not os.path.exists(used):
            return None
        with open(used, encoding='utf-8') as f:
            return int(f.read())

    with started([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, 'runs'), '--', gs.PYTHON, job], ready=ready,
                 GPUSTARVE_BUILD=gs.BUILD) as pid:
        named('recorded', pid, ['recorded: libprof.so is in it'], 0)


with gs.scratch() as where:
    check_environment()
    check_launchers(where)
    check_programs(where)
    check_privileged(where)
    check_others()
    check_commands(where)
    check_recorded(where)
gs.finish()
