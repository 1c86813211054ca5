/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a range costs the host's thread (beginning and end together), by the way it comes in, and
 * what it costs the sender; beside it what two clock reads cost, for that is the floor. The best of
 * several rounds: what is left is our own work.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ranges/marks.h"
#include "ranges/nvtx.h"
#include "ranges/ranges.h"

#define RANGES 1000u /* per round; fits a log */
#define ROUNDS 2000u
#define LOADER "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

typedef void (*slot_fn)(void);

static slot_fn slot[2][16], *slot_at[2][16];
static struct wire_strtab *names;
static uint64_t sender_ns, sender_events;

static int get_module(int module, slot_fn ***slots, unsigned int *count)
{
	*slots = slot_at[module == 5];
	*count = 16;
	return module == 1 || module == 5;
}

static const void *get_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*get_module)(int module, slot_fn ***slots, unsigned int *count);
	} table = { sizeof(table), get_module };

	return id == 1 ? &table : NULL;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void two_clocks(void)
{
	now_ns();
	now_ns();
}

static void torch_user(void)
{
	prof_mark_begin(PROF_SOURCE_TORCH, 1, "Optimizer.step#AdamW.step", 25);
	prof_mark_end(PROF_SOURCE_TORCH, 1);
}

static void torch_loader(void)
{
	prof_mark_begin(PROF_SOURCE_TORCH, 1, LOADER, sizeof(LOADER) - 1);
	prof_mark_end(PROF_SOURCE_TORCH, 1);
}

static void nvtx_push_pop(void)
{
	((int (*)(const char *))slot[0][9])("forward pass of layer 17");
	((int (*)(void))slot[0][11])();
}

static void nvtx_start_end(void)
{
	uint64_t id = ((uint64_t(*)(const char *))slot[0][5])("forward pass of layer 17");

	((void (*)(uint64_t))slot[0][7])(id);
}

static void count_event(void *ctx, const struct wire_event *e)
{
	(void)ctx;
	(void)e;
	sender_events++;
}

static void drain(void)
{
	uint64_t t0 = now_ns();

	prof_ranges_drain(names, NULL, count_event, NULL, false);
	sender_ns += now_ns() - t0;
}

static void measure(const char *what, void (*range)(void))
{
	uint64_t best = UINT64_MAX, t0, ns;
	unsigned int i, k;

	sender_ns = sender_events = 0;
	for (i = 0; i < ROUNDS; i++) {
		t0 = now_ns();
		for (k = 0; k < RANGES; k++)
			range();
		ns = now_ns() - t0;
		best = ns < best ? ns : best;
		drain();
	}
	printf("%-44s %6.1f ns per range", what, (double)best / RANGES);
	if (sender_events)
		printf(", sender %6.1f ns", (double)sender_ns / (double)sender_events);
	printf("\n");
}

static pthread_barrier_t crowd;

static void *take_log(void *unused)
{
	nvtx_push_pop();
	pthread_barrier_wait(&crowd);
	pthread_barrier_wait(&crowd);
	return unused;
}

/* Where PROF_RANGE_LOGS threads have the logs: this one goes without. */
static void *measure_crowded(void *unused)
{
	pthread_t t[PROF_RANGE_LOGS];
	int i;

	pthread_barrier_init(&crowd, NULL, PROF_RANGE_LOGS + 1);
	for (i = 0; i < (int)PROF_RANGE_LOGS; i++)
		if (pthread_create(&t[i], NULL, take_log, NULL))
			exit(1);
	pthread_barrier_wait(&crowd);
	measure("NVTX push and pop without a log", nvtx_push_pop);
	pthread_barrier_wait(&crowd);
	for (i = 0; i < (int)PROF_RANGE_LOGS; i++)
		pthread_join(t[i], NULL);
	return unused;
}

int main(void)
{
	const struct prof_ranges_opts opts = { .nvtx = true };
	struct prof_ranges_stats s;
	pthread_t crowded;
	int i;

	for (i = 0; i < 32; i++)
		slot_at[i / 16][i % 16] = &slot[i / 16][i % 16];
	InitializeInjectionNvtx2(get_table);
	measure("two clock reads", two_clocks);
	measure("NVTX push and pop before the arm", nvtx_push_pop);
	names = wire_strtab_new();
	if (!names || prof_ranges_init(&opts))
		return 1;
	measure("RecordFunction, other user range", torch_user);
	measure("RecordFunction, loader wait", torch_loader);
	measure("NVTX push and pop", nvtx_push_pop);
	measure("NVTX start and end", nvtx_start_end);
	if (!pthread_create(&crowded, NULL, measure_crowded, NULL))
		pthread_join(crowded, NULL);
	prof_ranges_stats(&s);
	printf("dropped %" PRIu64 ", memory %" PRIu64 " bytes\n", s.dropped, s.bytes);
	return 0;
}
