#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=3600
"""Five programs in the form of PyTorch's own tutorials (tests/programs/tutorials), with two mistakes in each that
people make without knowing, played by PyTorch's unchanged wheels on the simulated GPU (a model). The report names both
with their lines, the larger one first; then what it advises is done to the source by a script, and what that brings
lies in the interval that was promised, and is a good part of its bound: the larger, the surer the gain is said to be.
GS_BIG=1 plays all; else one. Where the machine is busy with other things, what is said of that is right and not what was
planted, and how much of the bound came true is not judged."""
import collections
import contextlib
import io
import json
import os
import http.server
import re
import sys
import threading
import time
import wave

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import playing
import torches

FOLDER = os.path.join(playing.PROGRAMS, 'tutorials')
LATENCY = 0.008  # s, of the store of sounds
WAITS = ('input.fetch', 'input.epoch', 'host.checkpoint')  # whose remedy needs no core
KEPT_PCT = {'high': 80, 'medium': 60, 'low': 0, 'none': 0}  # of what was promised at most, by how sure that is said to be
ROUNDS = 3  # of more workers
LACKED_PCT = 10  # of the training time without a CPU: others have the cores
NOISE_PCT = 5  # of a step: so much do two plays of one program differ
TOLD_PCT = 5  # of a step; less than that is not judged

# mark: of the line. classes: what is true of its time (whoever computes also waits for a CPU where others compute).
# advice: the id that must be there. edits: what somebody does to the source who follows it; {n}: the number of workers
# advised.
Mistake = collections.namedtuple('Mistake', 'mark classes advice edits')
PREP = ('input.prep', 'input.cpu_starved')
HOST = ('host.sync', 'host.dispatch', 'host.lock', 'host.wait')
INLINE = ('input.inline', 'host.cpu_work', 'host.cpu_starved', 'host.unknown')
WORKERS = 'num_workers={n}, persistent_workers=True)'
PROGRAMS = {
    'images.py': (60, [
        Mistake('decode', PREP, ('decode',),
                [('self.length = length', 'self.length = length\n        self.pixels = [self.made(f) for f in self.files]'),
                 ('def __getitem__(self, i):', 'def made(self, file):'), ('self.files[i % len(self.files)]', 'file'),
                 ('/ 255, i % 10', '/ 255\n\n    def __getitem__(self, i):\n'
                  '        return self.pixels[i % len(self.pixels)], i % 10')]),
        Mistake('pageable', ('copy', 'input.h2d', 'host.dispatch', 'host.unknown'), ('copy', 'pageable-copy'),
                [('batch_size=BATCH', 'pin_memory=True, batch_size=BATCH'),
                 ('x.cuda(), y.cuda()', 'x.cuda(non_blocking=True), y.cuda(non_blocking=True)')])]),
    'text.py': (30, [
        Mistake('epoch', ('input.epoch',), ('loader-epoch',),
                [('num_workers=2)', 'num_workers=2, persistent_workers=True)')]),
        Mistake('item', HOST, ('sync', 'dispatch'), [(').sum().item()', ').sum()')])]),
    'audio.py': (60, [
        Mistake('fetch', ('input.fetch',), ('workers',), [('num_workers=1)', WORKERS)]),
        Mistake('inline', INLINE, ('cpu-work', 'inline', 'makers', 'host-cpu'),
                [("torch.from_numpy(samples.astype('float32') / 32768), i",
                  "spectrogram(torch.from_numpy(samples.astype('float32') / 32768), torch.hann_window(400)), i"),
                 ('x = spectrogram(waves, window)', 'x = waves')])]),
    'tabular.py': (60, [
        Mistake('rows', PREP, ('decode',),
                [('self.length = length', 'self.length = length\n        self.x = [self.made(row) for row in self.rows]'),
                 ('def __getitem__(self, i):', 'def made(self, row):'),
                 ('        row = self.rows[i % len(self.rows)]\n', ''),
                 ("for c in COLUMNS]), row['city'], i % 2", "for c in COLUMNS]), row['city']\n\n"
                  '    def __getitem__(self, i):\n        return *self.x[i % len(self.x)], i % 2')]),
        Mistake('save', ('host.checkpoint',), ('checkpoint',), [('step % 10 == 9', 'step % 1000 == 999')])]),
    'tokens.py': (300, [
        Mistake('encode', INLINE, ('inline', 'makers', 'cpu-work'),
                [('for step in range(steps):',
                  'for batch in torch.utils.data.DataLoader(range(steps), batch_size=None, num_workers=1, '
                  'collate_fn=lambda _: encode(lines)):'), ('encode(lines).cuda()', 'batch.cuda()')]),
        Mistake('norm', HOST, ('sync', 'dispatch'),
                [('sum(p.grad.norm().item() ** 2 for p in net.parameters()) ** 0.5',
                  'nn.utils.clip_grad_norm_(net.parameters(), 1.0)'),
                 ('torch._foreach_div_([p.grad for p in net.parameters()], size + 1)', 'del size')])]),
}


def sound():
    data = io.BytesIO()
    with wave.open(data, 'wb') as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(bytes(32000))
    return data.getvalue()


class Sounds(http.server.BaseHTTPRequestHandler):
    data = sound()

    def do_GET(self):
        time.sleep(LATENCY)
        self.send_response(200)
        self.send_header('Content-Length', str(len(self.data)))
        self.end_headers()
        self.wfile.write(self.data)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def store():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Sounds)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f'http://127.0.0.1:{server.server_port}'
    server.shutdown()


def play(torch, where, name, source, steps, url):
    os.makedirs(where)
    with open(os.path.join(where, name), 'w', encoding='utf-8') as f:
        f.write(source)
    done, run, _ = gs.traced([torch.python, name, str(steps), url], where, OMP_NUM_THREADS=1, GPUSTARVE_MAX_OVERHEAD=0)
    gs.equal(done.returncode, 0, f'{name}: {done.stderr.decode()[-1500:]}')
    return run, done.stderr.decode()


def followed(source, mistake, advice):
    """The source when its author has followed a piece of advice."""
    for old, new in mistake.edits:
        gs.check(old in source, f'{old!r} is in the source')
        source = source.replace(old, new.replace('{n}', str((advice.get('numbers') or {}).get('workers_advised'))))
    return source


def feeding(run):
    """The advice that asks for more workers, all of them on the cores that are here; None: those that are there keep up."""
    return next((a for a in gs.summary(run)['advice'] if a['id'] == 'workers' and a['numbers']['bound'] == 'step'), None)


def fed(torch, where, name, source, steps, url, run):
    """The source, and its run, when its author has followed what is said of workers until they keep up: before that, the
    report says, nothing else shortens a step."""
    for i in range(ROUNDS):
        advice = feeding(run)
        if not advice or not advice['numbers']['workers_now']:
            break
        n = advice['numbers']['workers_advised']
        print(f'{name}: {n} workers', flush=True)
        source = re.sub(r'num_workers=\d+', f'num_workers={n}', source)
        run, _ = play(torch, os.path.join(where, f'fed{i}'), name, source, steps, url)
    return source, run


def line_of(source, mark):
    return next(n for n, line in enumerate(source.split('\n'), 1) if line.endswith(f'#: {mark}'))


def named(summary, name, mistake, line):
    """Is there a finding of the mistake's class at its line?"""
    return any(f['class'] in mistake.classes and f['where'].get('line') == line and
               (f['where'].get('file') or '').endswith(name) for f in summary['findings'])


def first_cause(box):
    """The first numbered sentence of the box, in one line."""
    found = re.search(r'^ {2}1\. (.*?)(?=^ {2}\S)', box, re.M | re.S)
    return ' '.join(found[1].split()) if found else ''


def gain_of(before, after, advice):
    """What the run before promised per step, at least and at most, and what the later one brought, in ns: the time by
    which the classes of the advice shrank, or all of the step if that is less; not cut at the bound. Then the first of
    these alone: where others have the cores, steps get longer by themselves."""
    done = gs.gpustarve('report', before, after, '--format', 'json')
    gs.equal(done.returncode, 0, f'compare: {done.stderr.decode()[-500:]}')
    told = json.loads(done.stdout)['comparisons'][0]
    promise = next(a for a in told['advice'] if a['id'] == advice['id'])
    step = next(m for m in told['measures'] if m['id'] == 'gpu_step_working')
    low = advice['saving_lower_ns'] // gs.summary(before)['steps']['count']
    change = promise['change_step_ns']
    return low, promise['upper_step']['ns'], min(change, -step['difference']), change


def expect_named(name, source, s, box):
    """Both lines, and the larger mistake in the box's first cause."""
    _, mistakes = PROGRAMS[name]
    found = [(f['class'], f['ns'] // 10**6, f['where'].get('line')) for f in s['findings'][:10]]
    told = 0
    for mistake in mistakes:
        line = line_of(source, mistake.mark)
        if named(s, name, mistake, line):
            told += 1
        else:
            gs.check(False, f'{name}: {mistake.mark} at line {line} is not named: {found}')
    first, line = first_cause(box), line_of(source, mistakes[0].mark)
    lines = [s['findings'][i]['where'].get('line') for i in s['causes'][0]['findings']]  # the collector that it sets off counts
    gs.check(line in lines and f'{name}:' in first, f'{name}: {mistakes[0].mark} at line {line} is not the first cause: {first}')
    print(f'{name}: {told} of {len(mistakes)} named; {s["verdict"]}: {first}', flush=True)


def busy(*runs):
    """Others have the cores, and would have those that a change sets free, too."""
    return os.getloadavg()[0] > 2 * os.cpu_count() or any(lacked_pct(gs.summary(run)) > LACKED_PCT for run in runs)


def lacked_pct(s):
    classes = s['ledger']['classes']  # those that took time
    ns = sum(classes.get(c, {'ns': 0})['ns'] for c in ('input.cpu_starved', 'host.cpu_starved'))
    return 100 * ns / s['ledger']['working_ns']


def sure_of(run, advice):
    """How sure the gain of what the advice is about is said to be: 'medium', and why it is not more; 'none': no gain is told."""
    s = gs.summary(run)
    told = next((c for c in s['causes'] if s['findings'][c['findings'][0]]['class'] == advice['class']), None)
    return (told['gain_confidence'], told['gain_lacks']) if told else ('none', None)


def expect_kept(name, mistake, advice, before, after):
    """What came true lies between what the advice promised at least and at most."""
    sure, lacks = sure_of(before, advice)
    low, upper, kept, change = gain_of(before, after, advice)
    took, takes = (gs.summary(run)['steps']['median_ns'] for run in (before, after))
    print(f'{name}: {advice["id"]}: {low / 1e6:.1f} to {upper / 1e6:.1f} ms a step, {kept / 1e6:.1f} came true '
          f'({100 * kept / upper:.0f} %); gain {sure}: {lacks}; a step {took / 1e6:.1f} -> {takes / 1e6:.1f} ms', flush=True)
    noise = took * NOISE_PCT // 100
    gs.check(low <= upper, f'{name}: {mistake.mark}: at least {low}, at most {upper}')
    gs.check(kept <= upper + noise, f'{name}: {mistake.mark}: {kept} ns of {upper} at most came true')
    others = busy(before, after)
    kept = change if others else kept
    needy = others and not set(mistake.classes) & set(WAITS)
    if low or not needy:
        gs.check(kept >= low - noise, f'{name}: {mistake.mark}: {kept} ns of {low} at least came true')
    if needy:
        gs.left_out(f'{name}: how much of the bound on {mistake.mark} came true: others have the cores')
    elif 100 * upper >= TOLD_PCT * took:
        gs.check(100 * kept >= KEPT_PCT[sure] * upper, f'{name}: {mistake.mark}: {kept} ns of {upper} came true ({sure})')


def expect_program(torch, name, url):
    steps, mistakes = PROGRAMS[name]
    steps = steps if gs.BIG else steps // 2
    with open(os.path.join(FOLDER, name), encoding='utf-8') as f:
        source = f.read()
    with gs.scratch() as where:
        before, box = play(torch, os.path.join(where, 'before'), name, source, steps, url)
        expect_named(name, source, gs.summary(before), box)
        for i, mistake in enumerate(mistakes if gs.BIG else mistakes[:1]):
            if i:
                source, before = fed(torch, where, name, source, steps, url, before)
            given = [a for a in gs.summary(before)['advice'] if a['id'] in mistake.advice]
            if not given and busy():  # what others take makes a small class less than 1 % of the time
                gs.left_out(f'{name}: no advice {mistake.advice}: others have the cores')
                continue
            if not gs.check(given, f'{name}: advice {mistake.advice} is missing'):
                continue
            source = followed(source, mistake, given[0])
            after, _ = play(torch, os.path.join(where, mistake.mark), name, source, steps, url)
            expect_kept(name, mistake, given[0], before, after)
            before = after


def test_tutorials():
    torch = next((t for t in torches.some() if t.name == 'torch-2.14'), torches.some()[-1])
    only = os.environ.get('GS_ONLY', '').split() or (list(PROGRAMS) if gs.BIG else ['audio.py'])
    with store() as url:
        for name in only:
            expect_program(torch, name, url)


gs.run_tests(globals())
