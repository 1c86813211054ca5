#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer on a tiny GPT-2 made from scratch; no hub, no tokenizer, tokens that take --sample-ms to make."""
import os
import sys
import tempfile
import time

os.environ.setdefault('HF_HUB_OFFLINE', '1')

import torch  # noqa: E402
import transformers  # noqa: E402

import told  # noqa: E402

VOCABULARY, LENGTH = 256, 32


class Tokens(torch.utils.data.Dataset):
    def __init__(self, args):
        self.args = args

    def __len__(self):
        return self.args.steps * self.args.batch

    def __getitem__(self, i):
        time.sleep(self.args.sample_ms / 1000)  #: sample
        ids = (torch.arange(LENGTH) + i) % VOCABULARY
        return dict(input_ids=ids, labels=ids)


def train(args, folder):
    shape = transformers.GPT2Config(vocab_size=VOCABULARY, n_positions=LENGTH, n_embd=64, n_layer=2, n_head=2)
    how = transformers.TrainingArguments(
        folder, max_steps=args.steps, per_device_train_batch_size=args.batch, dataloader_num_workers=args.workers,
        report_to=[], save_strategy='no', logging_steps=10, disable_tqdm=True, bf16=True, seed=args.seed)
    trainer = transformers.Trainer(transformers.GPT2LMHeadModel(shape), how, train_dataset=Tokens(args))
    trainer.train()
    torch.cuda.synchronize()
    return trainer.state.global_step


def main():
    p = told.options(__doc__)
    p.add_argument('--sample-ms', type=float, default=2)
    args = p.parse_args()
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args), tempfile.TemporaryDirectory() as folder:
        steps = train(args, folder)
    note.write(steps=steps, line=told.marked(__name__, 'sample'))
    print(f'trained {steps} steps')


if __name__ == '__main__':
    sys.exit(main())
