# SPDX-License-Identifier: Apache-2.0
"""What tests of launchers share: a job of rank_loop.py's ranks, started by the launcher itself on the simulator, and what is
asked of each: one run, all ranks in it, and of each what the launcher told it that it is."""
import glob
import json
import os

import gs
import prof

VENV = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'gpustarve', 'launchers')
LOOP = os.path.join(gs.WORKLOADS, 'rank_loop.py')
HOST = os.path.join(gs.plain(gs.BUILD), 'gpusim', 'gpusim-host.so')  # makes a process believe to be on another host
STEPS = 20
# ssh HOST COMMAND, as a launcher calls it: here, under the host's name and with GPUs of its own, and with nothing of this
# environment but where things lie.
SSH = '''#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do
	case $1 in -l | -p | -i | -o) shift ;; esac
	shift
done
host=$1
shift
exec env -i HOME="$HOME" PATH="$PATH" LD_LIBRARY_PATH="$LD_LIBRARY_PATH" GPUSIM_CUPTI=13 GPUSIM_QUIET=1 GPUSIM_DEVICES=2 \\
	GPUSIM_NODE="$(printf %s "$host" | cksum | cut -c 1-4)" GPUSIM_SHM="$GPUSIM_SHM-$host" GPUSIM_HOST="$host" \\
	LD_PRELOAD={host} sh -c "$*"
'''


def write_ssh(path):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(SSH.format(host=HOST))
    os.chmod(path, 0o755)


def venv(program):
    """The folder with the programs of scripts/launcher-venv; ends the test as skipped where there is none of that name."""
    if not gs.BIG:
        gs.skip('a campaign: GS_BIG=1')
    if not os.path.exists(os.path.join(VENV, 'bin', program)):
        gs.skip(f'no {program} in {VENV}; scripts/setup --campaigns makes it')
    return os.path.join(VENV, 'bin')


class Job:
    """A folder of its own, in which a launcher is started. GPUs: as many as there are ranks."""

    def __init__(self, where, what, gpus=2):
        self.what, self.gpus = what, gpus
        self.where = os.path.join(where, what.replace(' ', '-'))
        self.told, self.runs = os.path.join(self.where, 'told'), os.path.join(self.where, 'runs')
        for folder in self.told, self.where + '/truth':
            os.makedirs(folder)

    def rank(self, *options, python=gs.PYTHON):
        """A rank's command; python None: the program alone, for launchers that start Python themselves."""
        return [*([python] if python else []), LOOP, '--told', self.told, '--steps', str(STEPS), *options]

    def wrapped(self, command):
        return [gs.CLI, 'run', '-o', self.runs, '--', *command]

    def env(self, **more):
        return gs.environment(GPUSIM_DEVICES=self.gpus, GPUSIM_TRUTH=self.where + '/truth', GPUSIM_QUIET=1, OMP_NUM_THREADS=1,
                              **more)

    def start(self, argv, timeout=300, **more):
        """The launcher, to its end. GPUs are the node's, whoever starts the ranks."""
        done = gs.command([gs.WITH_GPUSIM, *argv], env=self.env(**more), cwd=self.where, timeout=timeout)
        gs.equal(done.returncode, 0, f'{self.what}: {(done.stdout + done.stderr).decode(errors="replace")[-2000:]}')
        return done

    def identities(self):
        """What each rank was told, by the launcher."""
        rows = []
        for path in glob.glob(self.told + '/*'):
            with open(path, encoding='utf-8') as f:
                rows.append(json.load(f))
        return sorted(rows, key=lambda row: row['rank'])

    def expect(self, ranks, runs=1, hosts=1, complete=True):
        """One run, with all of them, each by its own number on its own GPU; nothing of it is missing. complete: the ranks end
        in peace, and before the wrapper does."""
        told = self.identities()
        gs.equal([row['rank'] for row in told], list(range(ranks)), f'{self.what}: the ranks that ran')
        gs.equal({row['world'] for row in told}, {ranks}, f'{self.what}: the world that they are of')
        found = gs.runs(self.runs)
        if not gs.equal(len(found), runs, f'{self.what}: runs {found}'):
            return None
        traces = [t for t in prof.read(glob.glob(found[0] + '/*.gst') + glob.glob(found[0] + '/*.spool')) if t.ops]
        have = sorted(({key: t.hello[key] for key in ('host', 'pid', 'rank', 'world', 'local_rank')} for t in traces),
                      key=lambda row: row['rank'])
        gs.equal(have, told, f'{self.what}: who the streams are')
        s = gs.summary(found[0])
        if not s:
            return None
        gs.equal(s['run']['ranks'], ranks, f'{self.what}: ranks of the report')
        gs.equal((len(s['run']['hosts']), len(s['gpus'])), (hosts, ranks), f'{self.what}: hosts and GPUs')
        gs.equal({g['ops'] for g in s['gpus']}, {STEPS}, f'{self.what}: operations of each GPU')
        gs.equal(s['ledger']['busy_ns'], ranks * STEPS * 1_000_000, f'{self.what}: time of kernels')
        gs.equal(s['quality']['dropped'] + s['quality']['frames_missing'], 0, f'{self.what}: nothing lost')
        gs.check(s['run']['complete'] or not complete, f'{self.what}: complete')
        print(f'{self.what}: {os.path.basename(found[0])}, ranks {[(r["rank"], r["host"], r["local_rank"]) for r in told]}',
              flush=True)
        return s
