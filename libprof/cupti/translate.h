/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One CUPTI record to one wire event: fields by fixed offsets (record.h), stamps checked, 32-bit
 * correlation ids extended. A pure function of the record and the translator's state. Sender
 * thread.
 */
#ifndef PROF_TRANSLATE_H
#define PROF_TRANSLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/event.h"
#include "wire/strtab.h"

enum prof_outcome { /* what a record was translated to */
	PROF_EVENT, /* *ev is filled */
	PROF_LAUNCH, /* the same, and it is a call that makes an operation: it launches a kernel */
	PROF_MAYBE_LAUNCH, /* or makes none: a copy of nothing, a graph of host functions */
	PROF_WAIT, /* the same, and it is a call that waits for operations */
	PROF_CAPTURED, /* the same, and it ends a capture, whose launches made none */
	PROF_SKIP, /* not wanted */
	PROF_CANARY, /* our own sign of life (watchdog.h) */
	PROF_BAD, /* an operation with an unusable stamp; *ev is filled all the same */
	PROF_UNKNOWN, /* a kind that we do not read */
};

struct prof_call { /* one API function */
	uint32_t name; /* string id, 0: not wanted */
	bool seen;
	enum prof_outcome outcome; /* on its records */
};

struct prof_translator {
	uint64_t latest_corr; /* the extended id that the next one is compared with */
	int64_t earliest_ns, latest_ns; /* stamps outside are bad; set at each flush */
	struct wire_strtab *names;
	const uint32_t *record_bytes; /* by kind, from the probe */
	struct prof_call call[2][4096]; /* by domain and cbid */
};

void prof_translator_init(struct prof_translator *t, struct wire_strtab *names,
			  const uint32_t *record_bytes);

/* The window for stamps: an hour before the last flush to a second after now (LEDGER 2). */
void prof_translator_window(struct prof_translator *t, int64_t last_flush_ns, int64_t now_ns);

/* What kind of event (enum wire_kind) a CUPTI record of this kind becomes; 0: none. */
uint8_t prof_translate_kind(uint32_t record_kind);

enum prof_outcome prof_translate(struct prof_translator *t, const uint8_t *record,
				 struct wire_event *ev);

/*
 * A 32-bit id as the 64-bit one nearest to the latest: API records and operations of one call get
 * the same one, in whatever order they come, also over a wrap. 0 stays 0.
 */
uint64_t prof_corr_extend(uint64_t *latest, uint32_t id);

#endif
