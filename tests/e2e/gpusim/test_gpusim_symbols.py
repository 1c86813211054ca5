#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e timeout=300
"""The simulator's numbers and names of API calls are those of NVIDIA's headers, wherever such are at hand (an
installed toolkit, the wheels that scripts/cupti-wheels fetched), and every call of the CUDA runtime that a torch
wheel imports has one; each stand-in of version 13 exports what torch imports of libcupti."""
import glob
import importlib.machinery
import importlib.util
import os
import re
import subprocess
import sys
import unittest
import zipfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

GPUSIM = os.path.join(gs.SOURCE, 'tests', 'gpusim')
DOMAINS = {'DRIVER': 'driver', 'RUNTIME': 'runtime'}
INSTALLED = '/usr/local/cuda/include'


def read(path):
    with open(path, encoding='utf-8', errors='replace') as f:
        return f.read()


def table(domain):
    """{CUPTI's name: number} of cbid.h."""
    text = re.search(rf'#define SIM_{domain}_CALLS\(X\)(.*?)\n\n', read(GPUSIM + '/cbid.h'), re.S)[1]
    return {m[1] + (m[3] or ''): int(m[2]) for m in re.finditer(r'X\((\w+), (\d+)(?:, (\w+))?\)', text)}


def plain(name):
    """cudaGetDeviceProperties_v2_v12000 in some of CUPTI 12's headers is cudaGetDeviceProperties_v12000 in later ones."""
    return re.sub(r'_v\d(?=_v\d{5}$)', '', name)


def numbers(domain, text):
    return {m[1]: int(m[2]) for m in re.finditer(rf'CUPTI_{domain}_TRACE_CBID_(\w+)\s*=\s*(\d+)', text)}


def wheels():
    loader = importlib.machinery.SourceFileLoader('cupti_wheels', os.path.join(gs.SOURCE, 'scripts', 'cupti-wheels'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('cupti_wheels', loader))
    loader.exec_module(module)
    return sorted(glob.glob(module.folder() + '/*.whl'))


def headers():
    """(where, domain, text) of every table of calls within reach."""
    for domain, word in DOMAINS.items():
        path = f'{INSTALLED}/cupti_{word}_cbid.h'
        if os.path.exists(path):
            yield path, domain, read(path)
    for wheel in wheels():
        with zipfile.ZipFile(wheel) as z:
            for name in z.namelist():
                for domain, word in DOMAINS.items():
                    if name.endswith(f'/cupti_{word}_cbid.h'):
                        yield os.path.basename(wheel), domain, z.read(name).decode(errors='replace')


def wanted(library):
    """{torch's version: symbols} of the fixtures."""
    found = {}
    for path in sorted(glob.glob(GPUSIM + '/symbols/torch-*.txt')):
        lines = [line.split() for line in read(path).splitlines() if not line.startswith('#')]
        found[os.path.basename(path)] = {words[1] for words in lines if words[0] == library}
    return found


class Symbols(unittest.TestCase):
    def test_numbers(self):
        """No release gives a call of ours another number, nor a number of ours another call; the newest has all."""
        seen, newest = 0, {}
        for where, domain, text in headers():
            ours, theirs = table(domain), numbers(domain, text)
            names = {number: name for name, number in theirs.items() if name not in ('SIZE', 'FORCE_INT')}
            for name, number in ours.items():
                if name in theirs:
                    self.assertEqual(theirs[name], number, (where, name))
                if number in names and not re.fullmatch(r'cuda\d+_v\d{5}', names[number]):  # of no name there
                    self.assertEqual(plain(names[number]), plain(name), (where, number))
            if theirs['SIZE'] > newest.get(domain, ({}, 0))[1]:
                newest[domain] = theirs, theirs['SIZE']
            seen += 1
        if not seen:
            self.skipTest("none of CUPTI's headers is at hand")
        for domain, (theirs, _) in newest.items():
            self.assertEqual(set(table(domain)) - set(theirs), set())

    def test_runtime_calls_of_torch(self):
        ours = {re.sub(r'_v\d{4,5}$', '', name) for name in table('RUNTIME')}
        found = wanted('libcudart.so.13')
        self.assertGreaterEqual(len(found), 2)
        for version, symbols in found.items():
            self.assertGreater(len(symbols), 90)
            self.assertEqual(symbols - ours, set(), version)

    def test_cupti_of_torch(self):
        for folder in ('cupti-13.0', 'cupti-13', 'cupti-13.1'):
            out = subprocess.run(['nm', '-D', '--defined-only', f'{gs.BUILD}/gpusim/{folder}/libcupti.so.13'],
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
            exported = {line.split()[-1] for line in out.splitlines()}
            for version, symbols in wanted('libcupti.so.13').items():
                self.assertGreater(len(symbols), 15)
                missing = {s for s in symbols if f'{s}@@libcupti.so.13' not in exported}
                self.assertEqual(missing, set(), (folder, version))


if __name__ == '__main__':
    unittest.main()
