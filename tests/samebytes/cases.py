# SPDX-License-Identifier: Apache-2.0
"""What tests/same plays with both builds. A case is a name and what it does in a world; every text, status and
file that comes out is compared. Nothing of the tests' other helpers is used: inputs are there already."""
import glob
import os
import re
import subprocess

import collecting

# Short words for what a build's programs are asked.
WINDOWS = [], ['--window', 'device']
CHECK_FORMATS = 'text', 'json', 'junit', 'github', 'gitlab', 'markdown'
EXPORTS = 'perfetto', 'kineto', 'sqlite', 'folded', 'pprof', 'prometheus', 'focus', 'csv'
TABLES = 'gaps', 'classes', 'gpus', 'steps'
BY = ('team', 'user', 'account', 'project', 'partition', 'qos', 'cluster', 'gpu', 'model', 'week', 'end', 'class',
      'line', 'fix', 'failed', 'bill', 'label:experiment')
COMMANDS = ('run', 'top', 'report', 'verify', 'check', 'import', 'export', 'job', 'dump', 'digest', 'fleet', 'prices',
            'doctor')
QUICK = ('live-loader', 'made-classes', 'made-hostile', 'ranks-eight', 'made-killed', 'processes', 'tiny',
         'bad-flipped-made-classes', 'live-ranks')


class Case:
    """Commands in turn, in a folder of their own. {out} in a word is that folder; {in} the inputs; {tmp} below {out},
    and not compared."""

    def __init__(self, name, *commands, stdin=None, quick=True, masks=(), **env):
        self.name, self.commands, self.stdin = re.sub(r'[^\w.=:-]+', '_', name), commands, stdin
        self.quick, self.masks, self.env = quick, masks, env

    def play(self, world, own):
        told, words = {}, {'out': '.', 'in': 'in', 'tmp': 'tmp'}
        os.makedirs(os.path.join(own, 'tmp'))
        os.symlink(os.path.join(world.root, 'in'), os.path.join(own, 'in'))
        fill = lambda w: re.sub(r'\{(out|in|tmp)\}', lambda m: words[m[1]], w)  # noqa: E731
        stdin = self.stdin and open(os.path.join(world.root, fill(self.stdin)), 'rb').read()
        for i, argv in enumerate(self.commands):
            got = world.command([fill(w) for w in argv], stdin, own, **{k: fill(v) for k, v in self.env.items()})
            for what, data in zip(('status', 'stdout', 'stderr'), got):
                told[f'{i} {" ".join(argv)}: {what}'] = data
        return told


class Played(Case):
    """A case of another kind: @act gets the world and a folder of its own."""

    def __init__(self, name, act, quick=True, masks=()):
        super().__init__(name, quick=quick, masks=masks)
        self.act = act

    def play(self, world, own):
        return self.act(world, own)


def gpustarve(*words):
    return ['gpustarve', *words]


def names(inputs, folder='runs'):
    return sorted(f[:-4] for f in os.listdir(os.path.join(inputs, folder)) if f.endswith('.gst'))


# ---- one run ------------------------------------------------------------------------------------

def of_run(name):
    """Of small and of broken ones the main things, of all others everything."""
    run, quick = '{in}/runs/' + name + '.gst', name in QUICK
    for form in 'text', 'json', 'html':
        yield Case(f'report-{form}-{name}', gpustarve('report', run, '--format', form), quick=quick)
    yield Case(f'report-device-{name}', *[gpustarve('report', run, '--format', f, '--window', 'device')
                                          for f in ('text', 'json')], quick=False)
    yield Case(f'export-tables-{name}', *[gpustarve('export', run, '--format', 'csv', '--table', t) for t in TABLES],
               gpustarve('export', run, '--format', 'folded', '-q'), quick=quick)
    yield Case(f'dump-{name}', *[gpustarve('dump', run, *o) for o in
                                 ([], ['--steps'], ['--streams'], ['--samples'], ['--batches'])], quick=quick)
    yield Case(f'digest-{name}', gpustarve('digest', run, '--revision', '7'),
               gpustarve('digest', run, '--revision', '8', '--price', '2.5', '--team', 'vision', '-o', '{out}/d.json'),
               quick=quick)
    yield Case(f'verify-{name}', gpustarve('verify', run), quick=quick)
    if quick or name.startswith(('live-', 'made-', 'ranks-', 'real-')):
        yield from of_whole_run(name, run, quick)


def of_whole_run(name, run, quick):
    yield Case(f'report-html-device-{name}', gpustarve('report', run, '--format', 'html', '--window', 'device'), quick=False)
    yield Case(f'report-price-{name}', gpustarve('report', run, '--price', '3.60'),
               gpustarve('report', run, '--price-model', 'spot', '--format', 'json'), quick=quick)
    yield Case(f'report-no-projection-{name}', gpustarve('report', run, '--no-projection'),
               gpustarve('report', run, '--no-projection', '--format', 'html'), quick=quick)
    yield Case(f'report-waste-{name}', gpustarve('report', run, '--waste', 'input.*,host.sync,comm.skew'),
               gpustarve('report', run, '--waste', 'device.*', '--format', 'json'),
               gpustarve('report', run, '--waste', 'comm*', '--format', 'html'), quick=quick)
    yield Case(f'report-file-{name}', gpustarve('report', run, '-o', '{out}/r.txt'),
               gpustarve('report', run, '--format', 'html', '-o', '{out}/r.html'), quick=False)
    yield Case(f'verify-made-{name}', ['/bin/cp', '-a', run, '{tmp}/r.gst'],
               gpustarve('report', '{tmp}/r.gst', '--format', 'json', '-o', '{tmp}/r.gst/summary.json'),
               gpustarve('report', '{tmp}/r.gst', '--format', 'html', '-o', '{tmp}/r.gst/report.html'),
               gpustarve('verify', '{tmp}/r.gst'), gpustarve('report', '{tmp}/r.gst/summary.json'),
               gpustarve('report', '{tmp}/r.gst/summary.json', '--format', 'html'),
               gpustarve('report', '{tmp}/r.gst/summary.json', '--format', 'json'),
               ['/bin/sed', '-i', r's/\("busy_ns": [0-9]*\)/\11/; s/"verdict": "[a-z]*/&x/', '{tmp}/r.gst/summary.json'],
               gpustarve('verify', '{tmp}/r.gst'), gpustarve('verify', '-q', '{tmp}/r.gst'), quick=quick)
    for table in EXPORTS:
        yield Case(f'export-{table}-{name}', gpustarve('export', run, '--format', table, '-o', '{out}/e', '--price', '2.5'),
                   quick=quick and table in ('focus', 'kineto', 'sqlite'))
    yield Case(f'export-other-{name}', gpustarve('export', run, '--format', 'prometheus', '--window', 'device'),
               gpustarve('export', run, '--format', 'focus'), gpustarve('export', run, '--format', 'perfetto', '-q'),
               gpustarve('export', run, '--format', 'kineto', '-o', '{out}/k/'), quick=False)
    yield Case(f'digest-stored-{name}', gpustarve('digest', run, '--revision', '9', '--store', 'sqlite:{tmp}/s.sqlite', '--budget', 'run=0.000001'),
               gpustarve('fleet', '--store', 'sqlite:{tmp}/s.sqlite', '--format', 'json'), quick=quick)
    yield Case(f'top-{name}', gpustarve('top', '--once', run), gpustarve('top', run),
               gpustarve('top', '--once', '--sort', 'rank', '--price', '2.5', run), quick=quick)
    yield Case(f'check-{name}', gpustarve('check', run, '--budget', 'starved_pct<=10', '--budget', 'wasted_usd<=1',
                                          '--budget', 'step_ms_p95<=250', '--budget', 'input.fetch_pct<=5'),
               gpustarve('check', run, '--format', 'json', '--budget', 'gpu_hours>=0.001'), quick=quick)


# ---- several runs -------------------------------------------------------------------------------

def comparisons():
    sets = [('made-starved', 'made-classes'), ('tiny', 'tiny-slow', 'tiny-other'), ('ranks-eight', 'ranks-late'),
            ('live-loader', 'live-loader-jpeg', 'live-loader-inline'), ('made-evidence', 'made-evidence'),
            ('made-hostile', 'made-killed'), ('real-resnet50_num_workers_0__383a0664',
                                              'real-resnet50_num_workers_4__3e633b5f')]
    for runs in sets:
        paths = ['{in}/runs/' + r + '.gst' for r in runs]
        for more in [], ['--runs-per-month', '120'], ['--price', '2.50', '--window', 'device']:
            yield Case('compare-' + '-'.join([*runs, *more]),
                       *[gpustarve('report', *paths, *more, '--format', f) for f in ('text', 'json', 'html')],
                       quick=not more and 'made-classes' in runs)
    yield Case('compare-summaries', gpustarve('report', '{in}/runs/made-starved.gst/summary.json',
                                              '{in}/runs/made-classes.gst/summary.json'),
               gpustarve('report', '{in}/runs/made-starved.gst/summary.json', '{in}/runs/tiny.gst', '{in}/none', '{in}/x'))


def golden(source):
    """Summaries that are kept beside the tests, as they were when the inputs were made."""
    for path in sorted(glob.glob(os.path.join(source, 'kept', '*.json'))):
        file = '{in}/kept/' + os.path.basename(path)
        yield Case('kept-' + os.path.basename(path), *[gpustarve('report', file, '--format', f)
                                                       for f in ('text', 'json', 'html')],
                   gpustarve('digest', file, '--revision', '1'))


# ---- the gate, jobs, fleet, prices --------------------------------------------------------------

def gate():
    at = '{in}/gate/'
    base = ['--baseline', at + 'baseline.json']
    for name in 'same-4', 'slower', 'waits', 'short', 'other':
        run = at + name + '.gst'
        for form in CHECK_FORMATS:
            yield Case(f'gate-{name}-{form}', gpustarve('check', run, *base, '--format', form, '--budget', 'starved_pct<=20',
                                                        '--budget', 'usd<=0.001', '--price', '2.5'),
                       gpustarve('check', run, *base, '--format', form),
                       quick=name == 'waits')
        yield Case(f'gate-{name}-options', gpustarve('check', run, *base, '--alpha', '0.2', '--min-effect', '0', '--warmup', '3'),
                   gpustarve('check', run, '--baseline', at + 'same-0.gst', '--run-spread', '0'),
                   gpustarve('check', run, '--faster', '2', '--budget', 'starved_pct<=20'),
                   gpustarve('check', run, '--scale-to', '8', '--format', 'json'),
                   gpustarve('check', run, '--faster', '2', '--scale-to', '4', '--format', 'markdown'),
                   gpustarve('check', run, '--baseline', '{tmp}/none.json'),
                   gpustarve('check', run, '--baseline', '{tmp}/none.json', '--require-baseline'),
                   gpustarve('check', run, '--baseline', '{tmp}/none.json', '--fail-on-warn', '--also', 'junit={out}/j.xml',
                             '--also', 'gitlab={out}/g.json', '-o', '{out}/text'),
                   gpustarve('check', run, '--baseline', '{out}/new.json', '--update-baseline'),
                   gpustarve('check', at + 'same-1.gst', '--baseline', '{out}/new.json', '--add-to-baseline'),
                   gpustarve('check', at + 'same-2.gst', '--baseline', '{out}/new.json', '--window', 'device'), quick=False)
    yield Case('gate-several', gpustarve('check', at + 'same-0.gst', at + 'slower.gst', *base, '--format', 'json'),
               gpustarve('check', at + 'same-0.gst', at + 'same-1.gst', '--baseline', at + 'slower.gst'))


def jobs():
    here = ['--dir', '{in}/jobs']
    for form in 'text', 'json', 'html':
        yield Case(f'job-report-{form}', gpustarve('report', '--job', '9', *here, '--format', form, '--price', '3.60'),
                   gpustarve('report', '{in}/jobs/c1-9.job', '--format', form))
    yield Case('job-other', gpustarve('report', '--job', '10', *here), gpustarve('report', '--job', '9', '--cluster', 'x', *here),
               gpustarve('report', '--job', '9_1', *here), gpustarve('report', '--job', 'x', *here),
               gpustarve('job', 'list', *here), gpustarve('job', 'comment', '9', *here, '--price', '3.60'),
               gpustarve('job', 'comment', '9', *here, '--cluster', 'c1'), gpustarve('job', 'comment', '4', *here),
               gpustarve('job', 'list', '--dir', '{in}/runs'), gpustarve('verify', '{in}/jobs/c1-9.job'),
               gpustarve('dump', '{in}/jobs/c1-9.job', '--streams'), gpustarve('digest', '{in}/jobs/c1-9.job', '--revision', '1'),
               gpustarve('export', '{in}/jobs/c1-9.job', '--format', 'focus', '--price', '2'),
               gpustarve('check', '{in}/jobs/c1-9.job', '--budget', 'wasted_pct<=3'))
    yield Case('job-hooks', ['/bin/mkdir', '{out}/o'], gpustarve('job', 'begin', '--dir', '{out}/o'),
               gpustarve('job', 'end', '--dir', '{out}/o'), gpustarve('job', 'list', '--dir', '{out}/o'),
               SLURM_JOB_ID='77', SLURM_JOB_GPUS='0,2', SLURM_CLUSTER_NAME='c1', SLURM_JOB_START_TIME='1798761000',
               SLURM_JOB_UID='0', SLURM_JOB_USER='root', SLURMD_NODENAME='n1', SLURM_JOB_ACCOUNT='ml',
               SLURM_JOB_PARTITION='gpu', GPUSTARVE_NVML='/nonexistent', LD_LIBRARY_PATH='')
    yield Case('job-no-job', ['/bin/mkdir', '{out}/o'], gpustarve('job', 'begin', '--dir', '{out}/o'),
               gpustarve('job', 'end', '--dir', '{out}/none'), gpustarve('job'), gpustarve('job', 'what'))


def fleet():
    store = ['--store', 'sqlite:{in}/fleet.sqlite']
    for form in 'text', 'json', 'csv', 'html':
        yield Case(f'fleet-{form}', gpustarve('fleet', *store, '--format', form),
                   gpustarve('fleet', *store, '--format', form, '--links', '--top', '3', '--team', 'speech'),
                   gpustarve('fleet', *store, '--format', form, '--since', '2026-03-16', '--until', '2026-03-30'))
        for by in BY:
            yield Case(f'fleet-{form}-{by}', gpustarve('fleet', *store, '--format', form, '--by', by), quick=form in ('text', 'json'))
    yield Case('fleet-label', *[gpustarve('fleet', *store, '--require-label', label, '--format', f)
                                for label in ('team', 'ticket', 'user') for f in ('text', 'json', 'csv', 'html')])
    yield Case('fleet-budget', ['/bin/cp', '{in}/fleet.sqlite', '{tmp}/f'],
               *2 * [gpustarve('fleet', '--store', 'sqlite:{tmp}/f', '--budget', b) for b in
                     ('run=100', 'team=2000/month', 'team:speech=100/week')],
               gpustarve('fleet', '--store', 'sqlite:{tmp}/f', '--budget', 'run=3', '--format', 'json',
                         '--exec', 'echo "$GPUSTARVE_ALERT_TEXT" >/dev/null'))
    yield Case('fleet-since', *[gpustarve('fleet', *store, '--since', t, '--by', 'week') for t in
                                ('12h', '30d', '60w', '2026-02-01T14:00:00Z', 'x', '2026-13-01', '-1d')])
    yield Case('fleet-made', gpustarve('digest', '--from', '{in}/digests.jsonl', '--store', 'sqlite:{out}/s.sqlite'),
               gpustarve('digest', '--from', '{in}/odd.jsonl', '--store', 'sqlite:{out}/s.sqlite'),
               gpustarve('fleet', '--store', 'sqlite:{out}/s.sqlite', '--format', 'json'),
               gpustarve('fleet', '--store', 'sqlite:{out}/s.sqlite', '--by', 'bill', '--format', 'csv'))
    yield Case('fleet-stdin', gpustarve('digest', '--from', '-', '--store', 'sqlite:{tmp}/s.sqlite'),
               gpustarve('fleet', '--store', 'sqlite:{tmp}/s.sqlite'), stdin='{in}/odd.jsonl')
    yield Case('fleet-wrong', *[gpustarve('fleet', '--store', s) for s in
                                ('mysql:x', 'sqlite:', 'x', 'sqlite:{tmp}/none', 'sqlite:{in}/digests.jsonl',
                                 'clickhouse://127.0.0.1:9/d', 'clickhouse://h', 'clickhouse://u:p@h:1/d?x=1')],
               gpustarve('digest', '--flush', '--store', 'clickhouse://127.0.0.1:9/d?outbox={tmp}/o'),
               gpustarve('digest', '{in}/runs/tiny.gst', '--revision', '1', '--store', 'clickhouse://127.0.0.1:9/d?outbox={tmp}/o'),
               gpustarve('digest', '--flush', '--store', 'clickhouse://127.0.0.1:9/d?outbox={tmp}/o'))


def prices():
    shows = ['NVIDIA H100 80GB HBM3', 'NVIDIA A100-SXM4-80GB', 'h100', 'Prototype 9', 'NVIDIA L4 (simulated)', '']
    yield Case('prices', gpustarve('prices'), gpustarve('prices', 'list'), *[gpustarve('prices', 'show', g) for g in shows],
               *[gpustarve('prices', 'show', shows[0], '--price-model', m) for m in ('spot', 'reserved', 'owned', 'x')],
               gpustarve('prices', 'show'), gpustarve('prices', 'import'), gpustarve('prices', 'what'))
    yield Case('prices-built-in', gpustarve('prices'), *[gpustarve('prices', 'show', g) for g in shows], GPUSTARVE_PRICES='/none')
    yield Case('prices-variable', gpustarve('prices', 'show', 'NVIDIA L4'), GPUSTARVE_USD_PER_GPU_HOUR='1.25')
    yield Case('prices-bad-variable', gpustarve('prices', 'show', 'NVIDIA L4'), GPUSTARVE_USD_PER_GPU_HOUR='x')
    yield Case('prices-import', gpustarve('prices', 'import', '{in}/prices.csv', '-o', '{out}/p.csv'),
               gpustarve('prices', 'import', '{in}/words.csv', '-o', '{out}/p.csv'),
               gpustarve('prices', 'import', '{in}/vms.csv', '-o', '{out}/p.csv', '--provider', 'aws', '--date', '2026-01-01'),
               gpustarve('prices', 'import', '{in}/vms.csv', '-o', '{out}/p.csv', '--date', 'x'))


def imports(inputs):
    folder = os.path.join(inputs, 'traces')
    for name in sorted(os.listdir(folder)):
        yield Case('import-' + name, gpustarve('import', '{in}/traces/' + name, '-o', '{tmp}/r'),
                   gpustarve('dump', '{tmp}/r.gst'), gpustarve('report', '{tmp}/r.gst'),
                   gpustarve('import', '{in}/traces/' + name, '-o', '{tmp}/r'), quick=not name.startswith('real-'))
    yield Case('import-two', gpustarve('import', '{in}/traces/tiny.json', '{in}/traces/tiny-slow.json', '-o', '{tmp}/r', '-q'),
               gpustarve('dump', '{tmp}/r.gst'), gpustarve('import', '{in}/none', '-o', '{tmp}/n'), gpustarve('import'))


# ---- what is not a run --------------------------------------------------------------------------

def elsewhere():
    yield Case('doctor', gpustarve('doctor'), masks=[(rb'(?m)^.*$', b'', 'doctor: what is of the machine')])
    yield Case('folders', *[gpustarve(c, p) for c in ('report', 'verify', 'dump', 'digest', 'top', 'check') for p in
                            ('{in}', '{in}/none.gst', '{in}/digests.jsonl', '/dev/null', '{in}/runs/bad-text.gst')])
    yield Case('top-folder', gpustarve('top', '--once', '{in}/runs'), gpustarve('top', '--once', '{in}/runs', '--run', 'x'),
               gpustarve('top', 'unix:{tmp}/x'), gpustarve('top', '--once', 'http://127.0.0.1:9'))
    env = {'GPUSTARVE_RUN_ID': 'fixed'}
    masks = [(rb'\d+(\.\d+)? (ms|s)\b', b'TIME', 'run: how long'), (rb'"(start|wall)[a-z_]*": \d+', b'*', 'run.json: times')]
    yield Case('run-true', gpustarve('run', '-o', '{tmp}/r', '--', '/bin/true'), gpustarve('run', '-o', '{tmp}/s', '-q', '--',
               '/bin/sh', '-c', 'echo out; echo err >&2; exit 3'), masks=masks, **env)
    yield Case('run-none', gpustarve('run', '-o', '{tmp}/r', '--', '/none'), gpustarve('run', '-o', '{tmp}/r', '--', '/'),
               gpustarve('run', '-o', '/proc/x', '--', '/bin/true'), gpustarve('run'), gpustarve('run', '--'), masks=masks, **env)
    yield Case('version', gpustarve('--version'), gpustarve('-h'), gpustarve('help'), gpustarve('help', 'report'), gpustarve(),
               gpustarve('reprot'), gpustarve('--what'), gpustarve('version'), ['gpustarve-collector', '--version'],
               ['gpustarve-collector'], ['gpustarve-collector', 'x'])


def options_of(world, *command):
    """The options that a command's help names, of the old build."""
    _, out, err = world.command([*command, '--help'])
    return sorted({o.decode() for o in re.findall(rb'(?<![\w-])--?[a-z][a-z-]*', out + err)})


BAD = 'xyzzy', '', '-1', '99999999999999999999'


def usage(world):
    """Every option without its value, with wrong ones, shortened, misspelt, and given twice."""
    for command in COMMANDS:
        there = {'run': ['--', '/bin/true'], 'import': ['-o', '{tmp}/x'], 'doctor': [], 'job': ['list'], 'fleet': [],
                 'prices': ['show', 'NVIDIA L4']}.get(command, ['{in}/runs/tiny.gst'])
        yield Case(f'help-{command}', gpustarve(command, '--help'), gpustarve(command, '-h'), gpustarve(command, '--what'),
                   gpustarve(command, '-?'), gpustarve(command, '--', 'x', 'y'), gpustarve(command), gpustarve(command, 'a', 'b', 'c'),
                   gpustarve(command, '--formt', 'x', *there), gpustarve(command, '-z', *there),
                   masks=[(rb'run [0-9a-zA-Z-]+', b'run ID', 'run: its id')] if command == 'run' else ())
        for option in options_of(world, 'gpustarve', command):
            if command == 'check' and option == '--replay' or command == 'top' and option == '--interval':
                wrong = [[option, b] for b in BAD[:2]]
            else:
                wrong = [[option, b, *there] for b in BAD]
            masks = [(rb'(?s).+', b'', 'run: all that it tells')] if command == 'run' else ()
            yield Case(f'wrong-{command}{option}', gpustarve(command, option, *there), gpustarve(command, *there, option),
                       masks=masks, GPUSTARVE_OUT='{tmp}/runs')
            yield Case(f'usage-{command}{option}', gpustarve(command, option[:-1], 'x', *there),
                       gpustarve(command, option + 'e', 'x', *there),
                       *[gpustarve(command, *w) for w in wrong[:3 if command == 'run' else None]],
                       quick=False, GPUSTARVE_OUT='{tmp}/runs', masks=masks)
    yield from collecting.usage(world, Case, options_of)


# ---- completion ---------------------------------------------------------------------------------

BASH = r'''
source "$1"
while IFS= read -r line; do
	IFS=$'\t' read -r -a COMP_WORDS <<<"$line."
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]%.}
	COMPREPLY=()
	how=$(complete -p "${COMP_WORDS[0]}")
	[[ $how =~ -F\ ([^ ]+) ]] && "${BASH_REMATCH[1]}"
	printf '%s: %s\n' "$line" "${COMPREPLY[*]}"
done
'''


def completion(world, lines):
    """What bash offers behind each line."""
    def act(w, own):
        done = subprocess.run(['bash', '--norc', '-c', BASH, 'bash', w.source], input='\n'.join(lines) + '\n', text=True,
                              cwd=own, env={'PATH': '/usr/bin:/bin', 'HOME': own}, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=100)
        return {'bash': done.stdout.encode(), 'bash: stderr': done.stderr.encode().replace(w.source.encode(), b'@')}
    return Played('completion', act, quick=False)


def completed(world):
    lines = ['gpustarve\t', 'gpustarve\tre', 'gpustarve\t-', 'gpustarve-collector\t', 'gpustarve-collector\t--']
    for command in COMMANDS:
        lines += [f'gpustarve\t{command}\t', f'gpustarve\t{command}\t-', f'gpustarve\t{command}\t--']
        for option in options_of(world, 'gpustarve', command):
            lines.append(f'gpustarve\t{command}\t{option}\t')
    for option in options_of(world, 'gpustarve-collector'):
        lines.append(f'gpustarve-collector\t{option}\t')
    yield completion(world, lines)


def all_cases(world, inputs):
    """All of them; @world is the old build's, whose help names the options."""
    out = []
    for name in names(inputs):
        out += of_run(name)
    for part in comparisons(), golden(inputs), gate(), jobs(), fleet(), prices(), imports(inputs), elsewhere(), usage(world), \
            completed(world), collecting.sessions(Played, Case):
        out += part
    twice = {c.name for c in out if sum(d.name == c.name for d in out) > 1}
    assert not twice, twice
    return out
