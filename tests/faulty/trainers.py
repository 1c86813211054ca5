# SPDX-License-Identifier: Apache-2.0
"""Real processes with libprof in them, on the simulated GPU (a model)."""
import json
import os
import subprocess

import gs


MIXLOOP = os.path.join(gs.BUILD, 'workloads', 'mixloop')
STEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'steps.py')


def record(folder, seed):
    """The path of a trace that a process wrote with no collector there."""
    out = os.path.join(folder, f'recorded{seed}')
    env = gs.environment(LD_PRELOAD=gs.LIBPROF, GPUSTARVE_OUT=out, GPUSTARVE_RUN_ID='recorded')
    done = gs.command([gs.WITH_GPUSIM, MIXLOOP, '--ops=1500', '--pause-every=150', '--pause-us=120000',
                       f'--seed={seed}'], env=env, cwd=folder)
    (run,) = gs.runs(out)
    (name,) = [n for n in os.listdir(run) if n.endswith('.spool')]
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return os.path.join(run, name)


class Trainer:
    def __init__(self, node, run, argv, folder, **env):
        self.node, self.run = node, run
        self.out = open(os.path.join(folder, f'{run}.out'), 'w+b')
        self.process = subprocess.Popen(node.space.argv(gs.WITH_GPUSIM, *argv), stdout=self.out,
                                        stderr=self.out, stdin=subprocess.DEVNULL, cwd=folder,
                                        env=gs.environment(GPUSTARVE_RUN_ID=run, **env))

    @property
    def done(self):
        return self.process.poll() is not None

    def text(self):
        self.out.seek(0)
        return self.out.read().decode(errors='replace')

    def close(self):
        if not self.done:
            self.process.kill()
            self.process.wait()
        self.out.close()


def mixed(node, run, folder):
    """A process that is there to be killed; without a wrapper, its spool beside the node's store."""
    argv = [MIXLOOP, '--ops=4000', '--pause-every=100', '--pause-us=60000']
    return Trainer(node, run, argv, folder, LD_PRELOAD=gs.LIBPROF, GPUSTARVE_SOCKET=node.socket,
                   GPUSTARVE_OUT=node.base)


class Job(Trainer):
    """`gpustarve run` around a loop of steps that takes its own times."""
    SAYS = 'steps: 120, sum: 7140\n'

    def __init__(self, node, run, folder):
        self.times = os.path.join(folder, f'{run}.steps')
        super().__init__(node, run,
                         [gs.CLI, 'run', '--quiet', '--no-report', '-o', node.base, '--collector',
                          'unix:' + node.socket, '--', gs.PYTHON, STEPS, '--out', self.times], folder)

    def steps(self):
        """Nanoseconds of each step."""
        with open(self.times) as f:
            return json.load(f)

    def wrong(self):
        """What of its end is not as usual."""
        text = self.text()
        if self.process.returncode == 0 and self.SAYS in text:
            return []
        return [f'the job ended with {self.process.returncode}, saying {text[-600:]!r}']


