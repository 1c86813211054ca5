/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the frames of a thread to the objects that it waits for, and to those that are looked for.
 */
#include "reach.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "pypriv.h"
#include "pystack.h"

_Static_assert(PROF_PY_WANTED == PROF_PYREACH_WANTED, "room for what is wanted");

/* ---- what a thread waits for ---- */

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

/* Its name alone, without the class before it. */
static bool is_called(const struct prof_pycode *code, const char *const *names)
{
	size_t n = strcspn(code->text, "\t");
	const char *name = code->text + n;

	while (name > code->text && name[-1] != '.')
		name--;
	n -= (size_t)(name - code->text);
	for (; *names; names++)
		if (n == strlen(*names) && !memcmp(name, *names, n))
			return true;
	return false;
}

/* Where a thread or a process of the library's begins: its self is who waits. */
static bool is_begin(const struct prof_pycode *code)
{
	static const char *const begins[] = { "run", "_bootstrap", "_bootstrap_inner", NULL };

	return (ends_with(code->text, "/threading.py") || ends_with(code->text, "/process.py")) &&
	       is_called(code, begins);
}

/* How many of the innermost frames are the standard library's. */
static size_t count_library(struct prof_py *py, const struct prof_pywalk *w)
{
	size_t i;

	for (i = 0; i < w->frames; i++) {
		const struct prof_pycode *code = prof_pycode_get(&py->codes, &py->mem, &py->layout,
								 w->frame[i].code, py->raw[i]);

		if (!code || code->home != PROF_PYCODE_LIBRARYS || is_begin(code))
			break;
	}
	return i;
}

struct awaited {
	uint64_t *object;
	size_t n, room;
};

static bool add_awaited(struct awaited *a, uint64_t object)
{
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->object[i] == object)
			return false;
	if (a->n == a->room)
		return false;
	a->object[a->n++] = object;
	return true;
}

/* SemLockObject of Modules/_multiprocessing/semaphore.c, the same from 3.8 to 3.14. */
#define SEMLOCK_MAXVALUE 36u
#define SEMLOCK_KIND 40u
#define SEMLOCK_BYTES 44u
#define SEMLOCK_IS_SEMAPHORE 1

/* A lock of multiprocessing is a semaphore that counts to one. */
static bool counts(struct prof_py *py, uint64_t object)
{
	uint8_t raw[SEMLOCK_BYTES];
	int32_t most, kind;

	if (prof_pymem_read(&py->mem, object, raw, sizeof(raw)))
		return false;
	memcpy(&most, raw + SEMLOCK_MAXVALUE, sizeof(most));
	memcpy(&kind, raw + SEMLOCK_KIND, sizeof(kind));
	return kind == SEMLOCK_IS_SEMAPHORE && most > 1;
}

static bool is_queue(struct prof_py *py, uint64_t object, const struct prof_pytype *type)
{
	return type->kind == PROF_PYKIND_QUEUE ||
	       (type->waited && type->shared && counts(py, object));
}

static void add_object(struct prof_py *py, struct awaited *a, uint64_t object,
		       const struct prof_pytype *type)
{
	struct prof_pyreach *r = &py->reach;

	if (!add_awaited(a, object) || r->awaiteds == PROF_PYREACH_AWAITED)
		return;
	r->queue_of[r->awaiteds] = is_queue(py, object, type);
	r->awaited[r->awaiteds++] = object;
}

struct seen { /* an object and what it is */
	uint64_t at;
	/* what a cell or an iterator holds, what a function of C is bound to; or 0 */
	uint64_t inner;
	uint64_t method; /* a function of C: its PyMethodDef */
	const struct prof_pytype *type;
};

#define BUILTIN_METHOD 16u
#define BUILTIN_SELF 24u
#define DESCRIPTOR_METHOD 40u
#define CELL_OBJECT 16u
#define SEEN_BYTES 48u

static void look_into(struct seen *s, const struct prof_pytype *type, const uint8_t *raw)
{
	s->type = type;
	s->inner = s->method = 0;
	if (!type)
		return;
	if (type->kind == PROF_PYKIND_BUILTIN) {
		s->inner = prof_pymem_word(raw, BUILTIN_SELF);
		s->method = prof_pymem_word(raw, BUILTIN_METHOD);
	} else if (type->kind == PROF_PYKIND_CELL) {
		s->inner = prof_pymem_word(raw, CELL_OBJECT);
	} else if (type->kind == PROF_PYKIND_DESCRIPTOR) {
		s->method = prof_pymem_word(raw, DESCRIPTOR_METHOD);
	}
}

/* At most PROF_PYREACH_BATCH of them. */
static int see(struct prof_py *py, struct seen *s, size_t n)
{
	uint8_t raw[PROF_PYREACH_BATCH][SEEN_BYTES];
	struct prof_pymem_part part[PROF_PYREACH_BATCH];
	struct prof_pytype *type[PROF_PYREACH_BATCH];
	uint64_t at[PROF_PYREACH_BATCH];
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ s[i].at, raw[i], sizeof(raw[i]) };
	rc = prof_pyreach_read(py, part, n);
	for (i = 0; i < n; i++)
		at[i] = !rc && part[i].bytes ? prof_pymem_word(raw[i], PROF_PYOBJECT_TYPE) : 0;
	if (!rc)
		rc = prof_pyreach_types(py, at, n, false, type);
	for (i = 0; i < n; i++)
		look_into(&s[i], rc ? NULL : type[i], raw[i]);
	return rc;
}

/* Instead of cells and iterators what is in them. */
static int see_inside(struct prof_py *py, struct seen *s, size_t n)
{
	size_t i;
	bool again = false;
	int rc = see(py, s, n);

	for (i = 0; i < n; i++)
		if (s[i].inner && s[i].type->kind == PROF_PYKIND_CELL) {
			s[i].at = s[i].inner;
			again = true;
		}
	return rc || !again ? rc : see(py, s, n);
}

/* ---- calls of C ---- */

/* To 3.11 a with statement puts __exit__ on the stack before it calls __enter__. */
static bool waits_within(struct prof_py *py, uint64_t method, bool entering)
{
	static const char *const names[] = { "get", "acquire", "acquire_lock", "__enter__" };
	char name[16];
	uint64_t at;
	size_t i;

	if (!method || prof_pymem_read(&py->mem, method, &at, sizeof(at)) ||
	    prof_pymem_text(&py->mem, at, name, sizeof(name)) < 0)
		return false;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return entering && !strcmp(name, "__exit__");
}

/* Is the innermost function in the call of __enter__ of a with statement? */
static bool enters(struct prof_py *py, const struct prof_pyframe *f)
{
	const struct prof_pylayout *l = &py->layout;
	uint64_t at = f->instr;
	uint8_t opcode;

	if (l->refs.code.enters == PROF_PYLAYOUT_NONE)
		return false;
	if (l->frames == PROF_PYFRAME_OBJECT)
		at = prof_pymem_word(py->raw[0], l->code.bytecode) + PROF_PYBYTES_DATA +
		     f->instr * l->lasti_unit;
	return !prof_pymem_read(&py->mem, at, &opcode, 1) && opcode == l->refs.code.enters;
}

/* The library's own calls of locks are told by their conditions. */
static bool is_waited(const struct prof_pytype *type, size_t library)
{
	return type && type->waited && !(library && type->lock);
}

static bool is_descriptor(const struct prof_pytype *type)
{
	return type && type->kind == PROF_PYKIND_DESCRIPTOR;
}

/*
 * Of the innermost function's evaluation stack what is waited for within C: a bound function, or a
 * method and behind it what it is called for. Where a with statement begins, what lies right above
 * those that it is in. What has been left behind above the stack's end seldom looks so.
 */
static int add_called(struct prof_py *py, const struct prof_pyframe *f, size_t library,
		      struct awaited *a)
{
	const struct prof_pyslots *slots = &py->reach.slots[0];
	struct seen s[PROF_PYREACH_STACK], self[PROF_PYREACH_STACK];
	bool entering = enters(py, f);
	size_t i, n = slots->stack;
	int rc;

	for (i = 0; i < n; i++)
		s[i].at = prof_pyreach_slot(py, 0, slots->locals + i);
	rc = see_inside(py, s, n);
	for (i = 0; i < n; i++)
		self[i].at = s[i].inner;
	if (!rc)
		rc = see(py, self, n);
	for (i = 0; i < n && !rc; i++) {
		bool enters_it = entering && i >= slots->in_use;

		if (is_waited(self[i].type, library) && waits_within(py, s[i].method, enters_it))
			add_object(py, a, self[i].at, self[i].type);
		else if (is_waited(s[i].type, library) &&
			 (enters_it || (i && is_descriptor(s[i - 1].type) &&
					waits_within(py, s[i - 1].method, false))))
			add_object(py, a, s[i].at, s[i].type);
		else
			continue;
		if (entering)
			break;
	}
	return rc;
}

/* ---- first arguments ---- */

static bool has_arguments(const struct prof_py *py, size_t frame)
{
	uint32_t n;

	memcpy(&n, py->raw[frame] + py->layout.refs.code.arguments, sizeof(n));
	return n && py->reach.slots[frame].locals;
}

/* What a function is given in a list or a dictionary of its own is not that. */
static bool is_object(const struct prof_pytype *type)
{
	return type->kind == PROF_PYKIND_INSTANCE || type->kind == PROF_PYKIND_QUEUE;
}

static bool is_in(struct prof_py *py, const struct prof_pywalk *w, size_t frame, const char *file)
{
	const struct prof_pycode *code = prof_pycode_get(&py->codes, &py->mem, &py->layout,
							 w->frame[frame].code, py->raw[frame]);

	return code && ends_with(code->text, file);
}

/* A selector is made for one wait, and its own: nobody gives to it. */
static bool is_selectors(struct prof_py *py, const struct prof_pywalk *w, size_t frame)
{
	return is_in(py, w, frame, "/selectors.py");
}

struct behind { /* what a wait is for that stands for others */
	uint64_t from[PROF_PYREACH_BATCH];
	size_t n;
	bool in_loop;
};

/* Futures, also several in a set or a list; and the task for which a loop is run. */
static void note_behind(struct behind *b, const struct prof_pytype *type, uint64_t at)
{
	bool some = type->kind == PROF_PYKIND_SET || type->kind == PROF_PYKIND_LIST ||
		    type->kind == PROF_PYKIND_TUPLE;

	if (b->n < PROF_PYREACH_BATCH && (some || type->asyncio || type->plain_future))
		b->from[b->n++] = at;
}

static int add_behind(struct prof_py *py, const struct behind *b, struct awaited *a)
{
	size_t i;
	int rc = b->n ? prof_pyreach_behind(py, b->from, b->n, b->in_loop) : 0;

	for (i = 0; b->n && i < py->reach.behinds && !rc; i++)
		add_awaited(a, py->reach.behind[i]);
	return rc;
}

static int add_selves(struct prof_py *py, const struct prof_pywalk *w, size_t library,
		      struct awaited *a)
{
	struct behind b = { .n = 0 };
	struct seen s[PROF_PYREACH_BATCH];
	size_t i, n = 0;
	int rc;

	for (i = 0; i < library && n + 1 < PROF_PYREACH_BATCH; i++) {
		if (!has_arguments(py, i) || is_selectors(py, w, i))
			continue;
		s[n++].at = prof_pyreach_slot(py, i, 0);
		if (!is_in(py, w, i, "/asyncio/base_events.py"))
			continue;
		b.in_loop = true;
		if (py->reach.slots[i].locals > 1) /* run_until_complete has the task there */
			s[n++].at = prof_pyreach_slot(py, i, 1);
	}
	rc = see_inside(py, s, n);
	for (i = 0; i < n && !rc; i++) {
		if (!s[i].type)
			continue;
		if ((is_object(s[i].type) && !s[i].type->asyncio) || s[i].type->waited)
			add_object(py, a, s[i].at, s[i].type);
		note_behind(&b, s[i].type, s[i].at);
	}
	return rc ? rc : add_behind(py, &b, a);
}

/* ---- events of functions that ask a loop ---- */

#define ASKS_MOST 3u /* frames, the one that waits and those that made its event */

/* The variables of a frame, what cells hold in their place. Their number. */
static size_t see_variables(struct prof_py *py, size_t frame, struct seen s[PROF_PYREACH_BATCH])
{
	size_t n = py->reach.slots[frame].locals, i;

	n = n < PROF_PYREACH_BATCH ? n : PROF_PYREACH_BATCH;
	for (i = 0; i < n; i++)
		s[i].at = prof_pyreach_slot(py, frame, i);
	return see_inside(py, s, n) ? 0 : n;
}

static bool calls_loop(struct prof_py *py, const struct prof_pywalk *w, size_t frame)
{
	struct prof_pycode *code = prof_pycode_get(&py->codes, &py->mem, &py->layout,
						   w->frame[frame].code, py->raw[frame]);

	return code && prof_pyreach_code_gives(py, code, py->raw[frame]) &
			       (PROF_PYGIVES_CALL | PROF_PYGIVES_ASKS);
}

static void note_loops(struct behind *b, const struct seen *s, size_t n)
{
	size_t i;

	for (i = 0; i < n && b->n < PROF_PYREACH_BATCH; i++)
		if (s[i].type && (s[i].type->asyncio || s[i].type->takes == PROF_PYGIVES_CALL))
			b->from[b->n++] = s[i].at;
}

/* The event whose wait() the library's part of the stack ends with; 0: it is none. */
static uint64_t event_of(struct prof_py *py, size_t library)
{
	struct seen s = { 0 };

	if (!library || !has_arguments(py, library - 1))
		return 0;
	s.at = prof_pyreach_slot(py, library - 1, 0);
	return !see_inside(py, &s, 1) && s.type && s.type->takes & PROF_PYGIVES_SET ? s.at : 0;
}

static bool has(const struct seen *s, size_t n, uint64_t at)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (s[i].at == at)
			return true;
	return false;
}

/*
 * A function that has a coroutine run by a loop, and an event set behind it, waits for that loop
 * alone: only the coroutine has the event then, and is on no stack while it waits. A loop or a task
 * of one beside the event, in the variables of a function that calls a loop, or of one further in
 * that it made to wait.
 */
static int add_asked(struct prof_py *py, const struct prof_pywalk *w, size_t library,
		     struct awaited *a)
{
	uint64_t event = event_of(py, library);
	uint64_t loop[PROF_PYREACH_BEHIND];
	struct awaited asked = { .object = loop, .room = PROF_PYREACH_BEHIND };
	struct behind b = { .n = 0 };
	struct seen s[PROF_PYREACH_BATCH];
	bool calls = false;
	size_t i, n;
	int rc = 0;

	for (i = library; event && i < w->frames && i < library + ASKS_MOST; i++) {
		n = see_variables(py, i, s);
		if (!has(s, n, event))
			break;
		calls |= calls_loop(py, w, i);
		note_loops(&b, s, n);
	}
	if (calls)
		rc = add_behind(py, &b, &asked);
	if (!asked.n)
		return rc;
	a->n = 0;
	for (i = 0; i < asked.n; i++)
		add_awaited(a, loop[i]);
	return rc;
}

/* Is the thread still where it was? */
static int check_place(struct prof_py *py, const struct prof_py_thread *t,
		       const struct prof_pyframe *before)
{
	struct prof_pywalk *w;
	int rc = prof_py_walk_frames(py, t, &w);

	if (rc)
		return rc;
	return w->frames && w->frame[0].at == before->at && w->frame[0].code == before->code &&
			       w->frame[0].instr == before->instr
		       ? 0
		       : -EAGAIN;
}

static int awaited_at(struct prof_py *py, const struct prof_pywalk *w, struct awaited *a)
{
	size_t library = count_library(py, w), frames = library ? library + ASKS_MOST : 1;
	int rc;

	prof_pyreach_begin(py);
	rc = prof_pyreach_slots(py, w, frames < w->frames ? frames : w->frames);
	if (!rc)
		rc = add_called(py, &w->frame[0], library, a);
	if (!rc)
		rc = add_selves(py, w, library, a);
	return rc ? rc : add_asked(py, w, library, a);
}

int prof_py_awaited(struct prof_py *py, const struct prof_py_thread *t, uint64_t *object,
		    size_t room)
{
	struct awaited a = { .object = object, .room = room };
	struct prof_pyframe inner;
	struct prof_pywalk *w;
	int rc = py->layout.refs.known ? prof_py_walk_frames(py, t, &w) : -ENOTSUP;

	py->reach.awaiteds = 0;
	if (rc || !w->frames)
		return rc;
	inner = w->frame[0];
	rc = awaited_at(py, w, &a);
	if (!rc)
		rc = check_place(py, t, &inner);
	return rc ? rc : (int)a.n;
}

int prof_py_awaited_there(struct prof_py *py, const struct prof_py_thread *t, uint64_t *object,
			  size_t room)
{
	struct awaited a = { .object = object, .room = room };
	const struct prof_pywalk *w = py->last;
	int rc;

	if (!py->layout.refs.known || !w || py->last_tstate != t->tstate)
		return prof_py_awaited(py, t, object, room);
	py->reach.awaiteds = 0;
	rc = w->frames ? awaited_at(py, w, &a) : 0;
	return rc ? rc : (int)a.n;
}

bool prof_py_is_queue(struct prof_py *py, uint64_t object)
{
	struct seen s = { .at = object };
	size_t i;

	for (i = 0; i < py->reach.awaiteds; i++)
		if (py->reach.awaited[i] == object)
			return py->reach.queue_of[i];
	return !see(py, &s, 1) && s.type && is_queue(py, object, s.type);
}

/* ---- what is asked for again and again ---- */

#define ASKING_MOST 6u /* functions, from the one that sleeps to the iterator */

static bool is_iterator(const struct prof_pycode *code)
{
	static const char *const names[] = { "__next__", "__anext__", "iter_next", NULL };

	return code->generator || is_called(code, names);
}

/* How many of the innermost functions look for an iterator's next item, that one's own included. */
static size_t count_asking(struct prof_py *py, const struct prof_pywalk *w)
{
	size_t i;

	for (i = 0; i < w->frames && i < ASKING_MOST; i++) {
		const struct prof_pycode *code = prof_pycode_get(&py->codes, &py->mem, &py->layout,
								 w->frame[i].code, py->raw[i]);

		if (!code || w->frame[i].suspended)
			break;
		if (is_iterator(code))
			return i + 1;
	}
	return 0;
}

/*
 * Their objects, and the futures and results that these have: whatever comes is looked for there.
 */
static int asked_at(struct prof_py *py, const struct prof_pywalk *w, struct awaited *a)
{
	size_t frames = count_asking(py, w), n = 0, from = 0, i;
	uint64_t object[ASKING_MOST];
	struct seen s[ASKING_MOST];
	int rc;

	prof_pyreach_begin(py);
	rc = prof_pyreach_slots(py, w, frames);
	for (i = 0; i < frames && !rc; i++)
		if (has_arguments(py, i))
			s[n++].at = prof_pyreach_slot(py, i, 0);
	if (!rc)
		rc = see_inside(py, s, n);
	for (i = 0; i < n && !rc; i++)
		if (s[i].type && is_object(s[i].type) && add_awaited(a, s[i].at))
			object[from++] = s[i].at;
	if (!rc && from)
		rc = prof_pyreach_results(py, object, from);
	for (i = 0; i < py->reach.behinds && !rc && from; i++)
		add_awaited(a, py->reach.behind[i]);
	return rc;
}

int prof_py_asked(struct prof_py *py, const struct prof_py_thread *t, uint64_t *object, size_t room)
{
	struct awaited a = { .object = object, .room = room };
	struct prof_pyframe inner;
	struct prof_pywalk *w;
	int rc = py->layout.refs.known ? prof_py_walk_frames(py, t, &w) : -ENOTSUP;

	py->reach.awaiteds = 0;
	if (rc || !w->frames)
		return rc;
	inner = w->frame[0];
	rc = asked_at(py, w, &a);
	if (!rc && a.n)
		rc = check_place(py, t, &inner);
	return rc ? rc : (int)a.n;
}

/* ---- what a thread reaches ---- */

#define OBJECTS_MAX 400u /* looked into by one search */
#define OBJECTS_NEAR 144u

enum depth {
	FAR,
	NEAR
};

static int set_wanted(struct prof_py *py, const uint64_t *wanted, size_t n, bool own)
{
	struct prof_pyreach *r = &py->reach;
	struct seen s[PROF_PYREACH_WANTED];
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		s[i].at = r->wanted[i] = wanted[i];
	rc = see(py, s, n);
	r->wanteds = r->open = n;
	memset(r->found, 0, sizeof(r->found));
	for (i = 0; i < n; i++)
		r->takes[i] = s[i].type && s[i].type->takes ? s[i].type->takes : PROF_PYGIVES_HANDS;
	for (i = 0; !own && py->mem.pid != getpid() && i < n; i++) {
		if (s[i].type && s[i].type->shared)
			continue;
		r->wanted[i] = 0;
		r->open--; /* the search ends when all is found that can be */
	}
	return rc;
}

static void learn_codes(struct prof_py *py, const struct prof_pywalk *w, size_t frames,
			uint8_t *home)
{
	struct prof_pyreach *r = &py->reach;
	uint16_t gives = 0;
	size_t i;

	for (i = 0; i < frames; i++) {
		struct prof_pycode *code = prof_pycode_get(&py->codes, &py->mem, &py->layout,
							   w->frame[i].code, py->raw[i]);

		home[i] = code ? code->home : PROF_PYCODE_LIBRARYS;
		r->own_gives[i] = code ? prof_pyreach_code_gives(py, code, py->raw[i]) : 0;
		r->frame_gives[i] = gives |= r->own_gives[i];
	}
	prof_pyreach_names(py, frames);
}

/* From the outermost frame on: from there more code is further in. */
static void offer_slots(struct prof_py *py, size_t frames)
{
	const struct prof_pyslots *slots = py->reach.slots;
	size_t i, k;

	for (i = frames; i--;)
		for (k = 0; k < slots[i].locals + slots[i].in_use; k++) {
			struct prof_pyway way = { .frame = (uint8_t)i };

			if (k >= slots[i].locals)
				way.how = PROF_PYHOW_STACK;
			else if (!k && has_arguments(py, i))
				way.how = PROF_PYHOW_SELF;
			prof_pyreach_offer(py, prof_pyreach_slot(py, i, k), &way);
		}
}

static int search(struct prof_py *py, const struct prof_pywalk *w, enum depth depth)
{
	uint8_t home[PROF_PY_FRAMES];
	size_t frames = prof_py_own_frames(py, w);
	int rc = prof_pyreach_slots(py, w, frames);

	if (rc)
		return rc;
	py->reach.depth = PROF_PYREACH_DEPTH;
	py->reach.objects = depth == NEAR ? OBJECTS_NEAR : OBJECTS_MAX;
	learn_codes(py, w, frames, home);
	offer_slots(py, frames);
	if (depth != NEAR)
		prof_pyreach_globals(py, home, frames);
	rc = prof_pyreach_follow(py);
	if (!rc && depth != NEAR)
		prof_pyreach_methods(py);
	return rc;
}

static int look_once(struct prof_py *py, const struct prof_py_thread *t, enum depth depth)
{
	struct prof_pywalk *w;
	int rc;

	prof_pyreach_begin(py);
	rc = prof_py_walk_frames(py, t, &w);
	if (!rc && depth != NEAR) {
		prof_pycoro_add_all(py, w);
		prof_pyreach_begin(py); /* tasks may lead where the search comes to, too */
	}
	return rc ? rc : search(py, w, depth);
}

/* Leaves only what was found; of what is held and not given it is enough that it is held. */
static size_t want_found(struct prof_pyreach *r, const struct prof_py_hold *first, size_t n)
{
	size_t found = 0, i;

	for (i = 0; i < n; i++) {
		found += first[i].held;
		if (!first[i].held)
			r->wanted[i] = 0;
		else if (!first[i].gives)
			r->takes[i] = PROF_PYGIVES_ANYTHING;
	}
	r->open = found;
	memset(r->found, 0, sizeof(r->found));
	return found;
}

/*
 * The program runs on: memory that was a list's is another object's before its items are read, and
 * such a way leads anywhere. So what was found counts if it is found again.
 */
static int look_twice(struct prof_py *py, const struct prof_py_thread *t, size_t n,
		      enum depth depth, struct prof_py_hold *out)
{
	struct prof_pyreach *r = &py->reach;
	size_t held = 0, i;
	int rc = look_once(py, t, depth);

	if (rc)
		return rc;
	for (i = 0; i < n; i++)
		out[i] = (struct prof_py_hold){ r->found[i].held, r->found[i].gives };
	if (!want_found(r, out, n))
		return 0;
	rc = look_once(py, t, depth);
	for (i = 0; i < n; i++) {
		out[i].held &= !rc && r->found[i].held;
		out[i].gives &= !rc && r->found[i].gives;
		held += out[i].held;
	}
	return rc ? rc : (int)held;
}

static int holds(struct prof_py *py, const struct prof_py_thread *t, const uint64_t *wanted,
		 size_t n, bool own, enum depth depth, struct prof_py_hold *out)
{
	int rc;

	if (n > PROF_PY_WANTED)
		return -EINVAL;
	memset(out, 0, n * sizeof(*out));
	if (!py->layout.refs.known)
		return -ENOTSUP;
	prof_pyreach_begin(py);
	rc = set_wanted(py, wanted, n, own);
	if (!rc && py->reach.open)
		rc = look_twice(py, t, n, depth, out);
	return rc == -ESRCH ? -ENOENT : rc;
}

int prof_py_holds(struct prof_py *py, const struct prof_py_thread *t, const uint64_t *wanted,
		  size_t n, struct prof_py_hold *out)
{
	return holds(py, t, wanted, n, false, FAR, out);
}

int prof_py_holds_own(struct prof_py *py, const struct prof_py_thread *t, const uint64_t *wanted,
		      size_t n, struct prof_py_hold *out)
{
	return holds(py, t, wanted, n, true, FAR, out);
}

int prof_py_holds_near(struct prof_py *py, const struct prof_py_thread *t, const uint64_t *wanted,
		       size_t n, struct prof_py_hold *out)
{
	return holds(py, t, wanted, n, true, NEAR, out);
}

bool prof_py_shares(struct prof_py *a, struct prof_py *b, uint64_t object)
{
	struct seen s = { .at = object };
	uint64_t type[2];

	if (!b->layout.refs.known ||
	    prof_pymem_read(&a->mem, object + PROF_PYOBJECT_TYPE, &type[0], sizeof(type[0])) ||
	    prof_pymem_read(&b->mem, object + PROF_PYOBJECT_TYPE, &type[1], sizeof(type[1])) ||
	    type[0] != type[1] || b->mem.pid == getpid())
		return false;
	prof_pyreach_begin(b);
	return !see(b, &s, 1) && s.type && s.type->shared;
}
