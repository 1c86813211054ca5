#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e first
"""The check of a real GPU (scripts/gpu-check), dry-run: every part on the simulator in short, and with
made-up parts what becomes of answers when a part hangs, dies, breaks, or the check itself is ended.
Nothing of the build is made here but two configurations that lack libraries."""
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs  # noqa: E402

GPU = os.path.join(gs.SOURCE, 'tests', 'gpu')
CHECK = os.path.join(GPU, 'check.py')
sys.path[:0] = [GPU]
import check  # noqa: E402
import questions  # noqa: E402
import table  # noqa: E402

# What parts leave behind: `sleep` with a number of this test's own, for another one may play beside it on this machine.
LEFT = {'HANGS': f'4711{os.getpid()}', 'SLOW': f'4712{os.getpid()}'}
MADE_UP = {
    'fine': '''
SECONDS = 60
def part(r, out):
    r.put('fine', 'a | b\\n<script>', 'two\\nlines', True, goal='none', number=1)
    r.put('fine', 'told', 'only', odd={('a', 'tuple'): object()})
    r.skip('fine', 'not here', 'no reason')
''',
    'hangs': '''
import subprocess, time
SECONDS = 5
def part(r, out):
    r.put('hangs', 'before', 'it hung', True)
    subprocess.Popen(['sleep', 'HANGS'], start_new_session=True)
    while True:
        try:
            time.sleep(1000)
        except Exception:
            pass
''',
    'breaks': '''
SECONDS = 60
def part(r, out):
    r.put('breaks', 'before', 'it broke', True)
    raise ValueError('on purpose')
''',
    'dies': '''
import os, signal
SECONDS = 60
def part(r, out):
    r.put('dies', 'before', 'it died', True)
    os.kill(os.getpid(), signal.SIGKILL)
''',
    'wrong': '''
SECONDS = 60
import no_such_module
''',
    'silent': '''
SECONDS = 60
def part(r, out):
    pass
''',
    'slow': '''
import os, subprocess, time
SECONDS = 500
def part(r, out):
    os.makedirs(os.path.join(out, 'runs'))
    with open(os.path.join(out, 'runs', 'summary.json'), 'w') as f:
        f.write('{}')
    r.put('slow', 'first', 'here', True)
    subprocess.Popen(['sleep', 'SLOW'])
    time.sleep(400)
'''}


def environment(**more):
    env = {k: v for k, v in os.environ.items() if not k.startswith(gs.ISOLATED + ('GPU_CHECK',))}
    return dict(env, GPUSTARVE_BUILD=gs.BUILD, PATH='/usr/bin:/bin:/usr/local/cuda/bin',
                GPU_CHECK_QUICK='1', **more)


def begin(out, names, wrap=(), **more):
    # A file: a pipe would be held open by what a killed check leaves behind.
    with open(out + '.said', 'w') as said:
        return subprocess.Popen([*wrap, gs.PYTHON, CHECK, out, *names], stdout=said,
                                stderr=subprocess.STDOUT, env=environment(**more))


def over(run, out):
    """What it said, when it is over."""
    run.wait()
    with open(out + '.said') as f:
        return f.read()


def result_of(out):
    with open(os.path.join(out, 'gpu-check.json')) as f:
        return json.load(f)


def table_of(out):
    with open(os.path.join(out, 'gpu-check.md')) as f:
        return f.read()


def rows(text):
    """The cells of a table's rows, without headings."""
    found = [re.split(r'(?<!\\)\|', line)[1:-1] for line in text.splitlines() if line.startswith('|')]
    return [[c.strip() for c in cells] for cells in found
            if cells[0].strip() != 'question' and not set(cells[0]) <= set('-')]


def running(word):
    """Processes whose command line is `sleep WORD`."""
    found = []
    for name in os.listdir('/proc'):
        try:
            with open(f'/proc/{name}/cmdline') as f:
                if f.read() == f'sleep\0{word}\0':
                    found.append(int(name))
        except OSError:
            pass
    return found


# ---- all parts on the simulator ----

def judge_half(half, out, rc, said):
    result = result_of(out)
    gs.equal(rc, 0, f'half {half}: exit status; it said:\n{said[-3000:]}')
    gs.check(result['complete'], f'half {half} came to its end')
    gs.equal(sorted(result['parts']), sorted(check.HALVES[half]), f'half {half}: parts')
    for part, found in result['parts'].items():
        for r in found:
            where = f'{part}: {r["question"]}: {r["answer"]}'
            gs.check(r['ok'] is not False, 'LOOK on the simulator: ' + where)
            gs.check('broke' not in r['answer'] and r['answer'].strip(), 'broken or empty: ' + where)
    silent = table.unanswered(result)
    for point, row in silent:
        gs.check(False, f'{point.title}: nobody answers, or skips with a reason: {row["question"]}')
    text = table_of(out)
    gs.equal(len(rows(text)), sum(map(len, result['parts'].values())) + len(silent),
             f'half {half}: rows')
    gs.check(all(len(cells) == 4 for cells in rows(text)), f'half {half}: every row has four cells')
    with tarfile.open(os.path.join(out, 'runs.tar.gz')) as tar:
        names = tar.getnames()
    gs.check(any(n.endswith('.log') for n in names), f'half {half}: logs are kept')
    gs.check(os.path.getsize(os.path.join(out, 'runs.tar.gz')) < 12 << 20, 'runs.tar.gz is small')
    return result


def dry_run(tmp):
    outs = {half: os.path.join(tmp, 'half-' + half) for half in check.HALVES}
    # Time enough on a slow machine: what is cut short would be judged by what it lacks.
    runs = {half: begin(out, [half], [gs.WITH_GPUSIM], GPU_CHECK_SECONDS='450')
            for half, out in outs.items()}
    said = {half: over(run, outs[half]) for half, run in runs.items()}
    halves = [judge_half(half, outs[half], runs[half].returncode, said[half]) for half in outs]

    text = subprocess.run([os.path.join(gs.SOURCE, 'scripts', 'gpu-check'), '--join', *outs.values()],
                          stdout=subprocess.PIPE, text=True, env=environment(), check=True).stdout
    gs.equal(sorted(rows(text)), sorted(rows(table_of(outs['1'])) + rows(table_of(outs['2']))),
             'the rows of both halves, and no others, are those of the whole')
    for point in questions.POINTS:
        gs.check(f'### {point.title}\n\n|' in text, f'{point.title} has rows in the whole')
    into = os.path.join(tmp, 'whole')
    subprocess.run([gs.PYTHON, CHECK, '--join', *outs.values(), '--into', into], check=True,
                   env=environment())
    whole = result_of(into)
    gs.equal(table_of(into), text, 'joined into files: the same table')
    gs.equal(whole['parts'], {**halves[0]['parts'], **halves[1]['parts']}, 'joined: all parts')
    gs.equal(sorted(whole['asked']), sorted(check.PARTS), 'joined: all was asked for')
    print('dry run: ' + table.counts_text(whole) + '; seconds '
          + ', '.join(f'{k} {v}' for k, v in whole['seconds'].items()))


def no_time(tmp):
    """A second for all: nothing is begun, nothing is wrong, every question says why."""
    for half in check.HALVES:
        out = os.path.join(tmp, 'second-' + half)
        run = begin(out, [half], [gs.WITH_GPUSIM], GPU_CHECK_SECONDS='1')
        said = over(run, out)
        gs.equal(run.returncode, 0, 'a second: exit status; it said ' + said)
        result = result_of(out)
        answers = {r['answer'] for found in result['parts'].values() for r in found}
        gs.equal(answers, {'not asked: out of time'}, f'a second for half {half}')
        gs.check(all(cells[1] == 'not asked: out of time' for cells in rows(table_of(out))),
                 'every question of the list says so')


# ---- made-up parts ----

def write_parts(tmp):
    folder = os.path.join(tmp, 'made-up')
    os.makedirs(os.path.join(folder, 'parts'))
    for name, text in MADE_UP.items():
        with open(os.path.join(folder, 'parts', name + '.py'), 'w') as f:
            f.write(re.sub('|'.join(LEFT), lambda found: LEFT[found[0]], text))
    return folder


def faults(tmp, folder):
    out = os.path.join(tmp, 'faults')
    names = ['hangs', 'breaks', 'dies', 'wrong', 'silent', 'no_such', 'fine']
    run = begin(out, names, GPU_CHECK_PARTS=folder, GPU_CHECK_GRACE='1')
    said = over(run, out)
    parts = {part: [(r['question'], r['ok'], r['answer']) for r in found]
             for part, found in result_of(out)['parts'].items()}
    gs.equal(run.returncode, 0, 'faults of parts: exit status; it said ' + said)
    gs.equal(sorted(parts), sorted(names), 'every part has a say')
    for name, words in (('hangs', 'hung: ended after'), ('breaks', "broke: ValueError('on purpose')"),
                        ('dies', 'broke: its process ended with status -9')):
        gs.equal(parts[name][0][:2], ('before', True), f'{name}: its answers before that stand')
        gs.equal(parts[name][1][:2], ('the part itself', False), f'{name}: said')
        gs.check(parts[name][1][2].startswith(words), f'{name}: {parts[name][1][2]!r}')
    gs.check('no_such_module' in parts['wrong'][0][2] and parts['wrong'][0][1] is False,
             f'a part that does not load: {parts["wrong"]}')
    gs.equal(parts['silent'], [('the part itself', False, 'broke: it asked nothing')], 'silent')
    gs.check(parts['no_such'][0][1] is False and 'broke: ModuleNotFound' in parts['no_such'][0][2],
             f'no such part: {parts["no_such"]}')
    gs.equal([row[1] for row in parts['fine']], [True, None, None], 'the last part has its answers')
    gs.equal(running(LEFT['HANGS']), [], 'what the part that hung left behind was ended')
    gs.check(['a \\| b &lt;script>', 'two lines', 'none', 'ok'] in rows(table_of(out)),
             'a cell holds no markup and no end of a cell')
    with open(os.path.join(out, 'progress.log')) as f:
        progress = f.read()
    gs.check('hangs: over after' in progress and 'ended behind it: 2' in progress, progress)


def wait_for_first(out):
    path = os.path.join(out, 'gpu-check.json')
    end = time.time() + 300
    while not (os.path.exists(path) and result_of(out)['parts'] and running(LEFT['SLOW'])):
        if time.time() > end:
            raise AssertionError('the part that is slow did not begin')
        time.sleep(0.1)


def ended(tmp, folder):
    """Files are whole at any moment: after KILL, and after TERM with what was kept of the runs."""
    for number in (signal.SIGKILL, signal.SIGTERM):
        out = os.path.join(tmp, f'ended-{number}')
        run = begin(out, ['slow'], GPU_CHECK_PARTS=folder, TMPDIR=tmp)  # it leaves things behind
        wait_for_first(out)
        run.send_signal(number)
        run.wait()
        result = result_of(out)
        gs.equal(result['parts']['slow'][0]['answer'], 'here', 'what was answered stands')
        gs.check(not result['complete'] and 'cut short' in table_of(out), 'it says that it was cut short')
        if number == signal.SIGTERM:
            gs.equal(run.returncode, 1, 'TERM: exit status')
            gs.check('ended by SIGTERM' in table_of(out), 'TERM is said')
            gs.equal(running(LEFT['SLOW']), [], 'TERM ends what the part had started')
            with tarfile.open(os.path.join(out, 'runs.tar.gz')) as tar:
                gs.check('runs/summary.json' in tar.getnames(), f'kept: {tar.getnames()}')
        for pid in running(LEFT['SLOW']):
            os.kill(pid, signal.SIGKILL)


# ---- building without ----

def configure(tmp, name, *options):
    run = subprocess.run(['cmake', '-S', gs.SOURCE, '-B', os.path.join(tmp, name), *options],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, ' '.join(run.stdout.split())


def libraries(tmp):
    rc, said = configure(tmp, 'needed', '-DGS_sqlite3_LIBRARY=', '-DGS_zstd_static_LIBRARY=',
                         '-DPROTOC_C=')
    gs.check(rc != 0 and 'missing Debian packages: libzstd-dev libsqlite3-dev protobuf-c-compiler; '
             'scripts/setup --build installs them' in said, f'needed libraries: {rc}: {said[-900:]}')
    gs.equal(said.count('CMake Error'), 1, 'one sentence and no cascade')
    gone = {'elf': 'no libelf-dev: native functions have no names in reports',
            'ncurses': 'no libncurses-dev: gpustarve top prints lines and has no screen',
            'curl': 'no libcurl4-openssl-dev: no fleet on ClickHouse',
            'microhttpd': 'no libmicrohttpd-dev: gpustarve-collector is not built',
            'gnutls': 'no libgnutls28-dev: gpustarve-collector is not built'}
    rc, said = configure(tmp, 'optional', '-DGPUSTARVE_CHARTS=OFF',
                         *(f'-DGS_{name}_LIBRARY=' for name in gone))
    gs.check(rc == 0 and 'CMake Error' not in said, f'without all that can be left out: {said[-900:]}')
    for words in gone.values():
        gs.check('gpustarve: ' + words in said, f'not said: {words}')
    viewer = os.path.join(gs.SOURCE, 'viewer')
    for name in ('curl', 'elf', 'ncurses'):   # which other builds leave out
        run = subprocess.run(['cc', '-std=gnu17', '-Wall', '-Wextra', '-Wmissing-prototypes', '-Werror',
                              '-D_GNU_SOURCE', '-fsyntax-only', '-I', viewer,
                              '-I', os.path.join(gs.BUILD, 'include'), os.path.join(viewer, 'stubs', name + '.c')],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        gs.equal((run.returncode, run.stdout), (0, ''), f'stubs/{name}.c compiles')


def main():
    for half, names in check.HALVES.items():
        shares = sum(check.share(name) for name in names)
        gs.check(shares <= 480, f'half {half}: {shares} s of shares leave the build too little of 540')
    if not os.path.isdir(os.path.join(gs.BUILD, 'gpusim')):
        print('skipped: no simulator in this build')
        return 77
    with tempfile.TemporaryDirectory() as tmp:
        folder = write_parts(tmp)
        gs.side_by_side([lambda: dry_run(tmp), lambda: faults(tmp, folder),
                         lambda: (ended(tmp, folder), no_time(tmp), libraries(tmp))])
    return gs.finish()


if __name__ == '__main__':
    sys.exit(main())
