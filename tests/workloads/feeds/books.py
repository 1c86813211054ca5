#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Books, tokenised by a Python of its own at the other end of a pipe."""
import os
import struct
import subprocess
import sys

from kit import Card, cfg, note


def main():
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'tokenise.py')
    child = subprocess.Popen([sys.executable, script, sys.argv[1]], stdout=subprocess.PIPE)
    card = Card()
    for k in range(cfg.steps):
        with note('wait', k):
            size, = struct.unpack('<I', child.stdout.read(4))  #: wait
            tokens = child.stdout.read(size)  #: wait
        card.step(tokens)
    child.wait()


main()
