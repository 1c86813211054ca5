# SPDX-License-Identifier: Apache-2.0
"""Dollars worked out a second time, in exact decimals and from nothing but nanoseconds and a price
list: what gpustarve prints must be this."""
from decimal import Decimal, ROUND_HALF_EVEN, localcontext

NANO, CENT = Decimal('0.000000001'), Decimal('0.01')
HOUR_NS = Decimal(3_600_000_000_000)


def amount(usd_per_hour, ns):
    """Rounded half to even to 1e-9 dollars, from the exact product."""
    with localcontext() as c:
        c.prec = 60
        return (Decimal(usd_per_hour) * Decimal(ns) / HOUR_NS).quantize(NANO, ROUND_HALF_EVEN)


def cents(usd):
    return Decimal(usd).quantize(CENT, ROUND_HALF_EVEN)


def ledger(gpus, rate_of):
    """gpus: [{'name', 'classes'}]; rate_of: name to decimal text. Returns total dollars, dollars per
    class and dollars per GPU."""
    per_class, per_gpu = {}, []
    for g in gpus:
        own = {c: amount(rate_of(g['name']), ns) for c, ns in g['classes'].items()}
        per_gpu.append(sum(own.values(), Decimal(0)))
        for c, usd in own.items():
            per_class[c] = per_class.get(c, Decimal(0)) + usd
    return sum(per_gpu, Decimal(0)), per_class, per_gpu


def is_waste(c):
    return (c.startswith(('input.', 'host.', 'device.')) or c in ('copy', 'excluded.no_process')) and \
        c not in ('host.unknown', 'device.turnaround', 'device.unknown', 'device.lost')
