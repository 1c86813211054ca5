/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST /v1/held: what the store holds of files that the asker has sent before: a line RUN NAME for
 * each, a line for each in the answer, in the same order: the length of a stream (NAME is its hex
 * digits and .gst), the length and CRC32C of a side file; - where there is none, "removed" where
 * the run was removed by age or for a quota. Streams are not opened for it:
 * a length costs a look at the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/files.h"
#include "epoch_header.h"
#include "http.h"
#include "retain/removed_mark.h"
#include "routes.h"
#include "stored_as.h"
#include "store/held.h"
#include "store/run_name.h"
#include "store/side.h"
#include "wire/buf.h"
#include "wire/crc32c.h"

#define NO_LIST "no list of files\n"

static bool is_run(const char *name)
{
	size_t len = strlen(name);

	return len && len < COLL_RUN_BYTES && name[0] != '.' &&
	       strspn(name, COLL_NAME_CHARACTERS) == len;
}

static bool is_stream(const char *name)
{
	return strspn(name, "0123456789abcdef") == COLL_HEX_BYTES - 1 &&
	       !strcmp(name + COLL_HEX_BYTES - 1, COLL_RUN_SUFFIX);
}

/* It may have been removed on purpose, and is not to be sent again. */
static void put_none(FILE *f, const struct coll_store *st, const char *run, const char *file)
{
	char name[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)];

	coll_side_directory(name, run, file);
	if (faccessat(st->base_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) &&
	    coll_removed_is_marked(st->base_fd, name))
		fputs(COLL_HELD_REMOVED "\n", f);
	else
		fputs(COLL_HELD_NONE "\n", f);
}

/*
 * Bytes behind what is durable may be among them: who asks compares with what he was told was
 * durable.
 */
static void put_stream(FILE *f, const struct coll_store *st, const char *run, const char *name)
{
	char path[PATH_MAX];
	struct stat at;

	snprintf(path, sizeof(path), "%s" COLL_RUN_SUFFIX "/%s", run, name);
	if (fstatat(st->base_fd, path, &at, AT_SYMLINK_NOFOLLOW) || !S_ISREG(at.st_mode))
		put_none(f, st, run, name);
	else
		fprintf(f, "%" PRIu64 "\n", (uint64_t)at.st_size);
}

static void put_side(FILE *f, const struct coll_http_request *r, const char *run, const char *name)
{
	char dir[PATH_MAX], path[PATH_MAX + COLL_RUN_BYTES], as[COLL_ROUTE_PARAM_BYTES];
	char folder[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)];
	uint8_t *bytes;
	size_t len;

	coll_side_directory(folder, run, name);
	snprintf(dir, sizeof(dir), "%s/%s", r->team->store->base, folder);
	if (coll_stored_as(r, dir, name, false, as, sizeof(as)))
		as[0] = '\0';
	snprintf(path, sizeof(path), "%s/%s", dir, as);
	if (!as[0] || coll_file_read(path, COLL_SIDE_MAX, &bytes, &len)) {
		put_none(f, r->team->store, run, name);
		return;
	}
	fprintf(f, "%zu %" PRIu32 "\n", len, wire_crc32c(0, bytes, len));
	free(bytes);
}

/* False: it makes no sense. */
static bool put_line(FILE *f, struct coll_http_request *r, char *line)
{
	char *name = strchr(line, ' ');

	if (!name)
		return false;
	*name++ = '\0';
	if (!is_run(line))
		return false;
	if (is_stream(name))
		put_stream(f, r->team->store, line, name);
	else if (coll_side_name_ok(name))
		put_side(f, r, line, name);
	else
		return false;
	return true;
}

static void answer(struct coll_http_request *r, char *text)
{
	char *out = NULL, *line;
	size_t len = 0, lines = 0;
	FILE *f = open_memstream(&out, &len);
	bool good = f != NULL;

	while (good && (line = strsep(&text, "\n")))
		good = !*line || (lines++ < COLL_HELD_LINES && put_line(f, r, line));
	if (f && !fclose(f) && good) {
		coll_http_answer_taking(r, 200, "text/plain; charset=utf-8", out, len);
		return;
	}
	free(out);
	r->count->http_bad++;
	coll_http_text(r, f ? 400 : 503, f ? NO_LIST : "out of memory\n");
}

static void held_begin(struct coll_http_request *r)
{
	if (!coll_http_say_epoch(r))
		return;
	r->own = calloc(1, sizeof(struct wire_buf));
	if (!r->own)
		coll_http_text(r, 503, "out of memory\n");
}

static void held_body(struct coll_http_request *r, const uint8_t *bytes, size_t len)
{
	if (wire_buf_append(r->own, bytes, len))
		coll_http_text(r, 503, "out of memory\n");
}

static void held_end(struct coll_http_request *r)
{
	struct wire_buf *b = r->own;

	if (b->len && memchr(b->data, '\0', b->len))
		coll_http_text(r, 400, NO_LIST);
	else if (wire_buf_append(b, "", 1))
		coll_http_text(r, 503, "out of memory\n");
	else
		answer(r, (char *)b->data);
}

static void held_gone(struct coll_http_request *r)
{
	if (r->own)
		wire_buf_fini(r->own);
	free(r->own);
}

const struct coll_route coll_route_held = {
	.method = "POST",
	.pattern = COLL_HELD_PATH,
	.scope = COLL_SCOPE_WRITE,
	.body_max = COLL_HELD_BODY_MAX,
	.begin = held_begin,
	.body = held_body,
	.end = held_end,
	.gone = held_gone,
};
