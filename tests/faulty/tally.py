# SPDX-License-Identifier: Apache-2.0
"""What is printed: a line per round that failed, the table of faults, and the figures."""
import collections
import statistics

from . import kinds


def quantile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


class Tally:
    def __init__(self):
        self.rounds, self.count, self.problems = [], collections.Counter(), []
        self.places = set()

    def take(self, message):
        """One message of a world: {'round': ...}, {'end': ...} or {'place': ...}."""
        if 'round' in message:
            self.rounds.append(message['round'])
        elif 'place' in message:
            self.places.add(message['place'])
        else:
            self.count.update(message['count'])
            self.problems += message['end']

    @property
    def played(self):
        return [r for r in self.rounds if not r['clean']]

    def table(self):
        """Of each kind: how often, in how many rounds, how many of those passed."""
        lines = [f'{"fault":<24}{"injected":>9}{"rounds":>8}{"passed":>8}']
        for name in kinds.KINDS:
            having = [r for r in self.played if name in r['injected']]
            lines.append(f'{name:<24}{sum(r["injected"].count(name) for r in having):>9}{len(having):>8}'
                         f'{sum(not r["problems"] for r in having):>8}')
        passed = sum(not r['problems'] for r in self.played)
        return lines + [f'{"all":<24}{sum(len(r["injected"]) for r in self.played):>9}'
                        f'{len(self.played):>8}{passed:>8}']

    def idle(self):
        """Kinds that never came to pass."""
        return [k for k in kinds.KINDS if not any(k in r['injected'] for r in self.played)]

    def figures(self):
        sums = {k: sum(r[k] for r in self.rounds) 
                for k in ('sent', 'acked', 'bytes', 'hang_ups', 'twice', 'entries')}
        out = [f'{sums["sent"]} frames of processes that only send, {sums["acked"]} acknowledged '
               f'({sums["bytes"] / 1e6:.1f} MB), each at the centre once, as it was sent; they lost their '
               f'connection {sums["hang_ups"]} times and sent {sums["twice"]} frames twice',
               f'{sums["entries"]} versions of side files, none at the centre after a newer one']
        out.append('; '.join(f'{name} {n}' for name, n in sorted(self.count.items())))
        healed = [r['seconds'] - r['healed'] for r in self.played]
        out.append(f'from the end of all processes until the centre had it and the round was judged: '
                   f'p50 {statistics.median(healed):.1f} s, most {max(healed):.1f} s')
        return out + self.steps()

    def steps(self):
        """Pairs of a round with faults and the same without, one after the other."""
        clean = {r['number']: r['steps'] for r in self.rounds if r['clean'] and r['steps']}
        pairs = [(r['steps'], clean[r['number']]) for r in self.played
                 if r['steps'] and r['number'] in clean]
        if not pairs:
            return []
        ratios = [statistics.median(a) / statistics.median(b) for a, b in pairs]
        faulty, quiet = ([ns / 1e6 for pair in pairs for ns in pair[i]] for i in (0, 1))
        return [f'steps of the real job, {len(pairs)} pairs of rounds with faults and without, in turn: '
                f'median {statistics.median(faulty):.2f} and {statistics.median(quiet):.2f} ms, p99 '
                f'{quantile(faulty, .99):.2f} and {quantile(quiet, .99):.2f} ms; ratio of medians '
                f'{statistics.median(ratios):.3f} [{min(ratios):.3f}..{max(ratios):.3f}]']
