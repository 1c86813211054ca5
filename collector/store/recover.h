/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a stream's file from where it is known (s->size, 0: its beginning): which frames it holds,
 * where the last whole one ends, who the process was. Fills the stream's seqs, size, marks, who and
 * index. Of what is known already, the frames that the marks name are read. Bounded memory.
 */
#ifndef COLL_RECOVER_H
#define COLL_RECOVER_H

#include "stream.h"

/*
 * Who is told of Hello, Pulse, Facts and Bye that the file has; zero: nobody. @thinned: some before
 * it, and all Facts, were left out.
 */
struct coll_recovery_listener {
	void (*frame)(void *arg, const struct coll_stream *s, const struct wire_frame *f,
		      const uint8_t *payload, bool thinned);
	void *arg;
};

/* 0 or -errno; the file is only read. */
int coll_recover(struct coll_stream *s, const struct coll_recovery_listener *listener);

#endif
