# SPDX-License-Identifier: Apache-2.0
"""Is every operation of a program in its trace? Each function takes runs (or anything with ops,
steps, steady(), faults()) and gives (words, right): counted against the loop's own arithmetic, and
against torch.profiler in a run of its own. Pure."""
import counting


def against_profiler(ours, profile):
    """All of a run against all that torch.profiler saw of the same seed."""
    if profile is None:
        return [], True
    if profile.rc != 0:
        return [f'torch.profiler: rc {profile.rc}'], False
    a, b = counting.count(ours.ops), counting.count(profile.ops)
    found = counting.differences(a, b)
    bytes_a, bytes_b = counting.copied(ours.ops), counting.copied(profile.ops)
    if not b:
        return ['torch.profiler saw nothing'], False
    names = sum(kind == 'kernel' for kind, _ in b)
    words = f'torch.profiler, a run of its own: {counting.differences_text(found)}'
    if not found:
        words += f' by kind and by {names} kernel names'
        if bytes_a != bytes_b:
            words += f', but bytes copied {dict(bytes_a)} for {dict(bytes_b)}'
    if profile.others:
        words += ' (not counted there: %s)' % ', '.join(f'{n} {k}' for k, n in profile.others.items())
    return [words], not found and bytes_a == bytes_b


def faults_first(runs):
    return [f'level {r.level}: {f}' for r in runs for f in r.faults()]


def plain(run, profile=None, warm=2, exact=None):
    """A loop without graphs. @exact: what each step must hold, by kind or kernel name; of the kernels it
    names there must be none beside the steps, either."""
    found = faults_first([run])
    steady = run.steady(warm)
    words = [counting.kinds_text(counting.count(run.ops)), steady.text()]
    right = not found and steady.right
    if exact is not None:
        wrong = counting.expected(steady.each, exact)
        wrong += counting.expected(counting.count(run.ops), {
            k: n * len(run.steps) for k, n in exact.items() if k.split('-')[0] not in counting.OPS})
        wanted = ', '.join(f'{k} {n}' for k, n in exact.items())
        words.append('each as the loop says' if exact and not wrong else
                     f'not as the loop says ({wanted or "nothing"}): {wrong}')
        right = right and bool(exact) and not wrong
    more, same = against_profiler(run, profile)
    return found + words + more, right and same


def graph_step(whole, apart, profile=None, warm=2):
    """A loop whose step is one launch of one graph: @whole traced with graphs as one operation,
    @apart with their nodes one by one."""
    found = faults_first([whole, apart])
    one, other = whole.steady(warm), apart.steady(warm)
    launches, inside, wrong = counting.nodes(counting.count(whole.ops), counting.count(apart.ops))
    wrong += [f'{counting.label(k)[:60]}: {n} nodes in {launches} launches'
              for k, n in inside.items() if launches and n % launches]
    if launches != len(whole.steps):
        wrong.append(f'{launches} launches in {len(whole.steps)} steps')
    words = [counting.kinds_text(counting.count(whole.ops)), one.text(),
             f'level 2: {counting.kinds_text(counting.count(apart.ops))}, {other.text()}']
    words.append('; '.join(wrong[:3]) if wrong else
                 f'{sum(inside.values()) // launches} nodes in each of {launches} launches')
    right = not found and not wrong and one.right and other.right
    if profile is None:
        return found + words, right
    more, same = against_profiler(apart, profile)
    if not same and profile.rc == 0 and not counting.differences(
            counting.without_graphs(counting.count(whole.ops)), counting.count(profile.ops)):
        more, same = ['torch.profiler sees nothing inside graphs, and the same beside them'], True
    return found + words + more, right and same


def graphs_within(whole, apart, other=None, warm=6, what='torch.profiler'):
    """A loop whose steps launch graphs beside other work, and whose set-up may differ from run to run
    (compilers try variants by time): the usual steps are compared. @other: a run or a profile that
    shows the nodes, too."""
    found = faults_first([whole, apart])
    one, two = whole.steady(warm), apart.steady(warm)
    words = [counting.kinds_text(counting.count(whole.ops)), one.text(),
             f'level 2: {counting.kinds_text(counting.count(apart.ops))}, {two.text()}']
    launches, inside, wrong = counting.nodes(one.each, two.each)
    if not launches:
        wrong.append('no graph is launched in the usual step')
    words.append('; '.join(wrong[:3]) if wrong else
                 f'{launches} launches of graphs a step with {sum(inside.values())} nodes')
    right = not found and not wrong and one.right and two.right
    if other is None:
        return found + words, right
    if other.rc != 0:
        return found + words + [f'{what}: rc {other.rc}'], False
    if hasattr(other, 'faults') and other.faults():
        words, right = words + [f'{what}: {f}' for f in other.faults()], False
    third = other.steady(warm)
    differ = counting.differences(two.each, third.each)
    words.append(f'{what}: {third.text()}, {counting.differences_text(differ)}; set-up included '
                 f'{len(apart.ops):,} for {len(other.ops):,}')
    return found + words, right and not differ and third.right
