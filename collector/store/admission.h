/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who says what a store may take: the store asks before it opens a stream or appends to one, and
 * says what it has closed. It knows nothing else of limits and quotas. Plain data; NULL: nobody is
 * asked.
 */
#ifndef COLL_ADMISSION_H
#define COLL_ADMISSION_H

#include <stdint.h>

struct coll_admission {
	void *by; /* who is asked: first argument of the calls */
	void *account; /* what the store's use is counted on */
	/* A stream in the run directory @dir. 0: counted until closed; -EUSERS, -ENOMEM. */
	int (*open)(void *by, const char *dir);
	void (*closed)(void *by, const char *dir);
	/* @len bytes more for a stream of @size. 0: they are counted; -EFBIG, -EDQUOT, -ENOSPC. */
	int (*append)(void *by, void *account, uint64_t size, uint64_t len);
};

static inline int coll_admission_open(const struct coll_admission *a, const char *dir)
{
	return a->open ? a->open(a->by, dir) : 0;
}

static inline void coll_admission_closed(const struct coll_admission *a, const char *dir)
{
	if (a->closed)
		a->closed(a->by, dir);
}

static inline int coll_admission_append(const struct coll_admission *a, uint64_t size, uint64_t len)
{
	return a->append ? a->append(a->by, a->account, size, len) : 0;
}

#endif
