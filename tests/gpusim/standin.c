/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standin.c - the simulated driver's door for the stand-ins of CUDA's libraries.
 */
#include "standin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "driver.h"
#include "launch.h"
#include "memory.h"
#include "names.h"
#include "state.h"
#include "truth.h"

/* ---- kernels by name ---- */

#define BUCKETS 4096

struct named {
	struct sim_function function;
	struct named *next;
};

static struct named *table[BUCKETS];
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

/* Names are the one copy of their text (names.h): their address is enough. */
static struct named **bucket(const char *name)
{
	return &table[((uintptr_t)name >> 4) % BUCKETS];
}

static struct named *named_new(const char *name)
{
	struct named *k = calloc(1, sizeof *k);

	if (!k)
		return NULL;
	k->function.name = name;
	k->function.label = name;
	k->function.nccl = !strncmp(name, "nccl", 4);
	k->function.foreign = true;
	sim_function_init(&k->function);
	return k;
}

void *gpusim_kernel(const char *text)
{
	const char *name = sim_name(text);
	struct named **head = bucket(name), *k;

	pthread_mutex_lock(&table_lock);
	for (k = *head; k && k->function.name != name; k = k->next)
		;
	if (!k && (k = named_new(name))) {
		k->next = *head;
		*head = k;
	}
	pthread_mutex_unlock(&table_lock);
	return k ? &k->function : NULL;
}

void gpusim_content(void)
{
	sim_config_content();
	sim_memory_open();
}

/* ---- launches ---- */

void sim_garbage_tell(void)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	static const char text[] =
		"gpusim: a simulated GPU computes nothing: kernels take time and write "
		"nothing, so every value that comes of them is garbage\n";

	if (atomic_flag_test_and_set(&said) || getenv("GPUSIM_QUIET"))
		return;
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		return; /* nobody to tell */
}

int gpusim_ready(void)
{
	void *ctx = NULL;
	int rc;

	if (sim_thread.current && !sim_state.forked)
		return SIM_OK;
	rc = cuInit(0);
	if (!rc)
		rc = cuCtxGetCurrent(&ctx);
	if (rc || ctx)
		return rc;
	rc = cuDevicePrimaryCtxRetain(&ctx, sim_thread.device);
	return rc ? rc : cuCtxSetCurrent(ctx);
}

static int launch(const struct gpusim_launch *l)
{
	struct sim_given given = { l->length_ns, l->communicator, l->n_meetings, l->meetings };
	int rc = gpusim_ready();

	if (rc)
		return rc;
	sim_thread.given = &given;
	if (l->extended)
		rc = cuLaunchKernelEx(
			&(struct sim_launch_config){ { l->grid[0], l->grid[1], l->grid[2] },
						     { l->block[0], l->block[1], l->block[2] },
						     l->shared,
						     l->stream,
						     NULL,
						     0 },
			l->kernel, NULL, NULL);
	else
		rc = cuLaunchKernel(l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0],
				    l->block[1], l->block[2], l->shared, l->stream, NULL, NULL);
	sim_thread.given = NULL;
	return rc;
}

int gpusim_launch(const struct gpusim_launch *l, uint32_t cbid)
{
	struct sim_call call;
	int rc;

	if (!cbid)
		return launch(l);
	rc = gpusim_runtime_begin_launch(&call, cbid, l->kernel);
	if (!rc)
		rc = launch(l);
	return gpusim_runtime_end(&call, rc);
}

/* ---- what has no body ---- */

#define MISSING_MAX 1024

static struct {
	pthread_mutex_t lock;
	struct missing {
		const char *library, *function;
		uint64_t calls;
	} seen[MISSING_MAX];
	size_t n;
} missing = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void tell_missing(const struct missing *m, const char *count, uint64_t calls)
{
	char line[512];
	int n = snprintf(line, sizeof line,
			 "{\"missing\":\"%s\",\"library\":\"%s\",\"pid\":%d,\"%s\":%llu}",
			 m->function, m->library, getpid(), count, (unsigned long long)calls);

	if (n > 0 && (size_t)n < sizeof line)
		sim_truth_line(line, (size_t)n);
}

void gpusim_missing(const char *library, const char *function)
{
	struct missing *m;

	pthread_mutex_lock(&missing.lock);
	for (m = missing.seen; m < missing.seen + missing.n && m->function != function; m++)
		;
	if (m == missing.seen + missing.n && missing.n < MISSING_MAX) {
		*m = (struct missing){ library, function, 0 };
		missing.n++;
		tell_missing(m, "tid", sim_tid());
	}
	if (m < missing.seen + missing.n)
		m->calls++;
	pthread_mutex_unlock(&missing.lock);
}

/* ---- bytes that did not move ---- */

#define UNMOVED_MAX 64

static struct {
	pthread_mutex_t lock;
	struct unmoved {
		const char *function;
		uint64_t calls, bytes;
	} seen[UNMOVED_MAX];
	size_t n;
} unmoved = { .lock = PTHREAD_MUTEX_INITIALIZER };

void gpusim_unmoved(const char *function, uint64_t bytes)
{
	struct unmoved *u;

	pthread_mutex_lock(&unmoved.lock);
	for (u = unmoved.seen; u < unmoved.seen + unmoved.n && u->function != function; u++)
		;
	if (u < unmoved.seen + UNMOVED_MAX) {
		unmoved.n += u == unmoved.seen + unmoved.n;
		u->function = function;
		u->calls++;
		u->bytes += bytes;
	}
	pthread_mutex_unlock(&unmoved.lock);
}

static void tell_unmoved(const struct unmoved *u)
{
	char line[256];
	int n = snprintf(line, sizeof line,
			 "{\"unmoved\":\"%s\",\"calls\":%llu,\"bytes\":%llu,\"pid\":%d}",
			 u->function, (unsigned long long)u->calls, (unsigned long long)u->bytes,
			 getpid());

	if (n > 0 && (size_t)n < sizeof line)
		sim_truth_line(line, (size_t)n);
}

void sim_missing_tell(void)
{
	const struct missing *m;
	const struct unmoved *u;

	for (u = unmoved.seen; u < unmoved.seen + unmoved.n; u++)
		tell_unmoved(u);
	for (m = missing.seen; m < missing.seen + missing.n; m++)
		tell_missing(m, "calls", m->calls);
}
