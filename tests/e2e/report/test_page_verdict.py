#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What the page says at its top, of runs whose doings are known: how much of a cause its line was seen at, how sure that
is, no monitor that looked once, no number without a name, and the same as the box."""
import html
import json
import os
import re
import shutil
import sys
from decimal import Decimal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, '..', '..', 'lib'), os.path.join(HERE, '..', '..', 'browser')]
import gs
import made
import pagekeys

MS, US = 10**6, 10**3


def words(markup):
    """What one reads: no pictures, no markup, single spaces."""
    text = re.sub(r'<svg.*?</svg>|<script.*?</script>', '', markup, flags=re.S)
    text = re.sub(r'\s+', ' ', html.unescape(re.sub(r'<[^>]*>', ' ', text)))
    return re.sub(r' ([.,;])(?= |$)', r'\1', text)  # between elements


class Seen:
    """A run's box, its page, and what both are made of."""

    def __init__(self, run):
        self.page, self.box, self.summary = (gs.gpustarve('report', run, '--format', f).stdout.decode() for f in ('html', 'text', 'json'))
        self.box = re.sub(r'\s+', ' ', self.box).replace(' ct', ' \u00a2')
        self.exact = json.loads(self.summary, parse_float=Decimal)
        self.summary = json.loads(self.summary)
        self.top = words(self.page.split('id="verdict"')[1].split('</section>')[0])

    def section(self, name):
        return self.page.split(f'<section id="{name}"')[1].split('</section>')[0]


def half_seen(where, name='half', code=made.PLAIN):
    """A call of the driver makes the GPU wait 90 ms in each step; in two of five steps a look falls into it."""
    run = made.Made(name)
    p = run.process('node1', 4242, made.BEGIN, made.BEGIN + 10 * 10**9, gpus=[(1, made.H100)])
    t = p.kernel(made.BEGIN + 10**9, 5 * MS, 'warm_up')
    for k in range(60):
        if k % 5 < 2:
            p.sample(t + 30 * MS, p.pid, made.SUBMITTER, made.RUNNING, 0, code)
        p.put('api', t + 10 * US, t + 90 * MS, 10**6 + k, p.pid, 'cudaMemcpyAsync')
        t = p.kernel(t + 90 * MS + 10 * US, 10 * MS)
        p.range(made.OPTIMIZER, t - 40 * US, t - 30 * US, 'Optimizer.step#SGD.step')
    return run.write(where, made.BEGIN + 10 * 10**9)


def check_half_seen(run):
    s = Seen(run)
    first, rest = s.summary['findings'][:2]
    if first['rest']:
        first, rest = rest, first
    working = s.summary['ledger']['working_ns']
    own = f'{100 * first["ns"] / working:.1f} %'
    gs.check(30 < 100 * first['ns'] / working < 40, f'two of five steps: {own}')
    line = s.top.split('At line')[1].split('How sure')[0]
    gs.check(f'at least {own[:-2]} of these' in line, f'the line tells its own share: {line}')
    gs.check(rest['sentence'] in line, f'and what of the rest is known: {line}')
    gs.check(f'{own} seen at this line' in words(s.section('why')), 'so does the table')
    sure = s.top.split('How sure')[1].split('Do first')[0]
    said = re.search(r'1\. .*?; (confidence: [^]]+)', s.box).group(1)
    gs.check('gain high' in said or re.search(r'gain (medium|low): \w', said), f'what keeps it from being surer stands there: {said}')
    gs.check(said.removeprefix('confidence: ') in sure and said in words(s.section('why')) and f'{first["evidence"]["samples"]} samples of 1 thread' in sure,
             f'how sure it is stands on top, as in the box ({said}): {sure}')
    gs.check('every 15 s' not in s.top and 'Utilisation, as monitors show it, was about' in s.top,
             f'a monitor that looks each 15 s tells nothing of 10 s: {s.top}')
    gs.check('tarved' not in s.top, f'{s.top}')
    gs.check('lost to input' in words(s.section('ledger')) and 'starved' not in words(s.section('timeline')).split('Table')[0],
             'what a share of a host-bound run is of is said')
    gs.check('grades' not in s.top, 'no grade, no rule')


def check_flame():
    """Frames are told by what differs from one to the next; pointed at, by all of it."""
    page = gs.gpustarve('report', os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-cnn.gst'), '--format', 'html').stdout.decode()
    frames = re.findall(r'<text [^>]*>(?:<title>([^<]*)</title>)?([^<]*)</text>', page.split('<svg class="flame"')[1].split('</svg>')[0])
    gs.check(('Step.body /srv/job/torch_train.py:192', 'Step.body torch_train.py:192') in frames, f'one of the program: {frames[:9]}')
    gs.check(any(w.startswith('Module._call_impl /srv/venv/') and f.startswith('Module._call_impl torch/nn/') for w, f in frames),
             f'one of a package: {frames}')
    gs.check(('', 'host.warmup') in frames and not any(' /' in f for _, f in frames), f'no path from the root on: {frames}')


def check_words():
    """Words that readers did not know, one list with numbers alone, and what NVML's figure is of."""
    run = os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-cnn.gst')
    text, markdown, page = (gs.gpustarve('report', run, '--format', f).stdout.decode() for f in ('text', 'markdown', 'html'))
    for said in text, markdown, words(page):
        gs.check('on their way' not in said and (said == markdown or 'launched work to arrive' in said) and 'the verdict' not in said, f'{said}')
    gs.equal([line for line in text.split('\n\n', 1)[1].split('\n') if re.match(r'  \d+\. ', line)], [], 'numbers stand in the box alone')
    gs.equal(len(re.findall(r'^1\. ', markdown, flags=re.M)), 1, 'one list with numbers')
    for said in re.sub(r'\s+', ' ', text), words(page):
        gs.check('over the whole run, by these records (NVML itself said 2.0 %, on average of the moments' in said, 'what NVML says it of')


def check_startup():
    """Of a real run: imports until libprof was armed by CUDA, and what then came before the first copy."""
    s = Seen(os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', 'h100-cnn.gst'))
    ledger, (process,) = s.summary['ledger'], s.summary['run']['processes']
    armed = 1795799668553785473  # of its Hello
    gs.equal(ledger['before_cuda_ns'], armed - process['start_ns'], 'until CUDA')
    for said in s.box, s.top[:s.top.index('Mostly on')]:
        gs.check(re.search(r'f start-up 9\.9 s until the program first used CUDA \(imports, .*?, then 364 ms to', said), said)
        gs.check('; paid once per run' in said, said)


def check_healthy():
    """Where nothing is worth acting on the box names no cause."""
    s = Seen(os.path.join(gs.SOURCE, 'docs', 'demo', 'healthy.gst'))
    gs.check('a healthy run' in s.box.split('\n\n')[0] and not re.search(r' 1\. ', s.box.split(' run healthy')[0]), s.box[:600])


def check_change(plain, torch):
    """What to change stands with the picture if it is a call; else there is no such heading."""
    said = words(Seen(plain).section('step'))
    gs.check('The change' not in said, f'no call is known: {said}')
    s = Seen(torch)
    said = words(s.section('step')).split('The change')[1]
    gs.equal(s.summary['advice'][0]['change'], 'model = torch.compile(model)', 'torch launches: compile it')
    gs.check(len(re.findall(r'[\d.]+ % of the training time', said)) == 1, f'what it saves is told once: {said}')
    gs.check('model = torch.compile(model) once, where the model is made' in said and 'train.py:41' in said, f'and where: {said}')


def check_digits(run):
    """Box and page tell the same digits, of whatever both tell."""
    s = Seen(run)
    thousand = (re.search(r'day and night: [^;]+; ([^;]+) of ([^;]+?) per thousand steps', s.box) or
                re.search(r'per thousand steps: (\S+ ?\S*) of (\S+ \u00a2|\S+)', s.box))
    gs.equal(bool(thousand), 'that a thousand steps take' in s.top, 'of a thousand steps both or none')
    part, whole = thousand.groups() if thousand else ('', '')
    gs.check(not thousand or f'Of the {whole} that a thousand steps take, {part.strip()}.' in s.top, f'{part} of {whole}: {s.top}')
    basis = re.search(r'if it went on like these (.*? of training, day and night: .*? per day and .*? per month)', s.box)
    gs.check(not basis or basis[1] in s.top, f'a day and a month say what they are of: {s.top}')
    saves = re.search(r'saves at most (.*? of this run(, .*? per thousand steps)?)', s.box)[1]
    gs.check(f'It saves at most {saves}.' in s.top, f'{saves}: {s.top}')
    first = re.search(r'the ((?:first|second|third)[a-z ]*) ([\d.]+) of the ([\d.]+) %', s.box)
    if first:
        gs.check(f'The {first[1]} {first[2]} % of the {first[3]} %' in re.sub(r' ([;.,])', r'\1', words(s.section('why'))),
                 f'{first[0]}: {words(s.section("why"))[-200:]}')
    wrong, _ = pagekeys.problems(s.page, s.exact)
    gs.equal([w for w in wrong if not w.startswith('joined')][:5], [], 'and each is what its key names')
    return first


def check_bases(run):
    """What a figure, a chart or a cited document is about stands beside it, and is so."""
    s = Seen(run)
    steps, method = words(s.section('steps')), words(s.section('method'))
    gs.check('start-up, shutdown and all else that was paid included' in steps, f'what each step cost is of all: {steps[:300]}')
    gs.check('each doubling of it is cut into eight equal bins' in steps, 'how bins grow')
    gs.check('share/doc/gpustarve/CAUSES.md' in method, 'where CAUSES.md lies')
    with open(os.path.join(HERE, '..', '..', '..', 'docs', 'CMakeLists.txt')) as f:
        gs.check(re.search(r'install\(FILES [^)]* CAUSES\.md [^)]*CMAKE_INSTALL_DOCDIR', f.read()), 'and that it is installed there')
    gs.check('Its GPU waited for input' in steps and 'Waited for the loader' not in steps, 'what the column of steps is')


def check_graded(run):
    s = Seen(run)
    gs.check(f'{s.summary["severity"]}” grades what is lost to input alone: notice below 10 %' in s.top and 'critical from 20 %' in s.top,
             f'the word stands with its rule: {s.top}')


with gs.scratch() as where:
    check_half_seen(half_seen(where))
    backward = made.stack('_engine_run_backward /x/site-packages/torch/autograd/graph.py 9', made.TRAIN)
    check_change(half_seen(where, 'plain'), half_seen(where, 'torch', backward))
    check_startup()
    check_healthy()
    check_flame()
    check_words()
    for demo in 'decoding', 'storage':
        run = os.path.join(where, demo + '.gst')
        shutil.copytree(os.path.join(gs.SOURCE, 'docs', 'demo', demo + '.gst'), run)
        check_digits(run)
        gs.check('that a thousand steps take' in Seen(run).top, f'{demo}: has steps and a price')
    gs.check(check_digits(made.ranks(where)), 'a run with more than three causes, whose shares round to less than their sum')
    check_graded(made.starved(where))
    check_bases(made.starved(where, 'bases'))
gs.finish()
