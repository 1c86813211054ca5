#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes expected.json (window device) and expected_job.json (window job) for the traces in this
folder, with the ledger's reference program in ../shared/oracle and the rules that came after it
(tests/lib/oracle.py). Run it when a trace here or a rule changes."""
import glob
import json
import os
import sqlite3
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import oracle

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    ref_ledger = oracle.ref_ledger()
    for window, name in (('device', 'expected.json'), ('job', 'expected_job.json')):
        out = {}
        with tempfile.TemporaryDirectory() as where:
            for path in sorted(glob.glob(os.path.join(HERE, '*.json')) +
                               glob.glob(os.path.join(HERE, '*.sql'))):
                base = os.path.basename(path)
                if base.startswith('expected'):
                    continue
                if base.endswith('.sql'):
                    db = os.path.join(where, base.replace('.sql', '.sqlite'))
                    with open(path, encoding='utf-8') as f, sqlite3.connect(db) as c:
                        c.executescript(f.read())
                    path = db
                out[base] = ref_ledger.ledger(path, window)
        with open(os.path.join(HERE, name), 'w', encoding='utf-8') as f:
            json.dump(out, f, indent=1)
            f.write('\n')


if __name__ == '__main__':
    main()
