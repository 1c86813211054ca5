#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e waits first timeout=300
"""Three simulated GPUs held for 10, 20 and 30 s at two rates: every dollar in JSON, text, HTML and
in the last lines of run is truth nanoseconds times rate, to the cent and beyond."""
import json
import os
import re
from decimal import Decimal
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import figures
import gs
import money

H100, A100 = 'NVIDIA H100 80GB HBM3', 'NVIDIA A100-SXM4-80GB'
RATES = {H100: '1234.567890123', A100: '777.7'}
SITE = '''gpu,provider,instance_type,gpu_count,usd_per_gpu_hour,price_model,region,source,date
%s,,,,%s,on-demand,,contract,2026-03-01
%s,,,,%s,on-demand,,contract,2026-04-01
''' % (H100, RATES[H100], A100, RATES[A100])
HOLD = r'''
import os, sys, time
sys.path.insert(0, sys.argv[1])
import gpudev
device, seconds = int(sys.argv[2]), float(sys.argv[3])
begin, begin_ns = time.monotonic(), time.time_ns()
dev = gpudev.Device(device)
stream = gpudev.Stream(dev)
while time.monotonic() - begin < seconds - 0.3:
    stream.kernel(20_000_000, 'work')
    stream.synchronize()
    time.sleep(0.03)
time.sleep(max(0, begin + seconds - time.monotonic()))
with open(f'own{device}', 'w') as f:
    f.write(str(time.time_ns() - begin_ns))
'''
LAUNCH = r'''
import json, subprocess, sys, time
began, held, ps = {}, {}, {}
for device, seconds in enumerate((10, 20, 30)):
    began[device] = time.time_ns()
    ps[device] = subprocess.Popen([sys.executable, '-c', sys.argv[1], sys.argv[2], str(device), str(seconds)])
for device, p in ps.items():
    p.wait()
    held[device] = time.time_ns() - began[device]
json.dump(held, open('held.json', 'w'))
sys.exit(max(p.returncode for p in ps.values()))
'''


def rate_of(name):
    return RATES[name.replace(' (simulated)', '')]


with gs.scratch() as where:
    site = os.path.join(where, 'site.csv')
    with open(site, 'w') as f:
        f.write(SITE)
    done, run, truth = gs.traced([gs.PYTHON, '-c', LAUNCH, HOLD, gs.WORKLOADS], where, (),
                                 GPUSIM_DEVICES=3, GPUSIM_NAME=f'{H100},{A100}',
                                 GPUSTARVE_PRICES=site)
    gs.equal(done.returncode, 0, done.stderr.decode()[-500:])
    with open(os.path.join(run, 'summary.json')) as f:
        exact = json.load(f, parse_float=Decimal)
    with open(os.path.join(where, 'held.json')) as f:
        held = json.load(f)
    gpus = exact['gpus']
    gs.equal([g['name'] for g in gpus], [f'{n} (simulated)' for n in (H100, A100, A100)], 'GPUs')

    # The nanoseconds are the truth's.
    ops = gs.truth_ops(truth)
    for g in gpus:
        busy = gs.measure(gs.union((o['start_ns'], o['end_ns']) for o in ops
                                   if o['device'] == g['index']))
        gs.equal(g['busy_ns'], busy, f'busy time of GPU {g["index"]}')
        gs.equal(sum(g['classes'].values()), g['held_ns'], 'classes add up')
        mine = held[str(g['index'])]
        with open(os.path.join(where, f'own{g["index"]}')) as f:
            own = int(f.read())
        # From the start of the process, in ticks of the kernel, until its end was seen: on a busy
        # machine both take their time.
        gs.check(own - 10_000_000 <= g['held_ns'] <= mine + 1_000_000_000,
                 f'GPU {g["index"]} held {g["held_ns"]}, by its own clock {own}, by the launcher\'s {mine}')

    # The dollars are nanoseconds times rate.
    total, per_class, per_gpu = money.ledger(gpus, rate_of)
    wasted = sum((v for k, v in per_class.items() if money.is_waste(k)), Decimal(0))
    starved = sum((v for k, v in per_class.items() if k.startswith('input.')), Decimal(0))
    gs.equal(exact['cost']['usd'], total, 'cost.usd')
    gs.equal(exact['cost']['wasted_usd'], wasted, 'cost.wasted_usd')
    gs.equal(exact['cost']['starved_usd'], starved, 'cost.starved_usd')
    gs.equal({k: v['usd'] for k, v in exact['ledger']['classes'].items()}, per_class, 'per class')
    gs.equal([g['usd'] for g in gpus], per_gpu, 'per GPU')
    for c in {f['class'] for f in exact['findings']}:  # one finding for each place
        gs.equal(sum(f['usd'] for f in exact['findings'] if f['class'] == c), per_class[c],
                 f'findings {c}')
    for a in exact['advice']:
        tells = a['id'] in ('host-unknown', 'host-wait') and not a['saving_upper_ns']  # a cause, and saves nothing
        gs.equal(a['saving_upper_usd'], 0 if tells else per_class[a['class']], f'advice {a["id"]}')
        gs.check(a['saving_upper_usd'] <= wasted or not money.is_waste(a['class']), 'within the waste')
    gs.equal(sorted(str(r['usd_per_gpu_hour']) for r in exact['cost']['rates']),
             sorted(RATES.values()), 'rates')
    useful = exact['ledger']['gpu_ns'] - exact['ledger']['wasted_ns']
    gs.check(abs(exact['cost']['usd_per_useful_gpu_hour'] - total * money.HOUR_NS / useful)
             < Decimal('1e-8'), 'price of a useful hour')
    hours = Decimal(exact['ledger']['gpu_ns']) / money.HOUR_NS
    gs.check(abs(exact['cost']['gpu_hours'] - hours) < Decimal('1e-9'), 'GPU-hours')

    # And so they are wherever they are shown.
    text = gs.gpustarve('report', run, env=gs.environment(GPUSTARVE_PRICES=site)).stdout.decode()
    with open(os.path.join(run, 'report.html')) as f:
        page = f.read()
    told = ' '.join(done.stderr.decode().split())
    scale = figures.money_scale(total)
    dollars = figures.money(total)
    for what, shown in ('text', ' '.join(text.split())), ('html', page), ('run', told):
        gs.check(dollars in shown, f'{dollars} in {what}')
        gs.check(figures.price(Decimal(RATES[H100])) in shown and '$777.70' in shown, f'both rates in {what}')
        gs.check('2026-03-01' in shown and '2026-04-01' in shown, f'both dates in {what}')
    rows = re.findall(r'^[* ] ([a-z_.0-9]+) .*? (<?)(?:\$([\d,]+(?:\.\d\d)?)|([\d.]+) \u00a2)', text, re.M)
    # Less than one of the last digit and not rounded up counts as none in the sum.
    unit = Decimal(scale[0]) / 10**9
    shown = {k: Decimal(0 if less else dollars.replace(',', '') or Decimal(cents) / 100)
             for k, less, dollars, cents in rows if k in per_class}
    gs.equal(set(shown), set(per_class), 'every class has its line')
    gs.equal(sum(shown.values()), figures.even(total / unit, 0) * unit, 'what is shown adds up to the total')
    for k, v in shown.items():
        gs.check(abs(v - per_class[k]) <= 2 * unit, f'{k}: {v} for {per_class[k]}')
    cells = {k: v for v, k in re.findall(
        r'value="([0-9.]+)" data-key="/ledger/classes/([a-z_0-9.]+)/usd"', page)}
    gs.equal({k: Decimal(v) for k, v in cells.items()}, per_class, 'the page\'s cells')
    gs.equal(gs.gpustarve('verify', run).returncode, 0, 'verify')
gs.finish()
