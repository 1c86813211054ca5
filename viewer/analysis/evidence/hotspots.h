/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hotspots: the time of classes by line of code, role and what was waited for. At most
 * ANA_HOTSPOTS_MAX of them; the time of others is counted together. One thread.
 */
#ifndef ANALYSIS_HOTSPOTS_H
#define ANALYSIS_HOTSPOTS_H

#include "cause.h"
#include "hotspot_chain.h"
#include "targets.h"
#include "analysis/ledger.h"

#define ANA_HOTSPOTS_MAX 4096u
#define ANA_HOTSPOT_THREADS_MAX 256u

struct ana_observer; /* observer.h */

struct ana_hotspot_row {
	struct ana_hotspot hotspot; /* its texts are owned */
	uint64_t hash;
	int64_t by[ANA_CONFIDENCES]; /* time */
	/* for how long its pieces count among those without samples (unsampled.h) */
	int64_t stand_ns[ANA_PIECE_KINDS];
	/*
	 * Which leaf and which native frame had most of the time is found by majority vote (Boyer
	 * and Moore): the candidate's time less that of all others since it became the candidate.
	 */
	int64_t leaf_lead, native_lead, cpu_lead;
	struct ana_hotspot_chain chain;
	uint64_t chain_piece; /* the piece and the path that it was last told of */
	uint32_t chain_path;
	uint64_t *thread; /* those seen */
	uint32_t threads, thread_room;
};

struct ana_hotspots {
	struct ana_hotspot_row *row;
	uint32_t count, room;
	uint32_t *slot; /* by hash, UINT32_MAX: free */
	uint32_t mask;
	int64_t other_ns;
	struct ana_targets targets;
	/* pieces without samples, by what their neighbours tell; and of these what is medium */
	int64_t nearby_ns[ANA_PIECE_KINDS][ANA_CLASSES], medium_ns[ANA_PIECE_KINDS][ANA_CLASSES];
	uint64_t pieces; /* that were added */
	const struct ana_options *options; /* for on_hotspot_sample; NULL: nobody listens */
	const struct ana_observer *observer; /* borrowed; NULL: nobody looks on */
	uint32_t process; /* whose evidence is added */
};

void ana_hotspot_fini(struct ana_hotspot *s); /* its texts */
void ana_hotspots_fini(struct ana_hotspots *s);

/* Adds what a decided piece gave to each class to the lines of its votes. 0 or -ENOMEM. */
int ana_hotspots_add(struct ana_hotspots *s, struct ana_evidence *e, const struct ana_cause *b);

/*
 * Time of a class that no sample saw: it goes to the lines of the class by what was seen of each,
 * in pieces of that kind if any was. Its confidence is low or medium.
 */
void ana_hotspots_add_nearby(struct ana_hotspots *s, enum ana_piece_kind kind, enum ana_class c,
			     enum ana_confidence confidence, int64_t ns);

/* Adds the hotspots of another part of the run. 0 or -ENOMEM. */
int ana_hotspots_merge(struct ana_hotspots *to, const struct ana_hotspots *from);

/* Of rows that were read (hotspots_kept.h): they are found by their keys again. 0 or -ENOMEM. */
int ana_hotspots_index(struct ana_hotspots *s);

/* The hotspots, most time first; the texts are now the caller's. 0 or -ENOMEM. */
int ana_hotspots_finish(struct ana_hotspots *s, struct ana_hotspot **out, size_t *count);

#endif
