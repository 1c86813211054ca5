/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows tasks down their awaits, all of them at once: one read brings the objects, one the frames
 * of those that are suspended, one their codes and what they await. The loop may wake up meanwhile:
 * each object is checked, and whether it is found so once more, and the thread where it was.
 */
#include "pycoro.h"

#include <string.h>

#include "pypriv.h"

#define FRAME_HEAD 360u /* before the variables, at most */
#define STEPS_MOST 40u
#define INNER 16u /* in what leads on to another object: that */
#define OWNER_GENERATOR 1
#define KEPT_TIMES 8u
#define GIVES_FRAMES 4u
#define GIVES_VARIABLES 16u

void prof_pycoro_note(struct prof_pycoros *c, uint64_t task)
{
	size_t i;

	for (i = 0; i < PROF_PYCORO_NOTED; i++)
		if (c->noted[i] == task)
			return;
	for (i = 0; i < PROF_PYCORO_KEPT; i++)
		c->kept[i].left = 0;
	c->noted[c->next] = task;
	c->next = (uint8_t)((c->next + 1) % PROF_PYCORO_NOTED);
}

static bool is_noted(const struct prof_pycoros *c, uint64_t task)
{
	size_t i;

	for (i = 0; i < PROF_PYCORO_NOTED; i++)
		if (c->noted[i] == task)
			return true;
	return false;
}

/* ---- one step of all ---- */

struct step { /* of one task */
	struct prof_pytask *t;
	uint64_t head[3]; /* references, type, and what may lead on */
	uint64_t next; /* a word that leads on */
	uint64_t frame;
	uint64_t top; /* where the frame has what it awaits */
	uint8_t raw[FRAME_HEAD];
	uint8_t code[PROF_PYCODE_BYTES];
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

static bool is_named(const struct prof_pycode *code, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(code->text, name, n) && code->text[n] == '\t';
}

/* What the library's function, in which a task ends, waits for. */
static enum prof_pycoro_end end_of(const struct prof_pycode *code)
{
	static const char *const loops[] = { "/asyncio/tasks.py", "/asyncio/queues.py",
					     "/asyncio/locks.py", "/asyncio/taskgroups.py",
					     "/asyncio/timeouts.py" };
	size_t i;

	if (ends_with(code->text, "/asyncio/tasks.py") && is_named(code, "sleep"))
		return PROF_PYCORO_TIME;
	for (i = 0; i < sizeof(loops) / sizeof(*loops); i++)
		if (ends_with(code->text, loops[i]))
			return PROF_PYCORO_LOOP;
	return PROF_PYCORO_OUTSIDE;
}

/* Where the frame of a generator is, as far as the object tells. */
static uint64_t frame_place(const struct prof_pylayout *l, const struct step *s)
{
	if (l->frames == PROF_PYFRAME_OBJECT)
		return s->head[INNER / 8];
	return s->t->object + l->refs.suspended.frame;
}

/* Where the frame, which is suspended, has what it awaits: the top of its stack. 0: it has none. */
static uint64_t top_of(const struct prof_pylayout *l, const struct step *s)
{
	const struct prof_pyrefs *refs = &l->refs;
	uint64_t base = s->frame + refs->frame.locals;
	int32_t index;

	if (refs->suspended.top_bytes == 8) {
		base = prof_pymem_word(s->raw, refs->suspended.top);
		return base ? base - 8 : 0;
	}
	if (refs->frame.evaluation != PROF_PYLAYOUT_NONE)
		base = prof_pymem_word(s->raw, refs->frame.evaluation);
	memcpy(&index, s->raw + refs->suspended.top, sizeof(index));
	return base && index > 0 && index < (int32_t)PROF_PYREACH_SLOTS
		       ? base + ((uint64_t)index - 1) * 8
		       : 0;
}

/* No frame leads to one that does not run. */
static bool is_suspended(const struct prof_pylayout *l, const struct step *s)
{
	if (prof_pymem_word(s->raw, l->frame.previous))
		return false;
	if (l->frames == PROF_PYFRAME_OBJECT)
		return prof_pymem_word(s->raw, PROF_PYOBJECT_REFERENCES) != 0 &&
		       prof_pymem_word(s->raw, l->refs.suspended.generator) == s->t->object;
	return s->raw[l->frame.owner] == OWNER_GENERATOR;
}

static void end_at(struct prof_pytask *t, enum prof_pycoro_end end)
{
	t->object = 0;
	t->end = (uint8_t)end;
}

/* The frame into its task; where the object it awaits is. */
static void take_frame(struct prof_py *py, struct step *s)
{
	struct prof_pytask *t = s->t;
	struct prof_pyframe f = prof_pywalk_frame_of(&py->layout, s->frame, s->raw);
	const struct prof_pycode *code;

	f.suspended = true;
	end_at(t, PROF_PYCORO_NOTHING);
	if (t->frames == PROF_PYCORO_DEPTH ||
	    prof_pymem_word(s->code, PROF_PYOBJECT_TYPE) != py->at.code_type)
		return;
	code = prof_pycode_get(&py->codes, &py->mem, &py->layout, f.code, s->code);
	if (!code || !code->generator || !s->next) /* without: it has not begun */
		return;
	t->frame[t->frames++] = f;
	t->end = (uint8_t)end_of(code);
	if (code->home == PROF_PYCODE_USERS) {
		t->own = t->frames;
		t->code = f.code;
	}
	t->object = s->next;
}

static int read_frames(struct prof_py *py, struct step **s, size_t n)
{
	struct prof_pymem_part part[2 * PROF_PYCORO_TASKS];
	const struct prof_pylayout *l = &py->layout;
	size_t i, k = 0;
	int rc;

	for (i = 0; i < n; i++) {
		s[i]->frame = frame_place(l, s[i]);
		part[i] = (struct prof_pymem_part){ s[i]->frame, s[i]->raw, l->refs.frame.locals };
	}
	rc = prof_pyreach_read(py, part, n);
	for (i = 0; i < n && !rc; i++) {
		s[i]->top = part[i].bytes && is_suspended(l, s[i]) ? top_of(l, s[i]) : 0;
		if (!s[i]->top) {
			end_at(s[i]->t, PROF_PYCORO_NOTHING);
			continue;
		}
		s[k++] = s[i];
	}
	for (i = 0; i < k; i++) {
		part[2 * i] = (struct prof_pymem_part){ s[i]->top, &s[i]->next, 8 };
		part[2 * i + 1] = (struct prof_pymem_part){
			prof_pywalk_frame_of(l, s[i]->frame, s[i]->raw).code, s[i]->code,
			l->code.bytes
		};
	}
	if (!rc)
		rc = prof_pyreach_read(py, part, 2 * k);
	for (i = 0; i < k && !rc; i++) {
		if (!part[2 * i].bytes || !part[2 * i + 1].bytes)
			memset(s[i]->code, 0, sizeof(s[i]->code));
		take_frame(py, s[i]);
	}
	return rc;
}

/* Tasks lead on to what they run. */
static int read_tasks(struct prof_py *py, struct step **s, size_t n)
{
	struct prof_pymem_part part[PROF_PYCORO_TASKS];
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		part[i] =
			(struct prof_pymem_part){ s[i]->t->object + py->layout.refs.suspended.task,
						  &s[i]->next, 8 };
	rc = prof_pyreach_read(py, part, n);
	for (i = 0; i < n && !rc; i++) {
		s[i]->t->last = s[i]->t->object;
		s[i]->t->object = part[i].bytes ? s[i]->next : 0;
		s[i]->t->end = PROF_PYCORO_NOTHING;
	}
	return rc;
}

/* What those that are at no end yet are. */
static int read_objects(struct prof_py *py, struct step *s, size_t n, struct prof_pytype **type)
{
	struct prof_pymem_part part[PROF_PYCORO_TASKS];
	uint64_t at[PROF_PYCORO_TASKS];
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ s[i].t->object, s[i].head, sizeof(s[i].head) };
	rc = prof_pyreach_read(py, part, n);
	for (i = 0; i < n; i++)
		at[i] = !rc && part[i].bytes ? s[i].head[PROF_PYOBJECT_TYPE / 8] : 0;
	return rc ? rc : prof_pyreach_types(py, at, n, false, type);
}

static size_t begin_step(struct prof_pycoros *c, struct step *s)
{
	size_t n = 0, i;

	for (i = 0; i < c->tasks; i++)
		if (c->task[i].object)
			s[n++].t = &c->task[i];
	return n;
}

/* False: there is nothing more to follow. */
static bool step(struct prof_py *py, struct step *s)
{
	struct prof_pytype *type[PROF_PYCORO_TASKS];
	struct step *frames[PROF_PYCORO_TASKS], *tasks[PROF_PYCORO_TASKS];
	size_t n = begin_step(&py->coros, s), f = 0, t = 0, i;

	if (!n || read_objects(py, s, n, type))
		return false;
	for (i = 0; i < n; i++)
		switch (type[i] ? (enum prof_pyawaits)type[i]->awaits : PROF_PYAWAITS_NOTHING) {
		case PROF_PYAWAITS_FRAME:
			frames[f++] = &s[i];
			break;
		case PROF_PYAWAITS_TASK:
			tasks[t++] = &s[i];
			break;
		case PROF_PYAWAITS_INNER:
			s[i].t->object = s[i].head[INNER / 8];
			break;
		case PROF_PYAWAITS_FUTURE:
			end_at(s[i].t, (enum prof_pycoro_end)s[i].t->end);
			break;
		case PROF_PYAWAITS_OTHERS:
			end_at(s[i].t, PROF_PYCORO_LOOP);
			break;
		case PROF_PYAWAITS_NOTHING: /* it only let others go first */
			end_at(s[i].t, PROF_PYCORO_NOTHING);
			break;
		}
	return !read_tasks(py, tasks, t) && !read_frames(py, frames, f);
}

static void follow(struct prof_py *py)
{
	struct step s[PROF_PYCORO_TASKS];
	unsigned int n;
	size_t i;

	for (n = 0; n < STEPS_MOST && step(py, s); n++)
		;
	for (i = 0; i < py->coros.tasks; i++)
		if (py->coros.task[i].object)
			py->coros.task[i].end = PROF_PYCORO_NOTHING;
}

/* ---- which of them ---- */

static bool is_told(const struct prof_pytask *t)
{
	return t->own && t->end >= PROF_PYCORO_TIME;
}

/* How many wait there, each counted once however many wait for it. */
static size_t count_there(const struct prof_pycoros *c, const struct prof_pytask *t)
{
	const struct prof_pyframe *f = &t->frame[t->own - 1];
	size_t n = 0, i;

	for (i = 0; i < c->tasks; i++) {
		const struct prof_pytask *o = &c->task[i];

		n += is_told(o) && o->last == o->task && o->end == t->end && o->code == t->code &&
		     o->frame[o->own - 1].instr == f->instr;
	}
	return n;
}

/*
 * Those that others wait for, by their results or by what they have; then what they wait for; then
 * how many of them do.
 */
static size_t worth(const struct prof_pycoros *c, const struct prof_pytask *t)
{
	return (is_noted(c, t->task) ? 1u << 16 : 0) + (t->gives ? 1u << 12 : 0) +
	       ((size_t)t->end << 8) + count_there(c, t);
}

/*
 * What tasks wait for that wait for others: the objects of the innermost functions, queues and
 * events.
 */
static size_t read_waited(struct prof_py *py, uint64_t *object)
{
	const struct prof_pycoros *c = &py->coros;
	struct prof_pymem_part part[PROF_PYCORO_TASKS];
	size_t n = 0, i;

	for (i = 0; i < c->tasks; i++) {
		const struct prof_pytask *t = &c->task[i];

		if (t->end == PROF_PYCORO_LOOP && t->frames > t->own)
			part[n++] = (struct prof_pymem_part){
				t->frame[t->frames - 1].at + py->layout.refs.frame.locals, NULL, 8
			};
	}
	for (i = 0; i < n; i++) {
		object[i] = 0;
		part[i].to = &object[i];
	}
	return prof_pyreach_read(py, part, n) ? 0 : n;
}

static bool has_one(const uint64_t *word, size_t words, const uint64_t *object, size_t n)
{
	size_t i, k;

	for (i = 0; i < words; i++)
		for (k = 0; k < n; k++)
			if (word[i] && word[i] == object[k])
				return true;
	return false;
}

/* Variables of the innermost functions of the program's: what is behind them may be anything. */
static void learn_gives(struct prof_py *py)
{
	struct prof_pycoros *c = &py->coros;
	uint64_t object[PROF_PYCORO_TASKS], word[GIVES_FRAMES][GIVES_VARIABLES];
	struct prof_pymem_part part[GIVES_FRAMES];
	size_t n = read_waited(py, object), i, k;

	for (i = 0; i < c->tasks && n; i++) {
		struct prof_pytask *t = &c->task[i];
		size_t frames = is_told(t) ? t->own < GIVES_FRAMES ? t->own : GIVES_FRAMES : 0;

		for (k = 0; k < frames; k++)
			part[k] = (struct prof_pymem_part){ t->frame[t->own - 1 - k].at +
								    py->layout.refs.frame.locals,
							    word[k], sizeof(word[k]) };
		if (prof_pyreach_read(py, part, frames))
			return;
		for (k = 0; k < frames; k++)
			t->gives |= part[k].bytes && has_one(word[k], GIVES_VARIABLES, object, n);
	}
}

static const struct prof_pytask *choose(const struct prof_pycoros *c, uint64_t main)
{
	const struct prof_pytask *best = NULL;
	size_t i;

	if (c->tasks && c->task[0].task == main && is_told(&c->task[0]))
		return &c->task[0];
	for (i = 0; i < c->tasks; i++)
		if (is_told(&c->task[i]) && (!best || worth(c, &c->task[i]) > worth(c, best)))
			best = &c->task[i];
	return best;
}

/* ---- into the walk ---- */

static const struct prof_pycode *code_of(struct prof_py *py, const struct prof_pywalk *w, size_t i)
{
	return i < w->frames ? prof_pycode_get(&py->codes, &py->mem, &py->layout, w->frame[i].code,
					       py->raw[i])
			     : NULL;
}

/* How many functions of asyncio there are from the selector outwards; 0: it is not in a loop. */
static size_t count_loops(struct prof_py *py, const struct prof_pywalk *w)
{
	const struct prof_pycode *code = code_of(py, w, 0);
	size_t i;

	if (!code || !ends_with(code->text, "/selectors.py"))
		return 0;
	code = code_of(py, w, 1);
	if (!code || !ends_with(code->text, "/asyncio/base_events.py"))
		return 0;
	for (i = 2; i < w->frames; i++) {
		code = code_of(py, w, i);
		if (!code || code->home != PROF_PYCODE_LIBRARYS || !strstr(code->text, "/asyncio/"))
			break;
	}
	return i;
}

static uint64_t word_at(struct prof_py *py, uint64_t at)
{
	uint64_t value;

	return prof_pymem_read(&py->mem, at, &value, sizeof(value)) ? 0
								    : value & ~py->layout.code_tag;
}

/* The task for which the loop is run; 0: none is known. */
static uint64_t main_task(struct prof_py *py, const struct prof_pywalk *w, size_t loops)
{
	size_t i;

	for (i = 2; i < loops; i++) {
		const struct prof_pycode *code = code_of(py, w, i);
		const char *name = code ? strstr(code->text, "run_until_complete\t") : NULL;

		if (name && ends_with(code->text, "/asyncio/base_events.py"))
			return word_at(py, w->frame[i].at + py->layout.refs.frame.locals + 8);
	}
	return 0;
}

/*
 * Is it there once more? What a loop that goes on leaves behind may look like anything, but hardly
 * twice. It is in task[0] then.
 */
static bool is_same_again(struct prof_py *py, const struct prof_pytask *before)
{
	struct prof_pycoros *c = &py->coros;
	const struct prof_pytask *now = &c->task[0];
	size_t i;

	c->tasks = 1;
	c->task[0] = (struct prof_pytask){ .task = before->task, .object = before->task };
	follow(py);
	for (i = 0; i < now->frames && i < before->frames; i++)
		if (now->frame[i].at != before->frame[i].at ||
		    now->frame[i].code != before->frame[i].code ||
		    now->frame[i].instr != before->frame[i].instr)
			return false;
	return is_told(now) && now->frames == before->frames && now->end == before->end;
}

/* The one for that loop, or one to be used for it. */
static struct prof_pykept *kept_of(struct prof_pycoros *c, uint64_t loop)
{
	struct prof_pykept *k;
	size_t i;

	for (i = 0; i < PROF_PYCORO_KEPT; i++)
		if (c->kept[i].loop == loop)
			return &c->kept[i];
	k = &c->kept[c->next_kept];
	c->next_kept = (uint8_t)((c->next_kept + 1) % PROF_PYCORO_KEPT);
	*k = (struct prof_pykept){ .loop = loop };
	return k;
}

static bool is_kept(struct prof_py *py, struct prof_pykept *k)
{
	if (!k->left || !is_same_again(py, &k->task))
		return false;
	k->left--;
	return true;
}

/* The loop's task to be told into task[0]. False: there is none. */
static bool find(struct prof_py *py, uint64_t loop, uint64_t main, uint64_t frame)
{
	struct prof_pycoros *c = &py->coros;
	struct prof_pykept *k = kept_of(c, loop);
	const struct prof_pytask *t;

	if (is_kept(py, k))
		return true;
	k->left = 0;
	c->tasks = 0;
	if (main)
		c->task[c->tasks++] = (struct prof_pytask){ .task = main, .object = main };
	follow(py);
	if (!main || !is_told(&c->task[0])) {
		prof_pytasks_find(py, loop, word_at(py, frame + py->layout.refs.frame.globals));
		follow(py);
		learn_gives(py);
	}
	t = choose(c, main);
	if (!t)
		return false;
	k->task = *t;
	if (!is_same_again(py, &k->task))
		return false;
	k->left = KEPT_TIMES;
	return true;
}

static bool is_still_there(struct prof_py *py, const struct prof_pywalk *w)
{
	uint8_t raw[PROF_PYWALK_FRAME];
	struct prof_pyframe now;
	size_t i;

	for (i = 0; i < 2; i++) {
		if (prof_pymem_read(&py->mem, w->frame[i].at, raw, py->layout.frame.bytes))
			return false;
		now = prof_pywalk_frame_of(&py->layout, w->frame[i].at, raw);
		if (now.code != w->frame[i].code || now.instr != w->frame[i].instr ||
		    now.previous != w->frame[i].previous)
			return false;
	}
	return true;
}

/* Frames, at most PROF_PYCORO_DEPTH, behind @loops others; the outermost of all make room. */
static void insert(struct prof_py *py, struct prof_pywalk *w, size_t loops,
		   const struct prof_pyframe *frame, size_t n)
{
	struct prof_pymem_part part[PROF_PYCORO_DEPTH];
	uint8_t code[PROF_PYCORO_DEPTH][PROF_PYCODE_BYTES];
	size_t left = w->frames - loops, i;

	if (loops + n > PROF_PY_FRAMES)
		return;
	for (i = 0; i < n; i++)
		part[i] = (struct prof_pymem_part){ frame[i].code, code[i], py->layout.code.bytes };
	if (prof_pymem_read_parts(&py->mem, part, n))
		return;
	if (left > PROF_PY_FRAMES - loops - n)
		left = PROF_PY_FRAMES - loops - n;
	memmove(w->frame + loops + n, w->frame + loops, left * sizeof(*w->frame));
	memmove(py->raw[loops + n], py->raw[loops], left * sizeof(py->raw[0]));
	for (i = 0; i < n; i++) {
		w->frame[loops + i] = frame[i];
		memcpy(py->raw[loops + i], code[i], py->layout.code.bytes);
	}
	w->frames = loops + n + left;
	w->depth += n;
}

/* The program's functions, the innermost one first. */
static void insert_task(struct prof_py *py, struct prof_pywalk *w, size_t loops,
			const struct prof_pytask *t)
{
	struct prof_pyframe frame[PROF_PYCORO_DEPTH];
	size_t i;

	for (i = 0; i < t->own; i++)
		frame[i] = t->frame[t->own - 1 - i];
	insert(py, w, loops, frame, t->own);
}

/* The loop in whose selector the thread sleeps, behind *loops frames; 0: it does not. */
static uint64_t loop_of(struct prof_py *py, const struct prof_pywalk *w, size_t *loops)
{
	const struct prof_pyrefs *refs = &py->layout.refs;

	if (!refs->known || refs->suspended.frame == PROF_PYLAYOUT_NONE || w->frames < 2)
		return 0;
	*loops = count_loops(py, w);
	return *loops ? word_at(py, w->frame[1].at + refs->frame.locals) : 0;
}

void prof_pycoro_add(struct prof_py *py, struct prof_pywalk *w)
{
	size_t loops;
	uint64_t loop = loop_of(py, w, &loops), main;

	if (!loop)
		return;
	prof_pyreach_begin(py);
	main = main_task(py, w, loops);
	if (find(py, loop, main, w->frame[1].at) && is_still_there(py, w))
		insert_task(py, w, loops, &py->coros.task[0]);
}

static bool has_code(const struct prof_pyframe *frame, size_t n, uint64_t code)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (frame[i].code == code)
			return true;
	return false;
}

void prof_pycoro_add_all(struct prof_py *py, struct prof_pywalk *w)
{
	struct prof_pycoros *c = &py->coros;
	struct prof_pyframe frame[PROF_PYCORO_ALL];
	size_t loops, n = 0, i;
	uint64_t loop = loop_of(py, w, &loops);

	if (!loop)
		return;
	c->tasks = 0;
	prof_pytasks_find(py, loop, word_at(py, w->frame[1].at + py->layout.refs.frame.globals));
	follow(py);
	for (i = 0; i < c->tasks && n < PROF_PYCORO_ALL; i++) {
		const struct prof_pytask *t = &c->task[i];

		if (t->own && !has_code(frame, n, t->code))
			frame[n++] = t->frame[t->own - 1];
	}
	if (n && is_still_there(py, w))
		insert(py, w, loops, frame, n);
}
