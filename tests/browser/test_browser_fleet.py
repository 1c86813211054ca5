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
import fleetyear  # noqa: E402

ASKED = {'overview': [], 'lost': ['--by', 'lost'], 'user': ['--by', 'user'], 'run': ['--by', 'run'],
         'unused': ['--by', 'unused']}
YEAR = {'review': ['--by', 'review', '--since', '2026-01-01', '--until', '2027-01-01', '--sacct', 'jobs', '--invoice', 'focus.csv'],
        'plan': ['--plan', '--reserved', 'H100=20', '--own', 'A100=18000,4,0.2'], 'savings': ['--by', 'savings']}



def digests():
    """Every second one is of a job that had GPUs which nobody used for a time."""
    made = fleets.digests(60)
    for i, d in enumerate(made[::2]):
        d['job'], d['no_process'] = str(i), {'between': [i * 10**12, i * 10**9], 'never': [10**12, 10**9], 'gaps': i + 1}
    return made


browsing.chromium()
browsing.modules()
with gs.scratch() as where:
    year, jobs = fleetyear.Year(), []
    for file, text in ('jobs', '\n'.join(year.sacct) + '\n'), ('focus.csv', year.invoice()):
        with open(os.path.join(where, file), 'w', encoding='utf-8') as f:
            f.write(text)
    for store, digests, asked in ('sqlite:store.sqlite', digests(), ASKED), ('sqlite:year.sqlite', year.digests, YEAR):
        gs.gpustarve('digest', '--from', '-', '--store', store, input=fleets.text(digests), cwd=where)
        for name, options in asked.items():
            file = os.path.join(where, name + '.html')
            done = gs.gpustarve('fleet', '--store', store, *options, '--format', 'html', '-o', file, cwd=where)
            gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-300:]}')
            views = ['light', 'dark', 'narrow'] if name == 'review' else ['light', 'dark']
            jobs.append({'name': name, 'file': file, 'quick': True, 'views': views, 'checks': ['axe']})
    views = 0
    for seen in browsing.drive(jobs):
        gs.equal(seen['complaints'], [], f'{seen["job"]}, {seen["view"]}')
        views += 1
    gs.equal(views, sum(len(j['views']) for j in jobs), 'all views were seen')
gs.finish()
