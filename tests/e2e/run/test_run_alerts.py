#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits timeout=600
"""--alert, --exec and --budget of `gpustarve run`: each fires once, within ten seconds of what the
pulses show; the file, the report and the summary say so; and the command notices nothing, whatever
the commands of alerts do: hang, fork, print, fail."""
import contextlib
import json
import os
import signal
import sys
import time

sys.path.insert(0, sys.path[0] + '/../../lib')
import alerting
import gs
import schema

# Works for a moment, then holds the GPU and does nothing; then works again and does nothing again.
IDLER = [alerting.MIXLOOP, '--ops=30', '--pause-every=11', '--pause-us=4500000']
JOB = ['sh', '-c', 'printf "out\\n"; printf "err\\n" >&2; "$@" >/dev/null 2>&1; exit 5', 'sh']
NASTY = 'echo noise; echo noise >&2; echo $$ >>{0}/pids; (sleep 300; echo late) & echo $! >>{0}/pids; sleep 300'
PRICE = 36  # dollars per hour: a cent a second


def run(where, options, argv, **env):
    return gs.command([gs.WITH_GPUSIM, gs.CLI, 'run', '-o', os.path.join(where, 'runs'), *options, '--', *argv],
                      env=gs.environment(**env), cwd=where)


def kill_all(path):
    if os.path.exists(path):
        for pid in open(path).read().split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass


def refused():
    for options, want in ((['--alert', 'idle_for>15'], "--alert idle_for>15: at character 12: a unit is wanted"),
                          (['--alert', 'gpu>1'], 'at character 1: no such metric'),
                          (['--exec', 'true'], 'no --alert or --budget comes before it'),
                          (['--budget', 'much'], 'not a budget'), (['--budget', '0'], 'not a budget'),
                          (['--budget', '1', '--budget', '2'], 'it was given before')):
        done = gs.gpustarve('run', *options, '--', 'true')
        gs.equal(done.returncode, 1, f'{options}: exit status')
        gs.check(want in done.stderr.decode(), f'{options}: {done.stderr!r}')


def fires(where):
    options = ['--price', PRICE, '--alert', 'idle_for>2s', '--exec', NASTY.format(where),
               '--budget', '0.08', '--exec', f'echo "$GPUSTARVE_ALERT_TEXT" >>{where}/budget; exit 3',
               '--alert', 'usd>1000', '--exec', f'touch {where}/never']
    try:
        began = time.monotonic()
        done = run(where, options, [*JOB, *IDLER])
        took = time.monotonic() - began
    finally:
        kill_all(os.path.join(where, 'pids'))
    gs.equal(done.returncode, 5, 'the command\'s exit status')
    gs.equal(done.stdout, b'out\n', 'its output')
    said = done.stderr.decode()
    gs.check(said.startswith('err\n') and 'noise' not in said, f'nothing of the hook\'s: {said}')
    gs.check(took < 200, f'nobody waits for the hook: {took} s')
    for line in ('gpustarve: alert: no GPU has worked for ', 'gpustarve: budget: 80 % of the budget of $0.08',
                 'gpustarve: budget: 100 % of the budget of $0.08'):
        gs.equal(said.count(line), 1, f'said once: {line}: {said}')
    path = gs.runs(os.path.join(where, 'runs'))[0]
    fired, ended = alerting.lines(path)
    gs.equal(sorted((a['condition'], a.get('budget_pct')) for a in fired),
             [('idle_for>2s', None), ('usd>=0.064', 80), ('usd>=0.08', 100)], 'each fired once')
    streams = alerting.streams(path)
    gs.equal(len(streams), 1, 'one process used a GPU')
    for alert in fired:
        since = (alerting.idle_since(streams[0], 2 * alerting.S) if alert['metric'] == 'idle_for' else
                 alerting.cost_since(streams[0], alert['threshold'], PRICE * alerting.S))
        alerting.in_time(alert, since, alert['condition'])
        gs.check(alert['value'] >= alert['threshold'], f'{alert}')
    # The run may end while the last command begins: nobody waits for it.
    def ran():
        with contextlib.suppress(FileNotFoundError), open(os.path.join(where, 'budget')) as f:
            return f.read().splitlines()
        return []

    gs.until('the budget\'s commands run', lambda: len(ran()) >= 2)
    gs.equal(len(ran()), 2, 'the budget\'s command ran at 80 % and at 100 %')
    with open(os.path.join(where, 'pids')) as f:
        gs.equal(len(f.read().split()), 2, 'the alert\'s command ran once')
    gs.equal(sorted((e['condition'], e['exec_status']) for e in ended if e['exec_status'] == 3)[:1],
             [('usd>=0.064', 3)], 'how the command ended')
    gs.check(not os.path.exists(os.path.join(where, 'never')), 'what did not hold did not fire')
    return path


def reported(path):
    """The same in summary.json, in the text and on the page; and verify finds it true."""
    with open(os.path.join(path, 'summary.json')) as f:
        summary = json.load(f)
    gs.equal([a['condition'] for a in summary['alerts']],
             [a['condition'] for a in alerting.lines(path)[0]], 'alerts of summary.json')
    gs.equal(schema.errors(schema.close(schema.ours()), summary), [], 'summary.json by its schema')
    text = gs.gpustarve('report', path).stdout.decode()
    gs.check('80 % of the budget of $0.08' in text and 'idle_for>2s' in text, f'the text: {text}')
    with open(os.path.join(path, 'report.html')) as f:
        page = f.read()
    gs.check('80 % of the budget of $0.08' in page and 'idle_for&gt;2s' in page, 'the page')
    gs.equal(gs.gpustarve('verify', path).returncode, 0, 'verify')


def of_nodes(path):
    """As a centre keeps it, each node's alerts in a file of its own: the report has them all, in their order."""
    mine, _ = alerting.lines(path)
    theirs = [dict(mine[0], t_unix_ns=mine[1]['t_unix_ns'] + 1), {'condition': '?'}]
    other = os.path.join(path, 'alerts-node-n2.jsonl')
    with open(other, 'w') as f:
        f.writelines(json.dumps(row, separators=(',', ':')) + '\n' for row in theirs)
    got = json.loads(gs.gpustarve('report', path, '--format', 'json').stdout)['alerts']
    os.unlink(other)
    want = sorted([a['t_unix_ns'] for a in mine] + [theirs[0]['t_unix_ns']])
    gs.equal([a['t_unix_ns'] for a in got], want, 'alerts of two nodes')


def again(where, path):
    """The same run goes on: nothing fires a second time."""
    name = os.path.basename(path)[:-len('.gst')]
    brief = [alerting.MIXLOOP, '--ops=30', '--pause-every=20', '--pause-us=3000000']
    run(where, ['--price', PRICE, '--budget', '0.08', '--alert', 'idle_for>2s', '--no-report'], brief,
        GPUSTARVE_RUN_ID=name)
    gs.equal(len(alerting.lines(path)[0]), 3, 'not again in the same run')


def unpriced(where):
    brief = [alerting.MIXLOOP, '--ops=60', '--pause-every=20', '--pause-us=1000000']
    done = run(where, ['--budget', '0.001', '-o', os.path.join(where, 'other')], brief, GPUSIM_NAME='Unheard Of 9000')
    gs.check('gpustarve: --budget: cannot be watched: no price is known for Unheard Of 9000' in
             done.stderr.decode(), f'{done.stderr!r}')
    gs.equal(alerting.lines(gs.runs(os.path.join(where, 'other'))[0]), ([], []), 'nothing fired')


with gs.scratch() as folder:
    refused()
    run_path = fires(folder)
    reported(run_path)
    of_nodes(run_path)
    again(folder, run_path)
    unpriced(folder)
gs.finish()
