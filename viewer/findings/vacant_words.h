/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in which a job had GPUs and no process of it used them, in words: before the first run on a
 * GPU, between runs, after the last one, never used, or not known (LEDGER 12).
 */
#ifndef VIEW_VACANT_WORDS_H
#define VIEW_VACANT_WORDS_H

#include "model/model.h"

struct view_vacant {
	enum ana_vacant part;
	int64_t ns, nano_usd;
	int64_t quanta; /* of what is shown: they close to what the class is shown as */
};

/* "before the first run", "between runs", ... */
extern const char *const view_vacant_words[ANA_VACANTS];

/* Those parts that there are, in order; how many. */
size_t view_vacants(const struct view_summary *s, struct view_vacant part[ANA_VACANTS]);

/*
 * Is it worth a line? Not where next to nothing was unused, nor where it is all of GPUs that were
 * never used, of which others tell.
 */
bool view_vacancy_told(const struct view_summary *s);

/* "2 gaps, the longest 10.0 s"; of one "1 gap of 10.0 s". */
const char *view_vacancy_gaps(const struct view_summary *s, struct base_arena *mem);

/* "no process used what the job had for 37.0 ¢: 1.00 ¢ before the first run, ..."; NULL: not told. */
const char *view_vacancy_sentence(const struct view_summary *s, struct base_arena *mem);

/* Behind it, where tasks were not recorded; NULL: all were. */
const char *view_vacancy_unseen(const struct view_summary *s, struct base_arena *mem);

#endif
