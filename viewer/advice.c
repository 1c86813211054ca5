/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From class to action: one table. A saving is the class's own time and money, an upper bound:
 * what is won depends on what the GPU would have waited for next.
 */
#include <stdlib.h>

#include "findings.h"
#include "units.h"

#define LEAST_PPM 10000 /* 1 % of the GPU time: below it, advice is noise */
#define ADVICE_MAX 6

struct rule {
	enum ana_class class;
	const char *id, *title, *action;
};

static const struct rule rules[] = {
	{ ANA_INPUT_UNKNOWN, "loader-wait", "Feed the GPU faster",
	  "raise the DataLoader's num_workers and prefetch_factor, set pin_memory=True and "
	  "persistent_workers=True; if the workers are busy already, cache or pre-decode the data "
	  "near the node" },
	{ ANA_INPUT_EPOCH, "loader-epoch", "Start epochs without a pause",
	  "set persistent_workers=True, so that workers and their first batches survive the epoch" },
	{ ANA_INPUT_H2D, "pageable-copy", "Copy from pinned memory",
	  "set pin_memory=True and copy with non_blocking=True, so that the copy runs beside the "
	  "kernels and the call returns at once" },
	{ ANA_INPUT_FETCH, "storage", "Bring the data nearer",
	  "cache the data set on a local disk, read larger pieces, or add workers to hide latency" },
	{ ANA_INPUT_PREP, "decode", "Make samples cheaper",
	  "add workers, decode ahead of time or at lower resolution, or decode on the GPU" },
	{ ANA_INPUT_CPU_STARVED, "worker-cpu", "Give the workers processors",
	  "ask for more CPU cores, or lower num_workers and the threads per worker" },
	{ ANA_INPUT_PIPELINE, "prefetch", "Keep more batches in flight",
	  "raise prefetch_factor, or allow batches out of order" },
	{ ANA_INPUT_HANDOFF, "handoff", "Hand batches over more cheaply",
	  "send few large tensors instead of many small objects, and pin memory" },
	{ ANA_INPUT_INLINE, "inline", "Move preparation out of the training thread",
	  "do it in the data set, so that loader workers run it ahead of time" },
	{ ANA_HOST_DISPATCH, "dispatch", "Launch less, or faster",
	  "use torch.compile or CUDA graphs, fuse small operators, or raise the batch size" },
	{ ANA_HOST_SYNC, "sync", "Do not wait for the GPU each step",
	  "avoid .item(), .cpu(), print of a tensor and torch.cuda.synchronize() inside the step; "
	  "log every N steps" },
	{ ANA_HOST_ALLOC, "alloc", "Allocate once",
	  "let the caching allocator keep its memory: no empty_cache() in the loop, fixed shapes, "
	  "expandable_segments" },
	{ ANA_HOST_CHECKPOINT, "checkpoint", "Write checkpoints beside the training",
	  "save asynchronously from a copy in host memory, less often, or to a faster disk" },
	{ ANA_HOST_PHASE, "phase", "Make evaluation and logging cheaper",
	  "run them less often, on a part of the data, or on another machine" },
	{ ANA_HOST_GC, "gc", "Keep the garbage collector out of the step",
	  "gc.freeze() after set-up, gc.disable() and a gc.collect() between epochs" },
	{ ANA_HOST_LOCK, "lock", "Free the training thread of locks",
	  "move the work that holds the lock (often Python's) into another process" },
	{ ANA_HOST_CPU_STARVED, "host-cpu", "Give the trainer a processor",
	  "ask for more CPU cores, or lower the threads and workers beside it" },
	{ ANA_HOST_WARMUP, "warmup", "Load and compile once",
	  "cache compiled kernels, load modules eagerly, and keep shapes fixed" },
	{ ANA_HOST_NET, "network", "Keep the network out of the step",
	  "log and fetch from another thread" },
	{ ANA_HOST_UNKNOWN, "host-unknown", "Find out what the host does there",
	  "mark the phases of the loop with NVTX or record_function ranges" },
	{ ANA_DEVICE_LAUNCH, "launch", "Hide launch latency",
	  "queue further ahead: fewer synchronisations, CUDA graphs" },
	{ ANA_DEVICE_DEPENDENCY, "stream-wait", "Loosen waits between streams",
	  "record events as late as possible and wait on them as late as possible" },
	{ ANA_DEVICE_GRAPH, "graph", "Fuse inside the graph",
	  "many tiny nodes leave pauses; fuse them" },
	{ ANA_DEVICE_CONTENTION, "contention", "Do not share this GPU",
	  "give the job a GPU of its own, or a MIG slice" },
	{ ANA_COPY, "copy", "Overlap copies with kernels",
	  "use pinned memory, non_blocking=True and a stream of their own" },
	{ ANA_COMM, "comm", "Overlap communication with computation",
	  "tune bucket sizes, accumulate gradients, or check the interconnect" },
	{ ANA_EXCLUDED_NO_PROCESS, "no-process", "Give back what nobody uses",
	  "ask for fewer GPUs, or end the allocation when the work ends" },
};

static bool matters(const struct view_summary *s, const struct rule *rule)
{
	return view_ppm(s->result->classes[rule->class], s->result->gpu_ns) >= LEAST_PPM;
}

static const char *why(struct view_summary *s, enum ana_class c)
{
	view_unit time, percent;

	return view_arena_printf(
		&s->mem, "%s: %s for %s, %s %% of the GPU time", ana_class_names[c],
		view_class_meaning(c), view_duration(time, s->result->classes[c]),
		view_percent(percent, view_ppm(s->result->classes[c], s->result->gpu_ns)));
}

static int by_saving(const void *a, const void *b)
{
	const struct view_advice *x = a, *y = b;

	if (x->saving_ns != y->saving_ns)
		return x->saving_ns < y->saving_ns ? 1 : -1;
	return (int)x->class - (int)y->class;
}

void view_advice_add(struct view_summary *s)
{
	size_t n = sizeof(rules) / sizeof(rules[0]);

	s->advice = view_arena_array(&s->mem, n, sizeof(*s->advice));
	for (size_t i = 0; i < n; i++) {
		enum ana_class c = rules[i].class;
		if (!matters(s, &rules[i]))
			continue;
		s->advice[s->advices++] = (struct view_advice){
			.id = rules[i].id,
			.title = rules[i].title,
			.why = why(s, c),
			.action = rules[i].action,
			.class = c,
			.saving_ns = s->result->classes[c],
			.saving_nano_usd = s->cost.classes[c],
		};
	}
	qsort(s->advice, s->advices, sizeof(*s->advice), by_saving);
	if (s->advices > ADVICE_MAX)
		s->advices = ADVICE_MAX;
}
