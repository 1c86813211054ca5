/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the list of robust locks to the description of the thread, struct pthread; from there down
 * the stack, and up to its function. On x86-64 the description's first and third words point to
 * itself (tcbhead_t). On aarch64 it begins with 24 words that say nothing, and the thread's number
 * stands two words before the list (nptl/descr.h).
 */
#include "stacktop.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "callsite.h"
#include "cfiframe.h"
#include "native.h"

#define BEFORE_LIST 1024u /* bytes of struct pthread before the list: 736 in glibc 2.4 to 2.42 */
#define BEHIND_LIST 1024u /* and behind it: the function stands 856 behind it in 2.36 */
#define ALIGNED 16u
#define HEADER_ARM64 224u /* bytes of struct pthread before the list: glibc 2.17 to 2.42 */
#define TID_ARM64 16u /* and between the number and the list */
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

#ifdef __aarch64__

static bool find_self(struct description *d, pid_t tid)
{
	d->self = d->list - HEADER_ARM64;
	return !(d->self % ALIGNED) && (uint32_t)at(d, d->list - TID_ARM64) == (uint32_t)tid;
}

#else

static bool find_self(struct description *d, pid_t tid)
{
	uint64_t self = d->list - d->list % ALIGNED;

	(void)tid;
	for (; self >= d->list - BEFORE_LIST; self -= ALIGNED)
		if (at(d, self) == self && at(d, self + 16) == self) {
			d->self = self;
			return true;
		}
	return false;
}

#endif

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

/* The module whose code calls something right before what the word points to; NULL: none does. */
static const struct prof_module *caller(const struct prof_cfi_memory *mem, uint64_t word)
{
	uint64_t address = prof_cfi_plain(word);
	const struct prof_module *m = prof_native_module(address);

	return m && prof_callsite_before(mem, address) ? m : NULL;
}

#ifdef __aarch64__

static bool is_record(const struct prof_cfi_memory *mem, const struct prof_stacktop *s, uint32_t i,
		      uint64_t frame)
{
	const struct prof_module *m = s->word[i] == frame ? caller(mem, s->word[i + 1]) : NULL;

	return m && m->runtime;
}

/*
 * A function keeps its caller's frame pointer and its return address at the lower end of its frame,
 * and its own variables above them. The C library's outermost function has no caller's: 0.
 */
static void find_start(const struct prof_cfi_memory *mem, struct prof_stacktop *s)
{
	uint64_t begin = s->end - s->words * UINT64_C(8);
	uint32_t outer, i;

	s->started = s->returns = s->words;
	for (outer = s->words - 1; outer && !is_record(mem, s, outer - 1, 0); outer--)
		;
	if (!outer--)
		return;
	for (i = outer; i && !is_record(mem, s, i - 1, begin + outer * UINT64_C(8)); i--)
		;
	if (!i)
		return;
	s->started = outer;
	s->returns = i;
}

#else

/* The C library's function that calls the thread's is called by another one of it. */
static void find_start(const struct prof_cfi_memory *mem, struct prof_stacktop *s)
{
	unsigned int calls = 0;
	uint32_t i;

	s->started = s->returns = s->words;
	for (i = s->words; i && calls < 2; i--) {
		const struct prof_module *m = caller(mem, s->word[i - 1]);

		if (!m)
			continue;
		if (!m->runtime)
			return;
		calls++;
	}
	if (calls == 2)
		s->started = s->returns = i;
}

#endif

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
	s->entry = s->argument = s->end = s->words = s->started = s->returns = 0;
	if (rc)
		return rc;
	if (d.list % 8 || !mem->read(mem->arg, d.list - BEFORE_LIST, d.word, sizeof(d.word)) ||
	    !find_self(&d, tid))
		return -ENOENT;
	find_entry(&d, s);
	s->end = d.self;
	return read_stack(mem, s);
}
