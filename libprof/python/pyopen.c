/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the interpreter in a process, and decides whether it is one that we know.
 */
#include "pystack.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pyelf.h"
#include "pypriv.h"

static char note[240];

const char *prof_py_note(void)
{
	return note;
}

uint32_t prof_py_version(const struct prof_py *py)
{
	return py->version;
}

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

/* Offsets that are used without further thought must lie in what is read. */
static bool layout_fits(const struct prof_pylayout *l)
{
	return l->thread.bytes <= 8192 && l->frame.bytes <= PROF_PYWALK_FRAME &&
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
	int tries, n = 0;

	for (tries = 0; tries < 5; tries++) {
		n = prof_py_threads(py, &one, 1);
		if (n > 0)
			return 0;
	}
	if (n != -EAGAIN)
		return n ? n : -ENOENT;
	snprintf(why, room, "its list of threads does not look like that of its version");
	return -ENOTSUP;
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
	p->reach.lasts = true;
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
