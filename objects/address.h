/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How buckets and keys are written: in "s3://BUCKET/PREFIX", and in the URL of a request, encoded as
 * its signature wants it (every byte but A-Z a-z 0-9 - . _ ~ and, in a path, the slash). Pure.
 * Private to objects.
 */
#ifndef OBJECTS_ADDRESS_H
#define OBJECTS_ADDRESS_H

#include <stdbool.h>
#include "account.h"

/* Whether this is meant for one: "s3://...". */
bool objects_address_is(const char *text);

struct objects_address { /* of the caller's arena */
	const char *bucket;
	const char *prefix; /* "" or with a slash behind it */
	const char *base; /* what the bucket's URLs begin with: no slash behind it */
};

/*
 * Takes "s3://BUCKET[/PREFIX]" apart. Buckets of Amazon's are part of the host's name; of others
 * (@a has an endpoint), and where a name has dots, which no certificate covers, part of the path.
 * 0, or -EINVAL: no bucket's name, or an endpoint that is no http or https URL of a host alone.
 */
int objects_address_of(struct objects_address *to, struct base_arena *mem, const char *url,
		       const struct objects_account *a);

/* The URL of the object behind @prefix; NULL: no key, or one that is too long. */
char *objects_url_of_key(struct base_arena *mem, const struct objects_address *a, const char *key);

/* @text encoded; @path: slashes stay. */
char *objects_encoded(struct base_arena *mem, const char *text, bool path);

#endif
