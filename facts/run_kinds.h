/* SPDX-License-Identifier: Apache-2.0 */
/* What a run is, and what tells: run_kinds.def. */
#ifndef FACTS_RUN_KINDS_H
#define FACTS_RUN_KINDS_H

enum facts_run_kind {
#define RUN_KIND(symbol, name, work) FACTS_RUN_##symbol,
#include "run_kinds.def"
	FACTS_RUN_KINDS
};

enum facts_run_sign {
#define RUN_SIGN(symbol, name, words) FACTS_SIGN_##symbol,
#include "run_kinds.def"
	FACTS_RUN_SIGNS
};

extern const char *const facts_run_kinds[FACTS_RUN_KINDS];
extern const char *const facts_run_work[FACTS_RUN_KINDS];
extern const char *const facts_run_time[FACTS_RUN_KINDS]; /* "training time" */
extern const char *const facts_run_signs[FACTS_RUN_SIGNS];
extern const char *const facts_run_sign_words[FACTS_RUN_SIGNS];

#endif
