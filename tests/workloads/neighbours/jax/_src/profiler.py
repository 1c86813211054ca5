# SPDX-License-Identifier: Apache-2.0
"""One session at a time; a second one is refused, and the first goes on."""
import contextlib

from neighbour import client

_session = None


def start_trace(log_dir, create_perfetto_link=False):
    global _session
    if _session:
        raise RuntimeError('Profile has already been started.')
    client.begin()
    _session = log_dir


def stop_trace():
    global _session
    if not _session:
        raise RuntimeError('No profile started')
    _session = None
    client.end()


@contextlib.contextmanager
def trace(log_dir):
    start_trace(log_dir)
    try:
        yield
    finally:
        stop_trace()
