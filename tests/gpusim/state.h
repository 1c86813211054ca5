/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what one process has made on the simulated driver: contexts, streams, events, and
 * work whose time is not known yet. All of it is guarded by one lock per process (sim_lock);
 * the order is: process lock, then a device's lock, then a tracer's own.
 */
#ifndef SIM_STATE_H
#define SIM_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "data.h"
#include "standin.h"
#include "trace.h"

struct sim_ctx;
struct sim_graph;
struct sim_node;

/* What an op does besides taking time. */
struct sim_work {
	void (*host)(void *);
	void *host_data;
	struct sim_data data;
	/*
	 * Of a collective: what is abandoned together, and whom it meets; none: those of its name.
	 */
	uint64_t comm;
	uint32_t n_meetings;
	const struct gpusim_meeting *meetings; /* the caller's */
};

/*
 * Work behind something not yet known: a host function that has not returned, or a collective
 * whose last rank has not come. Counted references: stream tails, events and later work hold it.
 */
struct sim_pending {
	struct sim_op op; /* op.ready is the known part of its inputs */
	struct sim_stream *stream;
	uint32_t refs, n_deps;
	bool done;
	bool placed; /* a collective has begun, its end is open */
	bool timed; /* start and end are known, not all bytes have moved */
	bool host_over, moved;
	bool shown, closed, taken; /* how far a collective has got (meeting.c) */
	bool abandoned;
	int slot; /* engine slot of a collective that has begun */
	struct sim_seats *seats; /* in its meetings */
	uint64_t *depth; /* its place in the stream's queue */
	void *token; /* of the tracer */
	struct sim_work work;
	void (*part)(struct sim_pending *); /* work on memory that the worker is to do */
	bool *part_done;
	struct sim_pending *next;
	struct sim_pending *dep[];
};

/* A moment: t, or later when `pending` is done. */
struct sim_when {
	uint64_t t;
	struct sim_pending *pending;
};

struct sim_stream {
	uint32_t magic, id;
	struct sim_ctx *ctx;
	bool blocking; /* takes turns with the legacy default stream */
	struct sim_when tail;
	uint64_t launched;
	uint64_t *ends; /* of the last `queue` launches, for the limit on depth */
	int priority;
	unsigned flags;
	struct sim_graph *capture;
	struct sim_node *capture_tail;
	struct sim_stream *next;
};

struct sim_event {
	uint32_t magic, id;
	bool recorded;
	unsigned flags;
	struct sim_when when;
	struct sim_graph *capture; /* recorded into this graph, behind that node */
	struct sim_node *capture_node;
};

#define SIM_LIMITS 7 /* CUlimit, those of this model's devices */

struct sim_ctx {
	uint32_t magic, id, device, physical;
	bool primary;
	uint32_t refs;
	struct sim_stream null_stream, thread_stream;
	struct sim_stream *streams; /* all, the two above included */
	uint64_t blocking_tail; /* latest known end on any blocking stream */
	uint64_t last_end; /* latest known end on any stream */
	unsigned flags; /* as the program set them; the model waits in one way only */
	size_t limit[SIM_LIMITS];
	uint32_t peers; /* devices whose memory was made accessible, a bit each */
	struct sim_ctx *next;
};

#define SIM_FUNCTION_ATTRIBUTES 16 /* CUfunction_attribute */

struct sim_function {
	const char *name; /* lives as long as the process */
	const char *label; /* the same, as CUPTI's records point at it (labels.h) */
	struct sim_module *module; /* NULL: of a stand-in library */
	bool nccl;
	bool foreign; /* its parameters are its own: no length is among them */
	bool loaded; /* with GPUSIM_LAZY_MS: it was launched before */
	int attribute[SIM_FUNCTION_ATTRIBUTES];
};

struct sim_state {
	bool initialised, forked;
	uint32_t devices;
	uint32_t physical[16];
	struct sim_ctx *contexts;
	struct sim_ctx *primary[16];
	unsigned primary_flags[16]; /* also while there is no such context */
	struct sim_pending *pending, **pending_end;
	uint32_t n_pending;
	uint32_t next_context, next_stream, next_event;
};

extern struct sim_state sim_state;

void sim_lock(void);
void sim_unlock(void);

/* Waits (with the process lock held) until some pending work gets done. */
void sim_wait_resolved(void);

/* The same on a condition of the caller's, until t. Returns ETIMEDOUT or 0. */
int sim_wait_resolved_until(pthread_cond_t *cond, const struct timespec *t);

/* Wakes everybody in sim_wait_resolved. */
void sim_tell_resolved(void);

/* A context of visible device `device` with its default streams, linked in; NULL: no memory. */
struct sim_ctx *sim_ctx_new(uint32_t device);

/* Sets up caller-owned memory as a stream of ctx and links it in; and out again. */
void sim_stream_init(struct sim_stream *s, struct sim_ctx *ctx, uint32_t id, bool blocking);
void sim_stream_unlink(struct sim_stream *s);

/* The number that the process knows a device by, which it sees. */
uint32_t sim_device_of(uint32_t physical);

/* Current context of the thread, or NULL. */
struct sim_ctx *sim_ctx_current(void);

/* Gives a new function the facts that all have (api_function.c). */
void sim_function_init(struct sim_function *function);

/* The stream behind a handle (NULL, 1 and 2 are the default ones); NULL if it is none. */
struct sim_stream *sim_stream_get(void *handle);

#endif
