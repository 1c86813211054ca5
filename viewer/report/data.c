/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections that fit: each is made in memory, once more and coarser while it is too large.
 */
#include "data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "data_priv.h"

#define REST_BYTES 8192u /* the members that are always small */
#define REDUCED_MAX 8

struct part {
	char *text;
	size_t len;
};

static uint64_t checksum(const char *text, size_t len)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (; len; len--, text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h;
}

/* Members of the document at one level; no text: no memory. */
static struct part render(struct data *d, data_section *section, unsigned int level)
{
	struct part p = { 0 };
	FILE *f = open_memstream(&p.text, &p.len);

	if (!f)
		return p;
	d->out = (struct data_out){ .f = f, .comma = true };
	section(d, level);
	if (fclose(f)) {
		free(p.text);
		p = (struct part){ 0 };
	}
	return p;
}

/* The finest level that takes at most @most bytes; *level says which. */
static struct part fit(struct data *d, data_section *section, unsigned int levels, size_t most,
		       unsigned int *level)
{
	struct part p = render(d, section, 0);

	for (*level = 0; p.text && p.len > most && *level + 1 < levels;) {
		free(p.text);
		p = render(d, section, ++*level);
	}
	return p;
}

static void find_axis(struct data *d)
{
	const struct ana_result *r = d->r;

	for (size_t g = 0; g < r->gpus; g++) {
		if (!g || r->gpu[g].held_start_ns < d->axis_start)
			d->axis_start = r->gpu[g].held_start_ns;
		if (!g || r->gpu[g].held_end_ns > d->axis_end)
			d->axis_end = r->gpu[g].held_end_ns;
	}
}

static bool has_series(const struct ana_result *r)
{
	bool any = false;

	for (size_t g = 0; r->timeline && g < r->gpus; g++)
		any |= r->timeline[g].count != 0;
	return any;
}

static void put_head(struct data *d)
{
	char start[24];

	data_text(&d->out, "schema", VIEW_DATA_SCHEMA, false);
	data_text(&d->out, "version", GPUSTARVE_VERSION, false);
	data_text(&d->out, "window", d->s->window == ANA_WINDOW_JOB ? "job" : "device", false);
	data_bool(&d->out, "series", has_series(d->r));
	if (!has_series(d->r))
		return;
	snprintf(start, sizeof(start), "%" PRId64, d->axis_start);
	data_text(&d->out, "axis_start_ns", start, false);
	data_int(&d->out, "axis_ns", d->axis_end - d->axis_start);
	data_open(&d->out, "classes", '[');
	for (int c = 0; c < ANA_CLASSES; c++)
		data_text(&d->out, NULL, ana_class_names[c], false);
	data_close(&d->out, ']');
}

static void put_copies(struct data *d)
{
	data_open(&d->out, "copies", '[');
	for (int k = 0; k < ANA_COPY_DIRS; k++) {
		const struct ana_copies *c = &d->r->copies[k];
		if (!c->count)
			continue;
		data_open(&d->out, NULL, '{');
		data_text(&d->out, "direction", ana_copy_names[k], false);
		data_uint(&d->out, "count", c->count);
		data_uint(&d->out, "bytes", c->bytes);
		data_int(&d->out, "ns", c->ns);
		data_int(&d->out, "exposed_ns", c->exposed_ns);
		data_close(&d->out, '}');
	}
	data_close(&d->out, ']');
}

static void put_series(struct data *d, FILE *f)
{
	unsigned int level;
	struct part gpus =
		fit(d, data_gpus, DATA_GPUS_LEVELS, VIEW_DATA_BYTES_MAX - REST_BYTES, &level);

	if (gpus.text)
		fwrite(gpus.text, 1, gpus.len, f);
	free(gpus.text);
	d->out = (struct data_out){ .f = f, .comma = true };
	put_copies(d);
	data_open(&d->out, "reduced", '[');
	if (level)
		data_text(&d->out, NULL, "timeline", false);
	data_close(&d->out, ']');
}

void view_data_write(const struct view_summary *s, FILE *out)
{
	struct data d = { .s = s, .r = s->result };
	struct part p = { 0 };
	FILE *f = open_memstream(&p.text, &p.len);

	if (!f)
		return;
	find_axis(&d);
	d.out.f = f;
	data_open(&d.out, NULL, '{');
	put_head(&d);
	if (has_series(d.r))
		put_series(&d, f);
	if (!fclose(f))
		fprintf(out, "%s,\"checksum\":\"%016" PRIx64 "\"}", p.text,
			checksum(p.text, p.len));
	free(p.text);
}

void view_data_element(const struct view_summary *s, FILE *f)
{
	fputs("<script type=\"application/json\" id=\"" VIEW_DATA_ID "\">", f);
	view_data_write(s, f);
	fputs("</script>\n", f);
}
