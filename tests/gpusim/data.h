/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.h - what a copy or a memset does to memory, apart from the time that it takes. Where nothing
 * before it is pending, its bytes move at the call; else in the turn of the op that carries them
 * (submit.h). Memory without content (config.h: data) is never touched: such an op carries nothing.
 */
#ifndef SIM_DATA_H
#define SIM_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Slices of rows of bytes, and how far apart both ends have them. A plain copy is one row. */
struct sim_box {
	size_t width, height, depth;
	size_t dst_pitch, dst_slice, src_pitch, src_slice;
};

enum sim_data_kind {
	SIM_DATA_NONE,
	SIM_DATA_COPY,
	SIM_DATA_FILL
};

struct sim_data {
	enum sim_data_kind kind;
	uint64_t dst, src;
	struct sim_box box; /* of a memset: bytes, and dst_pitch alone */
	unsigned value, element; /* of a memset */
	void *staged; /* the source's bytes as they were at the call; owned */
};

/* Any may be handed to the others; none if memory has no content. */
struct sim_data sim_data_copy(uint64_t dst, uint64_t src, const struct sim_box *box);
struct sim_data sim_data_fill(uint64_t dst, size_t pitch, unsigned value, unsigned element,
			      size_t width, size_t height);

/* About how many bytes it touches. */
size_t sim_data_bytes(const struct sim_data *data);

/* Moves them and frees what was staged. Without a lock, but for little. */
void sim_data_move(struct sim_data *data);

/*
 * Takes the source's bytes now, because the program may change them as soon as the call returns:
 * pageable memory, which the driver copies away.
 */
void sim_data_stage(struct sim_data *data);

#endif
