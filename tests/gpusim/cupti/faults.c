/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.c - decides by script what goes wrong, and writes it down.
 */
#include "faults.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "../spec.h"
#include "clients.h"

#define MAX_FAULTS 16

static struct {
	struct sim_spec spec[MAX_FAULTS];
	uint64_t seen[MAX_FAULTS], struck[MAX_FAULTS];
	size_t n;
	uint64_t armed;
	const struct sim_export *driver;
	pthread_mutex_t lock;
	bool told[MAX_FAULTS];
} f = { .lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_script(void)
{
	f.n = sim_spec_read("GPUSIM_FAULT", f.spec, MAX_FAULTS);
}

static size_t count(void)
{
	pthread_once(&once, read_script);
	return f.n;
}

static void tell(const char *line)
{
	if (f.driver)
		f.driver->truth(line, strlen(line));
}

/* ---- when ---- */

static uint64_t begin_of(const struct sim_spec *s)
{
	return f.armed + s->from;
}

static bool in_time(const struct sim_spec *s, uint64_t now)
{
	if (!f.armed || now < begin_of(s))
		return false;
	return s->duration == SIM_SPEC_FOREVER || now < begin_of(s) + s->duration;
}

/* The fault of this name that is in force, or NULL; *index is its place. */
static const struct sim_spec *in_force(const char *name, size_t *index)
{
	uint64_t now;
	size_t i;

	if (!count())
		return NULL;
	now = sim_now();
	for (i = 0; i < f.n; i++)
		if (!strcmp(f.spec[i].name, name) && in_time(&f.spec[i], now)) {
			*index = i;
			return &f.spec[i];
		}
	return NULL;
}

/* Once per fault: the span for which it is in force. */
static void tell_span(size_t i)
{
	const struct sim_spec *s = &f.spec[i];
	uint64_t begin = begin_of(s);
	char line[256];

	if (f.told[i])
		return;
	f.told[i] = true;
	snprintf(line, sizeof line,
		 "{\"fault\":\"%s\",\"pid\":%d,\"start_ns\":%llu,\"end_ns\":%llu}", s->name,
		 getpid(), (unsigned long long)begin,
		 (unsigned long long)(s->duration == SIM_SPEC_FOREVER ? 0 : begin + s->duration));
	tell(line);
}

/* ---- records ---- */

static void tell_op(const char *name, const struct sim_op *op)
{
	static const char *const kinds[] = { "kernel", "memcpy", "memset", "graph", "host", "" };
	char line[512];

	snprintf(line, sizeof line,
		 "{\"fault\":\"%s\",\"pid\":%d,\"kind\":\"%s\",\"device\":%u,\"stream\":%u,"
		 "\"correlation\":%u,\"call\":%llu,\"node\":%llu,\"launch_ns\":%llu,"
		 "\"start_ns\":%llu,\"end_ns\":%llu}",
		 name, getpid(), kinds[op->kind], op->physical, op->stream, op->correlation,
		 (unsigned long long)op->call, (unsigned long long)op->node,
		 (unsigned long long)op->call_start, (unsigned long long)op->start,
		 (unsigned long long)op->end);
	tell(line);
}

/* Its turn: every Nth, the Nth alone, or all of its time; not more than count. */
static bool strikes(size_t i)
{
	const struct sim_spec *s = &f.spec[i];
	uint64_t n = ++f.seen[i];
	bool turn = s->every ? n % s->every == 0 : s->nth ? n == s->nth : true;

	if (!turn || (s->count && f.struck[i] >= s->count))
		return false;
	f.struck[i]++;
	return true;
}

static enum fault_stamp strike(size_t i, const struct sim_op *op)
{
	static const struct {
		const char *name;
		enum fault_stamp fault;
	} kinds[] = {
		{ "zero", FAULT_ZERO },
		{ "reverse", FAULT_REVERSE },
		{ "drop", FAULT_DROP },
	};
	size_t k;

	for (k = 0; k < 3; k++)
		if (!strcmp(f.spec[i].name, kinds[k].name) && strikes(i)) {
			tell_op(f.spec[i].name, op);
			return kinds[k].fault;
		}
	return FAULT_NONE;
}

enum fault_stamp fault_record(const struct sim_op *op)
{
	enum fault_stamp fault = FAULT_NONE;
	uint64_t now;
	size_t i;

	if (!count())
		return FAULT_NONE;
	now = sim_now();
	pthread_mutex_lock(&f.lock);
	for (i = 0; i < f.n && fault == FAULT_NONE; i++)
		if (in_time(&f.spec[i], now))
			fault = strike(i, op);
	pthread_mutex_unlock(&f.lock);
	return fault;
}

void fault_lost(const struct sim_export *driver, const struct sim_op *op)
{
	f.driver = driver;
	tell_op("lost", op);
}

/* ---- buffers and flushes ---- */

uint64_t fault_full(void)
{
	const struct sim_spec *s;
	size_t i;

	s = in_force("full", &i);
	return s ? s->records : 0;
}

bool fault_no_buffer(void)
{
	size_t i;

	if (!in_force("none", &i))
		return false;
	tell_span(i);
	return true;
}

bool fault_early(void)
{
	size_t i;

	return in_force("early", &i);
}

uint64_t fault_late(void)
{
	const struct sim_spec *s;
	size_t i;

	s = in_force("late", &i);
	return s ? s->ms * 1000000 : 0;
}

void fault_hang(void)
{
	const struct sim_spec *s;
	size_t i;

	s = in_force("hang", &i);
	if (!s)
		return;
	tell_span(i);
	if (s->duration == SIM_SPEC_FOREVER)
		for (;;)
			pause();
	sim_sleep_until(begin_of(s) + s->duration);
}

void fault_armed(const struct sim_export *driver)
{
	size_t i;

	if (!count())
		return;
	f.driver = driver;
	if (f.armed)
		return;
	f.armed = sim_now();
	for (i = 0; i < f.n; i++)
		if (!strcmp(f.spec[i].name, "foreign"))
			client_start(&f.spec[i], begin_of(&f.spec[i]), driver);
}
