/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the list of robust locks to the description of the thread, struct pthread, whose first and
 * third words point to itself (tcbhead_t); from there down the stack, and up to its function.
 */
#include "stacktop.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "callsite.h"
#include "native.h"

#define BEFORE_LIST 1024u /* bytes of struct pthread before the list: 736 in glibc 2.4 to 2.42 */
#define BEHIND_LIST 1024u /* and behind it: the function stands 856 behind it in 2.36 */
#define ALIGNED 16u
#define LEAST 2048u /* of a stack that is smaller than what is asked for */

struct description {
	uint64_t list, self;
	uint64_t word[(BEFORE_LIST + BEHIND_LIST) / 8];
};

static int find_list(pid_t tid, uint64_t *list)
{
	void *head = NULL;
	size_t len;

	if (syscall(SYS_get_robust_list, tid, &head, &len))
		return errno == ESRCH ? -ESRCH : -ENOENT;
	*list = (uintptr_t)head;
	return head ? 0 : -ENOENT;
}

static uint64_t at(const struct description *d, uint64_t address)
{
	return d->word[(address - (d->list - BEFORE_LIST)) / 8];
}

static bool find_self(struct description *d)
{
	uint64_t self = d->list - d->list % ALIGNED;

	for (; self >= d->list - BEFORE_LIST; self -= ALIGNED)
		if (at(d, self) == self && at(d, self + 16) == self) {
			d->self = self;
			return true;
		}
	return false;
}

/* The first word there that points to code is the function. */
static void find_entry(const struct description *d, struct prof_stacktop *s)
{
	uint64_t address = d->list + 24, end = d->list + BEHIND_LIST - 8; /* 24: the list itself */

	for (; address < end; address += 8)
		if (prof_native_module(at(d, address))) {
			s->entry = at(d, address);
			s->argument = at(d, address + 8);
			return;
		}
}

/* The C library's function that calls the thread's is called by another one of it. */
static void find_start(const struct prof_cfi_memory *mem, struct prof_stacktop *s)
{
	unsigned int calls = 0;
	uint32_t i;

	s->started = s->words;
	for (i = s->words; i && calls < 2; i--) {
		const struct prof_module *m = prof_native_module(s->word[i - 1]);

		if (!m || !prof_callsite_before(mem, s->word[i - 1]))
			continue;
		if (!m->runtime)
			return;
		calls++;
	}
	if (calls == 2)
		s->started = i;
}

static int read_stack(const struct prof_cfi_memory *mem, struct prof_stacktop *s)
{
	uint32_t bytes = PROF_STACKTOP_BYTES;

	for (; bytes >= LEAST; bytes /= 2)
		if (mem->read(mem->arg, s->end - bytes, s->word, bytes)) {
			s->words = bytes / 8;
			find_start(mem, s);
			return 0;
		}
	return -ENOENT;
}

int prof_stacktop_read(const struct prof_cfi_memory *mem, pid_t tid, struct prof_stacktop *s)
{
	struct description d;
	int kept = errno, rc = find_list(tid, &d.list);

	errno = kept;
	s->entry = s->argument = s->end = s->words = s->started = 0;
	if (rc)
		return rc;
	if (d.list % 8 || !mem->read(mem->arg, d.list - BEFORE_LIST, d.word, sizeof(d.word)) ||
	    !find_self(&d))
		return -ENOENT;
	find_entry(&d, s);
	s->end = d.self;
	return read_stack(mem, s);
}
