/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffers.h - the client's activity buffers, with CUPTI's manners: asked for on the thread that
 * launches, one per thread or one for all, withheld (with all that came after them) while they
 * hold an unfinished record, handed back by a flush or, once full, by a thread of CUPTI's own. As
 * in the real library the client's callback for a new buffer runs under CUPTI's lock: calling back
 * into CUPTI there deadlocks.
 */
#ifndef SIM_CUPTI_BUFFERS_H
#define SIM_CUPTI_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*buf_request_fn)(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void (*buf_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				size_t valid);

struct buf;

/* A record whose end is not known yet. */
struct buf_token {
	struct buf *buf;
	uint8_t *record; /* NULL once the buffer was handed out by force */
	struct buf_token *next;
};

void buf_callbacks(buf_request_fn request, buf_complete_fn complete);
bool buf_has_callbacks(void);

/* Takes the lock and returns zeroed room for a record, or NULL (a drop, counted). */
uint8_t *buf_reserve(uint32_t size);

/* The record is over at `end`, which may lie in the future; then unlocks. */
void buf_commit(uint64_t end);

/* The record's end is not known: keeps the buffer back until buf_finish; then unlocks. */
struct buf_token *buf_commit_open(uint8_t *record);

/* The record of the token, with the lock taken; NULL: it is gone, and so is the token. */
uint8_t *buf_reopen(struct buf_token *token);
void buf_finish(struct buf_token *token, uint64_t end);

/* Unlocks after a buf_reserve that returned NULL. */
void buf_cancel(void);

/* cuptiActivityFlushAll: hands out what is finished, or with force everything. */
void buf_flush(bool force);

/* When the oldest of the buffers that hold something was asked for; 0: none holds anything. */
uint64_t buf_oldest(void);

/* Drops since the last call. */
size_t buf_dropped(void);
void buf_count_drop(void);

/* Attributes. */
void buf_set_per_thread(bool on);
bool buf_per_thread(void);
void buf_set_zeroed(bool on);
bool buf_zeroed(void);
void buf_set_period(uint32_t ms);

#endif
