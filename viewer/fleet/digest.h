/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a run: what an organisation keeps of it. At most 4 KB of JSON on one line
 * (docs/digest.schema.json), made of summary.json's numbers alone. Every figure is an integer: ns
 * of GPU time, nano-dollars (1e-9 USD), whole minutes. Digests add up: sums over runs are sums of
 * these.
 *
 * A run is known by (tenant, run). A digest with a higher revision takes the place of an earlier
 * one, so that a run counts once however often its digest is made or sent.
 *
 * Strings are bounded and tame: whole UTF-8, no control characters. Plain data, caller-owned.
 */
#ifndef FLEET_DIGEST_H
#define FLEET_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "summary/summary.h"

#define FLEET_DIGEST_SCHEMA "gpustarve.digest/1"
#define FLEET_DIGEST_BYTES_MAX 4096

#define FLEET_GPUS_MAX (1 << 24) /* of a line */
#define FLEET_LINES_MAX 6
#define FLEET_SHARES_MAX 48
#define FLEET_HOTSPOTS_MAX 6
#define FLEET_FIXES_MAX 4
#define FLEET_LABELS_MAX 12
#define FLEET_WORKS_MAX 12

#define FLEET_BANDS ANA_BANDS
extern const char *const fleet_band_names[FLEET_BANDS]; /* "under 5 %", "5-20 %", ... */

/* The GPUs of one name at one price. Amounts are 0 where no price is known. */
struct fleet_line {
	char gpu[80];
	char model[24]; /* on-demand, spot, ...; "" without a price */
	char label[64], source[80], date[16]; /* of the price */
	char asked[24]; /* without a price: the model that was asked for, "" for none */
	bool priced;
	int64_t nano_usd_per_hour;
	int64_t gpus;
	int64_t held_ns, busy_ns, starved_ns, wasted_ns;
	int64_t usd, starved_usd, wasted_usd;
	int64_t idle_usd; /* of the idle minutes */
	int64_t minutes[FLEET_BANDS];
};

struct fleet_share { /* of a class of the ledger; all of them sum to the lines */
	char class[32];
	int64_t ns, usd;
};

struct fleet_hotspot { /* time not well spent, at a line of code; worst first */
	char class[32];
	char place[160]; /* "train.py:41", the path as long as it fits */
	int64_t ns, usd;
};

struct fleet_fix { /* a piece of advice, with the most that it can save */
	char id[24], title[48], brief[80];
	char class[32], place[160]; /* where most of its class went; "" if unknown */
	int64_t ns, usd;
};

struct fleet_work { /* compute of a kind in a precision; all of them sum to the class */
	char kind[16], precision[12];
	int64_t ns, usd;
};

/* What saves kept and kills cost of all its GPUs (LEDGER 9), but SAVES_OTHER. */
#define FLEET_SAVES_PARTS SAVES_OTHER
struct fleet_saves {
	bool known;
	int64_t checkpoints, kills, failures; /* failures: of older ones among the kills */
	int64_t ns[FLEET_SAVES_PARTS], usd[FLEET_SAVES_PARTS];
};

/*
 * Of a job of which it is known what it was given: when no process of it used that (LEDGER 12). The
 * parts sum to the class excluded.no_process.
 */
struct fleet_vacancy {
	bool known;
	int64_t gaps, longest_ns, unseen_ns; /* as in struct ana_vacancy */
	int64_t ns[ANA_VACANTS], usd[ANA_VACANTS];
};

#define FLEET_ADVICE_MAX 12
struct fleet_program { /* program.h; fingerprint "": not known, and then nothing is */
	char fingerprint[17]; /* 16 digits of hex */
	char name[40]; /* "train.py" */
	int64_t steps;
	bool bound; /* at least so many: its last records are not known */
	char advice[FLEET_ADVICE_MAX][24]; /* ids of all that was given */
	size_t advices;
};

/* Of a job: when so many GPUs of a line were given to it and no run held them. job_rest.h */
#define FLEET_REST_SPANS_MAX 24
struct fleet_rest_span {
	uint8_t line;
	int64_t from_ns, wall_ns; /* since start_unix_ns; for so long */
	int64_t gpus;
	int64_t held_ns; /* of all of them: gpus * wall_ns, or less where several became one */
};

struct fleet_rest {
	int64_t job_ns; /* what the job held with all its runs; 0: it is no rest */
	struct fleet_rest_span span[FLEET_REST_SPANS_MAX]; /* of a line in order */
	size_t spans;
};

struct fleet_label {
	char key[40], value[80];
};

struct fleet_unit { /* what it brought forth: num / den of it, both above 0 */
	char name[VIEW_UNIT_NAME];
	int64_t num, den;
	enum view_outcome_bound bound; /* of a run that was killed, or failed */
};

enum fleet_end {
	FLEET_END_OK,
	FLEET_END_FAILED, /* by itself, with a status that is not 0; of older ones killed, too */
	FLEET_END_KILLED, /* its exit status is a signal's: above 128 */
	FLEET_END_LOST, /* no exit status, and its streams stop without an end */
	FLEET_END_UNKNOWN, /* no exit status; its processes said goodbye, or nobody tells of them */
	FLEET_ENDS
};
extern const char *const fleet_end_names[FLEET_ENDS]; /* ok failed killed lost unknown */
#define FLEET_SIGNALS 128 /* of an exit status: what is above is a signal's */

struct fleet_digest {
	char run[256]; /* no id of a run is longer */
	char tenant[64]; /* who sent it, as the collector's tokens tell; "" without */
	int64_t revision;
	uint32_t rules; /* of the ledger that gave its classes; 1 where nothing tells */
	/* whose it is; "" where nothing tells */
#define NAME(symbol, name, column, title, told) char name[64];
#include "facts/fleet_names.def"
	char job[64];
	enum fleet_end end;
	bool has_exit_status;
	int64_t exit_status;
	bool simulated;
	char verdict[24];
	int64_t start_unix_ns, wall_ns;
	struct fleet_line line[FLEET_LINES_MAX];
	size_t lines;
	struct fleet_share share[FLEET_SHARES_MAX];
	size_t shares;
	struct fleet_hotspot hotspot[FLEET_HOTSPOTS_MAX];
	size_t hotspots;
	struct fleet_fix fix[FLEET_FIXES_MAX];
	size_t fixes;
	struct fleet_label label_of[FLEET_LABELS_MAX];
	size_t labels;
	struct fleet_work work[FLEET_WORKS_MAX];
	size_t works;
	struct ana_units meters; /* known_ns 0: nobody asked them */
	struct fleet_unit unit[VIEW_OUTCOMES_MAX]; /* units.h */
	size_t units;
	struct fleet_saves saves; /* lost.h */
	struct fleet_vacancy vacancy; /* vacant.h */
	struct saves_chain chain; /* of a run of a job that may have others */
	struct fleet_program program; /* program.h */
	bool whole_job; /* of all runs of the scheduler's job: it takes their place */
	bool runs_overlap; /* of whole_job: some of them had a GPU at once */
	struct fleet_rest rest; /* of a scheduler's job, beside its runs: job_rest.h */
	int64_t left_out; /* rows and texts that a digest as JSON had no room for */
};

/*
 * Fills @d from a summary. @tenant (may be NULL): whose the run is whatever its labels say.
 * @revision: 0 takes the time of day in ns. 0 or -ENOMEM.
 */
int fleet_digest_make(struct fleet_digest *d, const struct view_summary *s, const char *tenant,
		      int64_t revision);

/*
 * A provisional digest: of a run that has ended and is not analysed yet. It has whose the run was,
 * what it held and what that cost; the verdict is FLEET_PROVISIONAL, and all time is of
 * FLEET_NOT_ANALYSED, which is no class of the ledger. Its revision is the time of day in seconds,
 * and so lower than any that is a time in nanoseconds: whatever comes first, the digest holds.
 */
#define FLEET_PROVISIONAL "provisional"
#define FLEET_NOT_ANALYSED "not_analysed"
#define FLEET_REVISION_PROVISIONAL (INT64_C(1) << 40) /* all provisional ones are below */

/*
 * Makes it one. @s: of ana_options.held_only. Of a job that has a rest it is that, with such a
 * revision. 0 or -ENOMEM.
 */
int fleet_digest_make_provisional(struct fleet_digest *d, const struct view_summary *s,
				  const char *tenant);

/*
 * What nobody recorded, of who was seen to hold GPUs (`gpustarve node`): its kind, its verdict and
 * its only class, which is none of the ledger.
 */
#define FLEET_UNWRAPPED "unwrapped"

/* Makes @tenant the one whose it is, whatever its labels say. */
void fleet_digest_own(struct fleet_digest *d, const char *tenant);

/*
 * As one line of JSON with its newline, at most FLEET_DIGEST_BYTES_MAX: what does not fit is left
 * out from the end of the fixes, the labels and the lines of code, never of what is summed. Then
 * rows of what is summed become one: of compute, of GPUs (never one with a price and one without).
 * Then long texts of GPUs and prices are cut, what is told of the program and then of
 * restarts goes, the smallest classes become one, "several", and names are cut, but for run and
 * tenant. At last parts of no_process become its unknown one. How many all those were is its
 * left_out. Allocated; NULL without memory.
 */
char *fleet_digest_write(const struct fleet_digest *d);

/*
 * Reads one. 0; -EBADMSG with *why (static) for what is no digest, among them those of a later
 * version. Unknown members are passed over; numbers beyond what sums can take are refused.
 */
int fleet_digest_read(struct fleet_digest *d, const char *text, size_t len, const char **why);

/* The Monday of the week (UTC) in which it began, "2026-11-09". */
void fleet_week(char out[16], int64_t unix_ns);

/* Texts that a store keeps of a run besides, to ask by. */
struct fleet_derived {
	char week[16];
	char exit_status[24]; /* decimal; "" without */
};

struct fleet_derived fleet_digest_derive(const struct fleet_digest *d);

/* Sums over the lines. */
int64_t fleet_digest_held_ns(const struct fleet_digest *d);
int64_t fleet_digest_usd(const struct fleet_digest *d);
bool fleet_digest_priced(const struct fleet_digest *d);

/* Copies @text as far as it fits, in whole characters, without controls. NULL gives "". */
void fleet_tame(char *out, size_t room, const char *text);

#endif
