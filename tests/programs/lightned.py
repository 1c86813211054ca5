#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer over a small model and a DataLoader whose samples take --sample-ms each."""
import sys
import tempfile
import time

import lightning
import torch

import told


class Slow(torch.utils.data.Dataset):
    def __init__(self, args):
        self.args = args

    def __len__(self):
        return self.args.steps * self.args.batch

    def __getitem__(self, i):
        time.sleep(self.args.sample_ms / 1000)  #: sample
        return torch.full((64,), float(i % 5)), i % 10


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))

    def training_step(self, batch, i):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-3)


def main():
    p = told.options(__doc__)
    p.add_argument('--sample-ms', type=float, default=2)
    args = p.parse_args()
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args), tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(accelerator='gpu', devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
        loader = torch.utils.data.DataLoader(Slow(args), batch_size=args.batch, num_workers=args.workers, pin_memory=True)
        trainer.fit(Model(), loader)
        note.count('copy-h2d', 2 * trainer.global_step)
    note.write(steps=trainer.global_step, line=told.marked(__name__, 'sample'))
    print(f'trained {trainer.global_step} steps')


if __name__ == '__main__':
    sys.exit(main())
