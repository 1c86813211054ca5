# SPDX-License-Identifier: Apache-2.0
"""What the import tests share: bringing traces into a run, and comparing what `report` says of its
GPUs with what the ledger's reference program says of the trace."""
import os
import shutil
import sqlite3

import gs

DATA = os.path.join(gs.SOURCE, 'tests', 'data', 'import')
TRACES = os.path.join(gs.SHARED, 'traces')
ORACLE = os.path.join(gs.SHARED, 'oracle')


def sqlite_of(script, where):
    """The database that an SQL script describes."""
    path = os.path.join(where, os.path.basename(script).replace('.sql', '.sqlite'))
    if os.path.exists(path):
        os.unlink(path)
    with open(script, encoding='utf-8') as f:
        db = sqlite3.connect(path)
        db.executescript(f.read())
        db.close()
    return path


def imported(where, *files):
    """Imports files into a fresh run; returns the completed process and the run's path."""
    run = os.path.join(where, 'imported.gst')
    shutil.rmtree(run, ignore_errors=True)
    return gs.gpustarve('import', *files, '-o', run), run


def gpus(where, path, window, what):
    """The gpus[] of the summary of one imported file; None (and a failure) where that fails."""
    done, run = imported(where, path)
    if not gs.check(done.returncode == 0, f'{what}: import: {done.stderr.decode().strip()}'):
        return None
    made = gs.summary(run, '--window', window)
    return made and made['gpus']


def compare(got, want, what):
    """Every value that the reference program gives must come out; ids that are text become
    numbers, so there only their order is compared."""
    if got is None or not gs.equal(len(got), len(want), f'{what}: number of GPUs'):
        return
    numbers = all(isinstance(w['index'], int) and w['index'] >= 0 for w in want)
    for g, w in zip(got, want):
        g = gs.without_ranks(g, what)
        differ = {k: (g.get(k), v) for k, v in w.items()
                  if g.get(k) != v and (k != 'index' or numbers)}
        gs.check(not differ, f'{what}, GPU {w["index"]}: (got, want) {differ}')
