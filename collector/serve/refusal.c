/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts and headers.
 */
#include "refusal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "auth.h"

void coll_say_stored(struct coll_http_request *r, uint64_t bytes)
{
	char number[24];

	snprintf(number, sizeof(number), "%" PRIu64, bytes);
	coll_http_header(r, "Gpustarve-Stored", number);
}

void coll_refuse_frame(struct coll_http_request *r, const struct coll_refused *bad)
{
	char text[320];

	if (bad->named)
		snprintf(text, sizeof(text),
			 "the frame at byte %" PRIu64 ", stream %s, number %" PRIu64 ": %s",
			 bad->offset, bad->stream, bad->seq, bad->why);
	else
		snprintf(text, sizeof(text), "the frame at byte %" PRIu64 ": %s", bad->offset,
			 bad->why);
	coll_auth_log(r, text);
	coll_say_stored(r, bad->offset);
	if (bad->damaged)
		coll_http_header(r, "Gpustarve-Damaged", "1");
	coll_http_text(r, bad->unknown ? 409 : 400, "%s\n", text);
}

void coll_cannot_store(struct coll_http_request *r, int err)
{
	bool full = err == -ENOSPC || err == -EDQUOT;

	coll_http_header(r, "Retry-After", full ? "10" : "1");
	coll_http_text(r, full ? 507 : 503, "cannot store now: %s\n", strerror(-err));
}
