/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - the frame around every API call: is the driver usable, does a fault strike, what
 * correlation id does the work of the call carry, and the record of the call at its end.
 */
#ifndef SIM_CALL_H
#define SIM_CALL_H

#include <stdint.h>

#include "cbid.h"
#include "trace.h"

#define SIM_API __attribute__((visibility("default")))

/* Exports `name` as another name of `of`: the driver keeps its old ones. */
#define SIM_ALIAS(name, of) SIM_API extern __typeof__(of) name __attribute__((alias(#of)))

enum sim_result {
	SIM_OK = 0,
	SIM_INVALID_VALUE = 1,
	SIM_OUT_OF_MEMORY = 2,
	SIM_NOT_INITIALIZED = 3,
	SIM_NO_DEVICE = 100,
	SIM_INVALID_DEVICE = 101,
	SIM_INVALID_CONTEXT = 201,
	SIM_NO_BINARY_FOR_GPU = 209,
	SIM_UNSUPPORTED_LIMIT = 215,
	SIM_INVALID_GRAPHICS_CONTEXT = 219,
	SIM_NO_JIT_COMPILER = 221,
	SIM_FILE_NOT_FOUND = 301,
	SIM_OPERATING_SYSTEM = 304,
	SIM_INVALID_HANDLE = 400,
	SIM_ILLEGAL_STATE = 401,
	SIM_NOT_FOUND = 500,
	SIM_NOT_READY = 600,
	SIM_PEER_ALREADY_ENABLED = 704,
	SIM_PEER_NOT_ENABLED = 705,
	SIM_NOT_SUPPORTED = 801,
	SIM_UNKNOWN = 999
};

struct sim_call {
	const struct sim_tracer *tracer; /* at the entry; who comes during a call misses it */
	enum sim_domain domain;
	uint32_t cbid;
	uint64_t start;
	const char *kernel; /* that it launches, or NULL */
	uint64_t told, data; /* who was told of the entry; the callback's own word */
};

/* What a stand-in library says of the launch that it makes (standin.h). */
struct gpusim_meeting;
struct sim_given {
	uint64_t length; /* 0: by name and geometry */
	uint64_t communicator;
	uint32_t n_meetings;
	const struct gpusim_meeting *meetings;
};

/* What the calling thread is in the middle of; correlation 0 when none is made. */
struct sim_thread {
	uint32_t depth, correlation, tid;
	bool runtime; /* the outermost call is one of the runtime */
	uint64_t call, call_start;
	void *current; /* context */
	void *stack[16];
	uint32_t stack_depth;
	int device; /* of the runtime stand-in */
	const struct sim_given *given; /* of a launch that a stand-in library makes, or NULL */
};
extern __thread struct sim_thread sim_thread;

/* 0, or the result to return at once (through sim_call_end). Does not need cuInit. */
int sim_call_begin_early(struct sim_call *call, enum sim_domain domain, uint32_t cbid);

/* The same for calls that need cuInit to have succeeded in this very process. */
int sim_call_begin(struct sim_call *call, uint32_t cbid);

/*
 * The same for a call that launches this kernel (a CUfunction, or NULL): callbacks are told its
 * name.
 */
int sim_call_begin_launch(struct sim_call *call, uint32_t cbid, const void *function);

/*
 * The same for stand-ins of the runtime. Driver calls inside leave no records unless asked for, but
 * callbacks are made for them. `function` as above.
 */
SIM_API int gpusim_runtime_begin(struct sim_call *call, uint32_t cbid);
SIM_API int gpusim_runtime_begin_launch(struct sim_call *call, uint32_t cbid, const void *function);
SIM_API int gpusim_runtime_end(struct sim_call *call, int result);

/* Writes the record of the call and makes the callback of its exit; returns result. */
int sim_call_end(struct sim_call *call, int result);

/* The tracer, or NULL. */
const struct sim_tracer *sim_tracer(void);

uint32_t sim_tid(void);

/* The call's name, or "unknown". */
const char *sim_call_name(enum sim_domain domain, uint32_t cbid);

extern const struct sim_export sim_export;

#endif
