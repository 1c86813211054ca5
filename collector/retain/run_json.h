/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What run.json says of a run: its labels, how its command ended. The file is hostile: it may be of
 * any size and shape. Memory is of malloc, and running out of it reads as a file that cannot be
 * read.
 */
#ifndef COLL_RUN_JSON_H
#define COLL_RUN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_RUN_JSON_MAX (1u << 20)

struct coll_run_json {
	struct yajl_val_s *root; /* NULL: none, or not to be read */
};

/* Always usable afterwards; run.json may be missing. */
void coll_run_json_read(struct coll_run_json *l, int run_fd);

/* The same of text, which ends with a 0 byte. */
void coll_run_json_parse(struct coll_run_json *l, const char *text);
void coll_run_json_fini(struct coll_run_json *l);

size_t coll_run_json_labels(const struct coll_run_json *l);

/* Number @i; false if it is no text. */
bool coll_run_json_label(const struct coll_run_json *l, size_t i, const char **key,
			 const char **value);

bool coll_run_json_has_label(const struct coll_run_json *l, const char *key, const char *value);

/* A member that is an integer. False: there is none. */
bool coll_run_json_number(const struct coll_run_json *l, const char *member, int64_t *out);

#endif
