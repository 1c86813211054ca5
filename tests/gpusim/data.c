/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.c - the bytes of copies and memsets.
 */
#include "data.h"

#include <stdlib.h>
#include <string.h>

#include "config.h"

struct sim_data sim_data_copy(uint64_t dst, uint64_t src, const struct sim_box *box)
{
	if (!sim_config()->data)
		return (struct sim_data){ .kind = SIM_DATA_NONE };
	return (struct sim_data){ .kind = SIM_DATA_COPY, .dst = dst, .src = src, .box = *box };
}

struct sim_data sim_data_fill(uint64_t dst, size_t pitch, unsigned value, unsigned element,
			      size_t width, size_t height)
{
	struct sim_data data = { .kind = SIM_DATA_FILL, .dst = dst };

	if (!sim_config()->data)
		return (struct sim_data){ .kind = SIM_DATA_NONE };
	data.value = value;
	data.element = element;
	data.box.width = width * element;
	data.box.height = height;
	data.box.depth = 1;
	data.box.dst_pitch = pitch;
	return data;
}

size_t sim_data_bytes(const struct sim_data *data)
{
	return data->box.width * data->box.height * data->box.depth;
}

static char *at(uint64_t address)
{
	return (char *)(uintptr_t)address;
}

static void copy_rows(uint64_t dst, uint64_t src, const struct sim_box *box)
{
	size_t y, z;

	for (z = 0; z < box->depth; z++)
		for (y = 0; y < box->height; y++)
			memmove(at(dst) + z * box->dst_slice + y * box->dst_pitch,
				at(src) + z * box->src_slice + y * box->src_pitch, box->width);
}

static void fill_row(char *row, const struct sim_data *d)
{
	size_t i;

	if (d->element == 1)
		memset(row, (int)d->value, d->box.width);
	else
		for (i = 0; i < d->box.width; i += d->element)
			memcpy(row + i, &d->value, d->element); /* little endian */
}

void sim_data_move(struct sim_data *d)
{
	size_t y;

	if (d->kind == SIM_DATA_COPY)
		copy_rows(d->dst, d->src, &d->box);
	else if (d->kind == SIM_DATA_FILL)
		for (y = 0; y < d->box.height; y++)
			fill_row(at(d->dst) + y * d->box.dst_pitch, d);
	free(d->staged);
	*d = (struct sim_data){ .kind = SIM_DATA_NONE };
}

void sim_data_stage(struct sim_data *d)
{
	struct sim_box packed = d->box;

	if (d->kind != SIM_DATA_COPY)
		return;
	d->staged = malloc(sim_data_bytes(d));
	if (!d->staged)
		return;
	packed.dst_pitch = packed.width;
	packed.dst_slice = packed.width * packed.height;
	copy_rows((uintptr_t)d->staged, d->src, &packed);
	d->src = (uintptr_t)d->staged;
	d->box.src_pitch = packed.dst_pitch;
	d->box.src_slice = packed.dst_slice;
}
