/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sections that fit: each is made in memory, once more and coarser while it is too large.
 */
#include "data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/hash.h"
#include "data_priv.h"

#define REST_BYTES 8192u /* the members that are always small */
#define BYTES_PER_GPU 16000u /* what its charts, tables and strips take beside the block */
#define PARTS 5

struct part {
	char *text;
	size_t len;
};

uint64_t view_data_checksum(const char *text, size_t len)
{
	return base_hash(BASE_HASH, text, len);
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

size_t data_process(struct data *d, uint32_t process)
{
	for (size_t i = 0; i < d->processes; i++)
		if (d->process[i] == process)
			return i;
	if (d->processes == DATA_PROCESSES_MAX) /* sections name fewer */
		return DATA_PROCESSES_MAX - 1;
	d->process[d->processes] = process;
	return d->processes++;
}

/* The finest level that takes at most @most bytes; *level says which. */
static struct part fit(struct data *d, data_section *section, unsigned int levels, size_t most,
		       unsigned int *level)
{
	size_t named = d->processes;
	struct part p = render(d, section, 0);

	for (*level = 0; p.text && p.len > most && *level + 1 < levels;) {
		free(p.text);
		d->processes = named;
		p = render(d, section, ++*level);
	}
	return p;
}

static void put_head(struct data *d)
{
	char start[24];

	data_text(&d->out, "schema", VIEW_DATA_SCHEMA, false);
	data_text(&d->out, "version", GPUSTARVE_VERSION, false);
	data_text(&d->out, "window", d->s->window == ANA_WINDOW_JOB ? "job" : "device", false);
	data_bool(&d->out, "series", d->series != NULL);
	if (!d->series)
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

/* Rank, or where it ran; level 1 is short. */
static void put_process(struct data *d, uint32_t i, unsigned int level)
{
	const struct ana_process *p = i < d->r->processes ? &d->r->process[i] : NULL;
	struct base_arena mem = { 0 };
	const char *label;

	if (!p)
		label = base_arena_printf(&mem, "process %" PRIu32, i);
	else if (p->has_rank)
		label = base_arena_printf(&mem, "rank %" PRId32, p->rank);
	else if (level || !p->host || !*p->host)
		label = base_arena_printf(&mem, "pid %" PRId64, p->pid);
	else
		label = base_arena_printf(&mem, "pid %" PRId64 " on %s", p->pid, p->host);
	data_open(&d->out, NULL, '{');
	data_uint(&d->out, "process", i);
	data_text(&d->out, "label", label, false);
	if (p && p->has_rank)
		data_int(&d->out, "rank", p->rank);
	else
		data_null(&d->out, "rank");
	data_close(&d->out, '}');
	base_arena_fini(&mem);
}

void data_processes(struct data *d, unsigned int level)
{
	data_open(&d->out, "processes", '[');
	for (size_t i = 0; i < d->processes; i++)
		put_process(d, d->process[i], level);
	data_close(&d->out, ']');
}

/* In the order of the document; made in another, since the GPUs get what room the others leave. */
static const struct {
	const char *name;
	data_section *section;
	unsigned int levels;
	size_t most; /* percent of what the block may take; 0: what is left */
} sections[PARTS] = {
	{ "timeline", data_gpus, DATA_GPUS_LEVELS, 0 },
	{ "processes", data_processes, DATA_PROCESSES_LEVELS, 6 },
	{ "steps", data_steps, DATA_STEPS_LEVELS, 27 },
	{ "loader", data_loader, DATA_LOADER_LEVELS, 19 },
	{ "flame", data_flame, DATA_FLAME_LEVELS, 21 },
};
static const int order[PARTS] = { 2, 3, 4, 1, 0 };

static size_t room_of(const struct ana_result *r)
{
	size_t less = r->gpus < VIEW_DATA_BYTES_MAX / BYTES_PER_GPU ? r->gpus * BYTES_PER_GPU
								    : VIEW_DATA_BYTES_MAX;
	size_t room = VIEW_DATA_BYTES_MAX - less;

	return room > VIEW_DATA_BYTES_MANY ? room : VIEW_DATA_BYTES_MANY;
}

static void put_series(struct data *d, FILE *f)
{
	size_t room = room_of(d->r), left = room - REST_BYTES;
	struct part part[PARTS];
	unsigned int level[PARTS];
	int i, k;

	for (i = 0; i < PARTS; i++) {
		k = order[i];
		part[k] = fit(d, sections[k].section, sections[k].levels,
			      sections[k].most ? room / 100 * sections[k].most : left, &level[k]);
		left -= part[k].len < left ? part[k].len : left;
	}
	for (k = 0; k < PARTS; k++) {
		if (part[k].text)
			fwrite(part[k].text, 1, part[k].len, f);
		free(part[k].text);
	}
	d->out = (struct data_out){ .f = f, .comma = true };
	put_copies(d);
	data_open(&d->out, "reduced", '[');
	for (k = 0; k < PARTS; k++)
		if (level[k])
			data_text(&d->out, NULL, sections[k].name, false);
	data_close(&d->out, ']');
}

void view_data_write(const struct view_summary *s, FILE *out)
{
	struct data d = { .s = s, .r = s->result, .series = s->result->series };
	struct part p = { 0 };
	FILE *f = open_memstream(&p.text, &p.len);

	if (!f)
		return;
	ana_series_axis(d.r, &d.axis_start, &d.axis_end);
	d.out.f = f;
	data_open(&d.out, NULL, '{');
	put_head(&d);
	if (d.series)
		put_series(&d, f);
	if (!fclose(f))
		fprintf(out, "%s,\"checksum\":\"%016" PRIx64 "\"}", p.text,
			view_data_checksum(p.text, p.len));
	free(p.text);
}

void view_data_element(const struct view_summary *s, FILE *f)
{
	fputs(VIEW_DATA_OPEN, f);
	view_data_write(s, f);
	fputs("</script>\n", f);
}
