/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two real steps of a run from near: what the GPUs, the main process and those who make batches did
 * in them. Chosen while the run is walked, drawn from the blocks of the trace that lie in them, so
 * that a run costs no more than these two steps. Which steps, and what each letter says, LEDGER 8
 * has.
 *
 * Owned by the result (ana_result.picture), freed with it.
 */
#ifndef ANALYSIS_PICTURE_H
#define ANALYSIS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analysis/ledger.h"

#define ANA_PICTURE_CELLS 160u /* equal parts of a step, a letter each */
#define ANA_PICTURE_GPUS 4u /* rows of a step, at most; others are counted */
#define ANA_PICTURE_WORKERS 8u
#define ANA_PICTURE_FEW 3u /* samples: fewer of a thread tell no line by themselves */
#define ANA_PICTURE_ROWS (ANA_PICTURE_GPUS + 1u + ANA_PICTURE_WORKERS)

enum ana_picture_state {
#define PICTURE(symbol, name, letter, words) ANA_DOES_##symbol,
#include "facts/picture.def"
	ANA_DOES
};
struct ana_picture_word {
	char letter;
	const char *name, *words;
};
extern const struct ana_picture_word ana_picture_words[ANA_DOES];

enum ana_picture_absent {
	ANA_PICTURE_DRAWN,
	ANA_PICTURE_NO_STEPS,
	ANA_PICTURE_NO_SAMPLES, /* no look at any thread was recorded */
	ANA_PICTURE_TOO_MANY, /* more operations in a step than are drawn */
	ANA_PICTURE_ABSENTS
};
extern const char *const ana_picture_absent_names[ANA_PICTURE_ABSENTS]; /* [DRAWN] is NULL */
extern const char *const ana_picture_absent_words[ANA_PICTURE_ABSENTS];

enum ana_picture_which {
	ANA_PICTURE_MEDIAN,
	ANA_PICTURE_WORST,
	ANA_PICTURES
};
extern const char *const ana_picture_names[ANA_PICTURES];

enum ana_picture_kind {
	ANA_ROW_GPU,
	ANA_ROW_MAIN,
	ANA_ROW_WORKER,
	ANA_ROW_KINDS
};
extern const char *const ana_picture_kinds[ANA_ROW_KINDS];

struct ana_picture_row {
	enum ana_picture_kind kind;
	int64_t number; /* of a GPU: in ana_result.gpu; of a worker: the loader's, else -1 */
	int64_t pid, tid; /* not of a GPU */
	char cell[ANA_PICTURE_CELLS + 1]; /* what took most of each part; a text */
	/*
	 * of a GPU: of each part the eighths in which an operation ran, rounded up: '0' to '8'; a
	 * text
	 */
	char eighth[ANA_PICTURE_CELLS + 1];
	int64_t ns[ANA_DOES]; /* exact; they sum to the step */
	uint64_t samples; /* looks at this thread that stand in the step */
	/* the line that most of them show at work or waiting; file NULL: none does */
	char *function, *file;
	uint32_t line;
	uint64_t line_samples;
	bool line_tied; /* another line tells as much: the one that cost the run more is named */
	enum ana_picture_state line_state; /* of most of these */
};

struct ana_picture_step {
	struct ana_step step;
	struct ana_picture_row row[ANA_PICTURE_ROWS];
	size_t rows, gpus_left_out, workers_left_out;
};

struct ana_picture {
	enum ana_picture_absent absent; /* DRAWN: both steps are there */
	struct ana_picture_step at[ANA_PICTURES];
};

void ana_picture_row_fini(struct ana_picture_row *r); /* its texts */
void ana_picture_free(struct ana_picture *p);

#endif
