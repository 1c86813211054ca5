# SPDX-License-Identifier: Apache-2.0
"""What scripts/demo compares. Exit status 1: it does not agree.

    demo_judge.py own LEDGER SUMMARY       the job's own clock with what was found
    demo_judge.py line SUMMARY FUNCTION    the line of what cost most with where it was planted
    demo_judge.py advised SUMMARY          prints how many workers the report advises
    demo_judge.py fixed BEFORE AFTER       what was promised with what came true"""
import json
import sys

NEAR_PCT = 2  # of the run
KEPT_PCT = 60  # of what was promised, which is what can be saved at most


def summary(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def own(ledger, path):
    with open(ledger, encoding='utf-8') as f:
        said = json.loads(f.readlines()[-1])
    found = summary(path)['ledger']
    told = said['exposed_ns'] + said['copy_ns']
    shares = [100 * ns / found['gpu_ns'] for ns in (told, found['starved_ns'])]
    print(f"by the job's own clock the GPU starved {told / 1e9:.2f} s = {shares[0]:.1f} %; gpustarve found "
          f"{found['starved_ns'] / 1e9:.2f} s = {shares[1]:.1f} %")
    return abs(shares[0] - shares[1]) <= NEAR_PCT


def line(path, function):
    most = max(summary(path)['findings'], key=lambda f: f['ns'])['where']
    print(f"what cost most is at {most['file']}:{most['line']} {most['function']}; planted in {function}")
    return most['function'] == function


def workers(s):
    """The numbers behind the advice of workers."""
    found = [a['numbers'] for a in s['advice'] if a['id'] == 'workers']
    if not found:
        sys.exit('gpustarve: demo: the report advises no number of workers')
    return found[0]


def fixed(before, after):
    old, new = summary(before), summary(after)
    told = workers(old)
    promised = told['step_ns'] - told['predicted_step_ns']
    takes = new['steps']['median_ns']
    kept = told['step_ns'] - takes
    print(f"{told['workers_advised']} workers in place of {told['workers_now']}: a step took {told['step_ns'] / 1e6:.1f} ms, was to take "
          f"at least {told['predicted_step_ns'] / 1e6:.1f} and takes {takes / 1e6:.1f}; "
          f'{100 * kept / promised:.0f} % of what was promised at most')
    return KEPT_PCT * promised <= 100 * kept <= 102 * promised


def main(what, *paths):
    if what == 'advised':
        print(workers(summary(*paths))['workers_advised'])
        return 0
    return 0 if {'own': own, 'line': line, 'fixed': fixed}[what](*paths) else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
