# SPDX-License-Identifier: Apache-2.0
"""The result of a check as JSON and as a table in the order of the points that a real GPU has to
settle; several results (the halves of a check, each on a machine) make one. Standard library only."""
import json
import os

import base
import questions

SCHEMA = 'gpustarve.gpu_check/1'
MARKS = {None: '', True: 'ok', False: '**LOOK**'}
NOT_ASKED, THE_PART = base.NOT_ASKED, base.THE_PART


def new(machine, wanted, quick, simulated, command, build):
    return dict(schema=SCHEMA, machine=machine, asked=wanted, quick=quick, simulated=simulated,
                commands=[command], seconds=dict(build=float(build)) if build else {},
                complete=False, parts={})


def join(results):
    """One result of several. What two asked stands twice; where the machines differ both are named."""
    whole = dict(schema=SCHEMA, machine={}, asked=[], quick=any(r['quick'] for r in results),
                 simulated=any(r['simulated'] for r in results), commands=[], seconds={},
                 complete=all(r['complete'] for r in results), parts={})
    for result in results:
        whole['asked'] += [p for p in result['asked'] if p not in whole['asked']]
        whole['commands'] += result['commands']
        for part, rows in result['parts'].items():
            whole['parts'].setdefault(part, []).extend(rows)
        for key, seconds in result['seconds'].items():
            whole['seconds'][key] = round(whole['seconds'].get(key, 0) + seconds, 1)
    for key in results[0]['machine'] if results else ():
        told = list(dict.fromkeys(str(r['machine'].get(key)) for r in results))
        whole['machine'][key] = told[0] if len(told) == 1 else ' / '.join(told)
    return whole


def mark(row):
    """ok, LOOK, not asked, or nothing where a row only tells."""
    if row['ok'] is None and row['answer'].startswith(NOT_ASKED):
        return 'not asked'
    return MARKS[row['ok']]


def counts(result):
    rows = [mark(r) for _, found in by_point(result) for r in found]
    return {word: rows.count(m) for word, m in
            (('ok', 'ok'), ('LOOK', '**LOOK**'), ('not asked', 'not asked'), ('told', ''))}


def counts_text(result):
    c = counts(result)
    return (f'{c["ok"]} ok, {c["LOOK"]} LOOK, {c["not asked"]} not asked, {c["told"]} told without a '
            'judgement' + ('' if result['complete'] else '; cut short'))


def unanswered(result):
    """[(point, row)] of what a part that was asked for should have said something about and did not."""
    found = []
    for point in questions.POINTS:
        for part, pattern, what, goal in point.wanted:
            if part not in result['asked']:
                continue
            rows = result['parts'].get(part, [])
            if not any(pattern.search(r['question']) for r in rows):
                found.append((point, dict(question=what, answer=NOT_ASKED + silence(rows), ok=None,
                                          goal=goal, data={}, part=part)))
    return found


def silence(rows):
    """Why nobody answered: what the part says of itself, if it does."""
    own = [r['answer'] for r in rows if r['question'] == THE_PART]
    return own[-1].removeprefix(NOT_ASKED) if own else 'no answer came'


def by_point(result):
    """[(point, rows)]: what was answered, then what was not."""
    silent, found = unanswered(result), []
    for point in questions.POINTS:
        rows = [dict(r, part=part) for part in point.parts for r in result['parts'].get(part, [])]
        rows += [r for p, r in silent if p is point]
        found.append((point, rows))
    known = {part for point in questions.POINTS for part in point.parts}
    others = [dict(r, part=part) for part, rows in result['parts'].items() if part not in known for r in rows]
    return found + ([(questions.OTHERS, others)] if others else [])


def goal_of(point, row):
    if row.get('goal'):
        return row['goal']
    return next((goal for part, pattern, _, goal in point.wanted
                 if part == row['part'] and pattern.search(row['question'])), '')


def cell(text):
    """Fit for a table: one line, nothing that ends the cell or is markup of a page."""
    text = ' '.join(str(text).split())
    for a, b in (('\\', '\\\\'), ('|', '\\|'), ('<', '&lt;')):
        text = text.replace(a, b)
    return text


def heading(result):
    m, lines = result['machine'], []
    device = ('the simulated GPU, a model,' if result['simulated'] else
              m.get('gpu', 'none').split(',')[0])
    lines.append(f'## What {device} says ({m.get("date", "")})\n')
    lines.append(f'**{counts_text(result)}.**'
                 + (' Played in short (`--quick`).' if result['quick'] else '') + '\n')
    lines.append('Machine: ' + '; '.join(f'{k} {v}' for k, v in m.items() if k not in ('date', 'tree'))
                 + f'. Tree: {m.get("tree")}. Commands: '
                 + ', '.join(f'`{c}`' for c in result['commands']) + '. Seconds: '
                 + ', '.join(f'{k} {v:g}' for k, v in result['seconds'].items()) + '.\n')
    return lines


def text(result):
    lines = heading(result)
    for point, rows in by_point(result):
        lines.append(f'### {point.title}\n')
        if not rows:
            lines.append('Not among the parts that were asked for.\n')
            continue
        lines += ['| question | answer | goal | |', '|---|---|---|---|']
        lines += [f'| {cell(r["question"])} | {cell(r["answer"])} | {cell(goal_of(point, r))} '
                  f'| {mark(r)} |' for r in rows]
        lines.append('')
    return '\n'.join(lines)


def write(result, out):
    """Both files, each whole at any moment."""
    for name, words in (('gpu-check.json', json.dumps(result, indent=1, default=str)),
                        ('gpu-check.md', text(result))):
        part = os.path.join(out, name + '.part')
        with open(part, 'w') as f:
            f.write(words)
        os.replace(part, os.path.join(out, name))
