# SPDX-License-Identifier: Apache-2.0
"""What a report says of a case against what is true, and whether all of them are good enough."""
import collections
import os

from feeding import cases
from planted import score


class Result:
    def __init__(self, case):
        self.case, self.planted, self.right, self.unknown, self.idle = case, 0, 0, 0, 0
        self.table, self.classes, self.notes = collections.Counter(), {}, []
        self.line, self.where, self.charged, self.skipped, self.seconds = None, '', None, None, 0
        self.links, self.said, self.turned = None, '', None
        self.advice = []  # what is to be done, in words

    def known(self):
        """As a row of the table that --json writes."""
        return dict(case=self.case.name, kind=self.case.kind.name, variant=self.case.variant,
                    planted_ns=self.planted, right_ns=round(self.right), unknown_ns=self.unknown,
                    idle_ns=self.idle, line=self.line, where=self.where, charged_ns=self.charged,
                    classes=self.classes, links=self.links, said=self.said, turned=self.turned,
                    notes=self.notes, skipped=self.skipped, seconds=round(self.seconds, 1))


def groups_of(case, true):
    out = []
    for (place, state), ns in sorted(true.items()):
        expect = case.expect.get(place, {})
        allowed = expect.get(state) or expect.get('')
        out.append(score.Group(f'{place} {state}'.strip(), ns, allowed or cases.UNPLANTED[place], bool(allowed)))
    return out


def places_at_fault(case, true):
    """Those with most of the planted time, and all of that."""
    sums = collections.Counter()
    for (place, _), ns in true.items():
        if place in case.expect:
            sums[place.removeprefix('held/')] += ns
    top = max(sums.values(), default=0)
    return [place for place, ns in sums.items() if ns >= 0.7 * top], sums.total()


def as_told(summary):
    """The findings in the order in which a reader comes upon them: a cause's lines are one sentence."""
    return [summary['findings'][n] for cause in summary['causes'] for n in cause['findings']]


def line_of(case, true, summary, marks):
    """(right?, text) of the first finding that a reader is told."""
    places, planted = places_at_fault(case, true)
    idle = sum(true.values())
    want = {at for place in places for at in marks[place]}
    if not want or planted < 0.5 * idle:  # on a busy machine the trainer itself may have been late more
        return None, '' if not want else f'only {100 * planted / idle:.0f} % planted'
    told = ' or '.join(f'{file}:{n or "any line"}' for file, n in sorted(want, key=str))
    findings = as_told(summary)
    if findings and findings[0]['class'] == cases.EPOCH and true.get(('before', ''), 0) > 0.3 * planted:
        findings = findings[1:]  # starting its makers took as long as what is planted
    if not findings:
        return False, f'no finding, want {told}'
    where = findings[0].get('where') or {}
    at = os.path.basename(where.get('file') or '-'), where.get('line')
    got = f'{findings[0]["class"]} {at[0]}:{at[1]}'
    right = at in want or (at[0], None) in want
    return right, got if right else f'{got}, want {told}'


def has_cpu(summary, marks):
    """(who is told to have the CPU that the first finding's thread lacks, right?); on a busy machine nobody of the job has it."""
    where = next((f['where'] or {} for f in as_told(summary)), {})
    if not where.get('has_cpu'):
        return 'nobody has the CPU', True
    who, _, file, n = where['has_cpu'].split('\t')
    at = os.path.basename(file), int(n)
    return f'{who} at {at[0]}:{at[1]} has the CPU', at in marks['has']


def idle_only(classes):
    return {c: ns for c, ns in sorted(classes.items(), key=lambda x: -x[1])
            if ns and c.startswith(('input.', 'host.', 'device.'))}


def judge(result, summary, true, facts, marks, whole=None):
    """summary: of the span of the device; whole: of the time for which the job held it."""
    case, (gpu,) = result.case, summary['gpus']
    result.idle, result.classes = gpu['idle_ns'], idle_only(gpu['classes'])
    result.advice = [f'{a["title"]}: {a["action"]}' for a in summary.get('advice', ())]
    if abs(gpu['idle_ns'] - facts['idle']) > 0.002 * facts['span']:
        result.notes.append(f'idle {gpu["idle_ns"]}, truth {facts["idle"]}')
    groups = groups_of(case, true)
    result.planted, result.right, result.table = score.compare(groups, gpu['classes'])
    if case.never:
        result.classes = idle_only(whole['gpus'][0]['classes'])
        result.charged = sum(ns for c, ns in result.classes.items() if c.startswith('input.'))
        return groups
    result.unknown = sum(gpu['classes'].get(c, 0) for c in cases.UNKNOWN)
    result.line, result.where = line_of(case, true, summary, marks)
    result.notes += doubts(case, facts)
    if marks.get('has'):
        told, right = has_cpu(summary, marks)
        result.where += f', {told}'
        result.notes += [] if right else [told]
    return groups


def doubts(case, facts):
    """What makes the truth itself doubtful."""
    out = []
    if facts['unmade'] > case.chunked * case.plan['steps']:
        out.append(f'{facts["unmade"]} batches were waited for that nobody made')
    if facts['kernels'] < case.plan['steps']:
        out.append(f'{facts["kernels"]} kernels of {case.plan["steps"]} steps')
    return out


def verdicts(results):
    """[(text, ok)] of the bars."""
    done = [r for r in results if not r.skipped]
    feeds = [r for r in done if not r.case.never]
    planted = sum(r.planted for r in feeds)
    right, unknown = sum(r.right for r in feeds), sum(r.unknown for r in feeds)
    lined = [r for r in feeds if r.line is not None]
    lines = sum(r.line for r in lined)
    never = [r for r in done if r.case.never]
    accused = [r for r in never if r.charged]
    noted = [r for r in done if r.notes]
    out = []
    if feeds:
        out += [(f'right class: {100 * right / max(1, planted):.2f} % of {planted / 1e9:.3f} s planted idle time '
                 f'(bar 95, goal 98)', planted and right >= 0.95 * planted),
                (f'unknown: {100 * unknown / max(1, planted):.2f} % (bar 2)', unknown <= 0.02 * planted),
                (f'first finding at the line of the producer: {lines} of {len(lined)} cases (bar 95 %)',
                 bool(lined) and lines >= 0.95 * len(lined))]
    idlers = [r for r in never if r.planted]
    if idlers:
        waited, told = sum(r.planted for r in idlers), sum(r.right for r in idlers)
        out.append((f'nothing to do: {100 * told / waited:.2f} % of {waited / 1e9:.3f} s in {len(idlers)} servers and '
                    f'prompts (bar 95)', told >= 0.95 * waited))
    if never:
        out.append((f'called input where it is not: {sum(r.charged for r in accused)} ns in {len(accused)} of '
                    f'{len(never)} cases (bar 0)', not accused))
    out.append((f'{len(noted)} of {len(done)} cases with something wrong beyond that', bool(done) and not noted))
    return out
