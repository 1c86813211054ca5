/* SPDX-License-Identifier: Apache-2.0 */
#include "run_kinds.h"

const char *const facts_run_kinds[FACTS_RUN_KINDS] = {
#define RUN_KIND(symbol, name, work) name,
#include "run_kinds.def"
};

const char *const facts_run_work[FACTS_RUN_KINDS] = {
#define RUN_KIND(symbol, name, work) work,
#include "run_kinds.def"
};

const char *const facts_run_time[FACTS_RUN_KINDS] = {
#define RUN_KIND(symbol, name, work) (work " time"),
#include "run_kinds.def"
};

const char *const facts_run_signs[FACTS_RUN_SIGNS] = {
#define RUN_SIGN(symbol, name, words) name,
#include "run_kinds.def"
};

const char *const facts_run_sign_words[FACTS_RUN_SIGNS] = {
#define RUN_SIGN(symbol, name, words) words,
#include "run_kinds.def"
};
