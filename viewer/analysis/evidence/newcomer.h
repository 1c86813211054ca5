/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of a gap that ends with the work of a thread that had not begun: a server starts a thread
 * of its own for each request. No sample is of the thread then, so those tell who may start it
 * (docs/LEDGER.md, 6, waits for work). One thread.
 */
#ifndef ANALYSIS_NEWCOMER_H
#define ANALYSIS_NEWCOMER_H

#include "cause.h"

/*
 * Whether nothing was seen of the thread before @t, where one had been there to be seen. @left: who
 * gave the operation before the gap; 0: not known.
 */
bool ana_newcomer(const struct ana_evidence *e, uint32_t tid, uint32_t left, int64_t t);

/*
 * The piece that @b was begun with, of such a thread @tid: host.no_work until the thread was first
 * seen, if all who may start it wait for requests. False: it is not known.
 */
bool ana_newcomer_cause(struct ana_cause *b, struct ana_evidence *e, uint32_t tid);

#endif
