/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared object with libprof's ranges and nothing else of it, for tests that load it into Python
 * by ctypes: arm, drain into a text file, count. What it finds is what libprof would send.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "rangeprobe.h"
#include "ranges/marks.h"
#include "ranges/nvtx.h"
#include "ranges/ranges.h"

static struct wire_strtab *names;
static FILE *out;

static void write_line(void *ctx, const struct wire_event *e)
{
	(void)ctx;
	fprintf(out, "%u %u %u %lld %lld %s\n", e->op, e->flags, e->tid, (long long)e->start_ns,
		(long long)e->end_ns, wire_strtab_get(names, e->name, NULL));
}

static void child(void)
{
	if (prof_marks_on())
		prof_ranges_dead();
}

int probe_arm(const char *path, int torch)
{
	const struct prof_ranges_opts opts = { .torch = torch, .nvtx = true };

	names = wire_strtab_new();
	out = fopen(path, "we");
	if (!names || !out)
		return -1;
	pthread_atfork(prof_ranges_fork_prepare, prof_ranges_fork_parent, child);
	return prof_ranges_init(&opts);
}

int probe_poll(void)
{
	return prof_ranges_poll();
}

size_t probe_drain(int final)
{
	size_t n = prof_ranges_drain(names, NULL, write_line, NULL, final);

	fflush(out);
	return n;
}

const char *probe_note(void)
{
	return prof_ranges_note();
}

const char *probe_torch(void)
{
	return prof_ranges_torch_version();
}

int probe_on(void)
{
	return prof_marks_on();
}

uint64_t probe_dropped(void)
{
	struct prof_ranges_stats s;

	prof_ranges_stats(&s);
	return s.dropped;
}
