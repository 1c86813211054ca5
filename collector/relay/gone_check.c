/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list is cut into lines where it lies; those that a question is about stay until it is
 * answered.
 */
#include "gone_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include "core/log.h"
#include "store/held.h"
#include "store/run_name.h"

#define LINE_BYTES 512
#define LOGGED 10 /* lines of one process */

struct gone_line {
	char id[COLL_EPOCH_ID_BYTES];
	uint64_t extent;
	char stream[2 * WIRE_STREAM_ID_BYTES + 1];
	char run[COLL_RUN_BYTES];
};

static bool read_line(struct gone_line *g, const char *line)
{
	return sscanf(line, "%32[0-9a-f] %" SCNu64 " %32[0-9a-f] %251s", g->id, &g->extent,
		      g->stream, g->run) == 4;
}

/* Of the present store, or of one that it is a copy of. */
static bool is_of(const struct gone_line *g, const struct coll_centre *c)
{
	bool of = !strcmp(g->id, c->id);

	for (unsigned int i = 0; !of && i < c->parents; i++)
		of = !strcmp(g->id, c->parent[i]);
	return of;
}

/* What came back here is asked about as all that is here. */
static bool is_here(const struct coll_upstream *u, const struct gone_line *g)
{
	char name[COLL_RUN_BYTES + sizeof(COLL_RUN_SUFFIX)];

	snprintf(name, sizeof(name), "%s" COLL_RUN_SUFFIX, g->run);
	return !faccessat(u->box.store->base_fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static bool is_asked(const struct coll_upstream *u, struct gone_line *g, const char *line)
{
	return read_line(g, line) && is_of(g, &u->box.centre) && !is_here(u, g);
}

static int load(struct coll_upstream *u)
{
	int err = coll_gone_read(u->box.store->base_fd, &u->gone.text);

	u->gone.at = u->gone.text;
	if (u->gone.text)
		u->gone.end = u->gone.text + strlen(u->gone.text);
	return err;
}

static int add_lines(struct coll_upstream *u)
{
	struct coll_gone *g = &u->gone;
	char line[LINE_BYTES];
	struct gone_line gone;
	size_t count = 0;
	int err = 0;

	g->body.len = 0;
	g->from = g->at;
	while (!err && count < COLL_HELD_LINES && g->at && *g->at) {
		char *one = strsep(&g->at, "\n");

		if (!is_asked(u, &gone, one))
			continue;
		snprintf(line, sizeof(line), "%s %s" COLL_RUN_SUFFIX "\n", gone.run, gone.stream);
		err = wire_buf_append(&g->body, line, strlen(line));
		count++;
	}
	g->to = g->at ? g->at : g->end;
	return err;
}

static void all_asked(struct coll_upstream *u)
{
	if (u->gone.lost.len)
		coll_gone_take_out(u->box.store->base_fd, &u->gone.lost);
	coll_gone_again(&u->gone);
	u->gone.start = u->box.centre.start;
}

int coll_gone_next(struct coll_upstream *u, struct coll_request *r)
{
	struct coll_gone *g = &u->gone;
	int err = 0;

	if (g->start == u->box.centre.start)
		return 0;
	if (!g->text)
		err = load(u);
	if (!err)
		err = g->text ? add_lines(u) : 0;
	if (err)
		return err;
	if (!g->body.len) {
		all_asked(u);
		return 0;
	}
	r->method = "POST";
	r->path = COLL_HELD_PATH;
	r->body = g->body.data;
	r->len = g->body.len;
	return 1;
}

static void tell(struct coll_upstream *u, const struct gone_line *g, const char *line, uint64_t has)
{
	wire_buf_append(&u->gone.lost, line, strlen(line) + 1);
	coll_context_lost(u->context);
	coll_behind_note(&u->behind, true);
	if (++u->context->count.up_lost <= LOGGED)
		coll_log("%s: %s has %" PRIu64 " of the %" PRIu64 " bytes of stream %s that it has "
			 "acknowledged, and they were removed here: they are lost",
			 g->run, u->box.to, has, g->extent, g->stream);
}

bool coll_gone_answer(struct coll_upstream *u, const struct coll_answer *a)
{
	const char *at = (const char *)a->bytes;
	char *line = u->gone.from;
	struct gone_line gone;

	for (; line < u->gone.to; line += strlen(line) + 1) {
		uint64_t has = strtoull(at, NULL, 10);

		if (!is_asked(u, &gone, line))
			continue;
		if (!strchr(at, '\n'))
			return false;
		if (has < gone.extent && strncmp(at, COLL_HELD_REMOVED, strlen(COLL_HELD_REMOVED)))
			tell(u, &gone, line, has);
		at = strchr(at, '\n') + 1;
	}
	return !*at;
}

void coll_gone_again(struct coll_gone *g)
{
	free(g->text);
	g->text = g->at = g->end = g->from = g->to = NULL;
	g->body.len = g->lost.len = 0;
	g->start = 0;
}

void coll_gone_fini(struct coll_gone *g)
{
	free(g->text);
	wire_buf_fini(&g->body);
	wire_buf_fini(&g->lost);
}
