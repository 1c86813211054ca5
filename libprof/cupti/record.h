/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the fields of CUPTI's activity records lie. NVIDIA has only ever appended to these structs,
 * so one set of prefix offsets reads the records of CUDA 11.8 to 13.x; the size probe (cuda_api.h)
 * refuses a CUPTI whose records end before what is read here. A test compares these numbers with
 * offsetof() where CUPTI's headers are installed.
 */
#ifndef PROF_RECORD_H
#define PROF_RECORD_H

#include <stdint.h>
#include <string.h>

enum {
	REC_KIND = 0, /* u32 of every record */

	REC_KERNEL_START = 16,
	REC_KERNEL_END = 24,
	REC_KERNEL_DEVICE = 40,
	REC_KERNEL_CONTEXT = 44,
	REC_KERNEL_STREAM = 48,
	REC_KERNEL_CORRELATION = 92,
	REC_KERNEL_NAME = 104, /* const char *; our id of it once the buffer is complete */
	REC_KERNEL_GRAPH_NODE = 144,
	REC_KERNEL_GRAPH = 156,

	REC_MEMCPY_COPY_KIND = 4, /* u8 */
	REC_MEMCPY_SRC_KIND = 5,
	REC_MEMCPY_DST_KIND = 6,
	REC_MEMCPY_FLAGS = 7,
	REC_MEMCPY_SIZE = 8,
	REC_MEMCPY_START = 16,
	REC_MEMCPY_END = 24,
	REC_MEMCPY_DEVICE = 32,
	REC_MEMCPY_CONTEXT = 36,
	REC_MEMCPY_STREAM = 40,
	REC_MEMCPY_CORRELATION = 44,
	REC_MEMCPY_RUNTIME_CORRELATION = 48,
	REC_MEMCPY_GRAPH = 72,

	REC_PEER_SRC_DEVICE = 44, /* MEMCPY2; as MEMCPY before these */
	REC_PEER_DST_DEVICE = 52,
	REC_PEER_CORRELATION = 60,
	REC_PEER_GRAPH = 80,

	REC_MEMSET_SIZE = 8,
	REC_MEMSET_START = 16,
	REC_MEMSET_END = 24,
	REC_MEMSET_DEVICE = 32,
	REC_MEMSET_CONTEXT = 36,
	REC_MEMSET_STREAM = 40,
	REC_MEMSET_CORRELATION = 44,
	REC_MEMSET_MEMORY_KIND = 50, /* u16 */
	REC_MEMSET_GRAPH = 72,

	REC_SYNC_TYPE = 4,
	REC_SYNC_START = 8,
	REC_SYNC_END = 16,
	REC_SYNC_CORRELATION = 24,
	REC_SYNC_CONTEXT = 28,
	REC_SYNC_STREAM = 32,

	REC_API_CBID = 4,
	REC_API_START = 8,
	REC_API_END = 16,
	REC_API_THREAD = 28,
	REC_API_CORRELATION = 32,

	REC_HOST_STREAM = 4, /* HOST_LAUNCH and GRAPH_HOST_NODE */
	REC_HOST_CONTEXT = 8,
	REC_HOST_DEVICE = 12,
	REC_HOST_CORRELATION = 16,
	REC_HOST_THREAD = 24,
	REC_HOST_START = 32,
	REC_HOST_END = 40,
	REC_HOST_NODE_GRAPH = 20,
	REC_HOST_NODE_THREAD = 36,
	REC_HOST_NODE_START = 40,
	REC_HOST_NODE_END = 48,

	REC_OVERHEAD_WHAT = 4,
	REC_OVERHEAD_OBJECT = 8, /* whose it is: what of the next tells it */
	REC_OVERHEAD_THREAD = 16,
	REC_OVERHEAD_START = 24,
	REC_OVERHEAD_END = 32,
	REC_OVERHEAD_CORRELATION = 40,
	REC_OVERHEAD_DATA = 48, /* void *, from CUPTI 12.4 on; the client must free it */

	REC_GRAPH_CORRELATION = 4,
	REC_GRAPH_START = 8,
	REC_GRAPH_END = 16,
	REC_GRAPH_DEVICE = 24,
	REC_GRAPH_ID = 28,
	REC_GRAPH_CONTEXT = 32,
	REC_GRAPH_STREAM = 36,
	REC_GRAPH_END_DEVICE = 48, /* records of 56 bytes */
};

enum { /* CUpti_ActivityOverheadKind, and whose it is, of CUpti_ActivityObjectKind */
	OVERHEAD_COMPILER = 1,
	OVERHEAD_MODULE_LOAD = 4 << 16,
	OVERHEAD_LAZY_LOAD = 5 << 16,
	OVERHEAD_QUEUE_FULL = 6 << 16,
	OVERHEAD_OF_THREAD = 2,
};

enum { /* how many bytes of each are read */
#define KIND(symbol, number, bytes, ...) REC_BYTES_##symbol = bytes,
#include "facts/cupti_kinds.def"
};

/* The last field of each lies within. */
#define REC_WITHIN(field, symbol) \
	_Static_assert(field + 4 <= REC_BYTES_##symbol, #field " in " #symbol)
REC_WITHIN(REC_KERNEL_GRAPH, CONCURRENT_KERNEL);
REC_WITHIN(REC_MEMCPY_GRAPH, MEMCPY);
REC_WITHIN(REC_PEER_GRAPH, MEMCPY2);
REC_WITHIN(REC_MEMSET_GRAPH, MEMSET);
REC_WITHIN(REC_SYNC_STREAM, SYNCHRONIZATION);
REC_WITHIN(REC_API_CORRELATION, RUNTIME);
REC_WITHIN(REC_API_CORRELATION, DRIVER);
REC_WITHIN(REC_GRAPH_STREAM, GRAPH_TRACE);
REC_WITHIN(REC_HOST_END + 4, HOST_LAUNCH);
REC_WITHIN(REC_HOST_NODE_END + 4, GRAPH_HOST_NODE);
REC_WITHIN(REC_OVERHEAD_END + 4, OVERHEAD);

static inline uint32_t rec_u32(const uint8_t *record, int offset)
{
	uint32_t v;

	memcpy(&v, record + offset, sizeof(v));
	return v;
}

static inline uint64_t rec_u64(const uint8_t *record, int offset)
{
	uint64_t v;

	memcpy(&v, record + offset, sizeof(v));
	return v;
}

/* Bytes of this kind's record that we read; 0: a kind that is not read. */
uint32_t prof_record_least(uint32_t kind);

#endif
