/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a thread was inside calls of the GPU's driver or runtime that took a while, for the last
 * seconds, whatever is decided meanwhile: what tells which of its lines give the GPU work or wait
 * for it (LEDGER 6, work before a copy). Caller-owned; zero-initialise. One thread.
 */
#ifndef ANALYSIS_LONGCALLS_H
#define ANALYSIS_LONGCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ANA_LONGCALL_NS 20000

struct ana_longcall {
	int64_t start, end;
};

struct ana_longcalls {
	struct ana_longcall *call; /* [head, tail), disjoint, in order */
	size_t head, tail, room;
};

/* Starts do not go back; shorter calls are left out. 0 or -ENOMEM. */
int ana_longcalls_add(struct ana_longcalls *c, int64_t start, int64_t end);
void ana_longcalls_fini(struct ana_longcalls *c);

struct ana_archive; /* archive.h */
void ana_longcalls_archive(struct ana_longcalls *c, struct ana_archive *a);

bool ana_longcalls_at(const struct ana_longcalls *c, int64_t t);

#endif
