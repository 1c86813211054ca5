/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads frames out of a file: in order, then any of them again by offset. Every byte is hostile.
 * A file is scanned once (wire_file_next); damage is skipped, counted and located. The bodies are
 * read and decompressed only when asked for.
 * A wire_file may be used by several threads after the scan with a wire_scratch each.
 */
#ifndef WIRE_READER_H
#define WIRE_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <protobuf-c/protobuf-c.h>
#include "block.h"
#include "evidence.h"
#include "found.h"
#include "strtab.h"

struct wire_file;

/*
 * 0 or -errno of open and fstat; -EISDIR for a directory, -EINVAL for what else is no file. The
 * file is read as far as it goes now; it is neither locked nor mapped, and may change or shrink.
 */
int wire_file_open(struct wire_file **f, const char *path);
void wire_file_close(struct wire_file *f);

/* Bytes that lie somewhere else than in a file; they do not change. */
struct wire_bytes {
	uint64_t size;
	/* Bytes read, fewer only at the end, or -errno. From any thread, several at once. */
	ssize_t (*read)(void *own, void *to, size_t len, uint64_t at);
	void *own; /* stays the caller's */
};

/*
 * The same of a segment (contents.h): where its table of contents is whole, the scan takes frames
 * from there and reads no more; else all is read. 0, -ENOMEM or an error of @bytes.
 */
int wire_file_open_segment(struct wire_file **f, const struct wire_bytes *bytes);

/* The scan is to begin at @offset, where frames of @stream end. Before the first wire_file_next. */
void wire_file_start_at(struct wire_file *f, uint64_t offset,
			const uint8_t stream[WIRE_STREAM_ID_BYTES]);

/* The next whole frame: 1 and *e, 0 at the end, or -errno of reading. */
int wire_file_next(struct wire_file *f, struct wire_entry *e);

/*
 * The plain head of the frame that wire_file_next gave last (frame.head_len bytes), already
 * checked; valid until the next call. So an index needs no second reading.
 */
const uint8_t *wire_file_head(const struct wire_file *f);

/*
 * The scan is over, or will not go on: gives back what it took, some 300 KB, and unless @stays_open
 * the descriptor. Then the file is opened for each read, and -ESTALE if its path has become another
 * one's. No other thread may be using the file.
 */
void wire_file_scanned(struct wire_file *f, bool stays_open);

/*
 * Damage met so far, in order; valid until the next call. After WIRE_DAMAGE_MAX places further
 * bytes are added to the last one's count.
 */
const struct wire_damage *wire_file_damage(const struct wire_file *f, size_t *count);
uint64_t wire_file_size(const struct wire_file *f);

struct wire_scratch; /* decompression context and buffers of one thread */
struct wire_scratch *wire_scratch_new(void);
void wire_scratch_free(struct wire_scratch *s);

/*
 * Head and raw body of a frame, owned by @s and valid until its next use. Checks the payload's CRC
 * again (the file may have changed). 0, -EBADMSG (damage), -EPROTO (made by a later version in a
 * way that this one cannot read) or -errno.
 */
int wire_file_load(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		   const uint8_t **head, const uint8_t **raw, size_t *raw_len);

/* Unpacks the frame's message; NULL on damage. Free it with protobuf_c_message_free_unpacked. */
ProtobufCMessage *wire_file_message(struct wire_file *f, struct wire_scratch *s,
				    const struct wire_entry *e,
				    const ProtobufCMessageDescriptor *type);

/* Adds the names of a Strings frame to @t; a name that contradicts an earlier one is left out. */
int wire_file_strings(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		      struct wire_strtab *t);

/*
 * Decodes a block's events into *@ev (head->count of them, of *@room; grown with realloc, the
 * caller's to free). Checks that the head's times and string_max are those of the events. *in_order
 * (NULL: not asked): see struct wire_block_seen. 0 or negative errno.
 */
int wire_file_block(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		    struct wire_block_head *head, struct wire_event **ev, size_t *room,
		    bool *in_order);

/* The same of Samples and of Workers frames. */
int wire_file_samples(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		      struct wire_block_head *head, struct wire_sample **sample, size_t *room);
int wire_file_batches(struct wire_file *f, struct wire_scratch *s, const struct wire_entry *e,
		      struct wire_block_head *head, struct wire_batch **batch, size_t *room);

#endif
