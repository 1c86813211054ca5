/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel counts pages as they are written to, in files on disks and network file systems. */
#include "written.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clockpoll.h"
#include "core/ownfds.h"
#include "core/procfile.h"
#include "report.h"
#include "stream/transport.h"
#include "stream/writer.h"
#include "traceclock.h"

#define TOLD_NS 10000000000
#define CHILDREN 16u /* that are looked at */

static struct {
	bool began;
	uint64_t bytes, own; /* at the last look */
	int64_t t_ns;
	struct {
		int64_t start_ns, end_ns;
		uint64_t bytes;
	} open; /* not told yet; bytes 0: nothing */
	int64_t told_ns; /* last told; 0: there was a pause since */
} w;

struct look {
	uint64_t bytes;
	bool is_told; /* by the kernel */
	uint64_t by_children; /* since the last look */
	uint64_t reaped; /* of what is in bytes now, what children had written that were told of */
};

static struct child {
	uint32_t pid;
	uint64_t bytes; /* at the last look */
} child[CHILDREN];
static unsigned int children;

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static bool read_bytes(const char *path, uint64_t *bytes)
{
	static const char name[] = "\nwrite_bytes: ";
	char in[512];
	const char *at;

	if (prof_proc_read(path, in, sizeof(in)) <= 0)
		return false;
	at = strstr(in, name);
	if (at)
		*bytes = strtoull(at + sizeof(name) - 1, NULL, 10);
	return at != NULL;
}

/* The first ones that the program's first thread has: who saves in a child forks it there. */
static unsigned int list_children(struct child *now)
{
	char path[48], in[CHILDREN * 12];
	const char *at = in;
	unsigned int n = 0;
	uint64_t pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (prof_proc_read(path, in, sizeof(in)) <= 0)
		return 0;
	for (; n < CHILDREN && prof_proc_number(&at, &pid) && *at == ' '; at++, n++)
		now[n] = (struct child){ .pid = (uint32_t)pid };
	return n;
}

static const struct child *child_of(const struct child *list, unsigned int n, uint32_t pid)
{
	for (unsigned int i = 0; i < n; i++)
		if (list[i].pid == pid)
			return &list[i];
	return NULL;
}

/* What a child wrote is in the process's own account once it was waited for, and not before. */
static void count_children(struct look *l)
{
	struct child now[CHILDREN];
	unsigned int n = list_children(now);

	for (unsigned int i = 0; i < n; i++) {
		const struct child *before = child_of(child, children, now[i].pid);
		uint64_t had = before ? before->bytes : 0;
		char path[32];

		snprintf(path, sizeof(path), "/proc/%" PRIu32 "/io", now[i].pid);
		if (!read_bytes(path, &now[i].bytes))
			now[i].bytes = had;
		l->by_children += since(now[i].bytes, had);
	}
	for (unsigned int i = 0; i < children; i++)
		if (!child_of(now, n, child[i].pid))
			l->reaped += child[i].bytes;
	memcpy(child, now, n * sizeof(*now));
	children = n;
}

/* On the writer: opened here, the file would take a number of the program's. */
static void count(void *arg)
{
	struct look *l = arg;

	if (!prof_ownfds())
		return;
	count_children(l);
	l->is_told = read_bytes("/proc/self/io", &l->bytes);
}

static void tell(int64_t now_ns)
{
	const struct prof_checkpoint c = { .start_ns = w.open.start_ns,
					   .end_ns = w.open.end_ns,
					   .bytes = w.open.bytes,
					   .state = PROF_SAVE_WRITTEN };

	if (!w.open.bytes)
		return;
	prof_report_checkpoint(&c, "", "");
	w.open.bytes = 0;
	w.told_ns = now_ns;
}

/* What went into a file of ours, or to a collector, is taken off. */
static void add(uint64_t bytes, int64_t now_ns)
{
	if (!w.open.bytes)
		w.open.start_ns = w.t_ns;
	w.open.end_ns = now_ns;
	w.open.bytes += bytes;
}

void prof_written_tick(bool last)
{
	struct prof_transport_stats transport;
	int64_t now_ns = prof_now_ns();
	struct look look = { .is_told = false };
	uint64_t by_others;

	prof_writer_call(count, &look);
	if (!look.is_told)
		return;
	prof_transport_stats(&transport);
	by_others = since(since(look.bytes, w.bytes), since(transport.written, w.own));
	by_others = since(by_others, look.reaped) + look.by_children;
	if (w.began && by_others >= PROF_WRITTEN_LEAST)
		add(by_others, now_ns);
	else
		last = last || w.open.bytes;
	if (last || !w.told_ns || now_ns - w.told_ns >= TOLD_NS)
		tell(now_ns);
	if (by_others < PROF_WRITTEN_LEAST)
		w.told_ns = 0;
	w.began = true;
	w.bytes = look.bytes;
	w.own = transport.written;
	w.t_ns = now_ns;
}
