#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""Jobs of a scheduler in an object store: what a job was given comes there by way of a gateway, though that is killed before
it answers, and a worker makes the job's digest of it and of the runs: the bill is that of the same job in a folder, to the
nanosecond, whoever is killed, whatever comes twice or late, and whatever else has such a name."""
import contextlib
import glob
import http.client
import json
import os
import sqlite3
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import bucketruns as br
import central
import collector as c
import gateways
import gs
import jobsmade
import objectstore

S, DAY = 10**9, 86400


def step(out, number, start=10, end=40, job=9):
    """A step with one process on one GPU of n1."""
    name = f'slurm-c1-{job}.{number}-0'
    env = [('SLURM_JOB_ID', job), ('SLURM_CLUSTER_NAME', 'c1'), ('SLURM_STEP_ID', number)]
    return jobsmade.run(out, name, [f'run {name}'], jobsmade.stream(start=start, end=end, pid=100 * job + number, env=env),
                        record={'exit_status': 0})


def put(store, where, team='vision'):
    """A folder of runs and jobs, as gateways would put it."""
    for run in glob.glob(f'{glob.escape(where)}/*.gst'):
        done = gs.command([gs.CLI, 'put', run, '/'.join(filter(None, (br.SITE, team)))], env=br.environment(store))
        gs.equal((done.returncode, done.stderr), (0, b''), 'put')
    for path in glob.glob(f'{glob.escape(where)}/*.job/*'):
        with open(path, 'rb') as f:
            data = f.read()
        name = os.path.basename(path)
        if name.startswith('alloc-') and b'"end_unix_ns": null' in data:
            name = name.replace('alloc-', 'begun-', 1)
        place(store, '/'.join(filter(None, ('site', team, os.path.basename(os.path.dirname(path)), name))), data)


def place(store, key, data):
    with store.lock:
        store.objects['traces', key] = data
        store.changed['traces', key] = store.now()


def of_folder(where, out, team='vision'):
    """What the digests of all in the folder come to, in a store of their own."""
    os.makedirs(where)
    names = sorted(glob.glob(f'{glob.escape(out)}/*.gst') + glob.glob(f'{glob.escape(out)}/*.job'))
    done = gs.command([gs.CLI, 'digest', *names, *(['--team', team] if team else []), '--store', f'sqlite:{where}/fleet'],
                      env=gs.environment(HOME='/nowhere'))
    gs.equal(done.returncode, 0, f'digest: {done.stderr}')
    return where


def same_bill(one, other, what):
    a, b = ({k: br.plain(v) for k, v in br.rows(w).items()} for w in (one, other))
    gs.equal(a, b, what)
    bills = [gs.gpustarve('fleet', '--store', f'sqlite:{w}/fleet', '--by', by, '--format', 'csv').stdout
             for w in (one, other) for by in ('run', 'user')]
    gs.equal(bills[:2], bills[2:], f'{what}: the bill')


def held(where):
    """{run: (GPU time, what no process used)} of what counts."""
    db = sqlite3.connect(f'{where}/fleet')
    found = [json.loads(text) for text, in db.execute('SELECT text FROM digest')]
    db.close()
    return {d['run']: (sum(g['held_ns'] for g in d['gpus']), d['classes'].get('excluded.no_process', [0])[0]) for d in found}


def analysed(log):
    return sorted(line.split()[3].rstrip(':') for line in log.splitlines() if ' analysed ' in line)


def marks(store, run, kind='digest'):
    with store.lock:
        return [k for _, k in store.objects if f'/{run}/{kind}-' in k and k.startswith('site/.work/')]


def made(out):
    """Jobs of all kinds."""
    step(out, 0)
    step(out, 1, 50, 80)
    jobsmade.alloc(out)  # one of four GPUs was used, twice: its rest stands beside its steps
    jobsmade.alloc(out, node='n2', end=93, gpus=[{'index': 0, 'uuid': jobsmade.uuid(9), 'name': jobsmade.NAME}])
    step(out, 0, job=10)
    step(out, 1, 20, 50, job=10)
    jobsmade.alloc(out, job=10, gpus=2)  # by two at once: all of it stands in place of its steps
    jobsmade.alloc(out, job=11, start=5, end=66)  # by nobody
    with open(os.path.join(jobsmade.alloc(out, job=12), 'unrecorded-n1'), 'w', encoding='ascii'):
        pass


def test_bill_of_a_folder():
    with gs.scratch() as where, objectstore.Checked(page=7) as store:
        out = os.path.join(where, 'out')
        os.mkdir(out)
        made(out)
        put(store, out)
        code, _, log = br.once(store, where)
        gs.equal((code, [n for n in analysed(log) if n.endswith('.job')]), (0, [f'vision/c1-{n}.job' for n in (10, 11, 12, 9)]), log)
        same_bill(where, of_folder(os.path.join(where, 'near'), out), 'all kinds')
        got = held(where)
        gs.equal((got['slurm-c1-9'], got['slurm-c1-11'], got['slurm-c1-12']),
                 ((433 * S,) * 2, (244 * S,) * 2, (400 * S, 0)), f'what was held {got}')
        gs.equal(got['slurm-c1-10'][0], 200 * S, 'all of a job whose steps shared a GPU')
        asked = len(store.asked)
        code, _, log = br.once(store, where)
        gs.equal((code, analysed(log)), (0, []), 'nothing is left')
        gs.check(not any(m == 'GET' and 'alloc-' in p for m, p, _ in store.asked[asked:]), 'nothing is fetched again')


def test_pages_and_no_team():
    with gs.scratch() as where, objectstore.Checked() as store:
        out = os.path.join(where, 'out')
        os.mkdir(out)
        step(out, 0)
        jobsmade.alloc(out)
        put(store, out, '')
        code, _, log = br.once(store, where, '--reports')
        gs.equal((code, analysed(log)), (0, ['c1-9.job', 'slurm-c1-9.0-0']), log)
        same_bill(where, of_folder(os.path.join(where, 'near'), out, ''), 'of no team')
        gs.equal([len(marks(store, 'c1-9.job', kind)) for kind in ('report', 'summary', 'digest')], [1, 1, 1], 'a page')
        page, summary = (store.objects['traces', marks(store, 'c1-9.job', kind)[0]] for kind in ('report', 'summary'))
        gs.check(page.startswith(b'<!doctype html>'), 'it is one')
        near = gs.gpustarve('report', os.path.join(out, 'c1-9.job'), '--format', 'json').stdout
        gs.equal(len(summary), len(near), 'the summary')


def test_a_job_goes_on():
    """Until its GPUs are given back, or for a day where a node was lost; then anew with what comes late. What the bucket no longer
    has is held against nobody."""
    with gs.scratch() as where, objectstore.Checked() as store:
        out = os.path.join(where, 'out')
        os.mkdir(out)
        step(out, 0)
        jobsmade.alloc(out, end=None)
        put(store, out)
        store.ahead_s = DAY - 600
        gs.equal((br.once(store, where)[0], held(where)), (0, {'slurm-c1-9.0-0': (30 * S, 0)}), 'it has its GPUs')
        store.ahead_s = DAY + 600
        gs.equal(br.once(store, where)[0], 0, 'a day later')
        same_bill(where, of_folder(os.path.join(where, 'lost'), out), 'a node was lost')
        jobsmade.alloc(out)
        put(store, out)
        code, _, log = br.once(store, where)
        gs.equal((code, held(where)['slurm-c1-9']), (0, (370 * S, 370 * S)), f'its end came {log}')
        begun = store.objects['traces', 'site/vision/c1-9.job/begun-n1-0.json']
        gs.check(json.loads(begun)['end_unix_ns'] is None, 'beside what was there')
        step(out, 1, 50, 80)
        put(store, out)
        gs.equal((br.once(store, where)[0], held(where)['slurm-c1-9']), (0, (340 * S, 340 * S)), 'a step that came late')
        same_bill(where, of_folder(os.path.join(where, 'all'), out), 'all of it')
        newest = max(store.changed[k] for k in store.objects if '-9' in k[1] and '/.work/' not in k[1])
        place(store, 'site/vision/c1-9.job/unrecorded-n1', b'')
        store.changed['traces', 'site/vision/c1-9.job/unrecorded-n1'] = newest
        br.once(store, where)
        before = held(where)
        gs.equal(before['slurm-c1-9'], (340 * S, 0), 'in the same second, what was not seen')
        with store.lock:
            for key in [k for k in store.objects if k[1].startswith(('site/vision/slurm-c1-9.0-0/', 'site/vision/c1-9.job/unr'))]:
                del store.objects[key]
        gs.equal((br.once(store, where)[0], held(where)), (0, before), 'what is gone takes nothing back')
        with store.lock:
            for key in [k for k in store.objects if k[1].startswith('site/.work/vision/c1-9.job/')]:
                del store.objects[key]
        late = os.path.join(where, 'late')
        os.mkdir(late)
        gs.equal((br.once(store, late)[0], held(late)['slurm-c1-9']), (0, (370 * S, 0)), 'nobody is accused of what is gone')


def test_a_run_that_cannot_be_had():
    """Of a job without it nothing is told, and nobody is accused."""
    with gs.scratch() as where, objectstore.Checked() as store:
        out = os.path.join(where, 'out')
        os.mkdir(out)
        step(out, 0)
        put(store, out)
        gs.equal(br.once(store, where)[0], 0, 'the run alone')
        before = held(where)
        jobsmade.alloc(out)
        put(store, out)
        store.weather = lambda method, path: 403 if method == 'GET' and '/slurm-c1-9.0-0/' in path else None
        with br.Worker(store, where) as w:
            gs.until('it is told', lambda: 'it is tried again' in w.log())
            w.stop()
        gs.equal((held(where), [marks(store, 'c1-9.job', k) for k in ('digest', 'fail', 'dead')]), (before, [[]] * 3), w.log())
        store.weather = lambda method, path: None
        gs.equal(br.once(store, where)[0], 0, 'then it works')
        same_bill(where, of_folder(os.path.join(where, 'near'), out), 'all of it')


def test_worker_is_killed():
    """Once amid the analysis, once when the row is in and nobody knows; the job is there once."""
    with gs.scratch() as where, objectstore.Checked() as store:
        out = os.path.join(where, 'out')
        os.mkdir(out)
        step(out, 0)
        jobsmade.alloc(out)
        put(store, out)
        kills = br.instead(where, f'case "$2" in *.job) [ -e {where}/2 ] && exec "$REAL" "$@"; [ -e {where}/1 ] && '
                           f'{{ touch {where}/2; "$REAL" "$@"; }}; touch {where}/1; kill -9 $PPID; sleep 9;; *) exec "$REAL" "$@";; esac')
        codes = []
        for _ in range(9):
            code, _, log = br.once(store, where, program=kills, work_tries='5', work_lease='2s')
            codes.append(code)
            store.ahead_s += 10
            if code == 0:
                break
        gs.equal(codes, [-9, -9, 0], f'two workers were killed: {log}')
        same_bill(where, of_folder(os.path.join(where, 'near'), out), 'once')
        gs.equal([len(marks(store, 'c1-9.job', k)) for k in ('digest', 'lease', 'fail')], [1, 0, 0], 'marks')
        gs.equal(os.listdir(os.path.join(where, 'work')), [], 'no folder is left')


def test_hostile_names():
    with gs.scratch() as where, objectstore.Checked() as store:
        out = os.path.join(where, 'out')
        os.mkdir(out)
        step(out, 0)
        with open(os.path.join(jobsmade.alloc(out), 'alloc-n9-0.json'), 'wb') as f:
            f.write(b'\xff{"end_unix_ns": 1')
        put(store, out)
        for key in ('c1-9.job/alloc-../../../x-0.json', 'c1-9.job/alloc-a b-0.json', 'c1-9.job/.alloc-x-0.json', 'c1-9.job/begun-.json',
                    'c1-9.job/run.json', 'c1-9.job/' + '1' * 32 + '/00000000000000000001-00000000000000000002', 'c1-9.job/unrecorded-/n1',
                    'slurm-c1-9.a b-0/run.json', 'slurm-c1-9.0;0/run.json', 'slurm-c1-9.8.1-0/run.json', 'slurm-c1-9.x-7.0-0/run.json',
                    'x.job/alloc-n1-0.json', '-9.job/alloc-n1-0.json', 'c1-99999999999.job/alloc-n1-0.json'):
            place(store, 'site/vision/' + key, b'{"exit_status": 0}')
        place(store, 'site/vision/c1-10.job/alloc-n1-0.json', b'x' * (2 << 20))
        asked = len(store.asked)
        code, _, log = br.once(store, where)
        gs.equal((code, analysed(log)), (0, ['vision/c1-9.job', 'vision/slurm-c1-9.0-0']), log)
        gs.check('vision/c1-10.job is put aside: more lies there' in log, log)
        same_bill(where, of_folder(os.path.join(where, 'near'), out), 'as without them')
        got = {p.split('?')[0].split('/vision/')[1] for m, p, _ in store.asked[asked:] if m == 'GET' and '/site/vision/' in p}
        gs.equal({k.split('/')[0] for k in got}, {'c1-9.job', 'slurm-c1-9.0-0'}, 'of nothing else a byte is read')
        gs.equal({k for k in got if '.job' in k}, {'c1-9.job/alloc-n1-0.json', 'c1-9.job/alloc-n9-0.json'}, 'nor of the job')


def ask(port, path, body, **headers):
    k = http.client.HTTPConnection('127.0.0.1', port, timeout=90)
    with contextlib.closing(k):
        k.request('PUT', '/v1/runs/' + path, body, {'Authorization': 'Bearer ' + central.TOKENS['alpha'], 'Gpustarve-Node': 'n1',
                                                    **{n.replace('_', '-'): v for n, v in headers.items()}})
        return k.getresponse().status


class Deadly:
    """Kills the gateway when the store has something of a job, before that is answered: once for each name."""

    def __init__(self, gateway):
        self.gateway, self.died = gateway, []

    def __call__(self, _bucket, key, _body):
        name = key.rsplit('/', 1)[1]
        if '.job/' in key and name not in self.died:
            self.died.append(name)
            self.gateway.process.kill()

    def revive(self, name):
        gs.until(f'it died of {name}', lambda: name in self.died and not self.gateway.alive)
        self.gateway.start()


def test_by_way_of_a_gateway():
    with gs.scratch() as where, objectstore.Checked() as store, gateways.Gateway(where, 'a', store) as a:
        token = central.write(os.path.join(where, 'token'), central.TOKENS['alpha'] + '\n')
        out, at = os.path.join(where, 'out'), 'site/alpha/c1-9.job/'
        os.mkdir(out)
        run = step(out, 0)
        store.put = deadly = Deadly(a)
        with c.Collector(gateways.BIN, options=['--upstream', f'http://127.0.0.1:{a.port}', '--upstream-token-file', token]) as node:
            jobsmade.alloc(node.base, end=None)
            sender = node.client()
            with open(glob.glob(f'{glob.escape(run)}/*.gst')[0], 'rb') as f:
                sender.send(f.read())
            deadly.revive('begun-n1-0.json')
            folder = jobsmade.alloc(node.base)
            deadly.revive('alloc-n1-0.json')
            deadly.died.append('unrecorded-n2')  # with it nobody dies
            central.write(os.path.join(folder, 'unrecorded-n2'), '')
            gs.until('the rest', lambda: any(k == at + 'unrecorded-n2' for _, k in list(store.objects)))
            want = {(f.stream.hex(), f.seq) for f in c.read_stream(glob.glob(f'{glob.escape(run)}/*.gst')[0])}
            gs.until('all of the step', lambda: set(gateways.frames_of(dict(store.objects), 'slurm-c1-9.0-0')[0]) == want)
            sender.close()
            with open(os.path.join(node.base, 'c1-9.job', 'alloc-n1-0.json'), 'rb') as f:
                ended = f.read()
        facts = {k[len(at):]: v for (_, k), v in list(store.objects.items()) if k.startswith(at)}
        begun = facts['begun-n1-0.json']
        gs.equal((sorted(facts), facts['alloc-n1-0.json']), (['alloc-n1-0.json', 'begun-n1-0.json', 'unrecorded-n2'], ended), 'facts')

        store.put = lambda bucket, key, body: None
        gs.equal(a.stop(), 0, 'it has put what it had of the node')
        a.start()
        then = dict(store.objects)
        gs.equal([ask(a.port, 'c1-9.job/files/alloc-n1-0.json', b) for b in (ended, begun, ended)], [200] * 3, 'what comes again')
        gs.equal(ask(a.port, 'c1-9.job/files/alloc-n1-0.json', begun, If_None_Match='*'), 412, 'and late')
        for name in 'begun-n1-0.json', 'alloc-.json', 'alloc-a%20b-0.json', 'alloc-..%2fx-0.json', 'unrecorded-', 'digest.done':
            gs.equal(ask(a.port, 'c1-9.job/files/' + name, ended), 404, name)
        with contextlib.suppress(ConnectionError):  # it may not be waited for
            gs.check(ask(a.port, 'c1-9.job/files/alloc-n3-0.json', b'x' * (2 << 20)) in (400, 413), 'too long')
        gs.equal(store.objects, then, 'nothing of that changes anything')
        gs.equal(a.stop(), 0, 'it ends well')

        jobsmade.alloc(out)
        central.write(os.path.join(out, 'c1-9.job', 'unrecorded-n2'), '')
        os.unlink(os.path.join(run, 'run.json'))
        with open(os.path.join(out, 'c1-9.job', 'alloc-n1-0.json'), 'rb') as f:
            gs.equal(f.read(), ended, 'the same job in a folder')
        code, _, log = br.once(store, where, lost_after='0s')
        gs.equal((code, analysed(log)), (0, ['alpha/c1-9.job', 'alpha/slurm-c1-9.0-0']), log)
        same_bill(where, of_folder(os.path.join(where, 'near'), out, 'alpha'), 'by way of a gateway')
        gs.equal(held(where)['slurm-c1-9'], (370 * S, 370 * S), 'what no process used')


if __name__ == '__main__':
    gs.run_tests(globals(), width=6)
