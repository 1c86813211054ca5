/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may do what: the token file, one line per credential,
 *
 *   CREDENTIAL TEAM SCOPE[,SCOPE]
 *
 * CREDENTIAL is a token as it is (at least 16 visible characters), `sha256:` and 64 hex digits (its
 * SHA-256), or `cert:` and the SHA-256 fingerprint of a client certificate, with or without colons.
 * TEAM: letters, digits, `-` and `_`, at most 63. SCOPE: `read`, `write`. `#` begins a comment.
 *
 * Only hashes are kept in memory, and they are compared in constant time. Nothing of a credential
 * is ever logged; a bad line is named by its number. One thread.
 */
#ifndef COLL_TOKENS_H
#define COLL_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COLL_TEAM_BYTES 64 /* with the end */
#define COLL_TOKEN_MIN 16
#define COLL_TOKEN_MAX 512 /* characters */
#define COLL_TOKENS_FILE_MAX (1u << 20)
#define COLL_SHA256_BYTES 32

enum coll_scope {
	COLL_SCOPE_READ = 1 << 0,
	COLL_SCOPE_WRITE = 1 << 1,
};

enum coll_credential {
	COLL_CREDENTIAL_TOKEN,
	COLL_CREDENTIAL_CERT,
};

struct coll_token {
	enum coll_credential kind;
	uint8_t hash[COLL_SHA256_BYTES];
	char team[COLL_TEAM_BYTES];
	unsigned int scopes;
};

struct coll_tokens {
	struct coll_token *list;
	size_t count;
};

/*
 * Reads @path anew; *t is replaced only if all of it is good, so that a mistake in an edited file
 * locks nobody out. 0 or -errno; -EINVAL: a bad line. What is wrong is logged.
 */
int coll_tokens_load(struct coll_tokens *t, const char *path);
void coll_tokens_fini(struct coll_tokens *t);

/* The same of text in memory; @name stands in what is logged. */
int coll_tokens_parse(struct coll_tokens *t, const char *text, size_t len, const char *name);

/* Who holds the token (a string) or the certificate with this hash; NULL: nobody. */
const struct coll_token *coll_tokens_find(const struct coll_tokens *t, const char *token);
const struct coll_token *coll_tokens_by_hash(const struct coll_tokens *t, enum coll_credential kind,
					     const uint8_t hash[COLL_SHA256_BYTES]);

bool coll_team_name_ok(const char *name);

/* 0 or -EIO. */
int coll_sha256(uint8_t out[COLL_SHA256_BYTES], const void *bytes, size_t len);

#endif
