/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store with run directories in it, for tests of what is forwarded from them.
 */
#ifndef TESTS_OUTBOX_H
#define TESTS_OUTBOX_H

#include "harness.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include "core/clock.h"
#include "core/files.h"
#include "relay/cursor.h"
#include "relay/outbox.h"
#include "wire/buf.h"

#define TO "https://centre:1"
#define HEX "000102030405060708090a0b0c0d0e0f"

static char base[200];
static struct coll_counters count;
static struct coll_store store;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void begin(void)
{
	t_tempdir(base, sizeof(base));
	REQUIRE(!coll_store_init(&store, base, &count));
}

static void end(struct coll_outbox *o)
{
	coll_outbox_fini(o);
	coll_store_fini(&store);
	nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Frames @from to @to of one stream, each with a body of @body bytes. Where the last one begins. */
static size_t put_frames(struct wire_buf *b, uint64_t from, uint64_t to, size_t body)
{
	uint8_t *bytes = malloc(body + 1);
	size_t at = 0;

	memset(bytes, 'x', body);
	for (; from <= to; from++) {
		struct wire_frame f = { .version = 1, .type = WIRE_FRAME_PULSE, .seq = from };
		int i;

		for (i = 0; i < WIRE_STREAM_ID_BYTES; i++)
			f.stream[i] = (uint8_t)i;
		f.raw_len = (uint32_t)body;
		at = b->len;
		REQUIRE(!wire_frame_append(b, &f, NULL, 0, bytes, body));
	}
	free(bytes);
	return at;
}

static void put_file(const char *run, const char *name, const void *bytes, size_t len)
{
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/%s.gst", base, run);
	mkdir(dir, 0777);
	REQUIRE(!coll_file_replace(dir, name, bytes, len));
}

static void note(struct coll_outbox *o, const char *run)
{
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/%s.gst", base, run);
	coll_outbox_follow(o, dir);
}

/* @after_s behind now, everything sent. */
static void send_all(struct coll_outbox *o, int after_s)
{
	struct coll_out_run *run;
	struct coll_out_file *f;

	coll_outbox_scan(o, coll_now_ns());
	for (run = o->runs; run; run = run->next)
		for (f = run->files; f; f = f->next) {
			coll_out_file_sent(run, f, f->size);
			f->sent_mtime_ns = f->mtime_ns;
			f->sent_size = f->size;
		}
	coll_outbox_scan(o, coll_now_ns() + after_s * COLL_SECOND_NS);
	coll_outbox_save(o);
}

static int has_all(const char *run)
{
	char path[512];
	int fd, all;

	snprintf(path, sizeof(path), "%s/%s.gst", base, run);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	REQUIRE(fd >= 0);
	all = coll_cursor_has_all(fd);
	close(fd);
	return all;
}

#endif
