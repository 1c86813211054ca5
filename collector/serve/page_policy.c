/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page names the hashes of its style and its script in a meta element. A header says the same,
 * and who may frame it, which a meta element cannot.
 */
#include <stdio.h>
#include <string.h>
#include "render_jobs.h"

#define LOOK_AT 8192

static const char mark[] = "<meta http-equiv=\"Content-Security-Policy\" content=\"";

bool coll_page_policy(const char *page, size_t len, char *out, size_t room)
{
	static const char good[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ';:-+/=";
	const char *at = memmem(page, len < LOOK_AT ? len : LOOK_AT, mark, sizeof(mark) - 1), *end;
	int n;

	if (!at)
		return false;
	at += sizeof(mark) - 1;
	end = memchr(at, '"', len - (size_t)(at - page));
	if (!end)
		return false;
	n = snprintf(out, room, "%.*s", (int)(end - at), at);
	if (n <= 0 || (size_t)n >= room || strspn(out, good) != (size_t)n ||
	    strncmp(out, "default-src 'none';", 19))
		return false;
	n = snprintf(out + n, room - (size_t)n, "; frame-ancestors 'none'") + n;
	return (size_t)n < room;
}
