# SPDX-License-Identifier: Apache-2.0
"""A database of ClickHouse whose large parts are summed up, asked with the stored sums, without them, and beside SQLite."""
import contextlib
import os

from clickcheck import digest
import fleetcheck
import gs

ASKED = [[], ['--team', 'vision'], ['--since', '2026-03-16', '--until', '2026-05-01'], ['--since', '2026-02-03'],
         ['--until', '2026-06-30T00:00:01Z'], ['--by', 'class'], ['--by', 'failed', '--top', '3'], ['--top', '2'],
         ['--by', 'kind', '--team', 'speech'], ['--by', 'team'], ['--by', 'gpu'], ['--by', 'team', '--since', '2026-02-03'],
         ['--by', 'label:experiment'], ['--require-label', 'ticket']]
MONTHS = [['--by', 'month', *more] for more in (
    [], ['--team', 'vision'], ['--since', '2026-03-01'], ['--until', '2026-04-01'], ['--since', '2026-02-27', '--until', '2026-04-02'],
    ['--since', '2026-03-31', '--until', '2026-05-02'], ['--since', '2026-03-31T23:59:59Z', '--until', '2026-04-01T00:00:01Z'])]


def differs(a, b):
    """Where two answers do."""
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f'{a[max(at - 60, 0):at + 40]} {b[max(at - 60, 0):at + 40]}'


class Stores:
    """One database, asked with stored sums and without, and SQLite."""

    def __init__(self, where, server, name):
        self.server, self.name = server, name
        self.at = f'clickhouse://127.0.0.1:{server.http}/{name}?outbox={where}/{name}.sqlite'
        self.rolled, self.lite = self.at + '&rollup=1', 'sqlite:' + os.path.join(where, name + '-lite.sqlite')
        self.known = {}

    def ask(self, sql):
        return self.server.ask(sql.replace('gpustarve_', self.name + '.gpustarve_'))

    def put_click(self, found, rolled):
        digest(self.rolled if rolled else self.at + '&rollup=0', found)

    def put(self, found, rolled=True):
        self.put_click(found, rolled)
        digest(self.lite, found)

    def generations(self):
        if self.server.ask(f'EXISTS TABLE {self.name}.gpustarve_generations') != '1':
            return []
        return self.ask('SELECT toString(gen) FROM gpustarve_generations ORDER BY gen FORMAT TabSeparated').split()

    def unfinished(self):
        if not self.generations():
            return []
        return self.ask('SELECT toString(gen) FROM (SELECT DISTINCT gen FROM gpustarve_rolled) WHERE gen NOT IN'
                        ' (SELECT gen FROM gpustarve_generations) FORMAT TabSeparated').split()

    def holding(self):
        """The generation whose parts are all there, how many runs jobs' digests held there, and how many rows came since; or None."""
        if not self.generations():
            return None
        parts = f"(SELECT groupArray(name) FROM system.parts WHERE active AND database = '{self.name}' AND table LIKE '%runs')"
        gen = self.ask(f'SELECT toString(gen) FROM gpustarve_generations WHERE arrayAll(n -> has({parts}, n), names)'
                       ' ORDER BY gen DESC LIMIT 1 FORMAT TabSeparated')
        if not gen:
            return None
        held = self.ask(f'SELECT count() FROM gpustarve_rolled WHERE gen = {gen} AND shape = 12')
        since = self.ask(f'SELECT (SELECT count() FROM gpustarve_runs) - rows FROM gpustarve_generations WHERE gen = {gen}')
        return gen, int(held), int(since)

    @contextlib.contextmanager
    def without_sums(self):
        """Meanwhile whoever reads finds none."""
        there = bool(self.generations())
        if there:
            self.ask('RENAME TABLE gpustarve_generations TO gpustarve_away')
        yield
        if there:
            self.ask('RENAME TABLE gpustarve_away TO gpustarve_generations')

    def same(self, what, options=ASKED):
        for asked in options:
            said = [gs.gpustarve('fleet', '--store', s, '--format', 'json', *asked) for s in (self.rolled, self.lite)]
            gs.check(said[0].returncode == said[1].returncode and said[0].returncode in (0, 2),
                     f'{what} {asked}: {said[0].stderr.decode()[-300:]}')
            gs.check(said[0].stdout and said[0].stdout == said[1].stdout,
                     f'{what} {asked}: ClickHouse and SQLite say the same: {differs(said[0].stdout, said[1].stdout)} {self.holding()}')

    def same_as_rows(self, what, options):
        def say():
            return [gs.gpustarve('fleet', '--store', self.rolled, '--format', 'json', *asked) for asked in options]
        sums = say()
        with self.without_sums():
            rows = say()
        for asked, a, b in zip(options, sums, rows):
            gs.check(a.returncode == 0 and a.stdout and a.stdout == b.stdout,
                     f'{what} {asked}: sums say what rows do: {differs(a.stdout, b.stdout)} {a.stderr.decode()[-300:]}')


def uses_sums(s):
    """Does what is stored show in what is told?"""
    gen = s.generations()[-1]
    total = fleetcheck.as_json(s.rolled)['rules'][0]['runs']
    s.ask('INSERT INTO gpustarve_rolled (gen, shape, level, k0, m0, m1, cells)'
          f" SELECT toUInt64({gen}), 7, 1, k0, toDecimal128(1000, 0), toDecimal128(0, 0), 1 FROM gpustarve_rolled"
          f' WHERE gen = {gen} AND shape = 7 AND level = 1 LIMIT 1')
    gs.equal(fleetcheck.as_json(s.rolled)['rules'][0]['runs'], total + 1000, f'{s.name}: the sums are read')
    s.ask(f'ALTER TABLE gpustarve_generations DROP PARTITION {gen}')
    gs.equal(fleetcheck.as_json(s.rolled)['rules'][0]['runs'], total, f'{s.name}: without a generation they are not')
