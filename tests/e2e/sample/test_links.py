# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits first timeout=600
"""What joins a trainer that waits to whoever makes what it waits for: from its samples along the ids of
objects, pipes and sockets to the maker, in threads, pools and other programs; and never to a decoy."""
import collections
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import hostsampler as hs
import prof

SCRIPT = os.path.join(gs.WORKLOADS, 'handing.py')
PRODUCER = 5
DEPTH = 5
STEPS = 100
BRIEF = 20  # of the looks at who gives most, one in so many


def words(sample, mark):
    return [w[1:] for w in (sample['links'] or '').split(' ') if w[:1] == mark]


def thread(sample):
    return sample['pid'], sample['tid']


class Links:
    """Of one stream: who waits for what, and who gives or holds it."""

    def __init__(self, trace):
        self.samples = [s for s in trace.samples if s['links']]
        self.waits, self.gives = collections.defaultdict(set), collections.defaultdict(set)
        self.holds = collections.defaultdict(set)
        for s in self.samples:
            self.waits[thread(s)].update(words(s, '?'))
            for i in words(s, '!'):
                self.gives[i].add(thread(s))
            for i in words(s, '~'):
                self.holds[i].add(thread(s))

    def chain(self, who):
        """All threads that can be reached from this one, by what it waits for."""
        found, new = set(), {who}
        for _ in range(DEPTH):
            ids = set().union(*(self.waits[t] for t in new))
            new = set().union(*(self.gives[i] for i in ids)) - found - {who}
            found |= new
        return found


def played(way, where, seconds=8):
    os.makedirs(where)
    done = prof.run([gs.PYTHON, SCRIPT, way, '--seconds', seconds, '--steps', STEPS], where,
                    HANDING_LOG=os.path.join(where, 'told'))
    if not gs.equal(done.returncode, 0, f'{way}: {done.stderr.decode()[-800:]}'):
        return None, None
    said = json.loads(done.stdout.decode().splitlines()[-1])
    found = [t for t in prof.traces(where) if t.hello['pid'] == said['pid']]
    gs.equal(len(found), 1, f'{way}: streams of the trainer')
    return said, found[0]


def judge(way, said, trace):
    links = Links(trace)
    main = (said['pid'], said['pid'])
    if way.startswith('worker'):  # the trainer's own queue with it is known from its batches
        main, = {(pid, tid) for what, pid, tid in said['told'] if what == 'worker'}
    makers = {(pid, tid) for what, pid, tid in said['told'] if what == 'maker'}
    decoys = {(pid, tid) for what, pid, tid in said['told'] if what == 'decoy'}
    reached = links.chain(main)
    waits = [s for s in trace.samples if thread(s) == main and words(s, '?')]
    gs.equal({s['pid'] for s in trace.samples if s['role'] == hs.SUBMITTER}, {said['pid']},
             f'{way}: processes with submitters')
    gs.check(len(waits) > 2, f'{way}: {len(waits)} samples of {len(trace.samples)} in {said["steps"]} steps say what '
             'the trainer waits for')
    gs.check(makers and makers & reached, f'{way}: makers {makers}, reached {reached}')
    if way == 'thread_crew':
        gs.check(makers <= reached, f'{way}: of {makers} reached only {reached}')
    # One that takes from a queue and puts into another is told from who gives once it was seen to wait: until
    # then, for some ten milliseconds, it may be taken for one.
    looks = collections.Counter(thread(s) for s in links.samples if words(s, '!'))
    decoys = {d for d in decoys if looks[d] * BRIEF > max(looks.values(), default=0)}
    if not gs.check(not decoys & reached, f'{way}: decoys {decoys & reached} reached'):
        told = [(thread(s), s['sample'], s['links'], (s['stack'] or '').split('\n')[0])
                for s in links.samples if thread(s) in decoys and '!' in s['links']]
        print(way, 'main', main, 'waits', links.waits[main], *told[:20], sep='\n', flush=True)
    planted = [s for s in links.samples if thread(s) in makers and words(s, '!') and
               s['role'] in (PRODUCER, hs.WORKER, hs.WORKER_OTHER)]
    named = sum('planted_make' in (s['stack'] or '') for s in planted)
    gs.check(named * 4 > len(planted) > 0, f'{way}: {named} of {len(planted)} looks at the maker name its code')
    print(f'{way}: {said["steps"]} steps, {len(waits)} waits, {len(planted)} looks at makers, {named} in their code',
          flush=True)


def case(way, where):
    def play():
        said, trace = played(way, os.path.join(where, way))
        if trace:
            judge(way, said, trace)
    return play


def play(ways):
    with gs.scratch() as where:
        gs.side_by_side([case(way, where) for way in ways], 5)


def test_threads():
    play(['thread_queue', 'simple_queue', 'two_stages', 'condition', 'thread_pool', 'thread_crew'])


def test_programs():
    play(['command', 'shell', 'fifo', 'tcp', 'forked'])


STARTS = ('fork', 'spawn', 'forkserver')


def test_workers():
    play(['worker_thread', 'worker_command'])


def test_processes():
    ways = [f'{way}_{start}' for start in STARTS
            for way in ('queue', 'process_pool', 'pool_imap', 'pool_map', 'pool_apply', 'pipe')]
    few = ways[:6] + ['nested_fork', 'queue_spawn', 'pool_imap_spawn', 'process_pool_forkserver']
    play(ways if gs.BIG else few)


if __name__ == '__main__':
    if len(sys.argv) > 1:
        play(sys.argv[1:])
        gs.finish()
    gs.run_tests(globals())
