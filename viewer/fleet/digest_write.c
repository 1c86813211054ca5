/* SPDX-License-Identifier: Apache-2.0 */
/* A digest as one line of JSON that never is longer than it may be. */
#include <stdlib.h>
#include <string.h>
#include "base/jsonout.h"
#include "digest_work.h"
#include "digest.h"
#include "lost.h"
#include "units.h"

static void put_line(struct base_jsonout *j, const struct fleet_line *l)
{
	base_json_object(j, NULL);
	base_json_string(j, "gpu", l->gpu);
	base_json_int(j, "gpus", l->gpus);
#define LINE_NS(symbol, column) base_json_int(j, #column, l->column);
#include "facts/fleet_lines.def"
	base_json_array(j, "minutes");
	for (int b = 0; b < FLEET_BANDS; b++)
		base_json_int(j, NULL, l->minutes[b]);
	base_json_end(j);
	if (l->priced) {
#define LINE_USD(symbol, column) base_json_int(j, #column, l->column);
#include "facts/fleet_lines.def"
		base_json_object(j, "price");
		base_json_string(j, "model", l->model);
		base_json_int(j, "per_gpu_hour", l->nano_usd_per_hour);
		base_json_string(j, "label", l->label);
		base_json_string(j, "source", l->source);
		base_json_string(j, "date", l->date);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_text(struct base_jsonout *j, const char *key, const char *text)
{
	if (text[0])
		base_json_string(j, key, text);
}

static void put_head(struct base_jsonout *j, const struct fleet_digest *d)
{
	base_json_string(j, "schema", FLEET_DIGEST_SCHEMA);
	if (d->rules > 1) /* the first ones are told by no number */
		base_json_uint(j, "rules", d->rules);
	base_json_int(j, "revision", d->revision);
	base_json_string(j, "run", d->run);
	put_text(j, "tenant", d->tenant);
#define NAME(symbol, name, column, title, told) put_text(j, #name, d->name);
#include "facts/fleet_names.def"
	put_text(j, "job", d->job);
	base_json_string(j, "end", fleet_end_names[d->end]);
	if (d->has_exit_status)
		base_json_int(j, "exit_status", d->exit_status);
	base_json_bool(j, "simulated", d->simulated);
	base_json_string(j, "verdict", d->verdict);
	base_json_int(j, "start_unix_ns", d->start_unix_ns);
	base_json_int(j, "wall_ns", d->wall_ns);
	if (d->whole_job)
		base_json_bool(j, "whole_job", true);
	fleet_units_put(j, d);
	fleet_saves_put(j, d);
}

static void put_pair(struct base_jsonout *j, int64_t ns, int64_t usd)
{
	base_json_int(j, "ns", ns);
	base_json_int(j, "usd", usd);
}

static void put_why(struct base_jsonout *j, const struct fleet_digest *d)
{
	base_json_array(j, "lines");
	for (size_t i = 0; i < d->hotspots; i++) {
		base_json_object(j, NULL);
		base_json_string(j, "class", d->hotspot[i].class);
		base_json_string(j, "place", d->hotspot[i].place);
		put_pair(j, d->hotspot[i].ns, d->hotspot[i].usd);
		base_json_end(j);
	}
	base_json_end(j);
	base_json_array(j, "fixes");
	for (size_t i = 0; i < d->fixes; i++) {
		const struct fleet_fix *f = &d->fix[i];

		base_json_object(j, NULL);
		base_json_string(j, "id", f->id);
		base_json_string(j, "title", f->title);
		put_text(j, "brief", f->brief);
		base_json_string(j, "class", f->class);
		put_text(j, "place", f->place);
		put_pair(j, f->ns, f->usd);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_body(struct base_jsonout *j, const struct fleet_digest *d)
{
	put_head(j, d);
	base_json_array(j, "gpus");
	for (size_t i = 0; i < d->lines; i++)
		put_line(j, &d->line[i]);
	base_json_end(j);
	base_json_object(j, "classes"); /* ns, nano-dollars */
	for (size_t i = 0; i < d->shares; i++) {
		base_json_array(j, d->share[i].class);
		base_json_int(j, NULL, d->share[i].ns);
		base_json_int(j, NULL, d->share[i].usd);
		base_json_end(j);
	}
	base_json_end(j);
	fleet_work_put(j, d);
	put_why(j, d);
	base_json_object(j, "labels");
	for (size_t i = 0; i < d->labels; i++)
		base_json_string(j, d->label_of[i].key, d->label_of[i].value);
	base_json_end(j);
}

static char *once(const struct fleet_digest *d, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);
	struct base_jsonout j = { .f = f };

	if (!f)
		return NULL;
	base_json_flat_object(&j, NULL);
	put_body(&j, d);
	base_json_end(&j);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Keeps sums: the last two lines of GPUs become one. */
static void fold_line(struct fleet_digest *d)
{
	struct fleet_line *to = &d->line[d->lines - 2], *from = &d->line[d->lines - 1];

	fleet_tame(to->gpu, sizeof(to->gpu), "several");
	fleet_tame(to->model, sizeof(to->model), "several");
	to->label[0] = to->source[0] = '\0';
	to->nano_usd_per_hour = 0;
	to->gpus += from->gpus;
#define LINE_NS(symbol, column) view_cost_add(&to->column, from->column);
#define LINE_USD(symbol, column) view_cost_add(&to->column, from->column);
#define LINE_MINUTES(symbol, column, band) view_cost_add(&to->minutes[band], from->minutes[band]);
#include "facts/fleet_lines.def"
	d->lines--;
}

/* False: nothing is left that could go. */
static bool drop_one(struct fleet_digest *d)
{
	if (d->fixes > 2)
		d->fixes--;
	else if (d->hotspots > 3)
		d->hotspots--;
	else if (d->labels > 6)
		d->labels--;
	else if (d->works > 4)
		fleet_work_fold(d);
	else if (d->fixes)
		d->fixes--;
	else if (d->hotspots)
		d->hotspots--;
	else if (d->labels)
		d->labels--;
	else if (d->works > 1)
		fleet_work_fold(d);
	else if (d->lines > 1)
		fold_line(d);
	else
		return false;
	return true;
}

char *fleet_digest_write(const struct fleet_digest *whole)
{
	struct fleet_digest *d = malloc(sizeof(*d));
	char *text = NULL;
	size_t len;

	if (!d)
		return NULL;
	*d = *whole;
	do {
		free(text);
		text = once(d, &len);
	} while (text && len > FLEET_DIGEST_BYTES_MAX && drop_one(d));
	free(d);
	return text;
}
