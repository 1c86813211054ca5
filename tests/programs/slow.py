# SPDX-License-Identifier: Apache-2.0
"""A data set whose samples take --sample-ms each and need no CPU meanwhile."""
import time

import torch


class Slow(torch.utils.data.Dataset):
    def __init__(self, args):
        self.args = args

    def __len__(self):
        return self.args.steps * self.args.batch

    def __getitem__(self, i):
        time.sleep(self.args.sample_ms / 1000)  #: sample
        return self.sample(i)

    def sample(self, i):
        return torch.full((64,), float(i % 5)), i % 10


def options(parser):
    """Adds what the data set wants to know."""
    parser.add_argument('--sample-ms', type=float, default=2)
    return parser
