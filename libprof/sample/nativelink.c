/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits that were told, threads that were looked at, and for each two of them what joins them.
 */
#include "nativelink.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "callsite.h"
#include "cfiframe.h"
#include "core/procfile.h"
#include "native.h"
#include "thread_sample.h"
#include "threadfacts.h"

#define SECOND INT64_C(1000000000)
#define WAIT_OLD_NS (10 * SECOND) /* a wait that was not seen again */
#define WAIT_FRESH_NS SECOND /* one that makes no room for another submitter's */
#define LOOK_OLD_NS SECOND
#define HELD_OLD_NS (5 * SECOND) /* a pointer may be in a register when one looks again */
#define LOOKS 64u /* of a scan */
#define ASKS 16u /* of them for the stack pointer: three system calls each */
#define FEEDERS 4u
#define ROUNDS 2u /* until a thread with a pointer would have been found */
/* a thread is looked at so soon after another one in the same turn */
#define TURN_NS INT64_C(2000000)
#define PRESSED 3u /* looks that found a maker and who waits for it blocked in the same turn */
#define PAGE 4096u
/* bytes of what a thread is started with, if its bounds are known, ... */
#define ARGUMENT_BLOCK 256u
#define ARGUMENT_BYTES 32u /* ... and if not, for its neighbour may be another thread's */
#define BLOCKS 16u /* pointers before a futex that are tried for the block they begin */

static struct prof_nativelink_thread *slot_of(const struct prof_nativelink *l, pid_t tid)
{
	return (struct prof_nativelink_thread *)&l->thread[(uint32_t)tid % PROF_NATIVELINK_THREADS];
}

static const struct prof_nativelink_thread *find_thread(const struct prof_nativelink *l, pid_t tid)
{
	const struct prof_nativelink_thread *t = slot_of(l, tid);

	return t->tid == tid ? t : NULL;
}

/*
 * ---- waits ------------------------------------------------------------------------------------
 */

static struct prof_nativelink_wait *find_wait(struct prof_nativelink *l, uint64_t id, uint64_t sp)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id == id && l->wait[i].sp == sp)
			return &l->wait[i];
	return NULL;
}

/* The same place by another way: how deep the interpreter's own stack is there changes. */
static struct prof_nativelink_wait *find_site(struct prof_nativelink *l, uint64_t id, uint64_t site)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id == id && l->wait[i].of.site == site)
			return &l->wait[i];
	return NULL;
}

static bool is_plain(const struct prof_nativelink *l, const struct prof_nativelink_look *look,
		     uint64_t id)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_PLAIN; i++)
		if (l->plain[i].tid == look->tid && l->plain[i].id == id &&
		    l->plain[i].sp == look->sp && look->now_ns - l->plain[i].seen_ns < WAIT_OLD_NS)
			return true;
	return false;
}

static void note_plain(struct prof_nativelink *l, const struct prof_nativelink_look *look,
		       uint64_t id)
{
	size_t i = l->plain_at++ % PROF_NATIVELINK_PLAIN;

	l->plain[i].tid = look->tid;
	l->plain[i].id = id;
	l->plain[i].sp = look->sp;
	l->plain[i].seen_ns = look->now_ns;
}

/* The same thread at the same place, for another object: one that is made anew each time. */
static struct prof_nativelink_wait *find_place(struct prof_nativelink *l, pid_t tid, uint64_t site)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id && l->wait[i].tid == tid && l->wait[i].of.site == site)
			return &l->wait[i];
	return NULL;
}

/* What threads had to do with the one before is no more known than what is next to it. */
static void wait_anew(struct prof_nativelink *l, struct prof_nativelink_wait *w, uint64_t id,
		      const struct prof_nativewait *of)
{
	size_t at = (size_t)(w - l->wait), i;

	w->id = id;
	w->of = *of;
	l->serial++; /* all are looked at again */
	for (i = 0; i < PROF_NATIVELINK_THREADS; i++)
		if (l->thread[i].hold[at].kind > PROF_NATIVELINK_LIBRARY)
			l->thread[i].hold[at].kind = PROF_NATIVELINK_LIBRARY;
	w->best = w->rounds >= ROUNDS && w->best ? PROF_NATIVELINK_LIBRARY : PROF_NATIVELINK_NONE;
}

/* Is @w rather to be given up than @than? */
static bool worth_less(const struct prof_nativelink_wait *w,
		       const struct prof_nativelink_wait *than)
{
	if (w->depth != than->depth)
		return w->depth > than->depth;
	return w->seen_ns < than->seen_ns;
}

/* NULL: all that there are matter as much as this one. */
static struct prof_nativelink_wait *make_room(struct prof_nativelink *l,
					      const struct prof_nativelink_look *look)
{
	struct prof_nativelink_wait *least = &l->wait[0];
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		struct prof_nativelink_wait *w = &l->wait[i];

		if (!w->id || look->now_ns - w->seen_ns > WAIT_OLD_NS)
			return w;
		if (worth_less(w, least))
			least = w;
	}
	if (least->depth > look->depth ||
	    (least->depth == look->depth && look->now_ns - least->seen_ns > WAIT_FRESH_NS))
		return least;
	return NULL;
}

static struct prof_nativelink_wait *note_wait(struct prof_nativelink *l,
					      const struct prof_nativelink_look *look, uint64_t id,
					      const struct prof_nativewait *of)
{
	struct prof_nativelink_wait *w = make_room(l, look);

	if (!w)
		return NULL;
	if (!look->depth)
		l->asked = l->serial + 1;
	*w = (struct prof_nativelink_wait){
		.id = id,
		.sp = look->sp,
		.serial = ++l->serial,
		.tid = look->tid,
		.depth = look->depth,
		.feeds = look->submits && !look->python,
		.seen_ns = look->now_ns,
		.of = *of,
	};
	return w;
}

/* A Python thread that waits for the same object as a submitter without Python feeds that. */
static void note_feeder(struct prof_nativelink *l, const struct prof_nativelink_look *look)
{
	size_t i;

	if (!look->python)
		return;
	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id && l->wait[i].feeds && l->wait[i].tid != look->tid &&
		    prof_heapblock_has(&l->wait[i].of.object, look->futex))
			l->feeder = look->tid;
}

/* Eight bytes and no more: the two words of a condition that its waiters use in turn lie in one. */
static uint64_t id_of(uint64_t futex)
{
	return futex & ~(uint64_t)7;
}

/* What was read of a stack holds if its thread is still blocked, or again, in the same call. */
static bool still_blocked(const struct prof_nativelink_look *look)
{
	struct prof_task task;
	struct prof_call call;
	bool still;

	prof_task_init(&task, 0, look->tid);
	still = !prof_task_call(&task, &call) && call.sp == look->sp && call.pc == look->pc &&
		call.arg[0] == look->arg;
	prof_task_close(&task);
	return still;
}

/*
 * Somebody nearer to the submitter was found waiting in this turn, too: a maker that waits
 * meanwhile waits for something to make from, not for room.
 */
static void press(const struct prof_nativelink *l, struct prof_nativelink_wait *w, int64_t now_ns)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS && w->pressed < PRESSED; i++)
		if (l->wait[i].id && l->wait[i].depth < w->depth && l->wait[i].tid != w->tid &&
		    now_ns - l->wait[i].seen_ns < TURN_NS) {
			w->pressed++;
			return;
		}
}

static void see_again(struct prof_nativelink_wait *w, const struct prof_nativelink_look *look)
{
	w->seen_ns = look->now_ns;
	w->tid = look->tid;
	w->sp = look->sp;
	w->feeds = w->feeds && !look->python;
	if (look->depth < w->depth)
		w->depth = look->depth;
}

uint64_t prof_nativelink_await(struct prof_nativelink *l, const struct prof_nativelink_look *look)
{
	uint64_t id = id_of(look->futex);
	struct prof_nativelink_wait *w = id ? find_wait(l, id, look->sp) : NULL;
	struct prof_nativewait of;
	bool native;

	if (!id || (!w && is_plain(l, look, id)))
		return 0;
	if (!w) {
		native = prof_nativewait_read(look->sp, look->pc, look->futex, &of);
		if (!still_blocked(look))
			return 0;
		if (!native) {
			note_plain(l, look, id);
			return 0;
		}
		/*
		 * An event lies in no memory: what else is in these frames says nothing of who
		 * gives it.
		 */
		if (look->futex >= PROF_SAMPLE_EVENT)
			of.others = 0;
		w = find_site(l, id, of.site);
		if (!w && look->depth) {
			w = find_place(l, look->tid, of.site);
			if (w)
				wait_anew(l, w, id, &of);
		}
	}
	if (w)
		see_again(w, look);
	else
		w = note_wait(l, look, id, &of);
	if (w)
		press(l, w, look->now_ns);
	note_feeder(l, look);
	return id;
}

void prof_nativelink_await_on(struct prof_nativelink *l, pid_t tid, int64_t now_ns)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id && l->wait[i].tid == tid) {
			l->wait[i].seen_ns = now_ns;
			press(l, &l->wait[i], now_ns);
		}
}

/* False: nobody waits. */
static bool forget_old(struct prof_nativelink *l, int64_t now_ns)
{
	bool any = false;
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		if (l->wait[i].id && now_ns - l->wait[i].seen_ns > WAIT_OLD_NS)
			l->wait[i].id = 0;
		any |= l->wait[i].id != 0;
	}
	return any;
}

/*
 * ---- one thread -------------------------------------------------------------------------------
 */

struct looking {
	struct prof_nativelink *l;
	const struct prof_cfi_memory *mem;
	bool loose; /* the bounds of some object are not known */
	uint8_t kind[PROF_NATIVELINK_WAITS];
	uint32_t others[PROF_NATIVELINK_WAITS];
	unsigned int blocks;
};

static void mark_pages(struct prof_nativelink *l, const struct prof_heapblock *b)
{
	uint64_t page = b->begin / PAGE, last = (b->end - 1) / PAGE;

	for (; page <= last; page++)
		l->page[page % PROF_NATIVELINK_PAGES / 64] |= UINT64_C(1) << page % 64;
}

/* Most words of a stack point nowhere near: they are passed over quickly. */
static void mark_objects(struct looking *k)
{
	const struct prof_nativelink_wait *w = k->l->wait;
	size_t i, j;

	memset(k->l->page, 0, sizeof(k->l->page));
	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		if (!w[i].id)
			continue;
		k->loose |= !w[i].of.exact;
		mark_pages(k->l, &w[i].of.object);
		for (j = 0; j < w[i].of.others; j++)
			mark_pages(k->l, &w[i].of.other[j]);
	}
}

static bool is_marked(const struct prof_nativelink *l, uint64_t word)
{
	uint64_t page = word / PAGE;

	return l->page[page % PROF_NATIVELINK_PAGES / 64] >> page % 64 & 1;
}

/* Of an object of unknown bounds another thread may have the beginning. */
static bool begins_object(struct looking *k, const struct prof_nativewait *w, uint64_t word,
			  uint64_t futex)
{
	struct prof_heapblock b;

	if (w->exact || word % 16 || word > futex || futex - word > PROF_HEAPBLOCK_MAX ||
	    k->blocks == BLOCKS)
		return false;
	k->blocks++;
	return prof_heapblock_of(k->mem, word, &b) && prof_heapblock_has(&b, futex);
}

static uint32_t others_of(const struct prof_nativewait *w, uint64_t word)
{
	uint32_t bits = 0;
	size_t i;

	for (i = 0; i < w->others; i++)
		if (prof_heapblock_has(&w->other[i], word))
			bits |= UINT32_C(1) << i;
	return bits;
}

static void raise(uint8_t *kind, enum prof_nativelink_kind to)
{
	if (*kind < to)
		*kind = (uint8_t)to;
}

/*
 * Did it have the value from the thread that made it? So has every other one that was made there.
 */
static bool is_inherited(const struct looking *k, uint64_t word)
{
	const struct prof_stacktop *top = &k->l->top;
	uint32_t i;

	for (i = top->started; i < top->words; i++)
		if (top->word[i] == word)
			return true;
	return false;
}

static void match(struct looking *k, uint64_t word)
{
	const struct prof_nativelink_wait *w = k->l->wait;
	bool marked;
	size_t i;

	if (word < PAGE || word > INT64_MAX)
		return;
	marked = is_marked(k->l, word);
	if (!marked && (!k->loose || word % 16))
		return;
	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		uint32_t others;

		if (!w[i].id)
			continue;
		if (prof_heapblock_has(&w[i].of.object, word) ||
		    begins_object(k, &w[i].of, word, w[i].id))
			raise(&k->kind[i], PROF_NATIVELINK_OBJECT);
		others = marked ? others_of(&w[i].of, word) : 0;
		if (!others || is_inherited(k, word))
			continue;
		raise(&k->kind[i], PROF_NATIVELINK_OTHER);
		k->others[i] |= others;
	}
}

static void match_memory(struct looking *k, uint64_t from, size_t bytes)
{
	uint64_t word[PAGE / 8];
	size_t i;

	if (bytes > PAGE - from % PAGE)
		bytes = PAGE - from % PAGE;
	if (from % 8 || !k->mem->read(k->mem->arg, from, word, bytes))
		return;
	for (i = 0; i < bytes / 8; i++)
		match(k, word[i]);
}

/*
 * What it was started with is often an object of its own, which points to the one that all share.
 */
static void match_argument(struct looking *k, const struct prof_stacktop *top)
{
	struct prof_heapblock b;

	match(k, top->argument);
	if (prof_heapblock_at(k->mem, top->argument, &b) && b.end - b.begin <= ARGUMENT_BLOCK)
		match_memory(k, b.begin, b.end - b.begin);
	else if (top->argument)
		match_memory(k, top->argument, ARGUMENT_BYTES);
}

/* @live: where its frames end; 0: not known. */
static void match_top(struct looking *k, const struct prof_stacktop *top, uint64_t live)
{
	uint64_t begin = top->end - top->words * UINT64_C(8);
	uint32_t i = live > begin ? (uint32_t)((live - begin) / 8) : 0;

	match_argument(k, top);
	for (; i < top->started; i++)
		if (!prof_stacktop_saved(top, i))
			match(k, top->word[i]);
}

/* Where the frames of a blocked thread end; 0: it runs, or nobody tells. */
static uint64_t ask_live(struct looking *k, pid_t tid)
{
	struct prof_task task;
	struct prof_call call;
	uint64_t sp = 0;

	if (!k->l->asks)
		return 0;
	k->l->asks--;
	prof_task_init(&task, 0, tid);
	if (!prof_task_call(&task, &call) && call.nr != PROF_CALL_RUNNING)
		sp = call.sp;
	prof_task_close(&task);
	return sp;
}

/* Of a thread with many frames: the innermost ones, while it is blocked. */
static void match_innermost(struct looking *k, pid_t tid)
{
	uint64_t sp = ask_live(k, tid);

	if (!sp)
		return;
	match_memory(k, sp - sp % 8, PAGE);
	match_memory(k, (sp | (PAGE - 1)) + 1, PAGE);
}

static bool joined_at_all(const struct looking *k)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (k->kind[i])
			return true;
	return false;
}

/* The outermost frame whose code is a library's own. */
static uint64_t find_inner(const struct prof_cfi_memory *mem, const struct prof_stacktop *top)
{
	uint32_t i;

	for (i = top->returns; i; i--) {
		uint64_t address = prof_cfi_plain(top->word[i - 1]);
		const struct prof_module *m = prof_native_module(address);

		if (m && !m->runtime && !m->python && prof_callsite_before(mem, address))
			return address - 1;
	}
	return 0;
}

static void read_code(struct looking *k, struct prof_nativelink_thread *t)
{
	const struct prof_module *m = prof_native_module(k->l->top.entry);

	t->entry = k->l->top.entry;
	t->inner = !m || m->runtime ? find_inner(k->mem, &k->l->top) : 0;
}

static bool same_library(const struct prof_nativelink_thread *t, const struct prof_nativewait *w)
{
	const struct prof_module *m = prof_native_module(t->inner ? t->inner : t->entry);
	size_t i;

	for (i = 0; m && i < w->libraries; i++)
		if (w->library[i] == m->begin)
			return true;
	return false;
}

static void take_kinds(struct looking *k, struct prof_nativelink_thread *t, int64_t now_ns)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		const struct prof_nativelink_wait *w = &k->l->wait[i];

		if (!w->id)
			continue;
		if (same_library(t, &w->of))
			raise(&k->kind[i], PROF_NATIVELINK_LIBRARY);
		if (t->hold[i].serial == w->serial && t->hold[i].kind > k->kind[i] &&
		    now_ns - t->hold[i].found_ns < HELD_OLD_NS)
			continue;
		t->hold[i].serial = w->serial;
		t->hold[i].kind = k->kind[i];
		t->hold[i].others = k->others[i];
		t->hold[i].found_ns = now_ns;
	}
}

static void read_name(struct prof_nativelink_thread *t)
{
	char path[48], name[PROF_NATIVELINK_NAME + 1];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", (int)t->tid);
	n = prof_proc_read(path, name, sizeof(name));
	if (n <= 0)
		return;
	name[strcspn(name, "\n")] = 0;
	snprintf(t->name, sizeof(t->name), "%.15s", name);
	t->ours = !strncmp(t->name, "gpustarve-", 10);
}

static void begin_look(struct looking *k)
{
	memset(k->kind, 0, sizeof(k->kind));
	memset(k->others, 0, sizeof(k->others));
	k->blocks = 0;
}

/*
 * Python started it: what it waits for and holds are objects (links.h). Others may call Python,
 * too.
 */
static bool is_pythons(const struct prof_stacktop *top)
{
	const struct prof_module *m = prof_native_module(top->entry);

	return m && m->python;
}

/*
 * What joins it may lie below its frames, left there by calls that are over, or by a thread that
 * had the same stack before: of a blocked one only what is live counts. Where one that runs has got
 * to, nobody tells.
 */
static void match_live(struct looking *k, pid_t tid)
{
	const struct prof_stacktop *top = &k->l->top;
	uint64_t live = ask_live(k, tid);

	if (live <= top->end - top->words * UINT64_C(8) || live >= top->end)
		return;
	begin_look(k);
	match_top(k, top, live);
}

static void look_at(struct looking *k, pid_t tid, int64_t now_ns)
{
	struct prof_nativelink_thread *t = slot_of(k->l, tid);
	int rc;

	k->l->looks--;
	if (t->tid != tid)
		*t = (struct prof_nativelink_thread){ .tid = tid };
	t->looked_ns = now_ns;
	t->serial = k->l->serial;
	read_name(t);
	if (t->ours)
		return;
	begin_look(k);
	rc = prof_stacktop_read(k->mem, tid, &k->l->top);
	if (!rc && is_pythons(&k->l->top)) {
		t->ours = true;
		return;
	}
	if (!rc) {
		read_code(k, t);
		match_top(k, &k->l->top, 0);
	}
	if (!rc && joined_at_all(k))
		match_live(k, tid);
	else if (rc != -ESRCH)
		match_innermost(k, tid);
	take_kinds(k, t, now_ns);
}

/*
 * ---- scans ------------------------------------------------------------------------------------
 */

static bool has_python(const struct prof_py_thread *python, size_t n, pid_t tid)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (python[i].tid == tid)
			return true;
	return false;
}

static bool looked_at(const struct prof_nativelink *l, pid_t tid, int64_t now_ns)
{
	const struct prof_nativelink_thread *t = find_thread(l, tid);

	return t && (t->ours || (t->serial == l->serial && now_ns - t->looked_ns < LOOK_OLD_NS));
}

static void scan_some(struct looking *k, int64_t now_ns)
{
	struct prof_nativelink *l = k->l;
	uint32_t tid[LOOKS];
	ssize_t tids = prof_proc_numbers("/proc/self/task", l->scan_at, tid, LOOKS), i;

	for (i = 0; i < tids && l->looks; i++)
		if (tid[i] != (uint32_t)getpid() && !looked_at(l, (pid_t)tid[i], now_ns))
			look_at(k, (pid_t)tid[i], now_ns);
	if (tids == LOOKS) {
		l->scan_at += LOOKS;
		return;
	}
	l->scan_at = 0;
	for (i = 0; i < (ssize_t)PROF_NATIVELINK_WAITS; i++)
		l->wait[i].rounds++;
}

/*
 * A Python thread that is blocked with a pointer to what a submitter waits on has put work there.
 */
static void scan_feeders(struct looking *k, const struct prof_py_thread *python, size_t n)
{
	struct prof_nativelink *l = k->l;
	size_t i, j;

	for (i = 0; i < n && i < FEEDERS; i++) {
		pid_t tid = python[l->python_at++ % n].tid;

		begin_look(k);
		match_innermost(k, tid);
		for (j = 0; j < PROF_NATIVELINK_WAITS; j++)
			if (l->wait[j].feeds && k->kind[j] == PROF_NATIVELINK_OBJECT)
				l->feeder = tid;
	}
}

/* Does this thread wait for the one that waits there? Then it is what that one works for. */
static bool asks_back(const struct prof_nativelink *l, pid_t tid,
		      const struct prof_nativelink_wait *w)
{
	const struct prof_nativelink_thread *t = find_thread(l, w->tid);
	size_t i;

	for (i = 0; t && i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id && l->wait[i].tid == tid && &l->wait[i] != w &&
		    t->hold[i].serial == l->wait[i].serial &&
		    t->hold[i].kind == PROF_NATIVELINK_OBJECT)
			return true;
	return false;
}

/*
 * That its library is the same says little: not before all threads were looked at for more, and not
 * of who feeds, which is Python; nor of who makes something for one who makes, unless that one
 * waits while it is waited for.
 */
static bool counts(const struct prof_nativelink *l, const struct prof_nativelink_thread *t,
		   size_t i)
{
	const struct prof_nativelink_wait *w = &l->wait[i];

	if (!t->tid || t->ours || t->tid == w->tid || t->hold[i].serial != w->serial)
		return false;
	if (t->hold[i].kind == PROF_NATIVELINK_OBJECT)
		return true;
	if (asks_back(l, t->tid, w))
		return false;
	return t->hold[i].kind > PROF_NATIVELINK_LIBRARY ||
	       (w->rounds >= ROUNDS && (!w->depth || w->pressed >= PRESSED) && !w->feeds);
}

/* Which of a wait's other objects fewest threads have, at least one. */
static uint32_t find_rarest(const struct prof_nativelink *l, size_t i)
{
	uint32_t count[PROF_NATIVEWAIT_OTHERS] = { 0 }, least = UINT32_MAX, bits = 0, n;
	size_t j;

	for (j = 0; j < PROF_NATIVELINK_THREADS; j++)
		for (n = 0; n < PROF_NATIVEWAIT_OTHERS; n++)
			if (counts(l, &l->thread[j], i))
				count[n] += l->thread[j].hold[i].others >> n & 1;
	for (n = 0; n < PROF_NATIVEWAIT_OTHERS; n++)
		if (count[n] && count[n] < least)
			least = count[n];
	for (n = 0; n < PROF_NATIVEWAIT_OTHERS; n++)
		bits |= (uint32_t)(count[n] == least) << n;
	return bits;
}

static void forget_gone(struct prof_nativelink *l, int64_t now_ns)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_THREADS; i++)
		if (l->thread[i].tid && now_ns - l->thread[i].looked_ns > WAIT_OLD_NS)
			l->thread[i].tid = 0;
}

static void find_best(struct prof_nativelink *l, size_t i)
{
	struct prof_nativelink_wait *w = &l->wait[i];
	size_t j;

	w->best = PROF_NATIVELINK_NONE;
	w->rarest = 0;
	for (j = 0; j < PROF_NATIVELINK_THREADS; j++)
		if (counts(l, &l->thread[j], i))
			raise(&w->best, l->thread[j].hold[i].kind);
	if (w->best == PROF_NATIVELINK_OTHER)
		w->rarest = find_rarest(l, i);
}

/* Is it one of those that the wait is joined to? */
static bool is_joined(const struct prof_nativelink *l, const struct prof_nativelink_thread *t,
		      size_t i)
{
	const struct prof_nativelink_wait *w = &l->wait[i];

	if (!w->id || !w->best || !counts(l, t, i))
		return false;
	if (w->best == PROF_NATIVELINK_OTHER)
		return t->hold[i].others & w->rarest;
	return t->hold[i].kind == w->best;
}

static bool is_fed(const struct prof_nativelink *l)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id && l->wait[i].feeds)
			return true;
	return false;
}

void prof_nativelink_scan(struct prof_nativelink *l, const struct prof_py_thread *python, size_t n,
			  int64_t now_ns)
{
	struct looking k = { .l = l };
	size_t i;

	if (!PROF_STACKTOP_KNOWN || !forget_old(l, now_ns))
		return;
	k.mem = prof_native_memory();
	if (!k.mem)
		return;
	l->answered = l->asked;
	mark_objects(&k);
	l->looks = LOOKS;
	l->asks = ASKS;
	scan_some(&k, now_ns);
	if (l->feeder && !has_python(python, n, l->feeder))
		l->feeder = 0;
	if (is_fed(l) && n) {
		l->asks += FEEDERS;
		scan_feeders(&k, python, n);
	}
	forget_gone(l, now_ns);
	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id)
			find_best(l, i);
}

/*
 * ---- what was found ---------------------------------------------------------------------------
 */

/* A thread that waits itself in the object that it is waited for in uses it, too. */
static bool uses(const struct prof_nativelink *l, pid_t tid, const struct prof_nativelink_wait *w)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++) {
		const struct prof_nativelink_wait *own = &l->wait[i];

		if (own->id && own->tid == tid && own != w &&
		    prof_heapblock_has(&own->of.object, w->id))
			return true;
	}
	return false;
}

/* The same word is awaited elsewhere since. */
static bool is_over(const struct prof_nativelink *l, const struct prof_nativelink_wait *w)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id == w->id && l->wait[i].seen_ns > w->seen_ns)
			return true;
	return false;
}

static enum prof_nativelink_kind kind_of(const struct prof_nativelink *l, pid_t tid, size_t i)
{
	const struct prof_nativelink_wait *w = &l->wait[i];
	const struct prof_nativelink_thread *t = find_thread(l, tid);

	if (w->feeds && l->feeder == tid)
		return PROF_NATIVELINK_OBJECT;
	if (w->feeds && !l->feeder && tid == getpid())
		return PROF_NATIVELINK_OTHER;
	if (t && is_joined(l, t, i))
		return (enum prof_nativelink_kind)w->best;
	if (uses(l, tid, w) && !asks_back(l, tid, w)) /* those who make for it go before it */
		return w->best == PROF_NATIVELINK_OBJECT ? PROF_NATIVELINK_OTHER
							 : PROF_NATIVELINK_OBJECT;
	return PROF_NATIVELINK_NONE;
}

enum prof_nativelink_kind prof_nativelink_of(const struct prof_nativelink *l, pid_t tid, size_t i,
					     uint64_t *id)
{
	const struct prof_nativelink_wait *w = &l->wait[i];

	*id = w->id;
	return w->id && w->tid != tid && !is_over(l, w) ? kind_of(l, tid, i) : PROF_NATIVELINK_NONE;
}

static bool is_maker(const struct prof_nativelink *l, const struct prof_nativelink_thread *t)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (is_joined(l, t, i))
			return true;
	return false;
}

bool prof_nativelink_asks(const struct prof_nativelink *l)
{
	return l->asked != l->answered;
}

/* One who waits for another one joins who waits for it to that one. */
static bool passes_on(const struct prof_nativelink *l, pid_t tid)
{
	size_t i;

	for (i = 0; i < PROF_NATIVELINK_WAITS; i++)
		if (l->wait[i].id && l->wait[i].tid == tid && l->wait[i].best)
			return true;
	return false;
}

static size_t add_makers(const struct prof_nativelink *l, size_t *at, bool links, pid_t *tid,
			 size_t n, size_t room)
{
	size_t from = *at, i;

	for (i = 0; i < PROF_NATIVELINK_THREADS && n < room; i++) {
		const struct prof_nativelink_thread *t =
			&l->thread[(from + i) % PROF_NATIVELINK_THREADS];

		if (!is_maker(l, t) || passes_on(l, t->tid) != links)
			continue;
		tid[n++] = t->tid;
		*at = (from + i + 1) % PROF_NATIVELINK_THREADS;
	}
	return n;
}

/* Without those in the middle a chain has no end, without the others nobody at work. */
size_t prof_nativelink_makers(struct prof_nativelink *l, pid_t *tid, size_t room)
{
	size_t n = add_makers(l, &l->middle_at, true, tid, 0, room / 2);

	return add_makers(l, &l->maker_at, false, tid, n, room);
}

pid_t prof_nativelink_feeder(const struct prof_nativelink *l, pid_t main)
{
	if (!is_fed(l))
		return 0;
	return l->feeder ? l->feeder : main;
}

const char *prof_nativelink_name(const struct prof_nativelink *l, pid_t tid)
{
	const struct prof_nativelink_thread *t = find_thread(l, tid);

	return t ? t->name : "";
}

size_t prof_nativelink_stack(const struct prof_nativelink *l, pid_t tid, char *text, size_t room)
{
	const struct prof_nativelink_thread *t = find_thread(l, tid);
	uint64_t address[2];
	size_t n = 0;
	ssize_t len;

	if (t && t->inner)
		address[n++] = t->inner;
	if (t && t->entry)
		address[n++] = t->entry;
	len = n ? prof_native_describe(address, n, text, room) : 0;
	return len > 0 ? (size_t)len : 0;
}
