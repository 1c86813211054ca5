/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readings kept, thinned and written.
 */
#include "clock_offset.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/clock.h"
#include "core/files.h"
#include "core/log.h"
#include "link.h"
#include "outbox.h"

#define CLOCK_MOST_NS (INT64_MAX / 4) /* what a clock may show, for sums to hold */

void coll_clock_offset_init(struct coll_clock_offset *c, const char *node, const char *to)
{
	*c = (struct coll_clock_offset){ .node = node, .to = to };
}

bool coll_clock_offset_due(struct coll_clock_offset *c, int64_t now_ns)
{
	if (now_ns < c->next_ns)
		return false;
	c->asked++;
	if (c->asked >= COLL_CLOCK_OFFSET_FIRST)
		c->next_ns = now_ns + COLL_CLOCK_OFFSET_EVERY_S * COLL_SECOND_NS;
	return true;
}

/* Every second one goes; the first and the newest stay. */
static void drop_every_second(struct coll_clock_offset *c)
{
	unsigned int i, kept = 0;

	for (i = 0; i < c->count; i += 2)
		c->reading[kept++] = c->reading[i];
	c->count = kept;
}

static void add_reading(struct coll_clock_offset *c, const struct coll_clock_reading *r)
{
	struct coll_clock_reading *last = c->count ? &c->reading[c->count - 1] : NULL;
	int64_t now = coll_now_ns();

	if (last && now < c->kept_until_ns) {
		if (r->error_ns >= last->error_ns)
			return;
		*last = *r;
		c->version++;
		return;
	}
	if (c->count == COLL_CLOCK_OFFSET_READINGS)
		drop_every_second(c);
	c->reading[c->count++] = *r;
	c->kept_until_ns = now + COLL_CLOCK_OFFSET_KEEP_S * COLL_SECOND_NS;
	c->version++;
}

bool coll_clock_offset_read(struct coll_clock_offset *c, const struct coll_answer *a)
{
	int64_t received, answered, way;
	struct coll_clock_reading r;

	if (sscanf((const char *)a->bytes,
		   "{\"received_ns\":%" SCNd64 ",\"answered_ns\":%" SCNd64 "}", &received,
		   &answered) != 2 ||
	    received < 0 || answered < 0 || received > CLOCK_MOST_NS || answered > CLOCK_MOST_NS)
		return false;
	way = (a->got_ns - a->sent_ns) - (answered - received);
	if (!a->reused || way < 0 || way > 60 * COLL_SECOND_NS)
		return true;
	r.at_ns = a->got_ns;
	r.offset_ns = (received - a->sent_ns) / 2 + (answered - a->got_ns) / 2;
	r.error_ns = way / 2 + 1;
	add_reading(c, &r);
	return true;
}

static void write_into(const struct coll_clock_offset *c, const struct coll_out_run *run)
{
	char name[160], *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	unsigned int i;

	if (!out)
		return;
	fprintf(out,
		"{\"schema\":\"gpustarve.clock/1\",\"node\":\"%s\",\"to\":\"%s\",\"readings\":[",
		c->node, c->to);
	for (i = 0; i < c->count; i++)
		fprintf(out,
			"%s{\"at_ns\":%" PRId64 ",\"offset_ns\":%" PRId64 ",\"error_ns\":%" PRId64
			"}",
			i ? "," : "", c->reading[i].at_ns, c->reading[i].offset_ns,
			c->reading[i].error_ns);
	fputs("]}\n", out);
	snprintf(name, sizeof(name), COLL_CLOCK_PREFIX "%s.json", c->node);
	if (!fclose(out) && text && coll_file_replace(run->dir, name, text, len))
		coll_note("%s/%s: cannot be written", run->dir, name);
	free(text);
}

bool coll_clock_offset_write(struct coll_clock_offset *c, struct coll_outbox *box)
{
	struct coll_out_run *run;
	bool wrote = false;

	if (!c->count)
		return false;
	for (run = box->runs; run; run = run->next) {
		if (run->forwarded || coll_job_dir_is(run->name) || run->clocks == c->version ||
		    coll_now_ns() - run->changed_ns > 2 * COLL_CLOCK_OFFSET_KEEP_S * COLL_SECOND_NS)
			continue;
		run->clocks = c->version;
		write_into(c, run);
		wrote = true;
	}
	return wrote;
}
