#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""Labels of what else a run is known by: W&B, MLflow, Hydra, a container's image and the git commit, out of the environment,
the command and files; what the user gave holds; hostile repositories; --no-identities."""
import json
import os
import subprocess
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

NOT_SET = {k: '' for k in ('WANDB_RUN_ID', 'WANDB_PROJECT', 'WANDB_SWEEP_ID', 'WANDB_DIR', 'MLFLOW_RUN_ID',
                           'MLFLOW_EXPERIMENT_NAME', 'MLFLOW_EXPERIMENT_ID', 'APPTAINER_CONTAINER', 'SINGULARITY_CONTAINER',
                           'GPUSTARVE_LABELS')}
HASH = '0123456789abcdef0123456789abcdef01234567'
made = 0


def git(folder, *args):
    return subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', *args], cwd=folder, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()


def labels(cwd, where, *options, argv=('true',), **env):
    """Of run.json; the command sees none of it but GPUSTARVE_LABELS."""
    global made
    made += 1
    out = os.path.join(where, f'out{made}')
    script = f'echo "$GPUSTARVE_LABELS" > {where}/seen; cp {out}/*/run.json {where}/run.json; "$@"'
    done = gs.command([gs.CLI, 'run', '--quiet', '--no-report', '-o', out, *options, '--', 'sh', '-c', script, 'sh', *argv],
                      cwd=cwd, env=gs.environment(**{**NOT_SET, **env}), timeout=60)
    gs.equal(done.returncode, 0, f'{options} {env}: {done.stderr.decode()[-300:]}')
    with open(f'{where}/run.json', encoding='utf-8') as f:
        got = json.load(f)['labels']
    with open(f'{where}/seen', encoding='utf-8') as f:
        seen = f.read().strip()
    if not env.get('GPUSTARVE_LABELS'):
        gs.equal(dict(x.split('=', 1) for x in seen.split(',') if x), got, 'the same in the trace')
    got.pop('image', None) if 'APPTAINER_CONTAINER' not in env and 'SINGULARITY_CONTAINER' not in env else None
    return got


def check_environment(where):
    plain = os.path.join(where, 'plain')
    os.mkdir(plain)
    gs.equal(labels(plain, where), {}, 'nothing is known')
    gs.equal(labels(plain, where, WANDB_RUN_ID='ab,12', WANDB_PROJECT='llm', WANDB_SWEEP_ID='s1', MLFLOW_RUN_ID='m',
                    MLFLOW_EXPERIMENT_ID='7', SINGULARITY_CONTAINER='/images/a.sif'),
             {'wandb_run': 'ab_12', 'wandb_project': 'llm', 'wandb_sweep': 's1', 'mlflow_run': 'm', 'mlflow_experiment': '7',
              'image': '/images/a.sif'}, 'the environment')
    gs.equal(labels(plain, where, MLFLOW_EXPERIMENT_NAME='n', MLFLOW_EXPERIMENT_ID='7'), {'mlflow_experiment': 'n'}, 'a name')
    gs.equal(labels(plain, where, '--label', 'wandb_run=mine', WANDB_RUN_ID='x'), {'wandb_run': 'mine'}, 'what is given holds')
    gs.equal(labels(plain, where, WANDB_RUN_ID='x', GPUSTARVE_LABELS='wandb_run=mine'), {}, 'also in the environment')
    gs.equal(labels(plain, where, '--no-identities', WANDB_RUN_ID='x'), {}, '--no-identities')
    gs.equal(labels(plain, where, WANDB_RUN_ID='y' * 5000), {'wandb_run': 'y' * 200}, 'a long one')
    for argv, want in ((['true', '--config-name=big', 'hydra.job.name=j'], {'hydra_config': 'big', 'hydra_job': 'j'}),
                       (['true', '-cn', 'small'], {'hydra_config': 'small'}), (['true', '--config-name'], {})):
        gs.equal(labels(plain, where, argv=argv), want, f'{argv}')


def check_git(where):
    repo, tree = os.path.join(where, 'repo'), os.path.join(where, 'tree')
    os.makedirs(os.path.join(repo, 'a', 'b'))
    git(repo, 'init', '-q')
    git(repo, 'checkout', '-q', '-b', 'feature/x')
    gs.equal(labels(repo, where), {}, 'no commit yet')
    git(repo, 'commit', '-q', '--allow-empty', '-m', 'one')
    want = {'git': git(repo, 'rev-parse', 'HEAD')[:12], 'git_branch': 'feature/x'}
    gs.equal(labels(repo, where), want, 'a repository')
    gs.equal(labels(os.path.join(repo, 'a', 'b'), where), want, 'below it')
    git(repo, 'pack-refs', '--all')
    gs.equal(labels(repo, where), want, 'packed')
    git(repo, 'worktree', 'add', '-q', '-b', 'side', tree)
    git(tree, 'commit', '-q', '--allow-empty', '-m', 'two')
    gs.equal(labels(tree, where), {'git': git(tree, 'rev-parse', 'HEAD')[:12], 'git_branch': 'side'}, 'a worktree')
    git(repo, 'pack-refs', '--all')
    gs.equal(labels(tree, where), {'git': git(tree, 'rev-parse', 'HEAD')[:12], 'git_branch': 'side'}, 'a packed worktree')
    git(repo, 'checkout', '-q', '--detach')
    gs.equal(labels(repo, where), {'git': want['git']}, 'no branch')


def check_hostile(where):
    """Files that anybody may have made: nothing hangs, nothing is read that is no commit."""
    secret = os.path.join(where, 'secret')
    with open(secret, 'w', encoding='utf-8') as f:
        f.write(HASH)
    for i, head in enumerate(['', 'ref: ', 'ref: ../secret', f'ref: {secret}', 'ref: refs/../../../secret', 'x' * 100000,
                              HASH[:39], HASH + 'z', 'ref: refs/heads/' + 'y' * 9000]):
        folder = os.path.join(where, f'hostile{i}')
        os.makedirs(os.path.join(folder, '.git'))
        with open(os.path.join(folder, '.git', 'HEAD'), 'w', encoding='utf-8') as f:
            f.write(head)
        gs.equal(labels(folder, where), {}, f'HEAD {head[:40]!r}')
    folder = os.path.join(where, 'fifo')
    os.makedirs(os.path.join(folder, '.git'))
    os.mkfifo(os.path.join(folder, '.git', 'HEAD'))
    gs.equal(labels(folder, where), {}, 'a pipe')
    folder = os.path.join(where, 'loop')
    os.makedirs(folder)
    for i, text in enumerate(['gitdir: .', 'gitdir: ' + 'z' * 5000, 'nothing', '']):
        with open(os.path.join(folder, '.git'), 'w', encoding='utf-8') as f:
            f.write(text)
        gs.equal(labels(folder, where), {}, f'.git is a file: {i}')


def check_wandb(where):
    """A run that W&B began while the command ran is known by the link that it leaves."""
    folder = os.path.join(where, 'wandb')
    os.mkdir(folder)
    make = 'mkdir -p wandb; ln -sfn run-20261129_093000-q1w2e3r4 wandb/latest-run; "$0" "$1" eval'
    done, run, _ = gs.traced(['sh', '-c', make, gs.PYTHON, os.path.join(gs.WORKLOADS, 'kindloop.py')], folder, **NOT_SET)
    gs.equal(done.returncode, 0, done.stderr.decode()[-300:])
    gs.equal(gs.summary(run)['run']['labels'].get('wandb_run'), 'q1w2e3r4', 'the id of its run')
    folder = os.path.join(where, 'wandb2')
    os.makedirs(os.path.join(folder, 'wandb'))
    os.symlink('run-20261129_093000-q1w2e3r4', os.path.join(folder, 'wandb', 'latest-run'))
    os.utime(os.path.join(folder, 'wandb', 'latest-run'), (1, 1), follow_symlinks=False)
    done, run, _ = gs.traced([gs.PYTHON, os.path.join(gs.WORKLOADS, 'kindloop.py'), 'eval'], folder, **NOT_SET)
    gs.equal(gs.summary(run)['run']['labels'].get('wandb_run'), None, 'not that of a run before')


with gs.scratch() as where:
    check_environment(where)
    check_git(where)
    check_hostile(where)
    check_wandb(where)
gs.finish()
