/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the summary of a run holds: the engine's result, the dollars, the run's identity, and what
 * follows from them: findings, advice, remarks. Every number that any page prints stands here and
 * in summary.json. summary/ makes, writes and reads it; findings/ fills its causes.
 *
 * Plain data once made; any thread may read it.
 */
#ifndef VIEW_MODEL_H
#define VIEW_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/ledger.h"
#include "analysis/worker_state.h"
#include "base/arena.h"
#include "core/unit.h"
#include "core/worker_count.h"
#include "cost/cost.h"
#include "cost/machine.h"
#include "facts/run_kinds.h"
#include "job/identity.h"
#include "saves/insurance.h"

struct view_link { /* one thread of a chain of waits; strings NULL if unknown */
	const char *who, *waits_in; /* NULL: the last, who makes what is waited for */
	const char *file, *function;
	uint32_t line;
	uint64_t samples;
	enum ana_confidence confidence;
};

/*
 * Whose line it was and what the thread did there, as samples showed it. Strings: NULL if unknown.
 */
struct view_hotspot {
	bool known; /* false: nothing below says anything */
	uint8_t role; /* enum wire_role */
	uint8_t wait; /* enum wire_wait; of most of the time, as are the strings */
	bool runnable; /* it could run and had no CPU */
	const char *file, *function;
	uint32_t line; /* 0: not known */
	const char *leaf; /* the innermost frame, "function\tfile", where that is another one */
	const char *native, *symbol; /* the native frame below it, and its name */
	const char *has_cpu; /* runnable: who ran meanwhile, "who\tfunction\tfile\tline" */
	const char *target, *fs;
	uint64_t targets; /* different ones */
	uint64_t samples; /* that show it */
	uint32_t threads, workers; /* seen in it; at least */
	uint8_t feeder; /* enum facts_feeder: by which library or pool, as the stack tells */
	const struct view_link *chain; /* from who waits to whose line this is */
	size_t chains;
	/* others waited for this rank inside collectives; of that hotspot only the line is told */
	bool late;
	int32_t rank;
};

/* Time not well spent, worst first: of a class, at a hotspot; or of what is left of the class. */
struct view_finding {
	enum ana_class class;
	struct view_hotspot where;
	bool rest; /* other findings show where the rest of this class went */
	int64_t ns, ppm; /* of gpu_ns */
	int64_t nano_usd;
	int64_t of_starved_ppm; /* -1: not input.* */
	int64_t lines_ns; /* of the ns of a rest: at lines that each took too little to be told */
	int64_t nearby_ns; /* of ns: pieces without samples, that share what others show */
	enum ana_confidence confidence; /* that of most of its time that samples saw */
	int64_t by_confidence[ANA_CONFIDENCES]; /* sums to ns */
	const char *basis; /* what proves it, in words */
};

struct view_own; /* findings/own_line.h */

struct view_advice {
	const char *id, *title, *why, *action;
	const char *brief; /* the action in a few words, for the verdict's "next:" */
	const char *change; /* the call to write instead: "Pool(processes=6)"; NULL: none */
	const struct view_own *own; /* findings/own_line.h; NULL: not found; not part of the file */
	enum ana_class class;
	int64_t saving_ns, saving_nano_usd; /* at most; savings of several never add up */
	int64_t saving_least_ns; /* 0: nothing is sure */
	int64_t makers,
		makers_now; /* of batches at a time: so many instead of ...; 0: not about these */
	bool with_need; /* the arithmetic of view_loader.need stands behind it */
};

struct view_file { /* or host, or peer, that threads were blocked on while GPUs waited for input */
	const char *path, *fs;
	int64_t blocked_ns; /* of GPU time */
	uint64_t samples; /* that show it */
	int64_t bytes_per_s; /* that these threads read meanwhile; -1: not known */
};

struct view_alert { /* that fired while the run went on */
	const char *by; /* who watched: run, collector */
	const char *condition, *text; /* as it was given; what was so, as a sentence */
	const char *metric, *unit; /* of the value */
	int64_t t_unix_ns, since_unix_ns; /* when it fired, when it began to hold */
	int64_t value;
	int budget_pct; /* 0: it was no budget */
	const char *exec; /* its command, NULL: none */
	int exec_status; /* how that ended, -1: not known */
};

/* What follows from what the engine knows of the loader (result->loader[0]). */
struct view_loader {
	int64_t trainers; /* that used it at once, at least 1; not part of the file */
	/* what workers did while GPUs waited for them; sum to 1e6; all 0: no worker was seen */
	int64_t share_ppm[ANA_WORKER_STATES];
	struct view_file *file; /* most blocked first */
	size_t files;
	int64_t fetch_ns; /* mean per batch and worker, waits for a CPU included; -1: not known */
	bool has_need;
	struct view_worker_facts facts;
	struct view_worker_count need;
	int64_t busy_ppm; /* of the workers' time in which they made batches; -1: there are none */
	int64_t saving_ns, saving_nano_usd; /* of the predicted step, at most */
	int64_t saving_least_ns; /* of most_step_ns */
	int64_t batch_bytes; /* read per batch; -1: not known */
	int64_t disk_ppm; /* of it not out of the page cache; -1: not known */
	int64_t read_bytes_per_s, needed_bytes_per_s; /* per trainer; -1: not known */
};

struct view_work { /* of compute: kernels of a kind and precision (LEDGER 3) */
	int place; /* in ana_work */
	const char *kind, *precision; /* facts/kinds.def */
	int64_t ns, nano_usd;
	uint64_t count;
};

struct view_job_part { /* a run of a job, or of those that a label joins */
	const char *id;
	const char *step; /* NULL: not known */
	int64_t restart; /* -1: not known */
	int64_t start_unix_ns, wall_ns; /* 0: not known */
	bool has_exit_status;
	int exit_status;
};

#define VIEW_SEGMENTS_MAX 64 /* that a summary lists */

/* What a kill costs, and what kills have cost (LEDGER 9). Dollars -1: not known. */
struct view_saves {
	uint64_t saves, whole, failed, synced, untold; /* as in struct view_insurance */
	uint64_t checkpoints, kills, failures;
	uint64_t starts; /* segments of the run, so many of which ended by a kill or failed */
	uint64_t unsure, deleted, unmoved; /* as in struct view_insurance, ... */
	uint64_t writtens, written_bytes; /* ... and these */
	int64_t written_ns; /* -1: nothing was */
	struct saves_state state; /* as in struct view_insurance */
	int64_t ns[SAVES_PARTS], nano_usd[SAVES_PARTS];
	const char *loss2; /* twice the integral of what is unsaved, ns x ns */
	int64_t instants_ns; /* over so much time */
	int64_t mean_ns, mean_nano_usd; /* what a kill loses on average, of all GPUs */
	int64_t worst_ns;
	int64_t now_ns, now_nano_usd; /* -1: it does not go on */
	int64_t every_ns; /* -1: not known */
	int64_t silent_ns, lost_silent_ns; /* as in struct view_insurance */
	int64_t start_up_ns; /* of a GPU, each time */
	int64_t exposed_ns; /* that a checkpoint kept a GPU waiting; -1: there is none */
	int64_t between_ns; /* kills and failures; as was seen, or by what others have published */
	bool between_seen;
	int64_t best_ns; /* interval; -1: not known */
	char grade; /* 0: none */
	bool has_spot;
	struct view_rate spot;
	int64_t spot_pays_ns; /* if kills are no more often than that; -1: never */
	struct saves_chain chain; /* for restarts under another run id */
	struct saves_segment *segment; /* the first ones */
	size_t segments;
};

/* What was written or saved and may be a checkpoint, or not. */
static inline bool view_saves_open(const struct view_saves *v)
{
	return v->unsure || v->unmoved || v->writtens;
}

struct view_label {
	const char *key, *value;
};

enum view_outcome_source {
	VIEW_OUTCOME_LOADER, /* batches that came, sample by sample */
	VIEW_OUTCOME_COUNTED, /* by the program: trace/counts.h */
	VIEW_OUTCOME_GIVEN, /* --unit */
	VIEW_OUTCOME_SOURCES
};
extern const char *const view_outcome_sources[VIEW_OUTCOME_SOURCES]; /* loader counted given */

/*
 * Of a run that was killed what came last may not have been told; what --unit said before a run
 * that failed it may not have brought forth; what several loaders gave may not all be what a model
 * was trained with.
 */
enum view_outcome_bound {
	VIEW_OUTCOME_EXACT,
	VIEW_OUTCOME_AT_LEAST,
	VIEW_OUTCOME_AT_MOST,
	VIEW_OUTCOME_BOUNDS
};
extern const char *const view_outcome_bounds[VIEW_OUTCOME_BOUNDS]; /* exact at_least at_most */

/* What the run brought forth: num / den of a unit. Samples of all ranks; epochs of each. */
struct view_outcome {
	const char *unit;
	int64_t num, den; /* both above 0 */
	enum view_outcome_source source;
	enum view_outcome_bound bound; /* of the count; the dollars' is the other one */
	/* dollars of view_unit_per() of it, half to even; -1: not known */
	int64_t nano_usd;
};
#define VIEW_OUTCOMES_MAX (VIEW_UNITS_MAX + 2)

struct view_kind { /* what the run is, and what tells; summary/kind.h */
	enum facts_run_kind kind;
	enum facts_run_sign sign[FACTS_RUN_SIGNS]; /* each once */
	size_t signs;
	/* of training time behind the GPUs' last operations, and of which classes it is */
	int64_t after_last_ns, after_last[ANA_CLASSES];
	int64_t no_work_after_ns; /* beside it, of host.no_work */
};

/* kind_words.c: what sentences call what it does: "training", of inference "inference". */
const char *view_work_word(const struct view_kind *k);
/* "training time", or the like; @outside: "time held". */
const char *view_whole_words(const struct view_kind *k, bool outside);
/*
 * @text, which is ours, with that word where it says "training"; in @mem where they differ. NULL of
 * NULL.
 */
const char *view_words_of_kind(const struct view_kind *k, struct base_arena *mem, const char *text);
/*
 * What saves nothing that a restart goes on from: of a service no work is lost but the requests
 * under way, and how long it held its GPUs says nothing about those (LEDGER 9).
 */
bool view_kind_serves(enum facts_run_kind kind);
#define VIEW_SERVING_WORDS "which saves nothing: a stop loses the requests under way"

struct view_summary {
	struct base_arena mem; /* everything below but the result and the cost */
	struct ana_result *result; /* owned; see result_in_mem */
	bool result_in_mem; /* it was read back and lies in mem */
	struct view_cost cost; /* owned */

	enum ana_window window;
	uint32_t rules; /* that gave the classes: ANA_RULES, or of a stored summary others */
	bool waste[ANA_CLASSES]; /* the waste set */
	int64_t wasted_ns; /* by it */
	int64_t starved_ns;

	const char *id;
	const char *path; /* where the run lies, as the user named it; not part of the file */
	bool no_projection; /* sums alone are shown; not part of the file */
	const char **command;
	size_t commands;
	int64_t start_unix_ns, wall_ns;
	bool has_exit_status;
	int exit_status;
	struct view_label *label;
	size_t labels;
	const char *user; /* NULL: not known */
	struct view_job_identity job; /* of the scheduler; unknown: there was none */
	const char **step; /* its steps that were recorded */
	size_t steps;
	struct view_job_part *part; /* the runs that were joined, as they began */
	size_t parts;
	const char **host;
	size_t hosts;
	int64_t ranks;
	struct view_kind kind;
	struct view_machine machine; /* of all its GPUs; VIEW_SEVERAL where they differ */

	struct view_finding *finding;
	size_t findings;
	struct view_advice *advice;
	size_t advices;
	struct view_loader loader;
	int64_t *rank_nano_usd; /* [result->ranks.rows]: of what each made the others wait */
	int64_t *left_nano_usd; /* the same: of left_ns */
	const char **note;
	size_t notes;
	struct view_saves *saves; /* NULL: nothing is known of saves, or there is nothing to tell */
	struct view_alert *alert; /* in the order in which they fired */
	size_t alerts;

	int64_t step_nano_usd; /* dollars per step, -1: not known */
	struct view_outcome outcome[VIEW_OUTCOMES_MAX]; /* of each unit one */
	size_t outcomes;
	int64_t useful_nano_usd; /* dollars per GPU-hour that was not wasted, -1: not known */
	int64_t sampler_ppm; /* what a utilisation sampler would have averaged */
};

/* Of view_kind_serves(), and recorded from end to end: its saves are NULL. */
bool view_serves(const struct view_summary *s);

/* From this length on a run is told what a monitor that looks every 15 s would have shown of it. */
#define VIEW_MONITOR_NS INT64_C(60000000000)

/* Sums that several pages show; all stand in summary.json. */
int64_t view_busy_ns(const struct view_summary *s);
int64_t view_working_ns(
	const struct view_summary *s); /* held, without what is outside of verdicts */
/*
 * Of working_ns, what the classes tell of: all but what was not recorded (struct ana_unrecorded).
 * What is saved is known of it alone.
 */
int64_t view_recorded_ns(const struct view_summary *s);

/* Most trainers at a time, in all or on the host that has most: those in turn are starts of one. */
int64_t view_trainers_at_once(const struct ana_result *r, bool one_host);
/* Of the whole run; 0: not known. result->steps are what sums go by. */
uint64_t view_steps_in_all(const struct view_summary *s);
int64_t view_gpu_starved_ns(const struct ana_gpu *g); /* with what lies under comm.skew */
int64_t view_gpu_working_ns(const struct ana_gpu *g); /* its training time */
int64_t view_gpu_after_last_ns(const struct ana_gpu *g); /* of it, behind its last operation */
int64_t view_gpu_nano_usd(const struct view_summary *s, size_t gpu);

/*
 * outcome.c: of what was told up to its end by a run whose end is known: all of it. Of one whose
 * processes ended without saying so, or that goes on, what came last may not have been told: so
 * many steps at least.
 */
enum view_outcome_bound view_told_bound(const struct view_summary *s);
/* "", "at least " of counts; "", "at most " of what each costs. */
extern const char *const view_bound_words[VIEW_OUTCOME_BOUNDS];
extern const char *const view_bound_each[VIEW_OUTCOME_BOUNDS];

/* Of the unit; NULL: not known. */
const struct view_outcome *view_outcome_of(const struct view_summary *s, const char *unit);
/*
 * Sets what a unit came to, in the place of one from a lesser source, with its dollars. @name stays
 * the caller's.
 */
void view_outcome_set(struct view_summary *s, const char *name, int64_t num, int64_t den,
		      enum view_outcome_source source, enum view_outcome_bound bound);
/* "1,024 samples, of the loader; $0.41 per 1,000"; the text lies in @mem. */
const char *view_outcome_words(const struct view_outcome *o, struct base_arena *mem);
/* "1,024 samples", "2.5 epochs" */
const char *view_outcome_count(const struct view_outcome *o, struct base_arena *mem);
/* "1,000 samples", "epoch", "million tokens" */
const char *view_outcome_each(const struct view_outcome *o, struct base_arena *mem);

/* step_work.c: how much of what is counted a step is of: num / den in so many steps. */
struct view_step_work {
	int64_t num, den; /* 0: not known */
	uint64_t steps;
	bool bound; /* of a run that was killed: up to its last record */
};
#define VIEW_STEP_WORK_TEXT 32
struct view_step_work view_step_work(const struct view_summary *s); /* samples */
int64_t view_step_work_each(const struct view_step_work *w); /* millionths; 0: not known */
/* By more than 1 %, and than a step more or less; false where one is not known. */
bool view_step_works_differ(const struct view_step_work *a, const struct view_step_work *b);
/* "8.00" */
const char *view_step_work_text(char out[VIEW_STEP_WORK_TEXT], const struct view_step_work *w);

/* work.c: what compute consists of, most time first. Returns how many rows there are. */
size_t view_work_rows(const struct view_summary *s, struct view_work rows[ANA_WORKS]);
/* "calls and kernels": what was given up at most to stay below --max-overhead. */
const char *view_given_up_words(const struct ana_recording *r);

/* "in steps"; by enum ana_phase. */
extern const char *const view_phase_words[ANA_PHASES];

/* Arithmetic in fp32 that tensor cores do in other precisions: matmul, attention, convolution. */
bool view_work_is_fp32(const struct view_work *w);

/* What working_ns leaves out, of what there was: "start-up and shutdown". */
const char *view_outside_words(const struct view_summary *s);

#endif
