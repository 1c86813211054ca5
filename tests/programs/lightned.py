#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lightning's Trainer over a small model and a DataLoader whose samples take --sample-ms each."""
import sys
import tempfile

import lightning
import torch

import slow
import told


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
    args = slow.options(told.options(__doc__)).parse_args()
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args), tempfile.TemporaryDirectory() as folder:
        trainer = lightning.Trainer(accelerator='gpu', devices=1, max_epochs=1, logger=False, enable_checkpointing=False,
                                    enable_progress_bar=False, enable_model_summary=False, default_root_dir=folder)
        loader = torch.utils.data.DataLoader(slow.Slow(args), batch_size=args.batch, num_workers=args.workers, pin_memory=True)
        trainer.fit(Model(), loader)
        note.count('copy-h2d', 2 * trainer.global_step)
    note.write(steps=trainer.global_step, line=told.marked('slow', 'sample'))
    print(f'trained {trainer.global_step} steps')


if __name__ == '__main__':
    sys.exit(main())
