# SPDX-License-Identifier: Apache-2.0
"""A run's raw trace: operations, calls, clock readings and pulses as they were written, without the
engine. Read by the tests' own dumper."""
import glob
import json
import os
import subprocess

import base

DUMP = os.path.join(base.BUILD, 'tests', 'prof_dump')
OP, API, SYNC = 1, 2, 3
KERNEL, COPY, MEMSET, GRAPH = 1, 2, 3, 4


class Raw:
    """Of the stream with the most operations (a run may have processes that do nothing)."""

    def __init__(self, run, timeout=60):
        files = sorted(glob.glob(os.path.join(run, '*.gst')) +
                       glob.glob(os.path.join(run, '*.spool')))
        done = subprocess.run([DUMP, *files], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout)
        self.damage = done.stderr.decode(errors='replace').strip()
        streams, rows = [], None
        for line in done.stdout.decode(errors='replace').splitlines():
            row = json.loads(line)
            if len(row) == 1 and 'stream' in row:
                rows = {OP: [], API: [], SYNC: []}
                streams.append(rows)
            elif 'event' in row:
                rows.setdefault(row['event'], []).append(row)
            elif 'frame' in row:
                rows.setdefault(row['frame'], []).append(row)
        if not streams:
            raise ValueError(f'no stream in {run}: {self.damage[-200:]}')
        rows = max(streams, key=lambda r: len(r[OP]))
        self.ops = sorted(rows[OP], key=lambda e: (e['start'], e['end']))
        self.calls = rows[API]
        self.pulses = rows.get('pulse', [])
        self.last = rows['bye'][-1]['last'] if rows.get('bye') else self.pulses[-1]
        self.clocks = [t for f in rows.get('clock', []) for t in f['triplets']]
        self.losses = [s for f in rows.get('loss', []) for s in f['spans']]
        self.launch = {}
        for c in self.calls:
            if c['corr']:
                known = self.launch.get(c['corr'])
                if not known or c['start'] < known['start']:
                    self.launch[c['corr']] = c

    def named(self, name):
        return [e for e in self.ops if e['name'] == name]
