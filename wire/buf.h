/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable byte buffer, caller-owned. Zero-initialise it; wire_buf_fini frees what it grew.
 * With a cap it refuses to grow beyond (-ENOSPC): libprof bounds its memory with it.
 * Any thread, one at a time.
 */
#ifndef WIRE_BUF_H
#define WIRE_BUF_H

#include <stddef.h>
#include <stdint.h>

struct wire_buf {
	uint8_t *data;
	size_t len;
	size_t room;
	size_t cap; /* 0: none */
};

/* Makes room for @more bytes behind len. 0, -ENOMEM or -ENOSPC; on error nothing changed. */
int wire_buf_reserve(struct wire_buf *b, size_t more);
int wire_buf_append(struct wire_buf *b, const void *bytes, size_t len);
void wire_buf_fini(struct wire_buf *b);

#endif
