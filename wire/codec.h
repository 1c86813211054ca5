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
#include "column.h"

struct wire_codec {
	ZSTD_CCtx *zstd;
	int level;
};

/* 0, -ENOMEM or -EINVAL (level). */
int wire_codec_init(struct wire_codec *c, int level);
void wire_codec_fini(struct wire_codec *c);

/*
 * Compresses @raw into @out, whose old content is dropped. With @cut, which lies in @raw, the
 * bytes are columns: settings measured on them, and statistics of their own between two cuts.
 * *packed false: it would not get smaller, and the raw bytes are to be stored. 0 or a buffer
 * error.
 */
int wire_codec_pack(struct wire_codec *c, const struct wire_buf *raw, const struct wire_cuts *cut,
		    struct wire_buf *out, bool *packed);

/* Replaces @out by the @raw_len bytes that @body holds. 0, -EBADMSG or a buffer error. */
int wire_codec_unpack(ZSTD_DCtx *z, const void *body, size_t len, size_t raw_len,
		      struct wire_buf *out);

#endif
