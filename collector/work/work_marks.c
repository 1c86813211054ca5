/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of kinds, and loops over few marks.
 */
#include "work_marks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/vec.h"

#define REVISION_DIGITS 20
#define CONTENT_DIGITS 16

static const struct {
	const char *name, *suffix;
	bool who;
} kinds[COLL_WORK_KINDS] = {
	[COLL_WORK_DIGEST] = { "digest-", ".json", false },
	[COLL_WORK_REPORT] = { "report-", ".html", false },
	[COLL_WORK_SUMMARY] = { "summary-", ".json", false },
	[COLL_WORK_LEASE] = { "lease-", "", true },
	[COLL_WORK_FAIL] = { "fail-", ".txt", true },
	[COLL_WORK_DEAD] = { "dead-", ".txt", false },
};

/* Exactly so many hexadecimal (or decimal) digits, as we write them. */
static const char *take_digits(const char *at, size_t digits, int base, uint64_t *value)
{
	const char *set = base == 16 ? "0123456789abcdef" : "0123456789";
	char text[REVISION_DIGITS + 1];

	if (!at || strspn(at, set) != digits)
		return NULL;
	memcpy(text, at, digits);
	text[digits] = '\0';
	errno = 0;
	*value = strtoull(text, NULL, base);
	return errno ? NULL : at + digits;
}

static const char *take_text(const char *at, const char *text)
{
	size_t len = strlen(text);

	return at && !strncmp(at, text, len) ? at + len : NULL;
}

static const char *take_who(const char *at, char who[COLL_WORK_WHO_BYTES])
{
	const char *from = take_text(at, "-");
	uint64_t value;

	at = take_digits(from, COLL_WORK_WHO_BYTES - 1, 16, &value);
	if (at)
		snprintf(who, COLL_WORK_WHO_BYTES, "%.*s", COLL_WORK_WHO_BYTES - 1, from);
	return at;
}

bool coll_work_mark_read(struct coll_work_mark *m, const char *name)
{
	const char *at = NULL;
	uint64_t revision;
	int kind;

	*m = (struct coll_work_mark){ .kind = COLL_WORK_KINDS };
	for (kind = 0; kind < COLL_WORK_KINDS && !at; kind++)
		at = take_text(name, kinds[kind].name);
	if (!at)
		return false;
	m->kind = (enum coll_work_kind)(kind - 1);
	at = take_digits(at, REVISION_DIGITS, 10, &revision);
	at = take_digits(take_text(at, "-"), CONTENT_DIGITS, 16, &m->content);
	if (kinds[m->kind].who)
		at = take_who(at, m->who);
	at = take_text(at, kinds[m->kind].suffix);
	m->revision = (int64_t)revision;
	return at && !*at && m->revision >= 0;
}

void coll_work_mark_name(char out[COLL_WORK_NAME_BYTES], const struct coll_work_mark *m)
{
	snprintf(out, COLL_WORK_NAME_BYTES, "%s%0*" PRId64 "-%0*" PRIx64 "%s%s%s",
		 kinds[m->kind].name, REVISION_DIGITS, m->revision, CONTENT_DIGITS, m->content,
		 kinds[m->kind].who ? "-" : "", kinds[m->kind].who ? m->who : "",
		 kinds[m->kind].suffix);
}

int coll_work_marks_add(struct coll_work_marks *all, const char *name, int64_t changed_s)
{
	struct coll_work_mark m;

	if (all->n == COLL_WORK_MARKS_MAX || !coll_work_mark_read(&m, name))
		return 0;
	if (!base_vec_more(all->mark, all->n, all->room))
		return -ENOMEM;
	m.changed_s = changed_s;
	all->mark[all->n++] = m;
	return 0;
}

void coll_work_marks_fini(struct coll_work_marks *all)
{
	free(all->mark);
	*all = (struct coll_work_marks){ .n = 0 };
}

int64_t coll_work_mark_age(const struct coll_work_marks *all, const struct coll_work_mark *m,
			   int64_t ahead_s)
{
	int64_t age_s = all->now_s - m->changed_s - ahead_s;

	return age_s > 0 ? age_s : 0;
}

const struct coll_work_mark *coll_work_marks_other(const struct coll_work_marks *all,
						   const char *who, int64_t lease_s,
						   int64_t ahead_s)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct coll_work_mark *m = &all->mark[i];

		if (m->kind == COLL_WORK_LEASE && strcmp(m->who, who) != 0 &&
		    (!lease_s || coll_work_mark_age(all, m, ahead_s) < lease_s))
			return m;
	}
	return NULL;
}

const struct coll_work_mark *coll_work_marks_find(const struct coll_work_marks *all,
						  enum coll_work_kind kind, uint64_t content)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->mark[i].kind == kind && all->mark[i].content == content)
			return &all->mark[i];
	return NULL;
}

unsigned int coll_work_marks_fails(const struct coll_work_marks *all, uint64_t content,
				   const struct coll_work_mark **last)
{
	unsigned int fails = 0;

	*last = NULL;
	for (size_t i = 0; i < all->n; i++) {
		const struct coll_work_mark *m = &all->mark[i];

		if (m->kind != COLL_WORK_FAIL || m->content != content)
			continue;
		fails++;
		if (!*last || m->changed_s >= (*last)->changed_s)
			*last = m;
	}
	return fails;
}

uint64_t coll_work_trial(uint64_t content)
{
	return base_hash_text(base_hash(BASE_HASH, &content, sizeof(content)), GPUSTARVE_VERSION);
}
