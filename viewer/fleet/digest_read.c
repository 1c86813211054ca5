/* SPDX-License-Identifier: Apache-2.0 */
/* A digest back from JSON, which anybody may have written. */
#include <errno.h>
#include <string.h>
#include "base/jsondoc.h"
#include "digest_work.h"
#include "digest.h"
#include "job_rest.h"
#include "lost.h"
#include "program.h"
#include "units.h"
#include "vacant.h"

/* Whatever is not negative: who sums keeps sums within an int64. */
#define NS_MAX INT64_MAX
#define USD_MAX INT64_MAX
#define MINUTES_MAX (INT64_C(1) << 40)

struct reader {
	const char *why; /* the first thing that is wrong */
};

static int64_t number(struct reader *r, const struct base_json *node, const char *key, int64_t most)
{
	const struct base_json *n = base_json_get(node, key);
	int64_t v = 0;

	if (!n || n->type == BASE_JSON_NULL)
		return 0;
	if (!base_json_to_int(n, &v) || v < 0 || v > most) {
		r->why = r->why ? r->why : "a number is out of range";
		return 0;
	}
	return v;
}

#define TEXT(to, node, key) fleet_tame(to, sizeof(to), base_json_get_text(node, key, ""))

/* Lower-case words of the ledger; whatever else stands there is no class. */
static bool is_class(const char *name)
{
	return name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._") == strlen(name);
}

static void read_price(struct reader *r, const struct base_json *node, struct fleet_line *l)
{
	const struct base_json *price = base_json_get(node, "price");

	l->priced = price && price->type == BASE_JSON_OBJECT;
	if (!l->priced) {
		TEXT(l->asked, node, "price_model");
		return;
	}
	TEXT(l->model, price, "model");
	TEXT(l->label, price, "label");
	TEXT(l->source, price, "source");
	TEXT(l->date, price, "date");
	l->nano_usd_per_hour = number(r, price, "per_gpu_hour", USD_MAX);
#define LINE_USD(symbol, column) l->column = number(r, node, #column, USD_MAX);
#include "facts/fleet_lines.def"
}

static void read_line(struct reader *r, const struct base_json *node, struct fleet_line *l)
{
	int b = 0;

	TEXT(l->gpu, node, "gpu");
	l->gpus = number(r, node, "gpus", FLEET_GPUS_MAX);
#define LINE_NS(symbol, column) l->column = number(r, node, #column, NS_MAX);
#include "facts/fleet_lines.def"
	BASE_JSON_EACH(n, base_json_get(node, "minutes")) {
		int64_t v;
		if (b < FLEET_BANDS && base_json_to_int(n, &v) && v >= 0 && v < MINUTES_MAX)
			l->minutes[b] = v;
		b++;
	}
	read_price(r, node, l);
}

static void read_lines(struct reader *r, struct fleet_digest *d, const struct base_json *gpus)
{
	BASE_JSON_EACH(n, gpus) {
		if (d->lines == FLEET_LINES_MAX) {
			r->why = r->why ? r->why : "it has too many kinds of GPU";
			return;
		}
		read_line(r, n, &d->line[d->lines++]);
	}
}

static void read_shares(struct reader *r, struct fleet_digest *d, const struct base_json *classes)
{
	BASE_JSON_EACH(n, classes) {
		struct fleet_share *s = &d->share[d->shares];
		int64_t ns, usd;

		if (d->shares == FLEET_SHARES_MAX || !n->key || !is_class(n->key) ||
		    base_json_count(n) != 2 || !base_json_to_int(n->child, &ns) ||
		    !base_json_to_int(n->child->next, &usd) || ns < 0 || usd < 0) {
			r->why = r->why ? r->why : "a class is wrong";
			return;
		}
		fleet_tame(s->class, sizeof(s->class), n->key);
		s->ns = ns;
		s->usd = usd;
		d->shares++;
	}
}

static void read_hotspots(struct reader *r, struct fleet_digest *d, const struct base_json *lines)
{
	BASE_JSON_EACH(n, lines) {
		struct fleet_hotspot *s = &d->hotspot[d->hotspots];

		if (d->hotspots == FLEET_HOTSPOTS_MAX)
			return;
		TEXT(s->class, n, "class");
		TEXT(s->place, n, "place");
		s->ns = number(r, n, "ns", NS_MAX);
		s->usd = number(r, n, "usd", USD_MAX);
		d->hotspots += is_class(s->class) && s->place[0];
	}
}

static void read_fixes(struct reader *r, struct fleet_digest *d, const struct base_json *fixes)
{
	BASE_JSON_EACH(n, fixes) {
		struct fleet_fix *f = &d->fix[d->fixes];

		if (d->fixes == FLEET_FIXES_MAX)
			return;
		TEXT(f->id, n, "id");
		TEXT(f->title, n, "title");
		TEXT(f->brief, n, "brief");
		TEXT(f->class, n, "class");
		TEXT(f->place, n, "place");
		f->ns = number(r, n, "ns", NS_MAX);
		f->usd = number(r, n, "usd", USD_MAX);
		d->fixes += f->id[0] && is_class(f->class);
	}
}

static void read_labels(struct fleet_digest *d, const struct base_json *labels)
{
	BASE_JSON_EACH(n, labels) {
		struct fleet_label *l = &d->label_of[d->labels];

		if (d->labels == FLEET_LABELS_MAX)
			return;
		if (!n->key || n->type != BASE_JSON_STRING)
			continue;
		fleet_tame(l->key, sizeof(l->key), n->key);
		fleet_tame(l->value, sizeof(l->value), n->text);
		d->labels += l->key[0] != '\0';
	}
}

static void read_head(struct reader *r, struct fleet_digest *d, const struct base_json *root)
{
	const char *end = base_json_get_text(root, "end", "");

	d->revision = number(r, root, "revision", INT64_MAX);
	d->rules = (uint32_t)number(r, root, "rules", UINT32_MAX);
	d->rules = d->rules ? d->rules : 1;
	TEXT(d->run, root, "run");
	TEXT(d->tenant, root, "tenant");
#define NAME(symbol, name, column, title, told) TEXT(d->name, root, #name);
#define NAME_ADDED(symbol, name, column, title, told, missing) \
	fleet_tame(d->name, sizeof(d->name), base_json_get_text(root, #name, missing));
#include "facts/fleet_names.def"
	TEXT(d->job, root, "job");
	TEXT(d->verdict, root, "verdict");
	d->end = FLEET_END_OK;
	for (int i = 0; i < FLEET_ENDS; i++)
		if (!strcmp(end, fleet_end_names[i]))
			d->end = (enum fleet_end)i;
	d->has_exit_status = base_json_to_int(base_json_get(root, "exit_status"), &d->exit_status);
	d->simulated = base_json_get_bool(root, "simulated", false);
	d->start_unix_ns = number(r, root, "start_unix_ns", INT64_C(1) << 62);
	d->wall_ns = number(r, root, "wall_ns", NS_MAX);
	d->whole_job = base_json_get_bool(root, "whole_job", false);
	d->runs_overlap = base_json_get_bool(root, "runs_overlap", false);
	d->left_out = number(r, root, "left_out", INT32_MAX);
	if (!d->run[0])
		r->why = r->why ? r->why : "it names no run";
}

/* The name and one of its versions that we know. */
static const char *judge_schema(const struct base_json *root)
{
	const char *schema = base_json_get_text(root, "schema", "");

	if (!strcmp(schema, FLEET_DIGEST_SCHEMA))
		return NULL;
	return strncmp(schema, "gpustarve.digest/", 17) ? "it is not a digest of gpustarve"
							: "it is of a later version of gpustarve";
}

int fleet_digest_read(struct fleet_digest *d, const char *text, size_t len, const char **why)
{
	struct base_arena mem = { 0 };
	struct base_json_error error;
	struct reader r = { 0 };

	*d = (struct fleet_digest){ 0 };
	if (len > 4 * FLEET_DIGEST_BYTES_MAX) {
		*why = "it is too long";
		return -EBADMSG;
	}
	struct base_json *root = base_json_parse(&mem, text, len, &error);
	r.why = root ? judge_schema(root) : "it is not JSON";
	if (!r.why) {
		read_head(&r, d, root);
		read_lines(&r, d, base_json_get(root, "gpus"));
		read_shares(&r, d, base_json_get(root, "classes"));
		read_hotspots(&r, d, base_json_get(root, "lines"));
		read_fixes(&r, d, base_json_get(root, "fixes"));
		read_labels(d, base_json_get(root, "labels"));
		if (!r.why)
			r.why = fleet_work_read(d, root);
		if (!r.why)
			r.why = fleet_saves_read(d, base_json_get(root, "saves"));
		if (!r.why)
			r.why = fleet_vacancy_read(d, base_json_get(root, "no_process"));
		if (!r.why)
			r.why = fleet_program_read(d, base_json_get(root, "program"));
		if (!r.why)
			r.why = fleet_rest_read(d, root);
		fleet_units_read(d, base_json_get(root, "units"));
	}
	base_arena_fini(&mem);
	*why = r.why;
	return r.why ? -EBADMSG : 0;
}
