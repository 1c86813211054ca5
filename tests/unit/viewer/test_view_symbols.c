/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of this very program and of libc by their place; files that are not what was loaded. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>

#include "harness.h"
#include "trace/symbols.h"

static struct view_symbols *symbols;

__attribute__((noinline, used)) static int a_known_function(int x)
{
	__asm__ volatile("" : "+r"(x)); /* so that it stays one */
	return x + 1;
}

struct module {
	uint64_t bias;
	char path[4096], build_id[80];
	const void *inside;
};

static void take_notes(struct module *m, const uint8_t *at, size_t bytes)
{
	const ElfW(Nhdr) *note = (const void *)at;
	const uint8_t *id = at + sizeof(*note) + 4;
	size_t i;

	if (bytes < sizeof(*note) + 24 || note->n_type != NT_GNU_BUILD_ID)
		return;
	for (i = 0; i < note->n_descsz; i++)
		sprintf(m->build_id + 2 * i, "%02x", id[i]);
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct module *m = arg;
	bool found = false;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++)
		found |= info->dlpi_phdr[i].p_type == PT_LOAD &&
			 (uintptr_t)m->inside - info->dlpi_addr - info->dlpi_phdr[i].p_vaddr <
				 info->dlpi_phdr[i].p_memsz;
	if (!found)
		return 0;
	m->bias = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			take_notes(m, (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				   info->dlpi_phdr[i].p_memsz);
	snprintf(m->path, sizeof(m->path), "%s", info->dlpi_name);
	if (!m->path[0] && readlink("/proc/self/exe", m->path, sizeof(m->path) - 1) < 0)
		m->path[0] = 0;
	return 1;
}

static struct module module_of(const void *inside)
{
	struct module m = { .inside = inside };

	REQUIRE(dl_iterate_phdr(look, &m) == 1);
	return m;
}

static void test_own(void)
{
	struct module m = module_of((void *)a_known_function);
	uint64_t at = (uintptr_t)a_known_function - m.bias;
	char frame[5000];

	EXPECT_INT(a_known_function(1), 2);
	EXPECT_STR(view_symbol(symbols, m.path, at, m.build_id), "a_known_function");
	EXPECT_STR(view_symbol(symbols, m.path, at + 1, m.build_id), "a_known_function");
	EXPECT_STR(view_symbol(symbols, m.path, (uintptr_t)view_symbol - m.bias, m.build_id),
		   "view_symbol");
	snprintf(frame, sizeof(frame), "%s\t%llx\t%s", m.path, (unsigned long long)at, m.build_id);
	EXPECT_STR(view_symbol_of_frame(symbols, frame, strlen(frame)), "a_known_function");
}

/* Stripped: what is exported is found, and only inside of it. */
static void test_libc(void)
{
	void *read_there = dlsym(RTLD_DEFAULT, "qsort_r");
	struct module m;

	REQUIRE(read_there);
	m = module_of(read_there);
	if (!strstr(m.path, "libc"))
		return; /* a sanitizer's own */
	EXPECT_STR(view_symbol(symbols, m.path, (uintptr_t)read_there + 2 - m.bias, m.build_id),
		   "qsort_r");
	EXPECT(!view_symbol(symbols, m.path, 0, m.build_id));
	EXPECT(!view_symbol(symbols, m.path, UINT64_MAX, m.build_id));
}

static void test_other_build(void)
{
	struct module m = module_of((void *)a_known_function);
	uint64_t at = (uintptr_t)a_known_function - m.bias;

	EXPECT(!view_symbol(symbols, m.path, at, "0123456789abcdef0123456789abcdef01234567"));
	if (m.build_id[0])
		EXPECT(!view_symbol(symbols, m.path, at, ""));
}

static void test_hostile_names(void)
{
	static const char *const paths[] = { "",	  "relative/libc.so", "/",
					     "/dev/zero", "/proc/self/mem",   "/does/not/exist" };
	static const char *const frames[] = { "<python>",
					      "",
					      "\t",
					      "\t\t",
					      "/bin/true\t\t",
					      "/bin/true\tzz\t",
					      "/bin/true\t1\tnot hex",
					      "/bin/true\tfffffffffffffffff\t" };
	size_t i;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		EXPECT(!view_symbol(symbols, paths[i], 1, ""));
	for (i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		EXPECT(!view_symbol_of_frame(symbols, frames[i], strlen(frames[i])));
}

static size_t read_self(uint8_t *raw, size_t room)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, raw, room);

	close(fd);
	REQUIRE(n > 4096);
	return (size_t)n;
}

/* This program with bytes changed or cut off must do no harm; what it names does not matter. */
static void test_hostile_files(void)
{
	static uint8_t raw[1 << 23];
	size_t bytes = read_self(raw, sizeof(raw)), i;
	uint64_t seed = t_seed(1);
	char folder[200], path[256];

	t_tempdir(folder, sizeof(folder));
	for (i = 0; i < 60; i++) {
		const Elf64_Ehdr *head = (const void *)raw;
		size_t n = i % 3 ? bytes : t_random(&seed) % bytes, k;
		uint8_t kept[64];
		size_t place[64];
		int fd;

		for (k = 0; k < 64; k++) { /* headers, tables of sections, anything */
			size_t base = k % 3 == 0 ? 0 : k % 3 == 1 ? head->e_shoff : bytes / 2;
			size_t room = k % 3 == 0 ? 64 : 4096;

			place[k] = (base + t_random(&seed) % room) % bytes;
			if (place[k] < 48)
				place[k] = 48; /* e_shoff is read above */
			kept[k] = raw[place[k]];
			raw[place[k]] = (uint8_t)t_random(&seed);
		}
		snprintf(path, sizeof(path), "%s/%zu", folder, i);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
		REQUIRE(fd >= 0 && write(fd, raw, n) == (ssize_t)n);
		close(fd);
		for (k = 0; k < 8; k++)
			view_symbol(symbols, path, t_random(&seed) % bytes, "");
		unlink(path);
		for (k = 64; k-- > 0;)
			raw[place[k]] = kept[k];
	}
	rmdir(folder);
}

/* Who reads traces of others opens nothing, and is told as where there is no libelf. */
static void test_not_allowed(void)
{
	setenv("GPUSTARVE_LOCAL_FILES", "0", 1);
	EXPECT(!view_symbols_new());
	unsetenv("GPUSTARVE_LOCAL_FILES");
}

int main(void)
{
	int rc;

	symbols = view_symbols_new();
	REQUIRE(symbols);
	rc = RUN(test_own, test_libc, test_other_build, test_hostile_names, test_hostile_files,
		 test_not_allowed);
	view_symbols_free(symbols);
	return rc;
}
