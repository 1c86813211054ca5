/* SPDX-License-Identifier: Apache-2.0 */
/* What a look through a file finds: frames, and places that are none. */
#ifndef WIRE_FOUND_H
#define WIRE_FOUND_H

#include "frame.h"

#define WIRE_DAMAGE_MAX 65536u

struct wire_damage {
	uint64_t offset; /* first damaged byte */
	uint64_t bytes;
};

struct wire_entry { /* one whole, CRC-checked frame */
	struct wire_frame frame;
	uint64_t offset; /* of its header */
};

#endif
