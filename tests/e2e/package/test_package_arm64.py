#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=14400
"""The packages for aarch64 in a root file system of that kind, which qemu-user plays: the same bytes from another folder,
wheel, tarball, .deb and .rpm as test_package_roots has them. The emulator has no process_vm_readv: what the host did is not
sampled, and nothing is said of it.

A campaign (GS_BIG=1; scripts/test --arm64), which needs root, mirrors, PyPI, and what scripts/setup and then
scripts/setup --arm64 install. GPUSTARVE_ROOTS and GPUSTARVE_PACKAGE_BUILD as there; suites as arguments."""
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
if not shutil.which('aarch64-linux-gnu-gcc'):
    gs.skip('no compiler for aarch64 (scripts/setup --arm64)')
with gs.scratch() as where, packaged.processor('aarch64'):
    os.chmod(where, 0o755)
    roots = os.environ.get('GPUSTARVE_ROOTS') or os.path.join(where, 'roots')
    os.makedirs(roots, exist_ok=True)
    folder = os.environ.get('GPUSTARVE_PACKAGE_BUILD') or os.path.join(where, 'build')
    packages = packaged.build(gs.SOURCE, folder, '--arm64')
    if not sys.argv[1:]:
        packaged.check_tools(packages, where)
        packaged.check_same(where, packages, '--arm64')
        packaged.check_bill(packages)
    newer = packaged.newer_deb(where, glob.glob(packages + '/*.deb')[0])
    for suite in sys.argv[1:] or ('bookworm',):
        root = packaged.Root(suite, os.path.join(roots, suite + '-arm64'), folder, packages, 'arm64')
        why = root.make()
        if why:
            gs.left_out(f'{suite} is not to be had: {why}')
            continue
        root.prepare()
        packaged.check_rpm(packages, where, root)
        took = packaged.check_wheel(root, where)
        packaged.check_tarball(root)
        packaged.check_deb(root, newer)
        print(f'{suite}, glibc {root.glibc}, aarch64 by qemu-user: wheel to report in {took:.1f} s, tarball, .deb, .rpm', flush=True)
gs.finish()
