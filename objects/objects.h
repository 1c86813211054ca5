/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bucket of an object store that speaks S3's API, or what lies in it behind a prefix: whole
 * objects in, ranges of them out, lists, sizes, removal. Requests are signed by libcurl (aws-sigv4),
 * over connections that are kept. Nothing here knows what the bytes are.
 *
 * Who may use it and where it is come from where other programs of S3 have them:
 *   AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN; else the file
 *   AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials, and AWS_CONFIG_FILE or ~/.aws/config, the
 *   profile AWS_PROFILE or "default"; AWS_REGION or AWS_DEFAULT_REGION; AWS_ENDPOINT_URL_S3 or
 *   AWS_ENDPOINT_URL; AWS_CA_BUNDLE.
 * None of these is ever in a message, nor in a command line.
 *
 * Calls block: some seconds where the store is busy or away, for what may pass is tried again
 * (OBJECTS_TRIES). Any thread, several at once.
 */
#ifndef OBJECTS_H
#define OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "seen.h"
#include "trouble.h"

struct objects;

/* Whether this names an object store: "s3://...". */
bool objects_is_url(const char *text);

/*
 * "s3://BUCKET" or "s3://BUCKET/PREFIX"; keys of the calls below go behind PREFIX and a slash. Sends
 * nothing. 0, -EINVAL (no such URL), -ENOKEY (nobody says who we are), -EILSEQ (in words that no header can hold), -ENOSYS (this libcurl cannot
 * sign) or -ENOMEM.
 */
int objects_open(struct objects **o, const char *url, struct objects_trouble *t);
void objects_close(struct objects *o);

/*
 * Bytes [at, at + len) of an object into @to: how many there were, fewer only where it ends, or
 * negative errno: -ENOENT, -EACCES, -ETIMEDOUT (still so after all tries), -EIO (an answer that is
 * none), -ENOMEM.
 */
ssize_t objects_get(struct objects *o, const char *key, uint64_t at, void *to, size_t len,
		    struct objects_trouble *t);

/* Its size. 0 or as above. */
int objects_size(struct objects *o, const char *key, uint64_t *bytes, struct objects_trouble *t);

/*
 * The object is there as a whole when this returns 0, or nothing of it. @fresh: only if none is
 * there yet, else -EEXIST; a store that knows no conditions (Swift) is asked for its size first, so
 * that of two who come together the later one wins. An earlier try of the same call may have come
 * through: then -EEXIST can mean our own bytes. Errors as above.
 */
int objects_put(struct objects *o, const char *key, const void *bytes, size_t len, bool fresh,
		struct objects_trouble *t);

/* 0 also if there was none. Errors as above. */
int objects_remove(struct objects *o, const char *key, struct objects_trouble *t);

/*
 * Calls @found for each object whose key begins with @prefix, in order of bytes; its key is valid
 * during the call. Ends with what @found returns unless 0. 0 or errors as above; -EIO also where the
 * store's list has no end.
 */
int objects_list(struct objects *o, const char *prefix,
		 int (*found)(void *arg, const char *key, uint64_t bytes), void *arg,
		 struct objects_trouble *t);

/*
 * The same with all that a list says, and keys as they are behind @prefix. @folders: of the keys
 * that have a slash there only what comes before it, and that slash, once each (no etag, no size, no
 * time). @most: so many at most, 0: all. *now_s: the store's own time when it answered last, Unix
 * seconds; 0: it does not say. Ages are that less `changed_s`, which is the store's, too: no clock
 * of ours is in it.
 */
int objects_browse(struct objects *o, const char *prefix, bool folders, unsigned int most,
		   int (*found)(void *arg, const struct objects_seen *s), void *arg, int64_t *now_s,
		   struct objects_trouble *t);

/* What was asked of the store so far, tries included, and bytes that came. */
struct objects_use {
	uint64_t requests, bytes;
};
void objects_used(const struct objects *o, struct objects_use *u);

#endif
