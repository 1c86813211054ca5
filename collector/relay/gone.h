/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was removed here because the centre had it: BASE/.upstream-gone, a line `ID EXTENT STREAM
 * RUN` for each stream (the store that had it, how long it was there). Should that store go back in
 * time, nobody can send it again; but it is found out and said, once: when the centre is new or was
 * started anew it is asked about these, too (POST /v1/held). Bounded: beyond COLL_GONE_MAX the
 * older half is forgotten.
 *
 * coll_gone_lets_go is called by whoever removes runs, in any process; gone_check.h asks.
 */
#ifndef COLL_GONE_H
#define COLL_GONE_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/buf.h"

#define COLL_GONE_FILE ".upstream-gone"
#define COLL_GONE_MAX (1u << 20)

struct coll_gone { /* zero at first */
	uint64_t start; /* of the centre, in which it was asked about all */
	char *text; /* the file, while it is asked about; NULL: not now */
	char *at; /* what of it comes next; NULL: nothing */
	char *end; /* where it ends */
	struct wire_buf body; /* the question that is under way */
	char *from, *to; /* the lines that it is about, cut apart: 0 bytes between */
	struct wire_buf lost; /* lines of which something is lost */
};

/* A coll_run_dispensable: what is not forwarded may go, and what is and goes is noted. */
bool coll_gone_lets_go(int run_fd, const char *going);

/* The whole list, to be freed; NULL: there is none. 0 or -errno. */
int coll_gone_read(int base_fd, char **text);

/* Without these lines, of which each ends with a 0 byte. */
void coll_gone_take_out(int base_fd, const struct wire_buf *lines);

#endif
