#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=300
"""Several `gpustarve run` in one step of Slurm, in turn and at once: each command is a run of its own, with its ranks, its
label, its price and its end, and all are runs of that job. Wrappers below a wrapper, and those of a launcher's ranks, are not."""
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import jobsmade

WORK = ('import os, sys, time; sys.path.insert(0, sys.argv[1]); import gpudev\n'
        's = gpudev.Stream(gpudev.Device(int(os.environ["SLURM_PROCID"]))); s.kernel(1000); s.synchronize()\n'
        'time.sleep(float(sys.argv[2])); sys.exit(int(sys.argv[3]))')
# What a task of the step says and does; W: the wrapper, J: a command on the GPU.
SHELL = 'W() { "$CLI" run -q -o "$OUT" "$@"; }; J() { printf "%s\\0" "$PY" -c "$WORK" "$LIB" "$@"; }\n'
IN_TURN = 'W --label exp=a --price 1 -- "$PY" -c "$WORK" "$LIB" {a} 3; W --label exp=b --price 2 -- "$PY" -c "$WORK" "$LIB" 0.2 0'


def task(out, procid, script, tasks=2, step=0, job=77, **more):
    """One task of a step, as srun starts it."""
    env = dict(SLURM_CLUSTER_NAME='c1', SLURM_JOB_ID=job, SLURM_STEP_ID=step, SLURM_PROCID=procid, SLURM_LOCALID=procid,
               SLURM_STEP_NUM_TASKS=tasks, SLURM_NTASKS=tasks, GPUSIM_DEVICES=2, CLI=gs.CLI, OUT=out, PY=gs.PYTHON, WORK=WORK,
               LIB=gs.WORKLOADS)
    env.update(more)
    done = gs.command([gs.WITH_GPUSIM, 'bash', '-c', 'export SLURM_TASK_PID=$$\n' + SHELL + script], env=gs.environment(**env))
    gs.equal(done.stderr, b'', f'rank {procid}: {script}')
    return done


def step(out, script, tasks=2, **more):
    gs.side_by_side([lambda p=p: task(out, p, script.format(a=0.2 + p), tasks, **more) for p in range(tasks)])


def names(out):
    return sorted(os.path.basename(p)[:-4] for p in gs.runs(out))


def hidden(out):
    return sorted(n for n in os.listdir(out) if n.startswith('.') and n != '.upstream-not')


def facts(out, name):
    s = gs.summary(os.path.join(out, name + '.gst'))
    return (s['run']['labels'].get('exp'), s['cost']['rates'][0]['usd_per_gpu_hour'], s['run']['exit_status'],
            sorted(p['rank'] for p in s['run']['processes'] if p['rank'] is not None), s['run']['slurm']['job'])


def check_in_turn(where):
    """Ranks that are not equally fast: one is at its second command while the other is at its first."""
    step(where, IN_TURN + '; true')
    gs.equal(names(where), ['slurm-c1-77.0-0', 'slurm-c1-77.0-0-2'], 'runs')
    gs.equal([facts(where, n) for n in names(where)], [('a', 1.0, 3, [0, 1], 77), ('b', 2.0, 0, [0, 1], 77)], 'what they are')


def of_job(out, job):
    done = gs.gpustarve('report', '--job', job, '--dir', out, '--format', 'json')
    gs.equal(done.returncode, 0, done.stderr.decode())
    told = json.loads(done.stdout or '{"run": {"slurm": {"runs": []}}}')['run']['slurm']['runs']
    return sorted(r['id'] for r in told)


def check_job(where):
    """Whoever knows runs of a job finds both: the job's report and the fleet, by what they hold or by their names alone."""
    jobsmade.alloc(where, job=77, gpus=2)
    gs.equal(of_job(where, 77), names(where), 'the job\'s runs')
    out = os.path.join(where, 'named')
    for life, turn in ((0, ''), (1, ''), (1, '-2'), (1, '-13')):
        at = 10 * life + 20 * len(turn)
        jobsmade.run(out, f'slurm-c1-9.0-{life}{turn}', jobsmade.stream(start=at, end=at + 8, first=at + 1, last=at + 6, pid=100 + at))
    for life in 0, 1:
        jobsmade.alloc(out, restart=life, start=100 * life, end=100 * life + 90, gpus=1)
    gs.equal(of_job(out, 9), ['slurm-c1-9.0-0', 'slurm-c1-9.0-1', 'slurm-c1-9.0-1-13', 'slurm-c1-9.0-1-2'], 'by their names')
    rows = json.loads(gs.gpustarve('fleet', out, '--by', 'run', '--format', 'json').stdout)['runs']['runs']
    gs.equal(sum(r['held_ns'] for r in rows), 180 * jobsmade.S, f'fleet: the job\'s GPU once: {rows}')


def check_at_once(where):
    script = ('W --label exp=a -- "$PY" -c "$WORK" "$LIB" 1 0 & a=$!; W --label exp=b -- "$PY" -c "$WORK" "$LIB" 1 0 & '
              'W --label exp=c -- "$PY" -c "$WORK" "$LIB" 1 0 & wait')
    step(where, script, tasks=1)
    gs.equal(names(where), ['slurm-c1-77.0-0', 'slurm-c1-77.0-0-2', 'slurm-c1-77.0-0-3'], 'at once: runs')
    gs.equal(sorted(facts(where, n)[0] for n in names(where)), ['a', 'b', 'c'], 'at once: labels')


def check_steps_and_lives(where):
    """Another step, and the same after a requeue, begin anew."""
    for more in {}, {'step': 1}, {'SLURM_RESTART_COUNT': 1}:
        task(where, 0, 'W -- "$PY" -c "$WORK" "$LIB" 0 0; true', tasks=1, **more)
    gs.equal(names(where), ['slurm-c1-77.0-0', 'slurm-c1-77.0-1', 'slurm-c1-77.1-0'], 'steps and lives')


def check_nested(where):
    """A wrapper below a wrapper is of its run, and counts for nothing."""
    inner = '"$CLI" run -q -o "$OUT" -- "$PY" -c "$WORK" "$LIB" 0 0'
    task(where, 0, f"W -- bash -c '{inner}; {inner}'; W -- bash -c '{inner}'; true", tasks=1)
    gs.equal(names(where), ['slurm-c1-77.0-0', 'slurm-c1-77.0-0-2'], 'nested')


def check_launcher(where):
    """Of a launcher within the step (torchrun, mpirun, a loop) all wrappers are ranks of one run, as its variables tell."""
    loop = 'for r in 0 1; do {} W -- "$PY" -c "$WORK" "$LIB" 1 0 & done; wait'
    for name, variables in (('torchrun', 'RANK=$r WORLD_SIZE=2 TORCHELASTIC_RUN_ID=none'),
                            ('restarts', 'RANK=0 WORLD_SIZE=1 TORCHELASTIC_RUN_ID=none'), ('loop', 'RANK=$r WORLD_SIZE=2'),
                            ('mpirun', 'OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=2'),
                            ('prte', 'PMIX_NAMESPACE=prterun-n0-1@1 PMIX_RANK=$r')):
        out = os.path.join(where, name)
        for what in 'once', 'twice':
            task(out, 0, loop.format(variables), tasks=1)
            gs.equal(names(out), ['slurm-c1-77.0-0'], f'{name}, {what}: runs')


def check_srun_tells(where):
    """The same variables, set to what Slurm says: a script's habit, or srun's plugins of MPI."""
    for name, variables in (('script', 'export RANK=$SLURM_PROCID WORLD_SIZE=$SLURM_NTASKS LOCAL_RANK=$SLURM_LOCALID'),
                            ('pmi2', 'export PMI_RANK=$SLURM_PROCID PMI_SIZE=$SLURM_NTASKS'),
                            ('pmix', 'export PMIX_NAMESPACE=slurm.pmix.77.0 PMIX_RANK=$SLURM_PROCID')):
        out = os.path.join(where, name)
        step(out, variables + '\n' + IN_TURN + '; true')
        gs.equal(names(out), ['slurm-c1-77.0-0', 'slurm-c1-77.0-0-2'], f'{name}: runs')
        gs.equal([facts(out, n)[3] for n in names(out)], [[0, 1], [0, 1]], f'{name}: ranks')


def check_batch(where):
    """A hook names the batch script's run; its wrappers are runs of their own, and what it starts without one is the first's."""
    env = dict(step=None, GPUSTARVE_RUN_ID='slurm-c1-77.batch-0')
    task(where, 0, IN_TURN.format(a=0) + '; true', tasks=1, **env)
    gs.equal(names(where), ['slurm-c1-77.batch-0', 'slurm-c1-77.batch-0-2'], 'batch')
    gs.equal([facts(where, n)[0] for n in names(where)], ['a', 'b'], 'batch: labels')
    out = os.path.join(where, 'nested')
    task(out, 0, 'W -- bash -c \'"$CLI" run -q -o "$OUT" -- "$PY" -c "$WORK" "$LIB" 0 0\'; true', tasks=1, **env)
    gs.equal((names(out), hidden(out)), (['slurm-c1-77.batch-0'], ['.slurm-c1-77.batch-0.rank-0']), 'batch: nested')
    mpi = 'for r in 0 1; do OMPI_COMM_WORLD_RANK=$r OMPI_COMM_WORLD_SIZE=2 W -- "$PY" -c "$WORK" "$LIB" 1 0 & done; wait'
    out = os.path.join(where, 'mpirun')
    task(out, 0, mpi, tasks=2, **env)
    gs.equal(names(out), ['slurm-c1-77.batch-0'], 'batch: mpirun')
    out = os.path.join(where, 'told')
    task(out, 0, IN_TURN.format(a=0) + '; true', tasks=1, GPUSTARVE_RUN_ID='mine')
    gs.equal(names(out), ['mine'], 'an id that was given is one run')


def check_what_is_left(where):
    """A task that is the wrapper itself leaves nothing beside its run; one with a shell around it a file per rank, old ones go."""
    out = os.path.join(where, 'task')
    step(out, 'exec "$CLI" run -q -o "$OUT" -- "$PY" -c "$WORK" "$LIB" 0 0')
    gs.equal((names(out), hidden(out)), (['slurm-c1-77.0-0'], []), 'the wrapper is the task')
    out = os.path.join(where, 'none')
    task(out, 0, 'exec "$CLI" run -q -o "$OUT" -- true', tasks=1)
    gs.check(not os.path.exists(out), 'nothing, where no GPU was touched')
    out = os.path.join(where, 'shell')
    os.mkdir(out)
    old, other = os.path.join(out, '.slurm-c1-6.0-0.rank-0'), os.path.join(out, '.slurm-notes')
    for path in old, other:
        with open(path, 'w', encoding='utf-8'):
            pass
        os.utime(path, (1_700_000_000, 1_700_000_000))
    task(out, 0, 'W -- true; W -- "$PY" -c "$WORK" "$LIB" 0 0; true', tasks=1)
    gs.equal(names(out), ['slurm-c1-77.0-0-2'], 'a command without a GPU counts')
    gs.equal(hidden(out), ['.slurm-c1-77.0-0.rank-0', '.slurm-notes'], 'a file per rank; an old one is gone')


def check_bad_counts(where):
    """What cannot be counted is as if it were the first: nothing is followed, waited for, or told."""
    for name, make in (('link', lambda p: os.symlink(os.path.join(where, 'theirs'), p)), ('folder', os.mkdir), ('pipe', os.mkfifo)):
        out = os.path.join(where, name)
        os.makedirs(out)
        with open(os.path.join(where, 'theirs'), 'w', encoding='utf-8') as f:
            f.write('words')
        make(os.path.join(out, '.slurm-c1-77.0-0.rank-0'))
        done = task(out, 0, 'W -- "$PY" -c "$WORK" "$LIB" 0 5', tasks=1)
        gs.equal((done.returncode, names(out)), (5, ['slurm-c1-77.0-0']), name)


with gs.scratch() as top:
    at = {c.__name__: os.path.join(top, c.__name__) for c in (check_in_turn, check_at_once, check_steps_and_lives, check_nested,
          check_launcher, check_srun_tells, check_batch, check_what_is_left, check_bad_counts)}
    for path in at.values():
        os.mkdir(path)
    gs.side_by_side([lambda name=name, path=path: globals()[name](path) for name, path in at.items()])
    check_job(shutil.copytree(at['check_in_turn'], os.path.join(top, 'job')))
gs.finish()
