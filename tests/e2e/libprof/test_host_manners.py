#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""What is forbidden to a program does not end it because of us: system calls that a service's filter
answers with a kill, and files beyond RLIMIT_FSIZE."""
import os
import platform
import resource
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import prof

MANNERS = os.path.join(gs.BUILD, 'workloads', 'manners')

# Installs a filter that kills for the calls in argv[1], then becomes argv[2:].
FILTER = r'''
import ctypes, os, struct, sys
numbers = [int(n) for n in sys.argv[1].split(',')]
code = [(0x20, 0, 0, 0)]
code += [(0x15, len(numbers) - i, 0, n) for i, n in enumerate(numbers)]
code += [(6, 0, 0, 0x7fff0000), (6, 0, 0, 0x80000000)]
text = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *c) for c in code))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(code), ctypes.addressof(text)))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit(77)
os.execvp(sys.argv[2], sys.argv[2:])
'''

# Waits for a socket in the main thread, as one that reads from an object store does.
TRAINER = r'''
import os, socket, sys, threading, time
sys.path.insert(0, os.environ['WORKLOADS'])
import gpudev
from torch.utils.data import DataLoader
server = socket.create_server(('127.0.0.1', 0))
def serve():
    one, _ = server.accept()
    while one.recv(1):
        time.sleep(.08)
        one.sendall(b'x')
threading.Thread(target=serve, daemon=True).start()
near = socket.create_connection(server.getsockname())
class Remote:
    def __len__(self): return 30
    def __getitem__(self, i):
        near.sendall(b'g')
        near.recv(1)
        return i
stream = gpudev.Stream(gpudev.Device(0))
for batch in DataLoader(Remote(), batch_size=1):
    stream.kernel(100000, 'k')
    stream.synchronize()
print('%s:%d' % server.getsockname())
'''

def killed_calls():
    """pidfd_open, pidfd_getfd and all that came later: a service that lists what it allows kills for
    those. The socket's peer is named all the same."""
    if platform.machine() != 'x86_64':
        gs.left_out('killed_calls: the numbers are those of x86-64')
        return
    # 424 and later, but clone3, which is libc's, and close_range.
    numbers = ','.join(map(str, [*range(424, 435), *range(437, 470)]))
    for preload in (False, True):
        with gs.scratch() as where:
            done = prof.run([gs.PYTHON, '-c', FILTER, numbers, gs.PYTHON, '-c', TRAINER], where,
                            preload=preload, WORKLOADS=gs.WORKLOADS)
            if done.returncode == 77:
                gs.left_out('killed_calls: no filter can be had')
                return
            if not gs.equal(done.returncode, 0, f'killed_calls {preload}: {done.stderr[-300:]}'):
                return
            if preload:
                peer = 'socket:' + done.stdout.decode().strip()
                found = [t for t in prof.traces(where) if t.samples]
                gs.equal(len(found), 1, 'killed_calls: streams')
                named = [s for t in found for s in t.samples if s['target'] == peer]
                gs.check(len(named) >= 5, f'killed_calls: {len(named)} samples name {peer}')


def small_files():
    """ulimit -f below what workers share: neither a program that is not Python nor one that is gets
    SIGXFSZ, and the latter says what is missing."""
    def limit():
        # The simulated GPU's memory is a file of 21 MB, that of workers one of 50.
        resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 20, 32 << 20))

    script = ("import os, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_DFL);"
              "sys.path.insert(0, os.environ['WORKLOADS']); import gpudev;"
              "s = gpudev.Stream(gpudev.Device(0)); s.kernel(1000, 'k'); s.synchronize();"
              "print('done')")
    for argv, python in (([MANNERS, 'plain'], False), ([gs.PYTHON, '-c', script], True)):
        for preload in (False, True):
            with gs.scratch() as where:
                env = prof.environment(where, preload, WORKLOADS=gs.WORKLOADS)
                done = gs.command([gs.WITH_GPUSIM, *argv], env=env, cwd=where, preexec_fn=limit)
                what = f'small_files {"python" if python else "C"} {preload}'
                gs.equal((done.returncode, done.stdout), (0, b'done\n'),
                         f'{what}: {done.stderr[-300:]}')
                if preload:
                    said = ' '.join(prof.trace(where).hello['notes'])
                    gs.equal('ulimit -f' in said, python, f'{what}: notes: {said}')


if __name__ == '__main__':
    killed_calls()
    small_files()
    gs.finish()
