#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hugging Face's Trainer on a tiny GPT-2 made from scratch; no hub, no tokenizer, tokens that take --sample-ms to make."""
import os
import sys
import tempfile

os.environ.setdefault('HF_HUB_OFFLINE', '1')

import torch  # noqa: E402
import transformers  # noqa: E402

import slow  # noqa: E402
import told  # noqa: E402

VOCABULARY, LENGTH = 256, 32


class Tokens(slow.Slow):
    def sample(self, i):
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
    args = slow.options(told.options(__doc__)).parse_args()
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args), tempfile.TemporaryDirectory() as folder:
        steps = train(args, folder)
    note.write(steps=steps, line=told.marked('slow', 'sample'))
    print(f'trained {steps} steps')


if __name__ == '__main__':
    sys.exit(main())
