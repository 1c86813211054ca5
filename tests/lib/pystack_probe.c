/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libprof's reader of Python stacks as a library that a Python program loads through ctypes, which
 * lets go of the global lock meanwhile: it looks at its own process, or at a child.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/ownfds.h"
#include "pystack_probe.h"
#include "python/pystack.h"
#include "python/reach.h"
#include "sample/native.h"

#define THREADS 256

static struct prof_py *py;

/* Without a prof_py the other functions find nothing. */
int probe_open(int pid)
{
	prof_py_close(py);
	return prof_py_open(&py, pid);
}

/* From now on the calling thread has descriptors of its own. */
int probe_leave(void)
{
	return prof_ownfds_leave();
}

static int list(struct prof_py_thread *t)
{
	return py ? prof_py_threads(py, t, THREADS) : -19;
}

const char *probe_note(void)
{
	return prof_py_note();
}

unsigned int probe_version(void)
{
	return py ? prof_py_version(py) : 0;
}

int probe_threads(int *tids, int room)
{
	struct prof_py_thread t[THREADS];
	int n = list(t), i;

	for (i = 0; i < n && i < room; i++)
		tids[i] = t[i].tid;
	return n;
}

static int find(int tid, struct prof_py_thread *found)
{
	struct prof_py_thread t[THREADS];
	int n = list(t), i;

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

/* The same of listing threads and of asking for the holder of the global lock. */
void probe_list_times(int times, long *listing, long *holder)
{
	struct prof_py_thread t[THREADS];
	int i;

	for (i = 0; py && i < times; i++) {
		int64_t begin = now();

		list(t);
		listing[i] = now() - begin;
		begin = now();
		prof_py_gil_holder(py);
		holder[i] = now() - begin;
	}
}

/* How often each of the threads was seen to hold the global lock. */
void probe_holders(int looks, int us, const int *tids, int *seen, int n)
{
	int i, k;

	memset(seen, 0, sizeof(*seen) * (size_t)n);
	for (i = 0; py && i < looks; i++) {
		int holder = prof_py_gil_holder(py);

		for (k = 0; k < n; k++)
			seen[k] += tids[k] == holder;
		pause_us((unsigned int)us);
	}
}

/* 1: waits for the global lock, 0: for another futex, -1: for none. */
int probe_waits(int tid)
{
	char path[64], text[64] = "";
	unsigned long address = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	f = fopen(path, "r");
	if (f && !fgets(text, sizeof(text), f))
		text[0] = 0;
	if (f)
		fclose(f);
	if (sscanf(text, "202 %lx", &address) != 1)
		return -1;
	return probe_in_runtime(address);
}

int probe_collecting(void)
{
	return py && prof_py_collecting(py);
}

int probe_in_runtime(unsigned long address)
{
	return py && prof_py_in_runtime(py, address);
}

int probe_awaited(int tid, unsigned long *object, int room)
{
	struct prof_py_thread t;
	int rc = find(tid, &t);

	return rc ? rc : prof_py_awaited(py, &t, object, (size_t)room);
}

int probe_asked(int tid, unsigned long *object, int room)
{
	struct prof_py_thread t;
	int rc = find(tid, &t);

	return rc ? rc : prof_py_asked(py, &t, object, (size_t)room);
}

int probe_is_queue(int tid, unsigned long object)
{
	unsigned long awaited[PROF_PY_WANTED];
	int n = probe_awaited(tid, awaited, PROF_PY_WANTED);

	return n < 0 ? n : prof_py_is_queue(py, object);
}

int probe_holds(int tid, const unsigned long *wanted, int n, unsigned char *held,
		unsigned char *gives)
{
	struct prof_py_hold out[PROF_PY_WANTED];
	struct prof_py_thread t;
	int rc = find(tid, &t), i;

	if (!rc)
		rc = prof_py_holds(py, &t, wanted, (size_t)n, out);
	for (i = 0; i < n && rc >= 0; i++) {
		held[i] = out[i].held;
		gives[i] = out[i].gives;
	}
	return rc;
}

/*
 * How many of so many searches found nothing, that it holds, that it gives, and could not be made.
 */
int probe_hold_many(int tid, unsigned long wanted, int times, int *seen)
{
	struct prof_py_hold out;
	struct prof_py_thread t;
	int rc = find(tid, &t), i;

	memset(seen, 0, 4 * sizeof(*seen));
	for (i = 0; !rc && i < times; i++) {
		int n = prof_py_holds(py, &t, &wanted, 1, &out);

		seen[n < 0 ? 3 : out.gives ? 2 : out.held]++;
	}
	return rc;
}

/* Nanoseconds of each of so many searches. */
int probe_hold_times(int tid, const unsigned long *wanted, int n, int times, long *ns)
{
	struct prof_py_hold out[PROF_PY_WANTED];
	struct prof_py_thread t;
	int rc = find(tid, &t), i;

	for (i = 0; !rc && i < times; i++) {
		int64_t begin = now();

		prof_py_holds(py, &t, wanted, (size_t)n, out);
		ns[i] = now() - begin;
	}
	return rc;
}

int probe_awaited_times(int tid, int times, long *ns)
{
	uint64_t object[PROF_PY_WANTED];
	struct prof_py_thread t;
	int rc = find(tid, &t), i;

	for (i = 0; !rc && i < times; i++) {
		int64_t begin = now();

		prof_py_awaited(py, &t, object, PROF_PY_WANTED);
		ns[i] = now() - begin;
	}
	return rc;
}

/* Of this process and another. */
int probe_shares(int pid, unsigned long object)
{
	struct prof_py *ours = NULL, *theirs = NULL;
	int rc = prof_py_open(&ours, 0);

	if (!rc)
		rc = prof_py_open(&theirs, pid);
	if (!rc)
		rc = prof_py_shares(ours, theirs, object);
	prof_py_close(theirs);
	prof_py_close(ours);
	return rc;
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
