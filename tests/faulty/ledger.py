# SPDX-License-Identifier: Apache-2.0
"""What must hold whatever happened: frames in files against frames that were sent, files of the centre
against files of the nodes. Frames are told by their bytes; nothing here trusts a checksum."""
import os
import re
import struct

from .senders import digest

STREAM = re.compile(r'([0-9a-f]{32})\.(gst|(\d+)\.spool)$')
SIDE = re.compile(r'(run\.json|alerts\.jsonl|(exit|alloc|clock)-.*\.json)$')
BYE = 11


def frames(path, torn=False):
    """(number, type, bytes) of each frame of a file; what is no frame raises ValueError, but for a torn
    end where one may be. A file that is not there has none."""
    try:
        with open(path, 'rb') as f:
            data = f.read()
    except FileNotFoundError:
        return []
    out, at = [], 0
    while at < len(data):
        head = data[at:at + 64]
        if len(head) == 64 and head[:4] == b'GSTF':
            kind, = struct.unpack_from('<H', head, 6)
            head_len, = struct.unpack_from('<I', head, 12)
            seq, = struct.unpack_from('<Q', head, 32)
            body_len, = struct.unpack_from('<I', head, 48)
            end = at + 64 + head_len + body_len
            if end <= len(data):
                out.append((seq, kind, data[at:end]))
                at = end
                continue
        if torn:
            break
        raise ValueError(f'{path}: no frame at byte {at} of {len(data)}')
    return out


class Stream:
    """What is known of one that a Sender sent."""

    def __init__(self, sender):
        self.run, self.name = sender.run, sender.stream.hex()
        self.digests, self.made = sender.digests(), sender.made
        self.acked, self.dead = sender.acked, sender.dead

    def missing(self, path):
        """How many frames that must be there are not."""
        try:
            there = {seq for seq, _, _ in frames(path, torn=True)}
        except ValueError:
            return -1
        need = self.acked if self.dead else len(self.digests)
        return sum(n not in there for n in range(1, need + 1))

    def check(self, path):
        """What is wrong with the file: all that was acknowledged once, as it was sent, and no more."""
        seen, wrong = set(), []
        try:
            for seq, _, data in frames(path):
                if seq in seen:
                    wrong.append(f'frame {seq} is there twice')
                seen.add(seq)
                if not 1 <= seq <= len(self.digests) or digest(data) != self.digests[seq - 1]:
                    wrong.append(f'frame {seq} is not one that was sent')
        except ValueError as e:
            wrong.append(str(e))
        lost = set(range(1, (self.acked if self.dead else len(self.digests)) + 1)) - seen
        if lost:
            wrong.append(f'{len(lost)} acknowledged frames are missing: {sorted(lost)[:8]}')
        return [f'{self.run}/{self.name}: {w}' for w in wrong]


def listing(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else []


def of_node(folder):
    """{stream: {number: frame}} of all files of a run at its node, spool files too; and what is wrong:
    one number, two frames."""
    out, wrong = {}, []
    for name in listing(folder):
        m = STREAM.match(name)
        if not m:
            continue
        there = out.setdefault(m[1], {})
        for seq, _, data in frames(os.path.join(folder, name), torn=True):
            if there.setdefault(seq, data) != data:
                wrong.append(f'{folder}/{name}: two frames have number {seq}')
    return out, wrong


def of_centre(folder):
    """The same at the centre, where each frame is once."""
    out, wrong = {}, []
    for name in listing(folder):
        m = STREAM.match(name)
        if not m:
            continue
        there = out.setdefault(m[1], {})
        try:
            for seq, _, data in frames(os.path.join(folder, name)):
                if seq in there:
                    wrong.append(f'{folder}/{name}: frame {seq} is there twice')
                there[seq] = data
        except ValueError as e:
            wrong.append(str(e))
    return out, wrong


def sides(folder):
    """{name: bytes} of the small files that go to the centre."""
    out = {}
    for name in listing(folder):
        if SIDE.match(name):
            with open(os.path.join(folder, name), 'rb') as f:
                out[name] = f.read()
    return out


def whole(there):
    """A stream whose process ended as usual: no number is missing, the last frame is its Bye."""
    if sorted(there) != list(range(1, len(there) + 1)) or not there:
        return False
    return struct.unpack_from('<H', there[len(there)], 6)[0] == BYE
