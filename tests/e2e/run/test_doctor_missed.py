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
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import gs

BIN = os.path.join(gs.BUILD, 'bin')
MUSL = shutil.which('musl-gcc')
SLEEPS = '#include <unistd.h>\nint main(void) { sleep(300); return 0; }\n'
LOADED = {'LD_PRELOAD': gs.LIBPROF}
JOB = 10**7 + 10 * os.getpid()  # jobs of nobody else, a test beside us included


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
    gs.equal('not recorded: ' in said or 'on this machine alone: ' in said, status == 1, f'{what}: {said!r}')


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


@contextlib.contextmanager
def collecting(where, *more):
    """A collector; its socket."""
    path = os.path.join(where, 's')
    p = subprocess.Popen([os.path.join(BIN, 'gpustarve-collector'), '--dir', os.path.join(where, 'd'), '--unix', path, *more],
                         stderr=subprocess.DEVNULL)
    try:
        gs.until('a collector', lambda: os.path.exists(path))
        yield path
    finally:
        p.terminate()
        p.wait()


def check_many(env):
    """A collector that does not hang up is waited for once, not for each process."""
    def took(*argv):
        began = time.monotonic()
        gs.equal(doctor(*argv)[1], 0, f'{argv}')
        return time.monotonic() - began
    with contextlib.ExitStack() as stack:
        pids = [stack.enter_context(started(['sleep', '300'], user=65534, SLURM_JOB_ID=str(JOB), **env, **LOADED))
                for _ in range(12)]
        one, all_of_them = took('--pid', pids[0]), took('--job', str(JOB))
        gs.check(one > 0.5 and all_of_them < 6 * one, f'of one {one:.1f} s, of all {all_of_them:.1f} s')


def check_where_bytes_go(where):
    """A collector that is away, or turns the process away, is as good as its spool files are, and these have to be possible."""
    def asked(what, words, status, **env):
        user = env.pop('user', None)
        with started(['sleep', '300'], user=user, **env, **LOADED) as pid:
            named(what, pid, words, status)
    away = {'GPUSTARVE_SOCKET': os.path.join(where, 'nobody.sock')}
    asked('spool files', ['has not loaded CUDA'], 0, GPUSTARVE_OUT=where, **away)
    asked('neither', ['no collector takes it in now', 'nobody.sock', 'below /dev/null', 'Not a directory'], 1,
          GPUSTARVE_OUT='/dev/null', **away)
    asked('no socket', ['has no GPUSTARVE_SOCKET', 'below /proc/x'], 1, GPUSTARVE_OUT='/proc/x')
    asked('no folder above', ['below /nowhere/at/all'], 1, GPUSTARVE_OUT='/nowhere/at/all')
    if os.geteuid():
        return gs.left_out('no other user: not root')
    asked('another user\'s folder', ['below /: Permission denied'], 1, GPUSTARVE_OUT='/', user=65534)
    for what, more, shared, words in (
            ('not to be entered', (), 0o755, ['Permission denied', '--any-user']),
            ('turned away', (), 0o777, ['turns this user away', '--any-user']),
            ('taken in', ('--any-user',), 0, [])):
        folder = os.path.join(where, what.replace(' ', '-'))
        os.mkdir(folder, 0o755)
        if not os.path.exists(os.path.join(BIN, 'gpustarve-collector')):
            return gs.left_out('no collector')
        with collecting(folder, *more) as path:
            if shared == 0o777:
                os.chmod(path, shared)
            env = {'GPUSTARVE_SOCKET': path, 'GPUSTARVE_OUT': '/dev/null'}
            asked(what, words or ['has not loaded CUDA'], 1 if words else 0, user=65534, **env)
            asked(f'{what}, as its own user', ['has not loaded CUDA'], 0, **env)
            if not words:
                check_many(env)
    library = shutil.copy(gs.LIBPROF, os.path.join(where, 'libprof.so'))
    os.chmod(library, 0o600)
    with started(['sleep', '300'], user=65534, LD_PRELOAD=library) as pid:
        named('library of mode 600', pid, ['Permission denied', 'let its user read'])
    return None


def check_names(where):
    """Of others, on the terminal of who asks."""
    program = shutil.copy('/bin/sleep', os.path.join(where, '\033[31mX\ny\u009b'))
    with started([program, '300']) as pid:
        said, status = doctor('--pid', pid)
        gs.check('?[31mX?y' in said and '\033' not in said and '\u009b' not in said and status == 1, f'{said!r}')
    said, status = doctor('--', program + '\033[31m')
    gs.check('\033' not in said and status == 1, f'{said!r}')


def check_wrappers(where):
    out, begun = os.path.join(where, 'wrapped'), os.path.join(where, 'begun')

    def ready():
        with contextlib.suppress(OSError), open(begun, encoding='utf-8') as f:
            return int(f.read() or 0)

    with started([gs.CLI, 'run', '-o', out, '--', 'env', '-i', 'sh', '-c', f'echo $$ >{begun}; exec sleep 300'], ready=ready) as pid:
        named('an empty environment', pid, ['`gpustarve run` (pid', 'threw the environment away'])
        with open(f'/proc/{pid}/stat', encoding='utf-8') as f:
            parent = int(f.read().rsplit(')', 1)[1].split()[1])
        named('the wrapper', parent, ['`gpustarve run` itself', 'nothing to record so far'], 0)
    child = subprocess.Popen(['true'])
    gs.until('it has ended', lambda: ' Z ' in open(f'/proc/{child.pid}/stat', encoding='utf-8').read())
    said, status = doctor('--pid', child.pid)
    gs.check('a zombie' in said and status == 1, f'zombie: {said!r}')
    child.wait()


def check_others():
    env = {'SLURM_JOB_ID': str(JOB + 1), 'HOSTNAME': f'trainer-{JOB}'}
    with started(['sh', '-c', 'sleep 300; :'], child=True, **env) as pid:
        for option, name in ('--job', str(JOB + 1)), ('--pod', f'trainer-{JOB}'):
            said, status = doctor(option, name)
            gs.check(f'pid {pid} (sleep): not recorded' in said and status == 1, f'{option}: {said!r}')
    said, status = doctor('--job', str(JOB + 2))
    gs.check('no process of it' in said and status == 1, f'a job that is not here: {said!r}')
    said, status = doctor('--pid', 'x')
    gs.check('not the number' in said and status == 1, f'no pid: {said!r}')
    said, status = doctor('--pid', '1', '--job', '2')
    gs.check('give only one of' in said and status == 1, f'two at once: {said!r}')


def check_commands(where):
    static = os.path.join(where, 'static')
    plain = central.write(os.path.join(where, 'plain'), 'text')
    os.chmod(plain, 0o644)
    script = central.write(os.path.join(where, 'script'), '#!/nowhere/python\n')
    os.chmod(script, 0o755)
    group = shutil.copy('/bin/true', os.path.join(where, 'group'))
    os.chmod(group, 0o2755)
    for argv, env, words, status in [
            (['ls', '-l'], {}, '`gpustarve run -- ls` would record it', 0), (['sudo', 'ls'], {}, 'sudo drops', 1),
            (['ls'], {'GPUSTARVE': 'off'}, 'GPUSTARVE=off', 1), (['nothing-here'], {}, 'is not a program here', 1),
            (['ls'], {'CUDA_INJECTION64_PATH': '/other.so'}, '/other.so', 1),
            (['podman', 'run', 'x'], {}, 'neither this environment', 1), (['ssh', 'host', 'ls'], {}, 'neither', 1),
            (['env', '-i', 'ls'], {}, 'throws the environment away', 1), (['env', '-u', 'LD_PRELOAD', 'ls'], {}, 'drops', 1),
            (['env', 'A=b', 'GPUSTARVE=0', 'ls'], {}, 'env sets GPUSTARVE=0', 1),
            (['env', 'LD_PRELOAD=/a.so', 'ls'], {}, 'another LD_PRELOAD', 1),
            (['env', 'A=b', 'ls'], {}, 'would record it', 0), (['env', '-C', '/', 'ls'], {}, 'is not looked at', 0),
            (['nice', '-n', '5', static], {}, 'statically', 1), (['timeout', '-k', '5', '10', static], {}, 'statically', 1),
            (['nohup', 'setsid', '-w', static], {}, 'statically', 1), (['stdbuf', '-oL', static], {}, 'statically', 1),
            (['nice', '--adjustment=5', static], {}, 'is not looked at', 0), (['nice', '-n5', 'ls'], {}, 'would record it', 0),
            (['nice', 'sudo', 'ls'], {}, 'sudo drops', 1), (['timeout', '5', 'env', '-i', 'ls'], {}, 'throws', 1),
            (['ls'], {'GPUSTARVE_LIB': '/nowhere.so'}, '/nowhere.so: libprof.so is not there', 1),
            (['ls'], {'GPUSTARVE_OUT': '/dev/null/x'}, 'no run can be written there', 1),
            (['ls'], {'GPUSTARVE_CUPTI': '/nowhere.so'}, 'GPUSTARVE_CUPTI is /nowhere.so', 1),
            ([plain], {}, 'may not be executed', 1), ([script], {}, 'it needs /nowhere/python', 1), ([where], {}, 'is a folder', 1),
            ([group], {}, 'would record it', 0)] + ([] if os.geteuid() else [
            (['setpriv', '--reuid', '0', 'ls'], {}, 'is not looked at', 0), (['su', 'root', '-c', 'ls'], {}, 'not looked at', 0),
            (['runuser', '-u', 'root', '--', 'ls'], {}, 'is not looked at', 0), (['su', '-', 'root'], {}, 'su drops', 1),
            (['setpriv', '--reset-env', 'ls'], {}, 'setpriv drops', 1)]):
        said, got = doctor('--', *argv, **env)
        gs.check(words in said and got == status, f'{argv} {env}: exit {got}: {said!r}')
    if not os.path.exists(os.path.join(BIN, 'gpustarve-collector')):
        return gs.left_out('no collector')
    good = central.write(os.path.join(where, 'good'), central.TOKENS['alpha'] + '\n')
    reads = central.write(os.path.join(where, 'reads'), central.TOKENS['reader'] + '\n')
    bad = central.write(os.path.join(where, 'bad'), 'no such token at all\n')
    with central.Centre(BIN, where, https=False) as centre:
        url = f'http://127.0.0.1:{centre.port}'
        for token, words, status in ((good, 'would record it', 0), (bad, 'HTTP 401: it does not know', 1),
                                     ('', 'names no token', 1), (reads, 'HTTP 403: this token may not write', 1)):
            said, got = doctor('--', 'ls', GPUSTARVE_COLLECTOR=url, GPUSTARVE_UPSTREAM_TOKEN_FILE=token)
            gs.check(words in said and got == status, f'token: exit {got}: {said!r}')
        with started(['sleep', '300'], GPUSTARVE_COLLECTOR=url, GPUSTARVE_UPSTREAM_TOKEN_FILE=bad, **LOADED) as pid:
            named('token', pid, ['refuses it', 'HTTP 401'])
        with started(['sleep', '300'], GPUSTARVE_COLLECTOR=url, GPUSTARVE_UPSTREAM_TOKEN_FILE='good', **LOADED) as pid:
            named('token of another folder', pid, ['its token', 'cannot be read', 'No such file'])
    said, got = doctor('--', 'ls', GPUSTARVE_COLLECTOR=url, GPUSTARVE_UPSTREAM_TOKEN_FILE=good)
    return gs.check('cannot be asked' in said and 'refuses' not in said and got == 1, f'nobody there: exit {got}: {said!r}')


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

    env = {'GPUSTARVE_BUILD': gs.BUILD, 'GPUSTARVE_SOCKET': '/nowhere/s', 'GPUSTARVE_OUT': os.path.join(where, 'spools')}
    with started([gs.WITH_GPUSIM, gs.PYTHON, job], ready=ready, **env, **LOADED) as pid:
        named('spool files', pid, ['recorded: libprof.so is in it', '/nowhere/s', '.spool files below', 'spools'], 0)
    os.unlink(used)
    with started([gs.WITH_GPUSIM, gs.PYTHON, job], ready=ready, GPUSTARVE_BUILD=gs.BUILD, GPUSTARVE_OUT='/proc/x', **LOADED) as pid:
        named('nowhere', pid, ['no file can be made below /proc/x'])
    os.unlink(used)
    with started([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, 'runs'), '--', gs.PYTHON, job], ready=ready,
                 GPUSTARVE_BUILD=gs.BUILD) as pid:
        named('recorded', pid, ['recorded: libprof.so is in it'], 0)


with gs.scratch() as where:
    check_environment()
    check_launchers(where)
    check_programs(where)
    check_privileged(where)
    check_where_bytes_go(where)
    check_names(where)
    check_wrappers(where)
    check_others()
    check_commands(where)
    check_recorded(where)
gs.finish()
