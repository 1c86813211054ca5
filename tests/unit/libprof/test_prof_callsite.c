/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls told from what only looks like one, and whom they call: code made by hand, at addresses of
 * its own.
 */
#include <string.h>

#include "harness.h"
#include "sample/callsite.h"

#define BASE UINT64_C(0x100000)

static uint8_t memory[4096];

static bool read_memory(void *arg, uint64_t at, void *to, size_t bytes)
{
	(void)arg;
	if (at < BASE || at - BASE > sizeof(memory) - bytes)
		return false;
	memcpy(to, memory + (at - BASE), bytes);
	return true;
}

static const struct prof_cfi_memory mem = { .read = read_memory };

static void put(uint64_t at, const char *code, size_t n)
{
	memcpy(memory + (at - BASE), code, n);
}

/* @opcode, and behind it the way from its end to @to. Where it ends. */
static uint64_t put_way(uint64_t at, const char *opcode, size_t n, uint64_t to)
{
	int32_t by = (int32_t)(to - (at + n + 4));

	put(at, opcode, n);
	memcpy(memory + (at + n - BASE), &by, sizeof(by));
	return at + n + 4;
}

static void put_word(uint64_t at, uint64_t word)
{
	memcpy(memory + (at - BASE), &word, sizeof(word));
}

static void test_before(void)
{
	static const struct {
		const char *code; /* ends where the address is */
		bool calls;
	} cases[] = {
		{ "\x90\x90\xe8\x01\x02\x03\x04", true }, /* call rel32 */
		{ "\x90\x90\x90\x90\x90\xff\xd0", true }, /* call *%rax */
		{ "\x90\x90\x90\x90\x41\xff\xd4", true }, /* call *%r12 */
		{ "\x90\x90\x90\x90\xff\x50\x18", true }, /* call *24(%rax) */
		{ "\x90\x90\x90\xff\x54\x24\x08", true }, /* call *8(%rsp) */
		{ "\x90\xff\x15\x01\x02\x03\x04", true }, /* call *disp32(%rip) */
		{ "\xff\x94\x24\x01\x02\x03\x04", true }, /* call *disp32(%rsp) */
		{ "\x90\x90\x90\x90\x90\xff\xe0", false }, /* jmp *%rax */
		{ "\x90\x90\xe9\x01\x02\x03\x04", false }, /* jmp rel32 */
		{ "\x90\x90\x90\x90\x90\x90\xc3", false }, /* ret */
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(BASE + 100, cases[i].code, 7);
		EXPECT_INT(prof_callsite_before_x86(&mem, BASE + 107), cases[i].calls);
	}
	EXPECT(!prof_callsite_before_x86(&mem, 3));
	EXPECT(!prof_callsite_before_x86(&mem, UINT64_MAX));
}

static void test_calls(void)
{
	uint64_t function = BASE + 2000, table = BASE + 3000, stub = BASE + 1000, end;

	end = put_way(BASE + 100, "\xe8", 1, function);
	EXPECT(prof_callsite_calls_x86(&mem, end, function));
	EXPECT(!prof_callsite_calls_x86(&mem, end, function + 1));
	EXPECT(!prof_callsite_calls_x86(&mem, end + 1, function));
	put_word(table, function);
	end = put_way(BASE + 200, "\xff\x15", 2, table);
	EXPECT(prof_callsite_calls_x86(&mem, end, function));
	put_way(stub, "\xff\x25", 2, table);
	end = put_way(BASE + 300, "\xe8", 1, stub);
	EXPECT(prof_callsite_calls_x86(&mem, end, function));
	put_way(stub + 32, "\xf3\x0f\x1e\xfa\xf2\xff\x25", 7, table);
	end = put_way(BASE + 400, "\xe8", 1, stub + 32);
	EXPECT(prof_callsite_calls_x86(&mem, end, function));
	put_word(table, function + 16);
	EXPECT(!prof_callsite_calls_x86(&mem, end, function));
	end = put_way(BASE + 500, "\xe8", 1, BASE + sizeof(memory) + 64);
	EXPECT(!prof_callsite_calls_x86(&mem, end, function));
	EXPECT(!prof_callsite_calls_x86(&mem, 2, function));
}

static void put_code(uint64_t at, uint32_t code)
{
	memcpy(memory + (at - BASE), &code, sizeof(code));
}

/* As GNU as writes them. */
static void test_before_arm64(void)
{
	static const struct {
		uint32_t code;
		bool calls;
	} cases[] = {
		{ 0x94000010, true }, /* bl .+64 */
		{ 0x97fffff0, true }, /* bl .-64 */
		{ 0xd63f0220, true }, /* blr x17 */
		{ 0xd63f08bf, true }, /* blraaz x5 */
		{ 0xd73f08a6, true }, /* blraa x5, x6 */
		{ 0x14000010, false }, /* b .+64 */
		{ 0xd61f0220, false }, /* br x17 */
		{ 0xd65f03c0, false }, /* ret */
		{ 0xd503201f, false }, /* nop */
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_code(BASE + 100, cases[i].code);
		EXPECT_INT(prof_callsite_before_arm64(&mem, BASE + 104), cases[i].calls);
	}
	put_code(BASE + 100, 0x94000010);
	EXPECT(!prof_callsite_before_arm64(&mem, BASE + 105));
	EXPECT(!prof_callsite_before_arm64(&mem, 3));
	EXPECT(!prof_callsite_before_arm64(&mem, UINT64_MAX - 3));
}

static void put_bl(uint64_t at, uint64_t to)
{
	put_code(at, 0x94000000 | ((uint32_t)((int64_t)(to - at) / 4) & 0x03ffffff));
}

/* A stub whose slot is so many pages away, and so far into its page. */
static void put_stub(uint64_t at, uint32_t pages, uint32_t offset)
{
	put_code(at, 0x90000010 | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
	put_code(at + 4, 0xf9400211 | offset / 8 << 10); /* ldr x17, [x16, #offset] */
	put_code(at + 8, 0x91000210 | offset << 10); /* add x16, x16, #offset */
	put_code(at + 12, 0xd61f0220);
}

static void test_calls_arm64(void)
{
	uint64_t function = BASE + 2000, stub = BASE + 1000, table = BASE + 3000;

	put_bl(BASE + 100, function);
	EXPECT(prof_callsite_calls_arm64(&mem, BASE + 104, function));
	EXPECT(!prof_callsite_calls_arm64(&mem, BASE + 104, function + 4));
	EXPECT(!prof_callsite_calls_arm64(&mem, BASE + 108, function));
	put_bl(BASE + 2400, function); /* backwards */
	EXPECT(prof_callsite_calls_arm64(&mem, BASE + 2404, function));
	put_word(table, function);
	put_stub(stub, 0, 3000);
	put_bl(BASE + 100, stub);
	EXPECT(prof_callsite_calls_arm64(&mem, BASE + 104, function));
	put_stub(stub + 4, 0, 3000);
	put_code(stub, 0xd503245f); /* bti c */
	EXPECT(prof_callsite_calls_arm64(&mem, BASE + 104, function));
	put_stub(stub, 1, 3000);
	EXPECT(!prof_callsite_calls_arm64(&mem, BASE + 104, function));
	put_stub(stub, UINT32_MAX, 3000); /* the page below */
	EXPECT(!prof_callsite_calls_arm64(&mem, BASE + 104, function));
	put_code(BASE + 100, 0xd63f0220);
	EXPECT(!prof_callsite_calls_arm64(&mem, BASE + 104, function));
	EXPECT(!prof_callsite_calls_arm64(&mem, 2, function));
}

int main(void)
{
	return RUN(test_before, test_calls, test_before_arm64, test_calls_arm64);
}
