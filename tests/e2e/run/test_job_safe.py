# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""Is it safe to stop now? `job safe` of runs, jobs and collectors, in exit status and one line; the same in
`top` and in the conditions unsaved_for and unsaved_usd: of made-up processes to the second, and of a real one
that saves, against its analysis."""
import json
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import alerting
import collector
import gs
from collector import Collector, wait_for
from pulsing import Trainer

PRICE = ['--price', '36']  # a cent a second


def asked(*args, **kw):
    """(exit status, the line)"""
    done = gs.gpustarve('job', 'safe', *args, **kw)
    gs.check(done.stdout.count(b'\n') <= 1, f'{args}: one line: {done.stdout}')
    return done.returncode, done.stdout.decode().strip() or done.stderr.decode().strip()


def answer(want, part, *args, **kw):
    status, line = asked(*args, **kw)
    gs.check(status == want and part in line, f'{args}: {want}, {part}: {status}, {line}')
    return line


def pulses(t, *seconds):
    return [t.pulse(s, s) for s in seconds]


def of_folder(where):
    """Two ranks for ten minutes, a checkpoint of both after nine; then it is overwritten; then it ends."""
    a, b = (Trainer('pair', ago=600, rank=r, pid=100 + r, stamped=True) for r in range(2))
    for t in (a, b):
        run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600))
    line = answer(2, '20 m 0 s of GPU time ($12.00), 10 m 0 s of one GPU; nothing that was saved since it began is there', run, *PRICE)
    gs.check(line.startswith(run + ': a stop now loses'), line)
    a.write(where, a.save(1, 'begun', 540, path='/a'))
    b.write(where, b.save(1, 'begun', 540.05, path='/b'))
    a.write(where, a.save(1, 'whole', 540, 545, path='/a', inode=5), a.pulse(601, 601))
    answer(2, 'nothing that was saved since it began is there; a save is under way', 'pair', '--dir', where, *PRICE)
    b.write(where, b.save(1, 'whole', 540.05, 550, path='/b', inode=6), b.pulse(601, 601))
    answer(2, 'a stop now loses 2 m 2 s of GPU time ($1.22), 61.0 s of one GPU', 'pair', '--dir', where, *PRICE)
    answer(0, 'safe to stop: it loses 2 m 2 s', 'pair', '--dir', where, '--lose', '90s', *PRICE)
    answer(0, 'safe to stop', 'pair', '--dir', where, '--lose', '$1.23', *PRICE)
    answer(2, 'a stop now loses', 'pair', '--dir', where, '--lose', '$1.21', *PRICE)
    answer(1, 'no price is known', 'pair', '--dir', where, '--lose', '$1')
    top = gs.gpustarve('top', '--once', run, *PRICE).stdout.decode()
    gs.check('a kill now loses $1.22' in top and top.count(' 61.0 s ') == 2, f'top: {top}')
    b.write(where, b.save(2, 'begun', 600, path='/b', before=6))
    answer(2, 'nothing that was saved since it began is there', 'pair', '--dir', where, *PRICE)
    for t in (a, b):
        t.write(where, t.bye(602, 602))
    answer(0, 'safe to stop: nothing of it holds a GPU', 'pair', '--dir', where)
    return run


def of_untraced(where):
    """Until a process comes to a GPU nothing is known of a run that goes on; then nothing holds one."""
    out = os.path.join(where, 'early')
    os.mkdir(out)
    run = subprocess.Popen([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', out, '--', 'cat'], env=gs.environment(HOME=where), cwd=where,
                           stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    gs.until('it is there', lambda: gs.runs(out) and os.path.exists(os.path.join(gs.runs(out)[0], 'run.json')))
    [path] = gs.runs(out)
    line = answer(1, 'not known: a run of it that goes on has no trace here: no process of it has come to a GPU yet', path)
    gs.check('no run with a trace' not in line, line)
    answer(1, 'not known', os.path.basename(path)[:-4], '--dir', out)
    run.communicate(timeout=480 * gs.PATIENCE)
    if os.path.isdir(path):
        answer(0, 'safe to stop: nothing of it holds a GPU', path)


def of_killed(where):
    """Whom the collector saw end holds nothing any more, though it was heard of just now."""
    a, b = (Trainer('killed', ago=600, rank=r, pid=300 + r, stamped=True) for r in range(2))
    for t in (a, b):
        run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600))

    def seen(t):
        with open(os.path.join(run, f'exit-coll-{t.id.hex()}.json'), 'w', encoding='utf-8') as f:
            json.dump({'exits': [{'host': 'here', 'pid': t.pid, 'end_unix_ns': time.time_ns()}]}, f)
    seen(a)
    answer(2, 'a stop now loses 20 m 0 s of GPU time ($12.00)', run, *PRICE)  # that of both is not saved
    top = gs.gpustarve('top', '--once', run, *PRICE).stdout.decode()
    gs.check('  1 of 2 GPUs, 2 processes  1 killed' in top and '$36.00/h' in top, f'top: {top}')
    seen(b)
    answer(0, 'safe to stop: nothing of it holds a GPU', run, *PRICE)


def of_unsure(where):
    """Saved, or written, by what may be no checkpoint: not known, unless even all since the last one may be lost;
    what is opened or comes at regular steps counts."""
    t = Trainer('unsure', ago=600, stamped=True)
    run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600))
    t.write(where, t.save(1, 'begun', 500, path='/preds_1.pt'),
            t.save(1, 'whole', 500, 501, path='/preds_1.pt', inode=5, content=2, size=5 << 20), t.pulse(601, 601))
    answer(1, 'not known: 5.2 MB were written 1', run, *PRICE)
    answer(1, 'if that is not a checkpoint, a stop now loses 10 m 1 s of GPU time ($6.01)', run, *PRICE)
    answer(0, 'safe to stop: it loses 10 m 1 s', run, '--lose', '11m', *PRICE)
    top = gs.gpustarve('top', '--once', run, *PRICE).stdout.decode()
    gs.check('a kill now loses at most $6.01' in top, f'top: {top}')
    t.write(where, t.save(2, 'begun', 595, path='/model.pt'),
            t.save(2, 'whole', 595, 596, path='/model.pt', inode=6, content=1), t.pulse(602, 602))
    answer(0, 'safe to stop: it loses 7.0 s', run, *PRICE)
    t.write(where, t.written(595.5, 596.5, 7 << 20))  # that save's
    answer(0, 'safe to stop: it loses 7.0 s', run, *PRICE)
    t.write(where, t.written(600, 601, 7 << 20), t.pulse(700, 700))
    answer(1, 'not known: 7.3 MB were written 99.0 s ago', run, *PRICE)
    t.write(where, t.written(700, 700.4, 7 << 20))  # told before the pulse of that time
    answer(1, '7.3 MB were written just now by', run, *PRICE)
    t = Trainer('moved', ago=600, pid=78, stamped=True)
    run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600))
    for n, at in enumerate((100, 250, 390, 595)):
        answer(1 if 0 < n < 3 else 2, 'not known' if 0 < n < 3 else 'a stop now loses', run, *PRICE)
        told = dict(path=f'/step_{at}', saver='file')
        t.write(where, t.save(n + 1, 'begun', at, **told),
                t.save(n + 1, 'whole', at, at + 1, inode=9 + n, content=2, size=1 << 20, **told))
    answer(0, 'safe to stop: it loses 5.0 s', run, *PRICE)


def saved(t, number, at, size):
    told = dict(path=f'/state_{number}.pt', content=1)
    return t.save(number, 'begun', at, **told), t.save(number, 'whole', at, at + 1, inode=number + 9, size=size, **told)


def of_unmoved(where):
    """Saved beside its place, and not renamed to it yet: not known, unless even all since the one before may be lost."""
    t = Trainer('unmoved', ago=600, stamped=True)
    tmp = dict(path='/ck.pt.tmp', content=1, size=5 << 20)
    run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600), t.save(1, 'begun', 100, **tmp), t.save(1, 'whole', 100, 101, inode=5, **tmp))
    answer(1, 'not known: the newest checkpoint was saved 8 m 19 s ago to a name from which it was not renamed yet; if a restart does not find it '
           'there, a stop now loses 10 m 0 s of GPU time ($6.00), 10 m 0 s of one GPU; nothing that was saved since it began is there', run, *PRICE)
    t.write(where, t.save(1, 'moved', 100, 102, inode=5, **tmp))
    answer(2, 'a stop now loses 8 m 20 s of GPU time ($5.00), 8 m 20 s of one GPU since a state of 5.2 MB was saved', run, *PRICE)
    t.write(where, t.save(2, 'begun', 590, **tmp), t.save(2, 'whole', 590, 591, inode=6, **tmp), t.pulse(601, 601))
    answer(1, 'not known: the newest checkpoint was saved 10.0 s ago to a name', run, *PRICE)
    answer(0, 'safe to stop: it loses 8 m 21 s', run, '--lose', '9m', *PRICE)
    top = gs.gpustarve('top', '--once', run, *PRICE).stdout.decode()
    gs.check('a kill now loses at most $5.01' in top, f'top: {top}')
    t.write(where, t.save(2, 'moved', 590, 591.1, inode=6, **tmp))
    answer(0, 'safe to stop: it loses 11.0 s', run, *PRICE)


def of_small(where):
    """A state that is much smaller than others, than the memory in use, or than anything that trains: not known, unless the
    one before may be lost, too. What is larger counts, and what fell out of the last 32 saves is not forgotten."""
    t = Trainer('small', ago=600, stamped=True)
    run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600), *saved(t, 1, 100, 25 << 20))
    answer(2, 'a stop now loses 8 m 20 s of GPU time ($5.00), 8 m 20 s of one GPU since a state of 26.2 MB was saved', run, *PRICE)
    t.write(where, *saved(t, 2, 595, 2 << 20))
    answer(1, 'not known: the newest state that was saved has 2.1 MB, which is less than a tenth of another one that was saved; if it '
           'is not all of it, a stop now loses 8 m 20 s of GPU time ($5.00), 8 m 20 s of one GPU', run, *PRICE)
    answer(0, 'safe to stop: it loses 5.0 s', run, '--lose', '9m', *PRICE)
    answer(0, 'safe to stop: it loses 5.0 s', run, '--lose', '$5.01', *PRICE)
    answer(1, 'not known', run, '--lose', '$4.99', *PRICE)
    answer(2, 'a stop now loses 5.0 s of GPU time ($0.0500), 5.0 s of one GPU since a state of 2.1 MB was saved; the newest is less than a tenth '
           'of another one that was saved, and if it is not all of it, 8 m 20 s of GPU time ($5.00), 8 m 20 s of one GPU', run, '--lose', '1s', *PRICE)
    t = Trainer('many', ago=600, stamped=True)
    run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600), *saved(t, 1, 100, 25 << 20))
    for n in range(2, 39):
        t.write(where, *saved(t, n, 200 + n * 10, 2 << 20))
    answer(1, 'less than a tenth of another one that was saved; if it is not all of it, a stop now loses 10 m 0 s', run, *PRICE)
    t.write(where, *saved(t, 40, 595, 3 << 20))
    answer(0, 'safe to stop: it loses 5.0 s', run, *PRICE)
    t = Trainer('tiny', ago=600, stamped=True)
    run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600), *saved(t, 1, 590, 2000))
    answer(1, 'has 2.0 kB, which is little for a training that needs a GPU; if it is not all of it, a stop now loses 10 m 0 s', run, *PRICE)
    t.write(where, *saved(t, 2, 592, 20000))
    answer(0, 'safe to stop: it loses 8.0 s of GPU time ($0.0800), 8.0 s of one GPU since a state of 20.0 kB was saved', run, *PRICE)
    t.write(where, t.memory(60 << 30))
    answer(1, "less than a thousandth of a GPU's memory that is in use", run, *PRICE)
    t.write(where, *saved(t, 3, 594, 70 << 20))
    answer(0, 'safe to stop: it loses 6.0 s', run, *PRICE)


def of_gone(where):
    """Deleted, though a copy may be elsewhere; changed by what is no save: the one before counts, if that is there."""
    t = Trainer('gone', ago=600, stamped=True)
    run = t.write(where, t.hello(), *pulses(t, *range(1, 600, 7), 600))
    for n, at in ((1, 300), (2, 500)):
        t.write(where, t.save(n, 'begun', at, path=f'/m{n}'), t.save(n, 'whole', at, at + 1, path=f'/m{n}', inode=n))
    answer(2, 'a stop now loses 100.0 s of GPU time', run, *PRICE)
    t.write(where, t.save(2, 'changed', 500, 550, path='/m2', inode=2))
    answer(2, 'a stop now loses 5 m 0 s of GPU time', run, *PRICE)
    t.write(where, t.save(1, 'deleted', 300, 590, path='/m1', inode=1))
    answer(1, 'not known: the newest checkpoint was deleted 10.0 s ago; if no copy is elsewhere, a stop now loses 10 m 0 s '
           'of GPU time', run, *PRICE)
    answer(0, 'safe to stop: it loses 10 m 0 s', run, '--lose', '11m', *PRICE)


def of_job(where):
    """All runs of a scheduler's job together."""
    out = os.path.join(where, 'jobs')
    for step in range(2):
        t = Trainer(f'slurm-c1-77.{step}-0', ago=100, pid=200 + step, stamped=True)
        t.write(out, t.hello(), *pulses(t, *range(1, 100, 7), 100))
    status, line = asked('77', '--dir', out, *PRICE)
    gs.check(status == 2 and line.startswith('77: a stop now loses 3 m 20 s of GPU time ($2.00)'), line)
    gs.equal(asked('78', '--dir', out)[0], 1, 'there is no such job')
    # two at once on one GPU: its time is lost once, as far as the one that has more to lose
    both = os.urandom(16)
    for step, ago in enumerate((100, 60)):
        t = Trainer(f'slurm-c1-79.{step}-0', ago=ago, pid=300 + step, stamped=True, uuid=both)
        t.write(out, t.hello(), *pulses(t, *range(1, ago, 7), ago))
    answer(2, 'a stop now loses 100.0 s of GPU time ($1.00), 100.0 s of one GPU', '79', '--dir', out, *PRICE)
    gs.equal(asked('77', '--dir', out, '--lose', 'much')[0], 1, 'no such loss')


def of_collector():
    """Over HTTP, in its alerts, and after it was killed: what it did not read again it does not know."""
    with Collector(collector.bin_dir(), options=[]) as c:
        c.stop()
        c.options = ['--listen', 'http://127.0.0.1:0', '--token-file', os.path.join(c.root, 'tokens'), '--alert',
                     'unsaved_for>2m', '--alert', 'unsaved_usd>2', '--usd-per-gpu-hour', '36']
        with open(os.path.join(c.root, 'tokens'), 'w') as f:
            f.write('reader-0001-0001-0001-0001 one read\n')

        def url():
            wait_for(lambda: 'listening on ' in c.errors(), 'it listens', 60)
            return re.findall(r'listening on (\S+)', c.errors())[-1] + '/runs/sent'

        def fired():
            path = os.path.join(c.base, 'sent.gst', 'alerts.jsonl')
            return [json.loads(line)['condition'] for line in open(path)] if os.path.exists(path) else []
        env = gs.environment(GPUSTARVE_TOKEN='reader-0001-0001-0001-0001')
        c.start(ready=False)
        t = Trainer('sent', ago=300)
        client = c.client()
        client.send(t.hello(), *pulses(t, *range(1, 100, 5)), t.save(1, 'begun', 90), t.save(1, 'whole', 90, 95, inode=3),
                    *pulses(t, *range(101, 130, 5)))
        client.wait_ack(t.id, t.seq, 60)
        # It is stored by root of the test: the team of the token has a folder of its own.
        gs.equal(asked(url(), env=env)[0], 1, 'no such run of that team')
        run = os.path.join(c.base, 'sent.gst')
        answer(0, 'it loses 36.0 s of GPU time ($0.36)', run, *PRICE)
        time.sleep(2.5)
        gs.equal(fired(), [], 'no alert yet')
        client.send(*pulses(t, 150, 180, 211))
        wait_for(lambda: 'unsaved_for>2m' in fired(), 'unsaved_for fires', 60)
        gs.equal(fired(), ['unsaved_for>2m'], 'that alone')
        client.send(t.save(2, 'begun', 211, path='/b'), t.save(2, 'whole', 211, 212, path='/b', inode=4), t.pulse(220, 220))
        client.wait_ack(t.id, t.seq, 60)
        c.kill()
        c.start(ready=False)
        client = c.client()
        client.send(*pulses(t, 250, 280))
        client.wait_ack(t.id, t.seq, 60)
        time.sleep(2.5)
        gs.equal(fired(), ['unsaved_for>2m'], 'it remembers the save')
        client.send(*pulses(t, 330, 380, 412))
        wait_for(lambda: 'unsaved_usd>2' in fired(), 'unsaved_usd fires', 60)


def over_http():
    """The same sums and words of a team's run at a collector."""
    import urllib.request
    with Collector(collector.bin_dir(), options=[]) as c:
        c.stop()
        c.options = ['--listen', 'http://127.0.0.1:0', '--token-file', os.path.join(c.root, 'tokens')]
        with open(os.path.join(c.root, 'tokens'), 'w') as f:
            f.write('reader-of-team-one-0001 one read\nwriter-of-team-one-0001 one write\n')
        c.start(ready=False)
        wait_for(lambda: 'listening on ' in c.errors(), 'it listens', 60)
        url = re.search(r'listening on (\S+)', c.errors()).group(1)
        t = Trainer('sent', ago=300)
        body = b''.join([t.hello(), *pulses(t, *range(1, 100, 5)), t.save(1, 'begun', 90),
                         t.save(1, 'whole', 90, 95, inode=3), t.pulse(130, 130)])
        request = urllib.request.Request(url + '/v1/frames', data=body, method='POST',
                                         headers={'Authorization': 'Bearer writer-of-team-one-0001'})
        with urllib.request.urlopen(request, timeout=60) as a:
            gs.equal(a.status, 200, 'taken')
        env = gs.environment(GPUSTARVE_TOKEN='reader-of-team-one-0001')
        answer(0, 'safe to stop: it loses 40.0 s of GPU time ($0.40), 40.0 s of one GPU', url + '/runs/sent', *PRICE, env=env)
        answer(2, 'a stop now loses 40.0 s', url + '/runs/sent', *PRICE, '--lose', '39s', env=env)
        request.data = b''.join([*saved(t, 2, 120, 2000), t.pulse(131, 131)])
        with urllib.request.urlopen(request, timeout=60) as a:
            gs.equal(a.status, 200, 'taken')
        answer(0, 'safe to stop: it loses 11.0 s of GPU time ($0.11), 11.0 s of one GPU since a state of 2.0 kB', url + '/runs/sent',
               *PRICE, env=env)
        answer(1, 'if it is not all of it, a stop now loses 41.0 s of GPU time ($0.41), 41.0 s of one GPU', url + '/runs/sent',
               *PRICE, '--lose', '$0.40', env=env)
        answer(2, 'a stop now loses 11.0 s', url + '/runs/sent', *PRICE, '--lose', '10s', env=env)
        top = gs.gpustarve('top', '--once', url + '/runs/sent', *PRICE, env=env).stdout.decode()
        gs.check('a kill now loses $0.11' in top and '  11.0 s ' in top, top)
        beside = dict(path='/beside.tmp', content=1)
        request.data = b''.join([t.save(3, 'begun', 130, **beside), t.save(3, 'whole', 130, 130.5, inode=9, **beside)])
        with urllib.request.urlopen(request, timeout=60) as a:
            gs.equal(a.status, 200, 'taken')
        answer(1, 'to a name from which it was not renamed yet; if a restart does not find it there, a stop now loses 11.0 s',
               url + '/runs/sent', *PRICE, '--lose', '10s', env=env)


GRADES = 'A: a kill loses at most 5 minutes, start-up included; B: 15; C: 60; D: more; F: no checkpoint was ever there'


def graded(where):
    """A small trace is judged: its grade and the rule; of less than ten minutes it has none. One process tells how long
    GPUs are held and saves, another what one of them computed."""
    out = os.path.join(where, 'graded')
    for minutes, saves, grade in (5, [], None), (15, [], 'F'), (25, [700], 'B'), (25, range(120, 1500, 120), 'A'):
        t = Trainer(f'graded-{minutes}-{len(saves)}', ago=minutes * 60, stamped=True)
        run = t.write(out, t.hello())
        for s in range(1, minutes * 60, 5):
            t.write(out, t.pulse(s, s))
            for i, at in enumerate(saves):
                if s <= at < s + 5:
                    t.write(out, t.save(i + 1, 'begun', at, path=f'/{i}'))
                    t.write(out, t.save(i + 1, 'whole', at, at + 1, path=f'/{i}', inode=5 + i))
        lines = [f'run {t.run}', f'stream 0 1 {os.getpid()} {t.start} here']
        for i in range(1, minutes * 60):
            at = t.start + i * 10**9
            lines += [f'op {at} {at + 5 * 10**8} {i} 7 gemm', f'api {at - 20000} {at - 10000} {i} 9 cudaLaunchKernel']
        subprocess.run([os.path.join(gs.BUILD, 'tests', 'ranks_make'), run], input='\n'.join([*lines, 'cut', '']),
                       text=True, check=True)
        _, line = asked(run, *PRICE)
        gs.equal(line.split('; spot grade ')[1:], [f'{grade} ({GRADES})'] if grade else [], line)


def of_server(where):
    """Inference saves nothing: what it was held since it began is no loss, and what else a stop does is not known."""
    for kernel, status, part in ('paged_attention_v2_kernel', 1, 'not known: it is inference so far'), ('gemm', 2, 'a stop now loses 10 m'):
        t = Trainer('serving-' + kernel, ago=640, stamped=True)
        run = t.write(os.path.join(where, 'serving'), t.hello(), *pulses(t, *range(1, 640, 7), 640))
        lines = [f'run {t.run}', f'stream 0 1 {os.getpid()} {t.start} here']
        for i in range(1, 640):
            at = t.start + i * 10**9
            lines += [f'op {at} {at + 5 * 10**8} {i} 7 {kernel}', f'api {at - 20000} {at - 10000} {i} 9 cudaLaunchKernel']
        subprocess.run([os.path.join(gs.BUILD, 'tests', 'ranks_make'), run], input='\n'.join([*lines, 'cut', '']), text=True, check=True)
        line = answer(status, part, run, *PRICE)
        gs.equal('loses 10 m' in line, status == 2, line)
        top = gs.gpustarve('top', '--once', run, *PRICE).stdout.decode()
        gs.equal('a kill now loses' in top, status == 2, f'{kernel}: {top}')
        same = 'which saves nothing: a stop loses the requests under way'
        for form in 'text', 'html':
            page = ' '.join(gs.gpustarve('report', run, *PRICE, '--format', form, '-o', '-').stdout.decode().split())
            gs.equal((same in page, 'kill loses' in page.lower(), 'pot grade' in page), (status == 1, status == 2, status == 2), f'{kernel}, {form}: {page[-900:]}')
        gs.equal('saves' in json.loads(gs.gpustarve('report', run, *PRICE, '--format', 'json', '-o', '-').stdout), status == 2, kernel)


SERVER = '''
import sys, time
sys.path.insert(0, sys.argv[1])
import gpudev
stream = gpudev.Stream(gpudev.Device(0))
for i in range(50):
    stream.kernel(50_000_000, sys.argv[2])
    stream.synchronize()
    time.sleep(0.05)
'''


def alert_of_server(where):
    """The wrapper's alert of unsaved work fires of a training alone."""
    for kernel, want in ('paged_attention_v2_kernel', []), ('gemm', ['unsaved_for>2s']):
        out = os.path.join(where, 'alert-' + kernel)
        done = gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', out, '--alert', 'unsaved_for>2s', '--', gs.PYTHON, '-c', SERVER,
                           gs.WORKLOADS, kernel], env=gs.environment(HOME=where), cwd=where)
        gs.equal(done.returncode, 0, f'{kernel}: {done.stderr.decode()[-500:]}')
        [path] = gs.runs(out)
        gs.equal([a['condition'] for a in alerting.lines(path)[0]], want, f'alerts of {kernel}')


SAVER = '''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import torch, gpudev
stream = gpudev.Stream(gpudev.Device(0))
for i in range(1000):
    stream.kernel(100_000_000, 'step')
    stream.synchronize()
    if os.path.exists(sys.argv[2] + '/enough'):
        break
    if i == 20:
        torch.save({'model': torch.zeros(1 << 16)}, sys.argv[2] + '/ckpt.pt')
        open(sys.argv[2] + '/saved', 'w').close()
    time.sleep(0.1)
'''


def of_a_real_one(where):
    """While it goes on, what `job safe` says is what its analysis says a second before or after."""
    out = os.path.join(where, 'real')
    os.mkdir(out)
    with open(os.path.join(where, 'saver.py'), 'w', encoding='utf-8') as f:
        f.write(SAVER)
    own = os.path.expanduser('~/.cache/gpustarve/programs/torch-2.14/bin/python')
    python = own if os.path.exists(own) else gs.PYTHON
    run = subprocess.Popen([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', out, *PRICE, '--alert', 'unsaved_for>3s', '--', python,
                            '-W', 'ignore', os.path.join(where, 'saver.py'), gs.WORKLOADS, out],
                           env=gs.environment(HOME=where), cwd=where, stderr=subprocess.PIPE)
    gs.until('it saves', lambda: os.path.exists(out + '/saved') or run.poll() is not None)
    time.sleep(3)
    [path] = gs.runs(out)

    def analysed():
        done = gs.gpustarve('report', path, '--format', 'json', *PRICE)
        return json.loads(done.stdout)['saves']['now_ns'] / 1e9
    try:
        before = analysed()
        status, line = asked(path, *PRICE)
        after = analysed()
    finally:
        with open(out + '/enough', 'w', encoding='utf-8'):
            pass
    said = re.search(r'loses ([\d.]+) s of GPU time \(\$([\d.]+)\)', line)
    gs.check(status == 0 and said and before - 2 <= float(said[1]) <= after + 2,
             f'{before} s, {after} s, status {status}: {line}')
    gs.equal(run.wait(), 0, 'the run')
    fired, _ = alerting.lines(path)
    gs.equal([a['condition'] for a in fired], ['unsaved_for>3s'], 'its alert')
    gs.check(b'alert: work has not been saved for ' in run.stderr.read(), 'and its words')
    answer(0, 'nothing of it holds a GPU', path)


with gs.scratch() as where:
    of_folder(where)
    of_untraced(where)
    of_killed(where)
    of_unsure(where)
    of_unmoved(where)
    of_small(where)
    of_gone(where)
    of_job(where)
    of_collector()
    over_http()
    graded(where)
    of_server(where)
    alert_of_server(where)
    of_a_real_one(where)
gs.finish()
