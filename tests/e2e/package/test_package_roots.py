#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=7200
"""The packages of scripts/package on Linuxes that debootstrap makes, with nothing of ours in them: as an ordinary user from
the wheel to a report, each command, CI's gate, an object store over TLS, IPython, the tarball, a collector, the .deb installed,
upgraded and purged, its units under systemd as process 1, the .rpm by rpm's own checks; and the same bytes from another folder.
Where the root has glibc 2.28 or newer the job runs on the simulated GPU, which is built as the packages are.

A campaign (GS_BIG=1), which needs root, debootstrap, mirrors, PyPI and what scripts/setup --campaigns installs.
GPUSTARVE_ROOTS=FOLDER keeps the roots, and names of suites as arguments choose among them."""
import glob
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import packaged

if not gs.BIG:
    gs.skip('a campaign: GS_BIG=1')
if os.geteuid() or not shutil.which('debootstrap'):
    gs.skip('needs root and debootstrap')
with gs.scratch() as where:
    os.chmod(where, 0o755)
    roots = os.environ.get('GPUSTARVE_ROOTS') or os.path.join(where, 'roots')
    os.makedirs(roots, exist_ok=True)
    folder = os.environ.get('GPUSTARVE_PACKAGE_BUILD') or os.path.join(where, 'build')
    packages = packaged.build(gs.SOURCE, folder)
    if not sys.argv[1:]:
        packaged.check_tools(packages, where)
        packaged.check_rpm(packages, where)
        packaged.check_same(where, packages)
        packaged.check_bill(packages)
    newer = packaged.newer_deb(where, glob.glob(packages + '/*.deb')[0])
    for suite in sys.argv[1:] or packaged.SUITES:
        root = packaged.Root(suite, os.path.join(roots, suite), folder, packages)
        why = root.make()
        if why:
            gs.left_out(f'{suite} is not to be had: {why}')
            continue
        root.prepare()
        took = packaged.check_wheel(root, where)
        packaged.check_tarball(root)
        packaged.check_deb(root, newer)
        if suite == 'bookworm':
            packaged.check_piuparts(root)
        packaged.check_units(root, where)
        print(f'{suite}, glibc {root.glibc}: ' + (f'wheel to report in {took:.1f} s, ' if took else 'no wheel, as its name says, ') +
              'tarball, .deb', flush=True)
gs.finish()
