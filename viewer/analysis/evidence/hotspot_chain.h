/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain of waits that led to a hotspot: of several the one that had most of the time, by
 * majority vote as for the other texts of a hotspot. Kept as text while hotspots are gathered, a
 * line for each thread: who, what it waits in, function, file and line, with tabs between them. One
 * thread.
 */
#ifndef ANALYSIS_HOTSPOT_CHAIN_H
#define ANALYSIS_HOTSPOT_CHAIN_H

#include "chain.h"

#define ANA_CHAIN_NAP "sleep" /* between looks for the next item */

struct ana_hotspot_chain { /* zero-initialise */
	char *text; /* NULL: none yet; empty: that there is none */
	int64_t lead;
	struct {
		uint64_t samples;
		uint8_t confidence; /* enum ana_confidence, the worst */
	} link[ANA_CHAIN_DEPTH + 1];
};

void ana_hotspot_chain_fini(struct ana_hotspot_chain *c);

/*
 * @ns of the hotspot came by this path; @again: its samples have been counted. 0 or -ENOMEM.
 */
int ana_hotspot_chain_add(struct ana_hotspot_chain *c, struct ana_evidence *e,
			  const struct ana_chain_path *path, int64_t ns, bool again);

/* @ns of it came by no path: where that is most, no chain is told. 0 or -ENOMEM. */
int ana_hotspot_chain_none(struct ana_hotspot_chain *c, int64_t ns);

/* "who\tfunction\tfile\tline" of the thread of a sample. False: no room. */
bool ana_hotspot_chain_tell(char *out, size_t room, struct ana_evidence *e,
			    const struct wire_sample *w);

/* That of another part of the run, which had @ns. */
int ana_hotspot_chain_merge(struct ana_hotspot_chain *to, const struct ana_hotspot_chain *from,
			    int64_t ns);

/* Into the hotspot, whose texts are owned. 0 or -ENOMEM. */
int ana_hotspot_chain_put(const struct ana_hotspot_chain *c, struct ana_hotspot *out);

#endif
