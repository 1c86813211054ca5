/* SPDX-License-Identifier: Apache-2.0 */
#include "baseline.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "base/jsondoc.h"
#include "base/jsonout.h"
#include "base/files.h"

#define STEPS_MAX 1000000000000
#define ITEMS_PER_LINE 16
#define BYTES_MAX ((off_t)16 << 20) /* CHECK_RUNS_MAX full runs are 7 MB */

static void put_classes(struct base_jsonout *j, const struct check_run *run)
{
	base_json_object(j, "classes");
	for (int c = 0; c < ANA_CLASSES; c++)
		if (run->classes[c])
			base_json_int(j, ana_class_names[c], run->classes[c]);
	base_json_end(j);
}

static void put_hotspots(struct base_jsonout *j, const struct check_run *run)
{
	base_json_array(j, "findings");
	for (size_t i = 0; i < run->hotspots; i++) {
		const struct check_hotspot *p = &run->hotspot[i];
		base_json_flat_object(j, NULL);
		base_json_string(j, "class", ana_class_names[p->class]);
		base_json_int(j, "ns", p->ns);
		base_json_string(j, "file", p->file);
		base_json_uint(j, "line", p->line);
		base_json_string(j, "function", p->function);
		base_json_end(j);
	}
	base_json_end(j);
}

/* In lines of some items, so that a change of the file is a change of some lines. */
static void put_column(struct base_jsonout *j, const char *key, const struct check_series *s,
		       bool exposed)
{
	base_json_array(j, key);
	for (size_t i = 0; i < s->count; i += ITEMS_PER_LINE) {
		base_json_flat_array(j, NULL);
		for (size_t k = i; k < s->count && k < i + ITEMS_PER_LINE; k++)
			base_json_int(j, NULL, exposed ? s->item[k].exposed_ns : s->item[k].ns);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_series(struct base_jsonout *j, const struct check_series *s)
{
	base_json_object(j, "series");
	base_json_uint(j, "steps", s->steps);
	base_json_uint(j, "warmup", s->warmup);
	base_json_uint(j, "steps_per_item", s->width);
	base_json_flat_array(j, "quantile_permille");
	for (int i = 0; i < CHECK_QUANTILES; i++)
		base_json_uint(j, NULL, check_permille[i]);
	base_json_end(j);
	base_json_flat_array(j, "quantile_ns");
	for (int i = 0; i < CHECK_QUANTILES; i++)
		base_json_int(j, NULL, s->quantile_ns[i]);
	base_json_end(j);
	put_column(j, "item_ns", s, false);
	put_column(j, "item_exposed_ns", s, true);
	base_json_end(j);
}

static void put_outcomes(struct base_jsonout *j, const struct check_run *run)
{
	if (!run->outcomes)
		return;
	base_json_array(j, "outcomes");
	for (size_t i = 0; i < run->outcomes; i++) {
		base_json_flat_object(j, NULL);
		base_json_string(j, "unit", run->outcome[i].unit);
		base_json_int(j, "count", run->outcome[i].num);
		base_json_int(j, "divisor", run->outcome[i].den);
		if (run->outcome[i].bound)
			base_json_string(j, "bound", view_outcome_bounds[run->outcome[i].bound]);
		base_json_end(j);
	}
	base_json_end(j);
}

static void put_run(struct base_jsonout *j, const struct check_run *run)
{
	base_json_object(j, NULL);
	base_json_string(j, "id", run->id);
	base_json_string(j, "hardware", run->hardware);
	base_json_string(j, "dataset", run->dataset);
	base_json_string(j, "price", run->price);
	base_json_int(j, "nano_usd_per_hour", run->nano_usd_per_hour);
	base_json_int(j, "gpus", run->gpus);
	base_json_int(j, "ranks", run->ranks);
	base_json_int(j, "workers", run->workers);
	base_json_int(j, "batch_size", run->batch_size);
	base_json_int(j, "cores", run->cores);
	base_json_string(j, "window", run->window == ANA_WINDOW_JOB ? "job" : "device");
	base_json_uint(j, "rules", run->rules);
	base_json_bool(j, "simulated", run->simulated);
	base_json_bool(j, "complete", run->complete);
	base_json_int(j, "gpu_ns", run->gpu_ns);
	base_json_int(j, "starved_ns", run->starved_ns);
	base_json_int(j, "wasted_ns", run->wasted_ns);
	base_json_int(j, "total_nano_usd", run->total_nano_usd);
	base_json_int(j, "wasted_nano_usd", run->wasted_nano_usd);
	base_json_int(j, "starved_nano_usd", run->starved_nano_usd);
	base_json_uint(j, "steps", run->steps);
	base_json_int(j, "step_median_ns", run->step_median_ns);
	base_json_int(j, "step_p95_ns", run->step_p95_ns);
	base_json_int(j, "step_fed_median_ns", run->step_fed_median_ns);
	base_json_int(j, "batches", run->batches);
	put_outcomes(j, run);
	put_classes(j, run);
	put_hotspots(j, run);
	put_series(j, &run->series);
	base_json_end(j);
}

int check_baseline_write(const char *path, const struct check_run *run, size_t runs)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct base_jsonout j = { .f = f };

	if (!f)
		return -ENOMEM;
	base_json_object(&j, NULL);
	base_json_string(&j, "schema", CHECK_BASELINE_SCHEMA);
	base_json_string(&j, "made_by", "gpustarve " GPUSTARVE_VERSION);
	base_json_array(&j, "runs");
	for (size_t i = 0; i < runs; i++)
		put_run(&j, &run[i]);
	base_json_end(&j);
	base_json_end(&j);
	int err = fclose(f) ? -ENOMEM : base_file_write(path, text, len);
	free(text);
	return err;
}

/*
 * -- reading ------------------------------------------------------------------------------------
 */

struct in {
	struct base_arena *mem;
	const char *why; /* NULL: fine so far */
};

static int64_t get(struct in *in, const struct base_json *node, const char *key, int64_t least,
		   int64_t most)
{
	int64_t v;

	if (!base_json_to_int(base_json_get(node, key), &v) || v < least || v > most) {
		if (!in->why)
			in->why = base_arena_printf(in->mem, "%s is missing or out of range", key);
		return least;
	}
	return v;
}

static const char *get_text(struct in *in, const struct base_json *node, const char *key)
{
	const char *text = base_json_get_text(node, key, NULL);

	if (!text && !in->why)
		in->why = base_arena_printf(in->mem, "%s is missing", key);
	return text ? text : "";
}

/* Classes of another version that this one does not know would be missing in the sum. */
static void get_classes(struct in *in, const struct base_json *node, struct check_run *run)
{
	const struct base_json *classes = base_json_get(node, "classes");
	__int128 sum = 0;

	for (const struct base_json *c = classes ? classes->child : NULL; c; c = c->next) {
		int class = c->key ? ana_class_by_name(c->key) : -1;
		int64_t ns;
		if (class < 0 || !base_json_to_int(c, &ns) || ns < 0) {
			in->why = "a class of GPU time is not known";
			return;
		}
		run->classes[class] = ns;
	}
	for (int c = 0; c < ANA_CLASSES; c++)
		sum += run->classes[c];
	if (sum != run->gpu_ns && !in->why)
		in->why = "the classes do not sum to gpu_ns";
}

static void get_hotspots(struct in *in, const struct base_json *node, struct check_run *run)
{
	const struct base_json *all = base_json_get(node, "findings");

	for (const struct base_json *f = all ? all->child : NULL; f; f = f->next) {
		int class = ana_class_by_name(base_json_get_text(f, "class", ""));
		if (class < 0 || run->hotspots == CHECK_HOTSPOTS_MAX) {
			in->why = "the class of a finding is not known, or there are too many";
			return;
		}
		run->hotspot[run->hotspots++] = (struct check_hotspot){
			.class = (enum ana_class) class,
			.ns = get(in, f, "ns", 0, INT64_MAX),
			.file = base_json_get_text(f, "file", NULL),
			.function = base_json_get_text(f, "function", NULL),
			.line = (uint32_t)get(in, f, "line", 0, UINT32_MAX),
		};
	}
}

/* An array of arrays of integers, laid end to end. */
static size_t get_column(struct in *in, const struct base_json *node, const char *key,
			 int64_t value[CHECK_ITEMS_KEPT])
{
	const struct base_json *lines = base_json_get(node, key);
	size_t n = 0;

	for (const struct base_json *l = lines ? lines->child : NULL; l; l = l->next) {
		for (const struct base_json *v = l->child; v; v = v->next) {
			if (n == CHECK_ITEMS_KEPT || !base_json_to_int(v, &value[n]) ||
			    value[n] < 0) {
				in->why = base_arena_printf(in->mem, "%s is damaged", key);
				return 0;
			}
			n++;
		}
	}
	return n;
}

static void get_quantiles(struct in *in, const struct base_json *node, struct check_series *s)
{
	const struct base_json *q = base_json_get(node, "quantile_ns");
	const struct base_json *v = q ? q->child : NULL;

	for (int i = 0; i < CHECK_QUANTILES; i++, v = v->next) {
		if (!v || !base_json_to_int(v, &s->quantile_ns[i])) {
			in->why = "quantile_ns is damaged";
			return;
		}
	}
}

/* The series' items are the one thing of a baseline on the heap. */
static int get_series(struct in *in, const struct base_json *node, struct check_series *s)
{
	const struct base_json *series = base_json_get(node, "series");
	int64_t *ns = calloc(2 * CHECK_ITEMS_KEPT, sizeof(*ns)), *exposed;

	if (!ns)
		return -ENOMEM;
	exposed = ns + CHECK_ITEMS_KEPT;
	s->steps = (uint64_t)get(in, series, "steps", 0, STEPS_MAX);
	s->warmup = (uint64_t)get(in, series, "warmup", 0, STEPS_MAX);
	s->width = (uint64_t)get(in, series, "steps_per_item", 0, STEPS_MAX);
	size_t n = get_column(in, series, "item_ns", ns);
	if (get_column(in, series, "item_exposed_ns", exposed) != n && !in->why)
		in->why = "item_ns and item_exposed_ns differ in length";
	if (n && !s->width && !in->why)
		in->why = "steps_per_item is missing or out of range";
	get_quantiles(in, series, s);
	for (size_t i = 0; i < n && !in->why; i++)
		if (!ns[i] || exposed[i] > ns[i])
			in->why = "a step's time is out of range";
	if (!in->why && n) {
		s->item = calloc(n, sizeof(*s->item));
		for (size_t i = 0; s->item && i < n; i++)
			s->item[s->count++] = (struct check_item){ ns[i], exposed[i] };
	}
	free(ns);
	return s->count == n || in->why ? 0 : -ENOMEM;
}

/* Exact where it is not told. */
static enum view_outcome_bound get_bound(struct in *in, const struct base_json *o)
{
	const char *name = base_json_get_text(o, "bound", view_outcome_bounds[0]);

	for (int b = 0; b < VIEW_OUTCOME_BOUNDS; b++)
		if (!strcmp(view_outcome_bounds[b], name))
			return (enum view_outcome_bound)b;
	in->why = "the bound of an outcome is not known";
	return VIEW_OUTCOME_EXACT;
}

/* Baselines of earlier versions have none. */
static void get_outcomes(struct in *in, const struct base_json *node, struct check_run *run)
{
	const struct base_json *all = base_json_get(node, "outcomes");

	for (const struct base_json *o = all ? all->child : NULL; o; o = o->next) {
		if (run->outcomes == VIEW_OUTCOMES_MAX) {
			in->why = "there are too many outcomes";
			return;
		}
		run->outcome[run->outcomes++] = (struct check_outcome){
			get_text(in, o, "unit"), get(in, o, "count", 1, INT64_MAX),
			get(in, o, "divisor", 1, INT64_MAX), get_bound(in, o), VIEW_OUTCOME_LOADER
		};
	}
}

static int get_run(struct in *in, const struct base_json *node, struct check_run *run)
{
	const int64_t many = INT64_MAX;
	const char *window;

	*run = (struct check_run){
		.id = get_text(in, node, "id"),
		.hardware = get_text(in, node, "hardware"),
		.dataset = base_json_get_text(node, "dataset", NULL),
		.price = base_json_get_text(node, "price", NULL),
		.nano_usd_per_hour = get(in, node, "nano_usd_per_hour", -1, many),
		.gpus = get(in, node, "gpus", 0, many),
		.ranks = get(in, node, "ranks", 0, many),
		.workers = get(in, node, "workers", -1, many),
		.batch_size = get(in, node, "batch_size", -1, many),
		.cores = get(in, node, "cores", 0, many),
		.rules = base_json_get(node, "rules")
				 ? (uint32_t)get(in, node, "rules", 1, UINT32_MAX)
				 : 1,
		.simulated = base_json_get_bool(node, "simulated", false),
		.complete = base_json_get_bool(node, "complete", false),
		.gpu_ns = get(in, node, "gpu_ns", 0, many),
		.starved_ns = get(in, node, "starved_ns", 0, many),
		.wasted_ns = get(in, node, "wasted_ns", 0, many),
		.total_nano_usd = get(in, node, "total_nano_usd", 0, many),
		.wasted_nano_usd = get(in, node, "wasted_nano_usd", 0, many),
		.starved_nano_usd = get(in, node, "starved_nano_usd", 0, many),
		.steps = (uint64_t)get(in, node, "steps", 0, STEPS_MAX),
		.step_median_ns = get(in, node, "step_median_ns", -1, many),
		.step_p95_ns = get(in, node, "step_p95_ns", -1, many),
		.step_fed_median_ns = get(in, node, "step_fed_median_ns", -1, many),
	};
	run->batches = base_json_get_int(node, "batches", -1); /* earlier versions have none */
	window = get_text(in, node, "window");
	run->window = strcmp(window, "device") ? ANA_WINDOW_JOB : ANA_WINDOW_DEVICE;
	get_outcomes(in, node, run);
	get_classes(in, node, run);
	get_hotspots(in, node, run);
	return get_series(in, node, &run->series);
}

static int get_runs(struct in *in, const struct base_json *root, struct check_run *run,
		    size_t *runs)
{
	const struct base_json *all = base_json_get(root, "runs");
	int err = 0;

	*runs = 0;
	for (const struct base_json *r = all ? all->child : NULL; r && !err && !in->why;
	     r = r->next) {
		if (*runs == CHECK_RUNS_MAX) {
			in->why = "it has too many runs";
			break;
		}
		err = get_run(in, r, &run[(*runs)++]);
	}
	if (!err && !in->why && !*runs)
		in->why = "it has no runs";
	if (!err && in->why)
		err = -EBADMSG;
	if (err) {
		while (*runs)
			check_run_fini(&run[--*runs]);
	}
	return err;
}

int check_baseline_read(const char *path, struct base_arena *mem,
			struct check_run run[CHECK_RUNS_MAX], size_t *runs, const char **why)
{
	struct base_json_error bad = { 0 };
	struct base_json *root = NULL;
	struct in in = { .mem = mem };
	struct stat st;
	int err = stat(path, &st) ? -errno : st.st_size > BYTES_MAX ? -EFBIG : 0;

	*runs = 0;
	if (!err)
		err = base_json_read(mem, path, &root, &bad);
	*why = err == -EBADMSG ? base_arena_printf(mem, "%s at byte %zu", bad.why, bad.offset)
			       : strerror(-err);
	if (err)
		return err;
	const char *schema = base_json_get_text(root, "schema", "");
	if (strncmp(schema, "gpustarve.baseline/", 19)) {
		*why = "it is not a baseline of gpustarve";
		return -EBADMSG;
	}
	if (strcmp(schema, CHECK_BASELINE_SCHEMA)) {
		*why = base_arena_printf(mem, "it is of another version (%.40s)", schema);
		return -EPROTO;
	}
	err = get_runs(&in, root, run, runs);
	if (err)
		*why = in.why ? in.why : strerror(-err);
	return err;
}
