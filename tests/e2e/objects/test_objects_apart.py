#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits
"""A node, two gateways, the object store, a worker and ClickHouse, each in a network of its own, while the cables between them
are cut: unplugged, or packets of one direction or both vanish and nobody is told. Besides, all that tests/gateways does, and
workers are killed. In the end each frame is in the store once, reports are a faultless collector's, and each run has one row
in the store of digests, which is what `gpustarve digest` says of it.

GS_BIG=1 plays 200 rounds, one GS_ROUNDS."""
import os
import shutil
import sys
import urllib.request

sys.path.insert(0, sys.path[0] + '/../../lib')
sys.path.insert(0, sys.path[0] + '/..')
import gateways
import gs
import network
from collector import seeded

ROUNDS = int(os.environ.get('GS_ROUNDS', 200 if gs.BIG else 1))
EACH = 10  # rounds of one world
gateways.PATIENCE_S = 400  # a wait in silence is given up after half a minute, and tried again after as long


def answers(machine, port):
    try:
        return urllib.request.urlopen(f'http://{machine.address}:{port}/ping', timeout=2).read() == b'Ok.\n'
    except OSError:
        return False


def cuts_cut(here, machine, port):
    """Each kind of a cut, before anything is concluded from a world that went on."""
    link = apart.Link(here, machine)
    gs.until('a cable', lambda: answers(machine, port))
    for kind in apart.KINDS:
        link.cut(kind)
        gs.check(not answers(machine, port), f'{kind}: nobody hears')
        link.mend()
        gs.until(f'{kind}: mended', lambda: answers(machine, port))
    link.remove()


def main():
    seed, machines = seeded().randrange(1 << 30), worldapart.machines()
    with gs.scratch() as where:
        digests = worldapart.Digests(machines['digests'], where)
        try:
            cuts_cut(machines['here'], machines['digests'], digests.doors[0].at)
            worldapart.play_all(ROUNDS, EACH, lambda number, root: worldapart.World(root, f'{seed}-{number}', number % 2 == 0,
                                                                                    machines, digests), where)
        finally:
            digests.close()
            for m in machines.values():
                m.close()


if not shutil.which('ip') or not network.be_alone():
    gs.skip('no network of its own (iproute2)')
import apart  # noqa: E402: it makes networks in ours
import worldapart  # noqa: E402

main()
gs.finish()
