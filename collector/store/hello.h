/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the collector needs of a Hello: which run the stream belongs to, and which process it is.
 * The one message it ever reads.
 */
#ifndef COLL_HELLO_H
#define COLL_HELLO_H

#include <stdint.h>
#include "run_name.h"
#include "wire/frame.h"

#define COLL_HOST_BYTES 256

struct coll_hello {
	char run[COLL_RUN_BYTES]; /* safe as a file name; "": none */
	char host[COLL_HOST_BYTES]; /* as given, cut if longer; "": none */
	int64_t pid;
	int64_t start_ns;
};

/* Reads the payload (head and body) of a Hello frame. 0, -EBADMSG or -ENOMEM. */
int coll_hello_read(struct coll_hello *h, const struct wire_frame *f, const uint8_t *payload);

#endif
