# SPDX-License-Identifier: Apache-2.0
"""Runs in an object store, and the workers that analyse them. A run is put once, by `gpustarve put`, and stands there
under as many names as a test wants, each with a run.json of its own."""
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess

import gs
from daemon import die_with_parent

SITE = 's3://traces/site'
COLLECTOR = os.path.join(os.path.dirname(gs.CLI), 'gpustarve-collector')
MARK = re.compile(r'site/\.work/([^/]+)/([^/]+)/(\w+)-(\d{20})-([0-9a-f]{16})')


def environment(store):
    return gs.environment(HOME='/nowhere', **store.environment())


class Runs:
    """What lies below SITE of @store, a Checked one, made of the folder @run."""

    def __init__(self, store, where, run, *options):
        self.store, self.where, self.run = store, where, run
        done = gs.command([gs.CLI, 'put', run, 's3://traces/made', *options], env=environment(store))
        gs.equal((done.returncode, done.stderr), (0, b''), 'put')
        made = 'made/' + os.path.basename(run)[:-len('.gst')] + '/'
        self.pieces = {k[len(made):]: v for (b, k), v in store.objects.items() if k.startswith(made) and k.count('/') == 3}
        for key in [k for k in store.objects if k[1].startswith('made/')]:
            del store.objects[key]

    def set(self, key, data):
        self.store.objects['traces', key] = data
        self.store.changed['traces', key] = self.store.now()

    def add(self, team, run, pieces=None, status=0):
        """status: None, while it goes on."""
        below = f'site/{team}/{run}/' if team else f'site/{run}/'
        with self.store.lock:
            for key, data in (self.pieces if pieces is None else pieces).items():
                self.set(below + key, data)
            self.set(below + 'run.json', json.dumps({'id': run, 'exit_status': status, 'labels': {}}).encode())

    def folder(self, run):
        """The same run in a folder."""
        path = os.path.join(self.where, 'folders', run + '.gst')
        shutil.copytree(self.run, path)
        with open(os.path.join(path, 'run.json'), 'w', encoding='utf-8') as f:
            json.dump({'id': run, 'exit_status': 0, 'labels': {}}, f)
        return path

    def digests(self, team, names):
        """What `gpustarve digest FOLDER` says of each."""
        done = gs.command([gs.CLI, 'digest', *[self.folder(n) for n in names], *(['--team', team] if team else [])],
                          env=gs.environment(HOME='/nowhere'))
        gs.equal(done.returncode, 0, f'digest: {done.stderr}')
        return dict(zip(names, done.stdout.decode().splitlines()))

    def marks(self, kind=None):
        """(team, run, kind, revision, content), of that kind."""
        with self.store.lock:
            found = [MARK.match(k) for _, k in self.store.objects]
        return sorted((t if t != '.none' else '', r, k, int(rev), content)
                      for t, r, k, rev, content in (m.groups() for m in found if m) if kind in (None, k))

    def text(self, kind, team, run):
        with self.store.lock:
            return [v.decode() for (_, k), v in sorted(self.store.objects.items())
                    if k.startswith(f'site/.work/{team or ".none"}/{run}/{kind}-')]


def plain(digest):
    """But for its revision."""
    return re.sub(r'"revision": \d+', '"revision": 0', digest.strip())


def rows(where):
    """{(team, run): its digest} of the SQLite file, where each has a row."""
    db = sqlite3.connect(f'file:{where}/fleet?mode=ro', uri=True)
    with db:
        got = db.execute('SELECT tenant, run, text FROM run JOIN digest USING(key)').fetchall()
    db.close()
    gs.equal(len(got), len({(t, r) for t, r, _ in got}), 'a row each')
    return {(t, r): text for t, r, text in got}


LIMITS = {'digest-after': '0s', 'work-pause': '0s'}


def worker(where, *options, program=None, url=SITE, **limits):
    limits = {**LIMITS, **{k.replace('_', '-'): v for k, v in limits.items()}}
    return [program or COLLECTOR, '--work', url, '--dir', os.path.join(where, 'work'),
            '--store', f'sqlite:{where}/fleet', *[w for k, v in limits.items() for w in ('--limit', f'{k}={v}')], *options]


def once(store, where, *options, **kw):
    done = gs.command(worker(where, '--once', *options, **kw), env=environment(store))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class Worker:
    """One that goes on until it is stopped; a context manager."""

    def __init__(self, store, where, *options, **kw):
        self.store, self.argv = store, worker(where, *options, **kw)
        self.log_path, self.process = os.path.join(where, f'worker-{id(self):x}.log'), None
        self.start()

    def start(self):
        with open(self.log_path, 'ab') as log:
            self.process = subprocess.Popen(self.argv, stderr=log, env=environment(self.store), preexec_fn=die_with_parent)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(60)

    def log(self):
        with open(self.log_path, encoding='utf-8', errors='replace') as f:
            return f.read()

    def __enter__(self):
        return self

    def __exit__(self, *ended):
        if self.process.poll() is None:
            self.kill()


def instead(where, script):
    """A collector beside a gpustarve that is this shell script, with the true one as $REAL."""
    folder = os.path.join(where, 'bin')
    os.makedirs(folder, exist_ok=True)
    shutil.copy(COLLECTOR, folder)
    path = os.path.join(folder, 'gpustarve')
    with open(path + '.new', 'w', encoding='utf-8') as f:
        f.write(f'#!/bin/sh\nREAL={shlex.quote(gs.CLI)}\n{script}\n')
    os.chmod(path + '.new', 0o755)
    os.rename(path + '.new', path)
    return os.path.join(folder, 'gpustarve-collector')
