/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder against the C library's own: the same frames in functions of all kinds, in other
 * people's code, and across a signal handler; and expressions by themselves.
 */
#include <errno.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "harness.h"
#include "sample/cfi.h"
#include "sample/cfiexpr.h"

#define ROOM 64
#define SEVENTH 7 /* the register that expressions use here: rsp, or x7 */

static bool read_own(void *arg, uint64_t at, void *to, size_t bytes)
{
	(void)arg;
	memcpy(to, (const void *)(uintptr_t)at, bytes);
	return true;
}

static const struct prof_cfi_memory own = { read_own, NULL };

#if defined(__x86_64__) || defined(__aarch64__)

struct found {
	uint64_t pc, header, bytes;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct found *f = arg, here = { 0 };
	bool inside = false;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t at = info->dlpi_addr + h->p_vaddr;

		inside |= h->p_type == PT_LOAD && f->pc - at < h->p_memsz;
		if (h->p_type == PT_GNU_EH_FRAME) {
			here.header = at;
			here.bytes = h->p_memsz;
		}
	}
	if (!inside)
		return 0;
	f->header = here.header;
	f->bytes = here.bytes;
	return 1;
}

#ifdef __x86_64__

static void begin(const ucontext_t *u, struct prof_cfi_frame *f)
{
	static const int place[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,	REG_R9,	 REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	unsigned int i;

	for (i = 0; i < PROF_CFI_REGS; i++)
		prof_cfi_set(f, i, (uint64_t)u->uc_mcontext.gregs[place[i]]);
}

#else

/* getcontext keeps what functions keep. */
static void begin(const ucontext_t *u, struct prof_cfi_frame *f)
{
	unsigned int i;

	for (i = PROF_CFI_FIRST_KEPT; i <= PROF_CFI_LINK; i++)
		prof_cfi_set(f, i, u->uc_mcontext.regs[i]);
	prof_cfi_set(f, PROF_CFI_STACK, u->uc_mcontext.sp);
	prof_cfi_set(f, PROF_CFI_RETURN, u->uc_mcontext.pc);
}

#endif

/* From a context in which all registers are known, to the end; the last step's answer. */
static int walk(const ucontext_t *u, uint64_t *frame, int *frames)
{
	struct prof_cfi_frame f = { 0 };
	struct prof_cfi_table t;
	int rc = 1;

	begin(u, &f);
	for (*frames = 0; rc > 0 && *frames < ROOM; ++*frames) {
		struct found at = { .pc = f.reg[PROF_CFI_RETURN] - f.returned };

		frame[*frames] = f.reg[PROF_CFI_RETURN];
		if (!dl_iterate_phdr(look_at, &at) || !prof_cfi_open(&own, at.header, at.bytes, &t))
			return -ENOENT;
		rc = prof_cfi_step(&own, &t, &f);
	}
	return rc;
}

/* Sanitizers put a frame of theirs around backtrace. */
__attribute__((noinline)) static void compare(const char *what)
{
	uint64_t frame[ROOM];
	void *want[ROOM];
	ucontext_t u;
	int n, wanted, i, more;

	EXPECT(!getcontext(&u));
	EXPECT_INT(walk(&u, frame, &n), 0);
	wanted = backtrace(want, ROOM);
	more = wanted - n;
	EXPECT(more == 0 || more == 1);
	for (i = 1; i < n && i + more < wanted; i++)
		if (frame[i] != (uintptr_t)want[i + more]) {
			printf("     %s: frame %d is %llx, not %p\n", what, i,
			       (unsigned long long)frame[i], want[i + more]);
			EXPECT(false);
		}
	printf("     %s: %d frames\n", what, n);
}

static void test_plain(void)
{
	compare("plain");
}

static int by_value(const void *a, const void *b)
{
	static bool once;

	if (!once)
		compare("in qsort");
	once = true;
	return *(const int *)a - *(const int *)b;
}

static void test_library(void)
{
	int value[] = { 3, 1, 2 };

	qsort(value, 3, sizeof(value[0]), by_value);
	EXPECT_INT(value[0], 1);
}

#ifdef __x86_64__
static void on_signal(int number)
{
	(void)number;
	compare("in a signal handler");
}

static void test_signal(void)
{
	struct sigaction a = { .sa_handler = on_signal };

	REQUIRE(!sigaction(SIGUSR1, &a, NULL));
	raise(SIGUSR1);
}
#endif

/* Frames that hang on a frame pointer: of a size that nobody knows beforehand, and aligned. */
__attribute__((noinline)) static int by_base(size_t bytes)
{
	char room[bytes] __attribute__((aligned(64)));

	memset(room, 1, bytes);
	compare("room of any size, aligned");
	return room[bytes / 2];
}

static void test_base(void)
{
	EXPECT_INT(by_base((size_t)rand() % 5000 + 100), 1);
}

__attribute__((noinline)) static int deep(int n)
{
	volatile int keep = n;

	if (!n)
		compare("deep");
	return n ? deep(n - 1) + keep : 0;
}

static void test_deep(void)
{
	EXPECT_INT(deep(20), 210);
}
#endif

static bool evaluate(const uint8_t *code, size_t bytes, uint64_t *value)
{
	struct prof_cfi_frame f = { 0 };
	struct prof_cfi_expr e = { (uintptr_t)code, bytes };

	prof_cfi_set(&f, SEVENTH, 1000);
	return prof_cfi_evaluate(&own, &f, e, NULL, value);
}

#define GIVES(wanted, ...)                                     \
	do {                                                   \
		static const uint8_t code[] = { __VA_ARGS__ }; \
		uint64_t value = 0;                            \
		EXPECT(evaluate(code, sizeof(code), &value));  \
		EXPECT_INT((int64_t)value, (int64_t)(wanted)); \
	} while (0)
#define FAILS(...)                                             \
	do {                                                   \
		static const uint8_t code[] = { __VA_ARGS__ }; \
		uint64_t value;                                \
		EXPECT(!evaluate(code, sizeof(code), &value)); \
	} while (0)

static void test_expressions(void)
{
	GIVES(1008, 0x77, 0x08); /* rsp + 8 */
	GIVES(992, 0x77, 0x78); /* rsp - 8 */
	GIVES(-2, 0x09, 0xfe); /* const1s */
	GIVES(254, 0x08, 0xfe); /* const1u */
	GIVES(-2, 0x0b, 0xfe, 0xff); /* const2s */
	GIVES(300, 0x10, 0xac, 0x02); /* constu */
	GIVES(-300, 0x11, 0xd4, 0x7d); /* consts */
	GIVES(5, 0x38, 0x33, 0x1c); /* 8 - 3 */
	GIVES(-4, 0x09, 0xf8, 0x32, 0x1b); /* -8 / 2 */
	GIVES(24, 0x38, 0x33, 0x1e); /* 8 * 3 */
	GIVES(-1, 0x09, 0xf0, 0x38, 0x26); /* -16 >> 8 */
	GIVES(3, 0x31, 0x32, 0x33, 0x17, 0x13, 0x13); /* rot: 3 goes below 1 and 2 */
	GIVES(2, 0x31, 0x32, 0x33, 0x17);
	GIVES(7, 0x31, 0x28, 0x01, 0x00, 0x35, 0x37); /* bra over a byte */
	/* What the PLT has: rsp + 8 + ((rip & 15) >= 11) << 3, with rsp for rip. */
	GIVES(1008, 0x77, 0x08, 0x77, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
	FAILS(0x76, 0x00); /* rbp, which is not known */
	FAILS(0x22); /* nothing to add */
	FAILS(0x30, 0x30, 0x1b); /* 0 / 0 */
	FAILS(0x2f, 0xfd, 0xff); /* for ever */
	FAILS(0x2f, 0x00, 0x10); /* out of it */
	FAILS(0x50); /* a register is no value */
	FAILS(0x08); /* cut */
}

int main(void)
{
	int failed = RUN(test_expressions);

#if defined(__x86_64__) || defined(__aarch64__)
	failed |= RUN(test_plain, test_library, test_base, test_deep);
#endif
#ifdef __x86_64__
	failed |= RUN(test_signal);
#endif
	return failed;
}
