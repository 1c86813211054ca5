# SPDX-License-Identifier: Apache-2.0
# ctest: labels=e2e
"""What `gpustarve check` writes is read by something else: JUnit by an XML schema, code quality by a
JSON schema, annotations by GitHub's documented grammar; hostile names stay text. The steps
of the action and of the template run in a shell as their CI would run them."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml

sys.path.insert(0, sys.path[0] + '/../../lib')
import gating
import gs

HOSTILE = '<script>alert(1)</script> | ` "q" %0A::error::x \u202e \x1b[31m ::x,y:z'

JUNIT = os.path.join(gs.SOURCE, 'tests', 'data', 'junit.xsd')
SUMMARY_MAX = 1 << 20  # bytes that GitHub takes as a step's summary
QUALITY = {  # the members that GitLab's documentation asks for
    'type': 'array', 'items': {
        'type': 'object',
        'required': ['description', 'check_name', 'fingerprint', 'severity', 'location'],
        'properties': {
            'description': {'type': 'string', 'minLength': 1},
            'check_name': {'type': 'string', 'minLength': 1},
            'fingerprint': {'type': 'string', 'minLength': 1},
            'severity': {'enum': ['info', 'minor', 'major', 'critical', 'blocker']},
            'location': {
                'type': 'object', 'required': ['path', 'lines'],
                'properties': {
                    'path': {'type': 'string', 'pattern': '^[^/].*'},
                    'lines': {'type': 'object', 'required': ['begin'],
                              'properties': {'begin': {'type': 'integer', 'minimum': 1}}}}}}}}

# ::command property=value,...::message, values without : , % CR LF but as %XX
COMMAND = re.compile(r'::(error|warning|notice) ([a-zA-Z]+=(?:[^:,%\r\n]|%[0-9A-F]{2})*'
                     r'(?:,[a-zA-Z]+=(?:[^:,%\r\n]|%[0-9A-F]{2})*)*)::'
                     r'((?:[^%\r\n]|%[0-9A-F]{2})*)$')


def written(where, fmt, *args):
    path = os.path.join(where, 'out.' + fmt)
    done = gs.gpustarve('check', *args, '--format', fmt, '-o', path)
    gs.check(done.returncode in (0, 2, 4), f'{fmt}: {done.stderr.decode()}')
    with open(path, 'rb') as f:
        return f.read().decode('utf-8')


def quality_schema(quality):
    gs.equal(len({i['fingerprint'] for i in quality}), len(quality), 'fingerprints, each of one issue')
    try:
        import jsonschema
    except ImportError:
        return print('no jsonschema: the schema is not tried')
    jsonschema.validate(quality, QUALITY)


def xml_schema(text):
    """What xmllint says against the schema; None: it is right, or there is no xmllint."""
    if not shutil.which('xmllint'):
        return print('no xmllint: the schema is not tried')
    done = gs.command(['xmllint', '--noout', '--nonet', '--schema', JUNIT, '-'], input=text.encode())
    return done.stderr.decode() if done.returncode else None


def schema_can_fail(text):
    """Each of these is wrong, and the schema says so."""
    if not shutil.which('xmllint'):
        return
    for what, old, new in (('no name', ' name="', ' nom="'), ('a count that is none', 'tests="', 'tests="x'),
                           ('no class', ' classname="gpustarve"', ''),
                           ('of no kind', ' type="fail"', ''), ('a member of ours', '<failure', '<regression/><failure'),
                           ('not closed', '</testsuites>', '')):
        gs.check(old in text, f'{what}: nothing to change')
        gs.check(xml_schema(text.replace(old, new, 1)), f'{what}: the schema takes it')


def workflow_command(line):
    """A workflow command of the documented grammar with documented properties."""
    m = COMMAND.match(line)
    if not m:
        return False
    given = dict(p.split('=', 1) for p in m[2].split(','))
    return set(given) <= {'title', 'file', 'line', 'endLine', 'col', 'endColumn'} and (
        'line' not in given or given['line'].isdigit() and 'file' in given)


def outputs(where, args, failed):
    got = json.loads(written(where, 'json', *args))
    gs.equal(got['schema'], 'gpustarve.check/1', 'schema')
    gs.equal(got['judgements_failed'], failed, 'failed in JSON')
    junit = written(where, 'junit', *args)
    gs.equal(xml_schema(junit), None, 'JUnit against its schema')
    root = xml.fromstring(junit)
    gs.equal(len(root.findall('.//testcase')), len(got['judgements']), 'test cases')
    gs.equal(len(root.findall('.//failure')), failed, 'failures')
    gs.equal(int(root.get('failures')), failed, 'failures as counted')
    quality = json.loads(written(where, 'gitlab', *args))
    gs.equal(len(quality), failed, 'issues')
    quality_schema(quality)
    lines = written(where, 'github', *args).splitlines()
    for line in lines:
        gs.check(workflow_command(line), f'no workflow command: {line!r}')
    errors = [line for line in lines if line.startswith('::error ')]
    gs.equal(len(errors), min(failed, 10), 'annotations')
    return got, errors


def fingerprints(where, a, b):
    """The same thing wrong again has the same fingerprint, whatever the number."""
    def of(run):
        text = written(where, 'gitlab', run, '--budget', 'starved_pct<=1')
        return [i['fingerprint'] for i in json.loads(text)]
    gs.equal(of(a), of(b), 'fingerprints')


def together(where, args):
    """--also writes what --format does."""
    files = {fmt: os.path.join(where, 'also.' + fmt) for fmt in ('junit', 'github', 'gitlab', 'markdown', 'text')}
    done = gs.gpustarve('check', *args, '--format', 'json',
                        *[x for fmt, path in files.items() for x in ('--also', f'{fmt}={path}')])
    gs.equal(done.stdout.decode(), written(where, 'json', *args), 'json beside others')
    for fmt, path in files.items():
        with open(path, encoding='utf-8') as f:
            gs.equal(f.read(), written(where, fmt, *args), f'--also {fmt}')


def hostile(where, file):
    run = gating.run_of(where, 'hostile', [2_000_000] * 100, [200_000] * 100, gpu=HOSTILE)
    args = (run, '--baseline', file)
    got, errors = outputs(where, args, 1)
    gs.check('script' in got['judgements'][0]['message'], 'the name is in the message')
    gs.equal(len(errors), 1, 'one annotation, whatever the name holds')
    page = written(where, 'markdown', *args)
    gs.check('<script' not in page and '|  `' not in page, page)
    row = [line for line in page.splitlines() if 'script' in line]
    gs.equal(len(re.findall(r'(?<!\\)\|', row[0])), 5, 'columns of the table')
    for fmt in ('text', 'github', 'markdown', 'junit', 'json'):
        text = written(where, fmt, *args)
        gs.check('\x1b' not in text and '\u202e' not in text or fmt == 'json', fmt)


def many(where, run):
    budgets = [x for i in range(30) for x in ('--budget', f'starved_pct<=0.0{i + 1:02d}')]
    outputs(where, (run, *budgets), 30)
    lines = written(where, 'github', run, *budgets).splitlines()
    gs.check('and 21 more' in lines[9], lines[-1])
    page = written(where, 'markdown', *[run] * 60, *budgets)
    gs.check('and 1300 more' in page and len(page.encode()) < SUMMARY_MAX, f'{len(page)} of summary')


def incomparable(where, run, file, path):
    """What cannot be judged fails in action and template alike, unless it is to be a warning."""
    other = gating.run_of(where, 'other', [2_000_000] * 100, [200_000] * 100, gpu='NVIDIA A100')
    summary = os.path.join(where, 'incomparable.md')
    github = {'GITHUB_ACTIONS': 'true', 'GITHUB_STEP_SUMMARY': summary, 'GITHUB_OUTPUT': summary + '.out', 'RUNS': other,
              'BASELINE': file, 'GATE': os.path.join(gs.SOURCE, 'scripts', 'ci', 'gate')}
    gitlab = {'GPUSTARVE_RUNS': other, 'GPUSTARVE_CHECK': f'--baseline {file}'}
    for name, lines, more, warning in (('action', action_step(), github, b'::warning '),
                                       ('template', gating.template(), gitlab, b'gate: the gate could not judge')):
        for answer, status in (None, 4), ('fail', 4), ('warn', 0), ('perhaps', 1):
            env = gs.environment(PATH=path, **more, **({'GPUSTARVE_INCOMPARABLE': answer} if answer else {}))
            done = gs.command(['bash', '-e', '-c', lines], env=env, cwd=where)
            gs.equal((done.returncode, warning in done.stdout), (status, answer == 'warn'), f'{name}, {answer}: {done.stdout}')
    gs.equal(ci_text('action.yml').count('default: fail'), 2, 'the defaults of the action')
    gs.check('allow_failure:\n' not in ci_text('gitlab.yml'), 'the template lets nothing else pass')


def no_baseline(where, run, path):
    """A baseline that is not there has compared nothing; who makes one is not asked for it."""
    gone = os.path.join(where, 'gone.json')
    github = {'GITHUB_ACTIONS': 'true', 'GITHUB_STEP_SUMMARY': gone + '.md', 'GITHUB_OUTPUT': gone + '.out', 'RUNS': run,
              'BASELINE': gone, 'GATE': os.path.join(gs.SOURCE, 'scripts', 'ci', 'gate')}
    for name, lines, more in (('action', action_step(), github),
                              ('template', gating.template(), {'GPUSTARVE_RUNS': run, 'GPUSTARVE_CHECK': f'--baseline {gone}'}),
                              ('template, =', gating.template(), {'GPUSTARVE_RUNS': run, 'GPUSTARVE_CHECK': f'--baseline={gone}'})):
        for answer, status in (None, 1), ('fail', 1), ('warn', 0), ('perhaps', 1):
            env = gs.environment(PATH=path, **more, **({'GPUSTARVE_MISSING_BASELINE': answer} if answer else {}))
            done = gs.command(['bash', '-e', '-c', lines], env=env, cwd=where)
            gs.equal(done.returncode, status, f'{name}, no baseline, {answer}: {done.stdout}{done.stderr}')
            word = b'no baseline yet' if status == 0 else b'no such baseline' if answer != 'perhaps' else b'fail or warn'
            gs.check(word in done.stdout + done.stderr, f'{name}, no baseline, {answer}: {done.stdout}{done.stderr}')
    for making in '--update-baseline', '--add-to-baseline':
        env = gs.environment(PATH=path, GPUSTARVE_RUNS=run, GPUSTARVE_CHECK=f'--baseline {gone} {making}')
        done = gs.command(['bash', '-e', '-c', gating.template()], env=env, cwd=where)
        gs.equal((done.returncode, os.path.exists(gone)), (0, True), f'{making}: {done.stdout}{done.stderr}')
        os.unlink(gone)


def ci_text(name):
    with open(os.path.join(gs.SOURCE, 'scripts', 'ci', name), encoding='utf-8') as f:
        return f.read()


def action_step():
    """The shell lines of the action, cut out of its YAML."""
    body = ci_text('action.yml').split('      run: |\n', 1)[1]
    return '\n'.join(line[8:] for line in body.splitlines())


def template(where, path, options, run):
    """What the GitLab template runs, and its artifacts."""
    shutil.rmtree(os.path.join(where, 'gpustarve-gate'), ignore_errors=True)
    env = gs.environment(PATH=path, GPUSTARVE_RUNS=run, GPUSTARVE_CHECK=options)
    done = gs.command(['bash', '-e', '-c', gating.template()], env=env, cwd=where)
    gs.equal(done.returncode, 0, f'the template: {done.stdout.decode()}{done.stderr.decode()}')
    for name in ('gate.txt', 'gate.json', 'gate-junit.xml', 'gate-codequality.json', 'gate.md'):
        gs.check(os.path.exists(os.path.join(where, 'gpustarve-gate', name)), f'{name} is left')


def linked(where):
    """A PATH with a link to an environment's command, as pipx makes it, and without the gate that lies below that environment."""
    parts = [os.path.join(where, 'an environment', part) for part in ('bin', 'libexec/gpustarve/ci')] + [os.path.join(where, 'links')]
    for part in parts:
        os.makedirs(part)
    command = os.path.join(parts[0], 'gpustarve')
    with open(command, 'w', encoding='utf-8') as f:
        f.write(f'#!/bin/sh\nexec {shlex.quote(gs.CLI)} "$@"\n')
    os.chmod(command, 0o755)
    shutil.copy(os.path.join(gs.SOURCE, 'scripts', 'ci', 'gate'), parts[1])
    os.symlink(command, os.path.join(parts[2], 'gpustarve'))
    return os.pathsep.join((parts[2], os.environ['PATH']))


def pipelines(where, run, file):
    path = os.pathsep.join((os.path.dirname(gs.CLI), os.path.join(gs.SOURCE, 'scripts', 'ci'),
                            os.environ['PATH']))
    summary, output = os.path.join(where, 'summary.md'), os.path.join(where, 'output')
    env = gs.environment(PATH=path, GITHUB_ACTIONS='true', GITHUB_STEP_SUMMARY=summary,
                         GITHUB_OUTPUT=output, RUNS=os.path.join(where, 'sam*.gst'), BASELINE=file,
                         GATE=os.path.join(gs.SOURCE, 'scripts', 'ci', 'gate'),
                         BUDGETS='starved_pct<=99\nstep_ms_p95<=1\n', OPTIONS='--warmup 5')
    done = gs.command(['bash', '-e', '-c', action_step()], env=env, cwd=where)
    gs.equal(done.returncode, 2, f'the action: {done.stderr.decode()}')
    gs.check(b'::error ' in done.stdout and b'step_ms_p95' in done.stdout, done.stdout.decode())
    gs.equal(open(output).read(), 'status=2\n', 'output of the action')
    gs.check('step\\_ms\\_p95' in open(summary).read(), open(summary).read())
    template(where, path, f'--baseline {file}', run)
    template(where, linked(where), f'--baseline {file}', run)
    incomparable(where, run, file, path)
    no_baseline(where, run, path)


def main():
    with gs.scratch() as where:
        file = os.path.join(where, 'baseline.json')
        old = gating.steady(where, 'old', 1, steps=200)
        same = gating.steady(where, 'same', 2, steps=200)
        slow = gating.steady(where, 'slow', 3, steps=200, ms=22)
        gs.gpustarve('check', old, '--baseline', file, '--update-baseline')
        outputs(where, (same, '--baseline', file, '--budget', 'starved_pct<=50'), 0)
        outputs(where, (slow, '--baseline', file, '--budget', 'starved_pct<=1'), 2)
        together(where, (slow, '--baseline', file, '--budget', 'starved_pct<=1'))
        fingerprints(where, same, slow)
        schema_can_fail(written(where, 'junit', slow, '--baseline', file))
        hostile(where, file)
        many(where, same)
        pipelines(where, same, file)
    gs.finish()


main()
