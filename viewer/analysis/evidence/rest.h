/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether those at the ends of a chain did more than sleep: who only sends a word now and then
 * makes no batch, and who only asks is a visitor. docs/LEDGER.md, 6.4 (*works*). One thread.
 */
#ifndef ANALYSIS_REST_H
#define ANALYSIS_REST_H

#include <stdbool.h>
#include "cause.h"

/* Whether the thread worked for a tenth of its time since 2 s before the piece of @b. */
bool ana_rest_works(const struct ana_cause *b, struct ana_evidence *e,
		    const struct ana_thread_samples *s);

/* None at the ends of b->chain works. */
bool ana_rest_all(const struct ana_cause *b, struct ana_evidence *e);

/* All at the ends of b->chain were seen to serve since 2 s before the piece, and none works. */
bool ana_rest_servers(const struct ana_cause *b, struct ana_evidence *e);

/*
 * All that b->chain found comes from somebody who connected to the process, sends now and
 * then, and else waits for its answers or sleeps: visitors with requests, though they be processes
 * of the job. Asked once of a chain.
 */
bool ana_rest_visitors(struct ana_cause *b, struct ana_evidence *e);

#endif
