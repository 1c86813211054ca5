# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""`gpustarve check`: budgets hold to the digit, a baseline finds what became slower and passes what
did not, what is not comparable is not compared, and bad input gets one line and its exit status."""
import json
import os
import shutil
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gating
import gs

PASS, ERROR, FAIL, WARN, OTHER = 0, 1, 2, 3, 4


def check(*args):
    """Exit status, standard output with its lines joined, standard error."""
    done = gs.gpustarve('check', *args)
    return done.returncode, ' '.join(done.stdout.decode().split()), done.stderr.decode()


def wants(status, what, *args):
    got, out, err = check(*args)
    gs.equal(got, status, f'{what}: {out}{err}')
    return out, err


def one_line(what, *args):
    """A usage or tool error: exit 1, nothing on stdout, one line on stderr as the style asks."""
    out, err = wants(ERROR, what, *args)
    gs.check(not out and err.count('\n') == 1 and err.startswith('gpustarve: '),
             f'{what}: {out!r} {err!r}')


def budgets(run):
    s = gs.summary(run)
    ledger, steps = s['ledger'], s['steps']
    share = 100 * ledger['starved_ns'] / ledger['gpu_ns']
    gs.check(5 < share < 15, f'the made run starves {share} %')
    wants(PASS, 'a budget above', run, '--budget', f'starved_pct<={share + 0.001:.6f}')
    wants(FAIL, 'a budget below', run, '--budget', f'starved_pct<={share - 0.001:.6f}')
    wants(FAIL, 'one of two', run, '--budget', 'starved_pct<=99', '--budget', 'gpu_hours<=0')
    wants(PASS, 'at least', run, '--budget', 'compute_pct>=50')
    wants(FAIL, 'a class', run, '--budget', 'input.unknown_pct<=1')
    median = f'{steps["median_ns"] / 1e6:.6f}'
    wants(PASS, 'the median itself', run, '--budget', f'step_ms_median<={median}')
    wants(FAIL, 'one ns less', run, '--budget',
          f'step_ms_median<={(steps["median_ns"] - 1) / 1e6:.6f}')
    priced = gs.summary(run, '--price', '3.60')
    exact = int(round(float(priced['cost']['usd']) * 1e9)) * 1000
    wants(PASS, 'dollars', run, '--price', '3.60', '--budget',
          f'usd_per_1k_steps<={exact / 1e9 / steps["count"] + 1e-6:.9f}')
    wants(FAIL, 'dollars', run, '--price', '3.60', '--budget',
          f'usd_per_1k_steps<={exact / 1e9 / steps["count"] - 1e-6:.9f}')


def baseline(where, old, same, slower, starving):
    file = os.path.join(where, 'baseline.json')
    wants(WARN, 'no baseline yet', same, '--baseline', file, '--fail-on-warn')
    wants(PASS, 'no baseline yet', same, '--baseline', file)
    one_line('a baseline is required', same, '--baseline', file, '--require-baseline')
    wants(PASS, 'update', old, '--baseline', file, '--update-baseline')
    first = open(file, 'rb').read()
    gs.check(len(first) < 100_000, f'baseline of {len(first)} bytes')
    wants(PASS, 'update again', old, '--baseline', file, '--update-baseline')
    gs.equal(open(file, 'rb').read(), first, 'the same run gives the same bytes')
    wants(PASS, 'itself', old, '--baseline', file)
    wants(PASS, 'another of the kind', same, '--baseline', file)
    wants(PASS, 'against a run', same, '--baseline', old)
    out, _ = wants(FAIL, 'slower', slower, '--baseline', file)
    gs.check('slower: mean step' in out and 'one run on each side' in out and 'compute' in out, out)
    out, _ = wants(FAIL, 'starving', starving, '--baseline', file, '--format', 'json')
    got = json.loads(out)
    gs.equal(got['status'], 'fail', 'status')
    gs.check(got['change']['loader_wait']['low'] > 0.015, f'loader wait: {got["change"]}')
    gs.check('input.unknown' in got['judgements'][0]['message'], got['judgements'][0]['message'])
    wants(PASS, 'a greater least effect', slower, '--baseline', file, '--min-effect', '50')
    wants(FAIL, 'several runs', slower, slower, '--baseline', file)
    return file


def several(where, old, same, slower):
    """A baseline grows run by run, and tells by how much runs alike differ."""
    file = os.path.join(where, 'grown.json')

    def held():
        with open(file, encoding='utf-8') as f:
            return [r['id'] for r in json.load(f)['runs']]

    runs = [old, same] + [gating.steady(where, f'more{i}', 50 + i, steps=40) for i in range(16)]
    ids = [os.path.basename(r)[:-4] for r in runs]
    wants(PASS, 'the first run', runs[0], '--baseline', file, '--add-to-baseline')
    wants(PASS, 'the second', runs[1], '--baseline', file, '--add-to-baseline')
    wants(PASS, 'the second again', runs[1], '--baseline', file, '--add-to-baseline')
    gs.equal(held(), ids[:2], 'runs of the baseline')
    told, _ = wants(PASS, 'once more', runs[1], '--baseline', file, '--add-to-baseline')
    gs.check('grown.json holds 2 runs now' in told, told)
    wants(PASS, 'more', *runs[2:8], '--baseline', file, '--add-to-baseline')
    gs.equal(held(), ids[:8], 'runs of the baseline')
    text, _ = wants(PASS, 'one more of the kind', runs[8], '--baseline', file)
    gs.check('8 runs before, 1 now; equal runs differ by' in text, text)
    text, _ = wants(FAIL, 'slower than eight', slower, '--baseline', file, '--format', 'json')
    change = json.loads(text)['change']
    gs.equal((change['old_runs'], change['new_runs']), (8, 1), 'runs')
    gs.check(0 < change['run_spread'] < 0.005, f'they differ by little: {change}')
    wide, _ = wants(PASS, 'if runs alike differed by much', slower, '--baseline', old, '--run-spread', '20',
                    '--format', 'json')
    gs.equal(json.loads(wide)['change']['run_spread'], 0.2, 'what was assumed')
    wants(PASS, 'more than are kept', *runs[8:], '--baseline', file, '--add-to-baseline')
    gs.equal(held(), ids[2:], 'the last 16')
    other = gating.run_of(where, 'alien', [20_000_000] * 100, [2_000_000] * 100,
                          gpu='NVIDIA A100-SXM4-80GB')
    one_line('another GPU beside them', other, '--baseline', file, '--add-to-baseline')
    gs.equal(held(), ids[2:], 'and nothing is changed')
    one_line('add to what', old, '--add-to-baseline')
    one_line('no spread', old, '--run-spread', '-1')


def comparable(where, file, same):
    other = gating.run_of(where, 'other', [2_000_000] * 100, [200_000] * 100,
                          gpu='NVIDIA A100-SXM4-40GB')
    out, _ = wants(OTHER, 'another GPU', other, '--baseline', file)
    gs.check('different GPUs' in out and 'A100' in out and out.count('not comparable') == 2, out)
    out, _ = wants(OTHER, 'another price', same, '--baseline', file, '--price', '2')
    gs.check('different prices' in out, out)
    wants(OTHER, 'another window', same, '--baseline', file, '--window', 'device')
    wants(FAIL, 'a broken budget is said before', other, '--baseline', file,
          '--budget', 'starved_pct<=0.1')
    few = gating.run_of(where, 'few', [20_000_000] * 12, [2_000_000] * 12)
    out, _ = wants(OTHER, 'too few steps', few, '--baseline', file)
    gs.check('fewer than 30 steps' in out, out)
    wants(OTHER, 'no steps for a budget of them', os.path.join(where, 'none.gst'), '--price', '1',
          '--budget', 'usd_per_1k_steps<=1')


def no_steps(where):
    trace = os.path.join(where, 'none.json')
    gating.kineto(trace, [20_000_000] * 2, [0] * 2)
    made = json.load(open(trace))
    made['traceEvents'] = [e for e in made['traceEvents'] if 'Profiler' not in e['name']]
    json.dump(made, open(trace, 'w'))
    gs.gpustarve('import', trace, '-o', os.path.join(where, 'none.gst'))


def bad_input(where, file, run):
    one_line('no run')
    one_line('a run that is not there', os.path.join(where, 'nothing.gst'))
    for bad in ('starved_pct', 'starved_pct<5', 'starved_pct<=x', 'nonsense<=1', '<=1',
                'input.nothing_pct<=1', 'starved_pct<=-1', 'usd<=1e3', 'x' * 300 + '<=1'):
        one_line(f'budget {bad[:40]}', run, '--budget', bad)
    one_line('alpha', run, '--alpha', '2')
    one_line('faster', run, '--faster', 'nan')
    one_line('format', run, '--format', 'sarif')
    for bad in 'sarif=x', 'junit', 'junit=', '=x':
        one_line(f'also {bad}', run, '--also', bad)
    one_line('nowhere', run, '-o', os.path.join(where, 'out'), '--also', f'json={where}/none/x')
    one_line('update without a file', run, '--update-baseline')
    text = open(file).read()
    damaged = os.path.join(where, 'damaged.json')
    changes = {
        'cut': text[:len(text) // 2],
        'version': text.replace('baseline/1', 'baseline/2'),
        'no json': 'hello',
        'empty': '',
        'another schema': text.replace('gpustarve.baseline/1', 'something'),
        'a class': text.replace('"compute"', '"computing"'),
        'a sum': text.replace('"gpu_ns": ', '"gpu_ns": 1'),
        'negative': text.replace('"steps_per_item": 1', '"steps_per_item": -1'),
        'no runs': '{"schema": "gpustarve.baseline/1", "runs": []}',
        'deep': '{"schema": ' + '[' * 100_000,
    }
    for what, changed in changes.items():
        gs.check(changed != text, f'{what} changes nothing')
        with open(damaged, 'w') as f:
            f.write(changed)
        one_line(f'baseline damaged: {what}', run, '--baseline', damaged)


def main():
    with gs.scratch() as where:
        old = gating.steady(where, 'old', 1)
        same = gating.steady(where, 'same', 2)
        slower = gating.steady(where, 'slower', 3, ms=21)
        starving = gating.steady(where, 'starving', 4, ms=20, wait=0.16)
        no_steps(where)
        budgets(old)
        file = baseline(where, old, same, slower, starving)
        several(where, old, same, slower)
        comparable(where, file, same)
        bad_input(where, file, same)
        shutil.rmtree(old)
        wants(PASS, 'the baseline needs no run', same, '--baseline', file)
    gs.finish()


main()
