/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of a run, out of its run.json. The file is hostile: it may be of any size and shape.
 */
#ifndef COLL_LABELS_H
#define COLL_LABELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_RUN_JSON_MAX (1u << 20)

struct coll_labels {
	struct yajl_val_s *root; /* NULL: none, or not to be read */
};

/* Always usable afterwards; run.json may be missing. */
void coll_labels_read(struct coll_labels *l, int run_fd);

/* The same of text, which ends with a 0 byte. */
void coll_labels_parse(struct coll_labels *l, const char *text);
void coll_labels_fini(struct coll_labels *l);

size_t coll_labels_count(const struct coll_labels *l);

/* Number @i; false if it is no text. */
bool coll_labels_get(const struct coll_labels *l, size_t i, const char **key, const char **value);

bool coll_labels_have(const struct coll_labels *l, const char *key, const char *value);

/* A member of run.json that is a text; NULL: there is none. */
const char *coll_labels_text(const struct coll_labels *l, const char *member);

/* A member that is an integer. False: there is none. */
bool coll_labels_number(const struct coll_labels *l, const char *member, int64_t *out);

#endif
