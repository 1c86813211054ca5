/* SPDX-License-Identifier: Apache-2.0 */
/* A digest as one line of JSON that never is longer than it may be. */
#include <stdlib.h>
#include <string.h>
#include "base/escape.h"
#include "base/jsonout.h"
#include "digest_work.h"
#include "digest.h"
#include "job_rest.h"
#include "lost.h"
#include "program.h"
#include "units.h"
#include "vacant.h"

#define TEXT_LEAST 24 /* bytes of JSON that a text has in any case */
#define SHARES_LEAST 12 /* classes that are worth more than whole names */

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
	} else if (l->asked[0]) {
		base_json_string(j, "price_model", l->asked);
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
	if (d->runs_overlap)
		base_json_bool(j, "runs_overlap", true);
	fleet_rest_put(j, d);
	if (d->left_out)
		base_json_int(j, "left_out", d->left_out);
	fleet_units_put(j, d);
	fleet_saves_put(j, d);
	fleet_vacancy_put(j, d);
	fleet_program_put(j, d);
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

static void agree(char *to, const char *from, size_t room)
{
	if (strcmp(to, from) != 0)
		fleet_tame(to, room, "several");
}

#define AGREE(to, from, text) agree((to)->text, (from)->text, sizeof((to)->text))

static void fold_line(struct fleet_line *to, const struct fleet_line *from)
{
	AGREE(to, from, gpu);
	AGREE(to, from, asked);
	if (to->priced) { /* amounts stay those of each one's price */
		AGREE(to, from, model);
		AGREE(to, from, label);
		AGREE(to, from, source);
		AGREE(to, from, date);
		if (to->nano_usd_per_hour != from->nano_usd_per_hour)
			to->nano_usd_per_hour = 0;
	}
	to->gpus += from->gpus;
	if (to->gpus > FLEET_GPUS_MAX)
		to->gpus = FLEET_GPUS_MAX;
#define LINE_NS(symbol, column) view_cost_add(&to->column, from->column);
#define LINE_USD(symbol, column) view_cost_add(&to->column, from->column);
#define LINE_MINUTES(symbol, column, band) view_cost_add(&to->minutes[band], from->minutes[band]);
#include "facts/fleet_lines.def"
}

/*
 * Two lines of GPUs become one, and sums stay. Never one with a price and one without: the sum's
 * dollars would have no price, or its price would be over time of which nobody knows one.
 */
static bool fold_lines(struct fleet_digest *d)
{
	for (size_t i = d->lines; i-- > 1;) {
		size_t k = i;

		while (k > 0 && d->line[k - 1].priced != d->line[i].priced)
			k--;
		if (!k)
			continue;
		fold_line(&d->line[k - 1], &d->line[i]);
		fleet_rest_fold_line(d, k - 1, i);
		d->lines--;
		memmove(&d->line[i], &d->line[i + 1], (d->lines - i) * sizeof(d->line[0]));
		return true;
	}
	return false;
}

static size_t length(const char *text)
{
	size_t len = 0, left = strlen(text), took;
	char c[BASE_ESCAPED_MAX];

	for (; left; text += took, left -= took)
		len += base_escape(c, BASE_AS_JSON, text, left, &took);
	return len;
}

/* To so many bytes of JSON, in whole characters. */
static void cut(char *text, size_t most)
{
	size_t left = strlen(text), took, len = 0;
	char c[BASE_ESCAPED_MAX];

	for (; left; text += took, left -= took) {
		len += base_escape(c, BASE_AS_JSON, text, left, &took);
		if (len > most)
			break;
	}
	*text = '\0';
}

static void longer(char **longest, char *text)
{
	if (length(text) > (*longest ? length(*longest) : TEXT_LEAST))
		*longest = text;
}

static bool cut_longest(char *longest)
{
	if (longest)
		cut(longest, TEXT_LEAST);
	return longest != NULL;
}

/* The longest as JSON of those that no bill is summed by, but for GPUs' names. */
static bool cut_text(struct fleet_digest *d)
{
	char *longest = NULL;

	for (size_t i = 0; i < d->lines; i++) {
#define LINE_TEXT(member, array) longer(&longest, d->line[i].member);
#include "facts/fleet_lines.def"
	}
	longer(&longest, d->verdict);
	return cut_longest(longest);
}

/* Whose a run is; never what it is known by. */
static bool cut_name(struct fleet_digest *d)
{
	char *longest = NULL;

#define NAME(symbol, name, column, title, told) longer(&longest, d->name);
#include "facts/fleet_names.def"
	longer(&longest, d->job);
	return cut_longest(longest);
}

static size_t smallest(const struct fleet_digest *d)
{
	size_t least = 0;

	for (size_t i = 1; i < d->shares; i++)
		if (d->share[i].ns < d->share[least].ns)
			least = i;
	return least;
}

static void remove_share(struct fleet_digest *d, size_t i)
{
	d->shares--;
	memmove(&d->share[i], &d->share[i + 1], (d->shares - i) * sizeof(d->share[0]));
}

/* The smallest class goes to what has no class of its own, which is the last one. */
static bool fold_share(struct fleet_digest *d, size_t keep)
{
	struct fleet_share sum = { "several", 0, 0 };

	if (d->shares <= keep)
		return false;
	for (size_t i = 0; i < d->shares; i++)
		if (!strcmp(d->share[i].class, sum.class)) {
			sum = d->share[i];
			remove_share(d, i);
			break;
		}
	size_t least = smallest(d);
	view_cost_add(&sum.ns, d->share[least].ns);
	view_cost_add(&sum.usd, d->share[least].usd);
	remove_share(d, least);
	d->share[d->shares++] = sum;
	return true;
}

static bool drop_program(struct fleet_digest *d)
{
	bool any = d->program.fingerprint[0] != '\0';

	d->program = (struct fleet_program){ 0 };
	return any;
}

static bool drop_chain(struct fleet_digest *d)
{
	bool any = d->chain.known;

	d->chain = (struct saves_chain){ 0 };
	return any;
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
	else
		return fleet_rest_fold(d) || fold_lines(d) || cut_text(d) || drop_program(d) ||
		       drop_chain(d) || fold_share(d, SHARES_LEAST) || cut_name(d) ||
		       fold_share(d, 1) || fleet_vacancy_fold(d);
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
	for (;; d->left_out++) {
		text = once(d, &len);
		if (!text || len <= FLEET_DIGEST_BYTES_MAX || !drop_one(d))
			break;
		free(text);
	}
	free(d);
	return text;
}
