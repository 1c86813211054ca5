/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What lies in a job's folder, from any bytes. The input is allocations with a line "---" between
 * them. What is accepted is written and read again as the same; its names are one component of a
 * path each, and are known again; all of it together is a job that nobody recorded a run of, whose
 * classes must sum to the time it was given. The same bytes are then lists of GPUs, variables of a
 * scheduler, run.json's part of it, and names of jobs and files.
 */
#include "fuzz.h"

#include <stdlib.h>
#include "analysis/plan/vacancy.h"
#include "harness.h"
#include "job/find.h"
#include "job/hook.h"
#include "trace/trace.h"

#define ALLOCS 8
#define RESTARTS 1000000 /* a file's name says it in at most so many */

static char *written(const struct view_alloc *a)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	REQUIRE(f);
	view_alloc_write(a, f);
	fclose(f);
	return text;
}

static void check_names(struct base_arena *mem, const struct view_alloc *a)
{
	int64_t restart = a->id.number[VIEW_JOB_RESTART];
	const char *name = view_alloc_name(mem, a->node, restart);
	const char *folder = view_job_folder_name(mem, &a->id);

	if (strchr(name, '/') || strchr(folder, '/') || folder[0] == '.' ||
	    !view_job_is_folder(folder) || strchr(view_job_title(mem, &a->id), '/'))
		abort();
	if (restart < RESTARTS && view_alloc_restart_of(name) != restart)
		abort();
}

static void check_one(struct base_arena *mem, const struct view_alloc *a)
{
	struct view_alloc back;
	const char *why;
	char *text = written(a), *again;

	if (a->gpus > VIEW_ALLOC_GPUS_MAX || a->start_ns <= 0 ||
	    (a->ended && a->end_ns < a->start_ns) || !view_job_known(&a->id))
		abort();
	if (view_alloc_parse(&back, mem, text, strlen(text), &why))
		abort();
	again = written(&back);
	if (strcmp(text, again) != 0)
		abort();
	free(again);
	free(text);
	check_names(mem, a);
}

/* Nobody used a GPU: what was given is what is held, all of it in one class. */
static void check_result(const struct ana_result *r)
{
	for (size_t i = 0; i < r->gpus; i++) {
		const struct ana_gpu *g = &r->gpu[i];
		__int128 sum = 0;

		for (int c = 0; c < ANA_CLASSES; c++) {
			if (g->classes[c] < 0)
				abort();
			sum += g->classes[c];
		}
		if (sum != g->held_ns || g->allocated_ns != g->held_ns ||
		    g->classes[ANA_EXCLUDED_NO_PROCESS] + g->classes[ANA_EXCLUDED_UNOBSERVED] !=
			    g->held_ns)
			abort();
		if (ana_vacancy_ns(&g->vacancy) != g->classes[ANA_EXCLUDED_NO_PROCESS] ||
		    g->vacancy.unseen_ns != g->classes[ANA_EXCLUDED_UNOBSERVED])
			abort();
	}
}

static void analyse(struct view_alloc *alloc, size_t n)
{
	struct view_job job = { .id = alloc[0].id, .folder = "x", .alloc = alloc, .allocs = n };
	struct ana_options o = { .threads = 1, .timeline_buckets = 20, .top_gaps = 3 };
	struct view_trace *t;
	struct ana_result *r;
	const char *why;

	if (view_trace_open_job(&t, &job, &why))
		return;
	if (!ana_run(t, &o, &r)) {
		check_result(r);
		ana_result_free(r);
	}
	view_trace_close(t);
}

/* Cuts @text at lines of "---". */
static void as_allocations(struct base_arena *mem, char *text, size_t len)
{
	struct view_alloc alloc[ALLOCS];
	char *end = text + len, *cut;
	size_t n = 0;
	const char *why;

	for (char *at = text; at < end && n < ALLOCS; at = cut + 5) {
		cut = memmem(at, (size_t)(end - at), "\n---\n", 5);
		if (!cut)
			cut = end;
		if (view_alloc_parse(&alloc[n], mem, at, (size_t)(cut - at), &why))
			continue;
		alloc[n].unseen = n & 1;
		check_one(mem, &alloc[n++]);
	}
	if (n)
		analyse(alloc, n);
}

static void check_list(struct base_arena *mem, const char *numbers, const char *visible)
{
	struct view_alloc_gpu *gpu;
	size_t n = view_hook_gpus(mem, numbers, visible, &gpu);

	if (n > VIEW_ALLOC_GPUS_MAX)
		abort();
	for (size_t i = 0; i < n; i++)
		if (gpu[i].uuid ? !view_alloc_is_uuid(gpu[i].uuid) : gpu[i].index < 0)
			abort();
}

/* Each variable is the text from a place of its own. */
static const char *variable(void *arg, const char *name)
{
	const char *text = arg;

	return text + strlen(text) * (strlen(name) % 7) / 7;
}

static void as_words(struct base_arena *mem, const char *text)
{
	struct view_job_identity id, more = VIEW_JOB_NONE;
	struct base_json_error bad;
	struct view_jobs jobs;
	struct view_job *job;

	check_list(mem, text, NULL);
	check_list(mem, NULL, text);
	check_list(mem, text, text);
	view_job_from(&id, variable, (void *)(uintptr_t)text);
	view_job_from_json(&more, base_json_parse(mem, text, strlen(text), &bad));
	view_job_add(&id, &more);
	view_job_keep(&id, mem);
	for (int i = 0; i < VIEW_JOB_NUMBERS; i++)
		if (id.number[i] < -1 || id.number[i] > VIEW_JOB_NUMBER_MAX)
			abort();
	if (view_job_named(&jobs, "/nonexistent", text, text, &job) == 0)
		abort();
	view_jobs_fini(&jobs);
	view_job_is_folder(text);
	if (view_alloc_restart_of(text) >= RESTARTS)
		abort();
	if (strchr(view_job_safe(mem, text), '/'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct base_arena mem = { 0 };
	char *text = base_arena_copy(&mem, (const char *)data, len);

	as_allocations(&mem, text, len);
	as_words(&mem, text);
	base_arena_fini(&mem);
	return 0;
}

static const char *const words[] = {
	"0,2-3,GPU-01020000-0000-0000-0000-000000000000,7-1,99999-100000",
	"4700_3",
	"cluster-1-4711.job",
	"alloc-n1.cluster-12.json",
	"SLURM_JOB_ID=4711\n4711\n{\"job\": 4711, \"cluster\": \"c\", \"restart\": 2}",
};

/* Two nodes and a second life of one, as the hooks write them; then words. */
size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const char *const nodes[] = { "n1", "n2", "n1" };
	struct view_alloc_gpu gpu[] = {
		{ 0, "GPU-01020000-0000-0000-0000-000000000000", "NVIDIA H100 80GB HBM3", NULL, 0,
		  0 },
		{ 1, NULL, NULL, NULL, 0, 0 },
		{ 2, "MIG-11020000-0000-0000-0000-000000000000", "NVIDIA H100 MIG 3g.40gb",
		  "3g.40gb", 3, 7 },
	};
	char *text = NULL;
	size_t len = 0;

	if (number > 3 + sizeof(words) / sizeof(words[0]))
		return 0;
	if (number > 3) {
		text = strdup(words[number - 4]);
		*data = (uint8_t *)text;
		return strlen(text);
	}
	FILE *f = open_memstream(&text, &len);
	REQUIRE(f);
	for (unsigned int i = 0; i < (number ? 3u : 1u); i++) {
		struct view_alloc a = { .id = VIEW_JOB_NONE,
					.node = nodes[i],
					.host = nodes[i],
					.gpu = gpu,
					.gpus = number == 2 ? 1 : 3,
					.start_ns = 1700000000000000000 + i * INT64_C(60000000000),
					.ended = number != 3 || i != 1 };

		a.id.number[VIEW_JOB_ID] = 4711;
		a.id.number[VIEW_JOB_RESTART] = i / 2;
		a.id.text[VIEW_JOB_CLUSTER] = "c/1";
		a.id.text[VIEW_JOB_USER] = "anna";
		a.end_ns = a.ended ? a.start_ns + 50000000000 : 0;
		if (i)
			fputs("---\n", f);
		view_alloc_write(&a, f);
	}
	fclose(f);
	*data = (uint8_t *)text;
	return len;
}
