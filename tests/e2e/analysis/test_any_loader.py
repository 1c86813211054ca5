# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Ways of feeding a GPU that no rule knows by name, as samples would show them, through the engine:
each case's class is written down here. Each is played again with every package called otherwise, which
must change nothing; and without what joins its threads, which must accuse nobody."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import schema

try:
    import jsonschema  # noqa: F401 (schema uses it)
except ImportError:
    jsonschema = None

BIN = os.path.join(gs.BUILD, 'tests')
MS, T0, PID = 10**6, 1_700_000_000_000_000_000, 100
OTHER, SUBMITTER, PRODUCER, FEEDER = 0, 1, 5, 6
RUN, READ, WRITE, SOCKET, PIPE, QUEUE, SLEEP, LOCK = 0, 1, 2, 4, 5, 6, 7, 10
LIB, SP, HOME = '/usr/lib/python3.11/', '/venv/lib/python3.11/site-packages/', '/home/u/'


def stack(*frames):
    return '~'.join(f'{function}|{file}|{line}' for function, file, line in frames)


def thread(tid, wait, frames='', links='', role=None, pid=PID):
    if role is None:
        role = SUBMITTER if tid == PID else PRODUCER
    return dict(tid=tid, pid=pid, role=role, state=2 if wait else 1, wait=wait, stack=frames, links=links)


MAIN = ('main', HOME + 'train.py', 90)
WAIT = ('wait', LIB + 'threading.py', 327)
GET = stack(WAIT, ('get', LIB + 'queue.py', 171), ('next_batch', HOME + 'train.py', 40), MAIN)
RESULT = stack(WAIT, ('result', LIB + 'concurrent/futures/_base.py', 451), MAIN)
PUT = stack(WAIT, ('put', LIB + 'queue.py', 140), MAIN)
JOIN = stack(('_wait_for_tstate_lock', LIB + 'threading.py', 1119), ('join', LIB + 'threading.py', 1100), MAIN)
BARRIER = stack(WAIT, ('_wait', LIB + 'threading.py', 720), ('wait', LIB + 'threading.py', 690), MAIN)
EVENT = stack(WAIT, ('wait', LIB + 'threading.py', 629), MAIN)
LOOP = stack(('select', LIB + 'selectors.py', 468), ('run_forever', LIB + 'asyncio/base_events.py', 600), MAIN)
PIL = stack(('load', SP + 'PIL/ImageFile.py', 200), ('produce', HOME + 'data.py', 20))
OWN = stack(('produce', HOME + 'data.py', 20), ('run', LIB + 'threading.py', 975))
HTTP = stack(('recv_into', LIB + 'ssl.py', 1200), ('urlopen', SP + 'urllib3/connectionpool.py', 700),
             ('get', SP + 'requests/api.py', 73), ('produce', HOME + 'data.py', 22))
FIT = stack(('quick_execute', SP + 'tensorflow/python/eager/execute.py', 53),
            ('fit', SP + 'keras/src/trainers/trainer.py', 320), MAIN)
TF = stack(('iterator_get_next', SP + 'tensorflow/python/ops/gen_dataset_ops.py', 3028),
           ('__next__', SP + 'tensorflow/python/data/ops/iterator_ops.py', 826), MAIN)
GRAIN = stack(('get', LIB + 'multiprocessing/queues.py', 103),
              ('__next__', SP + 'grain/_src/python/grain_pool.py', 300), MAIN)
WEB = stack(('recv_into', LIB + 'ssl.py', 1200), ('url_opener', SP + 'webdataset/gopen.py', 100), MAIN)
HF = stack(('recv_into', LIB + 'ssl.py', 1200), ('__iter__', SP + 'datasets/iterable_dataset.py', 2000), MAIN)
DALI = stack(('share_outputs', SP + 'nvidia/dali/pipeline.py', 1100),
             ('__next__', SP + 'nvidia/dali/plugin/pytorch/__init__.py', 200), MAIN)
ADAM = stack(('step', SP + 'deepspeed/ops/adam/cpu_adam.py', 180),
             ('step', SP + 'deepspeed/runtime/zero/stage_1_and_2.py', 1900), MAIN)
CORE = stack(WAIT, ('get', LIB + 'queue.py', 171), ('_process_input_queue', SP + 'vllm/v1/engine/core.py', 600))
SPIN = stack(('acquire_read', SP + 'vllm/distributed/device_communicators/shm_broadcast.py', 430),
             ('dequeue', SP + 'vllm/distributed/device_communicators/shm_broadcast.py', 500))
RAY = stack(('get', SP + 'ray/_private/worker.py', 2600), MAIN)
COMPILE = stack(('compile_fx', SP + 'torch/_inductor/compile_fx.py', 1000), MAIN)
ALONE = ('input.unknown', 'host.wait')
NETWORK = (*ALONE, 'host.net')  # it waits for a socket, whatever comes

# What was fed, the class with all that samples can tell, and those that may be said where nothing joins
# the threads and no copy is seen.
CASES = [
    ('queue.Queue; producer decodes with PIL', 'input.prep', ALONE,
     [thread(100, LOCK, GET, '?o10 ?o11'), thread(101, RUN, PIL, '!o11')]),
    ('queue.Queue; producer in own numpy code', 'input.prep', ALONE,
     [thread(100, LOCK, GET, '?o10 ?o11'), thread(101, RUN, OWN, '!o11')]),
    ('queue.Queue; producer in requests.get', 'input.fetch', ALONE,
     [thread(100, LOCK, GET, '?o10 ?o11'), thread(101, SOCKET, HTTP, '!o11')]),
    ('queue.Queue; producer reads a file itself', 'input.fetch', ALONE,
     [thread(100, LOCK, GET, '?o10 ?o11'), thread(101, READ, OWN, '!o11')]),
    ('queue.Queue; decoder behind a reader', 'input.fetch', ALONE,
     [thread(100, LOCK, GET, '?o11'), thread(101, LOCK, GET.replace('train', 'data'), '!o11 ?o12'),
      thread(102, READ, OWN, '!o12'), thread(103, RUN, PIL, '!o13')]),
    ('queue.Queue; the producer waits for work', 'input.pipeline', ALONE,
     [thread(100, LOCK, GET, '?o11 ~o12'), thread(101, LOCK, GET.replace('train', 'data'), '!o11 ?o12')]),
    ('executor of processes', 'input.prep', ALONE,
     [thread(100, LOCK, RESULT, '?o21 ?o20'),
      thread(104, PIPE, stack(('wait', LIB + 'multiprocessing/connection.py', 930),
                              ('wait_result_broken_or_wakeup', LIB + 'concurrent/futures/process.py', 420),
                              ('run', LIB + 'concurrent/futures/process.py', 340)), '!o20 ?p5'),
      thread(301, RUN, OWN, '!p5', pid=301)]),
    ('Keras fit: tf.data behind a launcher without Python', 'input.prep', ALONE + ('host.dispatch',),
     [thread(140, LOCK, '', '', role=SUBMITTER), thread(100, LOCK, FIT, '?n40', role=FEEDER),
      thread(160, RUN, '', '!n40')]),
    ('Keras fit: submitter is main thread', 'input.prep', ALONE,
     [thread(100, LOCK, FIT, '?n40'), thread(160, RUN, '', '!n40')]),
    ('tf.data iterator in Python', 'input.fetch', ALONE,
     [thread(100, LOCK, TF, '?n40'), thread(160, READ, '', '!n40')]),
    ('grain workers', 'input.prep', ALONE,
     [thread(100, QUEUE, GRAIN, '?p7'), thread(302, RUN, OWN, '!p7', pid=302)]),
    ('webdataset iterated directly', 'input.inline', NETWORK,
     [thread(100, SOCKET, WEB.replace('~main', f'~__iter__|{SP}webdataset/pipeline.py|70~main'), '')]),
    ('HF datasets streaming', 'input.inline', NETWORK, [thread(100, SOCKET, HF, '')]),
    ('DALI: a thread of its own submits', 'input.fetch', ALONE,
     [thread(150, LOCK, '', '', role=SUBMITTER), thread(100, LOCK, DALI, '?n80', role=FEEDER),
      thread(170, READ, '', '!n80')]),
    ('DALI: main thread submits', 'input.prep', ALONE,
     [thread(100, LOCK, DALI, '?n80'), thread(170, RUN, '', '!n80')]),
    # what is no input, though batches are copied right after
    ('ZeRO-Offload CPU Adam', 'host.cpu_work', ('host.cpu_work',), [thread(100, RUN, ADAM)]),
    ('server: asyncio idle', 'host.no_work', ALONE, [thread(100, SOCKET, LOOP, '?l0.0.0.0:80')]),
    ('server: asyncio, its sockets not known at first', 'host.no_work', ALONE,
     [dict(thread(100, SOCKET, LOOP, '?l0.0.0.0:80'), blind=17)]),
    ('server: its loop not known at first', 'host.no_work', ALONE,
     [thread(100, LOCK, GET, '?o30'), dict(thread(105, SOCKET, LOOP, '!o30 ?l0.0.0.0:80'), blind=17)]),
    ('server: engine waits for requests', 'host.no_work', ALONE + ('host.no_work',),
     [thread(100, LOCK, CORE, '?o30'), thread(105, SOCKET, LOOP, '!o30 ?l0.0.0.0:80')]),
    ('server: worker spins in shared memory', 'host.no_work', ('host.no_work',), [thread(100, RUN, SPIN)]),
    ('RL: ray.get of rollouts', 'host.wait', ALONE, [thread(100, LOCK, RAY)]),
    ('torch.compile warm-up', 'host.warmup', ('host.warmup',), [thread(100, RUN, COMPILE)]),
    ('a saver is joined', 'host.wait', ALONE, [thread(100, LOCK, JOIN, '?o40'), thread(101, RUN, OWN, '!o40')]),
    ('a saver\'s future', 'host.wait', ALONE, [thread(100, LOCK, RESULT, '?o40'), thread(101, WRITE, OWN, '!o40')]),
    ('a full queue of metrics', 'host.wait', ALONE, [thread(100, LOCK, PUT, '?o41'), thread(101, RUN, OWN, '!o41')]),
    ('a barrier', 'host.wait', ALONE, [thread(100, LOCK, BARRIER, '?o42'), thread(101, RUN, OWN, '!o42')]),
    ('a lock shared with an evaluator', 'host.lock', ALONE,
     [thread(100, LOCK, stack(MAIN), '?o43'), thread(101, RUN, OWN, '~o43')]),
    ('an event of a logger', 'host.wait', ALONE,
     [thread(100, LOCK, EVENT, '?o44'), thread(101, WRITE, OWN, '!o44')]),
    ('decoys', 'host.wait', ALONE,
     [thread(100, LOCK, GET, '?o45'), thread(101, RUN, PIL, '!o46'), thread(102, READ, OWN, '~o46')]),
]


def text(threads, joined, extra=''):
    """Twenty steps: a copy and a kernel of 50 ms, then half a second of looks each 20 ms."""
    submit = next(t['tid'] for t in threads if t['role'] == SUBMITTER)
    out, links, t, corr = [], '', T0 + 1000 * MS, 0
    for _ in range(20):
        for op in (f'copy {t + 6000} {t + 9000} {{}} 7 1 1048576', f'op {t + 9000} {t + 50 * MS} {{}} 7'):
            if op[0] == 'c' and not joined:
                op = f'op {t + 6000} {t + 9000} {{}} 7'
            corr += 1
            out += [f'api {t} {t + 3000} {corr} {submit} cudaLaunchKernel', op.format(corr)]
        for at in range(t + 55 * MS, t + 550 * MS, 20 * MS):
            for w in threads:
                known = w['links'] if at >= t + 55 * MS + w.get('blind', 0) * 20 * MS else ''
                if joined and known != links:
                    links = known
                    out.append(f'links {links}'.rstrip())
                out.append('sample {0} {pid} {tid} {role} {state} {wait} 0 0 0 0 {stack}'.format(at + w['tid'], **w))
        t += 550 * MS
    corr += 1
    out += [f'api {t} {t + 3000} {corr} {submit} cudaLaunchKernel',
            f'copy {t + 6000} {t + 9000} {corr} 7 1 1048576' if joined else f'op {t + 6000} {t + 9000} {corr} 7']
    return '\n'.join([f'process {PID} {T0} {t + MS}'] + out) + '\n'


def renamed(line):
    names = {}
    return re.sub('site-packages/([^/]+)/', lambda m: f'site-packages/{names.setdefault(m[1], f"pkg{len(names)}")}/', line)


def shares(folder, run):
    os.makedirs(folder, exist_ok=True)
    subprocess.run([BIN + '/evidence_make', folder], input=run, text=True, check=True)
    out = subprocess.run([BIN + '/engine_dump', folder], stdout=subprocess.PIPE, check=True)
    classes = json.loads(out.stdout)[0]['classes']
    idle = {c: ns for c, ns in classes.items() if c.startswith(('input.', 'host.'))}
    return {c: ns / sum(idle.values()) for c, ns in idle.items()}


def tells(folder):
    """The chain stands in the summary, which keeps its schema, and in words on the pages."""
    _, _, _, threads = next(c for c in CASES if c[0].endswith('decoder behind a reader'))
    os.makedirs(folder)
    subprocess.run([BIN + '/evidence_make', folder], input=text(threads, True), text=True, check=True)
    first = ' '.join(gs.gpustarve('report', folder).stdout.decode().split())
    for form, name in (('html', 'report.html'), ('json', 'summary.json')):
        gs.gpustarve('report', folder, '--format', form, '-o', f'{folder}/{name}')
    words = ('the main process waited in queue.get at train.py:40 for thread main, which waited in queue.get at data.py:40 '
             'for thread produce, which was blocked reading a file (data.py:20 produce)')
    gs.check(words in first, f'the first finding tells the chain: {first[:600]}')
    with open(folder + '/report.html') as f:
        gs.check(words in f.read(), 'so does the page')
    with open(folder + '/summary.json') as f:
        summary = json.load(f)
    if jsonschema:
        gs.equal(schema.errors(schema.close(schema.ours()), summary)[:3], [], 'the schema')
    where = summary['findings'][0]['where']
    gs.equal([(link['who'], link['waits_in'], os.path.basename(link['file']), link['line'], link['function'],
               link['confidence']) for link in where['chain']],
             [('the main process', 'queue.get', 'train.py', 40, 'next_batch', 'high'),
              ('thread main', 'queue.get', 'data.py', 40, 'next_batch', 'high'),
              ('thread produce', None, 'data.py', 20, 'produce', 'high')], 'the chain')
    gs.equal({link['samples'] for link in where['chain']}, {500}, 'every look shows each of its threads')
    gs.equal((os.path.basename(where['file']), where['line']), ('data.py', 20), 'the line is the producer\'s')
    gs.equal(gs.gpustarve('verify', folder).returncode, 0, 'verify reads the chain back')


def names_programs(folder):
    """A program without Python is told by its name."""
    threads = [thread(100, PIPE, stack(MAIN), '?p7'), thread(400, RUN, '', '!p7 =my%20bzip2', pid=400)]
    os.makedirs(folder)
    subprocess.run([BIN + '/evidence_make', folder], input=text(threads, True), text=True, check=True)
    first = ' '.join(gs.gpustarve('report', folder).stdout.decode().split())
    gs.check('for process my bzip2, which was running' in first, f'the program has its name: {first[:600]}')


def naps(folder):
    """One that sleeps and looks is told so."""
    poll = stack(('_retrieve', SP + 'joblib/parallel.py', 1822), ('__next__', SP + 'joblib/parallel.py', 1700), MAIN)
    threads = [thread(100, SLEEP, poll, '?o10'), thread(101, READ, OWN, '!o10')]
    os.makedirs(folder)
    subprocess.run([BIN + '/evidence_make', folder], input=text(threads, True), text=True, check=True)
    first = ' '.join(gs.gpustarve('report', folder).stdout.decode().split())
    gs.check('the main process was asleep, looking for the next item (train.py:90) of thread produce, which was blocked reading' in first,
             f'it naps: {first[:600]}')


def main():
    with gs.scratch() as folder:
        tells(folder + '/told')
        names_programs(folder + '/named')
        naps(folder + '/naps')
        for n, (name, cls, alone, threads) in enumerate(CASES):
            for call, how in ((str, ''), (renamed, ', packages renamed')):
                for joined, right in ((True, (cls,)), (False, alone)):
                    got = shares(f'{folder}/{n}', call(text(threads, joined)))
                    share = sum(got.get(c, 0) for c in right)
                    gs.check(share >= 0.95, f'{name}{how}, {"joined" if joined else "apart"}: '
                             f'{" or ".join(right)}, not {({c: round(v, 3) for c, v in got.items()})}')
    gs.finish()


main()
