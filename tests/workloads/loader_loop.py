#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The loader of train_loader.py without its GPU: what `gpustarve check --replay` is for."""
import train_loader


def main():
    args = train_loader.parse()
    loader = train_loader.make_loader(args)
    for _ in range(args.epochs):
        for batch in loader:
            pass
    print('went through', len(loader), 'batches')


if __name__ == '__main__':
    main()
