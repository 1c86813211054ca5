#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The picture of a step (docs/LEDGER.md 8) against what the made-up run did: which steps, each row to
the nanosecond, whose line; that verify sees a changed letter; and that the page says why it is absent."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib'), os.path.join(HERE, '..', '..', 'browser')]
import gs
import made

MS, US = 10**6, 10**3
STATES = {'b': 'busy', 's': 'starved', 'i': 'idle', 'w': 'awaits', 'd': 'device', 'g': 'call', 'c': 'cpu', 'r': 'io', 'z': 'asleep', 'q': 'runnable',
          'k': 'makes', 'l': 'lock', 'o': 'other', 'm': 'making', 'n': 'no_work', 'u': 'unseen'}


def summary(run):
    done = gs.gpustarve('report', run, '--format', 'json')
    gs.equal(done.returncode, 0, f'{run}: report')
    return json.loads(done.stdout)


def rows(step, kind):
    return [r for r in step['rows'] if r['row'] == kind]


def check_rows(step):
    for r in step['rows']:
        what = f'{step["which"]}, {r["row"]}'
        gs.equal(sum(r['states_ns'].values()), step['step_ns'], f'{what}: states sum to the step')
        gs.equal(len(r['cells']), 160, f'{what}: cells')
        for letter, state in STATES.items():
            drawn, ns = r['cells'].count(letter) * step['step_ns'] / 160, r['states_ns'].get(state, 0)
            gs.check(abs(drawn - ns) <= step['step_ns'] * 4 / 160, f'{what}: {state} takes {ns} ns, drawn {drawn}')


def check_starved(s):
    """made.starved: step k waits 60 + 7 k mod 23 ms, or 900 where 97 divides k, copies and computes 40 ms."""
    picture = s['step_picture']
    gs.equal((picture['absent'], [p['which'] for p in picture['steps']]), (None, ['median', 'worst']), 'both are drawn')
    rest = 40 * MS + 506 * US  # what each step takes besides its wait, from one optimizer's end to the next
    lengths = sorted((900 if k % 97 == 0 else 60 + k * 7 % 23) * MS + rest for k in range(2, 301))
    median, worst = picture['steps']
    gs.equal(worst['step_ns'], lengths[-1], 'the slowest')
    gs.equal(worst['exposed_ns'], 900 * MS, 'its wait')
    middle = lengths[(len(lengths) + 1) // 2 - 1]
    gs.check(abs(median['step_ns'] - middle) <= middle // 128, f'the usual one: {median["step_ns"]}, the median is {middle}')
    gs.equal(s['steps']['median_ns'], middle, 'the median')
    for step in median, worst:
        check_rows(step)
        gpu, = rows(step, 'gpu')
        main, = rows(step, 'main')
        gs.equal(gpu['states_ns']['busy'], 40 * MS + 400 * US, 'copy and kernels')
        gs.equal(main['states_ns']['awaits'], step['exposed_ns'], 'the main thread waited as long')
        gs.equal((main['where']['file'], main['where']['line'], main['where']['did']), ('/home/me/train.py', 41, 'awaits'),
                 'where it waited')
        busiest = max(rows(step, 'worker'), key=lambda r: r['samples'])
        gs.equal((busiest['where']['file'], busiest['where']['samples']), ('/home/me/data.py', busiest['samples']), 'whose line')


def check_tampering(run):
    """A picture that somebody changed is found."""
    stored = os.path.join(run, 'summary.json')
    s = summary(run)
    text = gs.gpustarve('report', run, '--format', 'json').stdout.decode()
    with open(stored, 'w', encoding='utf-8') as f:
        f.write(text)
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'as it is it verifies')
    cells = s['step_picture']['steps'][0]['rows'][0]['cells']
    with open(stored, 'w', encoding='utf-8') as f:
        f.write(text.replace(cells, 'b' * 160, 1))
    done = gs.gpustarve('verify', run)
    gs.check(done.returncode != 0 and b'step_picture.steps[0].rows[0].cells' in done.stdout, f'changed: {done.stdout}')


def check_absent(run, why, words):
    gs.equal(summary(run)['step_picture'], {'absent': why, 'steps': []}, f'{run}: absent')
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    gs.check(words in page, f'{run}: the page says why')
    gs.check('class="lane"' not in page, f'{run}: nothing is drawn')


def backward(where):
    """The main thread waits at a lock inside loss.backward() while autograd's thread, without Python, submits;
    of two threads beside them one has no work and the other listens."""
    run = made.Made('backward')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 10**9, 5 * MS, 'warm_up')
    for _ in range(60):
        p.samples(t, t + 90 * MS, p.pid, made.SUBMITTER, made.SLEEPING, made.LOCK, made.PLAIN)
        for k in range(18):
            p.sample(t + (2 + 5 * k) * MS, p.pid + 9, made.SUBMITTER, made.RUNNING, 0, '')
        p.samples(t, t + 90 * MS, p.pid + 50, made.WORKER, made.SLEEPING, made.QUEUE, made.PLAIN)
        for at in range(t + MS, t + 90 * MS, 5 * MS):  # in accept4()
            p.put('sample', at, p.pid + 51, p.pid + 51, made.WORKER, made.SLEEPING, made.SOCKET, 0, 0, 0, made.word(made.PLAIN),
                  '-', '-', '-', 289)
        t = p.kernel(t + 90 * MS, 10 * MS)
        p.range(made.OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_backward(run):
    usual = summary(run)['step_picture']['steps'][0]
    main, = rows(usual, 'main')
    gs.check(main['states_ns'].get('cpu', 0) > 80 * MS and 'lock' not in main['states_ns'],
             f'what autograd does the main process does: {main["states_ns"]}')
    gs.equal((main['where']['line'], main['where']['did']), (41, 'cpu'), 'at the line that called it')
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    drawn, table = page.split('<figure class="step">')[1].split('<details', 1)
    gs.check('Thread' in table and drawn.count('class="lane"') == 3, f'who has no work stands in the table alone: {[(r["row"], r.get("tid"), r["states_ns"]) for r in usual["rows"]]}')
    gs.check('Other threads that were seen without work' in drawn, 'and the page says so')


def check_blocked(run):
    """In a run that waits for no batch threads that were merely blocked stand in the table alone."""
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    drawn, table = page.split('<figure class="step">')[1].split('<details', 1)
    gs.equal(drawn.count('class="lane"'), 3, 'GPU, main process, axis')
    gs.check('waiting for a lock' in table.split('<figure')[0] and 'Other threads that were seen without work, or blocked' in drawn,
             f'the others: {drawn}')


def stretched(where, period):
    """A look at the main thread each 100 ms, while the sampler meant to look each @period: of a step of 300 ms that is three."""
    run = made.Made('stretched')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 30 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 10**9, 5 * MS, 'warm_up')
    for _ in range(60):
        for k in range(3):
            p.sample(t + (20 + 100 * k) * MS, p.pid, made.SUBMITTER, made.RUNNING, 0, made.PLAIN, period=period)
        t = p.kernel(t + 290 * MS, 10 * MS)
        p.range(made.OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 30 * 10**9)


def check_stretched(run, period):
    """A sample stands for no more than its period and a quarter; the rest is told as not sampled, hatched."""
    step = summary(run)['step_picture']['steps'][0]
    main, = rows(step, 'main')
    gs.equal(main['states_ns']['cpu'], 3 * period * 5 // 4, 'three samples')
    gs.check(main['states_ns']['unseen'] > 100 * MS and 'u' * 20 in main['cells'], f'between them nobody looked: {main}')
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    gs.check('<rect class="f-unseen"' in page and '</span>not sampled</li>' in page, 'the page hatches it and says so')


def launching(where):
    """Kernels of 100 us, each 5 ms; autograd's thread is in a call of 40 ms, which the main thread waits out at a lock."""
    run = made.Made('launching')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 20 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 10**9, 5 * MS, 'warm_up')
    for _ in range(60):
        p.samples(t, t + 100 * MS, p.pid, made.SUBMITTER, made.SLEEPING, made.LOCK, made.PLAIN)
        for k in range(20):
            p.sample(t + (1 + 5 * k) * MS, p.pid + 9, made.SUBMITTER, made.RUNNING, 0, '')
        p.put('api', t + 10 * MS, t + 50 * MS, 10**6 + p.corr, p.pid + 9, 'cudaMemcpyAsync')
        p.put('api', t + 60 * MS, t + 70 * MS, 2 * 10**6 + p.corr, p.pid + 50, 'cudaMemcpyAsync')
        for k in range(20):
            p.kernel(t + 5 * k * MS + 2 * MS, 100 * US)
        t += 100 * MS
        p.range(made.OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 20 * 10**9)


def check_launching(run):
    step = summary(run)['step_picture']['steps'][0]
    gpu, = rows(step, 'gpu')
    main, = rows(step, 'main')
    gs.check('b' not in gpu['cells'], f'no kernel takes most of a part: {gpu["cells"]}')
    seen = sum(c != '0' for c in gpu['busy_eighths'])
    gs.check(20 <= seen <= 40 and set(gpu['busy_eighths']) <= set('01234'), f'but kernels are there: {gpu["busy_eighths"]}')
    calls = 40 * MS + 12 * 2 * US  # of both threads, those of 8 launches within the long one; a third thread's are its own
    gs.check(abs(main['states_ns']['call'] - calls) <= 4 * US, f'calls are exact: {main["states_ns"]}')
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    lane = page.split('<div class="lane">')[1].split('</svg>')[0]
    gs.check(lane.count('<rect class="f-busy"') >= 20 and '"f-idle"' in lane, f'the GPU row shows them as work: {lane}')


def seldom(where, looks):
    """400 steps of 10 ms; the main thread is looked at, if @looks, in steps 60 ms from the middle alone."""
    run = made.Made('seldom' if looks else 'never')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 6 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 10**9, 5 * MS, 'warm_up')
    p.sample(t + 3 * 10**9, p.pid, made.WORKER, made.RUNNING, 0, made.DECODES)
    for _ in range(400):
        if looks and 50 * MS < abs(t - made.BEGIN - 3 * 10**9) < 80 * MS:
            p.sample(t + 3 * MS, p.pid, made.SUBMITTER, made.RUNNING, 0, made.PLAIN)
        t = p.kernel(t + 9 * MS, MS)
        p.range(made.OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 6 * 10**9)


def check_seldom(seen, never):
    """A step that was looked at is drawn, though those nearest the middle were not; nothing is made up where none was."""
    for run, looks in (seen, True), (never, False):
        step = summary(run)['step_picture']['steps'][0]
        main, = rows(step, 'main')
        gs.equal((main['samples'] > 0, step['step_ns'] // MS), (looks, 10), f'{run}: {main}')
        gs.equal(bool(main['where']), looks, f'{run}: its line')


def check_legend(run):
    """In a legend each colour has one meaning, and each meaning one colour."""
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    legend = page.split('id="step"')[1].split('<ul class="legend">')[1].split('</ul>')[0]
    entries = re.findall(r'<li><span class="key ([\w-]+)"></span>([^<;]+)</li>', legend)
    gs.equal(len(entries), legend.count('<li>'), f'an entry is one colour and one meaning: {legend}')
    for k in 0, 1:
        gs.equal(len({e[k] for e in entries}), len(entries), f'once each: {entries}')
    drawn = set(re.findall(r'<rect class="([\w-]+)"', page.split('id="step"')[1].split('<details')[0]))
    gs.check(drawn <= {e[0] for e in entries}, f'what is drawn is told: {drawn}, {entries}')
    ledger = page.split('id="ledger"')[1].split('<ul class="legend">')[1].split('</ul>')[0]
    gs.equal({e[0] for e in entries} & set(re.findall(r'class="key ([\w-]+)"', ledger)) - {'f-busy', 'f-input'}, set(),
             'nor has one another meaning in the ledger')


def crowded(where):
    """A thread is looked at twice in a step of 20 ms: for 16 ms it waits for a CPU, for the rest it has one."""
    run = made.Made('crowded')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t, cpu, delay = p.kernel(made.BEGIN + 10**9, 5 * MS, 'warm_up'), 0, 0
    for _ in range(60):
        p.wait(t, t + 15 * MS)
        for at, ran, wanted in (0, 0, 16 * MS), (16 * MS, 4 * MS, 0):
            p.sample(t + at, p.pid + 9, made.WORKER, made.RUNNING, 0, made.DECODES, cpu=cpu, delay=delay, period=16 * MS)
            cpu, delay = cpu + ran, delay + wanted
        t = p.kernel(t + 15 * MS, 5 * MS)
        p.range(made.OPTIMIZER, t - 1, t, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_crowded(run):
    step = summary(run)['step_picture']['steps'][0]
    worker, = rows(step, 'worker')
    gs.check(worker['states_ns'].get('runnable', 0) >= 15 * MS and worker['samples'] == 2, f'it lacked a CPU: {worker}')
    gs.equal((worker['where']['did'], worker['where']['samples']), ('runnable', 2), 'which is what it did at its line')


def odd_worker(where, odd):
    """A worker reads in each step, but for one, in which it sleeps."""
    run = made.Made(f'odd{odd}')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 2 * 10**9, 5 * MS, 'warm_up')
    for k in range(60):
        p.wait(t, t + 90 * MS)
        p.batch(made.FETCH, t, t + 90 * MS, p.pid + 1000, 1, k)
        how = (made.SLEEPING, made.NAP) if k == odd else (made.DISK, made.READ)
        p.samples(t, t + 100 * MS, p.pid + 1000, made.WORKER, *how, made.READS)
        t = p.kernel(t + 90 * MS + 10 * US, 10 * MS)
        p.range(made.OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_odd_worker(where):
    """Wherever the odd step lies, the usual one is like the others."""
    for odd in range(27, 33):
        worker, = rows(summary(odd_worker(where, odd))['step_picture']['steps'][0], 'worker')
        gs.equal(worker['where']['did'], 'io', f'step {odd} is odd: {worker["states_ns"]}')


def rare(where, odd):
    """The main thread computes before each step, but for one, in the middle, in which it waits for a lock."""
    run = made.Made(f'rare{odd}')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 2 * 10**9, 5 * MS, 'warm_up')
    for k in range(60):
        how = (made.SLEEPING, made.LOCK) if k == odd else (made.RUNNING, 0)
        p.samples(t, t + 90 * MS, p.pid, made.SUBMITTER, *how, made.PLAIN)
        t = p.kernel(t + 90 * MS, 10 * MS)
        p.range(made.OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_rare(where):
    """Wherever the odd step lies, the usual one shows what GPUs waited for, and as the cause says it."""
    for odd in range(27, 33):
        s = summary(rare(where, odd))
        main, = rows(s['step_picture']['steps'][0], 'main')
        gs.equal((main['where']['did'], s['findings'][0]['class']), ('cpu', 'host.cpu_work'), f'step {odd} is odd: {main["states_ns"]}')


def tied(where):
    """In a step the main thread is looked at once at each of two lines; every fourth step is longer, and all of that the second's."""
    run = made.Made('tied')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 10**9, 5 * MS, 'warm_up')
    for k in range(60):
        wait = 150 * MS if k % 4 == 3 else 30 * MS
        for at in range(0, wait, 15 * MS):
            first = wait == 30 * MS and not at
            p.sample(t + at, p.pid, made.SUBMITTER, made.RUNNING, 0, made.ASKS if first else made.PLAIN, period=15 * MS)
        t = p.kernel(t + wait, 10 * MS)
        p.range(made.OPTIMIZER, t - 1, t, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_tied(run):
    """Of lines that were seen equally often the one that cost the run more is named, and that others were is told."""
    usual, slowest = (rows(s, 'main')[0]['where'] for s in summary(run)['step_picture']['steps'])
    gs.equal((usual['line'], usual['samples'], usual['tied']), (41, 1, True), 'of equals the one that cost more')
    gs.equal((slowest['line'], slowest['tied']), (41, False), 'most samples show it')
    step = gs.gpustarve('report', run, '--format', 'html').stdout.decode().split('<section id="step"')[1].split('</section>')[0]
    gs.equal(step.count('the line of the run&#8217;s first cause'), 1, 'which is why it is named')


def inline(where, loader):
    """The main process decodes each batch for 60 ms: outside of any loader, or within a call of one without workers. Then it
    computes for 30 ms."""
    run = made.Made(f'inline{loader:d}')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    if loader:
        p.settings(0)
    t = p.kernel(made.BEGIN + 2 * 10**9, 5 * MS, 'warm_up')
    for k in range(60):
        if loader:
            p.wait(t, t + 60 * MS)
            p.batch(made.FETCH, t, t + 60 * MS, p.pid, 0, k, cpu=60 * MS)
        p.samples(t, t + 60 * MS, p.pid, made.SUBMITTER, made.RUNNING, 0, made.DECODES if loader else made.INLINE)
        p.samples(t + 60 * MS, t + 90 * MS, p.pid, made.SUBMITTER, made.RUNNING, 0, made.ASKS)
        t = p.copy(t + 90 * MS, MS, 4 << 20)
        t = p.kernel(t, 9 * MS)
        p.range(made.OPTIMIZER, t - 1, t, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_inline(run, loader):
    """Who makes batches itself waits for none, and the GPU, idle meanwhile, starves."""
    s = summary(run)
    gs.equal(s['findings'][0]['class'], 'input.prep' if loader else 'input.inline', f'{run}: the cause')
    step = s['step_picture']['steps'][0]
    main, = rows(step, 'main')
    gpu, = rows(step, 'gpu')
    check_rows(step)
    gs.check(abs(main['states_ns'].get('makes', 0) - 60 * MS) <= 5 * MS and 'awaits' not in main['states_ns'],
             f'{run}: it made a batch: {main["states_ns"]}')
    gs.equal((main['where']['did'], main['where']['file']), ('makes', s['findings'][0]['where']['file']), f'{run}: at the line of the cause')
    gs.check(abs(gpu['states_ns'].get('starved', 0) - 60 * MS) <= 5 * MS, f'{run}: meanwhile the GPU starved: {gpu["states_ns"]}')
    drawn = gs.gpustarve('report', run, '--format', 'html').stdout.decode().split('id="step"')[1].split('<details')[0]
    gs.check('making a batch itself at ' in drawn and 'waiting for a batch' not in drawn, f'{run}: as the page says')
    gs.check('in which GPUs waited' in drawn if loader else 'stood idle' in drawn, f'{run}: and for how long')


def saving(where):
    """The slowest step waits 10 ms for a batch, then writes a checkpoint for 400: that is what it is about."""
    run = made.Made('saving')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 2 * 10**9, 5 * MS, 'warm_up')
    for k in range(60):
        p.wait(t, t + 10 * MS)
        p.samples(t, t + 10 * MS, p.pid, made.SUBMITTER, made.SLEEPING, made.QUEUE, made.NEXT)
        busy = 400 * MS if k == 30 else 20 * MS
        p.samples(t + 10 * MS, t + 10 * MS + busy, p.pid, made.SUBMITTER, made.RUNNING, 0, made.ASKS)
        t = p.kernel(t + 10 * MS + busy, 10 * MS)
        p.range(made.OPTIMIZER, t - 1, t, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_saving(run):
    usual, slowest = (rows(s, 'main')[0]['where'] for s in summary(run)['step_picture']['steps'])
    gs.equal((usual['line'], usual['did']), (41, 'awaits'), 'a quarter of the usual step is a wait')
    gs.equal((slowest['line'], slowest['did']), (60, 'cpu'), 'of the slowest one nearly nothing')
    s, page = summary(run), gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    said = re.search(r'On average a step took <data[^>]*>[^<]*</data>, of which the GPU waited <data value="(\d+)"', page)
    gs.equal(int(said[1]), round(s['ledger']['starved_ns'] / s['steps']['count']), 'what steps waited for input on average')


def uneven(where):
    """Of ten steps one takes as long as all others together."""
    run = made.Made('uneven')
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 2 * 10**9, 5 * MS, 'warm_up')
    for k in range(100):
        p.sample(t + 5 * MS, p.pid, made.SUBMITTER, made.RUNNING, 0, made.PLAIN)
        t = p.kernel(t + (360 if k % 10 == 9 else 20) * MS, 20 * MS)
        p.range(made.OPTIMIZER, t - 1, t, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_uneven(run):
    """What is saved is told of all steps, and the usual one is half as long as their average: that is said."""
    s = summary(run)
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    said = re.search(r'On average a step took <data value="(\d+)".*?half of them took <data value="(\d+)"', page)
    gs.check(said and int(said[1]) == round(s['ledger']['working_ns'] / s['steps']['count']) and
             int(said[2]) == s['steps']['median_ns'], f'{said and said.groups()}')


with gs.scratch() as where:
    check_uneven(uneven(where))
    for loader in False, True:
        check_inline(inline(where, loader), loader)
    check_saving(saving(where))
    check_tied(tied(where))
    check_rare(where)
    check_odd_worker(where)
    check_stretched(stretched(where, 20 * MS), 20 * MS)
    check_crowded(crowded(where))
    check_launching(launching(where))
    check_seldom(seldom(where, True), seldom(where, False))
    check_backward(backward(where))
    check_blocked(os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-transformer.gst'))
    run = made.starved(where)
    check_starved(summary(run))
    check_tampering(run)
    check_legend(run)
    check_absent(made.healthy(where), 'no_samples', 'samples of the host')
    check_absent(made.idle(where), 'no_steps', 'no steps were found')
    ranks = summary(made.ranks(where))['step_picture']['steps']
    gs.equal((ranks[1]['process'], ranks[1]['exposed_ns']), (17, 60 * MS), 'of ranks that meet, the one that waited')
    page = gs.gpustarve('report', run, '--format', 'html').stdout.decode()
    gs.equal(page.count('<figure class="step">'), 2, 'two steps on the page')
gs.finish()
