/* SPDX-License-Identifier: Apache-2.0 */
/* How forwarding stands, for those who ask (upstream.h). Plain data. */
#ifndef COLL_UPSTREAM_STATE_H
#define COLL_UPSTREAM_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct coll_upstream_state {
	uint64_t pending; /* bytes of frames that the centre does not have, about a second ago */
	uint64_t lost; /* bytes of frames that will never be there: damaged, refused for good, or
			  dropped because too much was waiting */
	int64_t ok_ns; /* monotonic: when a request last succeeded, 0: never */
	bool failing; /* the last request failed */
	bool full; /* frames are being dropped */
};

#endif
