/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy.c - copies and memsets. Where the ends lie says in which direction a copy goes; what the
 * caller says of it is only checked to be a direction.
 */
#include "cudart.h"

#define DEFAULT_KIND 4 /* cudaMemcpyDefault: the largest */
#define UNIFIED 4u /* CU_MEMORYTYPE_UNIFIED */

static int direction(int kind)
{
	return kind < 0 || kind > DEFAULT_KIND ? RT_INVALID_DIRECTION : SIM_OK;
}

static int copy(void *dst, const void *src, size_t bytes, int kind)
{
	int rc = direction(kind);

	return rc ? rc : cuMemcpy(ADDRESS(dst), ADDRESS(src), bytes);
}

static int copy_async(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
	int rc = direction(kind);

	return rc ? rc : cuMemcpyAsync(ADDRESS(dst), ADDRESS(src), bytes, stream);
}

RUNTIME(cudaMemcpy, (void *dst, const void *src, size_t bytes, int kind),
	copy(dst, src, bytes, kind))
RUNTIME(cudaMemcpyAsync, (void *dst, const void *src, size_t bytes, int kind, void *stream),
	copy_async(dst, src, bytes, kind, stream))

/* ---- rectangles ---- */

static struct sim_copy_2d rectangle(void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
				    size_t width, size_t height)
{
	return (struct sim_copy_2d){
		.src_type = UNIFIED,
		.src_device = ADDRESS(src),
		.src_pitch = src_pitch,
		.dst_type = UNIFIED,
		.dst_device = ADDRESS(dst),
		.dst_pitch = dst_pitch,
		.width = width,
		.height = height,
	};
}

static int copy_2d(struct sim_copy_2d c, int kind)
{
	int rc = direction(kind);

	return rc ? rc : cuMemcpy2DUnaligned_v2(&c);
}

static int copy_2d_async(struct sim_copy_2d c, int kind, void *stream)
{
	int rc = direction(kind);

	return rc ? rc : cuMemcpy2DAsync_v2(&c, stream);
}

RUNTIME(cudaMemcpy2D,
	(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
	 size_t height, int kind),
	copy_2d(rectangle(dst, dst_pitch, src, src_pitch, width, height), kind))
RUNTIME(cudaMemcpy2DAsync,
	(void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width,
	 size_t height, int kind, void *stream),
	copy_2d_async(rectangle(dst, dst_pitch, src, src_pitch, width, height), kind, stream))

/* ---- between devices ---- */

static int copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t bytes)
{
	void *to, *from;
	int rc = rt_primary(dst_device, &to);

	rc = rc ? rc : rt_primary(src_device, &from);
	return rc ? rc : cuMemcpyPeer(ADDRESS(dst), to, ADDRESS(src), from, bytes);
}

static int copy_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t bytes,
			   void *stream)
{
	void *to, *from;
	int rc = rt_primary(dst_device, &to);

	rc = rc ? rc : rt_primary(src_device, &from);
	return rc ? rc : cuMemcpyPeerAsync(ADDRESS(dst), to, ADDRESS(src), from, bytes, stream);
}

RUNTIME(cudaMemcpyPeer, (void *dst, int dst_device, const void *src, int src_device, size_t bytes),
	copy_peer(dst, dst_device, src, src_device, bytes))
RUNTIME(cudaMemcpyPeerAsync,
	(void *dst, int dst_device, const void *src, int src_device, size_t bytes, void *stream),
	copy_peer_async(dst, dst_device, src, src_device, bytes, stream))

/* ---- variables ---- */

/* Where in a variable a copy of so many bytes goes. */
static int part_of(const void *symbol, size_t bytes, size_t offset, uint64_t *address)
{
	size_t size;
	int rc = rt_symbol(symbol, address, &size);

	if (!rc && (offset > size || bytes > size - offset))
		rc = SIM_INVALID_VALUE;
	*address += offset;
	return rc;
}

static int to_symbol(const void *symbol, const void *src, size_t bytes, size_t offset, int kind)
{
	uint64_t dst = 0;
	int rc = direction(kind);

	rc = rc ? rc : part_of(symbol, bytes, offset, &dst);
	return rc ? rc : cuMemcpy(dst, ADDRESS(src), bytes);
}

static int from_symbol(void *dst, const void *symbol, size_t bytes, size_t offset, int kind)
{
	uint64_t src = 0;
	int rc = direction(kind);

	rc = rc ? rc : part_of(symbol, bytes, offset, &src);
	return rc ? rc : cuMemcpy(ADDRESS(dst), src, bytes);
}

RUNTIME(cudaMemcpyToSymbol,
	(const void *symbol, const void *src, size_t bytes, size_t offset, int kind),
	to_symbol(symbol, src, bytes, offset, kind))
RUNTIME(cudaMemcpyFromSymbol,
	(void *dst, const void *symbol, size_t bytes, size_t offset, int kind),
	from_symbol(dst, symbol, bytes, offset, kind))

/* ---- memsets ---- */

RUNTIME(cudaMemset, (void *dst, int value, size_t bytes),
	cuMemsetD8_v2(ADDRESS(dst), (unsigned char)value, bytes))
RUNTIME(cudaMemsetAsync, (void *dst, int value, size_t bytes, void *stream),
	cuMemsetD8Async(ADDRESS(dst), (unsigned char)value, bytes, stream))
