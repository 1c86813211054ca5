#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# ctest: labels=browser first
"""Reports of every kind of run in a real browser, with and without scripts: no error, no request,
every number equal to summary.json's, charts drawn, keys, colours, paper, accessibility.

    test_browser_pages.py [--all] [--keep FOLDER] [KIND...]

Without --all or GS_BIG: what Report.some picks, and of the pages broken on purpose one for each kind
of complaint. --keep leaves runs and pages in FOLDER."""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'lib'))

import gs  # noqa: E402
import broken  # noqa: E402
import browsing  # noqa: E402
import compared  # noqa: E402
import figures  # noqa: E402
import made  # noqa: E402

ALL_CHECKS = ['first', 'axe', 'charts', 'tab', 'print']
VIEWS = ['light', 'dark', 'narrow', 'off', 'off-narrow']
PRICED = {'starved', 'classes', 'ranks', 'killed', 'hostile', 'idle'}
NO_PAGE = {'nogpu'}


class Report:
    """One page and the summary that it must agree with."""

    def __init__(self, where, kind, run, window):
        self.name, self.kind, self.window = f'{kind}-{window}', kind, window
        self.file = os.path.join(where, self.name + '.html')
        options = ['--window', window] + (['--price', '6.88'] if kind in PRICED else [])
        html = gs.gpustarve('report', run, '--format', 'html', '-o', self.file, *options)
        gs.equal((html.returncode, html.stderr), (0, b''), f'{self.name}: report --format html')
        done = gs.gpustarve('report', run, '--format', 'json', *options)
        gs.equal(done.returncode, 0, f'{self.name}: report --format json')
        self.summary = figures.parse(done.stdout.decode())
        self.bytes = os.path.getsize(self.file)

    def job(self, everything):
        views, checks = (VIEWS, ALL_CHECKS) if everything else self.some()
        return {'name': self.name, 'file': self.file, 'quick': not everything, 'views': views,
                'checks': checks}

    def some(self):
        """What continuous integration has time for: all of one page; of the others its numbers, and
        each check where the page differs."""
        if self.name == 'starved-job':
            return VIEWS, ALL_CHECKS
        if self.name == 'ranks-job':
            return ['light', 'off'], ['first', 'charts']
        if self.name == 'classes-job':
            return ['light', 'off'], ['axe-light']
        return ['light', 'off'], []


def check_refusal(run):
    """A job without a GPU has nothing to show: one line that says so, and no file."""
    out = os.path.join(run, 'page.html')
    for window in 'job', 'device':
        for form in 'html', 'json', 'text':
            done = gs.gpustarve('report', run, '--format', form, '--window', window, '-o', out)
            told = done.stderr.decode()
            gs.equal((done.returncode, done.stdout), (1, b''), f'0 GPUs, {form}: refused: {told}')
            gs.check(told.count('\n') == 1 and 'never touched a GPU' in told, f'0 GPUs: says why: {told}')
            gs.check(not os.path.exists(out), f'0 GPUs, {form}: no page of zeros')


def check_kind(report):
    """That the run is what its name says; a maker that rots must not go unnoticed."""
    s, kind = report.summary, report.kind
    found = set(s['ledger']['classes'])
    want = {'starved': 'input-bound', 'healthy': 'busy', 'killed': 'input-bound',
            'hostile': 'input-bound', 'ranks': 'input-bound'}.get(kind)
    if want:
        gs.equal(s['verdict'], want, f'{report.name}: verdict')
    if kind == 'classes' and report.window == 'job':
        every = set(made.class_names()) - made.UNREACHABLE
        gs.equal(sorted(every - found), [], 'a run with every class lacks')
        gs.check(not found & made.UNREACHABLE, f'no longer out of reach: {found & made.UNREACHABLE}')
    if kind == 'ranks':
        gs.equal((s['run']['ranks'], len(s['gpus'])), (64, 64), 'ranks and GPUs')
        gs.check('comm.skew' in found, 'ranks: the late one makes the others wait')
    if kind == 'killed':
        gs.check(not s['run']['complete'] and s['quality']['damage_bytes'], 'killed: torn, not ended')
    if kind in PRICED:
        gs.check(s['cost']['usd'] is not None, f'{report.name}: has a price')
    if kind == 'healthy':
        gs.check(s['cost']['usd'] is None, f'{report.name}: has no price')


def check_view(seen, report):
    """What one view of a page shows; returns complaints as (kind, text)."""
    out = [(c['kind'], c['what']) for c in seen['complaints']]
    facts = seen['facts']
    if not facts:
        return out + [('browser', 'nothing could be read')]
    out += figures.complaints(facts, report.summary)
    out += [('alien', markup) for markup in facts['alien']]
    if facts['title'] == 'owned':
        out.append(('alien', f'title {facts["title"]}'))
    return out


def check_broken(where, report, everything):
    """Every check must be able to fail: the page, broken on purpose, is complained about."""
    with open(report.file, encoding='utf-8') as f:
        html = f.read()
    jobs, told, views = [], {}, {}
    breaks = broken.BROKEN if everything else broken.one_each()
    for name, (change, kinds, seen_in) in breaks.items():
        file = os.path.join(where, f'broken-{len(jobs)}.html')
        with open(file, 'w', encoding='utf-8') as f:
            f.write(change(html))
        jobs.append({'name': name, 'file': file, 'quick': True, 'views': seen_in, 'waitMs': 3000,
                     'checks': broken.checks(kinds)})
    for seen in browsing.drive(jobs):
        told.setdefault(seen['job'], set()).update(k for k, _ in check_view(seen, report))
        views.setdefault(seen['job'], []).append(seen['facts'] and figures.told(seen['facts']))
    for name, (_, kinds, _) in breaks.items():
        if any(v != views[name][0] for v in views[name]):
            told[name].add('views')
        gs.check(told[name] & kinds == kinds, f'broken on purpose: {name}: want {sorted(kinds)} to be '
                 f'complained about, got {sorted(told[name])}')


def check_pages(reports, everything):
    """All views of all pages. Returns the facts by page and view."""
    by_name, facts = {r.name: r for r in reports}, {}
    for seen in browsing.drive([r.job(everything) for r in reports]):
        name, view = seen['job'], seen['view']
        for kind, what in check_view(seen, by_name[name]):
            gs.check(False, f'{name}, {view}: {kind}: {what}')
        if seen['facts']:
            facts.setdefault(name, {})[view] = figures.told(seen['facts'])
            print(f'{name} {view}: {len(seen["facts"]["numbers"])} numbers, '
                  f'{len(seen["facts"]["texts"])} texts, {len(seen["facts"]["charts"])} charts, {seen["ms"]} ms')
    for name, views in facts.items():
        wanted = {'light', 'off'} & set(by_name[name].job(everything)['views'])
        if gs.check(wanted <= set(views), f'{name}: seen with and without scripts'):
            for view in views:
                gs.equal(sorted(set(views[view]) ^ set(views['off'])), [],
                         f'{name}: facts that stand there only {view} or only without scripts')
                gs.equal(len(views[view]), len(views['off']), f'{name}, {view}: number of facts')
            gs.check(len(views['off']) > 30, f'{name}: {len(views["off"])} facts')
    return facts


def check_comparisons(where, runs, everything):
    """Runs beside each other: alike, of another kind, with hostile names, with nothing to compare."""
    pages = [compared.Comparison(where, 'fed', [runs['starved'], runs['starved-slower'], runs['hostile']],
                                 ['--price', '6.88', '--runs-per-month', '30'])]
    if everything:
        pages += [compared.Comparison(where, 'classes', [runs['classes'], runs['idle']]),
                  compared.Comparison(where, 'ranks', [runs['ranks'], runs['healthy']])]
    by_name = {p.name: p for p in pages}
    for seen in browsing.drive([p.job(everything) for p in pages] + broken_comparisons(where, pages[0])):
        page = by_name.get(seen['job'])
        told = compared_view(seen, (page or pages[0]).document)
        if page:
            for kind, what in told:
                gs.check(False, f'{seen["job"]}, {seen["view"]}: {kind}: {what}')
            print(f'{seen["job"]} {seen["view"]}: {len(seen["facts"]["cells"])} figures, {seen["ms"]} ms')
            continue
        kinds, told = compared.BROKEN[seen['job']][1], {kind for kind, _ in told}
        gs.check(told & kinds == kinds, f'broken on purpose: {seen["job"]}: want {sorted(kinds)}, got {sorted(told)}')


def compared_view(seen, document):
    out, facts = [(c['kind'], c['what']) for c in seen['complaints']], seen['facts']
    if not facts:
        return out + [('browser', 'nothing could be read')]
    out += compared.complaints(facts, document) + [('alien', markup) for markup in facts['alien']]
    return out + ([('alien', f'title {facts["title"]}')] if facts['title'] == 'owned' else [])


def broken_comparisons(where, page):
    with open(page.file, encoding='utf-8') as f:
        html = f.read()
    jobs = []
    for name, (change, kinds) in compared.BROKEN.items():
        file = os.path.join(where, f'compare-broken-{len(jobs)}.html')
        with open(file, 'w', encoding='utf-8') as f:
            f.write(change(html))
        jobs.append({'name': name, 'file': file, 'quick': True, 'views': ['narrow' if 'width' in kinds else 'light'],
                     'checks': ['axe'] if 'axe' in kinds else []})
    return jobs


def main():
    p = argparse.ArgumentParser()
    p.add_argument('--all', action='store_true', default=gs.BIG)
    p.add_argument('--keep')
    p.add_argument('kinds', nargs='*', default=sorted(made.KINDS))
    args = p.parse_args()
    browsing.chromium()
    browsing.modules()
    with gs.scratch() as scratch:
        where = args.keep or scratch
        reports, runs = [], {}
        for kind in args.kinds:
            run = runs[kind] = made.KINDS[kind](where)
            if kind in NO_PAGE:
                check_refusal(run)
                continue
            reports += [Report(where, kind, run, w) for w in ('job', 'device')]
        for r in reports:
            check_kind(r)
            gs.check(r.bytes <= 600000, f'{r.name}: {r.bytes} bytes')
        check_pages(reports, args.all)
        if set(args.kinds) >= set(made.KINDS):
            runs['starved-slower'] = made.starved(where, 'starved-slower', 90)
            check_comparisons(where, runs, args.all)
        for r in reports:
            if r.name == 'starved-job':
                check_broken(where, r, args.all)
    gs.finish()


if __name__ == '__main__':
    main()
