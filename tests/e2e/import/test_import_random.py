# SPDX-License-Identifier: Apache-2.0
# ctest: timeout=600
"""Random traces, odd in every way that the formats allow: `import` and `report` must equal the
reference program on each of them. GPUSTARVE_TEST_SEED and GPUSTARVE_TEST_CASES choose others."""
import json
import os
import random
import sqlite3
import sys

sys.path.insert(0, sys.path[0] + '/../../lib')
import gs
import importing
import oracle

if not oracle.is_here():
    gs.skip('no ../shared/oracle here to compare with')
ref_ledger = oracle.ref_ledger()

CALLS = ['cudaLaunchKernel', 'cudaMemcpyAsync', 'cudaStreamSynchronize', 'cudaDeviceSynchronize',
         'cudaMalloc', 'cudaGraphLaunch', 'cuModuleLoadData', 'cudaFree', 'hipLaunchKernel']
RANGES = ['enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__', 'enumerate(DataPipe)#X',
          'ProfilerStep#3', 'save checkpoint', 'evaluation', 'forward', 'train_log', 'retrieval',
          'Optimizer.step#SGD.step']
KERNELS = ['gemm', 'ncclKernel_AllReduce', 'volta_NCCL', 'my_rccl_x']
COPIES = ['Memcpy HtoD (Pageable -> Device)', 'Memcpy HtoD (Pinned -> Device)',
          'Memcpy DtoH (Device -> Pageable)', 'Memcpy HtoD (Host -> Device)', 'Memset (Device)',
          'Memcpy PtoP (Device -> Device)']


class Kineto:
    """One random file. Values are JSON text, so that numbers are spelled in many ways."""

    def __init__(self, r):
        self.r, self.rows = r, []
        odd = [7, 4000000000, 99999999999, 'python 3', 'x']
        self.pids = [r.choice(odd) if r.random() < .4 else 1000 + i
                     for i in range(r.choice([1, 1, 1, 2, 3]))]
        self.devices = r.choice([[0], [0, 1], [3], ['0'], ['gpu a', 'gpu b'], [-1, 2], [0, 1, 2]])
        self.text_streams = r.random() < .3
        self.name_process = r.random() < .4
        self.now = float(r.choice([0, 5] if self.name_process else [0, 1683564902133354, 5]))
        self.id, self.begun = 1, set()
        for _ in range(r.randrange(1, 60)):
            self.step()
        if r.random() < .3:
            r.shuffle(self.rows)

    def time(self, us):
        form = self.r.choice(['%d', '%.1f', '%.3f', '%.3f', '%.4f', '%.5f', '"%.2f"', '%.12e'])
        return form % us

    def ident(self, v):
        return json.dumps(self.r.choice([v] * 10 + [str(v), f' {v}']))

    def row(self, cat, name, pid, tid, ts, dur, args):
        self.rows.append({'ph': '"X"', 'cat': json.dumps(cat), 'name': json.dumps(name), 'pid': pid,
                          'tid': tid, 'ts': self.time(ts), 'dur': dur, 'args': args})

    def step(self):
        r = self.r
        self.now += r.choice([0, .5, 3, 11.25, 70, 1500])
        self.id += r.choice([0, 1, 1, 1])
        id_ = self.id
        if r.random() < .3:
            id_ = r.choice([0, -3, f'c{id_ % 3}', None, str(id_)])
        pid = r.choice(self.pids)
        tid = r.choice([pid, 5, 't0', 't1', 140245678906112])
        what = r.random()
        if what < .75:
            self.call(pid, tid, id_)
        if what < .85:
            self.operation(pid, id_)
        what = r.random()
        if what < .3:
            self.range(pid, tid)
        elif what < .45:
            self.sync()
        elif what < .55:
            self.rows.append({'ph': r.choice(['"i"', '"M"', '"s"']), 'ts': self.time(self.now)})

    def call(self, pid, tid, id_):
        r = self.r
        args = {'correlation': json.dumps(id_)} if r.random() < .9 else {'cbid': '1'}
        self.row(r.choice(['cuda_runtime', 'Runtime', 'cuda_driver', 'DRIVER', 'runtime']),
                 r.choice(CALLS), self.ident(pid), self.ident(tid), self.now,
                 self.time(r.choice([1, 8, 50, 2000])), args)

    def operation(self, pid, id_):
        r = self.r
        device = r.choice(self.devices)
        stream = r.choice([7, 7, 20, 'stream 7', 's'] if self.text_streams else [7, 7, 20])
        cat = r.choice(['kernel', 'kernel', 'Kernel', 'gpu_memcpy', 'Memcpy', 'gpu_memset', 'KERNEL'])
        args = {'device': json.dumps(device), 'stream': self.ident(stream),
                'correlation': json.dumps(id_), 'context': '1', 'bytes': '100'}
        for key, chance in (('stream', .1), ('device', .1), ('correlation', .1), ('context', .2)):
            if r.random() < chance:
                del args[key]
        if self.name_process and r.random() < .8:
            args['process'] = self.ident(pid)
        start = self.now + r.choice([0, 2, 20, 90, 3000])
        while self.name_process and int(start) in self.begun:
            start += 1  # an import does not keep the record order between processes
        self.begun.add(int(start))
        dur = r.choice([0, 1, 3, 3, 5.5, 100])
        self.row(cat, r.choice(KERNELS if cat.lower() == 'kernel' else COPIES), json.dumps(device),
                 self.ident(stream), start, '-4' if r.random() < .05 else self.time(dur), args)

    def range(self, pid, tid):
        r = self.r
        self.row(r.choice(['user_annotation', 'cpu_op', 'Operator', 'python_function',
                           'gpu_user_annotation', 'User_Annotation']),
                 r.choice(RANGES), self.ident(pid), self.ident(tid), self.now - r.choice([0, 1, 10]),
                 self.time(r.choice([0, 3, 40, 1600])), {'stream': '7'})

    def sync(self):
        r = self.r
        args = {'stream': r.choice(['7', '20', '-1', '4294967295']), 'correlation': '5',
                'device': json.dumps(r.choice(self.devices)), 'context': r.choice(['1', '0', '2'])}
        if r.random() < .2:
            del args['context']
        self.row('cuda_sync', r.choice(['Stream Wait Event', 'Context Sync', 'Event Sync']),
                 json.dumps(self.devices[0]), '7', self.now, self.time(r.choice([0, 4, 60])), args)

    def text(self, value):
        if not isinstance(value, dict):
            return value
        items = list(value.items())
        if self.r.random() < .3:
            self.r.shuffle(items)
        return '{' + ', '.join(f'{json.dumps(k)}: {self.text(v)}' for k, v in items) + '}'

    def write(self, path):
        body = '[' + ',\n '.join(self.text(row) for row in self.rows) + ']'
        if self.r.random() < .7:
            body = '{"schemaVersion": 1, "traceEvents": ' + body + ', "traceName": "x"}'
        with open(path, 'w', encoding='utf-8') as f:
            f.write(body)


class Nsys:
    """One random database, of some schema version."""
    NAMES = ['cudaLaunchKernel_v7000', 'cudaStreamSynchronize_v3020', 'cudaMalloc_v3020', 'gemm',
             'ncclDevKernel', 'cuGraphLaunch', 'cudaMemcpyAsync_v3020', 'eval step']
    RANGES = RANGES + ['aten::add, op_id = 5', 'aten::mm, seq = 7', 'ProfilerStep#3, op_id = 1',
                       'enumerate(DataLoader)#x, seq = 3']

    def __init__(self, r, path):
        self.r = r
        self.db = sqlite3.connect(path)
        place = ['deviceId', 'streamId'] + [c for c in ('globalPid', 'contextId') if r.random() < .7]
        base = ['start', 'end', *place, 'correlationId']
        tables = {'KERNEL': base + ['demangledName', 'shortName'],
                  'MEMCPY': base + ['copyKind', 'bytes'] + ['srcKind'] * (r.random() < .7),
                  'MEMSET': base + ['bytes'], 'GRAPH_TRACE': base}
        self.ops = [t for t in tables if t == 'KERNEL' or r.random() < .75]
        self.columns = {f'CUPTI_ACTIVITY_KIND_{t}': tables[t] for t in self.ops}
        self.columns['CUPTI_ACTIVITY_KIND_RUNTIME'] = ['start', 'end', 'globalTid', 'correlationId',
                                                       'nameId']
        if r.random() < .6:
            self.columns['CUPTI_ACTIVITY_KIND_SYNCHRONIZATION'] = ['start', 'end', *place, 'syncType']
        if r.random() < .7:
            self.columns['NVTX_EVENTS'] = ['start', 'end', 'eventType', 'text', 'textId', 'globalTid']
        key = r.choice(['primary key', ''])
        self.db.execute(f'create table StringIds (id INTEGER {key}, value TEXT)')
        self.db.executemany('insert into StringIds values (?, ?)', enumerate(self.NAMES))
        for table, columns in self.columns.items():
            self.db.execute(f'create table {table} (' + ', '.join(f'"{c}"' for c in columns) + ')')
        host = r.choice([0, 1 << 48, 5 << 56])
        self.pids = [host | (100 + i) << 24 for i in range(r.choice([1, 1, 2, 3]))]
        if r.random() < .2:
            self.pids = [p | i << 50 for i, p in enumerate(self.pids)]
        self.now, self.id, self.begun = r.choice([0, -5000, 155360295935]), 0, set()
        for _ in range(r.randrange(1, 60)):
            self.step()
        self.db.commit()
        self.db.close()

    def insert(self, table, values):
        if table in self.columns:
            row = [values[c] for c in self.columns[table]]
            self.db.execute(f'insert into {table} values (' + ','.join('?' * len(row)) + ')', row)

    def step(self):
        r = self.r
        self.now += r.choice([0, 500, 3000, 11250, 70000, 1500000])
        self.id += r.choice([0, 1, 1])
        pid = r.choice(self.pids)
        v = {'globalPid': pid if r.random() < .95 else None, 'globalTid': pid | r.choice([7, 8]),
             'correlationId': r.choice([self.id] * 8 + [None]), 'deviceId': r.choice([0, 0, 1]),
             'streamId': r.choice([7, 7, 13]), 'contextId': r.choice([1, 1, 2]), 'bytes': 64,
             'demangledName': r.choice([3, 4, 77]), 'shortName': r.choice([3, 4]),
             'copyKind': r.choice([1, 1, 2, 8, 10]), 'srcKind': r.choice([0, 0, 1, 2, None]),
             'nameId': r.choice([0, 1, 2, 5, 6, 99]), 'syncType': r.choice([1, 2, 3, 4])}
        v['start'] = self.now
        v['end'] = None if r.random() < .03 else self.now + r.choice([1000, 8000, 2000000])
        if r.random() < .8:
            self.insert('CUPTI_ACTIVITY_KIND_RUNTIME', v)
        if r.random() < .2:
            self.insert('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION',
                        dict(v, end=self.now + r.choice([100, 60000]), globalPid=pid))
        if r.random() < .85:
            s = self.now + r.choice([0, 2000, 20000, 90000, 3000000])
            while len(self.pids) > 1 and s in self.begun:
                s += 1  # an import does not keep the record order between processes
            self.begun.add(s)
            e = r.choice([s, s + 1000, s + 5500, s + 100000])
            self.insert(f'CUPTI_ACTIVITY_KIND_{r.choice(self.ops)}',
                        dict(v, start=s, end=r.choice([e] * 14 + [None, s - 4])))
        if r.random() < .4:
            text, text_id = r.choice([(n, None) for n in self.RANGES] + [(None, 7), (None, 55)])
            self.insert('NVTX_EVENTS', dict(
                v, start=self.now - 100, end=r.choice([self.now + 3000, self.now + 1600000, None]),
                eventType=r.choice([59, 59, 60, 34]), text=text, textId=text_id))


def case(where, seed):
    r = random.Random(seed)
    path = os.path.join(where, 'random' + ('.sqlite' if seed % 2 else '.json'))
    if os.path.exists(path):
        os.unlink(path)
    if seed % 2:
        Nsys(r, path)
    else:
        Kineto(r).write(path)
    before = len(gs.failures)
    done, run = importing.imported(where, path)
    for window in ('device', 'job'):
        want = ref_ledger.ledger(path, window)
        if not want:
            gs.equal(done.returncode, 1, f'case {seed}: exit status')
        elif gs.check(done.returncode == 0, f'case {seed}: import: {done.stderr}'):
            made = gs.summary(run, '--window', window)
            importing.compare(made and made['gpus'], want, f'case {seed}, window {window}')
    return len(gs.failures) == before


first = int(os.environ.get('GPUSTARVE_TEST_SEED', '1'))
cases = int(os.environ.get('GPUSTARVE_TEST_CASES', '200'))
with gs.scratch() as scratch:
    good = sum(case(scratch, seed) for seed in range(first, first + cases))
print(f'{good} of {cases} cases equal, seeds {first} to {first + cases - 1}')
gs.finish()
