/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd around bodies. Frame checksums cover what is stored, so zstd's own stays off.
 */
#define ZSTD_STATIC_LINKING_ONLY /* for ZSTD_c_literalCompressionMode */
#include "codec.h"

#include <errno.h>

#define WORTH_IT 32 /* smaller bodies are stored as they are */
#define PIECE_BYTES 1000 /* smaller pieces do not pay for statistics of their own */
#define TUNED_LEVEL 3 /* above, blocks are compressed at the level as it is */

int wire_codec_init(struct wire_codec *c, int level)
{
	c->level = level;
	c->zstd = ZSTD_createCCtx();
	if (!c->zstd)
		return -ENOMEM;
	if (!ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, level)))
		return 0;
	wire_codec_fini(c);
	return -EINVAL;
}

void wire_codec_fini(struct wire_codec *c)
{
	ZSTD_freeCCtx(c->zstd);
	c->zstd = NULL;
}

/*
 * Columns are either noise, where looking for matches is a waste and entropy coding is all, or
 * repeat for long, where long matches are found soon. Against level 3 this takes half the time and
 * is no larger (tests/bench/bench_wire.c). A zstd that lacks a parameter does without.
 */
static void tune(struct wire_codec *c)
{
	static const struct {
		ZSTD_cParameter name;
		int value;
	} set[] = {
		{ ZSTD_c_strategy, ZSTD_fast },
		{ ZSTD_c_minMatch, 7 },
		{ ZSTD_c_targetLength, 8 },
		{ ZSTD_c_hashLog, 10 },
		{ ZSTD_c_literalCompressionMode, ZSTD_ps_enable },
	};
	size_t i;

	ZSTD_CCtx_reset(c->zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, 1);
	for (i = 0; i < sizeof(set) / sizeof(set[0]); i++)
		ZSTD_CCtx_setParameter(c->zstd, set[i].name, set[i].value);
}

static void prepare(struct wire_codec *c, bool columns)
{
	if (columns && c->level <= TUNED_LEVEL) {
		tune(c);
	} else {
		ZSTD_CCtx_reset(c->zstd, ZSTD_reset_session_and_parameters);
		ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, c->level);
	}
}

/* One step of a zstd frame; false when it does not fit. */
static bool step(ZSTD_CCtx *z, ZSTD_outBuffer *out, const uint8_t *p, size_t len,
		 ZSTD_EndDirective how)
{
	ZSTD_inBuffer in = { p, len, 0 };

	return ZSTD_compressStream2(z, out, &in, how) == 0;
}

/* The pieces between the cuts as blocks of one zstd frame, tables of their own each. */
static bool pack_pieces(ZSTD_CCtx *z, const struct wire_buf *raw, const struct wire_cuts *cut,
			ZSTD_outBuffer *out)
{
	const uint8_t *p = raw->data, *end = raw->data + raw->len;
	unsigned int i;

	ZSTD_CCtx_setPledgedSrcSize(z, raw->len);
	for (i = 0; i < cut->used; i++) {
		if (cut->at[i] - p < PIECE_BYTES || end - cut->at[i] < PIECE_BYTES)
			continue;
		if (!step(z, out, p, (size_t)(cut->at[i] - p), ZSTD_e_flush))
			return false;
		p = cut->at[i];
	}
	return step(z, out, p, (size_t)(end - p), ZSTD_e_end);
}

int wire_codec_pack(struct wire_codec *c, const struct wire_buf *raw, const struct wire_cuts *cut,
		    struct wire_buf *out, bool *packed)
{
	ZSTD_outBuffer to;
	int err;

	*packed = false;
	out->len = 0;
	if (raw->len < WORTH_IT)
		return 0;
	err = wire_buf_reserve(out, ZSTD_compressBound(raw->len));
	if (err)
		return err;
	to = (ZSTD_outBuffer){ out->data, out->room, 0 };
	prepare(c, cut);
	if (cut) {
		*packed = pack_pieces(c->zstd, raw, cut, &to);
	} else {
		to.pos = ZSTD_compress2(c->zstd, to.dst, to.size, raw->data, raw->len);
		*packed = !ZSTD_isError(to.pos);
	}
	*packed = *packed && to.pos < raw->len;
	out->len = *packed ? to.pos : 0;
	return 0;
}

int wire_codec_unpack(ZSTD_DCtx *z, const void *body, size_t len, size_t raw_len,
		      struct wire_buf *out)
{
	size_t got;
	int err;

	out->len = 0;
	err = wire_buf_reserve(out, raw_len + 1); /* never NULL, also when empty */
	if (err)
		return err;
	got = ZSTD_decompressDCtx(z, out->data, raw_len, body, len);
	if (ZSTD_isError(got) || got != raw_len)
		return -EBADMSG;
	out->len = got;
	return 0;
}
