/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python stacks: finds the interpreter, lists its threads, and turns frames into text.
 */
#include "pystack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pycode.h"
#include "pyelf.h"
#include "pylayout.h"
#include "pymem.h"
#include "pytid.h"
#include "pywalk.h"

#define INTERPRETERS_MAX 16u
#define THREADS_MAX 65536u
#define ROOTS 1024u /* threads whose outermost code is known; a power of two */
#define TRIES 3u

struct root {
	uint64_t tstate, code;
};

struct prof_py {
	struct prof_pymem mem;
	struct prof_pyplaces at;
	struct prof_pylayout layout;
	uint32_t version;
	struct root root[ROOTS];
	struct prof_pywalk walk;
	uint8_t raw[PROF_PY_FRAMES][PROF_PYCODE_BYTES]; /* code objects of a walk */
	struct prof_pycodes codes;
};

static char note[240];

const char *prof_py_note(void)
{
	return note;
}

uint32_t prof_py_version(const struct prof_py *py)
{
	return py->version;
}

/* ---- opening ---- */

static int address_of(struct prof_py *py, const struct prof_pyelf *object, const char *name,
		      uint64_t *address, uint64_t *bytes)
{
	struct prof_pyelf_symbol s;
	int rc = prof_pyelf_symbol(&py->mem, object, name, &s);

	if (rc)
		return rc;
	*address = s.address;
	if (bytes)
		*bytes = s.bytes;
	return 0;
}

/* Py_Version came with 3.11; each version before has functions that the one before it has not. */
static int find_version(struct prof_py *py, const struct prof_pyelf *object)
{
	static const struct {
		const char *symbol;
		uint32_t version;
	} since[] = {
		{ "PyIter_Send", 0x030a0000 },
		{ "PyFrame_GetCode", 0x03090000 },
		{ "PyConfig_InitPythonConfig", 0x03080000 },
	};
	uint64_t at;
	size_t i;
	int rc = address_of(py, object, "Py_Version", &at, NULL);

	if (!rc)
		return prof_pymem_read(&py->mem, at, &py->version, sizeof(py->version));
	if (rc != -ENOENT)
		return rc;
	py->version = 0x03070000; /* the first that has _PyRuntime; we do not know it */
	for (i = 0; i < sizeof(since) / sizeof(*since); i++) {
		rc = address_of(py, object, since[i].symbol, &at, NULL);
		if (rc != -ENOENT) {
			py->version = since[i].version;
			return rc;
		}
	}
	return 0;
}

static int find_places(struct prof_py *py)
{
	struct prof_pyelf object;
	int rc = prof_pyelf_find(&py->mem, "_PyRuntime", &object);

	if (!rc)
		rc = address_of(py, &object, "_PyRuntime", &py->at.runtime, &py->at.runtime_bytes);
	if (!rc)
		rc = address_of(py, &object, "PyCode_Type", &py->at.code_type, NULL);
	return rc ? rc : find_version(py, &object);
}

static int first_interpreter(struct prof_py *py, uint64_t *interp)
{
	return prof_pymem_read(&py->mem, py->at.runtime + py->layout.interpreters, interp,
			       sizeof(*interp));
}

/* Offsets that are used without further thought must lie in what is read. */
static bool layout_fits(const struct prof_pylayout *l)
{
	return l->thread.bytes <= 8192 && l->frame.bytes <= 4096 &&
	       l->code.bytes <= PROF_PYCODE_BYTES;
}

static int learn_layout(struct prof_py *py, char *why, size_t room)
{
	int rc = prof_pylayout_find(&py->mem, &py->at, py->version, &py->layout, why, room);

	if (!rc && !layout_fits(&py->layout)) {
		snprintf(why, room, "its structures are larger than they can be");
		rc = -ENOTSUP;
	}
	return rc ? rc : prof_pylayout_check(&py->mem, &py->at, &py->layout, why, room);
}

/* Does the list of threads look like one? Empty ones are those of a Python not yet initialised. */
static int check_threads(struct prof_py *py, char *why, size_t room)
{
	struct prof_py_thread one;
	uint64_t interp;
	int rc = first_interpreter(py, &interp), tries, n = 0;

	if (rc || !interp)
		return rc ? rc : -ENOENT;
	for (tries = 0; tries < 5; tries++) {
		n = prof_py_threads(py, &one, 1);
		if (n > 0)
			return 0;
	}
	if (n == -EAGAIN) {
		snprintf(why, room, "its list of threads does not look as that of its version");
		return -ENOTSUP;
	}
	return n ? n : -ENOENT;
}

static void say(const struct prof_py *py, int rc, const char *why)
{
	const struct prof_pymem *m = &py->mem;

	if (rc == -ENOTSUP)
		snprintf(note, sizeof(note), "Python %u.%u: no Python stacks: %s",
			 py->version >> 24, py->version >> 16 & 0xff, why);
	else if (rc == -EPERM || rc == -ENOSYS)
		snprintf(note, sizeof(note), "no Python stacks: the memory of %s cannot be read",
			 m->pid == getpid() ? "this process" : "a child");
	else if (!rc && m->way != PROF_PYMEM_VM)
		snprintf(note, sizeof(note),
			 "process_vm_readv is not allowed here: Python stacks are read %s",
			 prof_pymem_way_name(m->way));
}

int prof_py_open(struct prof_py **py, pid_t pid)
{
	struct prof_py *p =
		mmap(NULL, sizeof(*p), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char why[120] = "";
	int rc;

	*py = NULL;
	note[0] = 0;
	if (p == MAP_FAILED)
		return -ENOMEM;
	rc = prof_pymem_open(&p->mem, pid, PROF_PYMEM_VM);
	if (!rc)
		rc = find_places(p);
	if (!rc)
		rc = learn_layout(p, why, sizeof(why));
	if (!rc)
		rc = check_threads(p, why, sizeof(why));
	say(p, rc, why);
	if (rc) {
		prof_py_close(p);
		return rc == -EPERM || rc == -ENOSYS || rc == -ENOTSUP ? rc : -ENOENT;
	}
	*py = p;
	return 0;
}

void prof_py_close(struct prof_py *py)
{
	if (!py)
		return;
	prof_pymem_close(&py->mem);
	munmap(py, sizeof(*py));
}

/* ---- threads ---- */

static uint64_t word(const uint8_t *raw, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, raw + offset, sizeof(value));
	return value;
}

/* The thread of the state at @at; its next one in *next. */
static int read_thread(struct prof_py *py, uint64_t at, struct prof_py_thread *t, uint64_t *next)
{
	const struct prof_pylayout *l = &py->layout;
	uint8_t raw[8192];
	uint64_t native = 0;
	int rc = prof_pymem_read(&py->mem, at, raw, l->thread.bytes);

	if (rc)
		return rc == -EFAULT ? -EAGAIN : rc;
	if (l->thread.native != PROF_PYLAYOUT_NONE)
		native = word(raw, l->thread.native);
	*t = (struct prof_py_thread){ .tstate = at,
				      .interp = word(raw, l->thread.interp),
				      .ident = word(raw, l->thread.ident) };
	t->tid = prof_pytid(&py->mem, t->ident, native);
	*next = word(raw, l->thread.next);
	return 0;
}

static int list_interpreter(struct prof_py *py, uint64_t interp, struct prof_py_thread *t,
			    size_t room, size_t *n)
{
	struct prof_py_thread one;
	uint64_t at;
	unsigned int seen;
	int rc = prof_pymem_read(&py->mem, interp + py->layout.interp.threads, &at, sizeof(at));

	for (seen = 0; !rc && at && *n < room && seen < THREADS_MAX; seen++) {
		rc = read_thread(py, at, &one, &at);
		if (!rc && one.interp != interp)
			rc = -EAGAIN;
		if (!rc && one.tid)
			t[(*n)++] = one;
	}
	return rc;
}

/* Calls @one for each interpreter until it returns other than 0. */
static int each_interpreter(struct prof_py *py,
			    int (*one)(struct prof_py *py, uint64_t interp, void *arg), void *arg)
{
	uint64_t interp;
	unsigned int n;
	int rc = first_interpreter(py, &interp);

	for (n = 0; !rc && interp && n < INTERPRETERS_MAX; n++) {
		rc = one(py, interp, arg);
		if (!rc)
			rc = prof_pymem_read(&py->mem, interp + py->layout.interp.next, &interp,
					     sizeof(interp));
	}
	return rc;
}

struct listing {
	struct prof_py_thread *t;
	size_t room, n;
};

static int list_one(struct prof_py *py, uint64_t interp, void *arg)
{
	struct listing *list = arg;

	return list_interpreter(py, interp, list->t, list->room, &list->n);
}

int prof_py_threads(struct prof_py *py, struct prof_py_thread *t, size_t room)
{
	struct listing list = { .t = t };
	unsigned int tries;
	int rc = -EAGAIN;

	list.room = room < THREADS_MAX ? room : THREADS_MAX;
	for (tries = 0; rc == -EAGAIN && tries < TRIES; tries++) {
		list.n = 0;
		rc = each_interpreter(py, list_one, &list);
		if (rc == -EFAULT)
			rc = -EAGAIN;
	}
	return rc ? rc : (int)list.n;
}

/* ---- the stack of one thread ---- */

static struct root *root_of(struct prof_py *py, uint64_t tstate)
{
	struct root *r = &py->root[(tstate >> 4 ^ tstate >> 14) % ROOTS];

	if (r->tstate != tstate)
		*r = (struct root){ .tstate = tstate };
	return r;
}

static int read_codes(struct prof_py *py)
{
	struct prof_pymem_part part[PROF_PY_FRAMES];
	const struct prof_pywalk *w = &py->walk;
	size_t i;
	int rc;

	_Static_assert(PROF_PY_FRAMES <= PROF_PYMEM_PARTS, "all codes of a walk in one read");
	for (i = 0; i < w->frames; i++)
		part[i] = (struct prof_pymem_part){ w->frame[i].code, py->raw[i],
						    py->layout.code.bytes };
	rc = prof_pymem_read_parts(&py->mem, part, w->frames);
	if (rc)
		return rc == -EFAULT ? -EAGAIN : rc;
	for (i = 0; i < w->frames; i++)
		if (word(py->raw[i], PROF_PYOBJECT_TYPE) != py->at.code_type)
			return -EAGAIN;
	return 0;
}

/*
 * A walk whose frames are all code and end where this thread's stack ends. The end is believed when
 * two walks agree on it, since it seldom changes.
 */
static int walk_whole(struct prof_py *py, const struct prof_py_thread *t)
{
	struct root *known = root_of(py, t->tstate);
	uint64_t other = 0;
	unsigned int tries;
	int rc = -EAGAIN;

	for (tries = 0; tries < TRIES; tries++) {
		rc = prof_pywalk(&py->mem, &py->layout, t, &py->walk);
		if (!rc && py->walk.frames)
			rc = read_codes(py);
		if (rc == -EAGAIN)
			continue;
		if (rc || !py->walk.root || py->walk.root == known->code)
			return rc;
		if (py->walk.root == other) {
			known->code = other;
			return 0;
		}
		other = py->walk.root;
		rc = -EAGAIN;
	}
	return rc;
}

static int64_t lasti_of(const struct prof_py *py, const struct prof_pyframe *f)
{
	const struct prof_pylayout *l = &py->layout;

	if (l->frames == PROF_PYFRAME_STACK)
		return (int64_t)(f->instr - f->code - l->code.bytecode);
	return (int64_t)f->instr * (int64_t)l->lasti_unit;
}

struct text {
	char *at, *end;
};

static bool append(struct text *out, const struct prof_pycode *code, uint32_t line)
{
	char number[16];
	int n = snprintf(number, sizeof(number), "\t%u", line);
	size_t separator = 1;

	if ((size_t)(out->end - out->at) <= separator + code->bytes + (size_t)n)
		return false;
	memcpy(out->at, code->text, code->bytes);
	memcpy(out->at + code->bytes, number, (size_t)n);
	out->at += code->bytes + (size_t)n;
	*out->at++ = '\n';
	return true;
}

/* A forked worker begins where multiprocessing's child code does; outside of it is the parent. */
static bool is_parents(uint8_t inner, uint8_t mark)
{
	return inner == PROF_PYCODE_BOOTSTRAP && mark == PROF_PYCODE_LAUNCH;
}

static int write_text(struct prof_py *py, struct text *out)
{
	const struct prof_pywalk *w = &py->walk;
	uint8_t inner = PROF_PYCODE_PLAIN;
	size_t i;

	for (i = 0; i < w->frames; i++) {
		const struct prof_pyframe *f = &w->frame[i];
		struct prof_pycode *code =
			prof_pycode_get(&py->codes, &py->mem, &py->layout, f->code, py->raw[i]);
		uint32_t line;

		if (!code || !prof_pycode_line(&py->codes, &py->mem, &py->layout, code,
					       lasti_of(py, f), &line))
			return -EAGAIN;
		if (is_parents(inner, code->mark) || !append(out, code, line))
			break;
		inner = code->mark;
	}
	return 0;
}

ssize_t prof_py_walk(struct prof_py *py, const struct prof_py_thread *t, char *text, size_t room)
{
	struct text out = { text, text + room };
	int rc = walk_whole(py, t);

	if (!rc && room < 2)
		rc = -EINVAL;
	if (!rc)
		rc = write_text(py, &out);
	if (rc)
		return rc == -ESRCH ? -ENOENT : rc;
	if (out.at > text)
		out.at--; /* no newline behind the last */
	*out.at = 0;
	return out.at - text;
}

/* ---- the global lock and the collector ---- */

/* Address of the lock of @interp, 0: cannot be told. */
static uint64_t gil_of(struct prof_py *py, uint64_t interp)
{
	uint64_t at = 0;

	if (py->layout.interp.gil == PROF_PYLAYOUT_NONE)
		return py->at.runtime + py->layout.runtime_gil;
	if (prof_pymem_read(&py->mem, interp + py->layout.interp.gil, &at, sizeof(at)))
		return 0;
	return at;
}

static int find_holder(struct prof_py *py, uint64_t interp, void *arg)
{
	uint64_t at = gil_of(py, interp), holder, next;
	struct prof_py_thread t;
	int32_t locked;

	if (!at || prof_pymem_read(&py->mem, at + py->layout.gil_locked, &locked, 4) ||
	    locked != 1 || prof_pymem_read(&py->mem, at + py->layout.gil_holder, &holder, 8) ||
	    !holder || read_thread(py, holder, &t, &next))
		return 0;
	*(pid_t *)arg = t.tid;
	return t.tid ? 1 : 0;
}

pid_t prof_py_gil_holder(struct prof_py *py)
{
	pid_t holder = 0;

	each_interpreter(py, find_holder, &holder);
	return holder;
}

static int is_in_gil(struct prof_py *py, uint64_t interp, void *arg)
{
	uint64_t at = gil_of(py, interp);

	return at && *(uint64_t *)arg - at < PROF_PYGIL_BYTES;
}

bool prof_py_in_runtime(struct prof_py *py, uint64_t address)
{
	if (address - py->at.runtime < py->at.runtime_bytes)
		return true;
	return each_interpreter(py, is_in_gil, &address) == 1;
}

static int is_collecting(struct prof_py *py, uint64_t interp, void *arg)
{
	uint64_t at = interp + py->layout.interp.collecting;
	int32_t collecting;

	(void)arg;
	if (py->layout.interp.collecting == PROF_PYLAYOUT_NONE)
		at = py->at.runtime + py->layout.runtime_collecting;
	return !prof_pymem_read(&py->mem, at, &collecting, sizeof(collecting)) && collecting == 1;
}

bool prof_py_collecting(struct prof_py *py)
{
	return each_interpreter(py, is_collecting, NULL) == 1;
}
