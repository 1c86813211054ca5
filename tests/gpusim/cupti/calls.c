/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.c - pauses and refusals; the last line of the truth file.
 */
#include "calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../clock.h"
#include "../spec.h"
#include "layout.h"
#include "records.h"

#define MAX_SPECS 16

static struct {
	struct sim_spec spec[MAX_SPECS];
	atomic_uint_fast64_t seen[MAX_SPECS];
	size_t n;
} script;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct sim_export *driver;
static pid_t owner;

static void read_script(void)
{
	script.n = sim_spec_read("GPUSIM_FAULT", script.spec, MAX_SPECS);
}

/* Its turn: the Nth time alone, every Nth, or always. */
static bool strikes(size_t i)
{
	const struct sim_spec *s = &script.spec[i];
	uint64_t n = atomic_fetch_add(&script.seen[i], 1) + 1;

	if (s->every)
		return n % s->every == 0;
	return !s->nth || n == s->nth;
}

void call_pause(const char *name)
{
	size_t i;

	pthread_once(&once, read_script);
	for (i = 0; i < script.n; i++)
		if (!strcmp(script.spec[i].name, "pause") && !strcmp(script.spec[i].call, name) &&
		    strikes(i))
			sim_sleep_until(sim_now() + script.spec[i].ms * 1000000);
}

int call_refused(int kind)
{
	size_t i;

	pthread_once(&once, read_script);
	for (i = 0; i < script.n; i++)
		if (!strcmp(script.spec[i].name, "refuse") &&
		    script.spec[i].kind == (uint64_t)kind && strikes(i))
			return (int)script.spec[i].code;
	return 0;
}

static size_t calls_on(void)
{
	size_t n = 0, i;

	for (i = 0; i < sizeof rec_config.api[0]; i++)
		n += (rec_config.api[SIM_DRIVER][i] == 1) + (rec_config.api[SIM_RUNTIME][i] == 1);
	return n;
}

static void tell(void)
{
	char line[512];
	const char *comma = "";
	size_t at, i;

	if (getpid() != owner)
		return;
	at = (size_t)snprintf(line, sizeof line, "{\"enabled\":[");
	for (i = 0; i < REC_KINDS; i++) {
		if (!rec_config.kind[i])
			continue;
		at += (size_t)snprintf(line + at, sizeof line - at, "%s%zu", comma, i);
		comma = ",";
	}
	snprintf(line + at, sizeof line - at, "],\"calls\":%zu,\"all_sync\":%d,\"pid\":%d}",
		 calls_on(), rec_config.all_sync, owner);
	driver->truth(line, strlen(line));
}

void call_tell_at_exit(const struct sim_export *d)
{
	driver = d;
	owner = getpid();
	atexit(tell);
}
