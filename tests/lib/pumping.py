# SPDX-License-Identifier: Apache-2.0
"""Bytes from one socket to another, for what stands between two ends."""
import contextlib
import socket


def pump(a, b, left=None):
    """All that comes from @a to @b, then both are closed; after @left bytes, if that is a number."""
    with contextlib.suppress(OSError):
        while left is None or left > 0:
            got = a.recv(65536)
            if not got:
                break
            if left is not None:
                left -= len(got)
            b.sendall(got)
    for s in (a, b):
        with contextlib.suppress(OSError):
            s.shutdown(socket.SHUT_RDWR)
        s.close()
