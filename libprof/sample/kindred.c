/* SPDX-License-Identifier: Apache-2.0 */
#include "kindred.h"

#include <stdbool.h>
#include <string.h>

#include "core/hash.h"

/* How much of a line is function and file: one function has many lines. */
static size_t until_number(const char *line, size_t len)
{
	const char *tab = memchr(line, '\t', len), *end = line + len;

	tab = tab ? memchr(tab + 1, '\t', (size_t)(end - tab - 1)) : NULL;
	return tab ? (size_t)(tab - line) : len;
}

/* @len: of function and file. */
static bool is_threadings(const char *line, size_t len)
{
	static const char file[] = "/threading.py";
	const size_t n = sizeof(file) - 1;

	return len >= n && !memcmp(line + len - n, file, n);
}

uint64_t prof_kindred_key(uint32_t pid, const char *stack)
{
	const char *line = stack, *found = NULL;
	size_t len, own, n = 0;

	while (*line) {
		len = strcspn(line, "\n");
		own = until_number(line, len);
		if (!is_threadings(line, own)) {
			found = line;
			n = own;
		}
		line += len + (line[len] == '\n');
	}
	return found ? (prof_hash_bytes(found, n) ^ prof_hash_thread(pid, pid)) | 1 : 0;
}

struct prof_kindred *prof_kindred_of(struct prof_kindred table[PROF_KINDRED_MAX], uint64_t key)
{
	struct prof_kindred *k = &table[(key >> 8) % PROF_KINDRED_MAX];

	if (!key)
		return NULL;
	if (k->key != key)
		*k = (struct prof_kindred){ .key = key };
	return k;
}
