/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints what the unwinder makes of a file's tables: for each address at which something changes
 * the frame's address and the rules of registers, as `readelf --debug-dump=frames-interp` does.
 *     cfi_rows FILE
 */
#include "sample/cfi.c" /* its rows are nobody's business else */

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint8_t *file;
static const Elf64_Phdr *header;
static unsigned int headers;

static bool read_file(void *unused, uint64_t at, void *to, size_t bytes)
{
	unsigned int i;

	(void)unused;
	for (i = 0; i < headers; i++) {
		const Elf64_Phdr *h = &header[i];

		if (h->p_type != PT_LOAD || at < h->p_vaddr || at - h->p_vaddr > h->p_filesz ||
		    h->p_filesz - (at - h->p_vaddr) < bytes)
			continue;
		memcpy(to, file + h->p_offset + (at - h->p_vaddr), bytes);
		return true;
	}
	memset(to, 0, bytes); /* pointers that the loader would fill in: they are not needed */
	return true;
}

static const struct prof_cfi_memory mem = { read_file, NULL };

static bool open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const Elf64_Ehdr *elf;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (file == MAP_FAILED || memcmp(file, ELFMAG, SELFMAG) || file[EI_CLASS] != ELFCLASS64)
		return false;
	elf = (const Elf64_Ehdr *)file;
	header = (const Elf64_Phdr *)(file + elf->e_phoff);
	headers = elf->e_phnum;
	return true;
}

static void print_rule(unsigned int reg, const struct rule *r)
{
	if (r->how == RULE_AT)
		printf(" %u=c%+lld", reg, (long long)r->number);
	else if (r->how == RULE_IS)
		printf(" %u=v%+lld", reg, (long long)r->number);
	else if (r->how == RULE_REGISTER)
		printf(" %u=r%lld", reg, (long long)r->number);
	else if (r->how == RULE_AT_EXPRESSION || r->how == RULE_IS_EXPRESSION)
		printf(" %u=exp", reg);
}

static void print_row(uint64_t at, const struct row *row)
{
	unsigned int i;

	printf("%llx ", (unsigned long long)at);
	if (row->by_expression)
		printf("exp");
	else
		printf("%llu%+lld", (unsigned long long)row->base, (long long)row->offset);
	for (i = 0; i < PROF_CFI_REGS; i++)
		print_rule(i, &row->rule[i]);
	putchar('\n');
}

/* As a walk finds it: from the table on. A last row may lie behind the code. */
static void print_at(const struct prof_cfi_table *t, const struct entry *of, uint64_t at,
		     uint64_t entry)
{
	struct entry e;
	struct row row;
	uint64_t found;

	if (at - of->begin >= of->bytes)
		return;
	if (!find_row(&mem, t, at, &found) || found != entry || !read_entry(&mem, found, &e) ||
	    find_row_of_code(&mem, &e, at, &row))
		printf("WRONG %llx\n", (unsigned long long)at);
	else
		print_row(at, &row);
}

static void print_entry(const struct prof_cfi_table *t, uint64_t at)
{
	struct program p = { 0 };
	struct entry e;
	uint64_t last;

	if (!read_entry(&mem, at, &e)) {
		printf("UNREAD %llx\n", (unsigned long long)at);
		return;
	}
	p.e = &e;
	p.at = last = e.begin;
	execute(&p, &mem, e.shared, e.shared_end, UINT64_MAX);
	p.first = p.row;
	prof_cfi_bytes(&p.b, &mem, e.own, e.own_end);
	while (p.b.at < p.b.end && !p.bad && !p.b.bad) {
		one(&p);
		if (p.at == last)
			continue;
		print_at(t, &e, last, at);
		last = p.at;
	}
	print_at(t, &e, last, at);
}

int main(int argc, char **argv)
{
	struct prof_cfi_table t = { 0 };
	unsigned int i;
	int32_t row[2];
	uint64_t n;

	if (argc != 2 || !open_file(argv[1]))
		return 2;
	for (i = 0; i < headers; i++)
		if (header[i].p_type == PT_GNU_EH_FRAME &&
		    !prof_cfi_open(&mem, header[i].p_vaddr, header[i].p_memsz, &t))
			return 3;
	for (n = 0; n < t.count; n++) {
		read_file(NULL, t.rows + n * sizeof(row), row, sizeof(row));
		print_entry(&t, t.header + (uint64_t)(int64_t)row[1]);
	}
	return t.count ? 0 : 3;
}
