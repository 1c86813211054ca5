# SPDX-License-Identifier: Apache-2.0
"""Processes that say what a test tells them to: frames of Hello, Pulse, Facts and Bye, made from
docs/FORMAT.md, for a run directory or a collector."""
import os
import time

from gst_reader import HELLO
from gst_writer import BYE, field, frame

S = 10**9
FACTS = 7


SAVE_STATES = {'begun': 1, 'whole': 2, 'failed': 3, 'handed': 4, 'changed': 7, 'deleted': 8, 'moved': 9}


class Trainer:
    """A process with one GPU. Times are seconds of its life, which began @ago seconds ago. @stamped: its
    pulses' frames were made then, not now. @counts: what it tells of saves; libprof of before did not."""

    def __init__(self, run, uuid=None, ago=0.0, rank=None, host='node', name='GPU', pid=77, stamped=False, counts=True):
        self.stamped, self.counts, self.told = stamped, counts, 0
        self.run, self.id, self.seq = run, os.urandom(16), 0
        self.uuid = uuid or os.urandom(16)
        self.start = time.time_ns() - int(ago * S)
        self.rank, self.host, self.name, self.pid = rank, host, name, pid

    def hello(self):
        self.seq += 1
        device = field(1, 0) + field(2, self.uuid) + field(3, self.name)
        body = field(1, self.host) + field(2, self.pid) + field(3, self.start)
        if self.rank is not None:
            body += field(7, self.rank) + field(8, 1) + field(9, 64)
        return frame(self.id, self.seq, HELLO, body=body + field(11, device) + field(12, self.run))

    def _pulse(self, seconds, busy, wait, launches, lag, dropped=0):
        t = self.start + int(seconds * S)
        device = field(1, 0) + field(2, int(busy * S)) + field(3, int(busy * 100))
        return (field(1, t) + field(2, t - int(lag * S)) + field(3, device) + field(4, int(wait * S)) +
                field(5, launches) + field(6, dropped) + field(7, int(seconds * S / 1000)) + field(11, '1') +
                (field(19, self.told + 1) if self.counts else b''))

    def pulse(self, seconds, busy, wait=0.0, launches=0, lag=0.0, dropped=0):
        """By then so many seconds busy, so many in loader waits, so many events dropped."""
        self.seq += 1
        return frame(self.id, self.seq, body=self._pulse(seconds, busy, wait, launches, lag, dropped),
                     made_ns=self.start + int(seconds * S) if self.stamped else None)

    def save(self, number, state, begun, ended=0.0, path='/ckpt/a', before=0, inode=0, content=0,
             saver='torch.save', size=0):
        """One thing that happens to a save: 'begun', 'whole', 'failed', 'handed', 'changed', 'deleted', 'moved'."""
        self.seq += 1
        self.told += 1
        end = self.start + int(ended * S) if ended else 0
        told = (field(1, self.start + int(begun * S)) + (field(2, end) if end else b'') + field(4, path) +
                field(5, SAVE_STATES[state]) + field(6, number) +
                field(7, saver) + (field(8, before) if before else b'') + (field(9, inode) if inode else b'') +
                (field(10, size) if size else b'') + (field(13, content) if content else b'') +
                (field(14, self.told) if self.counts else b''))
        return frame(self.id, self.seq, FACTS, body=field(1, end or self.start + int(begun * S)) + field(3, told))

    def memory(self, used):
        """What NVML says of the GPU."""
        self.seq += 1
        return frame(self.id, self.seq, FACTS, body=field(2, field(1, 0) + field(2, used) + field(3, 80 << 30)))

    def written(self, begun, ended, size):
        """To files, by whatever means."""
        self.seq += 1
        told = (field(1, self.start + int(begun * S)) + field(2, self.start + int(ended * S)) + field(3, size) +
                field(5, 6))
        return frame(self.id, self.seq, FACTS, body=field(3, told))

    def bye(self, seconds, busy, wait=0.0, dropped=0):
        self.seq += 1
        last = self._pulse(seconds, busy, wait, 0, 0, dropped)
        return frame(self.id, self.seq, BYE, body=field(2, 'exit') + field(4, last))

    def write(self, folder, *frames):
        """Into the run directory, as a collector stores them."""
        path = os.path.join(folder, self.run + '.gst')
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, self.id.hex() + '.gst'), 'ab') as f:
            f.write(b''.join(frames))
        return path
