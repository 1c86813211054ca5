/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which modules are loaded: what comes later is read by itself, and is the same as all of them
 * anew.
 */
#include "sample/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "harness.h"

/* Small ones of the C library's own, which nothing here needs. */
static const char *const names[] = { "libBrokenLocale.so.1", "libanl.so.1", "libutil.so.1" };

static struct prof_modules all, anew;

static size_t count(const struct prof_modules *m, const char *name)
{
	size_t n = 0, i;

	for (i = 0; i < m->n; i++)
		n += strstr(m->module[i].path, name) != NULL;
	return n;
}

static void expect_same(struct prof_pymem *m)
{
	size_t i;

	prof_modules_read(&anew, m);
	REQUIRE(all.n == anew.n);
	for (i = 0; i < all.n; i++) {
		EXPECT(!memcmp(&all.module[i], &anew.module[i], sizeof(anew.module[i])));
		EXPECT_UINT(all.order[i], anew.order[i]);
	}
	EXPECT_UINT(all.last.next, anew.last.next);
}

static void test_more(void)
{
	struct prof_pymem m;
	void *lib[2];
	size_t before;

	REQUIRE(!prof_pymem_open(&m, 0, PROF_PYMEM_VM));
	EXPECT_INT(prof_modules_more(&all, &m), -ESTALE); /* nothing was read so far */
	prof_modules_read(&all, &m);
	before = all.n;
	EXPECT(before && !prof_modules_grown(&all, &m));
	EXPECT_INT(prof_modules_more(&all, &m), 0);
	EXPECT_UINT(all.n, before);
	lib[0] = dlopen(names[0], RTLD_NOW);
	lib[1] = dlopen(names[1], RTLD_NOW);
	REQUIRE(lib[0] && lib[1]);
	EXPECT(prof_modules_grown(&all, &m));
	EXPECT_INT(prof_modules_more(&all, &m), 0);
	EXPECT_UINT(count(&all, names[0]), 1);
	EXPECT_UINT(count(&all, names[1]), 1);
	expect_same(&m);
	/* Another one where the first of them was. */
	dlclose(lib[0]);
	lib[0] = dlopen(names[2], RTLD_NOW);
	REQUIRE(lib[0]);
	if (prof_modules_more(&all, &m))
		prof_modules_read(&all, &m);
	EXPECT_UINT(count(&all, names[2]), 1);
	/* And the last one has gone: what was read of it is no way on. */
	dlclose(lib[0]);
	dlclose(lib[1]);
	lib[0] = dlopen(names[0], RTLD_NOW);
	REQUIRE(lib[0]);
	EXPECT(prof_modules_grown(&all, &m)); /* though it may be where the last one was */
	if (prof_modules_more(&all, &m))
		prof_modules_read(&all, &m);
	EXPECT_UINT(count(&all, names[0]), 1);
	prof_modules_read(&all, &m);
	expect_same(&m);
	dlclose(lib[0]);
	prof_pymem_close(&m);
}

/* Two that the loader keeps at the same places, one after the other, as it may happen. */
static void test_same_place(void)
{
	static Elf64_Dyn dynamic[9] = { { DT_SONAME, { 1 } } };
	static char path[] = "/lib/one.so";
	struct link_map other = { .l_name = path, .l_ld = dynamic }, **end;
	struct prof_pymem m;

	REQUIRE(!prof_pymem_open(&m, 0, PROF_PYMEM_VM));
	prof_modules_read(&all, &m);
	REQUIRE(all.last.next);
	end = (struct link_map **)(uintptr_t)all.last.next;
	other.l_prev = (struct link_map *)(void *)((char *)end - offsetof(struct link_map, l_next));
	*end = &other;
	EXPECT_INT(prof_modules_more(&all, &m), 0);
	EXPECT_UINT(all.last.name, (uintptr_t)path);
	EXPECT(!prof_modules_grown(&all, &m));
	dynamic[1].d_un.d_val = 7; /* behind its end */
	EXPECT(!prof_modules_grown(&all, &m));
	memcpy(path, "/lib/two", 8);
	EXPECT(prof_modules_grown(&all, &m));
	EXPECT_INT(prof_modules_more(&all, &m), -ESTALE);
	memcpy(path, "/lib/one", 8);
	EXPECT(!prof_modules_grown(&all, &m));
	dynamic[0].d_un.d_val = 2; /* the file was built anew */
	EXPECT(prof_modules_grown(&all, &m));
	*end = NULL;
	prof_pymem_close(&m);
}

/* As files for pages of 64 KiB are: what lies between their segments may be anybody's. */
static void test_hole(void)
{
	static Elf64_Dyn dynamic[2] = { { DT_SONAME, { 1 } } };
	static char path[] = "/lib/hole.so";
	struct {
		Elf64_Ehdr elf;
		Elf64_Phdr segment[2];
	} *image = mmap(NULL, 0x20000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct link_map hole = { .l_name = path, .l_ld = dynamic }, **end;
	struct prof_pymem m;
	uint64_t at;

	REQUIRE(image != MAP_FAILED && !prof_pymem_open(&m, 0, PROF_PYMEM_VM));
	at = hole.l_addr = (uintptr_t)image;
	memcpy(image->elf.e_ident, ELFMAG, SELFMAG);
	image->elf.e_phoff = sizeof(image->elf);
	image->elf.e_phentsize = sizeof(image->segment[0]);
	image->elf.e_phnum = 2;
	image->segment[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_X, .p_memsz = 0x900 };
	image->segment[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_vaddr = 0x10f00, .p_memsz = 0x80 };
	prof_modules_read(&all, &m);
	end = (struct link_map **)(uintptr_t)all.last.next;
	hole.l_prev = (struct link_map *)(void *)((char *)end - offsetof(struct link_map, l_next));
	*end = &hole;
	EXPECT_INT(prof_modules_more(&all, &m), 0);
	EXPECT_UINT(count(&all, path), 1);
	EXPECT(prof_module_at(&all, at + 0x8ff) && !prof_module_at(&all, at + 0x900));
	EXPECT(prof_module_has(&all, at + 0x8ff) && prof_module_has(&all, at + 0x10f00));
	EXPECT(prof_module_has(&all, at + 0x10f7f) && !prof_module_has(&all, at + 0x10f80));
	EXPECT(!prof_module_has(&all, at + 0x900) && !prof_module_has(&all, at + 0x5000));
	*end = NULL;
	prof_pymem_close(&m);
	munmap(image, 0x20000);
}

int main(void)
{
	return RUN(test_more, test_same_place, test_hole);
}
