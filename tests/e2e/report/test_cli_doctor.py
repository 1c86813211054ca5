#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""doctor: on a machine without a GPU, on the simulated one, with parts missing, and with a libcupti
that is none."""
import glob
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs


def doctor(*front, **env):
    env.setdefault('PATH', '/usr/bin:/bin')  # doctor starts each Python of PATH, and wrappers of some take seconds
    done = gs.command([*front, gs.CLI, 'doctor'], env=gs.environment(**env))
    gs.equal(done.stderr, b'', 'nothing on stderr')
    return done.returncode, done.stdout.decode()


with gs.scratch() as where:
    status, text = doctor(LD_LIBRARY_PATH='')
    gs.equal(status, 0, f'a machine without a GPU is fine:\n{text}')
    gs.check(re.search(r'ok +libprof\.so', text), 'libprof is found')
    gs.check(re.search(r'ok +gpustarve-collector', text), 'the collector is found')
    if not glob.glob('/usr/lib/*/libcuda.so.1'):
        gs.check(re.search(r'missing +libcuda\.so\.1 .*; ', text), 'no driver, and what to do')

    gs.check(re.search(r'ok +own memory', text) or re.search(r'missing +own memory .*; ', text),
             'whether stacks can be read')
    for what in 'memory of children', '/proc syscall', '/proc schedstat', '/proc io':
        gs.check(re.search(rf'(ok|missing) +{what} ', text), f'{what} is told')
    gs.check(re.search(r'ok +CPU cores +\d+', text), 'the cores')
    gs.check(re.search(r'ok +python3 +3\.\d+\.\d+', text), f'the Python: {text}')

    # A Python that crashes and one that is too new are said to be so.
    for name, body in ('python3', 'kill -9 $$'), ('python3.12', 'echo 3.99.0 False False'):
        with open(os.path.join(where, name), 'w') as f:
            f.write(f'#!/bin/sh\n{body}\n')
        os.chmod(f.name, 0o755)
    status, text = doctor(PATH=where)
    gs.equal(status, 0, f'odd Pythons are no obstacle: {text}')
    gs.check(re.search(r'missing +python3 +it does not run', text), text)
    gs.check(re.search(r'missing +python3\.12 +3\.99\.0; its stacks are not known', text), text)

    for version, release in ('13', '13.0 U1'), ('12.6', '12.6'), ('12.4', '12.4'), ('11.8', '11.8'):
        status, text = doctor(gs.WITH_GPUSIM, GPUSIM_CUPTI=version, GPUSIM_DEVICES=2)
        gs.equal(status, 0, f'CUPTI {version}: {text}')
        gs.check(re.search(r'ok +GPU +1: NVIDIA H100 80GB HBM3 \(simulated\)', text), 'both GPUs')
        gs.check(f'CUDA {release}' in text, f'CUPTI {version} is told')
        gs.check(re.search(r'ok +record sizes +kernel \d+', text), f'record sizes of {version}')
        gs.equal('careful  libcupti' in text, version.startswith('12'), f'CUPTI {version}: {text}')
    # By what the busy share is known while kernels are not recorded. That of a NVML that hangs takes 20 s.
    for what, words, env in (
            ('GPM', 'ok +busy share +NVML.s GPU 1: GPM, also while kernels', {'GPUSIM_DEVICES': 2}),
            ('older', "ok +busy share +NVML.s GPU 0: the driver's samples, in whole percents", {'GPUSIM_NAME': 'NVIDIA A100'}),
            ('refused', "ok +busy share +NVML.s GPU 0: the driver's samples", {'GPUSIM_GPM': 'off'}),
            ('MIG', 'ok +busy share +NVML.s GPU 0: GPM of its MIG instances', {'GPUSIM_MIG': '0:1g.10gb'}),
            ('none', 'missing +busy share +NVML.s GPU 0: neither GPM nor utilisation samples; how busy',
             {'GPUSIM_MIG': '0:1g.10gb', 'GPUSIM_NAME': 'NVIDIA A100'}),
            ('hangs', 'missing +busy share +NVML.s GPU 0: no answer came; how busy', {'GPUSIM_GPM': 'hang'})):
        status, text = doctor(gs.WITH_GPUSIM, **env)
        gs.equal(status, 0, f'busy share, {what}: no obstacle')
        gs.check(re.search(words, text), f'busy share, {what}: {text}')
    status, text = doctor(gs.WITH_GPUSIM, GPUSIM_NVML='refuse')
    gs.check('busy share' not in text, f'busy share without NVML: {text}')
    status, text = doctor(gs.WITH_GPUSIM, GPUSIM_CUPTI='13.0')
    gs.check(status == 1 and re.search(r'BROKEN +libcupti .*version 130000 \(CUDA 13.0\)', text), f'CUPTI 13.0: {text}')
    for kind, words in ('endless', 'CUDA 13.2: beside a driver that it cannot use'), \
            ('silent', 'CUDA 13.3 or newer by what it exports: it answers only beside a driver'):
        status, text = doctor(GPUSTARVE_CUPTI=os.path.join(gs.BUILD, 'gpusim', f'cupti-{kind}', 'libcupti.so.13'))
        gs.equal(status, 0, f'a {kind} one: {text}')
        gs.check(re.search(rf'missing +libcupti .*{words}', text), f'a {kind} one: {text}')

    status, text = doctor(GPUSTARVE_LIB=os.path.join(where, 'none.so'))
    gs.equal(status, 1, 'without libprof a job would run unrecorded')
    gs.check('BROKEN   libprof.so' in text, text)
    status, text = doctor(GPUSTARVE_OUT=os.path.join(gs.CLI, 'below', 'a', 'file'))
    gs.check(status == 1 and 'BROKEN   run directories' in text, text)
    status, text = doctor(GPUSTARVE_CUPTI=glob.glob('/lib/*-linux-gnu/libz.so.1')[0])
    gs.check('libz' in text and 'BROKEN   libcupti' in text, f'a library that is no CUPTI: {text}')
    gs.check(re.search(r'GPUSTARVE_CUPTI .*; is /lib', text), 'the environment is listed')

    real = [p for p in glob.glob('/usr/local/cuda*/lib*/libcupti.so.13') +
            glob.glob('/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.13') if os.path.exists(p)]
    if real:
        status, text = doctor(GPUSTARVE_CUPTI=real[0])
        gs.check(re.search(r'ok +libcupti +.*version 13\d{4} \(CUDA 13', text), f'the real one: {text}')
        gs.check('kernel 216, memcpy 96, memset 88, api 40, graph trace 56, '
                 'peer copy 96, synchronisation 56' in text, 'its records')
gs.finish()
