# SPDX-License-Identifier: Apache-2.0
"""Loops that are bound by their launches, on a simulated CUPTI that charges what an H100's did, and what is expected of
the governor's ladder on them. What was charged is in the truth file. Shared by test_prof_governor and, for what only a
loop learns that has its core for itself, tests/timing/test_governor_stays."""
import json
import os
import re

import gs
import gst_reader
import prof

PACELOOP = os.path.join(gs.BUILD, 'workloads', 'paceloop')
FIVE_MINUTES, CAP = 300, 0.012
COPIES_AND_MORE = {'copies', 'least'}


def charged(where):
    """[(seconds since the first line, seconds charged until then)] of the launching thread, by kind at last."""
    rows, by = [], {}
    for name in os.listdir(os.path.join(where, 'truth')):
        with open(os.path.join(where, 'truth', name)) as f:
            for row in map(json.loads, f):
                if 'charged' in row and row['tid'] == row['pid']:
                    rows.append((row['until_ns'] / 1e9, row['charged'] / 1e9))
                    by = row['by']
    return [(t - rows[0][0], s) for t, s in rows], by


def play(where, rate, seconds, cost, ns=500, **env):
    env = dict({'GPUSTARVE_MAX_OVERHEAD': '1'}, **env)
    done = prof.run([PACELOOP, str(rate), str(seconds), str(ns)], where, timeout=seconds + 120, GPUSIM_TRUTH_OPS=0,
                    GPUSIM_TRACE_COST=cost, **env)
    gs.equal(done.returncode, 0, f'{rate}: {done.stderr.decode()[-300:]}')
    launches, took = done.stdout.split()
    return int(launches) / float(took), prof.trace(where)


def after(spent, t):
    """What was charged until then."""
    return max((s for at, s in spent if at <= t), default=0)


def in_five_minutes(spent, calm):
    """What five minutes would be charged, if what came after `calm` went on. Whoever is charged tells within a
    second, and else at the end."""
    at, until_then = next((row for row in spent if row[0] >= calm), spent[-1])
    rate = (spent[-1][1] - until_then) / (spent[-1][0] - at) if at < spent[-1][0] else 0
    return (until_then + rate * (FIVE_MINUTES - at)) / FIVE_MINUTES


def report(where, form):
    done = gs.gpustarve('report', os.path.dirname(prof.files(where)[0]), '--format', form)
    gs.equal(done.returncode, 0, f'report: {done.stderr.decode()[-500:]}')
    return done.stdout.decode()


def expect_told(where, t, cost):
    """The summary, the report and a reader of docs/FORMAT.md alone say what the last pulse says."""
    r = json.loads(report(where, 'json'))['quality']['recording']
    time_ns = t.bye['last']['t'] - t.hello['armed']
    launch = [r[k] for k in ('full_launch_ns', 'no_api_launch_ns', 'no_kernels_launch_ns', 'least_launch_ns')]
    gs.equal((launch, r['left_ns'], r['passed'], r['spent_ns'], r['limit_pct'], r['deepest'], r['learnt'], r['time_ns']),
             (cost['launch'], cost['left'], cost['passed'], cost['spent'], 1, cost['deepest'], bool(cost['learnt'] & 1), time_ns), f'summary: {r}')
    gs.check(any('a launch takes ' in n and 'ns for calls' in n for n in t.bye['notes']), f'the choice: {t.bye["notes"]}')
    text = ' '.join(report(where, 'text').split())
    gs.check(re.search('recording was cut down to stay below 1(.0)? %, by calls and kernels at most|recording was cut down to stay below 1(.0)? %, by calls, kernels, copies and waits at most', text),
             f'text: {text[-2500:]}')
    gs.check('/quality/recording/spent_ns' in report(where, 'html'), 'page')
    told = gst_reader.costs(os.path.dirname(prof.files(where)[0]))
    gs.equal([told[-1][k] for k in ('launch_ns', 'spent_ns', 'left_ns', 'step', 'limit')],
             [cost[k] for k in ('launch', 'spent', 'left', 'step', 'limit')], 'the Python reader')


def settled(t, spent):
    """When the last step had been taken, in the seconds of `spent`; a machine that is short of cores takes
    its time."""
    pulses = t.frames['pulse']
    last = max([p['t'] for p, q in zip(pulses[1:], pulses) if p['level'] != q['level']] + [0])
    return max(0, (last - pulses[0]['t']) / 1e9) + 2


def recovers(rate, seconds=22, ns=500):
    """Steps end, and a five minutes' cost is below the cap. What each step brought is measured."""
    with gs.scratch() as where:
        got, t = play(where, rate, seconds, 'h100-recovers', ns)
        spent, by = charged(where)
        cost = t.bye['last'].get('cost') or {}
        levels = [p['level'] for p in t.frames['pulse']]
        calm = settled(t, spent)
        if seconds < 60 and (levels[-1] not in COPIES_AND_MORE or calm > seconds - 5):
            return recovers(rate, 90, ns)
        share = spent[-1][1] / seconds if seconds >= FIVE_MINUTES else in_five_minutes(spent, calm)
        print(f'recovers {rate}:{ns} {got:.0f}/s {100 * share:.2f} % of five minutes, {spent[-1][1]:.2f} s charged in '
              f'{seconds} s; said {cost.get("spent", 0) / 1e9:.2f} s; last level {levels[-1]}; launch {cost.get("launch")}', by)
        gs.check(share <= CAP, f'{rate}: {100 * share:.2f} % of five minutes')
        if seconds >= FIVE_MINUTES and not cost:
            print(f'recovers {rate}: {got:.0f}/s break no cap')
            expect_nothing_given_up(f'recovers {rate}', t, spent, by)
            return cost, spent[-1][1]
        gs.check(levels[-1] in COPIES_AND_MORE, f'{rate}: {levels}')
        whole = 3 if ns < 1000 else 2  # as many launches as 300,000 a second use up soon what may be spent at once
        gs.equal(set(levels[:whole]), {'1'}, f'{rate}: seen whole at first: {levels[:5]}')
        gs.check(cost['limit'] == 10000 and cost['deepest'] >= 2, f'{rate}: {cost}')
        gs.check(any('the governor changed' in n for n in t.bye['notes']), f'{rate}: notes')
        if seconds < FIVE_MINUTES:
            expect_told(where, t, cost)
        gs.check(not cost['left'], f'{rate}: nothing is left where launches recover: {cost}')
        return cost, spent[-1][1]


def expect_nothing_given_up(what, t, spent, by):
    """Launches too few to break the cap: kernels are recorded to the end, what five minutes may cost is
    not spent, nothing of a launch is left by a kind that is off, and nobody says so."""
    levels = {p['level'] for p in t.frames['pulse']}
    gs.check(not levels & COPIES_AND_MORE, f'{what}: kernels are recorded: {levels}')
    gs.equal(t.lost(prof.GOVERNOR), [], f'{what}: losses')
    gs.check(spent and spent[-1][1] <= CAP * FIVE_MINUTES, f'{what}: {spent[-1:]} s charged')
    gs.check(by.get('kernel', 0) > 0 and 'left' not in by, f'{what}: {by}')
    gs.check(not any('stay dearer' in n for n in t.bye['notes']), f'{what}: {t.bye["notes"]}')


def stays(rate, seconds=26, ns=500):
    """Launches that stay instrumented cost whatever is off: nothing that may be off is on, it is said, and
    what is said is near the truth. Where a machine makes so few that nothing is given up, that is so."""
    with gs.scratch() as where:
        got, t = play(where, rate, seconds, 'h100', ns)
        spent, by = charged(where)
        cost = t.bye['last'].get('cost')
        if seconds < 60 and (not any('stay dearer' in n for n in t.bye['notes']) or settled(t, spent) > seconds / 2):
            return stays(rate, 90, ns)
        calm = seconds / 2
        least = (spent[-1][1] - after(spent, calm)) / (seconds - calm)
        notes = [n for n in t.bye['notes'] if 'stay dearer' in n]
        print(f'stays {rate}:{ns} {got:.0f}/s {100 * spent[-1][1] / seconds:.2f} % charged in {seconds} s, '
              f'{100 * least:.2f} % in the second half; said {cost}', by, notes)
        if 'left' not in by:
            print(f'stays {rate}: {got:.0f}/s break no cap')
            expect_nothing_given_up(f'stays {rate}', t, spent, by)
            return
        gs.check(by.get('other', 0) <= by['kernel'] and by['left'] > by['kernel'] / 2, f'{rate}: {by}')
        gs.check(notes, f'{rate}: {t.bye["notes"]}')
        said = [int(n.split('about ')[1].split()[0]) for n in notes]
        # Others' work on the cores: at a load of 20 it was 1,366 once in five; nothing learnt would be 1,800.
        gs.check(said and 300 <= said[0] <= 1600, f'{rate}: {notes}, of 700 and 100 for the library')
