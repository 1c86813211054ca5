#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's datasets: a parquet file with a transform that tokenises on access, in front of torch's DataLoader; with
fetch the rows are names of files."""
import os
import re

import datasets
import numpy
import torch

import job

WORD = re.compile(r'(?:[aeiou]+|[^aeiou ]{1,3})')
IDS = {}


def tokenise(text):
    return [IDS.setdefault(piece, len(IDS)) for word in text.split() for piece in WORD.findall(word)]  #: make


def transform(rows):
    out = []
    for text in rows['text']:
        if job.FETCH:
            with job.note('read'):
                with open(text, encoding='ascii') as file:  #: read
                    text = file.read()  #: read
            text = text[:2000]
        with job.note('make'):
            out.append(numpy.array((tokenise(text) + [0] * 512)[:512]))
    return {'ids': out}


def main():
    texts = job.texts(12000 if job.PREP else 3000 if not job.FETCH else 14000)
    if job.FETCH:
        for i, text in enumerate(texts):
            with open(os.path.join(job.cfg.data, f'{i}.txt'), 'w', encoding='ascii') as file:
                file.write(text)
        texts = [job.source(f'{i}.txt') for i in range(len(texts))]
    data = datasets.Dataset.from_dict({'text': texts}).with_transform(transform)
    loader = torch.utils.data.DataLoader(data, batch_size=job.cfg.batch, num_workers=job.cfg.workers)
    card = job.Card()
    for rows in loader:  #: wait
        card.step(rows['ids'].numpy())


if __name__ == '__main__':
    main()
