#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=1200
"""gpustarve-collector --work: runs of an object store are analysed by any number of workers, each once in the store of
digests though workers are killed and frozen amid it and the store storms; what fails is put aside with its reason, teams
have their turns, and what grows is analysed again. The store's clock is days off this machine's.

GS_BIG=1 plays 200 rounds of the campaign, or GS_ROUNDS, and one worker on a real Swift."""
import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import bucketruns as br
import gs
import objectstore
import tiny
from central import Centre
from collector import seeded, wait_for

RECORDED = os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-cnn.gst')
TEAMS = [('vision', 7), ('text', 3), ('', 2)]


def analysed(log):
    return sum(line.startswith('gpustarve: collector: analysed ') for line in log.splitlines())


def storm(rng, share):
    """Trouble for some of the requests."""
    def weather(_method, _path):
        if rng.random() >= share:
            return None
        return rng.choice([503, 503, 500, 429, 'drop', 'lost', 'cut'])
    return weather


ROUNDS = int(os.environ.get('GS_ROUNDS', 200 if gs.BIG else 1))
HARMS = 60  # of a round at most: on a busy machine nobody would live long enough to end one run


def harm(rng, workers):
    """A worker is killed and another comes, or is frozen for longer than its lease, or for less."""
    w = rng.choice(workers)
    if rng.random() < .5:
        w.kill()
        w.start()
        return
    w.process.send_signal(signal.SIGSTOP)
    yield rng.choice([.3, 2.5])
    w.process.send_signal(signal.SIGCONT)


def play(seed, where, store, runs):
    """One round: all are analysed at its end. How many analyses that took, and kills and freezes that came."""
    rng = random.Random(seed)
    names = {team: [f'r{seed % 100000}-{team}{i}' for i in range(n)] for team, n in TEAMS}
    for team, of_team in names.items():
        for run in of_team:
            runs.add(team, run)
    want = {(t, r) for t, of_team in names.items() for r in of_team}
    # a frozen one holds its folder; here each has one of its own
    workers = [br.Worker(store, os.path.join(where), '--dir', os.path.join(where, f'w{seed}-{i}'), work_lease='2s', work_tries='0')
               for i in range(3)]
    store.weather = storm(rng, .04)
    until = time.monotonic() + 300
    pending, harmed = [], 0
    while not want <= {m[:2] for m in runs.marks('digest')} and time.monotonic() < until:
        time.sleep(rng.uniform(.1, .5))
        now = time.monotonic()
        pending = [(at, h) for at, h in pending if at > now or next(h, None)]
        if len(pending) < 2 and harmed < HARMS:
            h = harm(rng, workers)
            s = next(h, None)
            harmed += 1
            if s:
                pending.append((now + s, h))
    store.weather = lambda method, path: None
    for _, h in pending:
        next(h, None)
    time.sleep(.5)  # who was frozen goes on with what it was at
    for w in workers:
        w.process.send_signal(signal.SIGCONT)
        gs.equal(w.stop(), 0, 'ended as asked')
    gs.equal({m[:2] for m in runs.marks('digest')} & want, want, f'seed {seed}: all are analysed')
    got = br.rows(where)
    for team, of_team in names.items():
        for run, digest in runs.digests(team, of_team).items():
            text = runs.text('digest', team, run)
            gs.equal([br.plain(t) for t in text], [br.plain(digest)], f'seed {seed}: the object of {run}')
            gs.equal(br.plain(got.get((team, run), '')), br.plain(digest), f'seed {seed}: the row of {run}')
    gs.equal({k for k in got if k[1].startswith(f'r{seed % 100000}-')}, want, f'seed {seed}: no other rows')
    return sum(analysed(w.log()) for w in workers), harmed


def test_each_once_through_kills_freezes_and_storms():
    rng = seeded()
    with gs.scratch() as where, objectstore.Checked(page=7) as store:
        store.ahead_s = -3e6
        runs = br.Runs(store, where, tiny.imported(where))
        played = [play(rng.randrange(1 << 30), where, store, runs) for _ in range(ROUNDS)]
        done, harmed = (sum(p[i] for p in played) for i in range(2))
        gs.check(harmed, 'nobody was harmed')
        print(f'{done} analyses of {len(runs.marks("digest"))} runs; {harmed} kills and freezes')


def test_leases_spare_the_work():
    """Nobody is harmed: three workers analyse each run once between them."""
    with gs.scratch() as where, objectstore.Checked() as store:
        store.ahead_s = 3e6
        runs = br.Runs(store, where, tiny.imported(where))
        want = {('vision', f'r{i}') for i in range(9)}
        for team, run in want:
            runs.add(team, run)
        workers = [br.Worker(store, where) for _ in range(3)]
        wait_for(lambda: {m[:2] for m in runs.marks('digest')} == want, 'all are analysed')
        wait_for(lambda: sum(analysed(w.log()) for w in workers) >= 9, 'and told')
        for w in workers:
            gs.equal(w.stop(), 0, 'ended as asked')
        gs.equal(sum(analysed(w.log()) for w in workers), 9, 'analyses')
        gs.equal((runs.marks('lease'), runs.marks('fail')), ([], []), 'no marks are left')


def test_who_is_dead_leaves_nothing():
    """A worker that was killed amid a run leaves a folder, which the next one removes; one that is stopped leaves none,
    and gives its run back at once."""
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('vision', 'a')
        slow = br.instead(where, f'touch {where}/begun; sleep 60')
        work = os.path.join(where, 'work')
        with br.Worker(store, where, program=slow) as w:
            wait_for(lambda: os.path.exists(f'{where}/begun'), 'it is at work')
            gs.equal((len(os.listdir(work)), len(runs.marks('lease'))), (1, 1), 'a folder and a lease')
            w.kill()
        gs.equal((len(os.listdir(work)), len(runs.marks('lease'))), (1, 1), 'both stay')
        os.unlink(f'{where}/begun')
        store.ahead_s = 1000  # the lease has run out
        with br.Worker(store, where, program=slow) as w:
            wait_for(lambda: os.path.exists(f'{where}/begun'), 'another one is at it')
            gs.equal(len(os.listdir(work)), 1, 'the folder of the dead one is gone')
            gs.equal(w.stop(), 0, 'stopped')
        gs.equal((os.listdir(work), runs.marks('lease')), ([], []), 'nothing is left')
        gs.check('its worker was not heard of any more (' in str(runs.text('fail', 'vision', 'a')), 'the attempt is remembered')
        code, _, log = br.once(store, where)
        gs.check(code == 0 and 'analysed vision/a' in log, f'at once: {log}')


def test_many_start_at_once():
    """On one folder, where each takes the others' for what a dead one left, if it may."""
    with gs.scratch() as where, objectstore.Checked() as store:
        env = br.environment(store)
        br.Runs(store, where, tiny.imported(where)).add('vision', 'a')
        for _ in range(4):
            workers = [subprocess.Popen(br.worker(where, '--once'), env=env, stderr=subprocess.PIPE, text=True) for _ in range(10)]
            said = [w.communicate()[1] for w in workers]
            gs.equal([w.returncode for w in workers], [0] * 10, f'{said}')
        gs.equal(os.listdir(os.path.join(where, 'work')), [], 'nothing is left')


def test_dead_letters():
    """What cannot be read, and what kills its worker, are put aside after three attempts, with the reason; by hand they are
    taken up again."""
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('vision', 'good')
        runs.add('vision', 'junk', {k: os.urandom(3000) for k in runs.pieces})
        runs.add('text', 'killer')
        kills = br.instead(where, 'case "$2" in *killer.gst) kill -9 $PPID; sleep 9;; *) exec "$REAL" "$@";; esac')
        killed = 0
        for _ in range(20):
            code, _, log = br.once(store, where, program=kills, work_tries='3', work_lease='2s')
            killed += code == -9
            store.ahead_s += 10
            if code == 0:
                break
        gs.equal((code, killed), (0, 3), f'three workers were killed: {log}')
        gs.equal({m[:2] for m in runs.marks('dead')}, {('vision', 'junk'), ('text', 'killer')}, 'put aside')
        gs.equal({m[:2] for m in runs.marks('digest')}, {('vision', 'good')}, 'the other one is done')
        said = gs.command(br.worker(where, '--dry-run'), env=br.environment(store)).stdout.decode()
        gs.check('dead text/killer: its worker was not heard of any more' in said, said)
        gs.check('dead vision/junk: exit status 1: gpustarve: ' in said and '\ntotal 0 waiting, 0 busy, 2 dead, 1 with a digest\n' in said, said)
        gs.equal(set(br.rows(where)), {('vision', 'good')}, 'rows')
        asked = len(store.asked)
        br.once(store, where)
        gs.check(not any(m == 'GET' and '00000-0' in p for m, p, _ in store.asked[asked:]), 'nothing of them is fetched again')
        for run in 'text/killer', 'vision/junk':
            done = gs.command(br.worker(where, '--again', run), env=br.environment(store))
            gs.equal((done.returncode, b'4 marks' in done.stdout), (0, True), f'again {run}: {done.stdout} {done.stderr}')
        runs.add('vision', 'junk')  # mended
        code, _, log = br.once(store, where)
        gs.check(code == 0 and analysed(log) == 2, log)
        gs.equal(set(br.rows(where)), {('vision', 'good'), ('vision', 'junk'), ('text', 'killer')}, 'rows')
        gs.equal(runs.marks('dead') + runs.marks('fail') + runs.marks('lease'), [], 'no marks are left')


def test_what_is_no_run_is_put_aside():
    """A small file that is none: nobody reads it, and others have their turn."""
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('vision', 'big')
        runs.add('vision', 'good')
        runs.set('site/vision/big/exit-a.json', b'x' * (2 << 20))
        code, _, log = br.once(store, where)
        gs.check(code == 0 and analysed(log) == 1 and 'vision/big is put aside: more lies there' in log, log)
        gs.equal([m[:3] for m in runs.marks()], [('vision', 'big', 'dead'), ('vision', 'good', 'digest')], 'marks')


def test_teams_have_their_turns():
    """One team's sixteen runs came first; the two of another one and the one of a third are done before its fifth."""
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        for i in range(16):
            runs.add('many', f'm{i}')
        runs.add('few', 'f0')
        runs.add('few', 'f1')
        runs.add('one', 'o0')
        quick = br.instead(where, 'case $1 in digest) echo "{}" >"$4";; esac')
        code, _, log = br.once(store, where, program=quick)
        order = [line.split()[3].split('/')[0] for line in log.splitlines() if ' analysed ' in line]
        gs.equal((code, len(order)), (0, 19), f'{log}')
        last = max(order.index('one'), [i for i, t in enumerate(order) if t == 'few'][1])
        gs.check(order[:last].count('many') <= 4, f'{order[:12]}')
        print(f'done before the last of the others: {order[:last].count("many")} of 16')


def test_what_grows_is_analysed_again():
    """A late segment: the digest of all of it takes the place of the first one's, in the store and in the bucket; a
    worker that was frozen with the old one takes nothing back."""
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, RECORDED, '--segment-bytes', '65536')
        keys = sorted(runs.pieces)
        begun = os.path.join(where, 'begun')
        frozen = br.instead(where, f'cp -r "$2" {where}/seen.gst; "$REAL" "$@" || exit; touch {begun}; '
                            f'while [ -e {begun} ]; do sleep .05; done')
        runs.add('vision', 'r', {k: runs.pieces[k] for k in keys[:1]})
        with br.Worker(store, where, program=frozen, work_lease='2s') as w:
            wait_for(lambda: os.path.exists(begun), 'the row of the first part is in')
            first = br.rows(where)['vision', 'r']
            w.process.send_signal(signal.SIGSTOP)
            store.ahead_s += 10
            runs.add('vision', 'r')
            code, _, log = br.once(store, where, work_lease='2s')
            gs.check(code == 0 and 'analysed vision/r' in log, log)
            second, marks = br.rows(where)['vision', 'r'], runs.marks('digest')
            gs.check(br.plain(first) != br.plain(second), 'another digest')
            os.unlink(begun)
            w.process.send_signal(signal.SIGCONT)
            wait_for(lambda: 'analysed vision/r' in w.log(), 'the frozen one is done')
            w.stop()
        gs.equal(br.rows(where)['vision', 'r'], second, 'its row changed nothing')
        gs.check(set(marks) <= set(runs.marks('digest')) and len(marks) == 1, f'nor did it take away the newer mark: {runs.marks()}')
        gs.equal(br.plain(second), br.plain(runs.digests('vision', ['r'])['r']), 'that of the whole run')
        asked = len(store.asked)
        code, _, log = br.once(store, where)
        gs.check('analysed' not in log and not any('/0000' in p and m == 'GET' for m, p, _ in store.asked[asked:]),
                 f'it is settled: {log}')


def test_when_a_run_has_ended():
    """With its end, once nobody has written for digest-after; without one, after lost-after."""
    with gs.scratch() as where, objectstore.Checked() as store:
        began = store.now() - 5000
        store.now = lambda: began  # it stands still: ten seconds matter, and a busy machine takes some for each look
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('a', 'ended')
        runs.add('a', 'goes-on', status=None)
        for later, ended in ((0, set()), (40, set()), (70, {'ended'}), (1790, {'ended'}), (1850, {'ended', 'goes-on'})):
            store.now = lambda later=later: began + later
            code, _, log = br.once(store, where, digest_after='60s', lost_after='30m')
            gs.equal((code, {m[1] for m in runs.marks('digest')}), (0, ended), f'after {later} s: {log}')


def test_reports_and_runs_of_no_team():
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('', 'alone')
        runs.add('team', 'r')
        for key in 'site/team/slurm-c-7.job/run.json', 'site/.hidden/x/run.json', 'site/x', 'site/t&m/r/run.json':
            runs.set(key, b'{}')
        code, _, log = br.once(store, where, '--reports')
        gs.equal((code, analysed(log)), (0, 2), log)
        for team, run in ('', 'alone'), ('team', 'r'):
            page, summary = runs.text('report', team, run), runs.text('summary', team, run)
            gs.check(len(page) == 1 and page[0].startswith('<!doctype html>') and len(summary) == 1, f'{run}: page and summary')
            near = gs.gpustarve('report', runs.folder(run), '--format', 'json').stdout.decode()
            gs.equal(len(summary[0]), len(near), f'{run}: summary')
        gs.equal(set(br.rows(where)), {('', 'alone'), ('team', 'r')}, 'rows')


def test_trouble_is_no_fault_of_a_run():
    """A store of digests that is away, and one of objects that refuses: nothing is held against the run."""
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('vision', 'a')
        full = br.instead(where, 'exit 3')
        with br.Worker(store, where, program=full) as w:
            wait_for(lambda: 'exit status 3; it is tried again' in w.log(), 'a store that takes nothing')
            wait_for(lambda: not runs.marks('lease'), 'the run is given back')
            w.stop()
        gs.equal(runs.marks(), [], 'no mark')
        store.refused = 403
        with br.Worker(store, where) as w:
            wait_for(lambda: 'it is tried again' in w.log(), 'blocks that are refused')
            w.stop()
        gs.equal(runs.marks(), [], 'no mark')
        gs.check(store.who[1] not in w.log(), 'no secret in the log')
        if gs.BIG:
            gs.equal(br.once(store, where)[0], 1, '--once gives up')
        store.refused = None
        gs.equal(br.once(store, where)[0], 0, 'then it works')
        gs.equal(set(br.rows(where)), {('vision', 'a')}, 'rows')


def test_what_waits_in_an_outbox_is_not_done():
    """A server of digests that is away: `gpustarve digest` keeps them in a file of the machine's, from which a worker may
    never come back. The run is not done before the server has it."""
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('vision', 'a')
        port = gs.free_ports(1)[0]
        with br.Worker(store, where, '--store', f'clickhouse://127.0.0.1:{port}/fleet?outbox={where}/outbox') as w:
            wait_for(lambda: 'it is tried again' in w.log(), 'the server is away')
            w.stop()
        gs.equal((os.path.exists(f'{where}/outbox'), runs.marks()), (True, []), f'it waits there, and no mark: {w.log()}')
        takes = br.instead(where, 'case $2 in --flush) exit 0;; *) exec "$REAL" "$@";; esac')
        code, _, log = br.once(store, where, '--store', f'clickhouse://127.0.0.1:{port}/fleet?outbox={where}/outbox', program=takes)
        gs.equal((code, [m[2] for m in runs.marks()]), (0, ['digest']), f'once the server has it: {log}')


def test_metrics():
    with gs.scratch() as where, objectstore.Checked() as store:
        os.environ.update(store.environment())
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('vision', 'a')
        runs.add('vision', 'b', status=None)
        with Centre(os.path.dirname(gs.CLI), where, https=False, tokens=None,
                    options=['--no-token', *br.worker(where)[1:]]) as c:
            def told():
                words = c.ask('GET', '/metrics', token=None)[2].decode().splitlines()
                return {line.split()[0]: line.split()[1] for line in words if '_work' in line and line[0] != '#'}
            wait_for(lambda: told().get('gpustarve_collector_work_digests_total') == '1', 'a digest')
            wait_for(lambda: told().get('gpustarve_collector_waiting_work') == '0', 'the other one need not be looked at yet')
            gs.equal(told().get('gpustarve_collector_dead_work'), '0', f'{told()}')
            gs.equal(c.stop(), 0, 'stopped')


def test_on_a_real_swift():
    if not gs.BIG or not objectstore.there():
        gs.left_out('Swift (GS_BIG=1, scripts/setup)')
        return
    with gs.scratch() as where, objectstore.swift(os.path.join(where, 'swift')) as store:
        with open(os.path.join(where, 'cfg'), 'w', encoding='utf-8') as f:
            f.write(f'[default]\naccess_key={objectstore.KEY}\nsecret_key={objectstore.SECRET}\nuse_https=False\n'
                    f'host_base=127.0.0.1:{store.port}\nhost_bucket=127.0.0.1:{store.port}\n')
        subprocess.run(['s3cmd', '-c', os.path.join(where, 'cfg'), 'mb', 's3://traces'], check=True, stdout=subprocess.DEVNULL)
        want = {}
        for i in range(6):
            run = os.path.join(where, f'r{i}.gst')
            os.rename(tiny.imported(where, f'r{i}', steps=4 + i), run)
            with open(os.path.join(run, 'run.json'), 'w', encoding='utf-8') as f:
                json.dump({'id': f'r{i}', 'exit_status': 0, 'labels': {}}, f)
            gs.equal(gs.command([gs.CLI, 'put', run, br.SITE + '/vision'], env=br.environment(store)).returncode, 0, 'put')
            want['vision', f'r{i}'] = gs.gpustarve('digest', run, '--team', 'vision').stdout.decode()
        workers = [subprocess.Popen(br.worker(where, '--once'), env=br.environment(store), stderr=subprocess.PIPE, text=True)
                   for _ in range(3)]
        log = ''.join(w.communicate()[1] for w in workers)
        gs.equal(analysed(log), 6, f'each once: {log}')
        gs.equal({k: br.plain(v) for k, v in br.rows(where).items()}, {k: br.plain(v) for k, v in want.items()}, 'rows')
        code, _, log = br.once(store, where)
        gs.equal((code, analysed(log)), (0, 0), f'nothing is left: {log}')


def test_credentials_are_not_handed_down():
    with gs.scratch() as where, objectstore.Checked() as store:
        runs = br.Runs(store, where, tiny.imported(where))
        runs.add('vision', 'a')
        code, _, log = br.once(store, where, program=br.instead(where, f'env >{where}/env; exec "$REAL" "$@"'))
        with open(f'{where}/env', encoding='utf-8') as f:
            words = f.read()
        gs.check(code == 0 and 'AWS_SECRET' not in words and 'GPUSTARVE_LOCAL_FILES=0' in words, f'{log}{words}')


def test_a_wrong_prefix():
    """Nothing at all lies there: that is no worker's success. Where its own marks are, runs were."""
    with gs.scratch() as where, objectstore.Checked() as store:
        store.objects['traces', 'site/vision/readme'] = b'x'
        for options in (['--once'], ['--dry-run']):
            code, said, log = br.once(store, where, url='s3://traces/sit') if options == ['--once'] else \
                dry(store, where, 's3://traces/sit')
            gs.check(code == 1 and not said and 'nothing lies below s3://traces/sit' in log and 'prefix' in log, f'{options}: {code} {said} {log}')
        del store.objects['traces', 'site/vision/readme']
        store.objects['traces', 'site/.work/vision/a/digest-00000000000000000001-0123456789abcdef'] = b'{}'
        gs.equal(br.once(store, where)[::2], (0, ''), 'runs that have gone')
        gs.equal(dry(store, where, br.SITE)[0], 0, 'runs that have gone')


def dry(store, where, url):
    done = gs.command([br.worker(where)[0], '--work', url, '--dry-run'], env=br.environment(store))
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_wrong_options():
    for options, why in ((['--work', 'http://x'], b's3://BUCKET'), (['--once', '--unix', 'x'], b'--work'),
                         (['--work', 's3://x', '--unix', 'x'], b'another collector'), (['--work', 's3://bucket', '--again', 'a/b/c'], b'TEAM/RUN')):
        env = gs.environment(HOME='/nowhere', AWS_ACCESS_KEY_ID='a', AWS_SECRET_ACCESS_KEY='b')
        done = gs.command([br.worker('/nowhere')[0], *options], env=env)
        gs.check(done.returncode == 1 and why in done.stderr, f'{options}: {done.returncode} {done.stderr}')


if __name__ == '__main__':
    gs.run_tests(globals())
