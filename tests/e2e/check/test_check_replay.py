# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""`gpustarve check --replay`: without a GPU, the real loader paced by a recorded run starves as the
run did, a loader that became slower is caught, the program is left alone otherwise, and what cannot
be replayed is said in one line. How close predictions are is tests/gate's to print: here is what
holds on any machine, however busy: sleeping datasets, whose time the machine does not change much."""
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import replaying

CASE = {'workers': 2, 'dataset': 'sleep', 'steps': 80, 'batch': 2, 'sample-ms': 40, 'gpu-ms': 10}


def loop(where, name, text):
    path = os.path.join(where, name)
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    return path


def fails(recorded, what, *command, says=''):
    done = gs.gpustarve('check', '--replay', recorded, '--', *command)
    err = done.stderr.decode()
    gs.equal(done.returncode, 1, f'{what}: {done.stdout.decode()}{err}')
    gs.check(says in err.splitlines()[-1] and err.splitlines()[-1].startswith('gpustarve: '),
             f'{what}: {err}')


def named(judgement, what):
    """Its datasets sleep: blocked, at the line that does. A machine too busy to wake them is told of."""
    if 'input.cpu_starved' in judgement['message']:
        return print(f'{what}: workers waited for a CPU more than they slept: {judgement["message"]}')
    with open(os.path.join(gs.WORKLOADS, 'train_loader.py'), encoding='utf-8') as f:
        line = [n for n, text in enumerate(f, 1) if 'time.sleep(self.seconds)' in text][0]
    gs.equal((os.path.basename(judgement['file'] or ''), judgement['line'], judgement['function']),
             ('train_loader.py', line, '__getitem__'), f'{what}: {judgement}')
    gs.check(f'input.fetch, train_loader.py:{line} __getitem__' in judgement['message'], f'{what}: {judgement}')


def pipeline(recorded, base, where):
    """The gate of scripts/ci: every report of one replay, whose command ran once. It joins a baseline."""
    grown = shutil.copy(base, os.path.join(where, 'grown.json'))
    gate = os.path.join(gs.SOURCE, 'scripts', 'ci', 'gate')
    loop_py = os.path.join(gs.WORKLOADS, 'loader_loop.py')
    env = gs.environment(PATH=os.pathsep.join((os.path.dirname(gs.CLI), os.environ['PATH'])),
                         GITHUB_ACTIONS='true')
    done = gs.command([gate, '--budget', 'starved_pct<=10', '--baseline', grown, '--add-to-baseline', '--replay', recorded, '--', 'bash', '-c',
                       'echo once >>ran; exec "$@"', 'loop', gs.PYTHON, loop_py,
                       *replaying.options(CASE, ())], env=env, cwd=where)
    text = done.stdout.decode()
    gs.equal(done.returncode, 2, f'a broken budget: {text}{done.stderr.decode()}')
    gs.equal(open(os.path.join(where, 'ran')).read(), 'once\n', 'how often the command ran')
    errors = [line for line in text.splitlines() if line.startswith('::error ')]
    gs.equal(len(errors), 1, text)
    gs.check('input.cpu_starved' in errors[0] or 'train_loader.py' in errors[0] and ',line=' in errors[0], text)
    with open(grown, encoding='utf-8') as f:
        ids = [r['id'] for r in json.load(f)['runs']]
    gs.check(len(set(ids)) == 2, f'replays are runs of their own: {ids}')
    for name in 'gate.txt', 'gate.json', 'gate-junit.xml', 'gate-codequality.json', 'gate.md':
        with open(os.path.join(where, 'gpustarve-gate', name), encoding='utf-8') as f:
            gs.check('starved' in f.read(), f'{name} tells of the budget')


def left_alone(recorded, where):
    """Own sitecustomize, PYTHONPATH, output, exit status and children are as without us."""
    own = os.path.join(where, 'own')
    os.mkdir(own)
    loop(own, 'sitecustomize.py', 'import builtins; builtins.mine = 1\n')
    script = loop(where, 'alone.py', (
        'import os, subprocess, sys\n'
        'assert mine == 1\n'
        'assert os.environ["PYTHONPATH"] == sys.argv[1], os.environ["PYTHONPATH"]\n'
        'assert not [p for p in sys.path if "gpustarve" in p]\n'
        'import torch\n'
        'from torch.utils.data import DataLoader, IterableDataset\n'
        'class Nested(IterableDataset):\n'
        '    def __iter__(self):\n'
        '        return iter(DataLoader(range(40), batch_size=1))\n'
        'for i in range(2):\n'
        '    n = sum(1 for _ in DataLoader(Nested(), batch_size=1, num_workers=i))\n'
        '    assert n == 40, n\n'
        'subprocess.run([sys.executable, "-c", "assert mine == 1"], check=True)\n'
        'print("as before")\n'))
    env = gs.environment(PYTHONPATH=own)
    done = gs.gpustarve('check', '--replay', recorded, '--', gs.PYTHON, script, own, env=env)
    text = done.stdout.decode()
    gs.equal(done.returncode, 0, f'left alone: {text}{done.stderr.decode()}')
    gs.check(text.startswith('as before\n'), text)
    gs.check(not [f for f in os.listdir(where) if 'gpustarve-replay' in f], 'folder is removed')


def main():
    with gs.scratch() as where:
        os.environ['TMPDIR'] = where
        run = replaying.record(CASE, where)
        file = os.path.join(where, 'recorded.json')
        done = gs.gpustarve('check', run, '--baseline', file, '--update-baseline')
        gs.equal(done.returncode, 0, done.stderr.decode())
        for option, value, words in (('--faster', '1.5', 'a GPU 1.5 times as fast'),
                                     ('--scale-to', '3', '3 ranks on the same cores')):
            told = ' '.join(gs.gpustarve('check', run, option, value).stdout.decode().split())
            gs.check(f'with {words} a step takes' in told, told)
        shutil.rmtree(run)
        # 80 ms of sleep per batch over two workers, and 10 ms of GPU, which a busy machine made 16 of
        base = os.path.join(where, 'replayed.json')
        status, got = replaying.replay(file, CASE, where, '--baseline', base, '--update-baseline',
                                       '--budget', 'starved_pct<=99')
        if gs.equal(status, 0, f'replay: {got}'):
            starved = got['replay']['starved_pct']
            gs.check(starved >= 25, f'starved {starved} %')
            gs.check(got['replay']['accelerator_utilization_pct'] <= 55, str(got['replay']))
            gs.check('cores here' in got['judgements'][0]['message'], str(got['judgements'][0]))
        pipeline(file, base, where)
        slower = dict(CASE, steps=60, **{'sample-ms': 200})  # longer than a busy machine makes the others
        status, got = replaying.replay(file, slower, where, '--baseline', base)
        gs.equal(status, 2, f'a loader five times as slow: {got}')
        named(got['judgements'][-1], 'the line that became slower')
        status, got = replaying.replay(file, dict(CASE, workers=0, steps=45), where)
        named(got['judgements'][0], 'the line in a loader without workers')
        left_alone(file, where)
        fails(file, 'no loader', gs.PYTHON, '-c', 'pass', says='0 batches')
        fails(file, 'it fails', gs.PYTHON, '-c', 'exit(3)', says='status 3')
        fails(file, 'no command', '/nonexistent', says='/nonexistent')
        gs.check(not [f for f in os.listdir(where) if 'gpustarve-replay' in f], 'folders are removed')
        fails(os.path.join(where, 'none.json'), 'no baseline', gs.PYTHON, says='no such run')
        done = gs.gpustarve('check', '--replay', file)
        gs.equal(done.returncode, 1, 'no command')
    gs.finish()


main()
