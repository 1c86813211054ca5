# SPDX-License-Identifier: Apache-2.0
"""A program under gpustarve and all that is asked of every such run, whatever it does: nothing lost,
nothing invalid, classes that sum to the held time, a trace that verifies."""
import json
import os

import base
import counting


def faults_of(summary, level):
    """What of a summary.json must not be so, in words."""
    found, quality = [], summary['quality']
    for key in ('dropped', 'invalid', 'frames_missing', 'damage_bytes'):
        if quality.get(key):
            found.append(f'{key} {quality[key]}')
    lost = sum(g['ops_without_launch'] for g in summary['gpus'])
    if lost and level > 0:
        found.append(f'{lost} operations without launch')
    for place in summary['gpus']:
        if sum(place['classes'].values()) != place['held_ns']:
            found.append(f'classes of GPU {place["index"]} sum to {sum(place["classes"].values())} '
                         f'of {place["held_ns"]} ns held')
    led = summary['ledger']
    total = sum(v['ns'] for v in led['classes'].values())
    if total != led['gpu_ns']:
        found.append(f'classes sum to {total} of {led["gpu_ns"]} ns')
    return found


def unended(text):
    """Streams of a dump that hold operations and have no last word: their process was cut off. (One
    without operations may be a helper that a framework kills.)"""
    silent = {line.split('\t')[1] for line in text.splitlines()
              if line.startswith('# frames\t') and line.endswith('\tended without a last word')}
    return sorted(s for s in silent if any(
        line.startswith(s) and line.split('\t')[1].split('-')[0] in counting.OPS
        for line in text.splitlines()))


def last_words(text, most=200):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][-most:] if lines else 'nothing printed'


class Run:
    """@argv under gpustarve run; '{times}' in it is a file for the program's own stamps, in rows of
    numbers unless @rows says otherwise; @options are gpustarve's."""

    def __init__(self, name, argv, out, level=1, timeout=100, rows=True, options=(), **env):
        self.name, self.level = name, level
        times = os.path.join(out, name + '.steps')
        options = [*options, *([] if level == 1 else ['--level', level])]
        argv = [times if a == '{times}' else a for a in argv]
        self.rc, self.said, self.err, self.dir, self.summary = base.traced(
            name, argv, out, options, timeout, **env)
        self.ops, self.calls, self.steps, self.text = [], {}, [], ''
        self.dumped = self.verified = None
        if self.dir:
            self.read()
        if rows and os.path.exists(times):
            self.steps = counting.read_steps(times)

    def read(self):
        self.dumped, self.text, _, _ = base.run([base.CLI, 'dump', self.dir], 60)
        self.ops, self.calls = counting.of_dump(self.text)
        self.verified, text, err, _ = base.run([base.CLI, 'verify', self.dir], 60)
        self.verify_text = (text + err)[-1000:]

    @property
    def late(self):
        """Was it, or what looked at it, ended for want of time? On the simulator that is nothing to
        judge: its machine may be busy."""
        return 'timeout' in (self.rc, self.dumped, self.verified)

    def faults(self):
        if self.rc != 0:
            return [f'rc {self.rc}: {last_words(self.err)}']
        if not self.summary:
            return ['no summary: ' + last_words(self.err)]
        found = faults_of(self.summary, self.level)
        if self.dumped != 0:
            found.append(f'dump says {self.dumped}')
        if self.verified != 0:
            found.append(f'verify says {self.verified}: {last_words(self.verify_text)}')
        found += [f'stream {s[:8]} has no last word' for s in unended(self.text)]
        ops = sum(g['ops'] for g in self.summary['gpus'])
        if ops != len(self.ops):
            found.append(f'{ops} operations in the summary, {len(self.ops)} in the trace')
        return found

    def steady(self, warm):
        return counting.Steady(counting.in_steps(self.ops, self.steps)[0], warm)

    def told(self):
        """What the program printed last, which is JSON."""
        try:
            return json.loads(self.said.strip().splitlines()[-1])
        except (ValueError, IndexError):
            return {}

    def data(self):
        """For the answers' data: the verdict as it was printed and the counts."""
        counted = counting.count(self.ops)
        return dict(run=self.dir, rc=self.rc, level=self.level, stderr=self.err[-4000:],
                    advice=(self.summary or {}).get('advice'),
                    kinds=dict(counting.kinds(counted)), calls=dict(self.calls),
                    names={counting.label(k)[:200]: n for k, n in counted.most_common(60)})


class Profile:
    """The same program under torch.profiler, in a run of its own."""

    def __init__(self, name, argv, out, timeout=100, **env):
        path, times = (os.path.join(out, name + end) for end in ('.profile', '.profile-steps'))
        argv = [times if a == '{times}' else a for a in argv]
        self.rc, _, self.err, _ = base.run([*argv, '--profile', path], timeout, **env)
        self.ops, self.others, self.steps = [], {}, []
        if self.rc == 0:
            self.ops, self.others = counting.of_profile(path)
            self.steps = counting.read_steps(times)

    @property
    def late(self):
        return self.rc == 'timeout'

    def steady(self, warm):
        return counting.Steady(counting.in_steps(self.ops, self.steps)[0], warm)

    def data(self):
        counted = counting.count(self.ops)
        return dict(rc=self.rc, others=self.others, kinds=dict(counting.kinds(counted)),
                    stderr='' if self.rc == 0 else self.err[-2000:],
                    names={counting.label(k)[:200]: n for k, n in counted.most_common(60)})
