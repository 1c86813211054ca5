#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Summaries that were looked at and kept (tests/data/summary). A change of the engine, of findings or
of prices shows as a difference of these files; made anew with

    tests/lib/golden.py --update        and read in `git diff` before they are committed

Every byte is compared, for a summary is a function of the trace, the options and the prices; but for
two numbers that masked() takes out: how many bytes the trace has follows the version of libzstd, and
the digest follows that. Of sentences only the numbers in them are compared, in any order, so that a
better sentence breaks nothing."""
import json
import os
import re
import shutil
import subprocess
import sys

import gs
import importing

FOLDER = os.path.join(gs.SOURCE, 'tests', 'data', 'summary')
MS = 10**6
START = 1_700_000_000_000_000_000


def environment():
    """Prices are those of a site file that is kept here and the built-in ones: this machine has no
    say, and --price, which bears the date of the day, is not used."""
    return gs.environment(GPUSTARVE_DMI='/nonexistent', GPUSTARVE_PRICES=os.path.join(FOLDER, 'prices.csv'))


def import_of(where, file):
    done, run = importing.imported(where, file)
    if done.returncode:
        raise SystemExit(f'golden: {file}: {done.stderr.decode()}')
    return run


def shared(name):
    """A trace of somebody else's; None where it is not beside the tree."""
    path = os.path.join(importing.TRACES, name)
    return (lambda where: import_of(where, path)) if os.path.exists(path) else None


def committed(name):
    path = os.path.join(importing.DATA, name)
    if name.endswith('.sql'):
        return lambda where: import_of(where, importing.sqlite_of(path, where))
    return lambda where: import_of(where, path)


def recorded(name):
    """A run of tests/workloads/torch_train.py on an H100 80GB HBM3 with PyTorch 2.11.0+cu130 and 16 cores,
    on 2026-11-27: `--model cnn --data jpeg --steps 120` with four workers, `--model transformer --width 1024
    --steps 150`. gst_moved.py copied them: the program lies in /srv/job and torch in /srv/venv. Of a third
    run, `--model tiny --steps 300`, the trace is too large to be kept (738 KB); its summary is of the same day
    as these, and is told again from itself, sentences and all but the advice: that, and where the schema asks for more,
    is written in by hand."""
    return lambda where: shutil.copytree(os.path.join(gs.SOURCE, 'tests', 'data', 'recorded', name + '.gst'),
                                         os.path.join(where, name + '.gst'))


def evidence_lines():
    """Twelve steps of 50 ms: 10 ms of work, 30 ms of a wait while one worker reads from a shard and
    one decodes, then the host; in one step the garbage collector runs, and once a checkpoint is
    written."""
    settings = 'kind=torch workers=2 prefetch=2 persistent=0 in_order=1 start=fork batch=8 pin=1 dataset=Shards made=/srv/job/train.py:31'
    read = 'read_shard|/srv/job/data.py|41~__getitem__|/srv/job/data.py|17'
    decode = 'decode|/srv/job/data.py|52~__getitem__|/srv/job/data.py|19'
    train = 'step|/srv/job/train.py|88~main|/srv/job/train.py|120'
    out = [f'process 100 0 {620 * MS}',
           f'batch 1 0 1 100 100 1 0 0 0 0 {settings}', 'bytes 8388608 8388608']
    for i in range(12):
        t = i * 50 * MS
        out += [f'op {t} {t + 10 * MS} {i + 1} 7',
                f'api {t - 20_000 if i else 0} {t - 10_000 if i else 1} {i + 1} 100 cudaLaunchKernel',
                f'range 1 {t + 10 * MS} {t + 40 * MS} 100 0 enumerate(DataLoader)#_Multi.__next__',
                f'batch 3 {t + 10 * MS} {t + 40 * MS} 100 100 1 0 {i + 1} {MS} 0',
                f'batch 2 {t} {t + 39 * MS} {200 + i % 2} {200 + i % 2} 1 {i % 2 + 1} {i + 1} '
                f'{(38 if i % 2 else 3) * MS} 0']
        if i == 5:
            out.append(f'range 6 {t + 41 * MS} {t + 46 * MS} 100 0')
        if i == 8:
            out.append(f'range 7 {t + 41 * MS} {t + 49 * MS} 100 0 torch.save')
        for k in range(10):
            s = t + k * 5 * MS
            out += [f'sample {s} 100 100 1 {2 if 2 <= k < 8 else 1} {6 if 2 <= k < 8 else 0} 8 '
                    f'{i * 20 * MS + k * MS} 0 0 {train}',
                    'file fuse.slow /mnt/shards/017.tar', f'sample {s} 200 200 2 3 1 8 {i * MS} 0 0 {read}',
                    'file ', f'sample {s} 201 201 2 1 0 8 {(i * 10 + k) * 5 * MS + MS} 0 0 {decode}']
    return out


def moved(line):
    """Times count from 1970 in a recorded run."""
    words = line.split(' ')
    if words[0] in ('file', 'bytes'):
        return line
    for at in {'process': (2, 3), 'op': (1, 2), 'api': (1, 2), 'range': (2, 3), 'sample': (1,),
               'batch': (2, 3)}[words[0]]:
        words[at] = str(int(words[at]) + START)
    return ' '.join(words)


def made_up(where):
    run = os.path.join(where, 'made-up.gst')
    os.makedirs(run)
    subprocess.run([os.path.join(gs.BUILD, 'tests', 'evidence_make'), run], check=True, text=True,
                   input='\n'.join(map(moved, evidence_lines())) + '\n')
    with open(os.path.join(run, 'run.json'), 'w', encoding='utf-8') as f:
        json.dump({'schema': 'gpustarve.run/1', 'id': 'made-up', 'command': ['python', 'train.py'],
                   'labels': {'team': 'vision'}, 'start_unix_ns': START, 'wall_ns': 620 * MS,
                   'exit_status': 0,
                   'price': {'usd_per_gpu_hour': '3.60', 'from': '--price'}}, f)
    return run


def cases():
    """Name, how the run is made (None: not here; a summary that is kept tells itself), options of report."""
    resnet = 'resnet50_num_workers_0__383a0664.pt.trace.json.gz'
    return [
        ('resnet50-job', shared(resnet), []),
        ('resnet50-device', shared(resnet), ['--window', 'device']),
        ('h100-two-gpus', shared('h100_2gpu_1s.sqlite.gz'), ['--price-model', 'owned']),
        ('h100-cnn', recorded('h100-cnn'), []),
        ('h100-transformer', recorded('h100-transformer'), []),
        ('h100-tiny', lambda _: os.path.join(FOLDER, 'h100-tiny.json'), []),
        ('evidence', made_up, []),
        ('processes', committed('processes.json'), []),
        ('nsys-no-price', committed('nsys_3.sql'), []),
    ]


def summary(case, where):
    """The text of one case's summary."""
    _, make, options = case
    done = gs.gpustarve('report', make(where), '--format', 'json', *options, env=environment())
    if done.returncode:
        raise SystemExit(f'golden: {case[0]}: {done.stderr.decode()}')
    return done.stdout.decode()


def masked(text):
    """The text without what may differ from machine to machine."""
    return re.sub(r'("trace_bytes": )\d+|("digest": )"crc32c:[0-9a-f]{8}"', r'\1\2*', text)


STRING = r'"(?:[^"\\]|\\.)*"'
SENTENCE = re.compile(rf'("(?:basis|title|why|action|brief|sentence)": )({STRING})')
NOTES = re.compile(rf'("notes": \[)((?:\s*{STRING},?)*)')


def numbers_of(sentence):
    """The numbers of a sentence, in their order, as a string of JSON."""
    return '"' + ' '.join(sorted(re.findall(r'\d+(?:[.,]\d+)*', sentence))) + '"'


def numbers(text):
    """The text with the numbers of its sentences in place of them."""
    text = SENTENCE.sub(lambda m: m[1] + numbers_of(m[2]), masked(text))
    return NOTES.sub(lambda m: m[1] + re.sub(STRING, lambda note: numbers_of(note[0]), m[2]), text)


def kept(case):
    """The text that is kept, or nothing."""
    if not os.path.exists(path(case)):
        return ''
    with open(path(case), encoding='utf-8') as f:
        return f.read()


def path(case):
    return os.path.join(FOLDER, case[0] + '.json')


def main():
    if sys.argv[1:] != ['--update']:
        raise SystemExit('usage: tests/lib/golden.py --update')
    os.makedirs(FOLDER, exist_ok=True)
    for case in cases():
        if not case[1]:
            gs.left_out(f'{case[0]}: left as it is, its trace is not here')
            continue
        with gs.scratch() as where:
            text = summary(case, where)
        if masked(text) == masked(kept(case)):
            print(f'{case[0]}: as it was')
            continue
        with open(path(case), 'w', encoding='utf-8') as f:
            f.write(text)
        print(f'{case[0]}: changed')


if __name__ == '__main__':
    main()
