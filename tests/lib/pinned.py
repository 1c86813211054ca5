#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the hashes of tests/programs/requirements-*.txt anew: for each `name==version` in it, those of the wheels that pip
would take under any of our Pythons. After a change of a version: `tests/lib/pinned.py FILE...`."""
import json
import os
import re
import subprocess
import sys
import tempfile

PYTHONS = ('3.11', '3.12', '3.13')


def pins(text):
    """(head, ['name==version']): comment lines at the top, and what is pinned."""
    lines = text.splitlines()
    return [line for line in lines if line.startswith('#')], re.findall(r'^[\w.-]+==[\w.]+', text, re.M)


def hashes(names, python):
    """{name as pip writes it in lower case with dashes: hash} under one Python."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'report')
        env = dict(os.environ, PIP_FIND_LINKS='')
        subprocess.run([sys.executable, '-m', 'pip', 'install', '-q', '--dry-run', '--no-deps', '--ignore-installed',
                        '--only-binary', ':all:', '--python-version', python, '--target', folder, '--report', report,
                        *names], check=True, env=env)
        with open(report) as file:
            rows = json.load(file)['install']
    return {re.sub(r'[-_.]+', '-', row['metadata']['name']).lower():
            row['download_info']['archive_info']['hashes']['sha256'] for row in rows}


def rewrite(path):
    with open(path) as file:
        head, names = pins(file.read())
    found = [hashes(names, python) for python in PYTHONS]
    with open(path, 'w') as file:
        file.write('\n'.join(head) + '\n')
        for name in names:
            key = re.sub(r'[-_.]+', '-', name.split('==')[0]).lower()
            digests = sorted({each[key] for each in found})
            file.write(name + ''.join(f' \\\n    --hash=sha256:{digest}' for digest in digests) + '\n')


if __name__ == '__main__':
    for argument in sys.argv[1:]:
        rewrite(argument)
