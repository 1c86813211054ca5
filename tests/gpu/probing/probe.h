/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - what the parts of the probe share: the list of parts, time, and helpers of their own
 * processes. A part runs in a process of its own with a limit of its own; it is killed with all
 * that it started. It loads libraries itself, so that one which hangs or crashes costs that part
 * alone.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MS ((int64_t)1000000)
#define SECOND ((int64_t)1000000000)
#define LENGTH(a) (sizeof(a) / sizeof(a)[0])

/* How long the part may still take, and how much it shall do. Set before it begins. */
struct probe {
	bool quick; /* tens of milliseconds where it would be seconds */
	int64_t end; /* CLOCK_MONOTONIC ns at which the part is ended */
	const char *here; /* the folder that probe.so and loop.py lie in */
};
extern struct probe probe;

struct part {
	const char *name;
	int step;
	int seconds; /* its limit */
	bool gpu, cupti; /* cannot be asked without */
	void (*play)(void);
};
extern const struct part parts[];
extern const size_t part_count;

/* One question of a part, in the order of the table. */
struct question {
	const char *id, *part, *text;
};
extern const struct question questions[];
extern const size_t question_count;

void part_machine(void);
void part_launch(void);
void part_rights(void);
void part_samples(void);
void part_clocks(void);
void part_beside(void);
void part_shared(void);
void part_gpm(void);
void part_meters(void);
void part_torch(void);
void part_kinds(void);
void part_switches(void);
void part_hardware(void);
void part_second(void);

int64_t mono_ns(void);
int64_t real_ns(void);
int64_t cpu_ns(void); /* of this thread */
void sleep_ns(int64_t ns);
void sleep_until(int64_t mono);
int64_t left_ns(void); /* of the part's time */

/* What in full takes `full` takes a part of it in a quick run. */
int64_t scaled(int64_t full);

/* A fork that dies with its parent, in the same group. 0 in the child. */
pid_t child_begin(void);

/* Waits until `within` ns from now; then kills. true: it ended by itself with status 0. */
bool child_end(pid_t pid, int64_t within);

/*
 * Runs play in a child with another user id (65534) if `other`, and reads back up to size - 1 bytes
 * of what it writes into its descriptor. -1: it hung, died, or (errno EPERM) we are not root.
 */
int child_text(void (*play)(int fd, void *arg), void *arg, bool other, int64_t within, char *text,
	       size_t size);

/* Shared memory, zeroed, for us and our children; NULL: none. */
void *shared_memory(size_t size);

#endif
