/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace is made of: one struct for every event, whatever its kind.
 *
 * Times are int64 nanoseconds on the clock that CUPTI stamps records with on that host
 * (CLOCK_REALTIME on Linux). An event is [start_ns, end_ns). Which fields mean something
 * depends on the kind; all others are 0. docs/FORMAT.md gives the columns byte by byte.
 */
#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include <stddef.h>
#include <stdint.h>

/* Kinds of blocks. Numbers are part of the format: append only. */
enum wire_kind {
	WIRE_KIND_OP = 1, /* device operations: kernels, copies, memsets, graph launches */
	WIRE_KIND_API = 2, /* runtime and driver calls of the host */
	WIRE_KIND_SYNC = 3, /* CUPTI synchronisation records (stream waits, blocking waits) */
	WIRE_KIND_RANGE = 4, /* loader waits, NVTX and user ranges, operators, steps */
	WIRE_KIND_MAX
};

/* wire_event.op of WIRE_KIND_OP */
enum wire_op {
	WIRE_OP_KERNEL = 1,
	WIRE_OP_COPY = 2, /* includes peer copies */
	WIRE_OP_MEMSET = 3,
	WIRE_OP_GRAPH = 4, /* one graph launch, traced as a whole */
};

/* wire_event.copy of WIRE_OP_COPY: CUPTI's numbers */
enum wire_copy {
	WIRE_COPY_UNKNOWN = 0,
	WIRE_COPY_H2D = 1,
	WIRE_COPY_D2H = 2,
	WIRE_COPY_D2D = 8,
	WIRE_COPY_H2H = 9,
	WIRE_COPY_P2P = 10,
};

/* wire_event.src, .dst: memory kinds, CUPTI's numbers */
enum wire_mem {
	WIRE_MEM_UNKNOWN = 0,
	WIRE_MEM_PAGEABLE = 1,
	WIRE_MEM_PINNED = 2,
	WIRE_MEM_DEVICE = 3,
	WIRE_MEM_ARRAY = 4,
	WIRE_MEM_MANAGED = 5,
};

/* wire_event.op of WIRE_KIND_SYNC: CUPTI's numbers */
enum wire_sync {
	WIRE_SYNC_EVENT = 1, /* the host waits for an event */
	WIRE_SYNC_STREAM_WAIT = 2, /* a stream waits for an event; names the stream */
	WIRE_SYNC_STREAM = 3, /* the host waits for a stream */
	WIRE_SYNC_CONTEXT = 4, /* the host waits for a context */
	/* A stream waits for a function of the program that it runs on the CPU; tid: who runs it */
	WIRE_SYNC_HOST_FUNCTION = 5,
};

/* wire_event.op of WIRE_KIND_API */
enum wire_domain {
	WIRE_DOMAIN_DRIVER = 1,
	WIRE_DOMAIN_RUNTIME = 2,
};

/* wire_event.op of WIRE_KIND_RANGE */
enum wire_range {
	WIRE_RANGE_LOADER = 1, /* the thread waits for its next batch */
	WIRE_RANGE_USER = 2, /* NVTX, record_function, user_annotation */
	WIRE_RANGE_OPERATOR = 3, /* a framework's CPU operator (imports, emit_nvtx) */
	WIRE_RANGE_STEP = 4, /* a training step (ProfilerStep#) */
	WIRE_RANGE_OPTIMIZER = 5, /* Optimizer.step of the framework: marks steps, no class */
	WIRE_RANGE_GC = 6, /* a run of Python's garbage collector on that thread */
	WIRE_RANGE_CHECKPOINT = 7, /* torch.save and the like; name: the file, where it is known */
	WIRE_RANGE_ITER = 8, /* making a loader's iterator: workers start */
	WIRE_RANGE_QUEUE_FULL = 9, /* a call waits until the device's queue has room again */
	WIRE_RANGE_CODE_LOAD = 10, /* a call loads or compiles a kernel's code for its first use */
};

/* wire_event.flags */
enum wire_event_flag {
	WIRE_EV_FL_FIRST = 1 << 0, /* RANGE LOADER: first wait of its iterator */
	WIRE_EV_FL_CONT = 1 << 1, /* RANGE: continues the piece written before it */
	WIRE_EV_FL_OPERATOR =
		1 << 2, /* RANGE LOADER or STEP that came as an operator row (imports) */
	WIRE_EV_FL_ASYNC = 1 << 3, /* OP COPY: asynchronous */
	WIRE_EV_FL_COMM = 1 << 4, /* OP KERNEL: set by readers, never stored: a collective */
};

struct wire_event {
	int64_t start_ns;
	int64_t end_ns;
	uint64_t corr; /* OP, API, SYNC: correlation id, extended to 64 bits; 0: none */
	/* OP copies and memsets. RANGE: the communicator of NCCL's call, its commHash; 0: none */
	uint64_t bytes;
	uint32_t name; /* string id: kernel, API function, range text; 0: none */
	uint32_t device; /* OP, SYNC of imports: the process's ordinal, see Hello.devices */
	uint32_t context; /* OP, SYNC */
	uint32_t stream; /* OP, SYNC */
	uint32_t tid; /* API, RANGE: host thread */
	uint32_t graph; /* OP: graph id, 0: none */
	uint8_t kind; /* enum wire_kind */
	uint8_t op; /* enum wire_op, wire_sync, wire_domain or wire_range by kind */
	uint8_t copy; /* enum wire_copy */
	uint8_t src; /* enum wire_mem; for peer copies see peer */
	uint8_t dst; /* enum wire_mem */
	uint8_t flags; /* enum wire_event_flag */
	uint16_t peer; /* OP COPY P2P: the other device's ordinal plus 1; 0: none */
};
_Static_assert(sizeof(struct wire_event) == 64, "one cache line per event");

#endif
