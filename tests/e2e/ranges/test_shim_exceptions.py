# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=120
"""Exceptions of the program that arrive while the shim's code runs go on to the program, and the
shim stays."""
import json
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import ranges

EACH = 30
SCRIPT = os.path.join(gs.SOURCE, 'tests', 'lib', 'asyncloop.py')

with gs.scratch() as where:
    done = ranges.run([gs.PYTHON, SCRIPT, EACH], where)
    stream, = ranges.trace(where)
caught, wrapped = json.loads(done.stdout)
gs.equal(caught, 6 * [EACH], 'exceptions that were caught')
gs.equal(done.stderr.decode(), '', 'stderr')
gs.check(wrapped, 'the shim is gone')
gs.equal([n for n in ranges.hello(stream)['notes'] if 'shim' in n], [], 'notes')
gs.finish()
