/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From class to action: one rule per class, and one for the number of workers. A rule may find that
 * it does not apply here (advice.h of the loader's settings, contradicting evidence) and may word
 * its action by what was seen. A saving is the class's own time and money, or less where arithmetic
 * says so: an upper bound, for what is won depends on what the GPU would have waited for next.
 */
#include <stdlib.h>

#include "advice.h"
#include "findings.h"
#include "base/units.h"
#include "words.h"

#define LEAST_PPM 10000 /* 1 % of the GPU time: below it, advice is noise */
#define ADVICE_MAX 8
#define LINE_COLUMNS 40

static const struct view_rule rules[] = {
	{ ANA_INPUT_UNKNOWN, "loader-wait", "Feed the GPU faster", view_advise_unknown,
	  "more workers and prefetching",
	  "raise the DataLoader's num_workers and prefetch_factor, set pin_memory=True and "
	  "persistent_workers=True; if the workers are busy already, cache or pre-decode the data "
	  "near the node" },
	{ ANA_INPUT_EPOCH, "loader-epoch", "Start epochs without a pause", view_advise_epoch,
	  "persistent_workers=True",
	  "set persistent_workers=True, so that workers and their first batches survive the epoch" },
	{ ANA_INPUT_H2D, "pageable-copy", "Copy from pinned memory", view_advise_h2d,
	  "pin_memory=True and non_blocking=True",
	  "set pin_memory=True and copy with non_blocking=True, so that the copy runs beside the "
	  "kernels and the call returns at once" },
	{ ANA_INPUT_FETCH, "storage", "Bring the data nearer", view_advise_fetch, "a local cache",
	  "cache the data set on a local disk, read larger pieces, or add workers to hide "
	  "latency" },
	{ ANA_INPUT_PREP, "decode", "Make samples cheaper", view_advise_prep,
	  "cheaper samples, or decoding on the GPU",
	  "decode ahead of time or at lower resolution, or decode on the GPU (nvJPEG, DALI)" },
	{ ANA_INPUT_CPU_STARVED, "worker-cpu", "Give the workers processors",
	  view_advise_worker_cpu, "more cores for the workers",
	  "ask for more CPU cores or a larger cgroup quota, or lower num_workers and the threads "
	  "per worker" },
	{ ANA_INPUT_PIPELINE, "prefetch", "Keep more batches in flight", view_advise_pipeline,
	  "a larger prefetch_factor",
	  "raise prefetch_factor, or take batches out of order (in_order=False)" },
	{ ANA_INPUT_HANDOFF, "handoff", "Hand batches over more cheaply", view_advise_handoff,
	  "fewer and larger tensors per batch",
	  "send few large tensors instead of many small objects, and pin memory" },
	{ ANA_INPUT_INLINE, "inline", "Move preparation out of the training thread", NULL,
	  "preparation in loader workers",
	  "do it in the data set, so that loader workers run it ahead of time" },
	{ ANA_HOST_DISPATCH, "dispatch", "Launch less, or faster", NULL,
	  "torch.compile or CUDA graphs",
	  "use torch.compile or CUDA graphs, fuse small operators, or raise the batch size" },
	{ ANA_HOST_SYNC, "sync", "Do not wait for the GPU each step", view_advise_sync,
	  "no synchronisation in the step",
	  "avoid .item(), .cpu(), print of a tensor and torch.cuda.synchronize() inside the step; "
	  "log every N steps" },
	{ ANA_HOST_ALLOC, "alloc", "Allocate once", NULL, "the caching allocator",
	  "let the caching allocator keep its memory: no empty_cache() in the loop, fixed shapes, "
	  "expandable_segments" },
	{ ANA_HOST_CHECKPOINT, "checkpoint", "Write checkpoints beside the training", NULL,
	  "asynchronous checkpoints",
	  "save asynchronously from a copy in host memory, less often, or to a faster disk" },
	{ ANA_HOST_PHASE, "phase", "Make evaluation and logging cheaper", NULL,
	  "rarer evaluation and logging",
	  "run them less often, on a part of the data, or on another machine" },
	{ ANA_HOST_GC, "gc", "Keep the garbage collector out of the step", NULL, "gc.freeze()",
	  "gc.freeze() after set-up, gc.disable() and a gc.collect() between epochs" },
	{ ANA_HOST_LOCK, "lock", "Free the training thread of locks", view_advise_lock,
	  "no lock in the step",
	  "find the thread that holds the lock, and keep the training thread from needing it" },
	{ ANA_HOST_CPU_STARVED, "host-cpu", "Give the trainer a processor", view_advise_host_cpu,
	  "a core for the trainer",
	  "ask for more CPU cores, or lower the threads and workers beside it" },
	{ ANA_HOST_WARMUP, "warmup", "Load and compile once", NULL, "compile caches",
	  "cache compiled kernels, load modules eagerly, and keep shapes fixed" },
	{ ANA_HOST_NET, "network", "Keep the network out of the step", NULL,
	  "network calls in another thread", "log and fetch from another thread" },
	{ ANA_HOST_UNKNOWN, "host-unknown", "Find out what the host does there", NULL,
	  "NVTX ranges around the phases of the loop",
	  "mark the phases of the loop with NVTX or record_function ranges" },
	{ ANA_DEVICE_LAUNCH, "launch", "Hide launch latency", NULL, "CUDA graphs",
	  "queue further ahead: fewer synchronisations, CUDA graphs" },
	{ ANA_DEVICE_DEPENDENCY, "stream-wait", "Loosen waits between streams", NULL,
	  "later waits between streams",
	  "record events as late as possible and wait on them as late as possible" },
	{ ANA_DEVICE_GRAPH, "graph", "Fuse inside the graph", NULL, "fewer nodes in the graph",
	  "many tiny nodes leave pauses; fuse them" },
	{ ANA_DEVICE_CONTENTION, "contention", "Do not share this GPU", NULL, "a GPU of its own",
	  "give the job a GPU of its own, or a MIG slice" },
	{ ANA_COPY, "copy", "Overlap copies with kernels", NULL, "copies on a stream of their own",
	  "use pinned memory, non_blocking=True and a stream of their own" },
	{ ANA_COMPUTE, "uneven", "Let no rank compute longer than the others", view_advise_uneven,
	  "work in equal parts",
	  "give each rank as much work as the others (lengths of sequences, layers per stage), and "
	  "look at clocks and temperature of that rank's GPU" },
	{ ANA_COMM, "comm", "Overlap communication with computation", NULL,
	  "overlap of communication",
	  "tune bucket sizes, accumulate gradients, or check the interconnect" },
	{ ANA_EXCLUDED_NO_PROCESS, "no-process", "Give back what nobody uses",
	  view_advise_no_process, "fewer GPUs",
	  "ask for fewer GPUs, or end the allocation when the work ends" },
	{ ANA_EXCLUDED_STARTUP, "idle-gpu", "Use every GPU that is held, or give it back",
	  view_advise_idle_gpu, "fewer GPUs",
	  "start as many processes as there are GPUs, or let the job see only as many GPUs as it "
	  "uses (CUDA_VISIBLE_DEVICES)" },
};
#define RULES (sizeof(rules) / sizeof(rules[0]))

static bool matters(const struct view_summary *s, int64_t ns)
{
	return base_ppm(ns, s->result->gpu_ns) >= LEAST_PPM;
}

/* Where most of the class went, if samples tell. */
static const char *at_hotspot(struct view_summary *s, enum ana_class c)
{
	const struct view_finding *f = view_finding_of(s, c);
	base_unit share;

	if (!f)
		return "";
	if (f->ns == view_advice_ns(s, c))
		return base_arena_printf(&s->mem, "; all of it: %s",
					 view_finding_words(s, &s->mem, f, LINE_COLUMNS));
	return base_arena_printf(&s->mem, "; %s %% of it: %s",
				 base_percent(share, base_ppm(f->ns, view_advice_ns(s, c))),
				 view_finding_words(s, &s->mem, f, LINE_COLUMNS));
}

/* "input.fetch took 1.2 s, 9.1 % of the GPU time: the loader read from storage or network; ...". */
static const char *why(struct view_summary *s, enum ana_class c)
{
	int64_t ns = view_advice_ns(s, c);
	base_unit time, percent;

	return base_arena_printf(&s->mem, "%s took %s, %s %% of the GPU time: %s%s%s",
				 ana_class_names[c], base_duration(time, ns),
				 base_percent(percent, base_ppm(ns, s->result->gpu_ns)),
				 view_class_meaning(c), at_hotspot(s, c), view_advice_late(s, c));
}

static void add_rule(struct view_summary *s, const struct view_rule *rule)
{
	struct view_advice a = {
		.id = rule->id,
		.title = rule->title,
		.action = rule->action,
		.brief = rule->brief,
		.class = rule->class,
		.saving_ns = view_advice_ns(s, rule->class),
		.saving_nano_usd = view_advice_nano_usd(s, rule->class),
	};

	if (!matters(s, a.saving_ns))
		return;
	a.why = why(s, rule->class);
	if ((rule->fit && !rule->fit(s, &a)) || !matters(s, a.saving_ns))
		return;
	a.brief = base_arena_printf(&s->mem, "%s%s", a.brief, view_advice_for_rank(s, a.class));
	s->advice[s->advices++] = a;
}

static int by_saving(const void *a, const void *b)
{
	const struct view_advice *x = a, *y = b;

	if (x->saving_ns != y->saving_ns)
		return x->saving_ns < y->saving_ns ? 1 : -1;
	if (x->with_need != y->with_need)
		return y->with_need - x->with_need;
	return (int)x->class - (int)y->class;
}

void view_advice_add(struct view_summary *s)
{
	struct view_advice a = { .class = ANA_INPUT_UNKNOWN };

	s->advice = base_arena_array(&s->mem, RULES + 1, sizeof(*s->advice));
	if (view_advise_workers(s, &a) && matters(s, a.saving_ns)) {
		a.why = base_arena_printf(&s->mem, "%s%s", a.why, view_advice_late(s, a.class));
		a.brief = base_arena_printf(&s->mem, "%s%s", a.brief,
					    view_advice_for_rank(s, a.class));
		s->advice[s->advices++] = a;
	}
	for (size_t i = 0; i < RULES; i++)
		add_rule(s, &rules[i]);
	qsort(s->advice, s->advices, sizeof(*s->advice), by_saving);
	if (s->advices > ADVICE_MAX)
		s->advices = ADVICE_MAX;
}

/* Of a run that was busy only idle GPUs and late ranks are worth a word at once. */
static bool urgent(const struct view_summary *s, const struct view_advice *a)
{
	switch (s->result->judgement.verdict) {
	case ANA_V_INPUT_BOUND:
		return ana_class_is_input(a->class);
	case ANA_V_BUSY:
		return a->class == ANA_EXCLUDED_NO_PROCESS || a->class == ANA_EXCLUDED_STARTUP ||
		       view_advice_is_late(s, a->class);
	default:
		return true;
	}
}

const struct view_advice *view_advice_first(const struct view_summary *s)
{
	bool busy = s->result->judgement.verdict == ANA_V_BUSY;

	for (size_t i = 0; i < s->advices; i++)
		if (urgent(s, &s->advice[i]))
			return &s->advice[i];
	return s->advices && !busy ? &s->advice[0] : NULL;
}
