/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of 48 bytes, each with a checksum of its own.
 */
#include "index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "wire/block.h"
#include "wire/bytes.h"
#include "wire/crc32c.h"

#define WAITING_MAX (1u << 20)

enum {
	AT_OFFSET = 0,
	AT_SEQ = 8,
	AT_T0 = 16,
	AT_T1 = 24,
	AT_BYTES = 32,
	AT_COUNT = 36,
	AT_TYPE = 40,
	AT_KIND = 42,
	AT_FLAGS = 43,
	AT_CRC = 44,
};
_Static_assert(AT_CRC + 4 == COLL_INDEX_RECORD_BYTES, "the record's fields fill it");

static void drop_index(struct coll_index *x)
{
	if (x->fd < 0)
		return;
	close(x->fd);
	x->fd = -1;
	unlink(x->path);
	x->waiting.len = 0;
}

static void write_bytes(struct coll_index *x, const void *bytes, size_t len)
{
	if (x->fd >= 0 && write(x->fd, bytes, len) != (ssize_t)len)
		drop_index(x);
}

static void open_file(struct coll_index *x, const char *path, int flags)
{
	memset(x, 0, sizeof(*x));
	x->fd = -1;
	x->waiting.cap = WAITING_MAX;
	x->path = strdup(path);
	if (x->path)
		x->fd = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | flags, 0666);
}

void coll_index_open(struct coll_index *x, const char *path,
		     const uint8_t stream[WIRE_STREAM_ID_BYTES])
{
	uint8_t header[COLL_INDEX_HEADER_BYTES] = COLL_INDEX_MAGIC;

	unlink(path);
	open_file(x, path, O_CREAT | O_EXCL);
	wire_put16(header + 4, COLL_INDEX_VERSION);
	wire_put16(header + 6, COLL_INDEX_RECORD_BYTES);
	memcpy(header + 16, stream, WIRE_STREAM_ID_BYTES);
	write_bytes(x, header, sizeof(header));
}

void coll_index_resume(struct coll_index *x, const char *path)
{
	open_file(x, path, 0);
}

bool coll_index_resume_at(struct coll_index *x, const char *path, uint64_t bytes)
{
	struct stat st;

	open_file(x, path, 0);
	if (!bytes)
		drop_index(x);
	if (!bytes || (x->fd >= 0 && !fstat(x->fd, &st) && (uint64_t)st.st_size >= bytes &&
		       !ftruncate(x->fd, (off_t)bytes)))
		return true;
	coll_index_close(x);
	return false;
}

void coll_index_add(struct coll_index *x, const struct wire_frame *f, const uint8_t *head,
		    uint64_t offset)
{
	uint8_t r[COLL_INDEX_RECORD_BYTES];
	struct wire_block_head h;

	if (x->fd < 0 || (f->type != WIRE_FRAME_BLOCK && f->type != WIRE_FRAME_RANGES) ||
	    wire_block_head_get(&h, head, f->head_len))
		return;
	wire_put64(r + AT_OFFSET, offset);
	wire_put64(r + AT_SEQ, f->seq);
	wire_put64(r + AT_T0, (uint64_t)h.t0_ns);
	wire_put64(r + AT_T1, (uint64_t)h.t1_ns);
	wire_put32(r + AT_BYTES, (uint32_t)wire_frame_bytes(f));
	wire_put32(r + AT_COUNT, h.count);
	wire_put16(r + AT_TYPE, f->type);
	r[AT_KIND] = h.kind;
	r[AT_FLAGS] = h.flags;
	wire_put32(r + AT_CRC, wire_crc32c(0, r, AT_CRC));
	if (wire_buf_append(&x->waiting, r, sizeof(r)))
		drop_index(x);
}

void coll_index_flush_some(struct coll_index *x, size_t bytes)
{
	struct wire_buf *waiting = &x->waiting;

	if (bytes > waiting->len)
		bytes = waiting->len;
	if (!bytes)
		return;
	write_bytes(x, waiting->data, bytes);
	if (!waiting->len) /* it could not be written, and is dropped */
		return;
	waiting->len -= bytes;
	memmove(waiting->data, waiting->data + bytes, waiting->len);
}

void coll_index_flush(struct coll_index *x)
{
	coll_index_flush_some(x, x->waiting.len);
}

void coll_index_forget(struct coll_index *x, size_t keep)
{
	if (keep < x->waiting.len)
		x->waiting.len = keep;
}

void coll_index_close(struct coll_index *x)
{
	if (x->fd >= 0)
		close(x->fd);
	x->fd = -1;
	free(x->path);
	x->path = NULL;
	wire_buf_fini(&x->waiting);
}
