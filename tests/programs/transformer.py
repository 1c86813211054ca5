#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small transformer in plain PyTorch: autocast to bfloat16, fused AdamW, gradients clipped, tokens that are ready. --graph
records a step once and replays it; --compile gives the model to torch.compile."""
import sys

import torch
import torch.nn as nn
import torch.nn.functional as F

import told


def parse():
    p = told.options(__doc__, steps=20, batch=8)
    p.add_argument('--width', type=int, default=128)
    p.add_argument('--layers', type=int, default=4)
    p.add_argument('--length', type=int, default=64)
    p.add_argument('--graph', action='store_true')
    p.add_argument('--compile', action='store_true')
    return p.parse_args()


class Language(nn.Module):
    VOCABULARY = 512

    def __init__(self, args):
        super().__init__()
        self.embed = nn.Embedding(self.VOCABULARY, args.width)
        layer = nn.TransformerEncoderLayer(args.width, 4, 4 * args.width, batch_first=True, dropout=0.0, norm_first=True)
        self.body = nn.TransformerEncoder(layer, args.layers, enable_nested_tensor=False)
        self.head = nn.Linear(args.width, self.VOCABULARY)

    def forward(self, tokens):
        return self.head(self.body(self.embed(tokens)))


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = Language(args).cuda()
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3, fused=True, capturable=args.graph)
        self.forward = torch.compile(self.model) if args.compile else self.model

    def body(self, tokens):
        self.opt.zero_grad(set_to_none=not self.args.graph)
        with torch.autocast('cuda', torch.bfloat16):
            logits = self.forward(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1).float(), tokens[:, 1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0, foreach=True)
        self.opt.step()

    def record(self, tokens):
        """The step as one graph, over tokens that stay where they are."""
        self.tokens = tokens.cuda()
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.body(self.tokens)
        torch.cuda.current_stream().wait_stream(side)
        self.replay = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.replay):
            self.body(self.tokens)


def data(args):
    for _ in range(args.steps):
        yield torch.randint(0, Language.VOCABULARY, (args.batch, args.length + 1)).pin_memory()


def train(args, note):
    trainer = Trainer(args)
    if args.graph:
        trainer.record(next(data(args)))
    for tokens in note.batches(data(args)):
        note.count('copy-h2d')
        if args.graph:
            trainer.tokens.copy_(tokens, non_blocking=True)
            trainer.replay.replay()
            note.count('graph')
        else:
            trainer.body(tokens.cuda(non_blocking=True))
    torch.cuda.synchronize()


def main():
    args = parse()
    told.same_each_time(args)
    note = told.Told(args)
    with told.watched(args):
        train(args, note)
    note.write(steps=args.steps)
    print(f'trained {args.steps} steps')


if __name__ == '__main__':
    sys.exit(main())
