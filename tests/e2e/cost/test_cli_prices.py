#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""prices: what is listed, looked up and imported; each step of the look-up order in a report."""
import os
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import tiny

SITE = '''gpu,provider,instance_type,gpu_count,usd_per_gpu_hour,price_model,region,source,date
NVIDIA H100 80GB HBM3,,,,4.10,on-demand,,contract 77,2026-01-31
NVIDIA H100 80GB HBM3,,,,1.75,owned,,finance,2026-02-01
'''
SKY = '''InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone
p5.48xlarge,H100,8,192,2048,"{'Gpus': [{'Name': 'H100'}]}",98.32,39.33,us-east-1,us-east-1a
m5.large,,,2,8,,0.096,0.03,us-east-1,us-east-1a
'''


def rate(run, *options, **env):
    done = gs.gpustarve('report', run, '--format', 'json', *options, env=gs.environment(**env))
    gs.equal(done.returncode, 0, done.stderr.decode())
    import json
    r = json.loads(done.stdout)['cost']['rates']
    gs.equal(len(r), 1, 'one rate')
    if r[0]['usd_per_gpu_hour'] is not None:
        gs.check(r[0]['source'] and r[0]['date'], f'source and date: {r[0]}')
        text = gs.gpustarve('report', run, *options, env=gs.environment(**env)).stdout.decode()
        gs.check(r[0]['date'] in text and r[0]['source'] in ' '.join(text.split()),
                 f'source and date are printed: {r[0]}')
    return r[0]


with gs.scratch() as where:
    run = tiny.imported(where)
    site, none = os.path.join(where, 'site.csv'), os.path.join(where, 'none.csv')
    dmi = os.path.join(where, 'dmi')
    os.mkdir(dmi)
    with open(site, 'w') as f:
        f.write(SITE)
    steps = dict(GPUSTARVE_PRICES=site, GPUSTARVE_DMI=dmi)
    r = rate(run, '--price', '1.25', GPUSTARVE_USD_PER_GPU_HOUR='3.21', **steps)
    gs.equal((r['usd_per_gpu_hour'], r['label']), (1.25, '--price'), 'option')
    r = rate(run, GPUSTARVE_USD_PER_GPU_HOUR='3.21', **steps)
    gs.equal((r['usd_per_gpu_hour'], r['label']), (3.21, 'GPUSTARVE_USD_PER_GPU_HOUR'), 'env')
    r = rate(run, **steps)
    gs.equal((r['usd_per_gpu_hour'], r['assumed']), (4.1, False), 'site file')
    r = rate(run, '--price-model', 'owned', **steps)
    gs.equal((r['usd_per_gpu_hour'], r['price_model']), (1.75, 'owned'), 'owned, site file')
    r = rate(run, '--price-model', 'spot', **steps)
    gs.equal(r['usd_per_gpu_hour'], 2.46375, 'spot is not in the site file: the catalogue')
    r = rate(run, GPUSTARVE_DMI=dmi)
    gs.equal((r['usd_per_gpu_hour'], r['assumed']), (3.99, True), 'catalogue')
    r = rate(run, '--price-model', 'reserved', **steps)
    gs.equal(r['usd_per_gpu_hour'], None, 'nobody knows a reserved price')
    done = gs.gpustarve('report', run, env=gs.environment(GPUSTARVE_PRICES=none))
    gs.check(b'none.csv' in done.stderr, 'a site file that is named and absent is said')

    # What a GPU would get here, by the machine's own word.
    env = gs.environment(GPUSTARVE_DMI=dmi)
    with open(os.path.join(dmi, 'sys_vendor'), 'w') as f:
        f.write('Amazon EC2\n')
    with open(os.path.join(dmi, 'product_name'), 'w') as f:
        f.write('p5.48xlarge\n')
    done = gs.gpustarve('prices', 'show', tiny.NAME, env=env)
    gs.equal(done.returncode, 0, 'show')
    gs.check(b'$6.88' in done.stdout and b'p5.48xlarge' in done.stdout and b'2026-11-09'
             in done.stdout and b'assumed' not in done.stdout, f'AWS by DMI: {done.stdout}')
    done = gs.gpustarve('prices', 'show', 'Some Accelerator 9000', env=env)
    gs.equal(done.returncode, 1, 'show of an unknown GPU')
    gs.check(b'$' not in done.stdout and b'--price' in done.stderr, 'and how to set it')

    done = gs.gpustarve('prices', 'show', 'a100 80gb')
    gs.check(done.returncode == 0 and b'NVIDIA A100-SXM4-80GB: $' in done.stdout and
             b'NVIDIA A100 80GB PCIe: $' in done.stdout and b'40GB' not in done.stdout,
             f'a short name is each GPU that has its words: {done.stdout}')
    for name in 'T4', 'A10G', 'V100', 'L4':
        done = gs.gpustarve('prices', 'show', name)
        gs.check(done.returncode == 0 and b'source: ' in done.stdout and b', 2026-' in done.stdout, name)

    done = gs.gpustarve('prices', env=gs.environment(GPUSTARVE_PRICES=site))
    gs.equal(done.returncode, 0, 'list')
    gs.check(b'contract 77' in done.stdout and b'built-in' in done.stdout, 'both lists')
    gs.equal(done.stdout, gs.gpustarve('prices', 'list', env=gs.environment(GPUSTARVE_PRICES=site))
             .stdout, 'list is the default')

    sky = os.path.join(where, 'vms.csv')
    with open(sky, 'w') as f:
        f.write(SKY)
    out = os.path.join(where, 'mine.csv')
    done = gs.gpustarve('prices', 'import', sky, '-o', out)
    gs.equal(done.returncode, 1, 'SkyPilot without a provider')
    gs.check(b'--provider' in done.stderr, 'is asked for')
    done = gs.gpustarve('prices', 'import', sky, '-o', out, '--provider', 'aws', '--date',
                        '2026-05-01')
    gs.equal(done.returncode, 0, done.stderr.decode())
    r = rate(run, GPUSTARVE_PRICES=out, GPUSTARVE_DMI=dmi)
    gs.equal((r['usd_per_gpu_hour'], r['date']), (12.29, '2026-05-01'), '98.32 / 8')
    done = gs.gpustarve('prices', 'import', site, env=gs.environment(GPUSTARVE_PRICES=out))
    gs.equal(done.returncode, 0, done.stderr.decode())
    gs.equal(rate(run, GPUSTARVE_PRICES=out, GPUSTARVE_DMI=where)['usd_per_gpu_hour'], 4.1,
             'a price for everywhere, where the machine is not known')
    again = gs.gpustarve('prices', 'import', site, env=gs.environment(GPUSTARVE_PRICES=out))
    with open(out) as f:
        gs.equal(len(f.readlines()), 5, 'imported twice, there once')
gs.finish()
