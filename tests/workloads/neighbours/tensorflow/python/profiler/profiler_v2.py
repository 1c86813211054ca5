# SPDX-License-Identifier: Apache-2.0
from neighbour import client

_profiler = None


def start(logdir, options=None):
    global _profiler
    if _profiler is not None:
        raise RuntimeError('Another profiler is running.')
    client.begin()
    _profiler = logdir


def stop(save=True):
    global _profiler
    if _profiler is None:
        raise RuntimeError('Cannot export profiling results. No profiler is running.')
    _profiler = None
    client.end()


class Profile:
    def __init__(self, logdir, options=None):
        self._logdir = logdir

    def __enter__(self):
        start(self._logdir)

    def __exit__(self, typ, value, tb):
        stop()
