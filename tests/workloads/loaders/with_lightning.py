#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A LightningModule whose Trainer has the loop; the loader makes batches in the trainer's own process or in workers."""
import logging
import os
import warnings
import zlib

import lightning
import numpy
import torch

import job

warnings.filterwarnings('ignore')
logging.getLogger('lightning.pytorch').setLevel(logging.ERROR)
SIZE = 2_500_000 if job.PREP else 96 * 96 if job.FETCH else 800_000


class Blobs(torch.utils.data.Dataset):
    """Frames in deflate, as scientific instruments write them."""

    def __init__(self):
        draw = numpy.random.RandomState(5)
        data = zlib.compress(draw.randint(0, 9, SIZE).astype('uint8').tobytes(), 1)
        data += b'\0' * (80_000 - len(data)) if job.FETCH else b''
        for i in range(job.cfg.items):
            with open(os.path.join(job.cfg.data, f'{i}.z'), 'wb') as file:
                file.write(data)

    def __len__(self):
        return job.cfg.items

    def __getitem__(self, i):
        with job.note('read'):
            with open(job.source(f'{i}.z'), 'rb') as file:  #: read
                data = file.read()  #: read
        with job.note('make'):
            raw = zlib.decompressobj().decompress(data)  #: make
            return torch.frombuffer(bytearray(raw[:96 * 96]), dtype=torch.uint8)


class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def on_train_start(self):
        self.card = job.Card()

    def training_step(self, batch, _):
        self.card.step(batch.numpy())

    def configure_optimizers(self):
        return None


def main():
    loader = torch.utils.data.DataLoader(Blobs(), batch_size=job.cfg.batch, num_workers=job.cfg.workers)
    trainer = lightning.Trainer(accelerator='cpu', max_epochs=1, logger=False, enable_checkpointing=False,
                                enable_progress_bar=False, enable_model_summary=False,
                                default_root_dir=job.cfg.data)
    trainer.fit(Model(), loader)  #: wait


if __name__ == '__main__':
    main()
