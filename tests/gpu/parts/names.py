# SPDX-License-Identifier: Apache-2.0
"""Names, UUIDs and DMI as the tools see them, against the price catalogue."""
import concurrent.futures
import csv
import functools
import json
import os
import re
import sys

import base
from traces import Run, last_words

SECONDS = 15
LOOPS = os.path.join(base.HERE, 'loops')
CATALOGUE = os.path.join(base.SOURCE, 'viewer', 'cost', 'prices', 'catalogue.csv')
DMI = '/sys/class/dmi/id'
DMI_FILES = ('sys_vendor', 'product_name', 'chassis_asset_tag', 'board_vendor', 'board_name',
             'bios_vendor', 'product_family')
SMI = ('name', 'uuid', 'pci.device_id', 'memory.total', 'compute_cap', 'mig.mode.current',
       'power.max_limit', 'driver_version')
GIB = 1 << 30


def first_line(text):
    return text.strip().splitlines()[0] if text.strip() else ''


@functools.lru_cache(maxsize=None)
def of_smi():
    """What nvidia-smi says of the first GPU; {} without it."""
    text = base.text('nvidia-smi', '--query-gpu=' + ','.join(SMI), '--format=csv,noheader,nounits')
    fields = [f.strip() for f in first_line(text).split(',')]
    return dict(zip(SMI, fields)) if len(fields) == len(SMI) else {}


def of_trace(run):
    """Name and UUID as libprof wrote them down."""
    rc, text, _, _ = base.run([base.CLI, 'dump', '--streams', run.dir], 30)
    found = re.search(r'^# device\t.*\tuuid ([0-9a-f]*)\tname (.*)$', text, re.M)
    if rc or not found:
        return {}
    h = found[1]
    return dict(uuid=f'GPU-{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}', name=found[2])


def ask_names(r, seen, run):
    """Who calls the GPU what. nvidia-smi and NVML are the same library, so that they agree proves
    little; that driver, trace and summary do is the point."""
    gpu = run.summary['gpus'][0]
    says = dict(driver=seen['driver'], NVML=seen['nvml'] or {}, trace=of_trace(run),
                summary=dict(name=gpu['name'], uuid=gpu['uuid']))
    says['nvidia-smi'] = {k: v for k, v in of_smi().items() if k in ('name', 'uuid')}
    silent = [k for k, v in says.items() if not v]
    names = {v['name'] for v in says.values() if v}
    uuids = {v['uuid'] for v in says.values() if v}
    right = len(names) == len(uuids) == 1 and set(silent) <= ({'nvidia-smi'} if base.SIMULATED else set())
    words = f'{" or ".join(sorted(names))}, {" or ".join(sorted(map(str, uuids)))}: '
    words += 'the same to ' + ', '.join(k for k, v in says.items() if v) if right else json.dumps(says)
    r.put('names', 'name and UUID', words + (f'; not here: {", ".join(silent)}' if silent else ''),
          right, says=says)


def form_of(name, watts):
    """SXM or PCIe, as far as name and power limit tell."""
    if 'PCIe' in name or 'NVL' in name or re.search(r'\bL(4|40|40S)\b', name):
        return 'PCIe by its name'
    if 'SXM' in name or 'HBM3' in name:
        return 'SXM by its name' + (f' and its {watts} W' if watts else '')
    return f'form not told by its name{f", {watts} W" if watts else ""}'


def ask_device(r, seen, run):
    driver, nvml, smi = seen['driver'], seen['nvml'] or {}, of_smi()
    total = run.summary['gpus'][0]['memory_total_bytes']
    watts = smi.get('power.max_limit', '').split('.')[0]
    known = total in (driver['memory'], nvml.get('memory'))
    major, minor = driver['capability']
    text = (f'sm_{major}{minor}, {driver["multiprocessors"]} multiprocessors; memory '
            f'{driver["memory"] / GIB:.2f} GiB by the driver, {nvml.get("memory", 0) / GIB:.2f} by NVML, '
            f'{(total or 0) / GIB:.2f} in the summary; PCI {nvml.get("pci", "not known")}; '
            f'{form_of(driver["name"], watts)}; MIG {nvml.get("mig", "not known")}; driver '
            f'{nvml.get("driver", "not known")}, CUDA {driver["cuda"] // 1000}.{driver["cuda"] % 1000 // 10}')
    capable = smi.get('compute_cap', f'{major}.{minor}') == f'{major}.{minor}'
    r.put('names', 'the device', text, known and capable and major > 0, driver=driver, nvml=nvml, smi=smi)


def dmi_strings():
    found = {}
    for name in DMI_FILES:
        try:
            with open(os.path.join(DMI, name), errors='replace') as f:
                found[name] = f.read().strip()
        except OSError:
            pass
    return found


def provider_of(dmi):
    """What these strings mean, by docs/gpustarve-prices.md: '' where they say nothing."""
    vendor = dmi.get('sys_vendor', '')
    if vendor == 'Amazon EC2':
        return ' '.join(('aws', dmi.get('product_name', ''))).strip()
    if vendor == 'Google':
        return 'gcp'
    return 'azure' if dmi.get('chassis_asset_tag') == '7783-7084-3265-9085-8269-3286-77' else ''


def doctor_line(text, what):
    found = re.search(rf'^ +(ok|missing|BROKEN) +{re.escape(what)} +(.*)$', text, re.M)
    return (found[1], found[2].strip()) if found else ('', 'nothing')


def ask_dmi(r, doctor):
    dmi, (state, text) = dmi_strings(), doctor_line(doctor, 'this machine')
    wanted = provider_of(dmi)
    right = text == wanted if wanted else state == 'missing'
    said = ', '.join(f'{k} "{v}"' for k, v in dmi.items()) or f'no {DMI} here'
    r.put('names', 'DMI', f'{said[:300]}: {text if state == "ok" else "no provider known by it"}',
          right, dmi=dmi, wanted=wanted)


def ask_price(r, run, provider):
    """The price in the run's own summary, and by which rule it was found."""
    rate = run.summary['cost']['rates'][0]
    rule = ('the cheapest of any provider, assumed' if rate.get('assumed') else
            'by provider and instance' if provider else 'as given')
    if rate['usd_per_gpu_hour'] is None:
        here = [row for row in rows_of(CATALOGUE) if key_of(row['gpu']) == key_of(rate['gpu'])]
        r.put('names', 'price of this GPU', f'none known: {len(here)} rows of this GPU, provider '
              f'"{provider}"', bool(provider), rate=rate)
        return
    text = (f'${rate["usd_per_gpu_hour"]} per GPU-hour: {rate["label"]}, {rate["price_model"]}, '
            f'{rate["source"]}, {rate["date"]}; {rule}')
    dated = bool(rate['source']) and re.fullmatch(r'\d{4}-\d\d-\d\d', rate['date'])
    best = best_of(rows_of(CATALOGUE), rate['gpu'], rate['price_model'])
    right = bool(dated) and (not rate.get('assumed') or
                             best and float(best['usd_per_gpu_hour']) == rate['usd_per_gpu_hour'])
    r.put('names', 'price of this GPU', text, right, rate=rate)


def rows_of(path):
    with open(path) as f:
        return list(csv.DictReader(line for line in f if not line.startswith('#')))


def key_of(gpu):
    return re.sub(r' \(simulated\)$', '', re.sub(r'^NVIDIA ', '', gpu)).lower()


def best_of(rows, gpu, model):
    """Where the provider is not known: the cheapest, articles last; of equals the newest."""
    fit = [row for row in rows if key_of(row['gpu']) == key_of(gpu) and row['price_model'] == model]
    first = [row for row in fit if row['provider'] != 'guide'] or fit
    cheapest = min((float(row['usd_per_gpu_hour']) for row in first), default=None)
    cheap = [row for row in first if float(row['usd_per_gpu_hour']) == cheapest]
    return max(cheap, key=lambda row: row['date'], default=None)


def ask_catalogue(r, out):
    """Each name of the catalogue finds its price, on a machine that says nothing of itself."""
    rows, wrong = rows_of(CATALOGUE), []
    nowhere = os.path.join(out, 'no-dmi')
    wanted = sorted({(row['gpu'], row['price_model']) for row in rows})
    for gpu, model in wanted:
        best = best_of(rows, gpu, model)
        rc, text, err, _ = base.run([base.CLI, 'prices', 'show', gpu, '--price-model', model], 20,
                                    GPUSTARVE_DMI=nowhere)
        if rc == 'timeout' and base.SIMULATED:
            r.skip('names', 'every GPU of the catalogue by its name', 'out of time')
            return
        price = re.search(r'\$([0-9.]+) per GPU-hour', text)
        if rc or not price or float(price[1]) != float(best['usd_per_gpu_hour']) or \
                best['date'] not in text or best['source'] not in text:
            wrong.append(f'{gpu} {model}: {last_words(text + err, 100)}')
    gpus = len({gpu for gpu, _ in wanted})
    r.put('names', 'every GPU of the catalogue by its name', '; '.join(wrong[:3]) or
          f'{len(wanted)} of {len(wanted)} prices of {gpus} GPUs found, each with source and date',
          bool(wanted) and not wrong, wrong=wrong)


def ask_doctor(r, text, rc):
    rows = {what: doctor_line(text, what) for what in ('libcuda.so.1', 'GPU', 'libcupti', 'record sizes',
                                                       'libnvidia-ml.so.1')}
    states = re.findall(r'^ +(missing|BROKEN) +(\S.*?)  ', text, re.M)
    words = '; '.join(f'{what} {said}' if state == 'ok' else f'{what} {state or "not told"}'
                      for what, (state, said) in rows.items())
    words = re.sub(r'/\S*/', '', words)
    words += '; missing: ' + (', '.join(w for s, w in states if s == 'missing') or 'nothing')
    needed = all(rows[w][0] == 'ok' for w in rows)
    r.put('names', 'doctor', words, rc == 0 and needed and not any(s == 'BROKEN' for s, _ in states),
          doctor=text)


def ask_gpu(r, out):
    rc, text, err, _ = base.run([sys.executable, os.path.join(LOOPS, 'devices.py')], 30)
    run = Run('names', [sys.executable, os.path.join(LOOPS, 'driver.py'), '{times}', '5'], out, timeout=40)
    if base.SIMULATED and (rc == 'timeout' or run.late):
        for question in ('name and UUID', 'the device', 'price of this GPU'):
            r.skip('names', question, 'out of time')
        return
    if rc or not run.summary:
        r.put('names', 'name and UUID', f'rc {rc} and {run.rc}: {last_words(err + run.err)}', False)
        return
    seen = json.loads(text)
    guarded(r, 'name and UUID', ask_names, seen, run)
    guarded(r, 'the device', ask_device, seen, run)
    guarded(r, 'price of this GPU', ask_price, run, provider_of(dmi_strings()))


def guarded(r, question, ask, *args):
    """One question that breaks leaves the others theirs."""
    try:
        ask(r, *args)
    except Exception as error:
        r.put('names', question, f'broke: {error!r}', False)


def part(r, out):
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        # It asks every Python of PATH: this one and the system's are enough.
        path = os.pathsep.join((os.path.dirname(sys.executable), '/usr/bin', '/bin'))
        asked = beside.submit(base.run, [base.CLI, 'doctor'], 60, PATH=path)
        guarded(r, 'name and UUID', ask_gpu, out)
        guarded(r, 'every GPU of the catalogue by its name', ask_catalogue, out)
        rc, doctor, err, _ = asked.result()
    if rc == 'timeout' and base.SIMULATED:
        r.skip('names', 'doctor', 'out of time')
        r.skip('names', 'DMI', 'out of time')
        return
    if rc == 'timeout':
        r.put('names', 'doctor', f'{rc}: {last_words(doctor + err)}', False)
        doctor = ''
    else:
        guarded(r, 'doctor', ask_doctor, doctor, rc)
    guarded(r, 'DMI', ask_dmi, doctor)
