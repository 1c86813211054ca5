/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commands need a sanitizer's runtime: made-up programs, scripts and PATHs, and damage of
 * each.
 */
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include "harness.h"
#include "run/needs.h"

#define LOADED 0x400000u /* where the file lies in memory */
#define ROUNDS 1000

/* A program that is nothing but headers, a dynamic section and names. */
struct made {
	Elf64_Ehdr head;
	Elf64_Phdr part[2];
	Elf64_Dyn entry[4];
	char names[128];
};

static char where[96], name[VIEW_NEEDS_NAME];
static uint64_t state;

static uint64_t below(uint64_t n)
{
	return t_random(&state) % n;
}

static const char *file(const char *leaf)
{
	static char path[2][160];
	static unsigned int turn;

	snprintf(path[++turn % 2], sizeof(path[0]), "%s/%s", where, leaf);
	return path[turn % 2];
}

static const char *put(const char *leaf, const void *data, size_t n)
{
	const char *path = file(leaf);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);

	REQUIRE(fd >= 0 && write(fd, data, n) == (ssize_t)n && !close(fd));
	return path;
}

static const char *script(const char *leaf, const char *text)
{
	return put(leaf, text, strlen(text));
}

static struct made make(const char *first, const char *second)
{
	struct made m = { .part = { { .p_type = PT_LOAD }, { .p_type = PT_DYNAMIC } } };
	size_t at = 1 + strlen(first) + 1;

	memcpy(m.head.e_ident, ELFMAG, SELFMAG);
	m.head.e_ident[EI_CLASS] = ELFCLASS64;
	m.head.e_ident[EI_DATA] = ELFDATA2LSB;
	m.head.e_phoff = offsetof(struct made, part);
	m.head.e_phentsize = sizeof(Elf64_Phdr);
	m.head.e_phnum = 2;
	m.part[0].p_vaddr = LOADED;
	m.part[0].p_filesz = sizeof(m);
	m.part[1].p_offset = offsetof(struct made, entry);
	m.part[1].p_filesz = sizeof(m.entry);
	m.entry[0] = (Elf64_Dyn){ .d_tag = DT_NEEDED, .d_un.d_val = 1 };
	m.entry[1] = (Elf64_Dyn){ .d_tag = DT_NEEDED, .d_un.d_val = at };
	m.entry[2] = (Elf64_Dyn){ .d_tag = DT_STRTAB,
				  .d_un.d_ptr = LOADED + offsetof(struct made, names) };
	strcpy(m.names + 1, first);
	strcpy(m.names + at, second);
	return m;
}

static const char *program(const char *leaf, const char *first, const char *second)
{
	struct made m = make(first, second);

	return put(leaf, &m, sizeof(m));
}

static bool needs(const char *command)
{
	return view_needs_sanitizer(command, where, name);
}

static void test_names(void)
{
	static const char *const yes[] = { "libasan.so.8",
					   "libtsan.so.2",
					   "libclang_rt.asan-x86_64.so",
					   "libclang_rt.tsan.so",
					   "/opt/llvm/lib/libclang_rt.asan.so",
					   "libhwasan.so.0",
					   "libclang_rt.hwasan-aarch64.so",
					   "libclang_rt.hwasan_aliases-x86_64.so" };
	static const char *const no[] = { "libc.so.6",		"mylibasan.so.1", "libubsan.so.1",
					  "liblsan.so.0",	"libasan",	  "",
					  "/libasan.so/libc.so" };

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (!needs(program("p", "libm.so.6", yes[i])) || !strstr(yes[i], name) || !name[0])
			T_FAIL("%s is not seen: %s", yes[i], name);
		if (!needs(program("p", yes[i], "libc.so.6")))
			T_FAIL("%s is not seen where it is the first", yes[i]);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		if (needs(program("p", no[i], "libdl.so.2")) || name[0])
			T_FAIL("%s is none", no[i]);
	EXPECT(!needs("/bin/sh"));
}

static void test_scripts(void)
{
	char line[1024];

	program("asan", "libasan.so.8", "libc.so.6");
	program("plain", "libm.so.6", "libc.so.6");
	snprintf(line, sizeof(line), "#!%s/asan -x\ntext", where);
	EXPECT(needs(script("s1", line)));
	snprintf(line, sizeof(line), "#! \t%s/s1", where);
	EXPECT(needs(script("s2", line))); /* a script's script, and no line's end */
	EXPECT(needs(script("e1", "#!/usr/bin/env asan\n")));
	EXPECT(needs(script("e2", "#!/usr/bin/env -S A=1 -i asan -u\n")));
	EXPECT(!needs(script("e3", "#!/usr/bin/env plain asan\n")));
	EXPECT(!needs(script("e4", "#!/usr/bin/env\n")));
	EXPECT(!needs(script("e5", "#!/usr/bin/env -S A=1 ")));
	EXPECT(!needs(script("empty", "")));
	EXPECT(!needs(script("short", "#!")));
	EXPECT(!needs(script("blank", "#!   \n")));
	EXPECT(!needs(script("words", "libasan.so.8\n")));
	snprintf(line, sizeof(line), "#!%s/itself\n", where);
	EXPECT(!needs(script("itself", line))); /* and it ends */
	memset(line, 'x', sizeof(line) - 1);
	memcpy(line, "#!/", 3);
	line[sizeof(line) - 1] = '\0';
	EXPECT(!needs(script("long", line)));
	EXPECT(!name[0]);
}

static void test_path(void)
{
	char path[4 * PATH_MAX];

	program("asan", "libasan.so.8", "libc.so.6");
	REQUIRE(!mkdir(file("bin"), 0755));
	REQUIRE(!mkdir(file("bin/asan"), 0755)); /* a folder of that name is no program */
	script("bin/refused", "#!/bin/sh\n");
	REQUIRE(!chmod(file("bin/refused"), 0644));
	program("refused", "libasan.so.8", "libc.so.6");
	snprintf(path, sizeof(path), "/nonexistent:%s/bin:%s:/bin", where, where);
	EXPECT(view_needs_sanitizer("asan", path, name));
	EXPECT_STR(name, "libasan.so.8");
	EXPECT(view_needs_sanitizer("refused", path, name));
	EXPECT(!view_needs_sanitizer("nothing", path, name));
	EXPECT(!view_needs_sanitizer("", path, name));
	EXPECT(!view_needs_sanitizer("asan", "", name));
	EXPECT(!view_needs_sanitizer("asan", NULL, name));
	REQUIRE(!chdir(where));
	EXPECT(view_needs_sanitizer("asan", "/bin:", name)); /* an empty word is where we are */
	EXPECT(view_needs_sanitizer("asan", ":/bin", name));
	EXPECT(view_needs_sanitizer("./asan", NULL, name));
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	EXPECT(!view_needs_sanitizer("asan", path, name));
	EXPECT(!view_needs_sanitizer(path, "/bin", name));
	path[PATH_MAX] = ':';
	strcpy(path + PATH_MAX + 1, where);
	EXPECT(view_needs_sanitizer("asan", path, name));
}

/* Nothing of these is waited for. */
static void test_no_files(void)
{
	REQUIRE(!mkfifo(file("pipe"), 0755));
	EXPECT(!needs(file("pipe")));
	EXPECT(!needs(where));
	EXPECT(!needs("/dev/zero"));
	EXPECT(!needs("/nonexistent/program"));
}

static void test_bounds(void)
{
	struct made m = make("libasan.so.8", "libc.so.6"), bad;

	bad = m;
	bad.head.e_phnum = 0xffff;
	EXPECT(!needs(put("p", &bad, sizeof(bad))));
	bad = m;
	bad.head.e_phentsize = 1;
	EXPECT(!needs(put("p", &bad, sizeof(bad))));
	bad = m;
	bad.head.e_ident[EI_CLASS] = ELFCLASS32;
	EXPECT(!needs(put("p", &bad, sizeof(bad))));
	for (int i = 0; i < 64; i++) { /* offsets and lengths of every size */
		uint64_t big = UINT64_MAX << i;

		bad = m;
		bad.head.e_phoff = big;
		EXPECT(!needs(put("p", &bad, sizeof(bad))));
		bad = m;
		bad.part[1].p_offset = big;
		EXPECT(!needs(put("p", &bad, sizeof(bad))));
		bad = m;
		bad.part[1].p_filesz = big; /* the section ends by itself */
		EXPECT(needs(put("p", &bad, sizeof(bad))) || i > 56);
		bad = m;
		bad.part[0].p_offset = big;
		EXPECT(!needs(put("p", &bad, sizeof(bad))) || i == 63);
		bad = m;
		bad.entry[0].d_un.d_val = big;
		EXPECT(!needs(put("p", &bad, sizeof(bad))));
		bad = m;
		bad.entry[2].d_un.d_ptr = big;
		EXPECT(!needs(put("p", &bad, sizeof(bad))));
	}
	/* A section without an end is read as far as the file goes. */
	bad = m;
	bad.part[1].p_filesz = UINT64_MAX;
	bad.entry[0].d_un.d_val = bad.entry[1].d_un.d_val;
	bad.entry[3].d_tag = DT_NEEDED;
	EXPECT(!needs(put("p", &bad, sizeof(bad))));
}

static void test_damage(void)
{
	struct made m = make("libasan.so.8", "libc.so.6");
	uint8_t bytes[sizeof(m)];
	int yes = 0;

	for (size_t n = 0; n < sizeof(m); n++)
		needs(put("p", &m, n));
	for (int i = 0; i < ROUNDS; i++) {
		memcpy(bytes, &m, sizeof(m));
		for (uint64_t k = below(4) + 1; k; k--)
			bytes[below(offsetof(struct made, names) + 16)] = (uint8_t)below(256);
		yes += needs(put("p", bytes, sizeof(bytes)));
	}
	EXPECT(yes > 0 && yes < ROUNDS);
}

static void test_damaged_scripts(void)
{
	static const char some[] = "#!/ \t\nenv=-S\0a:.";
	char text[300];

	for (int i = 0; i < ROUNDS; i++) {
		size_t n = below(sizeof(text));

		for (size_t k = 0; k < n; k++)
			text[k] = some[below(sizeof(some))];
		memcpy(text, "#!/usr/bin/env ", n < 15 ? n : below(15));
		EXPECT(!needs(put("p", text, n)));
	}
}

static void test_kinds(void)
{
	static const char musl[] = "/lib/ld-musl-x86_64.so.1", glibc[] = "/lib64/ld-linux.so.2";
	struct made m = make("libc.so.6", "libm.so.6");
	char found[PATH_MAX];

	EXPECT_INT(view_needs_kind(put("k", &m, sizeof(m))), VIEW_NEEDS_STATIC);
	m.part[1].p_type = PT_INTERP;
	m.part[1].p_offset = offsetof(struct made, names);
	memcpy(m.names, musl, sizeof(musl));
	EXPECT_INT(view_needs_kind(put("k", &m, sizeof(m))), VIEW_NEEDS_MUSL);
	memcpy(m.names, glibc, sizeof(glibc));
	EXPECT_INT(view_needs_kind(put("k", &m, sizeof(m))), VIEW_NEEDS_GLIBC);
	m.part[1].p_offset = UINT64_MAX;
	EXPECT_INT(view_needs_kind(put("k", &m, sizeof(m))), VIEW_NEEDS_UNKNOWN);
	m.head.e_ident[EI_CLASS] = ELFCLASS32;
	EXPECT_INT(view_needs_kind(put("k", &m, sizeof(m))), VIEW_NEEDS_OTHER);
	EXPECT_INT(view_needs_kind(script("k", "no program")), VIEW_NEEDS_UNKNOWN);
	EXPECT_INT(view_needs_kind(file("nowhere")), VIEW_NEEDS_UNKNOWN);
	EXPECT(view_needs_program(script("k", "#!/bin/sh\n"), NULL, found));
	EXPECT_STR(found, "/bin/sh");
	EXPECT(!view_needs_program(file("nowhere"), NULL, found));
}

int main(void)
{
	char clean[128];
	int rc;

	state = t_seed(15);
	t_tempdir(where, sizeof(where));
	rc = RUN(test_names, test_scripts, test_path, test_no_files, test_bounds, test_damage,
		 test_damaged_scripts, test_kinds);
	snprintf(clean, sizeof(clean), "rm -rf %s", where);
	return system(clean) ? 1 : rc;
}
