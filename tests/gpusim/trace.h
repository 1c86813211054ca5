/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h - the seam between the simulated driver and the CUPTI stand-ins: what the driver tells
 * a tracer, and the table by which a tracer finds the driver. Real CUPTI uses the same door,
 * cuGetExportTable; only the id and the table are ours. Both sides are built together, so the
 * structs carry no versions.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* cuGetExportTable's id of struct sim_export. */
#define SIM_EXPORT_ID                                                                         \
	{                                                                                     \
		0x67, 0x70, 0x75, 0x73, 0x74, 0x61, 0x72, 0x76, 0x65, 0x2d, 0x73, 0x69, 0x6d, \
			0x2d, 0x30, 0x31                                                      \
	}

enum sim_domain {
	SIM_DRIVER = 1,
	SIM_RUNTIME = 2
}; /* as CUPTI numbers them */

enum sim_kind {
	SIM_KERNEL,
	SIM_MEMCPY,
	SIM_MEMSET,
	SIM_GRAPH,
	SIM_HOST,
	SIM_MARKER,
	SIM_KINDS
};

/* CUPTI's numbers of copy directions and memory kinds. */
enum sim_copy {
	SIM_H2D = 1,
	SIM_D2H = 2,
	SIM_H2A = 3,
	SIM_A2H = 4,
	SIM_A2A = 5,
	SIM_A2D = 6,
	SIM_D2A = 7,
	SIM_D2D = 8,
	SIM_H2H = 9,
	SIM_P2P = 10
};
enum sim_memory {
	SIM_PAGEABLE = 1,
	SIM_PINNED = 2,
	SIM_DEVICE = 3,
	SIM_ARRAY = 4,
	SIM_MANAGED = 5
};

/* CUPTI's numbers of synchronisation types. */
enum sim_sync {
	SIM_SYNC_EVENT = 1,
	SIM_SYNC_WAIT = 2,
	SIM_SYNC_STREAM = 3,
	SIM_SYNC_CONTEXT = 4
};

#define SIM_SYNC_NONE UINT32_MAX /* no stream or no event, in CUPTI's records */

/* A device operation. Times are CLOCK_REALTIME ns; end SIM_NEVER while it is not known. */
struct sim_op {
	uint8_t kind, copy, src, dst;
	uint8_t engine;
	bool async, nccl, in_graph;
	uint32_t device, physical; /* as the process counts, as the node counts */
	uint32_t context, stream;
	uint32_t from_device, from_context; /* source of a peer copy */
	uint32_t peer_device, peer_context; /* and its destination */
	uint64_t ready, duration, start, end;
	uint64_t bytes;
	uint32_t value; /* of a memset */
	const char *name;
	const char *label; /* of a kernel: where its records' pointer leads */
	uint32_t grid[3], block[3], shared;
	uint32_t graph; /* id of the instantiated graph, 0 none */
	uint64_t node; /* id of the node in it */
	uint32_t ranks; /* of a collective, 1: it meets nobody */
	uint64_t call; /* number of the API call in this process */
	uint64_t call_start; /* start of the outermost API call */
	uint32_t correlation, tid;
	uint32_t host_tid; /* of a host function: who runs it, once somebody does */
};

/* CUPTI's numbers of what a call may be held up by. */
enum sim_overhead {
	SIM_OVERHEAD_LAZY_LOADING = 5 << 16,
	SIM_OVERHEAD_QUEUE_FULL = 6 << 16
};

struct sim_sync_info {
	enum sim_sync type;
	bool query; /* did not wait; recorded only with all synchronisation records on */
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	int result;
};

/* A call at its entry or exit, as a callback is told of it. */
struct sim_site {
	enum sim_domain domain;
	uint32_t cbid;
	bool exit;
	int result; /* at the exit */
	const char *kernel; /* the one that it launches, or NULL */
	void *context; /* current on the thread, with its id; NULL and 0: none */
	uint32_t context_id, correlation;
	uint64_t *data; /* the callback's own, from entry to exit */
};

/*
 * What a tracer offers. All run on the calling thread; op and op_done under the driver's lock, so
 * they must not call the driver. enter and leave run without any lock, and may call anything.
 */
struct sim_tracer {
	/* At the entry of the outermost call: its correlation id, 0 if none is made. */
	uint32_t (*correlate)(enum sim_domain domain, uint32_t cbid);
	/* Callbacks. Who was told of the entry is told of the exit: 0 nobody, then no leave. */
	uint64_t (*enter)(const struct sim_site *site);
	void (*leave)(const struct sim_site *site, uint64_t told);
	/* After that, where the call leaves a record at its end. */
	void (*entered)(enum sim_domain domain, uint32_t cbid, uint32_t correlation);
	void (*call)(enum sim_domain domain, uint32_t cbid, uint64_t start, uint64_t end,
		     uint32_t correlation, uint32_t tid, int result);
	/* Returns a token for op_done if the op's end is not known yet and it is recorded. */
	void *(*op)(const struct sim_op *op);
	void (*op_done)(void *token, const struct sim_op *op);
	void (*sync)(const struct sim_sync_info *info, const struct sim_op *where);
	void (*event_record)(const struct sim_op *where, uint32_t event);
	/* The call was held up from then until now. */
	void (*overhead)(const struct sim_op *where, enum sim_overhead what, uint64_t start);
	void (*context)(uint32_t context, uint32_t device, bool created);
};

/* What the driver offers to a tracer. */
struct sim_export {
	size_t size;
	bool (*alive)(void); /* false in a child forked after cuInit */
	void (*attach)(const struct sim_tracer *tracer);
	uint32_t (*tid)(void);
	/* One line of JSON, without the line's end, into the truth file. */
	void (*truth)(const char *line, size_t length);
	uint32_t (*device_count)(void);
	uint32_t (*device_physical)(uint32_t device);
	/* Device of a context handle; -1 when it is none. */
	int (*context_device)(void *context);
	uint32_t (*context_id)(void *context); /* 0 when it is none */
	/* A function without a body was called (standin.h's gpusim_missing). */
	void (*missing)(const char *library, const char *function);
};

#endif
