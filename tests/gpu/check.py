#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What only a real GPU can settle, in parts: parts/ has a file for each, with part(report, out) and
SECONDS, its share of the time. Time that a part leaves over goes to those behind it. Called by
scripts/gpu-check; writes OUT/gpu-check.json and OUT/gpu-check.md. Standard library only."""
import importlib
import os
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import base  # noqa: E402

# In the order of the halves: each must fit, with the build, into one call of ten minutes.
HALVES = {'1': ['names', 'works', 'injection', 'loader', 'device'],
          '2': ['overhead', 'planted', 'endurance']}
PARTS = [p for half in HALVES.values() for p in half]


def play(r, out, names):
    """Each part has its share of the time and what those before it left over."""
    spare = 0
    for name in names:
        part = importlib.import_module('parts.' + name)
        if base.BEGIN + base.SECONDS < base.time.time() + 20:
            r.put(name, 'all', 'skipped: out of time')
            continue
        begin, share = base.time.time(), part.SECONDS + spare
        base.part_ends_in(share)
        try:
            part.part(r, out)
        except Exception as error:  # a part that breaks leaves the others their time
            r.put(name, 'the part itself', f'broke: {error!r}', False)
        spare = max(0, share - (base.time.time() - begin))
    r.write()


def main():
    out, wanted = sys.argv[1], sys.argv[2:] or PARTS
    wanted = [p for name in wanted for p in HALVES.get(name, [name])]
    unknown = [p for p in wanted if p not in PARTS]
    if unknown:
        sys.exit(f'gpustarve: gpu-check: no such part: {" ".join(unknown)}; there are {" ".join(PARTS)}')
    play(base.Report(out), out, wanted)


if __name__ == '__main__':
    main()
