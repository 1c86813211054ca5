/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole bill: what runs recorded beside what the scheduler gave away (`sacct -P`) and what the
 * provider charged (FOCUS). Both files are taken as they come: whatever cannot be read is counted
 * and left out.
 *
 * Recorded time counts by how much of it lies in the stretch that is asked for, whenever the run
 * began, and so do what a job was given and what a row of the invoice charges: LEDGER 13. Of a job
 * no more is recorded than it was given.
 *
 * What an invoice charges for GPU-hours is told apart by one price, its own on average:
 *	recorded	what the recorded runs cost at their own prices
 *	price		what the invoice charged for these hours, less that
 *	unrecorded	hours that jobs were given and nobody recorded (with sacct)
 *	unallocated	hours that were paid and no job was given; without sacct: or not recorded
 *	unexplained	all other charges: rows that count no GPU-hours, and hours that were recorded
 *			or given beyond those that were paid
 * These sum to the invoice, exactly, and are shown in cents that do.
 */
#ifndef FLEET_WHOLE_H
#define FLEET_WHOLE_H

#include "rollup.h"

struct fleet_store;
struct fleet_currency;

/* Of an account; "" is a job without one. All in ns of GPU time. */
struct fleet_account {
	const char *name;
	base_wide jobs, allocated_ns, recorded_ns, opted_out_ns;
};

struct fleet_allocated {
	bool asked;
	struct fleet_account *account; /* most time first */
	size_t accounts;
	struct fleet_account total;
	base_wide beyond_ns; /* recorded of jobs beyond what they were given */
	base_wide elsewhere_ns; /* recorded of runs that are of none of these jobs */
	uint64_t bad; /* lines that cannot be read */
	int64_t undated; /* jobs without a start, which count as a whole */
};

enum fleet_charge {
	FLEET_CHARGE_RECORDED,
	FLEET_CHARGE_PRICE,
	FLEET_CHARGE_UNRECORDED,
	FLEET_CHARGE_UNALLOCATED,
	FLEET_CHARGE_UNEXPLAINED,
	FLEET_CHARGES
};
extern const char *const fleet_charge_names[FLEET_CHARGES]; /* recorded price_difference ... */
extern const char *const fleet_charge_words[FLEET_CHARGES];

#define FLEET_PICO ((base_wide)1000000000000) /* of a dollar: what an invoice is added up in */

struct fleet_invoice {
	bool asked;
	char currency[16];
	base_wide total; /* pico-dollars of all rows, by what of them lies in the stretch */
	base_wide gpu; /* of those that count GPU-hours */
	base_wide gpu_ns; /* these hours */
	base_wide recorded_ns, unpriced_ns; /* of the runs */
	base_wide charge[FLEET_CHARGES]; /* pico-dollars; sum to the total */
	int64_t cents[FLEET_CHARGES], total_cents; /* the same in cents */
	uint64_t rows, gpu_rows, bad;
	/* Of rows that a bound cuts: as they were charged, and what lies outside. */
	uint64_t cut_rows;
	base_wide cut, outside, outside_ns; /* pico-dollars; hours */
	int64_t cut_cents, outside_cents;
};

struct fleet_whole {
	struct base_arena mem;
	int64_t since_ns, until_ns; /* the stretch; of an invoice alone what its rows span */
	struct fleet_allocated allocated;
	struct fleet_invoice invoice;
};

/*
 * Reads the files that are named (NULL: not asked for) and holds the store's runs against them. 0
 * or negative errno, said on stderr: -EBADMSG for a file without the columns, or with charges in
 * several currencies, or in one that is neither dollars nor @currency (NULL: none).
 */
int fleet_whole_collect(struct fleet_whole *w, struct fleet_store *s, const struct fleet_query *q,
			const char *sacct, const char *invoice,
			const struct fleet_currency *currency);
void fleet_whole_fini(struct fleet_whole *w);

/* sacct.c: jobs out of a text; @on_job is called for each with GPUs. 0, -EBADMSG with *why. */
struct fleet_sacct_job {
	const char *cluster, *id, *account; /* valid during the call; cluster "": no such column */
	int64_t start_ns; /* INT64_MIN: not known */
	int64_t elapsed_s, gpus;
	bool opted_out;
};
typedef void fleet_on_job(void *arg, const struct fleet_sacct_job *job);
int fleet_sacct_read(const char *text, size_t len, fleet_on_job *on_job, void *arg, uint64_t *bad,
		     const char **why);

/* invoice.c: charges out of a text, as above. */
struct fleet_charge_row {
	base_wide pico;
	base_wide gpu_ns; /* 0: it counts no GPU-hours */
	int64_t start_ns, end_ns; /* the same: it belongs to where it begins */
	const char *currency;
};
typedef void fleet_on_charge(void *arg, const struct fleet_charge_row *row);
int fleet_invoice_read(const char *text, size_t len, fleet_on_charge *on_charge, void *arg,
		       uint64_t *bad, const char **why);

/* "-12.3400000001", "1.2E-5" to @unit-ths, half to even. False: no number, or too large. */
bool fleet_decimal(const char *text, base_wide unit, base_wide *v);

/* Cents of amounts of either sign that sum to @total: see fleet_close. */
void fleet_close_signed(const base_wide *amount, size_t n, int64_t total, base_wide quantum,
			int64_t *quanta);

/* whole_out.c */
struct fleet;
void fleet_whole_text(const struct fleet *f, FILE *out);
void fleet_whole_csv(const struct fleet_whole *w, FILE *out);
struct base_jsonout;
void fleet_whole_json(const struct fleet_whole *w, struct base_jsonout *j);
/* Sentences, NULL after the last. */
const char *const *fleet_whole_words(const struct fleet_whole *w, struct base_arena *mem);

#endif
