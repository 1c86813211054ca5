/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces that are well formed and mean nothing: stamps, ids, kinds and flags drawn at random, names
 * that are not there. Every export of them ends by itself, with status 0 or one line of error. Most
 * telling under the sanitizers.
 */
#include "engine_trace.h"

#include <sys/wait.h>

#define EVENTS 1500
#define ROWS 200
#define T0 INT64_C(1700000000000000000)

static int64_t any_time(uint64_t *random)
{
	switch (t_random(random) % 12) {
	case 0:
		return (int64_t)t_random(random);
	case 1:
		return INT64_MAX - (int64_t)(t_random(random) % 9);
	case 2:
		return INT64_MIN + (int64_t)(t_random(random) % 9);
	case 3:
		return (int64_t)(t_random(random) % 9) - 4;
	default:
		return T0 + (int64_t)(t_random(random) % 100000000);
	}
}

static uint32_t any_id(uint64_t *random, uint32_t few)
{
	uint64_t r = t_random(random);

	return r % 8 ? (uint32_t)(r >> 8) % few : r % 16 ? (uint32_t)(r >> 16) : UINT32_MAX;
}

static void any_event(struct t_proc *p, uint64_t *random)
{
	int kind = 1 + (int)(t_random(random) % (WIRE_KIND_MAX - 1));
	int64_t start = any_time(random), length = (int64_t)(t_random(random) % 200000);
	int64_t end = t_random(random) % 9 ? (int64_t)((uint64_t)start + (uint64_t)length)
					   : any_time(random);
	struct wire_event *e = t_event(p, kind, start, end);

	e->corr = t_random(random) % 3 ? 1 + t_random(random) % 300 : t_random(random);
	e->bytes = t_random(random) % 5 ? t_random(random) % 4096 : t_random(random);
	e->name = any_id(random, 40);
	e->device = any_id(random, 2);
	e->context = any_id(random, 3);
	e->stream = any_id(random, 5);
	e->tid = any_id(random, 6);
	e->graph = any_id(random, 3);
	e->op = (uint8_t)(t_random(random) % 10);
	e->copy = (uint8_t)t_random(random);
	e->src = (uint8_t)t_random(random);
	e->dst = (uint8_t)t_random(random);
	e->flags = (uint8_t)(t_random(random) & 15);
	e->peer = (uint16_t)(t_random(random) % 3);
}

static void any_evidence(struct t_proc *p, uint64_t *random)
{
	struct wire_sample sample[ROWS] = { 0 };
	struct wire_batch batch[ROWS] = { 0 };
	size_t i;

	for (i = 0; i < ROWS; i++) {
		struct wire_sample *w = &sample[i];
		struct wire_batch *b = &batch[i];

		w->t_ns = i % 20 ? T0 + (int64_t)i * 400000 : any_time(random);
		w->pid = any_id(random, 3);
		w->tid = any_id(random, 6);
		w->stack = any_id(random, 40);
		w->native = any_id(random, 40);
		w->target = any_id(random, 40);
		w->fs = any_id(random, 40);
		w->role = (uint8_t)(t_random(random) % 7);
		w->state = (uint8_t)(t_random(random) % 8);
		w->wait = (uint8_t)(t_random(random) % 20);
		b->start_ns = T0 + (int64_t)i * 300000;
		b->end_ns = i % 9 ? b->start_ns + 100000 : any_time(random);
		b->what = (uint8_t)(t_random(random) % 8);
		b->tid = any_id(random, 6);
		b->worker = any_id(random, 4);
		b->rchar_bytes = t_random(random);
	}
	t_samples(p, sample, ROWS);
	t_batches(p, batch, ROWS);
}

/* Adds one to *good if it was written. */
static void export_as(const struct t_run *r, const char *format, unsigned int *good)
{
	char file[300];
	int status;
	pid_t pid;

	snprintf(file, sizeof(file), "%s/out", r->dir);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("ASAN_OPTIONS", "exitcode=99", 1); /* 1 is what the command says itself */
		setenv("UBSAN_OPTIONS", "exitcode=99", 1);
		execl(TESTS_BIN "/gpustarve", "gpustarve", "export", r->dir, "--format", format,
		      "-o", file, "--price", "2", "-q", NULL);
		_exit(127);
	}
	REQUIRE(waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		T_FAIL("export as %s ended with status %x", format, status);
	*good += !status;
	unlink(file);
}

static void test_anything(void)
{
	static const char *const formats[] = { "perfetto", "kineto",	 "sqlite", "folded",
					       "pprof",	   "prometheus", "focus",  "csv" };
	uint64_t random = t_seed(11);
	unsigned int good = 0;
	size_t round, i;

	for (round = 0; round < 6; round++) {
		char cmd[300];
		struct t_run r;
		struct t_proc p;

		t_run_begin(&r);
		t_proc_begin(&r, &p, round % 2 ? -5 : INT64_MAX, 0, T0);
		t_launch(&p, T0, T0 + 1000, T0 + 2000, 1);
		for (i = 0; i < EVENTS; i++)
			any_event(&p, &random);
		t_name(&p, "f\t/a/b.py\t7\ng\t\t\nh");
		t_name(&p, "/lib/x.so\tzz\t\n<python>\n\xff\t\t");
		any_evidence(&p, &random);
		t_proc_end(&p, T0 + 1000000000, true);
		for (i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
			export_as(&r, formats[i], &good);
		snprintf(cmd, sizeof(cmd), "rm -rf %s", r.dir);
		REQUIRE(!system(cmd));
	}
	EXPECT(good > 0);
}

int main(void)
{
	return RUN(test_anything);
}
