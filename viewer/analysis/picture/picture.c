/* SPDX-License-Identifier: Apache-2.0 */
/* Its words, and its end. */
#include "picture.h"

#include <stdlib.h>

const struct ana_picture_word ana_picture_words[ANA_DOES] = {
#define PICTURE(symbol, name, letter, words) { letter, name, words },
#include "facts/picture.def"
};

const char *const ana_picture_absent_names[ANA_PICTURE_ABSENTS] = { NULL, "no_steps", "no_samples",
								    "too_many" };

const char *const ana_picture_absent_words[ANA_PICTURE_ABSENTS] = {
	[ANA_PICTURE_NO_STEPS] = "no steps were found in this run",
	[ANA_PICTURE_NO_SAMPLES] = "no samples of the host's threads were recorded",
	[ANA_PICTURE_TOO_MANY] = "the slowest or the usual step has more operations than are drawn",
};

const char *const ana_picture_names[ANA_PICTURES] = { "median", "worst" };

const char *const ana_picture_kinds[ANA_ROW_KINDS] = { "gpu", "main", "worker" };

void ana_picture_row_fini(struct ana_picture_row *r)
{
	free(r->function);
	free(r->file);
	r->function = r->file = NULL;
}

void ana_picture_free(struct ana_picture *p)
{
	if (!p)
		return;
	for (int k = 0; k < ANA_PICTURES; k++)
		for (size_t i = 0; i < p->at[k].rows; i++)
			ana_picture_row_fini(&p->at[k].row[i]);
	free(p);
}
