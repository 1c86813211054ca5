# SPDX-License-Identifier: Apache-2.0
"""Sessions with numbers; CUPTI is let go, and detached, when the last one is finalized."""
from neighbour import client

_sessions = []


def _select_backend():
    return 'cupti'


def start(name=None, *, context='shadow', data='tree', backend=None, mode=None, hook=None):
    backend = _select_backend() if backend is None else backend
    if name == 'off':
        return None
    if backend == 'cupti' and not _sessions:
        client.begin()
    _sessions.append(backend)
    return len(_sessions) - 1


def activate(session=None):
    pass


def deactivate(session=None, flushing=False):
    pass


def finalize(session=None, output_format=''):
    if session is None:
        _sessions[:] = [None] * len(_sessions)
    else:
        _sessions[session] = None
    if _sessions and not any(_sessions):
        _sessions.clear()
        client.end()
        client.cupti.cuptiFinalize()
