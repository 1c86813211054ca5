/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_kinds.c - step 7, what the kinds of 13.1 and later give, and step 5, whether tracing by
 * hardware, which Hopper has not, is refused without breaking anything.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti.h"
#include "drv.h"
#include "load.h"
#include "probe.h"
#include "row.h"

#define SINCE 130100

/* ---- kinds 56 to 59 ---- */

static int accept_kinds(int results[4])
{
	int kind, good = 0;

	for (kind = KIND_GRAPH_HOST_NODE; kind <= KIND_GREEN_CONTEXT; kind++) {
		results[kind - KIND_GRAPH_HOST_NODE] = cupti.Enable(kind);
		good += !results[kind - KIND_GRAPH_HOST_NODE];
	}
	return good;
}

/*
 * Bytes of a record of this kind, by where GetNextRecord, which only walks, finds the next one in a
 * buffer that says everywhere to be of that kind. 0: it knows no such kind.
 */
static int64_t size_of_record(uint32_t kind)
{
	static uint64_t buffer[512];
	void *first = NULL, *second;
	size_t i;

	for (i = 0; i < LENGTH(buffer); i++)
		buffer[i] = kind;
	if (cupti.GetNextRecord((uint8_t *)buffer, sizeof buffer, &first))
		return 0;
	second = first;
	if (cupti.GetNextRecord((uint8_t *)buffer, sizeof buffer, &second))
		return 0;
	return (char *)second - (char *)first;
}

static void tell_accepted(const int results[4], int good)
{
	char name[24];
	struct row r;
	int i;

	row_begin(&r, "kinds.accepted", "CUPTI result");
	row_answer(&r, "CUPTI %u:", cupti_version());
	for (i = 0; i < 4; i++) {
		row_answer(&r, " %d gives %d (%s);", KIND_GRAPH_HOST_NODE + i, results[i],
			   results[i] ? cupti_words(results[i]) : "accepted");
		snprintf(name, sizeof name, "kind%d", KIND_GRAPH_HOST_NODE + i);
		row_figure(&r, name, results[i]);
		snprintf(name, sizeof name, "kind%d_bytes", KIND_GRAPH_HOST_NODE + i);
		row_figure(&r, name, size_of_record((uint32_t)(KIND_GRAPH_HOST_NODE + i)));
	}
	row_figure(&r, "kernel_bytes", size_of_record(KIND_KERNEL));
	row_figure(&r, "accepted", good);
	row_send(&r);
}

static void on_host(void *data)
{
	(void)data;
	sleep_ns(MS / 5);
}

static void ask_host(void)
{
	int i, n = 20, rc = 0;
	struct seen seen;
	struct row r;

	for (i = 0; i < n && !rc; i++) {
		rc = drv_spin(MS / 10, 1);
		if (!rc)
			rc = drv.LaunchHostFunc(drv_stream, on_host, NULL);
	}
	if (!rc)
		rc = drv_wait();
	if (rc) {
		row_skip("kinds.host", "%s", drv_why());
		return;
	}
	cupti_fetch();
	seen = cupti_seen();
	row_begin(&r, "kinds.host", "records");
	row_answer(&r, "%llu of %d host functions, %llu buffers not read to their end",
		   (unsigned long long)seen.records[KIND_HOST_LAUNCH], n,
		   (unsigned long long)seen.unknown);
	row_figure(&r, "records", (int64_t)seen.records[KIND_HOST_LAUNCH]);
	row_figure(&r, "functions", n);
	row_figure(&r, "unread", (int64_t)seen.unknown);
	row_send(&r);
}

/* libcupti with our buffers, then the driver. */
static bool begin(const char *const *ids, size_t n)
{
	int rc = cupti_load();
	const char *why = cupti_why();
	size_t i;

	if (!rc)
		rc = cupti_begin(true), why = "RegisterCallbacks failed";
	if (!rc)
		rc = drv_begin(), why = drv_why();
	for (i = 0; rc && i < n; i++)
		row_skip(ids[i], "%s", why);
	return !rc;
}

void part_kinds(void)
{
	static const char *const ids[] = { "kinds.accepted", "kinds.host" };
	int results[4];

	if (!begin(ids, LENGTH(ids)))
		return;
	tell_accepted(results, accept_kinds(results));
	if (results[KIND_HOST_LAUNCH - KIND_GRAPH_HOST_NODE])
		row_skip("kinds.host", "kind 58 gives %d here; it came with CUPTI %d",
			 results[KIND_HOST_LAUNCH - KIND_GRAPH_HOST_NODE], SINCE);
	else
		ask_host();
}

/* ---- context switches ---- */

static void tell_switches(const char *id, uint64_t before, int64_t took, int64_t launches)
{
	uint64_t n = cupti_seen().records[KIND_CTX_SWITCH] - before;
	struct row r;

	row_begin(&r, id, "records");
	row_answer(&r, "%llu in %lld ms, with %lld kernels of this process", (unsigned long long)n,
		   (long long)(took / MS), (long long)launches);
	row_figure(&r, "records", (int64_t)n);
	row_figure(&r, "ms", took / MS);
	row_figure(&r, "launches", launches);
	row_send(&r);
}

static void ask_switches(const char *id)
{
	uint64_t before = cupti_seen().records[KIND_CTX_SWITCH];
	int64_t begin_ns = mono_ns(), launches = 0;

	while (mono_ns() - begin_ns < scaled(2 * SECOND)) {
		drv_spin(MS / 2, 1);
		drv_wait();
		launches++;
	}
	cupti_fetch();
	tell_switches(id, before, mono_ns() - begin_ns, launches);
}

void part_switches(void)
{
	static const char *const ids[] = { "kinds.one", "kinds.two" };
	pid_t pid;
	struct load *other = load_process(&pid); /* while nothing of NVIDIA's is loaded here */
	int rc;

	if (!begin(ids, LENGTH(ids)))
		return;
	rc = cupti.Enable(KIND_CTX_SWITCH);
	if (rc) {
		row_skip(ids[0], "kind 57 gives %d (%s) with CUPTI %u; it came with %d", rc,
			 cupti_words(rc), cupti_version(), SINCE);
		row_skip(ids[1], "kind 57 gives %d (%s)", rc, cupti_words(rc));
		return;
	}
	ask_switches(ids[0]);
	if (!other)
		return;
	atomic_store(&other->order, LOAD_BEGIN);
	if (!load_ready(other, 8 * SECOND)) {
		row_skip(ids[1], "the other process did not begin");
		return;
	}
	load_run(other, MS, 2 * MS, 1);
	ask_switches(ids[1]);
}

/* ---- tracing by hardware ---- */

enum {
	BY_VARIABLE,
	BY_CALL
};

/* In a child: whether kernels are recorded as ever after it was asked for. */
static void try_hardware(int fd, void *arg)
{
	int way = *(int *)arg, rc, call = 0, i;
	struct seen seen;

	if (way == BY_VARIABLE)
		setenv("CUPTI_ENABLE_HW_TRACE", "1", 1);
	rc = cupti_load();
	if (!rc && way == BY_CALL)
		call = cupti.EnableHWTrace ? cupti.EnableHWTrace(1) : -2;
	if (!rc)
		rc = cupti_begin(true);
	if (!rc)
		rc = cupti_switch(cupti_kernel, true);
	if (!rc)
		rc = drv_begin();
	for (i = 0; i < 1000 && !rc; i++)
		rc = drv_spin(10000, 1);
	if (!rc)
		rc = drv_wait();
	cupti_fetch();
	seen = cupti_seen();
	dprintf(fd, "%d %d %llu %llu %llu %llu", call, rc,
		(unsigned long long)seen.records[KIND_KERNEL],
		(unsigned long long)seen.no_start[KIND_KERNEL], (unsigned long long)seen.kernel_ns,
		(unsigned long long)seen.unknown);
}

static void ask_hardware(const char *id, int way)
{
	unsigned long long records, bad, ns, unread;
	char text[300];
	struct row r;
	int call, rc;

	if (child_text(try_hardware, &way, false, 7 * SECOND, text, sizeof text) ||
	    sscanf(text, "%d %d %llu %llu %llu %llu", &call, &rc, &records, &bad, &ns, &unread) !=
		    6) {
		row_begin(&r, id, "");
		row_answer(&r, "no: the process hung or died after it");
		row_figure(&r, "died", 1);
		row_send(&r);
		return;
	}
	row_begin(&r, id, "");
	/* drv_begin launches two kernels of its own. */
	row_answer(&r, "%s: ", rc || records < 1000 || bad ? "LOOK" : "yes");
	if (way == BY_CALL && call == -2)
		row_answer(&r, "this libcupti has no such call; ");
	else if (way == BY_CALL)
		row_answer(&r, "the call gives %d; ", call);
	row_answer(&r,
		   "first failure %d, %llu records of 1000 and some launches, %llu without "
		   "stamps, %lld ns a kernel of 10000",
		   rc, records, bad, (long long)fig_per((int64_t)ns, (int64_t)records));
	if (way == BY_CALL)
		row_figure(&r, "call", call);
	row_figure(&r, "rc", rc);
	row_figure(&r, "records", (int64_t)records);
	row_figure(&r, "without_stamps", (int64_t)bad);
	row_figure(&r, "kernel_ns", fig_per((int64_t)ns, (int64_t)records));
	row_figure(&r, "unread", (int64_t)unread);
	row_send(&r);
}

void part_hardware(void)
{
	ask_hardware("hardware.variable", BY_VARIABLE);
	ask_hardware("hardware.call", BY_CALL);
}
