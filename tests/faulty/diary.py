# SPDX-License-Identifier: Apache-2.0
"""A side file of a run that is written anew again and again, each time with a higher number: the centre
must never have a lower one after a higher one, whatever comes late, twice or damaged."""
import json
import os
import time

EVERY_S = 0.15


class Diary:
    def __init__(self, w, node, run):
        name = f'exit-diary{node.index}.json'
        self.here = os.path.join(node.run(run), name)
        self.there = os.path.join(w.centre.run(run), name)
        self.wrong, self.number, self.seen, self.at = [], 0, 0, 0

    def turn(self):
        if time.monotonic() < self.at:
            return
        self.at = time.monotonic() + EVERY_S
        self.look()
        self.write()

    def look(self):
        try:
            with open(self.there) as f:
                n = json.load(f)['number']
        except FileNotFoundError:
            return
        if n < self.seen:
            self.wrong.append(f'{self.there}: {n} took the place of {self.seen}')
        self.seen = n

    def write(self):
        """As everybody who writes side files does; where the disk is full, nothing changes."""
        new = self.here + '.new'
        try:
            with open(new, 'w') as f:
                json.dump({'exits': [], 'number': self.number + 1}, f)
            os.rename(new, self.here)
            self.number += 1
        except OSError:
            if os.path.exists(new):
                os.unlink(new)
