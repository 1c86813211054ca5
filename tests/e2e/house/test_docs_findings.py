#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""The README's findings of real runs are what reports of these traces say: each sentence in quotation marks, and the
figures beside it. Without the traces (../shared) it is skipped."""
import os
import re
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs

TRACES = {'ResNet-50': 'resnet50_num_workers_0__383a0664.pt.trace.json.gz', 'OWLv2': 'h100_owlv2.json.gz',
          'A rank with CUDA graphs': 'negative_queue_length_values_check_rank0.json.gz'}
FOUR_WORKERS = 'resnet50_num_workers_4__3e633b5f.pt.trace.json.gz'
FINDING = re.compile(r'^- \*\*([^,*]+).*?"(.*?)[.]?"(.*)$', re.M)


def report(where, trace):
    """The report of a trace, blanks made one."""
    path = os.path.join(gs.SHARED, 'traces', trace)
    if not os.path.exists(path):
        gs.skip(f'no {path}')
    run = os.path.join(where, trace.split('.')[0])
    gs.equal(gs.gpustarve('import', path, '-o', run).returncode, 0, f'import {trace}')
    return ' '.join(gs.gpustarve('report', run + '.gst').stdout.decode().split())


with open(os.path.join(gs.SOURCE, 'README.md'), encoding='utf-8') as f:
    FINDINGS = FINDING.findall(f.read())
gs.equal([name for name, _, _ in FINDINGS], list(TRACES), 'findings')
with gs.scratch() as folder:
    texts = {name: report(folder, trace) for name, trace in TRACES.items()}
    for name, sentence, _ in FINDINGS:
        gs.check(sentence in texts[name], f'{name}: not in its report: {sentence}')
    four = report(folder, FOUR_WORKERS)
    starved, after, before = re.search(r'four workers: ([\d.]+ %), .*?(\d+) ms in place of (\d+)', FINDINGS[0][2]).groups()
    gs.check(f'median {before} ms' in texts['ResNet-50'], f'ResNet-50: a step of {before} ms')
    gs.check(f'median {after} ms' in four and re.search(rf'starved \(input\.\*\) [\d.]+ ms {starved}', four),
             f'ResNet-50, four workers: {starved}, {after} ms')
gs.finish()
