# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e,browser waits
"""A central collector as a newcomer meets it: the commands of docs/OPERATIONS.md, "Trying it on one
machine", as they stand there (but for the port), then a browser in front of it."""
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'lib'))

import browsing
import gs

MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
TRAIN = f'''import os
os.execv({MIXLOOP!r}, [{MIXLOOP!r}, '--ops=400', '--devices=1', '--processes=1'])
'''


def printed():
    """The commands of the section, one string per block."""
    with open(os.path.join(gs.SOURCE, 'docs', 'OPERATIONS.md'), encoding='utf-8') as f:
        section = f.read().split('### Trying it on one machine\n')[1].split('\n### ')[0]
    blocks = re.findall(r'(?:^    .*\n)+', section, re.M)
    return [re.sub(r'^    ', '', b, flags=re.M) for b in blocks if 'scrape_configs' not in b]


class Shell:
    """One bash, as a newcomer has one; every block must end well."""

    def __init__(self, where, port):
        env = gs.environment(PATH=f"{gs.BUILD}/bin:{where}/bin:/usr/local/bin:/usr/bin:/bin")
        self.port, self.log = port, open(os.path.join(where, 'shell.log'), 'w+b')
        self.bash = subprocess.Popen([gs.WITH_GPUSIM, 'bash', '-s'], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, stderr=self.log, env=env, cwd=where,
                                     start_new_session=True)

    def run(self, block):
        block = block.replace('8443', str(self.port))
        self.bash.stdin.write((f'set -e -o pipefail\n{block}\necho; echo END OF BLOCK\n').encode())
        self.bash.stdin.flush()
        said = []
        for line in self.bash.stdout:
            if line == b'END OF BLOCK\n':
                return b''.join(said).decode()
            said.append(line)
        self.log.seek(0)
        raise RuntimeError(f'{block}\nfailed: {self.log.read().decode(errors="replace")[-3000:]}')

    def end(self):
        try:
            os.killpg(self.bash.pid, signal.SIGTERM)
            self.bash.wait(60)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.bash.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.bash.wait()
        self.bash.stdout.close()
        self.log.close()


def last_json(text):
    return json.loads(next(line for line in text.splitlines() if line.startswith('{')))


def stand_ins(where):
    os.makedirs(os.path.join(where, 'bin'))
    path = os.path.join(where, 'bin', 'python')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(f'#!/bin/sh\nexec {gs.PYTHON} "$@"\n')
    os.chmod(path, 0o755)
    with open(os.path.join(where, 'train.py'), 'w', encoding='utf-8') as f:
        f.write(TRAIN)


def newcomer(where, shell):
    begin, node, look = printed()
    gs.check(shell.run(begin).strip().endswith('ok'), 'healthz says ok')
    shell.run(node)
    runs = gs.until('the run is at the centre, with a digest',
                 lambda: [r for r in last_json(shell.run(look))['runs'] if r['digest']])
    said = shell.run(look)
    gs.equal(len(runs), 1, 'one run')
    gs.check('gpustarve_collector_frames_total' in said, 'metrics')
    for name in 'node', 'runs/vision':
        gs.check(os.path.isdir(os.path.join(where, 'centre', name, runs[0]['id'] + '.gst')), name)
    return runs[0]['id']


def browse(where, shell, run):
    with open(os.path.join(where, 'centre', 'token'), encoding='utf-8') as f:
        token = f.read().strip()
    job = {'url': f'https://localhost:{shell.port}', 'token': token, 'run': run}
    seen = browsing.drive(job, script='centre.mjs')[0]
    gs.equal(seen['complaints'], [], 'nothing to complain of')
    gs.equal((seen['refused'], seen['status']), (401, 200), 'without and with the token')
    gs.check(re.search(r'[1-9] ¢|\$[1-9]', seen['first']['text']) and 'GPU-seconds' in seen['first']['text'],
             f'a run of less than a second is told of in digits: {seen["first"]}')
    gs.check(seen['report']['url'].endswith('/runs/' + run), seen['report']['url'])
    gs.check(seen['report']['charts'] and seen['report']['drawn'], f"charts: {seen['report']}")


browsing.chromium()
browsing.modules()
with gs.scratch() as where:
    stand_ins(where)
    shell = Shell(where, gs.free_ports(1)[0])
    try:
        browse(where, shell, newcomer(where, shell))
    finally:
        shell.end()
gs.finish()
