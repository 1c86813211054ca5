/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run a stream is of. Only a stream's first frame says so, and it may have come to another
 * gateway: so whoever stores that frame leaves an object `.streams/TEAM/HEX` with the run's name
 * before he acknowledges it, and who does not know a stream reads it. What was known is kept, up to
 * COLL_STREAM_RUNS of them; then all is forgotten, and read again.
 *
 * The table is the loop's; the calls of the store are any thread's.
 */
#ifndef COLL_STREAM_RUNS_H
#define COLL_STREAM_RUNS_H

#include <stddef.h>
#include <stdint.h>
#include "objects/objects.h"
#include "store/run_name.h"
#include "wire/frame.h"
#include "wire/keyed_hash.h"

#define COLL_STREAM_RUNS (64u << 10)
#define COLL_STREAMS_FOLDER ".streams"

struct coll_stream_run;

struct coll_stream_runs { /* zero-initialise it; coll_stream_runs_fini */
	struct coll_stream_run **at;
	size_t count;
	struct wire_secret secret;
};

/* NULL: not known here. Valid until the next coll_stream_runs_note. */
const char *coll_stream_runs_find(const struct coll_stream_runs *r, const char *team,
				  const uint8_t id[WIRE_STREAM_ID_BYTES]);
/* Without memory it is not noted. */
void coll_stream_runs_note(struct coll_stream_runs *r, const char *team,
			   const uint8_t id[WIRE_STREAM_ID_BYTES], const char *run);
void coll_stream_runs_fini(struct coll_stream_runs *r);

/* Reads it from the store: 0, -ENOENT, or an error of objects_get. */
int coll_stream_run_read(struct objects *o, const char *team, const char *hex,
			 char run[COLL_RUN_BYTES], struct objects_trouble *t);
/* 0: it is durable. */
int coll_stream_run_write(struct objects *o, const char *team, const char *hex, const char *run,
			  struct objects_trouble *t);

#endif
