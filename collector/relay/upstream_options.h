/* SPDX-License-Identifier: Apache-2.0 */
/* --upstream and its options. Texts are the command line's. */
#ifndef COLL_UPSTREAM_OPTIONS_H
#define COLL_UPSTREAM_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct coll_upstream_options {
	const char *url; /* NULL: nothing is forwarded */
	const char *token_file, *ca, *cert, *key; /* NULL: not given */
	const char *exec; /* see behind.h; NULL: nothing is started */
	bool insecure_http;
	int linger_s;
	uint64_t outbox_max; /* bytes, 0: no bound */
	bool remove_forwarded;
	bool one_run; /* --until-eof: what others left in the folder is none of its business */
};

#endif
