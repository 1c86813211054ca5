/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local file that frames go to when no collector listens:
 * <out>/<run id>.gst/<stream>.<n>.spool. Opened, appended to and closed once per batch, so that a
 * program which closes all descriptors finds none of ours, and none of ours turns into its file.
 * Nobody but the owner may write it or into its folders, whatever the umask. The writer's
 * (writer.h).
 */
#ifndef PROF_SPOOL_H
#define PROF_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_spool {
	char base[3072]; /* GPUSTARVE_OUT */
	char run[3400]; /* the run directory below it */
	char stream[33];
	unsigned int segment; /* 0: none begun */
	uint64_t size; /* of the segment, as we wrote it */
	uint64_t written; /* over all segments */
	bool at_floor; /* the last batch was refused for what is to stay free */
};

void prof_spool_init(struct prof_spool *s, const char *base, const char *run_id,
		     const uint8_t stream[16]);

/* The next batch begins a segment. */
void prof_spool_new_segment(struct prof_spool *s);

/*
 * True if the next batch begins a segment (so that the caller puts Hello and Strings first): none
 * was begun, or its file is not what we left.
 */
bool prof_spool_at_start(struct prof_spool *s);

/*
 * Appends @head and @body with one open and close. 0 or -errno; then nothing of the batch stays in
 * the file (a rest that cannot be removed begins a new segment). -ENOSPC also where 64 MiB of the
 * disk, or an eighth of a small one, would not stay free.
 */
int prof_spool_write(struct prof_spool *s, const uint8_t *head, size_t head_len,
		     const uint8_t *body, size_t body_len);

/*
 * Moves a descriptor out of the program's way (900 and above where allowed), if this thread has no
 * table of its own; returns it.
 */
int prof_fd_high(int fd);

#endif
