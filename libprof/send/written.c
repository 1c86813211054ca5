/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel counts pages as they are written to, in files on disks and network file systems. */
#include "written.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/clockpoll.h"
#include "core/ownfds.h"
#include "core/procfile.h"
#include "report.h"
#include "stream/transport.h"
#include "stream/writer.h"
#include "traceclock.h"

#define TOLD_NS 10000000000

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
};

/* On the writer: opened here, the file would take a number of the program's. */
static void count(void *arg)
{
	static const char name[] = "\nwrite_bytes: ";
	struct look *l = arg;
	char in[512];
	const char *at;

	if (!prof_ownfds() || prof_proc_read("/proc/self/io", in, sizeof(in)) <= 0)
		return;
	at = strstr(in, name);
	if (at)
		l->bytes = strtoull(at + sizeof(name) - 1, NULL, 10);
	l->is_told = at != NULL;
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
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
