#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the webhook takes to answer: 50 reviews of pods a second over TLS, as an API server asks, on a connection that
stays and on one for each; and a pod of 1.4 MB among them. Prints the middle, the 99th percentile and the worst."""
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, sys.path[0] + '/../lib')
import admitting
import collector as c
from admitting import GPU, container, pod, review

A_SECOND, SECONDS = 50, float(os.environ.get('GS_SECONDS', '10'))


def play(hook, asked, kept):
    """Times of answers in ms. Who is late asks at once."""
    k = hook.connect() if kept else None
    took, start = [], time.monotonic()
    for i in range(int(A_SECOND * SECONDS)):
        time.sleep(max(0, start + i / A_SECOND - time.monotonic()))
        begin = time.monotonic()
        status, answer = hook.post(asked, k)
        took.append((time.monotonic() - begin) * 1000)
        assert status == 200 and b'"patch"' in answer
    rate = len(took) / (time.monotonic() - start)
    if k:
        k.close()
    return rate, sorted(took)


def main():
    env = [{'name': f'V{i}', 'value': 'x' * 100} for i in range(40)]
    small = json.dumps(review(pod(container(resources=GPU, env=env), container('sidecar', env=env)))).encode()
    huge = json.dumps(review(pod(container(resources=GPU, env=env * 280)))).encode()
    with tempfile.TemporaryDirectory(prefix='gpustarve-admission-') as root, \
            admitting.Webhook(c.bin_dir(), root) as hook:
        for what, asked, kept in (('a connection that stays', small, True), ('a connection each', small, False),
                                  ('a connection that stays, huge pods', huge, True)):
            rate, took = play(hook, asked, kept)
            print(f'{what}, {len(asked):,} bytes: {rate:.1f} a second; p50 {took[len(took) // 2]:.2f} ms, '
                  f'p99 {took[len(took) * 99 // 100]:.2f} ms, worst {took[-1]:.2f} ms', flush=True)


main()
