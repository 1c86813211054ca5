/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvtx_loop FILE STEPS [THREADS]: a training loop in C that marks itself with NVTX: steps, loader
 * waits, phases, an operator row, a domain with registered strings, ranges that end on another
 * thread. FILE gets one line per range:
 *	type tid before_begin after_begin before_end after_end name
 * with CLOCK_REALTIME read around the calls, so that a recorded range must begin and end between.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cudrv.h"
#include "nvtxmini.h"

#define DEPTH 8

static void *work;

static void compute(uint64_t ns)
{
	cudrv_launch(work, ns, NULL);
	CU(CtxSynchronize());
}

/* ---- the script's own record ---- */

struct row {
	int64_t before_begin, after_begin, before_end, after_end;
	const char *type, *name;
	int tid;
	char text[48];
};

static struct row *rows;
static size_t count, room;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *domain;
static struct nvtxmini_attributes registered;

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static struct row *new_row(const char *type, const char *name)
{
	struct row *r;

	pthread_mutex_lock(&lock);
	cudrv_check(count == room, "too many ranges");
	r = &rows[count++];
	pthread_mutex_unlock(&lock);
	r->type = type;
	snprintf(r->text, sizeof(r->text), "%s", name);
	r->name = r->text;
	r->tid = gettid();
	return r;
}

static struct row *push(const char *type, const char *name)
{
	struct row *r = new_row(type, name);

	r->before_begin = now();
	nvtxmini_push(name);
	r->after_begin = now();
	return r;
}

static void pop(struct row *r)
{
	r->before_end = now();
	nvtxmini_pop();
	r->after_end = now();
}

static struct row *push_domain(void)
{
	struct row *r = new_row("user", "registered");

	r->before_begin = now();
	nvtxmini_domain_push(domain, &registered);
	r->after_begin = now();
	return r;
}

static void pop_domain(struct row *r)
{
	r->before_end = now();
	nvtxmini_domain_pop(domain);
	r->after_end = now();
}

struct started {
	struct row *row;
	uint64_t id;
};

static void *end_elsewhere(void *arg)
{
	struct started *s = arg;

	s->row->before_end = now();
	nvtxmini_end(s->id);
	s->row->after_end = now();
	return NULL;
}

static void cross_thread(void)
{
	struct started s = { .row = new_row("user", "started here, ended there") };
	pthread_t t;

	s.row->before_begin = now();
	s.id = nvtxmini_start(s.row->name);
	s.row->after_begin = now();
	cudrv_check(pthread_create(&t, NULL, end_elsewhere, &s), "pthread_create");
	pthread_join(t, NULL);
}

static void sleep_us(long us)
{
	usleep((useconds_t)us);
}

static void one_step(int i)
{
	struct row *step, *wait, *op, *in_domain;
	char name[48];

	snprintf(name, sizeof(name), "step %d", i);
	step = push("user", name);
	wait = push("loader", "enumerate(DataLoader)#loop.__next__");
	sleep_us(1000 + 500 * (i % 3));
	pop(wait);
	in_domain = push_domain();
	snprintf(name, sizeof(name), "aten::mm, op_id = %d", i);
	op = push("operator", name);
	compute(500000);
	pop(op);
	op->text[strcspn(op->text, ",")] = 0; /* as it is stored */
	pop(step); /* before the domain's: domains nest by themselves */
	pop_domain(in_domain);
}

static void *loop(void *arg)
{
	int steps = *(const int *)arg, i;

	cudrv_device(0);
	for (i = 0; i < steps; i++) {
		one_step(i);
		if (i % 10 == 9) {
			struct row *r = push("user", "validation");

			sleep_us(2000);
			pop(r);
			cross_thread();
		}
	}
	return NULL;
}

static void write_rows(const char *path)
{
	FILE *f = fopen(path, "w");
	size_t i;

	cudrv_check(!f, path);
	for (i = 0; i < count; i++)
		fprintf(f, "%s %d %lld %lld %lld %lld %s\n", rows[i].type, rows[i].tid,
			(long long)rows[i].before_begin, (long long)rows[i].after_begin,
			(long long)rows[i].before_end, (long long)rows[i].after_end, rows[i].name);
	fclose(f);
}

int main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 0, threads = argc > 3 ? atoi(argv[3]) : 0, i;
	pthread_t t[16];

	if (steps < 1 || threads > 16) {
		fprintf(stderr, "usage: nvtx_loop FILE STEPS [THREADS]\n");
		return 2;
	}
	room = (size_t)steps * (size_t)DEPTH * (size_t)(threads + 1);
	rows = calloc(room, sizeof(*rows));
	cudrv_check(!rows, "memory");
	domain = nvtxmini_domain("loop"); /* before CUDA, as libraries do */
	registered =
		(struct nvtxmini_attributes){ .version = 3,
					      .size = sizeof(registered),
					      .message_type = 3,
					      .message = nvtxmini_string(domain, "registered") };
	cudrv_init();
	cudrv_device(0);
	work = cudrv_kernel("work");
	for (i = 0; i < threads; i++)
		cudrv_check(pthread_create(&t[i], NULL, loop, &steps), "pthread_create");
	loop(&steps);
	for (i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	write_rows(argv[1]);
	return 0;
}
