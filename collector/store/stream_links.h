/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which run a stream is of, where only its number is known: BASE/.streams/<stream>, a link with the
 * name of the run's directory, from when the stream is opened until it was closed after its Bye. So
 * a store of a hundred thousand runs is not looked through for each stream that goes on after a
 * restart. `.streams/.all` says that every stream that goes on has one; where it is missing, as in
 * a store of before, runs are looked through, once a second at most, until a sweep has made them.
 * One thread.
 */
#ifndef COLL_STREAM_LINKS_H
#define COLL_STREAM_LINKS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define COLL_STREAM_LINKS ".streams"
#define COLL_STREAM_LINKS_ALL ".all"
/* who was away for longer sends a stream again from its beginning */
#define COLL_STREAM_LINKS_DAYS 2

struct coll_stream_links {
	bool kept; /* else nothing of all this is done */
	bool all;
	int fd; /* of the folder, valid with kept */
	int64_t searched_ns; /* monotonic: when runs were looked through last, 0: never */
};

/*
 * Makes the folder in the one that @base_fd is, if need be. Without it streams are searched as
 * ever.
 */
void coll_stream_links_open(struct coll_stream_links *l, int base_fd);
void coll_stream_links_close(struct coll_stream_links *l);

/* The stream @hex is in the run directory @name. Nothing fails with it. */
void coll_stream_links_put(struct coll_stream_links *l, const char *hex, const char *name);
void coll_stream_links_remove(struct coll_stream_links *l, const char *hex);

/*
 * 0: @name is filled, though its directory may be gone. -ENOENT: no run has the stream; -ENODATA:
 * that is not known, and the caller is to look; -EAGAIN: the same, but somebody just did.
 */
int coll_stream_links_get(struct coll_stream_links *l, const char *hex, char name[NAME_MAX + 1]);

/* Whether they are not kept there, or there is one for each stream that may go on. */
bool coll_stream_links_whole(int base_fd);

/*
 * For a sweep, of the folder that @base_fd is, if links are kept there: those whose stream is gone
 * are removed, and where .all is missing, streams that were written to within the last days get
 * theirs. @now_ns: CLOCK_REALTIME.
 */
void coll_stream_links_clean(int base_fd, int64_t now_ns);

#endif
