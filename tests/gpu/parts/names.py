# SPDX-License-Identifier: Apache-2.0
"""Names, UUIDs and DMI as the tools see them, against the price catalogue."""
import base

SECONDS = 10


def part(r, out):
    rc, o, e, _ = base.run([base.CLI, 'doctor'], 60)
    r.put('names', 'doctor', ' / '.join(o.splitlines())[:1800], rc == 0)
    rc, o, e, _ = base.run([base.CLI, 'prices', 'show', r.machine['gpu'].split(',')[0]], 30)
    r.put('names', 'price of this GPU', ' / '.join((o + e).splitlines())[:400], rc == 0)
