/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lanes that end together, in twos, as pairs of a send and a receive would be, the nearest first
 * (one may be left alone); and whether each two leaves when all have come, or with some of them.
 */
#ifndef ANALYSIS_TWOS_H
#define ANALYSIS_TWOS_H

#include <stdbool.h>
#include <stdint.h>
#include "ends_follow.h"

#define ANA_TWOS_MAX 128u /* of more, each is compared with the one before it alone */

struct ana_twos { /* zero-initialise */
	uint32_t count;
	struct ana_follow *line; /* of each and each before it, or the one before it */
	int64_t *came, *left; /* of each, in the meeting at hand */
	uint32_t *part; /* by two, from 0 on */
	uint32_t parts;
};

/* 0 or -ENOMEM. */
int ana_twos_init(struct ana_twos *t, uint32_t count);
void ana_twos_fini(struct ana_twos *t);

/* They all met, and came and left is written. */
void ana_twos_met(struct ana_twos *t);

/* Whether those of one part leave with all of it, whenever they came. At first there is one, 0. */
bool ana_twos_meet(const struct ana_twos *t, uint32_t part);

/*
 * Finds the parts that meet each by itself: in which none follows another, while each of one
 * follows each of another. False: there are no such parts, or one.
 */
bool ana_twos_split(struct ana_twos *t);

#endif
