# SPDX-License-Identifier: Apache-2.0
"""Chromium with playwright-core and axe-core, as far as this machine has them. What is missing
skips the test. npm's packages go into the build folder, at the versions and with the checksums of
package-lock.json."""
import json
import os
import shutil
import subprocess

import gs

HERE = os.path.join(gs.SOURCE, 'tests', 'browser')
MODULES = os.path.join(gs.BUILD, 'tests', 'browser', 'npm')
CHROMIUMS = ('chromium-headless-shell', 'chromium')


def chromium():
    for name in CHROMIUMS:
        found = shutil.which(name)
        if found:
            return found
    gs.skip(f'no browser: none of {", ".join(CHROMIUMS)} is installed; scripts/setup installs it')


def installed():
    """Whether what the lock file asks for lies in the build folder already."""
    lock = os.path.join(HERE, 'package-lock.json')
    mark = os.path.join(MODULES, 'installed.json')
    return os.path.exists(mark) and open(mark, 'rb').read() == open(lock, 'rb').read()


def modules():
    """The folder with npm's packages; made at the first call."""
    if shutil.which('node') is None:
        gs.skip('no node; scripts/setup installs it')
    if installed():
        return MODULES
    if shutil.which('npm') is None:
        gs.skip('no npm, which brings playwright-core and axe-core; scripts/setup installs it')
    os.makedirs(MODULES, exist_ok=True)
    for name in 'package.json', 'package-lock.json':
        shutil.copy(os.path.join(HERE, name), MODULES)
    env = gs.environment(PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD='1')
    done = gs.command(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', MODULES],
                      env=env, cwd=MODULES, timeout=600)
    if done.returncode:
        print(done.stderr.decode(errors='replace')[-2000:])
        gs.skip('npm ci got no packages; a machine without a network has none')
    shutil.copy(os.path.join(HERE, 'package-lock.json'), os.path.join(MODULES, 'installed.json'))
    return MODULES


def drive(jobs, script='drive.mjs'):
    """Runs the jobs (drive.mjs says what one is) in one browser; yields what it saw, view by view."""
    browser, packages = chromium(), modules()
    env = gs.environment(NODE_OPTIONS='')
    done = subprocess.run(['node', os.path.join(HERE, script), packages, browser],
                          input=json.dumps(jobs), stdout=subprocess.PIPE, env=env, text=True,
                          check=False)
    gs.equal(done.returncode, 0, f'{script} ends well')
    return [json.loads(line) for line in done.stdout.splitlines()]
