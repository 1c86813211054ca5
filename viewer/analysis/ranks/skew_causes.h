/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose time it was that a rank waited in a collective: what the late one did more of than the
 * waiting one since the two were even, and where that was waiting elsewhere, whoever made it wait.
 * Private to charge.c, which books it.
 */
#ifndef ANALYSIS_CAUSES_H
#define ANALYSIS_CAUSES_H

#include "attribute_skew.h"

#define ANA_PAID_MAX 256u /* of a GPU's waits that others' lateness may go back to */
#define ANA_NOBODY UINT32_MAX

struct ana_base {
	bool known;
	int64_t t; /* on the GPU's own clock */
	int64_t cum[ANA_CLASSES];
};

struct ana_stand { /* where a member stood at the end of a collective of the group */
	struct ana_base last; /* the last one */
	struct ana_base even; /* the last one at which all were even */
	struct ana_base aged, older; /* one that is a step old at most, and the one before it */
};

struct ana_paid { /* a ring */
	struct {
		int64_t t; /* on the GPU's own clock */
		int64_t ns;
		uint32_t culprit;
		int c;
	} at[ANA_PAID_MAX];
	uint32_t next, count;
	struct ana_base recent; /* when it last met anybody */
};

struct share {
	uint32_t culprit;
	int c;
	int64_t weight, ns;
};

struct shares {
	struct share at[ANA_CLASSES + ANA_PAID_MAX + 1];
	size_t count;
	__int128 total;
};

/*
 * Fills @s with who is to blame that @late came after @waiting, and with what, by weight. @il, @iw:
 * their indices in the group. There is at least one.
 */
void ana_causes_find(const struct ana_charge *c, uint32_t group, const struct ana_arrival *late,
		     size_t il, const struct ana_arrival *waiting, size_t iw, struct shares *s);

/* Parts of @ns by weight, to the nanosecond. */
void ana_causes_split(struct shares *s, int64_t ns);

/* By class, how much more of it @a had than @b since they were even. */
void ana_causes_excess(const struct ana_charge *c, uint32_t group, const struct ana_arrival *a,
		       size_t ia, const struct ana_arrival *b, size_t ib, int64_t out[ANA_CLASSES]);

#endif
