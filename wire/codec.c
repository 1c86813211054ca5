/* SPDX-License-Identifier: Apache-2.0 */
/*
 * zstd around bodies. Frame checksums cover what is stored, so zstd's own stays off.
 */
#include "codec.h"

#include <errno.h>

#define WORTH_IT 32 /* smaller bodies are stored as they are */

ZSTD_CCtx *wire_codec_new(int level)
{
	ZSTD_CCtx *z = ZSTD_createCCtx();

	if (z && ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, level))) {
		ZSTD_freeCCtx(z);
		return NULL;
	}
	return z;
}

int wire_codec_pack(ZSTD_CCtx *z, const void *raw, size_t len, struct wire_buf *out, bool *packed)
{
	size_t got;
	int err;

	*packed = false;
	out->len = 0;
	if (len < WORTH_IT)
		return 0;
	err = wire_buf_reserve(out, len);
	if (err)
		return err;
	/* Less room than the bound: what does not fit would not be smaller anyway. */
	got = ZSTD_compress2(z, out->data, len - 1, raw, len);
	if (ZSTD_isError(got))
		return 0;
	out->len = got;
	*packed = true;
	return 0;
}

int wire_codec_unpack(ZSTD_DCtx *z, const void *body, size_t len, size_t raw_len,
		      struct wire_buf *out)
{
	size_t got;
	int err;

	out->len = 0;
	err = wire_buf_reserve(out, raw_len);
	if (err)
		return err;
	got = ZSTD_decompressDCtx(z, out->data, raw_len, body, len);
	if (ZSTD_isError(got) || got != raw_len)
		return -EBADMSG;
	out->len = got;
	return 0;
}
