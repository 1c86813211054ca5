/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classes of GPU time, their names and what groups they belong to. docs/CAUSES.md explains
 * each. The order is the order of display; names are stable.
 */
#ifndef ANALYSIS_CLASS_H
#define ANALYSIS_CLASS_H

/* X(symbol, name) */
#define ANA_CLASS_LIST(X)                             \
	X(COMPUTE, "compute")                         \
	X(COMM, "comm")                               \
	X(COPY, "copy")                               \
	X(INPUT_FETCH, "input.fetch")                 \
	X(INPUT_PREP, "input.prep")                   \
	X(INPUT_CPU_STARVED, "input.cpu_starved")     \
	X(INPUT_PIPELINE, "input.pipeline")           \
	X(INPUT_HANDOFF, "input.handoff")             \
	X(INPUT_EPOCH, "input.epoch")                 \
	X(INPUT_INLINE, "input.inline")               \
	X(INPUT_H2D, "input.h2d")                     \
	X(INPUT_UNKNOWN, "input.unknown")             \
	X(HOST_DISPATCH, "host.dispatch")             \
	X(HOST_SYNC, "host.sync")                     \
	X(HOST_ALLOC, "host.alloc")                   \
	X(HOST_GC, "host.gc")                         \
	X(HOST_LOCK, "host.lock")                     \
	X(HOST_CHECKPOINT, "host.checkpoint")         \
	X(HOST_PHASE, "host.phase")                   \
	X(HOST_CPU_STARVED, "host.cpu_starved")       \
	X(HOST_WARMUP, "host.warmup")                 \
	X(HOST_NET, "host.net")                       \
	X(HOST_UNKNOWN, "host.unknown")               \
	X(DEVICE_TURNAROUND, "device.turnaround")     \
	X(DEVICE_LAUNCH, "device.launch")             \
	X(DEVICE_DEPENDENCY, "device.dependency")     \
	X(DEVICE_GRAPH, "device.graph")               \
	X(DEVICE_CONTENTION, "device.contention")     \
	X(DEVICE_LOST, "device.lost")                 \
	X(DEVICE_UNKNOWN, "device.unknown")           \
	X(COMM_SKEW, "comm.skew")                     \
	X(EXCLUDED_STARTUP, "excluded.startup")       \
	X(EXCLUDED_TEARDOWN, "excluded.teardown")     \
	X(EXCLUDED_UNOBSERVED, "excluded.unobserved") \
	X(EXCLUDED_NO_PROCESS, "excluded.no_process")

enum ana_class {
#define X(symbol, name) ANA_##symbol,
	ANA_CLASS_LIST(X)
#undef X
	ANA_CLASSES
};

enum ana_confidence {
	ANA_HIGH,
	ANA_MEDIUM,
	ANA_LOW,
	ANA_NONE,
	ANA_CONFIDENCES
};

extern const char *const ana_class_names[ANA_CLASSES];
extern const char *const ana_confidence_names[ANA_CONFIDENCES];

int ana_class_by_name(const char *name); /* -1: no such class */

/* input.* */
int ana_class_is_input(int c);
/* host.*, host.unknown included */
int ana_class_is_host(int c);
/* device.* */
int ana_class_is_device(int c);
/* counted as waste unless told otherwise (the ledger's rule) */
int ana_class_is_waste(int c);

#endif
