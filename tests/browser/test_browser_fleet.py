#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=browser
"""The fleet's page in a real browser: axe finds nothing, in light and dark, of what each table shows."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))

import gs  # noqa: E402
import browsing  # noqa: E402
import fleets  # noqa: E402

ASKED = {'overview': [], 'lost': ['--by', 'lost'], 'user': ['--by', 'user'], 'run': ['--by', 'run']}

browsing.chromium()
browsing.modules()
with gs.scratch() as where:
    store = f'sqlite:{where}/store.sqlite'
    gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(fleets.digests(60)))
    jobs = []
    for name, options in ASKED.items():
        file = os.path.join(where, name + '.html')
        done = gs.gpustarve('fleet', '--store', store, *options, '--format', 'html', '-o', file)
        gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-300:]}')
        jobs.append({'name': name, 'file': file, 'quick': True, 'views': ['light', 'dark'], 'checks': ['axe']})
    views = 0
    for seen in browsing.drive(jobs):
        gs.equal(seen['complaints'], [], f'{seen["job"]}, {seen["view"]}')
        views += 1
    gs.equal(views, 2 * len(ASKED), 'all views were seen')
gs.finish()
