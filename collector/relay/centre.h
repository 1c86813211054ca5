/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which store the centre said last that it has (store/epoch.h): kept in BASE/.upstream-centre,
 * where what may remove runs here reads it, too. One thread.
 */
#ifndef COLL_CENTRE_H
#define COLL_CENTRE_H

#include <stdbool.h>
#include <stdint.h>
#include "store/epoch.h"

#define COLL_CENTRE_FILE ".upstream-centre"
#define COLL_CENTRE_MUTE "-" /* one that does not say */

struct coll_centre {
	char id[COLL_EPOCH_ID_BYTES];
	uint64_t start; /* 0: mute */
	unsigned int parents;
	char parent[COLL_EPOCH_PARENTS][COLL_EPOCH_ID_BYTES];
	char text[COLL_EPOCH_BYTES]; /* as it said */
};

void coll_centre_mute(struct coll_centre *c);

/* What the header says. False: it makes no sense, *c is as before. */
bool coll_centre_read(struct coll_centre *c, const char *text);

static inline bool coll_centre_is_mute(const struct coll_centre *c)
{
	return !c->start;
}

/* The last one that was kept in the folder @base_fd, or a mute one. */
void coll_centre_load(struct coll_centre *c, int base_fd);

/* 0 or -errno. */
int coll_centre_save(const struct coll_centre *c, const char *base);

#endif
