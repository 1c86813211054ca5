# SPDX-License-Identifier: Apache-2.0
"""A network of its own for a test that opens thousands of sockets. Tests beside it read the tables of
the network that they are in, and an end of a connection stays in there for a minute after its close."""
import ctypes
import fcntl
import os
import socket
import struct

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40
libc = ctypes.CDLL(None, use_errno=True)


def _map(name, text):
    with open(f'/proc/self/{name}', 'w') as f:
        f.write(text)


def be_alone():
    """This process and its children have loopback alone from now on, for themselves; False, and nothing
    changed, where that is not allowed. Before any thread."""
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWNET):
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET):
            print('no network of its own:', os.strerror(ctypes.get_errno()))
            return False
        _map('setgroups', 'deny')
        _map('uid_map', f'{uid} {uid} 1')
        _map('gid_map', f'{gid} {gid} 1')
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack('16sh14x', b'lo', IFF_UP | IFF_RUNNING))
    return True
