#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e serial timeout=300
"""Launches that stay instrumented cost whatever is off: the governor turns off all that it may and says what is left, between
300 and 1,600 ns of a true 800. It learns that from how long launches take: beside others' work it may learn that nothing is
left, so the loop has the machine for itself."""
import sys

sys.path.insert(0, sys.path[0] + '/../lib')
import governing
import gs

governing.stays(100_000, 45)  # settled after 12 s, and judged by the second half
gs.finish()
