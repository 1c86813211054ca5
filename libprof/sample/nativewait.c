/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames for the libraries, words of the same frames for the objects.
 */
#include "nativewait.h"

#include "native.h"

#define STACK_BYTES 8192u /* of a stack are looked at, at most */
#define PAGE 4096u
#define MIX UINT64_C(0x9e3779b97f4a7c15)
#define TRIES 128u /* words that might point to an object */

struct reading {
	const struct prof_cfi_memory *mem;
	uint64_t sp, end; /* of the frames that wait */
	uint64_t futex;
	unsigned int tries;
	struct prof_nativewait *w;
};

static void add_library(struct prof_nativewait *w, const struct prof_module *m)
{
	size_t i;

	for (i = 0; i < w->libraries; i++)
		if (w->library[i] == m->begin)
			return;
	if (w->libraries < PROF_NATIVEWAIT_LIBRARIES)
		w->library[w->libraries++] = m->begin;
}

/* True if there is a library's code between the futex and Python, and it is not the driver's. */
static bool read_frames(struct reading *r, uint64_t pc)
{
	struct prof_native_frame frame[PROF_NATIVE_FRAMES];
	ssize_t n = prof_native_frames(r->sp, pc, frame, PROF_NATIVE_FRAMES), i;

	for (i = 0; i < n; i++) {
		const struct prof_module *m = prof_native_module(frame[i].address);

		if (!m || m->python)
			break;
		if (m->driver)
			return false;
		r->end = frame[i].sp + 8;
		if (m->runtime)
			continue;
		add_library(r->w, m);
		r->w->site = (r->w->site ^ frame[i].address) * MIX;
	}
	if (i < n && r->w->libraries)
		r->end = frame[i].sp;
	if (r->end > r->sp + STACK_BYTES)
		r->end = r->sp + STACK_BYTES;
	return r->w->libraries;
}

static bool known(const struct prof_nativewait *w, uint64_t address)
{
	size_t i;

	if (w->exact && prof_heapblock_has(&w->object, address))
		return true;
	for (i = 0; i < w->others; i++)
		if (prof_heapblock_has(&w->other[i], address))
			return true;
	return false;
}

/* Frames on the way from the futex to Python: their own memory is nobody else's. */
static bool is_own(const struct reading *r, uint64_t word)
{
	return word >= r->sp - STACK_BYTES && word < r->end + STACK_BYTES;
}

static void add_other(struct prof_nativewait *w, const struct prof_heapblock *b)
{
	if (w->others < PROF_NATIVEWAIT_OTHERS)
		w->other[w->others++] = *b;
}

static void widen(struct prof_nativewait *w, uint64_t word)
{
	if (w->exact)
		return;
	if (word < w->object.begin)
		w->object.begin = word;
	if (word + 8 > w->object.end)
		w->object.end = word + 8;
}

/* Is it a pointer to an object, to that of the futex perhaps? */
static void try_word(struct reading *r, uint64_t word)
{
	struct prof_nativewait *w = r->w;
	struct prof_heapblock block = { word, word + 8 };
	uint64_t there;

	if (word % 8 || word < PAGE || word > INT64_MAX || r->tries == TRIES || known(w, word))
		return;
	if (word + PROF_NATIVEWAIT_NEAR > r->futex && word < r->futex + PROF_NATIVEWAIT_NEAR)
		widen(w, word);
	if (is_own(r, word) || prof_native_has(word))
		return;
	r->tries++;
	if (prof_heapblock_of(r->mem, word, &block) && prof_heapblock_has(&block, r->futex)) {
		w->object = block;
		w->exact = true;
	} else if (r->mem->read(r->mem->arg, word, &there, sizeof(there))) {
		add_other(w, &block);
	}
}

static void read_objects(struct reading *r)
{
	uint64_t word[PAGE / 8], at = r->sp - r->sp % 8;

	while (at < r->end) {
		size_t n = (PAGE - at % PAGE) / 8, i;

		if (n > (r->end - at) / 8)
			n = (r->end - at) / 8;
		if (!n || !r->mem->read(r->mem->arg, at, word, n * 8))
			return;
		for (i = 0; i < n; i++)
			try_word(r, word[i]);
		at += n * 8;
	}
}

bool prof_nativewait_read(uint64_t sp, uint64_t pc, uint64_t futex, struct prof_nativewait *w)
{
	struct reading r = { .sp = sp, .end = sp, .futex = futex, .w = w };

	*w = (struct prof_nativewait){ .exact = false };
	if (!read_frames(&r, pc))
		return false;
	w->object = (struct prof_heapblock){ futex & ~UINT64_C(7), (futex & ~UINT64_C(7)) + 8 };
	r.mem = prof_native_memory();
	read_objects(&r);
	return true;
}
