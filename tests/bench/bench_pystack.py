#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What reading the stacks of a blocked thread costs: Python's, by version, and the native one; and what
looking for the objects that another thread waits for costs, of threads that hold nothing of the kind,
hold it, and have much else. Times are medians of the walk or search alone, of this machine as it is now."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'lib'))
import gs  # noqa: E402
import pythons  # noqa: E402

TESTS = os.path.join(gs.BUILD, 'tests')
PROBE = os.path.join(TESTS, 'libpystack_probe.so')


def last_line(*argv):
    done = subprocess.run(argv, env=gs.environment(), stdout=subprocess.PIPE, timeout=100)
    return json.loads(done.stdout.decode().splitlines()[-1])


if not os.path.exists(PROBE):
    gs.skip('the probe cannot be loaded into Python in this build')
for name, python in pythons.found().items():
    figures = last_line(python, os.path.join(gs.SOURCE, 'tests', 'lib', 'pystack.py'), PROBE, 'cost')['figures']
    print('Python {0}: {short}; {deep}; threads listed {list} us; holder of the global lock {holder} us'
          .format(name, **figures))
    reached = last_line(python, os.path.join(gs.SOURCE, 'tests', 'lib', 'pyreach.py'), PROBE, 'cost')['figures']
    print('  a search of a thread: idle {idle} us, one that holds it {found} us, one with much about it {large} us; '
          'the first one {first} us; what a thread waits for {awaited} us'.format(**reached))
native = last_line(gs.PYTHON, os.path.join(gs.SOURCE, 'tests', 'lib', 'native.py'), PROBE,
                   os.path.join(TESTS, 'libnative_block.so'))
print('native, through ctypes:' if native['ready'] else native['note'])
for what, one in native['of'].items():
    if native['ready']:
        print(f"  {what}: {len(one['native'])} frames {one['us']:.1f} us")
