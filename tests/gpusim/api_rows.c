/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_rows.c - arrays, and copies and memsets of rectangles and boxes. An array has its elements
 * in rows of a pitch that nobody sees; a texture over it there is none (api_absent.c).
 */
#include <stdlib.h>

#include "driver.h"
#include "memory.h"
#include "ranges.h"
#include "rows.h"
#include "state.h"

#define ARRAY_MAGIC 0x79617272u
#define ROW 512u /* what rows of an array are rounded up to */
#define PITCH_MAX 2147483647u /* CU_DEVICE_ATTRIBUTE_MAX_PITCH */

/* CUmemorytype */
enum {
	HOST = 1,
	DEVICE = 2,
	ARRAY = 3,
	UNIFIED = 4
};

/*
 * Flags of arrays. Sparse and deferred ones are memory to be mapped later, which there is none of.
 */
#define LAYERED 0x01u
#define CUBEMAP 0x04u
#define KNOWN_FLAGS 0x3fu

struct sim_array {
	uint32_t magic;
	struct sim_array_3d is; /* as it was asked for */
	size_t element, pitch, rows, slices;
	uint64_t address;
};

/* ---- arrays ---- */

static struct sim_array *array_get(void *handle)
{
	struct sim_array *a = handle;

	return a && a->magic == ARRAY_MAGIC ? a : NULL;
}

/* Bytes of a channel by CUarray_format; 0: not one of those that have a size by themselves. */
static size_t format_bytes(unsigned format)
{
	switch (format) {
	case 0x01: /* unsigned and signed integers */
	case 0x08:
		return 1;
	case 0x02:
	case 0x09:
	case 0x10: /* half */
		return 2;
	case 0x03:
	case 0x0a:
	case 0x20: /* float */
		return 4;
	}
	return 0;
}

static int array_check(const struct sim_array_3d *is)
{
	if (!is->width || !format_bytes(is->format) ||
	    (is->channels != 1 && is->channels != 2 && is->channels != 4))
		return SIM_INVALID_VALUE;
	if (is->flags & ~KNOWN_FLAGS)
		return SIM_NOT_SUPPORTED;
	if (is->depth && !is->height && !(is->flags & LAYERED))
		return SIM_INVALID_VALUE;
	if ((is->flags & LAYERED) && !is->depth)
		return SIM_INVALID_VALUE;
	if ((is->flags & CUBEMAP) && (is->width != is->height || !is->depth || is->depth % 6))
		return SIM_INVALID_VALUE;
	return SIM_OK;
}

static int array_new(void **out, const struct sim_array_3d *is)
{
	struct sim_array *a;
	size_t bytes;
	int rc = array_check(is);

	if (rc)
		return rc;
	a = calloc(1, sizeof *a);
	if (!a)
		return SIM_OUT_OF_MEMORY;
	a->magic = ARRAY_MAGIC;
	a->is = *is;
	a->element = format_bytes(is->format) * is->channels;
	a->rows = is->height ? is->height : 1;
	a->slices = is->depth ? is->depth : 1;
	a->pitch = (is->width * a->element + ROW - 1) / ROW * ROW;
	rc = SIM_INVALID_VALUE;
	if (is->width <= PITCH_MAX / a->element &&
	    !__builtin_mul_overflow(a->pitch, a->rows, &bytes) &&
	    !__builtin_mul_overflow(bytes, a->slices, &bytes))
		rc = sim_memory_alloc(SIM_ARRAY, bytes, &a->address);
	if (rc)
		free(a);
	else
		*out = a;
	return rc;
}

int cuArray3DCreate_v2(void **out, const struct sim_array_3d *is)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuArray3DCreate_v2);

	if (!rc)
		rc = array_new(out, is);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuArray3DCreate, cuArray3DCreate_v2);

int cuArrayCreate_v2(void **out, const struct sim_array_2d *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuArrayCreate_v2);
	struct sim_array_3d is = { p->width, p->height, 0, p->format, p->channels, 0 };

	if (!rc)
		rc = array_new(out, &is);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuArrayCreate, cuArrayCreate_v2);

int cuArray3DGetDescriptor_v2(struct sim_array_3d *is, void *array)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuArray3DGetDescriptor_v2);

	if (!rc && !array_get(array))
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		*is = array_get(array)->is;
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuArray3DGetDescriptor, cuArray3DGetDescriptor_v2);

int cuArrayGetDescriptor_v2(struct sim_array_2d *is, void *array)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuArrayGetDescriptor_v2);
	const struct sim_array *a = array_get(array);

	if (!rc && !a)
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		*is = (struct sim_array_2d){ a->is.width, a->is.height, a->is.format,
					     a->is.channels };
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuArrayGetDescriptor, cuArrayGetDescriptor_v2);

int cuArrayDestroy(void *array)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuArrayDestroy);
	struct sim_array *a = array_get(array);

	if (!rc && !a)
		rc = SIM_INVALID_HANDLE;
	if (!rc)
		rc = sim_memory_free(a->address);
	if (!rc) {
		a->magic = 0;
		free(a);
	}
	return sim_call_end(&call, rc);
}

/* ---- where the ends of a copy lie ---- */

/* One end, and what of the copy concerns it. */
struct end {
	unsigned type;
	uint64_t address;
	struct sim_array *array;
	size_t x, y, z, pitch, rows;
	const struct sim_box *box;
	bool slices;
};

/* Elements of an array are whole, and all of them are in it. */
static int in_array(struct end *e)
{
	const struct sim_array *a = e->array;
	const struct sim_box *b = e->box;

	if (!a)
		return SIM_INVALID_HANDLE;
	if (e->x % a->element || b->width % a->element ||
	    e->x + b->width > a->is.width * a->element || e->y + b->height > a->rows ||
	    e->z + b->depth > a->slices)
		return SIM_INVALID_VALUE;
	e->address = a->address;
	e->pitch = a->pitch;
	e->rows = a->rows;
	return SIM_OK;
}

/* Where the pitch is not given the rows follow each other, and so do slices. */
static int in_memory(struct end *e)
{
	const struct sim_box *b = e->box;

	if (!e->pitch)
		e->pitch = e->x + b->width;
	if (!e->slices || !e->rows)
		e->rows = e->y + b->height;
	if (e->pitch < e->x + b->width || e->pitch > PITCH_MAX || e->rows < e->y + b->height)
		return SIM_INVALID_VALUE;
	return SIM_OK;
}

/* Of what the device has, nothing may lie outside of what was allocated or mapped there. */
static bool inside(const struct end *e, uint64_t first)
{
	const struct sim_box *b = e->box;
	uint64_t last = first + (b->depth - 1) * e->pitch * e->rows + (b->height - 1) * e->pitch +
			b->width - 1;
	struct sim_range range;

	if (e->type == HOST)
		return true;
	if (!sim_range_find(first, &range))
		return e->type == UNIFIED;
	return sim_range_spans(first, last + 1);
}

static int locate(struct end *e, uint64_t *first)
{
	int rc;

	if (e->type < HOST || e->type > UNIFIED)
		return SIM_INVALID_VALUE;
	rc = e->type == ARRAY ? in_array(e) : in_memory(e);
	if (rc)
		return rc;
	*first = e->address + (e->z * e->rows + e->y) * e->pitch + e->x;
	return inside(e, *first) ? SIM_OK : SIM_INVALID_VALUE;
}

int sim_rows_plan(const struct sim_copy_3d *p, bool slices, struct sim_box *box, uint64_t *dst,
		  uint64_t *src)
{
	struct end from = {
		.type = p->src_type,
		.array = array_get(p->src_type == ARRAY ? p->src_array : NULL),
		.address = p->src_type == HOST ? (uint64_t)(uintptr_t)p->src_host : p->src_device,
		.x = p->src_x,
		.y = p->src_y,
		.z = p->src_z,
		.pitch = p->src_pitch,
		.rows = p->src_height,
		.box = box,
		.slices = slices,
	};
	struct end to = {
		.type = p->dst_type,
		.array = array_get(p->dst_type == ARRAY ? p->dst_array : NULL),
		.address = p->dst_type == HOST ? (uint64_t)(uintptr_t)p->dst_host : p->dst_device,
		.x = p->dst_x,
		.y = p->dst_y,
		.z = p->dst_z,
		.pitch = p->dst_pitch,
		.rows = p->dst_height,
		.box = box,
		.slices = slices,
	};
	int rc;

	*box = (struct sim_box){ .width = p->width, .height = p->height, .depth = p->depth };
	if (!p->width || !p->height || !p->depth)
		return SIM_OK; /* nothing to copy, wherever */
	rc = locate(&from, src);
	if (!rc)
		rc = locate(&to, dst);
	box->src_pitch = from.pitch;
	box->src_slice = from.pitch * from.rows;
	box->dst_pitch = to.pitch;
	box->dst_slice = to.pitch * to.rows;
	return rc;
}

/* ---- copies ---- */

static int copy(const struct sim_copy_3d *p, bool slices, void *stream, bool async)
{
	struct sim_box box;
	uint64_t dst = 0, src = 0;
	int rc = sim_ctx_current() ? sim_rows_plan(p, slices, &box, &dst, &src)
				   : SIM_INVALID_CONTEXT;

	return rc ? rc : sim_copy(stream, dst, src, &box, async, NULL);
}

static int copy_2d(const struct sim_copy_2d *p, void *stream, bool async)
{
	struct sim_copy_3d all = {
		.src_x = p->src_x,
		.src_y = p->src_y,
		.src_type = p->src_type,
		.src_host = p->src_host,
		.src_device = p->src_device,
		.src_array = p->src_array,
		.src_pitch = p->src_pitch,
		.dst_x = p->dst_x,
		.dst_y = p->dst_y,
		.dst_type = p->dst_type,
		.dst_host = p->dst_host,
		.dst_device = p->dst_device,
		.dst_array = p->dst_array,
		.dst_pitch = p->dst_pitch,
		.width = p->width,
		.height = p->height,
		.depth = 1,
	};

	return copy(&all, false, stream, async);
}

int cuMemcpy2D_v2(const struct sim_copy_2d *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemcpy2D_v2);

	if (!rc)
		rc = copy_2d(p, NULL, false);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemcpy2D, cuMemcpy2D_v2);

int cuMemcpy2DUnaligned_v2(const struct sim_copy_2d *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemcpy2DUnaligned_v2);

	if (!rc)
		rc = copy_2d(p, NULL, false);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned_v2);

int cuMemcpy2DAsync_v2(const struct sim_copy_2d *p, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemcpy2DAsync_v2);

	if (!rc)
		rc = copy_2d(p, stream, true);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemcpy2DAsync, cuMemcpy2DAsync_v2);

int cuMemcpy3D_v2(const struct sim_copy_3d *p)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemcpy3D_v2);

	if (!rc)
		rc = copy(p, true, NULL, false);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemcpy3D, cuMemcpy3D_v2);

int cuMemcpy3DAsync_v2(const struct sim_copy_3d *p, void *stream)
{
	struct sim_call call;
	int rc = sim_call_begin(&call, SIM_CBID_cuMemcpy3DAsync_v2);

	if (!rc)
		rc = copy(p, true, stream, true);
	return sim_call_end(&call, rc);
}
SIM_ALIAS(cuMemcpy3DAsync, cuMemcpy3DAsync_v2);

/* ---- memsets ---- */

#define FILL(name, type, element)                                                       \
	int name(uint64_t dst, size_t pitch, type value, size_t width, size_t height)   \
	{                                                                               \
		struct sim_call call;                                                   \
		int rc = sim_call_begin(&call, SIM_CBID_##name);                        \
                                                                                        \
		if (!rc)                                                                \
			rc = sim_fill(NULL, dst, pitch, value, element, width, height); \
		return sim_call_end(&call, rc);                                         \
	}

#define FILL_ASYNC(name, type, element)                                                   \
	int name(uint64_t dst, size_t pitch, type value, size_t width, size_t height,     \
		 void *stream)                                                            \
	{                                                                                 \
		struct sim_call call;                                                     \
		int rc = sim_call_begin(&call, SIM_CBID_##name);                          \
                                                                                          \
		if (!rc)                                                                  \
			rc = sim_fill(stream, dst, pitch, value, element, width, height); \
		return sim_call_end(&call, rc);                                           \
	}

FILL(cuMemsetD2D8_v2, unsigned char, 1)
FILL(cuMemsetD2D16_v2, unsigned short, 2)
FILL(cuMemsetD2D32_v2, unsigned, 4)
FILL_ASYNC(cuMemsetD2D8Async, unsigned char, 1)
FILL_ASYNC(cuMemsetD2D16Async, unsigned short, 2)
FILL_ASYNC(cuMemsetD2D32Async, unsigned, 4)
SIM_ALIAS(cuMemsetD2D8, cuMemsetD2D8_v2);
SIM_ALIAS(cuMemsetD2D16, cuMemsetD2D16_v2);
SIM_ALIAS(cuMemsetD2D32, cuMemsetD2D32_v2);
