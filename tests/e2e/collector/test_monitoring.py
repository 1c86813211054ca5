#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""scripts/kubernetes/monitoring: the dashboard and the alert rules ask for nothing but what /metrics of a collector and
`gpustarve export --format prometheus` have, and with the labels that it has; promtool reads the rules, where it is."""
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, sys.path[0] + '/../../lib')
import central
import collector as c
import gs

FOLDER = os.path.join(gs.SOURCE, 'scripts', 'kubernetes', 'monitoring')
NAME = re.compile(r'\bgpustarve_[a-z0-9_]+')


def read(name):
    with open(os.path.join(FOLDER, name), encoding='utf-8') as f:
        return f.read()


def names_of(text):
    """What can be asked of a page: {name: its kind}."""
    kinds = dict(re.findall(r'^# TYPE (\S+) (\S+)$', text, re.M))
    for name, kind in list(kinds.items()):
        if kind == 'histogram':
            kinds.update({f'{name}_{end}': 'counter' for end in ('bucket', 'sum', 'count')})
    return kinds


def metrics():
    with tempfile.TemporaryDirectory(prefix='gpustarve-monitoring-') as root, \
            central.Centre(c.bin_dir(), root, https=False, tokens=None, options=['--no-token', '--quota', '1G']) as centre:
        s = c.seeded().randbytes(16)
        centre.post(c.hello(s, 'run-1'), token=None)

        def whole():
            return 'gpustarve_collector_disk_bytes' in centre.ask('GET', '/metrics', token=None)[2].decode()
        gs.until('a sweep', whole)
        return names_of(centre.ask('GET', '/metrics', token=None)[2].decode())


def exported():
    demo = gs.gpustarve('demo', '--path').stdout.decode().split('\n')[0].strip()
    runs = gs.runs(demo)
    done = gs.gpustarve('export', runs[0], '--format', 'prometheus', '--price', '2.5')
    gs.equal(done.returncode, 0, f'export: {done.stderr.decode()}')
    return names_of(done.stdout.decode())


def check_asked(where, expr, known):
    for name in NAME.findall(expr):
        gs.check(name in known, f'{where}: nobody has {name}')
        if name in known and known[name] == 'counter' and 'rate(' not in expr and 'increase(' not in expr:
            gs.check(name.endswith('usd_total'), f'{where}: {name} only grows: ask for its rate')
    gs.check(NAME.search(expr), f'{where}: asks for nothing of ours')


def test_dashboard():
    known = metrics()
    dashboard = json.loads(read('dashboard.json'))
    gs.equal(len({p['id'] for p in dashboard['panels']}), len(dashboard['panels']), 'panels have numbers of their own')
    for p in dashboard['panels']:
        for t in p['targets']:
            check_asked(p['title'], t['expr'], known)
    for v in dashboard['templating']['list']:
        if v['type'] == 'query':
            check_asked(v['name'], v['query']['query'] + ' rate(', known)
    filled = [(p['gridPos']['x'] + x, p['gridPos']['y'] + y) for p in dashboard['panels']
              for x in range(p['gridPos']['w']) for y in range(p['gridPos']['h'])]
    gs.equal(len(set(filled)), len(filled), 'no panel lies on another')
    gs.check(max(x for x, _ in filled) < 24, 'nor beyond the edge')


def test_rules():
    known = {**exported(), **metrics()}
    exprs = re.findall(r'^ +- alert: (\w+)\n +expr: (.*)$', read('alerts.yml'), re.M)
    gs.check(len(exprs) >= 10, f'{len(exprs)} rules')
    for name, expr in exprs:
        check_asked(name, expr, known)


def test_promtool():
    if not shutil.which('promtool'):
        gs.left_out('promtool is not installed (scripts/setup)')
        return
    done = gs.command(['promtool', 'check', 'rules', os.path.join(FOLDER, 'alerts.yml')])
    gs.check(done.returncode == 0 and b'SUCCESS' in done.stdout, (done.stdout + done.stderr).decode())
    with tempfile.TemporaryDirectory(prefix='gpustarve-monitoring-') as root:
        tests = os.path.join(root, 'tests.yml')
        with open(tests, 'w', encoding='utf-8') as f:
            f.write(json.dumps({'rule_files': [os.path.join(FOLDER, 'alerts.yml')], 'evaluation_interval': '1m', 'tests': [{
                'interval': '1m', 'input_series': [
                    {'series': 'gpustarve_run_starved_ratio{run="a"}', 'values': '0.5x60'},
                    {'series': 'gpustarve_run_gpus{run="a"}', 'values': '8x60'},
                    {'series': 'gpustarve_run_busy_ratio{run="b"}', 'values': '0x60'},
                    {'series': 'gpustarve_run_gpus{run="b"}', 'values': '1x60'},
                    {'series': 'gpustarve_starved_usd_total{run="c"}', 'values': '150x60'},
                    {'series': 'gpustarve_gpu_usd_total{run="c",cause="compute"}', 'values': '150x60'},
                    {'series': 'gpustarve_gpu_usd_total{run="c",cause="input.fetch"}', 'values': '150x60'}],
                'alert_rule_test': [
                    {'eval_time': '10m', 'alertname': 'GpusWaitForInput', 'exp_alerts': []},
                    *({'eval_time': '40m', 'alertname': name, 'exp_alerts': [{'exp_labels': {'run': run, 'severity': severity},
                                                                             'exp_annotations': said}]}
                      for name, run, severity, said in (
                          ('GpusWaitForInput', 'a', 'warning', {
                              'summary': 'a: its GPUs wait for input 50% of the time, at most',
                              'description': 'Its page at the centre, /runs/a, says for whom, and what to change.'}),
                          ('GpusHeldIdle', 'b', 'warning', {
                              'summary': 'b holds GPUs and has not used them for half an hour'}),
                          ('GpuRunWasted', 'c', 'info', {
                              'summary': 'c: 50% of its dollars, more than $100, went to GPUs that waited for input'})))]}]}))
        done = gs.command(['promtool', 'test', 'rules', tests])
        gs.check(done.returncode == 0, (done.stdout + done.stderr).decode()[-2000:])


if __name__ == '__main__':
    gs.run_tests(globals())
