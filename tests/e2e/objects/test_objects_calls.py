#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""objects.h against a store that recomputes each signature with Amazon's own code and breaks off, refuses or
lies when told to, and against a real Swift with its S3 layer. Every call is made by build/tests/objects_ask."""
import hashlib
import json
import os
import struct
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import gateways
import gs
import objectstore

ASK = os.path.join(gs.BUILD, 'tests', 'objects_ask')
ODD = ('plain', 'with%20blank', 'a/b//c', 'ä~ö-+=&?#%25', "quote'\"<>&amp;", 'dots/../up', '*(!)')
ENOENT, EACCES, EIO, EEXIST, EINVAL, ETIMEDOUT, ENOKEY = -2, -13, -5, -17, -22, -110, -126


def ask(calls, env, url='s3://traces/of/here', code=0, home='/nowhere'):
    done = subprocess.run([ASK, url], input='\n'.join(calls) + '\n', capture_output=True, text=True, timeout=300,
                          env=gs.environment(**{'HOME': home, **env}))
    gs.equal((done.returncode, done.stderr), (code, ''), f'exit of {calls}')
    return [json.loads(line) for line in done.stdout.splitlines()]


def write(where, name, data):
    path = os.path.join(where, name)
    with open(path, 'wb') as f:
        f.write(data)
    return path


def hexed(answer):
    return bytes.fromhex(answer['hex'])


def test_all_calls_are_signed_as_amazon_does():
    with gs.scratch() as where, objectstore.Checked(token='FwoG/x+y==', region='eu-west-9', page=3) as store:
        file = write(where, 'f', bytes(range(256)) * 40)
        got = ask([f'put {key} {file}' for key in ODD] + ['list -', 'size a/b//c', 'get a/b//c 250 12', 'get a/b//c 10200 100',
                  'get a/b//c 10240 1', 'get none 0 4', 'size none', 'remove plain', 'remove plain', 'list a/'], store.environment())
        gs.equal([g['result'] for g in got[:len(ODD)]], [0] * len(ODD), 'puts')
        found, size, part, end, behind, none, no_size, gone, again, below = got[len(ODD):]
        keys = sorted(k.replace('%20', ' ') for k in ODD)
        gs.equal(found['found'], [[k, 10240] for k in keys], 'the list, three a page')
        gs.equal((size['result'], size['bytes']), (0, 10240), 'size')
        gs.equal(hexed(part), (bytes(range(256)) * 2)[250:262], 'a part')
        gs.equal((end['result'], behind['result']), (40, 0), 'parts at and behind the end')
        gs.equal((none['result'], none['why']), (ENOENT, 'NoSuchKey: no <NoSuchKey>'), 'an object that is not there')
        gs.equal((no_size['result'], gone['result'], again['result']), (ENOENT, 0, 0), 'size of none, remove, remove again')
        gs.equal(below['found'], [['a/b//c', 10240]], 'a list behind a prefix')
        gs.check(all(path.startswith('/traces/of/here/') or 'prefix=of%2Fhere%2F' in path for _, path, _ in store.asked),
                 'all keys lie behind the prefix')


def test_only_new():
    with gs.scratch() as where, objectstore.Checked() as store:
        a, b = write(where, 'a', b'first'), write(where, 'b', b'second')
        got = ask([f'new k {a}', f'new k {b}', 'get k 0 9', f'put k {b}', 'get k 0 9'], store.environment())
        gs.equal([g['result'] for g in got], [0, EEXIST, 5, 0, 6], 'new, new again, get, put, get')
        gs.equal((hexed(got[2]), hexed(got[4])), (b'first', b'second'), 'what is there')
        store.next.append(501)
        gs.equal(ask([f'new k {a}'], store.environment())[0]['result'], EEXIST, 'a store that knows no conditions')
        store.next.append(501)
        gs.equal(ask([f'new other {a}', 'get other 0 9'], store.environment())[1]['result'], 5, 'and nothing there yet')


def test_folders_and_times():
    """What a list says besides, by the store's clock, a year behind; folders once each, however many pages they fill."""
    with gs.scratch() as where, objectstore.Checked(page=2) as store:
        store.ahead_s = -365 * 86400
        file = write(where, 'f', b'12345')
        ask([f'put {k} {file}' for k in ('a', 'b/1', 'b/2', 'b/3', 'b/c/1', 'd', 'e/1')], store.environment())
        all_of_it, one, below, none = ask(['browse - 0', 'browse - 1', 'browse b/ 0', 'browse x/ 0'], store.environment())
        gs.equal([f[:2] for f in all_of_it['found']], [['a', 5], ['b/', 0], ['d', 5], ['e/', 0]], 'objects and folders')
        gs.equal(([f[0] for f in one['found']], one['result']), (['a'], 0), 'no more than one')
        gs.equal(([f[0] for f in below['found']], none['found']), (['1', '2', '3', 'c/'], []), 'below a prefix')
        _, _, changed, etag = all_of_it['found'][0]
        gs.check(0 <= all_of_it['now'] - changed < 120 and abs(changed - store.now()) < 120, f'its own clock: {all_of_it}')
        gs.equal(etag, f'"{hashlib.md5(b"12345").hexdigest()}"', 'etag')


def test_what_passes_is_tried_again():
    with gs.scratch() as where, objectstore.Checked() as store:
        file = write(where, 'f', b'x' * 5000)
        store.next.extend([503, 500, 'drop', 429, 'lost'])
        got = ask([f'put k {file}', 'size k'], store.environment())
        gs.equal((got[0]['result'], got[1]['bytes'], len(store.asked)), (0, 5000, 7), 'put in a storm')
        store.next.extend(['cut', 'cut', 503])
        got = ask(['get k 0 5000'], store.environment())
        gs.equal(hexed(got[0]), b'x' * 5000, 'a get that was cut off')
        store.next.extend([503] * 6)
        got = ask(['get k 0 5000'], store.environment())
        gs.equal((got[0]['result'], got[0]['why']), (ETIMEDOUT, 'it answered 503, 6 times'), 'a storm that stays')
        gs.equal(len(store.next), 0, 'six tries, no more')
        store.next.append(404)
        asked = len(store.asked)
        gs.equal((ask(['get k 0 1'], store.environment())[0]['result'], len(store.asked) - asked), (ENOENT, 1), 'a refusal is believed')
        store.next.extend(['lost'])
        got = ask([f'new fresh {file}'], store.environment())
        gs.equal(got[0]['result'], EEXIST, 'our own bytes of a try whose answer was lost')


def test_lies():
    """Nothing of a hostile answer is believed, and none is kept beyond its bound."""
    head = '<ListBucketResult><IsTruncated>{}</IsTruncated>'
    key = '<Contents><Key>of/here/{}</Key><Size>{}</Size></Contents>'
    lies = {
        'no XML': 'hello', 'nothing': '', 'another document': '<a/>', 'cut': head.format('false'),
        'a size that is none': head.format('false') + key.format('a', '-1') + '</ListBucketResult>',
        'a size that is too great': head.format('false') + key.format('a', 2 ** 64) + '</ListBucketResult>',
        'no size': head.format('false') + '<Contents><Key>of/here/a</Key></Contents></ListBucketResult>',
        'another prefix': head.format('false') + '<Contents><Key>../etc</Key><Size>1</Size></Contents></ListBucketResult>',
        'backwards': head.format('false') + key.format('b', 1) + key.format('a', 1) + '</ListBucketResult>',
        'more, but not where': head.format('true') + '</ListBucketResult>',
        'a long key': head.format('false') + key.format('k' * 2000, 1) + '</ListBucketResult>',
        'deep': '<a>' * 500 + '</a>' * 500,
        'an entity': '<!DOCTYPE a [<!ENTITY e "x">]>' + head.format('false') + key.format('&e;', 1) + '</ListBucketResult>',
        'laughs': '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "' + '&a;' * 999 + '">]><ListBucketResult>&b;</ListBucketResult>',
        'a long text': '<ListBucketResult><Name>' + 'n' * 9999 + '</Name></ListBucketResult>',
        'too long': '<ListBucketResult>' + ' ' * (5 << 20) + '</ListBucketResult>'}
    with objectstore.Checked() as store:
        for what, text in lies.items():
            store.next.append(text.encode())
            got = ask(['list -'], store.environment())[0]
            gs.equal(got['result'], EIO, what)
            gs.check(got['why'] and '\n' not in got['why'], f'{what}: a reason')
        endless = head.format('true') + '<NextContinuationToken>t</NextContinuationToken></ListBucketResult>'
        store.next.extend([endless.encode()] * 2)
        gs.equal(ask(['list -'], store.environment())[0]['why'], 'its list of objects has no end', 'a list without an end')
        store.next.append(b'y' * 100)
        got = ask(['get k 5 10'], store.environment())[0]
        gs.equal((got['result'], got['why']), (EIO, 'its answer is longer than what was asked for'), 'more than was asked for')
        store.next.append(b'y' * 10)
        gs.equal(ask(['get k 5 10'], store.environment())[0]['why'], 'it does not give parts of objects', 'all for a part')


def test_who_and_where():
    """From the environment, else from the files of Amazon's tools; never half of each."""
    with gs.scratch() as where, objectstore.Checked(key='AKIDFILE', secret='from/file+1', region='us-west-7') as store:
        os.makedirs(os.path.join(where, '.aws'))
        write(where, '.aws/credentials', b'\xef\xbb\xbf[default]\naws_access_key_id=OTHER\naws_secret_access_key = x\n\n[ci]\n'
              b'  aws_access_key_id = AKIDFILE\r\naws_secret_access_key=from/file+1\n')
        write(where, '.aws/config', f'[profile ci]\nregion = us-west-7\nendpoint_url = {store.url}/\n[ci]\nregion=no\n'.encode())
        store.objects['traces', 'of/here/k'] = b'there'
        gs.equal(ask(['get k 0 9'], {'AWS_PROFILE': 'ci'}, home=where)[0]['result'], 5, 'by profile')
        gs.equal(ask(['get k 0 9'], {'AWS_ENDPOINT_URL': store.url}, home=where)[0]['why'],
                 'SignatureDoesNotMatch: no <SignatureDoesNotMatch>', 'another profile is another one')
        gs.equal(ask(['get k 0 9'], {'AWS_PROFILE': 'ci', 'AWS_ACCESS_KEY_ID': 'HALF'}, home=where)[0]['result'], 5,
                 'a key without its secret counts for nothing')
        env = {'AWS_ENDPOINT_URL': store.url, 'AWS_ACCESS_KEY_ID': 'a\r\nx-y: z', 'AWS_SECRET_ACCESS_KEY': 'x'}
        gs.check('control character' in ask([], env, code=1)[0]['why'], 'a line end in a credential')
        for env, url, result in (({}, 's3://traces', ENOKEY), ({'AWS_PROFILE': 'none'}, 's3://traces', ENOKEY),
                                 ({'AWS_PROFILE': 'ci'}, 's3://a', EINVAL), ({'AWS_PROFILE': 'ci'}, 's3://../x', EINVAL),
                                 ({'AWS_PROFILE': 'ci'}, 'http://traces', EINVAL),
                                 ({'AWS_PROFILE': 'ci', 'AWS_ENDPOINT_URL': 'ftp://x'}, 's3://traces', EINVAL),
                                 ({'AWS_PROFILE': 'ci', 'AWS_ENDPOINT_URL': 'http://u:p@x'}, 's3://traces', EINVAL)):
            home = '/nowhere' if result == ENOKEY and not env else where
            got = ask([], env, url, code=1, home=home)
            gs.equal(got[0]['result'], result, f'{url} with {env}')
            gs.check('from/file' not in got[0]['why'] and 'AKIDFILE' not in got[0]['why'], 'no secret is told')


def test_a_real_swift():
    if not objectstore.there():
        gs.left_out('Swift (scripts/setup)')
        return
    with gs.scratch() as where, objectstore.swift(os.path.join(where, 'swift')) as store:
        env = store.environment()
        cfg = write(where, 'cfg', f'[default]\naccess_key={objectstore.KEY}\nsecret_key={objectstore.SECRET}\n'
                    f'host_base=127.0.0.1:{store.port}\nhost_bucket=127.0.0.1:{store.port}\nuse_https=False\n'.encode())
        file = write(where, 'f', os.urandom(3 << 20))

        def s3cmd(*words):
            return subprocess.run(['s3cmd', '-c', cfg, *words], capture_output=True, check=True).stdout
        gs.equal(ask(['get k 0 1'], env)[0]['result'], ENOENT, 'no such bucket')
        s3cmd('mb', 's3://traces')
        keys = [k for k in ODD if k not in ('dots/../up',)]
        got = ask([f'put {k} {file}' for k in keys] + ['list -', 'get plain 3145000 9999', f'new plain {file}', f'new fresh {file}', 'remove plain',
                  'size plain'], env)
        gs.equal([g['result'] for g in got[:len(keys)]], [0] * len(keys), 'puts')
        found, part, again, fresh, gone, size = got[len(keys):]
        gs.equal((again['result'], fresh['result']), (EEXIST, 0), 'only new')
        gs.equal([k for k, _ in found['found']], sorted((k.replace('%20', ' ') for k in keys), key=lambda k: k.encode()), 'list')
        with open(file, 'rb') as f:
            gs.equal(hexed(part), f.read()[3145000:], 'a part')
        folders = ask(['browse - 0', 'browse - 1'], env)
        gs.equal([f[0] for f in folders[0]['found'] if f[0].endswith('/')], ['a/'], 'folders')
        gs.check(len(folders[1]['found']) == 1 and all(abs(folders[0]['now'] - f[2]) < 60 for f in folders[0]['found'] if f[2]),
                 f'one alone, and times: {folders}')
        gs.equal((gone['result'], size['result']), (0, ENOENT), 'removed')
        s3cmd('get', 's3://traces/of/here/a/b//c', os.path.join(where, 'back'))
        with open(os.path.join(where, 'back'), 'rb') as f, open(file, 'rb') as g:
            gs.check(f.read() == g.read(), 's3cmd finds the same bytes')
        wrong = ask(['get plain 0 1'], dict(env, AWS_SECRET_ACCESS_KEY='wrong'))[0]
        gs.equal(wrong['result'], EACCES, 'another secret')
        gs.check('clock' not in wrong['why'], f'no clock is off: {wrong}')
        for hours, how in (3, '3 h 0 m ahead of'), (-2, '2 h 0 m behind'):
            clock = write(where, 'clock', struct.pack('<q', hours * 3600 * 10**9 + 10**10))
            off = ask(['get plain 0 1', 'list -'], dict(env, LD_PRELOAD=gateways.CLOCKSTEP, GS_CLOCK_STEP=clock))
            for done in off:
                gs.equal(done['result'], EACCES, f'{how}: refused')
                gs.equal(done['why'].partition("machine's clock is ")[2].partition(' the store')[0], how, f'{done}')
                gs.check('AWS_ACCESS' not in done['why'], f'no credentials are blamed: {done}')


if __name__ == '__main__':
    gs.run_tests(globals())
