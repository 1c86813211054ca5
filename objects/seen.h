/* SPDX-License-Identifier: Apache-2.0 */
/* What a list of an object store says of an object (objects_browse of objects.h). */
#ifndef OBJECTS_SEEN_H
#define OBJECTS_SEEN_H

#include <stdint.h>

struct objects_seen {
	const char *key, *etag; /* valid during the call; etag as it came, "": none */
	uint64_t bytes;
	int64_t changed_s; /* by the store's clock, Unix seconds; 0: it does not say */
};

#endif
