/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose time it was that a rank waited in a collective: what the late one did more of than the
 * waiting one since the two were even (attribute_skew.h), and where that was waiting elsewhere,
 * whoever made it wait.
 * Private to attribute_skew.c, which counts it.
 */
#ifndef ANALYSIS_SKEW_CAUSES_H
#define ANALYSIS_SKEW_CAUSES_H

#include "skew_shares.h"
#include "skew_state.h"

#define ANA_RECENT_WAITS_MAX ANA_SKEW_OTHERS /* that others' lateness may go back to, of a GPU */

struct ana_class_sums { /* a GPU's time by class up to a moment */
	bool known;
	int64_t t; /* on the GPU's own clock */
	int64_t cum[ANA_CLASSES];
};

/* From when on a member may be compared: its sums at the ends of some collectives of the group. */
struct ana_baselines {
	struct ana_class_sums last; /* the last one */
	struct ana_class_sums even; /* the last one at which all members were even */
	struct ana_class_sums aged,
		older; /* taken once per step: the last so taken, the one before */
};

struct ana_recent_waits { /* of one GPU: a ring of the last ones, with who caused each */
	struct {
		int64_t t; /* on the GPU's own clock: its begin; in a send or receive its end */
		int64_t ns;
		uint32_t culprit;
		int c;
	} at[ANA_RECENT_WAITS_MAX];
	uint32_t next, count;
	struct ana_class_sums recent; /* at the end of what was matched last, of any group */
};

struct ana_skew_member { /* of the group: in one collective */
	const struct ana_arrival *arrival;
	size_t at; /* index in the group */
};

/*
 * Fills @s with who is to blame that @late came after @waiting, and with what, by weight. There is
 * at least one.
 */
void ana_skew_causes_find(const struct ana_skew_attribution *c, uint32_t group,
			  const struct ana_skew_member *late, const struct ana_skew_member *waiting,
			  struct ana_skew_shares *s);

/*
 * The same of a send and its receive, by their GPUs' paths (path.h), for a wait of @ns: what is not
 * known of that is nobody's.
 */
void ana_skew_causes_of_pair(const struct ana_skew_attribution *c, uint32_t late, uint32_t waiting,
			     int64_t ns, struct ana_skew_shares *s);

/* Parts of @ns by weight, to the nanosecond. */
void ana_skew_causes_split(struct ana_skew_shares *s, int64_t ns);

/* By class, how much more time @a spent on it than @b since they were even. */
void ana_skew_causes_excess(const struct ana_skew_attribution *c, uint32_t group,
			    const struct ana_skew_member *a, const struct ana_skew_member *b,
			    int64_t out[ANA_CLASSES]);

#endif
