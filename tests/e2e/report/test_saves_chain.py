# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""A job that is killed and started again under another run id: runs of one label are taken for one job. What
was thrown away is redone if the next run opened an earlier one's save, and of unknown fate if it did not."""
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

# Goes on from the save that lies there, which it loads before it comes to the GPU, as most do, makes three of its own,
# and works on, unless it is to end then. What else it loads before is not kept without end.
JOB = '''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import torch
path = sys.argv[2] + '/last.pt'
if os.path.exists(path):
    torch.load(path)
    open(sys.argv[2] + '/opened', 'w').close()
    torch.save(torch.zeros(4), sys.argv[2] + '/sample.pt')
    for i in range(100):
        torch.load(sys.argv[2] + '/sample.pt')
import gpudev
stream = gpudev.Stream(gpudev.Device(0))
for i in range(10 ** 6):
    stream.kernel(50_000_000, 'step')
    stream.synchronize()
    if i in (5, 10, 15):
        torch.save({'model': torch.zeros(1 << 12)}, path + '.new')
        os.replace(path + '.new', path)
    if i == 30 and sys.argv[3] == 'last':
        break
    if i == 50:
        open(sys.argv[2] + '/pid', 'w').write(str(os.getpid()))
'''


def python():
    own = os.path.expanduser('~/.cache/gpustarve/programs/torch-2.14/bin/python')
    return own if os.path.exists(own) else gs.PYTHON


def run(where, name, folder, last, *labels):
    """One run by itself; the first is killed some time after its last save."""
    folder = os.path.join(where, folder)
    os.makedirs(folder, exist_ok=True)
    options = [o for label in labels for o in ('--label', label)]
    process = subprocess.Popen(
        [gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, 'runs'), '--price', '3.60', *options, '--', python(), '-W',
         'ignore', os.path.join(where, 'job.py'), gs.WORKLOADS, folder, 'last' if last else 'on'],
        env=gs.environment(HOME=where, GPUSTARVE_RUN_ID=name), cwd=where, stderr=subprocess.DEVNULL)
    if not last:
        path = os.path.join(folder, 'pid')
        gs.until('it saves', lambda: os.path.exists(path) and open(path).read(), 120)
        os.kill(int(open(path).read()), signal.SIGKILL)
    gs.equal(process.wait() == 0, last, f'{name}: exit status')
    return os.path.exists(os.path.join(folder, 'opened'))


def joined(where, label):
    """The report of all runs of the label."""
    out = os.path.join(where, 'runs')
    done = gs.gpustarve('report', '--job', 'label:' + label, '--dir', out, '--format', 'json')
    gs.equal(done.returncode, 0, f'{label}: {done.stderr.decode()[-300:]}')
    summary = json.loads(done.stdout)
    gs.equal(schema.errors(schema.ours(), summary), [], f'{label}: schema')
    gs.equal(summary['run']['slurm'], None, f'{label}: no scheduler made it one')
    gs.check(any('2 runs of the label ' + label in n for n in summary['quality']['notes']), f'{label}: what was joined')
    saves = summary['saves']
    gs.equal([s['end'] for s in saves['segments']], ['killed', 'ordered'], f'{label}: ends')
    gs.equal(sum(p['ns'] for p in saves['parts'].values()), summary['ledger']['gpu_ns'], f'{label}: all that was held')
    return saves


def alone(where, name):
    done = gs.gpustarve('report', os.path.join(where, 'runs', name + '.gst'), '--format', 'json')
    return json.loads(done.stdout)['saves']


def check_fleet(where, joined):
    """Of digests alone, to the nanosecond and the nano-dollar."""
    store = f'sqlite:{where}/store.sqlite'
    done = gs.gpustarve('digest', *(f'{where}/runs/{name}.gst' for name in ('a', 'bb', 'ccc')), '--store', store)
    gs.equal(done.returncode, 0, f'digest: {done.stderr.decode()[-300:]}')
    said = json.loads(gs.gpustarve('fleet', '--store', store, '--by', 'lost', '--format', 'json').stdout)['lost']
    row = [r for r in said['job'] if r['name'] == 'x']
    gs.equal(len(row), 1, f'one job: {said["job"]}')
    for part in ('durable', 'unsaved', 'redone', 'unknown', 'lost'):
        gs.equal(row[0][part + '_ns'], joined['parts'][part]['ns'], f'fleet: {part}')
        gs.check(abs(row[0][part + '_usd'] - joined['parts'][part]['usd']) < 3e-9, f'fleet: dollars of {part}')
    gs.equal([r['lost_ns'] for r in said['job']], [0] * len(said['job']), 'of none is anything lost')


with gs.scratch() as where:
    with open(os.path.join(where, 'job.py'), 'w', encoding='utf-8') as f:
        f.write(JOB)
    opened = [run(where, 'a', 'ckpt', False, 'job=x', 'job2=y'), run(where, 'bb', 'ckpt', True, 'job=x', 'else=1'),
              run(where, 'ccc', 'elsewhere', True, 'job2=y')]
    gs.equal(opened, [False, True, False], 'the second run opens the save of the first')
    kept = os.path.join(where, 'kept.json')
    told = gs.gpustarve('report', os.path.join(where, 'runs', 'a.gst'), '--format', 'json').stdout
    gs.equal([s['opened_segment'] for s in json.loads(told)['saves']['segments']], [None], 'the first run began with no save')
    with open(kept, 'wb') as f:
        f.write(told)
    gs.check(gs.gpustarve('report', kept, '--format', 'json').stdout == told, 'it says the same when it is told from its summary')
    first = alone(where, 'a')['parts']
    gs.check(first['lost']['ns'] > 0 and not first['redone']['ns'], 'by itself the first run lost it')
    redone = joined(where, 'job=x')
    gs.equal(redone['segments'][1]['opened_segment'], 0, 'it began with a save of the first')
    gs.equal(redone['parts']['lost']['ns'] + redone['parts']['unknown']['ns'], 0, 'nothing is lost for good')
    lost = first['lost']['ns']
    gs.equal(redone['parts']['redone']['ns'], lost, 'what the first run lost by itself is redone')
    unknown = joined(where, 'job2=y')
    gs.equal(unknown['segments'][1]['opened_segment'], None, 'the third run opened nothing of it')
    gs.equal((unknown['parts']['redone']['ns'], unknown['parts']['unknown']['ns']), (0, lost), 'so nobody knows')
    check_fleet(where, redone)
    for bad in ('label:job=nobody', 'label:job', 'label:=x', 'label:'):
        gs.equal(gs.gpustarve('report', '--job', bad, '--dir', os.path.join(where, 'runs')).returncode, 1, bad)
    done = gs.gpustarve('job', 'safe', 'label:job=x', '--dir', os.path.join(where, 'runs'))
    gs.check(done.returncode == 0 and b'nothing of it holds a GPU' in done.stdout, f'safe: {done}')
    for form in ('text', 'html'):
        done = gs.gpustarve('report', '--job', 'label:job=x', '--dir', os.path.join(where, 'runs'), '--format', form)
        gs.check(done.returncode == 0 and b'redone' in done.stdout, f'as {form}')
gs.finish()
