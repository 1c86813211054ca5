/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libprof's reader of Python stacks as a library that a Python program loads through ctypes, which
 * lets go of the global lock meanwhile: it looks at its own process, or at a child.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "native.h"
#include "pystack.h"
#include "pystack_probe.h"

#define THREADS 256

static struct prof_py *py;

int probe_open(int pid)
{
	prof_py_close(py);
	return prof_py_open(&py, pid);
}

const char *probe_note(void)
{
	return prof_py_note();
}

unsigned int probe_version(void)
{
	return prof_py_version(py);
}

int probe_threads(int *tids, int room)
{
	struct prof_py_thread t[THREADS];
	int n = prof_py_threads(py, t, THREADS), i;

	for (i = 0; i < n && i < room; i++)
		tids[i] = t[i].tid;
	return n;
}

static int find(int tid, struct prof_py_thread *found)
{
	struct prof_py_thread t[THREADS];
	int n = prof_py_threads(py, t, THREADS), i;

	for (i = 0; i < n; i++)
		if (t[i].tid == tid) {
			*found = t[i];
			return 0;
		}
	return n < 0 ? n : -3;
}

long probe_walk(int tid, char *text, long room)
{
	struct prof_py_thread t;
	int rc = find(tid, &t);

	return rc ? rc : prof_py_walk(py, &t, text, (size_t)room);
}

static void pause_us(unsigned int us)
{
	struct timespec t = { .tv_nsec = us * 1000 };

	nanosleep(&t, NULL);
}

/* Every text followed by a line "--". */
long probe_many(int tid, int walks, int us, int *torn, char *text, long room)
{
	static char one[PROF_PY_TEXT];
	struct prof_py_thread t;
	long used = 0;
	int rc = find(tid, &t), i;

	*torn = 0;
	for (i = 0; !rc && i < walks; i++) {
		ssize_t n = prof_py_walk(py, &t, one, sizeof(one));

		if (n < 0)
			++*torn;
		else if (used + n + 5 < room)
			used += snprintf(text + used, (size_t)(room - used), "%s\n--\n", one);
		pause_us((unsigned int)us);
	}
	return rc ? rc : used;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Nanoseconds of each of @walks walks. */
int probe_times(int tid, int walks, long *ns)
{
	static char one[PROF_PY_TEXT];
	struct prof_py_thread t;
	int rc = find(tid, &t), i;

	for (i = 0; !rc && i < walks; i++) {
		int64_t begin = now();

		prof_py_walk(py, &t, one, sizeof(one));
		ns[i] = now() - begin;
	}
	return rc;
}

int probe_holder(void)
{
	return prof_py_gil_holder(py);
}

int probe_collecting(void)
{
	return prof_py_collecting(py);
}

int probe_in_runtime(unsigned long address)
{
	return prof_py_in_runtime(py, address);
}

int probe_native_ready(void)
{
	return prof_native_ready();
}

const char *probe_native_note(void)
{
	return prof_native_note();
}

long probe_native(unsigned long sp, unsigned long pc, char *text, long room)
{
	return prof_native_walk(sp, pc, text, (size_t)room);
}
