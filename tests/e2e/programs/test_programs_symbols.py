#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""The lists of symbols of which the stand-ins are generated are those of the torch wheels that are here."""
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import torches
import wheelsymbols

known = torches.fixtures()
seen = {}
for torch in torches.some():
    seen.setdefault(torch.version, torch)
for version, torch in seen.items():
    if not gs.check(version in known, f'{torch.name}: symbols of torch {version}: {known}'):
        continue
    with open(torches.fixture(version)) as file:
        want = file.read().splitlines()
    sonames, symbols = wheelsymbols.of_wheel(torch.packages)
    got = wheelsymbols.render(version, sonames, symbols).splitlines()
    gs.check(len(symbols) > 500, f'{torch.name}: only {len(symbols)} symbols')
    gs.equal(sorted(set(got) ^ set(want)), [], f'{torch.name}: symbols of torch {version}')
for version in known:
    if version not in seen:
        gs.left_out(f'no torch {version} in {torches.ROOT}: its symbols are not compared')
gs.finish()
