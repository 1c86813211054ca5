/* SPDX-License-Identifier: Apache-2.0 */
/* GET from a collector: the whole answer in memory, bounded in size and time. One thread. */
#ifndef VIEW_TOP_FETCH_H
#define VIEW_TOP_FETCH_H

#include <stdbool.h>
#include <stddef.h>

#define TOP_FETCH_MAX (8u << 20)

struct top_fetch; /* a connection that is kept, and the credential */

/*
 * The token: first line of @token_file, else GPUSTARVE_TOKEN, else none. @ca_file: authority of the
 * server's certificate, NULL: the system's. NULL: cannot be; said on stderr.
 */
struct top_fetch *top_fetch_new(const char *token_file, const char *ca_file);
void top_fetch_free(struct top_fetch *f);

/*
 * *text (until the next call) gets the body with a NUL behind it. False: @why (256 bytes) says what
 * went wrong, fit for a terminal.
 */
bool top_fetch_get(struct top_fetch *f, const char *url, const char **text, size_t *len,
		   char why[256]);

/* Of the last answer; 0: there was none, the collector was not reached. */
long top_fetch_status(const struct top_fetch *f);

#endif
