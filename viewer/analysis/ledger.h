/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of the engine: every GPU-nanosecond of a run in one class, and what was counted on
 * the way. Plain integers; no dollars (cost.h adds them), no text beyond names. Everything here is
 * owned by the result and freed by ana_result_free.
 */
#ifndef ANALYSIS_LEDGER_H
#define ANALYSIS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "class.h"
#include "facts/kernel_kind.h"
#include "ranks.h"

enum ana_verdict {
#define VERDICT(symbol, name) ANA_V_##symbol,
#include "facts/verdicts.def"
	ANA_VERDICTS
};

enum ana_severity {
#define SEVERITY(symbol, name) ANA_S_##symbol,
#include "facts/verdicts.def"
	ANA_SEVERITIES
};

extern const char *const ana_verdict_names[ANA_VERDICTS];
extern const char *const ana_severity_names[ANA_SEVERITIES]; /* [ANA_S_NONE] is NULL */

struct ana_judgement {
	enum ana_verdict verdict;
	enum ana_severity severity;
	bool flagged;
};

/*
 * The number of the rules that give time its class (docs/LEDGER.md). Another one says that equal
 * traces may give other classes. What was kept without a number has number 1.
 */
#define ANA_RULES 2u

#define ANA_WARNING_PCT 10 /* of the training time lost to input, from where a run is graded so */
#define ANA_CRITICAL_PCT 20

/* The verdict over classes that sum to @held (LEDGER 7). Pure. */
struct ana_judgement ana_verdict_of(int64_t held_ns, const int64_t classes[ANA_CLASSES]);

enum ana_copy_dir {
#define COPY(symbol, name, words) ANA_##symbol,
#include "facts/copies.def"
	ANA_COPY_DIRS
};
extern const char *const ana_copy_names[ANA_COPY_DIRS]; /* facts/copies.def */

struct ana_copies {
	uint64_t count, bytes, pageable_count, pageable_bytes, synchronous;
	int64_t ns; /* sum of durations */
	int64_t exposed_ns; /* union while no kernel or graph launch runs on that device */
};

/*
 * What `compute` consists of (LEDGER 3): a place for each kind of kernel and precision. Time in
 * which several run is of the one that began first.
 */
#define ANA_WORKS (FACTS_KINDS * FACTS_PRECISIONS)
#define ANA_WORK(kind, precision) ((kind)*FACTS_PRECISIONS + (precision))
_Static_assert(ANA_WORKS < UINT8_MAX, "a place of work fits a byte");

struct ana_work {
	int64_t ns[ANA_WORKS]; /* sums to classes[ANA_COMPUTE] */
	uint64_t count[ANA_WORKS]; /* kernels, and graph launches that are one operation */
};

enum ana_band { /* of a minute, by the share of it in which the GPU was busy */
	ANA_BAND_IDLE, /* under 5 % */
	ANA_BAND_5,
	ANA_BAND_20,
	ANA_BAND_40,
	ANA_BAND_60,
	ANA_BAND_80, /* 80 % and more */
	ANA_BANDS
};

/*
 * Of a GPU that a job was given, the time in which no process of it used the GPU, by what came
 * before and after in the stretch for which the job had it (LEDGER 12).
 */
enum ana_vacant {
	ANA_VACANT_BEFORE, /* the first process on it */
	ANA_VACANT_BETWEEN, /* two of them */
	ANA_VACANT_AFTER, /* the last one */
	ANA_VACANT_NEVER, /* used by any */
	ANA_VACANT_UNKNOWN, /* up to where the stretch was last heard of: its end is not known */
	ANA_VACANTS
};
extern const char *const ana_vacant_names[ANA_VACANTS]; /* before between ... */

struct ana_vacancy {
	bool known; /* when the GPU was given to the job; false: all is 0 */
	int64_t ns[ANA_VACANTS]; /* sum to excluded.no_process */
	int64_t gaps; /* that ns[ANA_VACANT_BETWEEN] is made of */
	int64_t longest_ns; /* of these */
	/* given, and used by no process that was recorded, where others were not; in no part */
	int64_t unseen_ns;
};

struct ana_span; /* time/span.h */

struct ana_life { /* of a process on a GPU */
	uint32_t part; /* of the trace: its run */
	int64_t start_ns, end_ns;
};

struct ana_gpu {
	char *host;
	uint32_t index; /* NVML index or the process's ordinal */
	char *uuid; /* GPU-xxxxxxxx-..., MIG-...; NULL: not known */
	char *name; /* as the driver says it, " (simulated)" included */
	char *mig_profile; /* NULL: no MIG */
	uint32_t mig_slices, mig_slices_total; /* compute slices of the whole; 0: no MIG */
	int64_t held_ns, span_ns;
	int64_t span_unrecorded_ns; /* of span_ns: struct ana_unrecorded */
	int64_t allocated_ns; /* of a job: for so long it was given to it; -1: not known */
	uint64_t ops, ops_without_launch, gaps;
	uint32_t streams;
	int64_t busy_ns, compute_ns, comm_exposed_ns, copy_exposed_ns;
	int64_t idle_ns, empty_ns, queued_ns;
	int64_t loader_wait_ns, loader_exposed_ns;
	int64_t loader_outside_ns; /* waits before and after all operations, as far as input.* */
	/* behind the last one, of classes that verdicts are about, and as far as that was seen */
	int64_t after_last_ns[ANA_CLASSES];
	int64_t saving_after_ns; /* behind the last one, of host.checkpoint */
	int64_t no_work_after_ns; /* ... and of host.no_work: it may have slept */
	int64_t last_end_ns; /* of its last operation, on the axis */
	int64_t submitted_ns; /* when its last kernel was, or, not known, ended; on the axis */
	int64_t classes[ANA_CLASSES]; /* sums to held_ns */
	int64_t confidence[ANA_CLASSES][ANA_CONFIDENCES];
	int64_t skew_causes[ANA_CLASSES]; /* of comm.skew: what the late ranks did; sums to it */
	struct ana_judgement judgement;
	struct ana_copies copies[ANA_COPY_DIRS];
	uint64_t memory_used_peak_bytes, memory_total_bytes; /* 0: not known */
	double nvml_utilization_pct; /* < 0: not known */
	uint32_t shared_with;
	uint64_t graphs; /* launches recorded as one operation: what ran inside is not known */
	uint64_t input_kernels; /* that decode or transform input ... */
	int64_t input_kernel_ns; /* ... and how long each of them took, in sum */
	struct ana_work work;
	int64_t held_start_ns, held_end_ns; /* on the axis, for timelines */
	struct ana_span *held; /* by its processes, in order; NULL: not known. time/span.h */
	size_t helds;
	struct ana_life *life; /* of a job's: what held is of, in no order */
	size_t lives;
	int64_t minutes[ANA_BANDS]; /* whole ones in which it was held and observed */
	struct ana_vacancy vacancy;
	struct ana_span *vacant; /* when it was given and no process was on it, in order */
	size_t vacants;
};

/* One stretch of a GPU's time for the timeline: at most a few thousand per GPU. */
struct ana_bucket {
	int64_t start_ns, end_ns;
	int64_t classes[ANA_CLASSES];
};
struct ana_timeline {
	struct ana_bucket *bucket;
	size_t count;
};

struct ana_gap { /* the longest gaps, exact */
	uint32_t gpu;
	int64_t start_ns, end_ns, empty_ns;
	enum ana_class
		major; /* the class with most of it, by what the ledger booked for its pieces */
	int64_t pid, tid; /* submitter, 0: not known */
	int64_t class_ns; /* how much of it is of that class; 0: not known */
	int64_t classes[ANA_CLASSES]; /* its pieces that have a class by now; of a walk alone */
};

struct ana_step {
	int64_t start_ns, end_ns;
	/* loader waits of this process inside its GPUs' gaps, within the step */
	int64_t exposed_ns;
	/*
	 * What its GPUs waited for input within it: all input.* that the ledger has there, by
	 * whatever evidence. Known to observers (observer.h) alone.
	 */
	int64_t input_ns;
	uint32_t process;
};

enum ana_step_source {
	ANA_STEPS_NONE,
	ANA_STEPS_RANGE,
	ANA_STEPS_OPTIMIZER,
	ANA_STEPS_PERIOD,
	ANA_STEPS_BATCHES
};

struct ana_process {
	char *host;
	int64_t pid;
	bool has_rank;
	int32_t rank;
	char *role; /* trainer, loader_worker, launcher, other */
	char *ended; /* exit, lost, running */
	int64_t start_ns, end_ns;
	bool holds; /* a GPU, while it lives */
};

struct ana_attempt { /* of a job: what it held between two requeues */
	int64_t restart;
	int64_t start_ns, end_ns;
	int64_t held_ns; /* over all its GPUs */
	uint32_t gpus;
	bool open; /* it goes on, as far as its scheduler told */
};

/*
 * What NVML's meters say of the GPUs, whoever worked on them, where not all was recorded: of times
 * that lie wholly within it.
 */
struct ana_metered {
	int64_t known_ns; /* 0: they say nothing */
	int64_t busy_ns; /* of that: anything ran */
	int64_t gpm_ns; /* of known_ns: by GPM; the rest by the driver's samples */
};

/*
 * What GPM says of how well GPUs were used between their first and last operation, whoever worked
 * on them: of readings that lie there. A share of a time counts as so much of it.
 */
struct ana_units {
	int64_t known_ns; /* 0: it says nothing */
	int64_t busy_ns; /* of that: anything ran */
	int64_t tensor_ns; /* of the tensor cores' time */
	int64_t dram_ns; /* of the memory's bandwidth; -1: not all readings tell it */
};

/* What the program did meanwhile, as far as its steps and ranges tell (LEDGER 3). */
enum ana_phase {
	ANA_PHASE_STEPS,
	ANA_PHASE_EVALUATION, /* a range of the program that is host.phase */
	ANA_PHASE_OTHER,
	ANA_PHASE_MIXED, /* several of these in one reading */
	ANA_PHASES
};
extern const char *const ana_phase_names[ANA_PHASES];

/* In how many phases something is known. */
int ana_units_told(const struct ana_units in[ANA_PHASES]);

/*
 * What recording cost by libprof's own account, where some of it was given up to stay below
 * --max-overhead: over the processes that gave up some, and the ladder of the dearest of them.
 */
struct ana_recording {
	int64_t time_ns; /* of these processes; 0: none gave anything up */
	int64_t spent_ns; /* of that: their threads took so much longer to launch */
	int64_t limit_ppm, worst_ppm; /* of the time; the dearest window of up to ten seconds */
	uint32_t deepest; /* given up: 1 API records, 2 kernels too, 3 copies and waits too */
	/* what a launch costs that is waited for, with nothing and with so much given up */
	uint32_t full_launch_ns, no_api_launch_ns, no_kernels_launch_ns, least_launch_ns;
	uint32_t left_ns; /* of each: stays, whatever is given up */
	uint32_t passed; /* so often steps were passed over, by what was learnt */
	bool learnt; /* measured in this job; else an H100's */
};

/*
 * How the time that was given up to be cheap, or left to another client of CUPTI, was likely spent
 * (LEDGER 11): an estimate, that enters no other sum.
 */
struct ana_estimated_part {
	int64_t ns;
	int64_t low_ns, high_ns; /* what it truly is lies there nine times in ten */
};
struct ana_estimated {
	int64_t of_ns; /* busy, classes and unknown_ns sum to it; 0: there is no estimate */
	int64_t metered_ns; /* of that NVML's meters told how busy the GPUs were */
	int64_t unknown_ns;
	struct ana_estimated_part busy, classes[ANA_CLASSES];
};

/* What the estimate of a GPU is made of (dump --estimate). */
enum ana_estimate_use {
	ANA_ESTIMATE_LEFT_OUT, /* it tells of what was recorded, and of what was not */
	ANA_ESTIMATE_TELLS, /* of what was not recorded alone */
	ANA_ESTIMATE_CORRECTS, /* all of its time was recorded */
};
struct ana_estimate_reading {
	int64_t start_ns, end_ns;
	bool gpm;
	enum ana_estimate_use use;
	int64_t said_ns; /* by the meter that counts, before it is corrected */
	int64_t recorded_ns; /* busy by records */
	int64_t of_ns, busy_ns; /* to be estimated, and of that busy */
};
struct ana_estimate_state {
	const char *name;
	const char *line; /* "file:line function" of the program; NULL: it is of none */
	int64_t seen_ns, idle_seen_ns; /* recorded */
	int64_t of_ns, metered_ns; /* to be estimated; of that with a reading that tells */
	int64_t idle_ns, idle_ppm; /* found; as likely as so */
	const int64_t *part; /* of idle_ns, by class; behind the classes what is of none */
};
struct ana_estimate_told {
	uint32_t gpu;
	int64_t worked_ppm; /* of what the meter that counts says, so much is busy */
	bool by_sm; /* it is that of the multiprocessors */
	int64_t spread_ns; /* without a reading, and taken to be like what has one */
	const struct ana_estimate_reading *reading;
	size_t readings;
	const struct ana_estimate_state *state; /* those in which there is anything */
	size_t states;
	const struct ana_estimated *estimated; /* of the GPU */
};

struct ana_quality {
	uint64_t events, dropped, invalid;
	uint64_t ops_before_launch; /* ops that start before their launch */
	uint64_t launches_expired; /* given up to stay within memory */
	uint64_t graphs_lost; /* launches of graphs of which the device recorded nothing */
	int64_t unobserved_ns;
	int64_t stepped_down_ns; /* of that at most: recording it all would have cost too much */
	struct ana_metered metered;
	struct ana_recording recording;
	uint64_t damage_bytes, damage_spans, frames_missing;
	uint64_t own_cpu_ns, trace_bytes, memory_peak_bytes;
	/* evidence of what the host did */
	uint64_t samples; /* that were read */
	uint64_t samples_torn; /* ... whose Python stack changed while it was read */
	uint64_t samples_without_python; /* ... of processes whose Python stacks cannot be had */
	uint64_t samples_lost; /* taken and dropped, as libprof counted */
	/*
	 * time that evidence could have explained and no sample lies in; 0 where there is none at
	 * all
	 */
	int64_t gap_unsampled_ns;
	char **notes;
	size_t note_count;
};

/*
 * Where the time of a class went, as samples show it: a line of code, what it waited for, who. The
 * hotspots of a class sum to at most the class; what is missing has no sample that tells a line.
 * The user's line is the innermost frame that is neither in the standard library nor an installed
 * package, else the innermost there is.
 */
struct ana_hotspot_link { /* one thread of a chain of waits; texts NULL: not known */
	char *who; /* "the main process", "thread produce" */
	char *waits_in; /* "queue.get"; NULL: it is the last, who makes what is waited for */
	char *function, *file; /* of the user's line */
	uint32_t line;
	uint64_t samples; /* that show it wait (the first) or give to the one before */
	enum ana_confidence confidence; /* that it does */
};

/* What threads were blocked on while GPUs waited for input: a file, or who is at the other end. */
struct ana_target {
	char *name, *fs; /* as samples have them; fs "": not known */
	int64_t ns; /* of GPU time */
	uint64_t samples; /* that show it */
	/* what these threads read from look to look, and in how long; bytes 0: not known */
	uint64_t bytes;
	int64_t read_ns;
};

struct ana_hotspot {
	enum ana_class class;
	enum ana_confidence confidence; /* the one that holds for most of it */
	int64_t ns; /* of GPU time, over all GPUs */
	/* besides: of pieces of the class without samples (LEDGER 6), and of that what is medium */
	int64_t nearby_ns, nearby_medium_ns;
	uint8_t role; /* enum wire_role: whose line it is */
	uint8_t wait; /* enum wire_wait: what the thread waited for, NONE: it ran */
	bool runnable; /* it could run and had no CPU (input.cpu_starved, host.cpu_starved) */
	char *function, *file; /* of the user's line; NULL: no Python stack was had */
	uint32_t line; /* 0: not known */
	char *leaf; /* function and file of the innermost frame, "function\tfile"; NULL: same */
	char *native; /* the native leaf below Python, as wire/evidence.h writes it; NULL: none */
	/*
	 * runnable: who ran meanwhile, for a third of the time or more,
	 * "who\tfunction\tfile\tline"; NULL: nobody was seen
	 */
	char *has_cpu;
	char *target, *fs; /* file, peer, ... and the file system's type; NULL: not known */
	uint64_t samples; /* that show it, each once */
	uint32_t threads; /* distinct threads seen in it */
	uint32_t workers; /* ... of these, threads of loader workers */
	uint8_t feeder; /* enum facts_feeder, of the most telling stack */
	/* from who waits to who makes, most of the time; NULL: none */
	struct ana_hotspot_link *chain;
	size_t chains; /* its links */
};

enum ana_loader_known { /* ana_loader_facts.known: what the loader told of itself */
	ANA_LOADER_WORKERS = 1 << 0,
	ANA_LOADER_PREFETCH = 1 << 1,
	ANA_LOADER_BATCH = 1 << 2,
	ANA_LOADER_PIN = 1 << 3,
	ANA_LOADER_PERSISTENT = 1 << 4,
	ANA_LOADER_IN_ORDER = 1 << 5,
};

/*
 * Batches that came to the trainers, call by call (evidence/passes.h, which has what follows from
 * them).
 */
struct ana_loader_given {
	bool told; /* the calls say what came of them */
	bool lost; /* some calls were not told of */
	uint64_t batches; /* those that came */
	uint64_t counted, samples; /* of them, those whose samples are told, and these */
	uint64_t before; /* of the batches: before the record began */
	uint64_t passes; /* over the loader that gave a batch at least */
	uint64_t whole, whole_batches; /* passes that came to their end, and what they gave */
};

/*
 * What is known of the iterators that were opened with the same settings, in all processes, from
 * what they said on opening and from the steps in the life of their batches.
 */
struct ana_loader_facts {
	unsigned int known;
	uint32_t workers, prefetch, batch_size;
	bool pin, persistent, in_order;
	bool iterable; /* its data set has no length */
	char *start, *dataset, *kind; /* fork, class name, torch; NULL: not known */
	char *made_file; /* the call that made the loader, whoever's it is; NULL: not known */
	uint32_t made_line;
	uint32_t trainers; /* processes that used it; rates below are of all together */
	uint64_t iterators;
	int64_t open_ns; /* spent in making the iterators */
	uint64_t taken; /* calls of next() */
	int64_t take_ns; /* spent in them, hidden or not */
	uint64_t handed; /* batches of which both the making and the taking are told */
	int64_t hand_ns; /* of them: spent in next() after they were made (evidence/taking.h) */
	uint64_t made; /* fetches: batches made by workers, or by the trainer without any */
	uint64_t made_samples;
	int64_t fetch_ns, fetch_cpu_ns, fetch_delay_ns; /* sums over the fetches; delay: no CPU */
	int64_t fetch_p1_ns, fetch_median_ns, fetch_p95_ns; /* -1: no fetch was seen */
	uint64_t rchar_bytes, read_bytes, major_faults;
	int64_t seen_ns; /* from the first row to the last, longest of the processes */
	struct ana_loader_given given;
	bool several; /* in a process it went over several data sets, or by several samplers */
	/* ana_trains_find(): it trains; what it gave to that, and to so many processes */
	bool trains;
	struct ana_loader_given learnt;
	uint32_t learners;
	bool uneven; /* passes of those that train are not known to be of one length */
};

enum ana_counted { /* of what ana_unrecorded.steps is the count */
	ANA_COUNTED_RECORDED, /* of the rest of the run alone */
	ANA_COUNTED_MARKS, /* of all of it: the program marks them */
	ANA_COUNTED_BATCHES, /* of all of it: each took a batch in the rest of the run */
	ANA_COUNTEDS
};
extern const char *const ana_counted_names[ANA_COUNTEDS]; /* recorded, marks, batches */

/*
 * Of a run whose kernels were not recorded for a time, to be cheap or because another client of
 * CUPTI had them. What is known of time and classes is of the rest, so that there are no sums per
 * step: ana_result.steps is 0.
 */
struct ana_unrecorded {
	int64_t ns; /* of excluded.unobserved; 0: there was none, and all below is 0 */
	int64_t span_ns; /* of such time between first and last operations */
	uint64_t batches; /* that came meanwhile */
	int64_t wait_ns; /* for batches meanwhile: neither exposed nor hidden */
	enum ana_counted counted;
	uint64_t steps, steps_recorded; /* what times of steps are of; 0: there is none */
};

struct ana_series; /* series.h */
struct ana_picture; /* picture/picture.h */

/* What kernels, by their names, and ranges and looks tell of the program (summary/kind.h). */
enum ana_hint {
	ANA_HINT_BACKWARD = 1 << 0,
	ANA_HINT_GENERATES = 1 << 1,
	ANA_HINT_OPTIMIZER = 1 << 2,
	ANA_HINT_STEPS = 1 << 3, /* ranges of optimizers, of whatever kernels */
	/* ana_gradients_find(): a backward pass was seen running, whatever its kernels ... */
	ANA_HINT_GRADIENTS = 1 << 4,
	ANA_HINT_WATCHED = 1 << 5, /* ... or none, by looks enough to have met one */
};

struct ana_result {
	struct ana_gpu *gpu;
	struct ana_timeline *timeline; /* per GPU */
	size_t gpus;
	struct ana_gap *top_gap; /* longest first */
	size_t top_gaps;
	struct ana_process *process;
	size_t processes;
	/* run totals */
	int64_t gpu_ns; /* sum of held_ns */
	int64_t classes[ANA_CLASSES];
	int64_t confidence[ANA_CLASSES][ANA_CONFIDENCES];
	int64_t skew_causes[ANA_CLASSES]; /* of comm.skew, sums to it; ANA_COMM: not found */
	/* wasted by the default waste set; both with what lies under comm.skew */
	int64_t starved_ns, wasted_ns;
	/*
	 * Of excluded.startup what passed before the processes that use the GPUs came to CUDA;
	 * 0: not known.
	 */
	int64_t before_cuda_ns;
	struct ana_vacancy vacancy; /* summed over the GPUs of which it is known */
	/* of a job: no two of its runs had a GPU at once: what each held by itself sums up */
	bool runs_apart;
	struct ana_work work;
	struct ana_units units;
	struct ana_units units_in[ANA_PHASES]; /* sum to it; all 0: not known */
	struct ana_estimated estimated;
	struct ana_ranks ranks;
	struct ana_judgement judgement;
	/* steps */
	enum ana_step_source step_source;
	uint64_t steps, steps_skipped;
	struct ana_unrecorded unrecorded;
	int64_t step_median_ns, step_p95_ns; /* -1: not known */
	int64_t step_fed_median_ns; /* steps less their exposed waits; -1: not known */
	uint8_t hints; /* enum ana_hint: what sort of program it is */
	/* loader */
	char *loader_kind; /* NULL: none seen */
	uint64_t batches; /* waits that gave one, as far as that is known */
	/*
	 * hidden: under queued work, at no cost; what is outside the GPUs' spans is neither, nor
	 * is what was not recorded
	 */
	int64_t loader_wait_ns, loader_exposed_ns, loader_hidden_ns;
	struct ana_loader_facts *loader; /* most time in next() first */
	size_t loaders;
	/* of a process, at most, told apart by what they go over: loaders, and those that train */
	uint32_t apart, apart_trains; /* 0: not known */
	/* evidence */
	struct ana_hotspot *hotspot; /* most time first */
	size_t hotspots;
	struct ana_target *target; /* the slowest ones, most time first */
	size_t targets;
	int64_t other_hotspots_ns; /* of hotspots beyond the bound, which are not listed */
	uint32_t cpus; /* cores the job may use, least over its hosts; 0: not known */
	struct ana_copies copies[ANA_COPY_DIRS];
	struct ana_quality quality;
	struct ana_series *series; /* series.h; NULL: not asked for */
	struct ana_picture *picture; /* picture/picture.h; NULL: of a summary without one */
	bool imported;
	char *import_kind; /* kineto, nsys */
	struct ana_attempt *attempt; /* of a job, by restart */
	size_t attempts;
	bool complete; /* every stream ended with Bye */
	bool simulated;
	char *level;
};

enum ana_window {
	ANA_WINDOW_JOB,
	ANA_WINDOW_DEVICE
};

/*
 * A stretch of time in which a GPU ran nothing, with the class that the rules gave it: of a gap
 * between operations, or of the time before the first and after the last.
 */
struct wire_sample; /* wire/evidence.h */

struct ana_piece {
	uint32_t gpu;
	enum ana_class class;
	enum ana_confidence confidence;
	bool gap; /* within the span */
	bool queued; /* of a gap: work was submitted and did not run yet */
	int64_t start_ns, end_ns;
	int64_t gap_start_ns, gap_end_ns; /* what it is a piece of */
	int64_t pid, tid; /* the thread whose submission ended the emptiness, 0: not known */
};

/* A share of a class's time with the sample that tells where it went. */
struct ana_hotspot_sample {
	uint32_t process; /* in ana_result.process */
	enum ana_class class;
	enum ana_confidence confidence;
	/* Its string ids are those of the process's stream. Valid during the call. */
	const struct wire_sample *sample;
	int64_t ns;
};

/*
 * Where results of components are kept, so that an analysis that is ended need not begin anew.
 * Called from any of the engine's threads.
 */
struct ana_keeper {
	/*
	 * Of a component; with ANA_KEPT_AMID, of one that is being walked. 0 and *bytes, to be
	 * freed by who asks; else negative errno: it is walked, from its beginning.
	 */
	int (*get)(void *arg, uint32_t component, uint8_t **bytes, size_t *len);
	/*
	 * What comes after it of the same takes its place; of a component, that of its walk, too.
	 */
	void (*put)(void *arg, uint32_t component, const uint8_t *bytes, size_t len);
	void *arg;
};
#define ANA_KEPT_AMID UINT32_C(0x80000000)

struct ana_options {
	enum ana_window window;
	unsigned int threads; /* 0: as many as there are processors */
	size_t timeline_buckets; /* per GPU, 0: none */
	size_t top_gaps; /* 0: none */
	bool series; /* fill ana_result.series: what a page draws */
	/*
	 * Only how long each GPU was held, for a first bill: no event is read, and all held time
	 * counts as excluded.unobserved, but that of GPUs nobody used.
	 */
	bool held_only;
	/*
	 * NULL: nothing is kept. With one there is neither series nor picture nor call of the user,
	 * for what is not walked feeds none of them; all else is the same.
	 */
	const struct ana_keeper *keeper;
	/*
	 * Operations of a component after which its walk is kept; 0: a 64th of them, or a million.
	 */
	uint32_t keep_every;
	/*
	 * Imports with at most so many API records are joined as a whole, which holds them in
	 * memory and is exact whatever the order of their stamps; larger ones are streamed like
	 * live runs. 0: 4 Mi.
	 */
	uint64_t exact_calls;
	/*
	 * Called for each step in order of start, per process; may be NULL (dump --steps). From any
	 * of the engine's threads, one at a time.
	 */
	void (*on_step)(void *arg, const struct ana_step *s);
	/*
	 * Called for each piece as it is decided; may be NULL. The pieces of a gap come together
	 * and in order, but for those that no sample lies in, which come when their neighbours are
	 * known; gaps of one GPU nearly so, as some are decided before what comes later is read.
	 * Per GPU and class they sum to ana_gpu.classes, but for what a step of the clock takes
	 * from or adds to excluded.unobserved. Threads as on_step.
	 */
	void (*on_piece)(void *arg, const struct ana_piece *p);
	/*
	 * Called for each share of time that a sample explains; may be NULL. Per class they sum to
	 * the hotspots, those that are not listed included. Threads as on_step.
	 */
	void (*on_hotspot_sample)(void *arg, const struct ana_hotspot_sample *s);
	/*
	 * Called for each GPU of which something is estimated, when all is walked; may be NULL.
	 */
	void (*on_estimate)(void *arg, const struct ana_estimate_told *t);
	void *arg; /* of all of them */
};

struct view_trace; /* trace.h */

/*
 * Runs the engine over an opened trace. 0 and *out; -ENODATA: no device operations and no held
 * device; other negative errno. Reads the trace in one pass with bounded memory.
 */
int ana_run(struct view_trace *t, const struct ana_options *o, struct ana_result **out);
void ana_result_free(struct ana_result *r);

#endif
