# SPDX-License-Identifier: Apache-2.0
"""Had others the machine's cores while something ran? By the kernel's account alone: what a report says of it is what is
tried. Standard library only."""
import os
import time

IDLE = 0.15  # of all cores' time; with less than that, who wakes up stands in line


def idle_ns():
    with open('/proc/stat') as f:
        return int(f.readline().split()[4]) * 1_000_000_000 // os.sysconf('SC_CLK_TCK')


class Watch:
    """From its making on."""

    def __init__(self):
        self.begin, self.idle = time.monotonic_ns(), idle_ns()

    def taken(self):
        """What tells that others had the cores; None where nothing does."""
        free = (idle_ns() - self.idle) / max(1, (time.monotonic_ns() - self.begin) * os.cpu_count())
        return None if free >= IDLE else f'{100 * free:.0f} % of the cores idle'
