#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in object storage: `gpustarve put`, and each command on "s3://..." says byte for byte what it says of the
folder, reads each byte once, and tells what is damaged or missing. On a store that checks signatures and misbehaves
when told to, and on a real Swift."""
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import gs
import objectstore

RECORDED = os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-cnn.gst')
LOOKS = (('report',), ('report', '--format', 'json'), ('report', '--format', 'html'), ('report', '--format', 'markdown'),
         ('dump',), ('dump', '--samples'), ('export', '--format', 'csv'), ('digest',))


def command(store, where, *words):
    env = gs.environment(**{'HOME': '/nowhere', 'TMPDIR': where, **store.environment()})
    return gs.command([gs.CLI, *words], env=env)


def put(store, where, run, *options, to='s3://traces/team'):
    return command(store, where, 'put', run, to, *options)


def shown(done, *places):
    """What came out, without the run's own place in it."""
    out = re.sub(rb'"revision": \d+', b'"revision": 0', done.stdout)
    for place in places:
        out = out.replace(place.encode(), b'RUN')
    return done.returncode, out


def names(store, team='team/'):
    return sorted(k for b, k in store.objects if k.startswith(team))


def test_same_bytes():
    """Every look at it, in one segment and in many; nothing stays in TMPDIR."""
    for options in (), ('--segment-bytes', '65536'):
        with gs.scratch() as where, objectstore.Checked() as store:
            run = os.path.join(where, 'r-1.gst')
            shutil.copytree(RECORDED, run)
            done = put(store, where, run, *options)
            gs.equal((done.returncode, done.stderr), (0, b''), 'put')
            gs.check(b'gpustarve report s3://traces/team/r-1\n' in done.stdout, 'it says how to read it')
            segments = [k for k in names(store) if k.count('/') == 3]
            gs.check(len(segments) == 1 if not options else len(segments) > 2, f'{len(segments)} segments')
            for look in LOOKS:
                far, near = (command(store, where, look[0], at, *look[1:]) for at in ('s3://traces/team/r-1', run))
                gs.equal(far.stderr.replace(b's3://traces/team/r-1', run.encode()), near.stderr, f'{look}: stderr')
                gs.equal(shown(far, 's3://traces/team/r-1'), shown(near, run), f'{look}, {options}')
            gs.equal(os.listdir(where), ['r-1.gst'], 'nothing is left behind')


def test_reads_once():
    with gs.scratch() as where, objectstore.Checked() as store:
        put(store, where, RECORDED, '--segment-bytes', '65536')
        size = sum(len(v) for v in store.objects.values())
        store.asked.clear()
        gs.equal(command(store, where, 'report', 's3://traces/team/h100-cnn').returncode, 0, 'report')
        spans = [(p, *(int(n) for n in h['Range'][6:].split('-'))) for _, p, h in store.asked if 'Range' in h]
        read = asked_of(store)
        table = sum(last + 1 - first for p, first, last in spans if first)
        gs.check(read <= size + table, f'{read} bytes of {size}, tables of contents {table}')
        gs.equal(len(spans), len(set(spans)), 'no part is asked for twice')


def asked_of(store):
    """Bytes of ranges that were asked for."""
    spans = [(p, *(int(n) for n in h['Range'][6:].split('-'))) for _, p, h in store.asked if 'Range' in h]
    return sum(min(last + 1, len(store.objects['traces', p[len('/traces/'):]])) - first for p, first, last in spans)


def test_reads_what_memory_has_no_room_for_once():
    """A run of more than 256 MiB is read twice, and its second half does not fit: that waits in TMPDIR, unless it is memory."""
    with gs.scratch() as where, objectstore.Checked() as store:
        run = os.path.join(where, 'long.gst')
        os.mkdir(run)
        gs.equal(gs.command([os.path.join(gs.BUILD, 'tests', 'long_make'), run, '96000000', '8'], timeout=300).returncode, 0, 'made')
        put(store, where, run)
        size = sum(len(v) for v in store.objects.values())
        gs.check(size > 280 << 20, f'{size} bytes')
        near = command(store, where, 'report', run, '--format', 'json')
        for folder, most in (where, 1.01), ('/dev/shm', 2.01):
            store.asked.clear()
            far = command(store, folder, 'report', 's3://traces/team/long', '--format', 'json')
            gs.equal((far.returncode, far.stdout), (0, near.stdout), 'the same report')
            read = asked_of(store)
            gs.check(most - 1 < read / size <= most, f'{folder}: {read} bytes of {size}')
        gs.equal(sorted(os.listdir(where)), ['long.gst'], 'nothing is left behind')


def test_put_of_a_folder_of_runs():
    """Each of them, the oldest first; one that cannot be put does not keep the others, and shows in the exit status."""
    with gs.scratch() as where, objectstore.Checked() as store:
        base = os.path.join(where, 'runs')
        for i, name in enumerate(('r-2', 'r-1', 'r-3')):
            run = os.path.join(base, name + '.gst')
            shutil.copytree(RECORDED, run)
            for n in os.listdir(run):
                os.utime(os.path.join(run, n), (1e9 + i, 1e9 + i))
        os.makedirs(os.path.join(base, 'site-7.job'))
        os.makedirs(os.path.join(base, 'empty.gst'))
        done = put(store, where, base)
        gs.equal((done.returncode, done.stderr), (0, b''), 'put')
        gs.equal([line for line in done.stdout.decode().splitlines() if line.startswith('gpustarve ')],
                 [f'gpustarve report s3://traces/team/{n}' for n in ('r-2', 'r-1', 'r-3')], 'each, and how it is read')
        gs.equal({k.split('/')[1] for k in names(store)}, {'r-1', 'r-2', 'r-3'}, 'what is there')
        one = {k[len('team/r-1/'):]: v for (_, k), v in store.objects.items() if k.startswith('team/r-1/')}
        store.objects.clear()
        put(store, where, os.path.join(base, 'r-1.gst'))
        gs.equal({k[len('team/r-1/'):]: v for (_, k), v in store.objects.items()}, one, 'as by itself')
        key = next(k for k in names(store) if k.count('/') == 3)
        store.objects['traces', key] += b'x'
        done = put(store, where, base + '/')
        gs.check(done.returncode == 1 and b'other bytes are there' in done.stderr, done.stderr)
        gs.check(b'2 of 3 runs are there' in done.stderr, done.stderr)
        gs.equal({k.split('/')[1] for k in names(store) if k.endswith('run.json')}, {'r-1', 'r-2', 'r-3'}, 'the others are')
        store.weather = lambda method, path: 403
        done = put(store, where, base)
        gs.check(done.returncode == 1 and done.stderr.count(b'AWS_PROFILE') == 1 and b'0 of 3 runs' in done.stderr, done.stderr)
        store.weather = lambda method, path: None
        done = put(store, where, os.path.join(base, 'empty.gst'))
        gs.check(done.returncode == 1 and b'holds no trace' in done.stderr, done.stderr)


def test_put_goes_on():
    """Ended by a storm amid it, and called again: what is there is not sent again; run.json comes last."""
    with gs.scratch() as where, objectstore.Checked() as store:
        store.next.extend([None] * 3 + [503] * 6)  # the list and two segments come through, then a storm
        done = put(store, where, RECORDED, '--segment-bytes', '65536')
        gs.equal(done.returncode, 1, 'ended')
        gs.check(b'503' in done.stderr and b'run.json' not in str(names(store)).encode(), f'{done.stderr}')
        store.next.clear()
        store.objects.clear()
        put(store, where, RECORDED, '--segment-bytes', '65536')
        whole = dict(store.objects)
        keys = [k for k in names(store) if k.count('/') == 3]
        for key in keys[1:]:
            del store.objects['traces', key]
        del store.objects['traces', 'team/h100-cnn/run.json']
        sent = len([a for a in store.asked if a[0] == 'PUT'])
        done = put(store, where, RECORDED, '--segment-bytes', '65536')
        gs.check(f'{len(keys)} segments, 1 of them there already'.encode() in done.stdout, done.stdout)
        gs.equal(len([a for a in store.asked if a[0] == 'PUT']) - sent, len(keys) - 1 + 1, 'what was missing, and run.json')
        gs.equal(store.objects, whole, 'the same objects as at once')
        last = [a[1] for a in store.asked if a[0] == 'PUT'][-1]
        gs.check(last.endswith('/run.json'), f'{last} comes last')
        store.next.extend(['lost'])
        gs.equal(put(store, where, RECORDED, '--segment-bytes', '65536').returncode, 0, 'an answer that was lost')


def test_another_run_of_that_name():
    with gs.scratch() as where, objectstore.Checked() as store:
        put(store, where, RECORDED)
        key = [k for k in names(store) if k.count('/') == 3][0]
        store.objects['traces', key] += b'x'
        done = put(store, where, RECORDED)
        gs.equal(done.returncode, 1, 'refused')
        gs.check(b'other bytes are there' in done.stderr, done.stderr)
        gs.check(store.objects['traces', key].endswith(b'x'), 'left as it is')
        other = os.path.join(where, 'h100-cnn.gst')
        shutil.copytree(os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-transformer.gst'), other)
        before = dict(store.objects)
        done = put(store, where, other)
        gs.check(done.returncode == 1 and b'another run of that name' in done.stderr, f'another run: {done.stderr}')
        gs.equal(store.objects, before, 'nothing of it is replaced')


def test_what_is_not_given_is_not_told():
    """Blocks that the store lists and refuses: no command says anything of the run, and no digest is stored."""
    with gs.scratch() as where, objectstore.Checked() as store:
        put(store, where, RECORDED, '--segment-bytes', '65536')
        at, fleet = 's3://traces/team/h100-cnn', os.path.join(where, 'fleet')
        for status, why in (403, b'Other'), (404, b'Other'), (b'', b'shorter than it was'), (503, b'503'):
            store.refused = status
            for look in LOOKS + (('fit',), ('digest', '--store', f'sqlite:{fleet}')):
                if status == 503 and look[0] != 'report':
                    continue
                done = command(store, where, look[0], at, *look[1:])
                gs.check(done.returncode == 1 and (look[0] == 'dump' or not done.stdout) and why in done.stderr,
                         f'{status}, {look}: {done.returncode}, {len(done.stdout)} bytes, {done.stderr}')
        store.refused = None
        gs.check(b'no run' in command(store, where, 'fleet', '--store', f'sqlite:{fleet}').stderr or
                 not os.path.exists(fleet), 'nothing is stored')


def test_a_signal_leaves_nothing():
    with gs.scratch() as where, objectstore.Checked() as store:
        put(store, where, RECORDED)
        store.pause_s = 60
        env = gs.environment(**{'HOME': '/nowhere', 'TMPDIR': where, **store.environment()})
        for sig in signal.SIGTERM, signal.SIGINT, signal.SIGHUP:
            one = subprocess.Popen([gs.CLI, 'report', 's3://traces/team/h100-cnn'], env=env, stdout=subprocess.DEVNULL)
            gs.check(gs.until('its folder', lambda: any(os.listdir(os.path.join(where, n)) for n in os.listdir(where)), 60), 'a folder')
            one.send_signal(sig)
            gs.equal((one.wait(), os.listdir(where)), (-sig, []), f'{sig!r}')


def test_while_it_is_written():
    """A last frame that is not whole is left out, and comes with a later put; nothing is damaged then."""
    with gs.scratch() as where, objectstore.Checked() as store:
        run = os.path.join(where, 'r.gst')
        shutil.copytree(RECORDED, run)
        file = [os.path.join(run, n) for n in os.listdir(run) if n.endswith('.gst')][0]
        with open(file, 'rb') as f:
            whole = f.read()
        for size in 100000, 100100, 98184, 120000, 150000, len(whole):
            with open(file, 'wb') as f:
                f.write(whole[:size])
            done = put(store, where, run)
            gs.equal((done.returncode, done.stderr), (0, b''), f'put at {size} bytes')
        far, near = (command(store, where, 'report', at, '--format', 'json') for at in ('s3://traces/team/r', run))
        gs.equal(far.stdout, near.stdout, 'the report in the end')


def test_stores_that_lie_of_puts():
    with gs.scratch() as where, objectstore.Checked() as store:
        store.next.extend([None, 409, 409])
        gs.equal(put(store, where, RECORDED).returncode, 0, 'another one puts the same just now')
        store.objects.clear()
        store.keeps = False
        done = put(store, where, RECORDED)
        gs.check(done.returncode == 1 and b'does not have it' in done.stderr, f'took it and kept nothing: {done.stderr}')


def test_damage_and_holes_are_told():
    """As in a folder: what a damaged block held is missing, and a segment that is gone is a hole."""
    with gs.scratch() as where, objectstore.Checked() as store:
        run = os.path.join(where, 'r.gst')
        shutil.copytree(RECORDED, run)
        put(store, where, run, '--segment-bytes', '65536')
        keys = [k for k in names(store) if k.count('/') == 3]
        whole = store.objects['traces', keys[1]]
        for name, change in (('a byte of a block', lambda d: d[:5000] + bytes([d[5000] ^ 1]) + d[5001:]),
                             ('a cut table of contents', lambda d: d[:-100]),
                             ('half of it', lambda d: d[:len(d) // 2]), ('nothing', lambda d: b''), ('gone', None)):
            if change:
                store.objects['traces', keys[1]] = change(whole)
            else:
                del store.objects['traces', keys[1]]
            done = command(store, where, 'report', 's3://traces/team/r', '--format', 'json')
            gs.equal(done.returncode, 0, name)
            ok = command(store, where, 'report', run, '--format', 'json')
            gs.check(done.stdout != ok.stdout, f'{name}: it shows')
        store.objects['traces', keys[1]] = whole
        for key in keys:
            store.objects['traces', key] = os.urandom(5000)
        done = command(store, where, 'report', 's3://traces/team/r')
        gs.equal((done.returncode, done.stdout), (1, b''), 'nothing but damage')


def test_no_run():
    with gs.scratch() as where, objectstore.Checked() as store:
        store.objects['traces', 'team/none/readme'] = b'hello'
        for at, why in (('s3://traces/team/none', b'no run lies there'), ('s3://traces', b'no run lies there'), ('s3://x', b's3://BUCKET')):
            done = command(store, where, 'report', at)
            gs.equal(done.returncode, 1, at)
            gs.check(why in done.stderr and done.stderr.count(b'\n') == 1, f'{at}: {done.stderr}')
        done = command(store, where, 'verify', 's3://traces/team/none')
        gs.check(done.returncode == 1 and b'verify the run\'s folder' in done.stderr, f'verify: {done.stderr}')
        env = gs.environment(HOME='/nowhere', GPUSTARVE_LOCAL_FILES='0', **store.environment())
        done = gs.command([gs.CLI, 'report', 's3://traces/team/none'], env=env)
        gs.check(done.returncode == 1 and b'asks no object store' in done.stderr, f'confined: {done.stderr}')
        gs.equal(os.listdir(where), [], 'nothing is left behind')


def test_a_wrong_place_is_told():
    """What was looked for, where, and what lies there instead: one line, with a run to name where there is one."""
    with gs.scratch() as where, objectstore.Checked() as store:
        def says(at, *words, but=(), look=('report',)):
            done = command(store, where, look[0], at, *look[1:])
            gs.equal((done.returncode, done.stdout, done.stderr.count(b'\n')), (1, b'', 1), f'{at}: {done.stderr}')
            for word in words:
                gs.check(word in done.stderr, f'{word} of {at}: {done.stderr}')
            for word in (b'gpustarve run', b'gpustarve-runs', *but):
                gs.check(word not in done.stderr, f'not {word} of {at}: {done.stderr}')
        says('s3://traces/team/r', b'no run lies there, and nothing else in the bucket traces', b'AWS_ENDPOINT_URL')
        put(store, where, RECORDED)
        for name in 'h100-a', 'h100-b':
            store.objects.update({(b, k.replace('h100-cnn', name)): v for (b, k), v in store.objects.items()})
        store.objects['traces', 'other/readme'] = store.objects['traces', 'team/zzz'] = b'hello'
        last = b'such as s3://traces/team/h100-cnn\n'
        for look in LOOKS + (('fit',),):
            says('s3://traces/team', b'it is not a run, but has runs below it', last, look=look)
        says('s3://traces/team/', last)
        says('s3://traces', last)
        says('s3://traces/team/h100-cnn.gst', b'nothing lies there, but s3://traces/team/h100-cnn does')
        says('s3://traces/team/h100-x', b'nothing lies there; s3://traces/team has zzz, h100-a/, h100-b/, h100-cnn/')
        says('s3://traces/tam/h100-cnn/x', b'nothing lies there; s3://traces has other/, team/')
        says('s3://traces/other', b'no run lies there, but readme')
        for i in range(20):
            store.objects['traces', f'other/{i:02}'] = b''
        says('s3://traces/other', b'no run lies there, but 00, 01, 02, 03, 04 and more')
        store.objects['traces', 'odd/a\u202eb'] = b''
        says('s3://traces/odd', b'no run lies there', but=('\u202e'.encode(),))
        store.next.extend([404])
        says('s3://none/x', b'is that the name of the bucket', b'AWS_ENDPOINT_URL')
        store.next.extend([403])
        says('s3://traces/team/h100-cnn', b'AWS_ACCESS_KEY_ID', b'AWS_PROFILE')
        store.next.extend([None, None, 403])
        says('s3://traces/team/h100-x', b'nothing lies there; s3://traces/team may not be listed')
        gs.equal(os.listdir(where), [], 'nothing is left behind')


def test_what_takes_folders_alone():
    """`runs` and --job say so of a bucket, and what reads it, and send nothing."""
    with gs.scratch() as where, objectstore.Checked() as store:
        for words in (('runs', 's3://traces/team'), ('report', '--job', '7', '--dir', 's3://traces/team')):
            done = command(store, where, *words)
            gs.equal((done.returncode, done.stdout, done.stderr.count(b'\n')), (1, b'', 1), f'{words}: {done.stderr}')
            for word in b'object store', b's3://traces/team/RUN':
                gs.check(word in done.stderr, f'{words}: {done.stderr}')
        gs.equal(store.asked, [], 'nobody is asked')


def test_an_unknown_authority_is_told():
    """With what names its file; a certificate of another host is not helped so."""
    with gs.scratch() as where:
        central.certificates(where)
        with objectstore.Checked(tls=where) as store:
            def says():
                done = command(store, where, 'report', 's3://traces/team/r')
                gs.equal((done.returncode, done.stderr.count(b'\n')), (1, 1), done.stderr)
                return done.stderr
            env, store.environment = store.environment(), lambda: env
            gs.check(b'certificate' in says() and b'AWS_CA_BUNDLE' in says(), says())
            env['AWS_CA_BUNDLE'] = os.path.join(where, 'missing.pem')
            gs.check(b'missing.pem' in says() and b'AWS_CA_BUNDLE' in says(), says())
            env['AWS_CA_BUNDLE'] = os.path.join(where, 'ca.pem')
            gs.check(b'nothing else in the bucket' in says(), says())
        central.certificates(where, names='DNS:elsewhere')
        with objectstore.Checked(tls=where) as store:
            env['AWS_ENDPOINT_URL'], store.environment = store.url, lambda: env
            gs.check(b'certificate' in says() and b'AWS_CA_BUNDLE' not in says(), says())


def test_hostile_lists():
    """Names that lead elsewhere are nobody's, and small files that are not small end it."""
    with gs.scratch() as where, objectstore.Checked() as store:
        put(store, where, RECORDED)
        for name in '../../etc/exit-a.json', 'exit-/a.json', '.hidden', 'a/b/c', 'x' * 900, 'exit-..json':
            store.objects['traces', 'team/h100-cnn/' + name] = b'{}'
        gs.equal(command(store, where, 'report', 's3://traces/team/h100-cnn').returncode, 0, 'odd names')
        store.objects['traces', 'team/h100-cnn/exit-a.json'] = b'x' * (2 << 20)
        done = command(store, where, 'report', 's3://traces/team/h100-cnn')
        gs.equal(done.returncode, 1, 'a small file of two megabytes')
        gs.equal(os.listdir(where), [], 'nothing is left behind')


def test_on_a_real_swift():
    if not objectstore.there():
        gs.left_out('Swift (scripts/setup)')
        return
    with gs.scratch() as where, objectstore.swift(os.path.join(where, 'swift')) as store:
        with open(os.path.join(where, 'cfg'), 'w', encoding='utf-8') as f:
            f.write(f'[default]\naccess_key={objectstore.KEY}\nsecret_key={objectstore.SECRET}\nuse_https=False\n'
                    f'host_base=127.0.0.1:{store.port}\nhost_bucket=127.0.0.1:{store.port}\n')
        s3cmd = ['s3cmd', '-c', os.path.join(where, 'cfg')]
        subprocess.run(s3cmd + ['mb', 's3://traces'], check=True, stdout=subprocess.DEVNULL)
        tmp = os.path.join(where, 'tmp')
        os.mkdir(tmp)
        done = put(store, tmp, RECORDED, '--segment-bytes', '65536')
        gs.equal((done.returncode, done.stderr), (0, b''), 'put')
        far, near = (command(store, tmp, 'report', at, '--format', 'json') for at in ('s3://traces/team/h100-cnn', RECORDED))
        gs.equal(far.stdout, near.stdout, 'the report')
        os.mkdir(os.path.join(where, 'back'))
        subprocess.run(s3cmd + ['get', '-r', 's3://traces/team/h100-cnn/', os.path.join(where, 'back/')], check=True,
                       stdout=subprocess.DEVNULL)
        back = b''
        for folder, _, files in sorted(os.walk(os.path.join(where, 'back'))):
            for name in sorted(n for n in files if n[0].isdigit()):
                with open(os.path.join(folder, name), 'rb') as f:
                    back += f.read()
        again = os.path.join(where, 'again.gst')
        os.mkdir(again)
        shutil.copy(os.path.join(RECORDED, 'run.json'), again)
        with open(os.path.join(again, '9a52fa4f2dded832a6bd3d569e233444.gst'), 'wb') as f:
            f.write(back)
        gs.equal(command(store, tmp, 'report', again, '--format', 'json').stdout, near.stdout,
                 'what s3cmd fetched, joined, is a stream that says the same')


if __name__ == '__main__':
    gs.run_tests(globals())
