#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's datasets, streamed: lines of JSON, mapped and batched in the loop's own thread; with fetch over HTTP."""
import json
import os
import re

import datasets
import numpy

import job

WORD = re.compile(r'(?:[aeiou]+|[^aeiou ]{1,3})')
IDS = {}


def tokenise(row):
    with job.note('make'):
        ids = [IDS.setdefault(piece, len(IDS)) for word in row['text'].split() for piece in WORD.findall(word)]  #: make
        return {'ids': (ids + [0] * 512)[:512]}


def files(n=4):
    texts = job.texts(6000 if job.PREP else 14000 if job.FETCH else 1500)
    for k in range(n):
        with open(os.path.join(job.cfg.data, f'part{k}.jsonl'), 'w', encoding='ascii') as file:
            for text in texts[k::n]:
                file.write(json.dumps({'text': text[:1000], 'pad': text} if job.FETCH else {'text': text}) + '\n')
    return [f'{job.cfg.url}/part{k}.jsonl' if job.FETCH else os.path.join(job.cfg.data, f'part{k}.jsonl') for k in range(n)]


def main():
    os.environ.update(HF_HUB_OFFLINE='1', no_proxy='127.0.0.1')
    data = datasets.load_dataset('json', data_files=files(), split='train', streaming=True,
                                 cache_dir=os.path.join(job.cfg.data, 'cache'))
    data = data.map(tokenise).select_columns('ids')
    card = job.Card(native=job.FETCH)
    for rows in data.iter(batch_size=job.cfg.batch):  #: wait native
        card.step(numpy.asarray(rows['ids']))


if __name__ == '__main__':
    main()
