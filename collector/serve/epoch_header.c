/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A header each way. What is asked for is the first word, without what the store was copied from.
 */
#include "epoch_header.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "gateway/gateway.h"
#include "relay/gather.h"

/* A gateway has no store that could be another one; it asks to be sent to rarely. */
static void say_gather(struct coll_http_request *r)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %d", COLL_GATHER_BYTES, r->parts->gateway->opts->gather_s);
	coll_http_header(r, COLL_GATHER_HEADER, text);
}

bool coll_http_say_epoch(struct coll_http_request *r)
{
	const char *epoch;
	int err;

	if (r->parts->gateway) {
		say_gather(r);
		return true;
	}
	epoch = coll_store_epoch(r->team->store, &err);
	if (epoch) {
		coll_http_header(r, COLL_EPOCH_HEADER, epoch);
		return true;
	}
	coll_http_header(r, "Retry-After", "10");
	coll_http_text(r, err == -ENOSPC || err == -EDQUOT ? 507 : 503, "cannot store now: %s\n",
		       strerror(-err));
	return false;
}

static bool is_meant(const char *asked, const char *epoch)
{
	size_t len = strcspn(epoch, ",");

	return strlen(asked) == len && !strncmp(asked, epoch, len);
}

bool coll_http_refuse_epoch(struct coll_http_request *r)
{
	const char *asked = coll_http_asked(r, COLL_EPOCH_HEADER);
	int err;

	if (!coll_http_say_epoch(r))
		return true;
	if (!asked || r->parts->gateway || is_meant(asked, coll_store_epoch(r->team->store, &err)))
		return false;
	coll_http_text(r, 412, COLL_EPOCH_OTHER);
	return true;
}
