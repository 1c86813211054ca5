#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Patterns of looms, decoded by a library in C that is built on the spot, in a thread that calls it."""
import ctypes
import os
import queue
import subprocess
import threading

from kit import Card, cfg, note, settle

SOURCE = r'''
#include <stddef.h>
#include <stdint.h>
void decode(const uint8_t *in, size_t n, uint8_t *out, size_t room, int rounds)
{
	uint32_t h = 1;
	size_t i;

	while (rounds--)
		for (i = 0; i < room; i++) {
			h = (h ^ in[i % n]) * 16777619u;
			out[i] = (uint8_t)(h >> 24);
		}
}
'''


def built():
    source, library = os.path.join(cfg.own, 'decode.c'), os.path.join(cfg.own, 'decode.so')
    with open(source, 'w') as f:
        f.write(SOURCE)
    subprocess.run(['cc', '-O1', '-shared', '-fPIC', '-o', library, source], check=True)
    return ctypes.CDLL(library)


def weave(library, q):
    settle()
    for k in range(cfg.steps):
        with note('get', k):
            with open(f'{cfg.root}/f{k % cfg.files}', 'rb') as f:  #: get
                card = f.read()  #: get
        cloth = ctypes.create_string_buffer(262_144)
        with note('make', k):
            library.decode(card, ctypes.c_size_t(len(card)), cloth, ctypes.c_size_t(262_144), cfg.rounds)  #: make
        q.put((k, cloth))


def main():
    q = queue.Queue(2)
    threading.Thread(target=weave, args=(built(), q), daemon=True).start()
    card = Card()
    for _ in range(cfg.steps):
        with note('wait') as n:
            n.key, cloth = q.get()  #: wait
        card.step(cloth)


main()
