# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""Who makes what the trainer waits for is named where nothing is copied to the GPU, and the wait stays no input; and a
server of the job's own, a child that answers at the line at which it waits for its next request, makes data."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

LOOP = os.path.join(gs.WORKLOADS, 'fedby.py')


def line_of(mark):
    with open(LOOP) as f:
        return next(n for n, line in enumerate(f, 1) if f'# <{mark}>' in line)


def play(where, how):
    """The summary, the report in one line, and how much of its time the program says that it waited."""
    done, run, _ = gs.traced([gs.PYTHON, LOOP, how], os.path.join(where, how))
    gs.equal(done.returncode, 0, f'{how}: {done.stderr.decode()[-500:]}')
    text = ' '.join(gs.gpustarve('report', run).stdout.decode().split())
    return gs.summary(run), text, json.loads(done.stdout)['waited']


def share(summary, *classes):
    of = summary['ledger']['classes']
    return sum(of[c]['ns'] for c in classes if c in of) / summary['ledger']['working_ns']


def first_of(summary, cls):
    return next((f for f in summary['findings'] if f['class'] == cls and f['where']), summary['findings'][0])


def uncopied(where):
    summary, text, waited = play(where, 'uncopied')
    got = share(summary, 'host.wait')
    gs.check(waited - 0.15 < got < waited + 0.1, f'it waited for {waited:.2f} of its time: host.wait is {got:.2f}')
    gs.equal(share(summary, 'input.fetch', 'input.unknown', 'input.prep'), 0, 'nothing of it is input')
    first = first_of(summary, 'host.wait')
    gs.equal((first['class'], os.path.basename(first['where']['file']), first['where']['line'], first['where']['function']),
             ('host.wait', 'fedby.py', line_of('made'), 'make'), 'the line of who makes it')
    gs.equal([(link['who'], link['line']) for link in first['where'].get('chain', ())],
             [('the main process', line_of('waits')), ('thread make', line_of('made'))], 'the chain')
    says = f'the main process waited in queue.get at fedby.py:{line_of("waits")} for thread make, which was asleep ' \
        f'(fedby.py:{line_of("made")} make); whether that is data is not known, for no copy to the GPU followed'
    gs.check(says in text, f'and so says the report: {text[:700]}')


def server(where):
    summary, text, waited = play(where, 'server')
    fed = share(summary, 'input.fetch', 'input.prep', 'input.cpu_starved', 'input.pipeline', 'input.handoff')
    gs.check(fed > waited - 0.15, f'it waited for {waited:.2f} of its time: input is {fed:.2f}')
    idle = share(summary, 'host.no_work', 'host.wait')
    gs.check(idle < 0.1, f'and nothing else: {idle:.2f}')
    first = first_of(summary, 'input.fetch')
    gs.equal((first['class'], [link['who'] for link in first['where'].get('chain', ())]),
             ('input.fetch', ['the main process', 'thread ask', 'process serve']), 'who makes it')
    gs.equal(summary['verdict'], 'input-bound', f'the verdict: {text[:300]}')


with gs.scratch() as folder:
    for one in (uncopied, server):
        os.makedirs(os.path.join(folder, one.__name__))
        one(folder)
gs.finish()
