/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies to and from what is stored: zstd where it makes them smaller. Private to wire.
 * The contexts belong to the caller and are reused; one thread at a time.
 */
#ifndef WIRE_CODEC_H
#define WIRE_CODEC_H

#include <stdbool.h>
#include <zstd.h>
#include "buf.h"

/* A compression context for bodies at a zstd level; NULL: no memory. Free: ZSTD_freeCCtx. */
ZSTD_CCtx *wire_codec_new(int level);

/*
 * Compresses @raw into @out, whose old content is dropped. *packed false: it would not get smaller,
 * @out is empty and the raw bytes are to be stored. 0 or a buffer error.
 */
int wire_codec_pack(ZSTD_CCtx *z, const void *raw, size_t len, struct wire_buf *out, bool *packed);

/* Replaces @out by the @raw_len bytes that @body holds. 0, -EBADMSG or a buffer error. */
int wire_codec_unpack(ZSTD_DCtx *z, const void *body, size_t len, size_t raw_len,
		      struct wire_buf *out);

#endif
