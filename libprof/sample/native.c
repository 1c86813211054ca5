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

#include "callsite.h"
#include "cfi.h"
#include "core/clockpoll.h"
#include "modules.h"
#include "python/pymem.h"

#define PAGE 4096u /* read at once: memory comes in no less */
#define PAGES 256u /* kept; a power of two */
#define BASE_BYTES 1024u /* of a frame whose base is not known are looked at */
#define STACK_MOST (UINT64_C(64) << 20)
#define OLD_NS INT64_C(10000000000) /* then modules are read anew: some may have gone */

struct page {
	uint64_t at;
	uint32_t walk; /* 0: nothing in it; memory that may change holds for one walk */
	bool fixed;
	uint8_t bytes[PAGE];
};

struct native {
	struct prof_pymem mem;
	struct prof_cfi_memory memory; /* the same, in whole pages */
	uint32_t walk;
	int64_t read_ns; /* when the modules were read */
	const struct prof_module *asked; /* the last whose tables were wanted */
	struct prof_modules modules;
	struct page page[PAGES];
};

static struct native *native; /* made once */
static char note[160] = "nothing was unwound yet: no native stacks";

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

static bool read_memory(void *arg, uint64_t at, void *to, size_t bytes)
{
	struct native *n = arg;
	const struct page *p;

	if (at % PAGE > PAGE - bytes || bytes > PAGE)
		return !prof_pymem_read(&n->mem, at, to, bytes);
	p = page_at(n, at - at % PAGE);
	if (p)
		memcpy(to, p->bytes + at % PAGE, bytes);
	return p;
}

/* ---- walking ---- */

static void refresh(struct native *n)
{
	int64_t now = prof_mono_ns();
	bool old = !n->read_ns || now - n->read_ns >= OLD_NS;

	if (n->mem.pid != getpid()) {
		/*
		 * We were forked: addresses are the same, the numbers of its descriptors others'.
		 */
		if (prof_pymem_open(&n->mem, 0, PROF_PYMEM_VM))
			return;
		memset(n->page, 0, sizeof(n->page));
	}
	if (!old && !prof_modules_grown(&n->modules, &n->mem))
		return;
	memset(n->page, 0, sizeof(n->page));
	n->asked = NULL;
	if (!old && !prof_modules_more(&n->modules, &n->mem))
		return;
	prof_modules_read(&n->modules, &n->mem);
	n->read_ns = now;
}

/*
 * Code built with frame pointers finds its frame by one, which the kernel does not tell. It leads
 * to where the caller's stands, right below the address returned to: the first such pair whose call
 * goes to the function that we are in. What was left behind by functions that are over was hardly
 * called so.
 */
static bool find_base(struct native *n, const struct prof_cfi_table *table,
		      struct prof_cfi_frame *f)
{
	uint64_t sp = f->reg[PROF_CFI_STACK], at = (sp + 15) & ~UINT64_C(15), pair[2];
	uint64_t begin = prof_cfi_begin(&n->memory, table, f->reg[PROF_CFI_RETURN] - f->returned);

	for (; begin && at < sp + BASE_BYTES; at += sizeof(pair)) {
		if (!read_memory(n, at, pair, sizeof(pair)))
			return false;
		if ((pair[0] && (pair[0] <= at || pair[0] > at + STACK_MOST)) ||
		    !prof_module_at(&n->modules, pair[1]) ||
		    !prof_callsite_calls(&n->memory, pair[1], begin))
			continue;
		prof_cfi_set(f, PROF_CFI_BASE, at);
		return true;
	}
	return false;
}

/* To the caller; false: there is none, or nobody knows. */
static bool step(struct native *n, const struct prof_module *m, struct prof_cfi_frame *f)
{
	struct prof_cfi_table table;
	int rc;

	if (!m)
		return false;
	n->asked = m;
	if (!prof_cfi_open(&n->memory, m->unwind, m->unwind_bytes, &table))
		return false;
	rc = prof_cfi_step(&n->memory, &table, f);
	if (rc == -ENODATA && !prof_cfi_knows(f, PROF_CFI_BASE) && find_base(n, &table, f))
		rc = prof_cfi_step(&n->memory, &table, f);
	return rc > 0;
}

static void begin_walk(struct native *n)
{
	if (!++n->walk)
		n->walk = 1;
}

/*
 * Addresses of the frames, innermost first, those of callers inside their call, up to Python's
 * interpreter: what is outside of it Python's own stack tells.
 */
static size_t unwind(struct native *n, uint64_t sp, uint64_t pc, struct prof_native_frame *frame,
		     size_t room)
{
	struct prof_cfi_frame f = { 0 };
	const struct prof_module *m = NULL;
	uint64_t before = 0;
	size_t found = 0;

	prof_cfi_set(&f, PROF_CFI_STACK, sp);
	prof_cfi_set(&f, PROF_CFI_RETURN, pc);
	begin_walk(n);
	do {
		if (f.reg[PROF_CFI_STACK] < before)
			break; /* a stack goes one way */
		before = f.reg[PROF_CFI_STACK];
		frame[found].sp = before;
		frame[found].address = f.reg[PROF_CFI_RETURN] - f.returned;
		m = prof_module_at(&n->modules, frame[found++].address);
	} while (!(m && m->python) && found < room && step(n, m, &f));
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
		const struct prof_module *m = prof_module_at(&n->modules, frame[i]);

		if (m && m->python)
			strcpy(one, "<python>");
		else if (m)
			describe(m, frame[i], one, sizeof(one));
		else
			snprintf(one, sizeof(one), "?\t%llx\t", (unsigned long long)frame[i]);
		if (!append(out, one))
			return;
	}
}

ssize_t prof_native_frames(uint64_t sp, uint64_t pc, struct prof_native_frame *frame, size_t room)
{
	if (!native)
		return -ENOTSUP;
	refresh(native);
	return (ssize_t)unwind(native, sp, pc, frame, room);
}

ssize_t prof_native_describe(const uint64_t *address, size_t n, char *text, size_t room)
{
	struct text out = { text, text + room };

	if (!native || !room)
		return native ? -EINVAL : -ENOTSUP;
	write_frames(native, address, n, &out);
	if (out.at > text)
		out.at--;
	*out.at = 0;
	return out.at - text;
}

ssize_t prof_native_walk(uint64_t sp, uint64_t pc, char *text, size_t room)
{
	struct prof_native_frame frame[PROF_NATIVE_FRAMES];
	uint64_t address[PROF_NATIVE_FRAMES];
	ssize_t n = prof_native_frames(sp, pc, frame, PROF_NATIVE_FRAMES), i;

	for (i = 0; i < n; i++)
		address[i] = frame[i].address;
	return n < 0 ? n : prof_native_describe(address, (size_t)n, text, room);
}

/*
 * ---- the process otherwise --------------------------------------------------------------------
 */

const struct prof_cfi_memory *prof_native_memory(void)
{
	if (!native)
		return NULL;
	refresh(native);
	begin_walk(native);
	return &native->memory;
}

const struct prof_module *prof_native_module(uint64_t address)
{
	return native ? prof_module_at(&native->modules, address) : NULL;
}

bool prof_native_has(uint64_t address)
{
	return native && prof_module_has(&native->modules, address);
}

/*
 * ---- the walk from a known place --------------------------------------------------------------
 */

/*
 * Unwinds from inside this function: the first caller must be where we return to. The compiler may
 * not drop the frame.
 */
__attribute__((noinline)) static bool finds_caller(struct native *n)
{
	struct prof_native_frame frame[3];
	uint64_t here, sp;

#ifdef __x86_64__
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1" : "=r"(here), "=r"(sp));
#elif defined(__aarch64__)
	__asm__ volatile("adr %0, .\n\tmov %1, sp" : "=r"(here), "=r"(sp));
#else
	here = sp = 0;
#endif
	refresh(n);
	return unwind(n, sp, here, frame, 3) >= 2 &&
	       frame[1].address == (uintptr_t)__builtin_return_address(0) - 1;
}

static const char *make_ready(struct native *n)
{
#if !defined(__x86_64__) && !defined(__aarch64__)
	return "native stacks are unwound on x86-64 and aarch64 only";
#endif
	n->memory = (struct prof_cfi_memory){ .read = read_memory, .arg = n };
	if (prof_pymem_open(&n->mem, 0, PROF_PYMEM_VM))
		return "the memory of this process cannot be read: no native stacks";
	if (!finds_caller(n))
		return "the tables for unwinding were not found: no native stacks";
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
	why = n == MAP_FAILED ? "no memory: no native stacks" : make_ready(n);
	snprintf(note, sizeof(note), "%s", why ? why : "");
	if (!why)
		native = n;
	return native;
}
