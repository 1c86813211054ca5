/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinds a thread from two registers, and names the modules of its frames.
 */
#include "native.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clockpoll.h"
#include "modules.h"
#include "pymem.h"
#include "unwindlib.h"

#define PAGE 4096u /* read at once: memory comes in no less */
#define PAGES 256u /* kept; a power of two */
#define OLD_NS INT64_C(10000000000) /* then modules are read anew: some may have gone */
#define HDR_BYTES 12u /* .eh_frame_hdr before its table */
#define MODES 2u

struct page {
	uint64_t at;
	uint32_t walk; /* 0: nothing in it; memory that may change holds for one walk */
	bool fixed;
	uint8_t bytes[PAGE];
};

struct native {
	struct prof_unwindlib lib;
	void *space;
	unsigned int mode; /* words before the name in the table: 0, or load_offset */
	struct prof_pymem mem;
	uint32_t walk;
	int64_t read_ns; /* when the modules were read */
	uint64_t sp, pc;
	const struct prof_module *asked; /* the last that libunwind wanted tables of */
	struct prof_modules modules;
	struct page page[PAGES];
};

static struct native *native; /* made once */
static char note[160] = "libunwind was not asked for yet: no native stacks";

const char *prof_native_note(void)
{
	return note;
}

/* ---- memory ---- */

/* Tables for unwinding do not change. */
static bool is_fixed(const struct native *n, uint64_t at)
{
	return n->asked && at >= n->asked->fixed_begin && at + PAGE <= n->asked->fixed_end;
}

static const struct page *page_at(struct native *n, uint64_t at)
{
	struct page *p = &n->page[(at / PAGE ^ at / PAGE / PAGES) % PAGES];

	if (p->at == at && p->walk && (p->fixed || p->walk == n->walk))
		return p;
	p->at = at;
	p->fixed = is_fixed(n, at);
	p->walk = prof_pymem_read(&n->mem, at, p->bytes, PAGE) ? 0 : n->walk;
	return p->walk ? p : NULL;
}

static int read_word(struct native *n, uint64_t at, uint64_t *value)
{
	const struct page *p;

	if (at % PAGE > PAGE - sizeof(*value))
		return prof_pymem_read(&n->mem, at, value, sizeof(*value));
	p = page_at(n, at - at % PAGE);
	if (!p)
		return -EFAULT;
	memcpy(value, p->bytes + at % PAGE, sizeof(*value));
	return 0;
}

/* ---- what libunwind asks ---- */

static int on_memory(void *space, uint64_t address, uint64_t *value, int write, void *arg)
{
	(void)space;
	return write || read_word(arg, address, value) ? -PROF_UNW_EINVAL : 0;
}

/* Of a blocked thread the kernel tells two registers; the others read as 0. */
static int on_register(void *space, int number, uint64_t *value, int write, void *arg)
{
	const struct native *n = arg;

	(void)space;
	if (write)
		return -PROF_UNW_EINVAL;
	*value = number == PROF_UNW_RIP ? n->pc : number == PROF_UNW_RSP ? n->sp : 0;
	return 0;
}

static int on_fpreg(void *space, int number, void *value, int write, void *arg)
{
	(void)space, (void)number, (void)value, (void)write, (void)arg;
	return -PROF_UNW_EBADREG;
}

static int on_dynamic_list(void *space, uint64_t *list, void *arg)
{
	(void)space, (void)list, (void)arg;
	return -PROF_UNW_ENOINFO;
}

static void on_put(void *space, void *info, void *arg)
{
	(void)space, (void)info, (void)arg;
}

static int on_resume(void *space, void *cursor, void *arg)
{
	(void)space, (void)cursor, (void)arg;
	return -PROF_UNW_EINVAL;
}

static int on_name(void *space, uint64_t ip, char *text, size_t room, uint64_t *offset, void *arg)
{
	(void)space, (void)ip, (void)text, (void)room, (void)offset, (void)arg;
	return -PROF_UNW_ENOINFO;
}

/*
 * .eh_frame_hdr: version 1, three encodings, a pointer, the number of rows, and the sorted table of
 * rows of two 32-bit offsets. Linkers write no other encodings than these.
 */
static bool find_table(struct native *n, const struct prof_module *m, unsigned int mode,
		       struct prof_unw_table *t)
{
	uint8_t head[HDR_BYTES];
	uint32_t rows;

	if (m->unwind_bytes < HDR_BYTES || prof_pymem_read(&n->mem, m->unwind, head, sizeof(head)))
		return false;
	if (head[0] != 1 || head[2] != 0x03 || head[3] != 0x3b || (head[1] & 0x0f) != 0x0b)
		return false;
	memcpy(&rows, head + 8, sizeof(rows));
	if (!rows || rows > (m->unwind_bytes - HDR_BYTES) / 8)
		return false;
	*t = (struct prof_unw_table){ .start = m->begin,
				      .end = m->end,
				      .format = PROF_UNW_REMOTE_TABLE };
	t->rest[mode + 1] = m->unwind; /* rows are relative to it */
	t->rest[mode + 2] = rows * UINT64_C(8) / sizeof(uint64_t);
	t->rest[mode + 3] = m->unwind + HDR_BYTES;
	return true;
}

static int on_find(void *space, uint64_t ip, void *info, int need, void *arg)
{
	struct native *n = arg;
	const struct prof_module *m = prof_module_at(&n->modules, ip);
	struct prof_unw_table table;

	if (!m || !find_table(n, m, n->mode, &table))
		return -PROF_UNW_ENOINFO;
	n->asked = m;
	return n->lib.search(space, ip, &table, info, need, arg);
}

static struct prof_unw_callbacks callbacks = { .find_proc_info = on_find,
					       .put_unwind_info = on_put,
					       .dynamic_list = on_dynamic_list,
					       .memory = on_memory,
					       .reg = on_register,
					       .fpreg = on_fpreg,
					       .resume = on_resume,
					       .proc_name = on_name };

/* ---- walking ---- */

static void refresh(struct native *n)
{
	int64_t now = prof_mono_ns();

	if (n->mem.pid != getpid()) {
		/* We were forked: addresses are the same, the numbers of its descriptors others'. */
		if (prof_pymem_open(&n->mem, 0, PROF_PYMEM_VM))
			return;
	} else if (n->read_ns && now - n->read_ns < OLD_NS &&
		   !prof_modules_grown(&n->modules, &n->mem)) {
		return;
	}
	memset(n->page, 0, sizeof(n->page));
	n->asked = NULL;
	n->lib.flush(n->space, 0, 0);
	prof_modules_read(&n->modules, &n->mem);
	n->read_ns = now;
}

/*
 * Addresses of the frames, innermost first, up to Python's interpreter: what is outside of it
 * Python's own stack tells. Those of callers lie behind their call.
 */
static size_t unwind(struct native *n, uint64_t sp, uint64_t pc, uint64_t *frame, size_t room)
{
	const struct prof_module *m = NULL;
	struct prof_unw_cursor cursor;
	uint64_t before = 0, at = sp;
	size_t found = 0;

	n->sp = sp;
	n->pc = pc;
	if (!++n->walk)
		n->walk = 1;
	if (n->lib.init(&cursor, n->space, n))
		return 0;
	do {
		if (n->lib.get(&cursor, PROF_UNW_RIP, &pc) ||
		    n->lib.get(&cursor, PROF_UNW_RSP, &at) || !pc || at < before)
			break;
		before = at;
		m = prof_module_at(&n->modules, pc - (found > 0));
		frame[found++] = pc;
	} while (!(m && m->python) && found < room && n->lib.step(&cursor) > 0);
	return found;
}

struct text {
	char *at, *end;
};

static bool append(struct text *out, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(out->end - out->at) <= n + 1)
		return false;
	memcpy(out->at, text, n);
	out->at += n;
	*out->at++ = '\n';
	return true;
}

static void describe(const struct prof_module *m, uint64_t address, char *text, size_t room)
{
	snprintf(text, room, "%s\t%llx\t%s", m->path[0] ? m->path : "?",
		 (unsigned long long)(address - m->bias), m->build_id);
}

static void write_frames(const struct native *n, const uint64_t *frame, size_t frames,
			 struct text *out)
{
	char one[PROF_MODULE_PATH + 2 * PROF_BUILD_ID + 32];
	size_t i;

	for (i = 0; i < frames; i++) {
		uint64_t address = frame[i] - (i > 0); /* inside of the call */
		const struct prof_module *m = prof_module_at(&n->modules, address);

		if (m && m->python)
			strcpy(one, "<python>");
		else if (m)
			describe(m, address, one, sizeof(one));
		else
			snprintf(one, sizeof(one), "?\t%llx\t", (unsigned long long)address);
		if (!append(out, one))
			return;
	}
}

ssize_t prof_native_walk(uint64_t sp, uint64_t pc, char *text, size_t room)
{
	struct text out = { text, text + room };
	uint64_t frame[PROF_NATIVE_FRAMES];
	size_t frames;

	if (!native || !room)
		return native ? -EINVAL : -ENOTSUP;
	refresh(native);
	frames = unwind(native, sp, pc, frame, PROF_NATIVE_FRAMES);
	write_frames(native, frame, frames, &out);
	if (out.at > text)
		out.at--;
	*out.at = 0;
	return out.at - text;
}

/* ---- loading, and the walk from a known place ---- */

/*
 * Unwinds from inside this function: the first caller must be where we return to. The compiler may
 * not drop the frame.
 */
__attribute__((noinline)) static bool finds_caller(struct native *n)
{
	uint64_t frame[3], here, sp;

#ifdef __x86_64__
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1" : "=r"(here), "=r"(sp));
#else
	here = sp = 0;
#endif
	refresh(n);
	return unwind(n, sp, here, frame, 3) >= 2 &&
	       frame[1] == (uintptr_t)__builtin_return_address(0);
}

static bool find_mode(struct native *n)
{
	unsigned int i;

	for (i = MODES; i-- > 0;) { /* the newer one first */
		n->mode = i;
		if (finds_caller(n))
			return true;
	}
	return false;
}

static const char *load(struct native *n)
{
	if (prof_unwindlib_load(&n->lib))
		return "libunwind is not here (Debian: libunwind8): no native stacks";
	if (prof_pymem_open(&n->mem, 0, PROF_PYMEM_VM))
		return "the memory of this process cannot be read: no native stacks";
	n->space = n->lib.create(&callbacks, 0);
	if (!n->space || n->lib.caching(n->space, PROF_UNW_CACHE_GLOBAL) || !find_mode(n))
		return "this libunwind does not find its way: no native stacks";
	return NULL;
}

bool prof_native_ready(void)
{
	static bool asked;
	struct native *n;
	const char *why;

	if (asked)
		return native;
	asked = true;
	n = mmap(NULL, sizeof(*n), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	why = n == MAP_FAILED ? "no memory: no native stacks" : load(n);
	snprintf(note, sizeof(note), "%s", why ? why : "");
	if (!why)
		native = n;
	return native;
}
