#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Some ways of feeding a GPU without torch's loader, and some waits that are no input, of those that tests/feeds
plays: the bars that are printed there hold for them together. All of them, with all variants, is a campaign of
its own: tests/feeds."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

KINDS = ('thread_function/fetch', 'two_stages/prep', 'process_pipe/fetch', 'futures_processes/fetch', 'generators/fetch',
         'saver_joined/slow', 'socket_barrier/slow', 'http_server')

if not gs.BIG:
    gs.skip('ways of feeding a GPU, with GS_BIG=1 alone')
done = gs.command([gs.PYTHON, os.path.join(gs.SOURCE, 'tests', 'feeds'), '--kinds', ','.join(KINDS)], timeout=900)
print(done.stdout.decode())
gs.equal(done.returncode, 0, f'tests/feeds: {done.stderr.decode()[-400:]}')
gs.check(done.stdout.count(b'planted ') >= len(KINDS), 'all of them were played')
gs.finish()
