/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The token file, line by line.
 */
#include "tokens.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/log.h"

#define WORDS 3

struct word {
	const char *at;
	size_t len;
};

int coll_sha256(uint8_t out[COLL_SHA256_BYTES], const void *bytes, size_t len)
{
	return gnutls_hash_fast(GNUTLS_DIG_SHA256, bytes, len, out) ? -EIO : 0;
}

static bool team_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

/* No dot: a team's folder can neither be hidden nor look like a run. */
bool coll_team_name_ok(const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; i < len; i++)
		if (!team_char(name[i]))
			return false;
	return len && len < COLL_TEAM_BYTES;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Exactly 64 digits; colons between pairs are passed over. */
static bool read_hash(uint8_t out[COLL_SHA256_BYTES], const char *at, size_t len)
{
	size_t digits = 0, i;

	for (i = 0; i < len; i++) {
		int digit = hex_digit(at[i]);

		if (at[i] == ':' && !(digits & 1))
			continue;
		if (digit < 0 || digits >= 2 * COLL_SHA256_BYTES)
			return false;
		out[digits / 2] = (uint8_t)(digits & 1 ? out[digits / 2] << 4 | digit : digit);
		digits++;
	}
	return digits == 2 * COLL_SHA256_BYTES;
}

static bool begins(const struct word *w, const char *prefix)
{
	size_t len = strlen(prefix);

	return w->len >= len && !memcmp(w->at, prefix, len);
}

static const char *read_credential(struct coll_token *t, const struct word *w)
{
	size_t i;

	t->kind = begins(w, "cert:") ? COLL_CREDENTIAL_CERT : COLL_CREDENTIAL_TOKEN;
	if (begins(w, "cert:"))
		return read_hash(t->hash, w->at + 5, w->len - 5) ? NULL : "no SHA-256 fingerprint";
	if (begins(w, "sha256:"))
		return read_hash(t->hash, w->at + 7, w->len - 7) ? NULL : "not 64 hex digits";
	if (w->len < COLL_TOKEN_MIN || w->len > COLL_TOKEN_MAX)
		return "a token has 16 to 512 characters";
	for (i = 0; i < w->len; i++)
		if (w->at[i] < 0x21 || w->at[i] > 0x7e)
			return "a token has visible ASCII characters only";
	return coll_sha256(t->hash, w->at, w->len) ? "cannot hash it" : NULL;
}

static const char *read_team(struct coll_token *t, const struct word *w)
{
	if (w->len >= sizeof(t->team))
		return "a team's name has at most 63 characters";
	memcpy(t->team, w->at, w->len);
	t->team[w->len] = '\0';
	return coll_team_name_ok(t->team) ? NULL
					  : "a team's name has letters, digits, - and _ only";
}

static const char *read_scopes(struct coll_token *t, const struct word *w)
{
	const char *at = w->at, *end = w->at + w->len;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		size_t len = (size_t)((comma ? comma : end) - at);

		if (len == 4 && !memcmp(at, "read", len))
			t->scopes |= COLL_SCOPE_READ;
		else if (len == 5 && !memcmp(at, "write", len))
			t->scopes |= COLL_SCOPE_WRITE;
		else
			return "a scope is read or write";
		at += len + 1;
	}
	return NULL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Cuts a line; how many words it has, WORDS + 1: more. */
static size_t split(struct word *words, const char *at, const char *end)
{
	size_t n = 0;

	while (at < end && n <= WORDS) {
		const char *from;

		while (at < end && is_space(*at))
			at++;
		if (at == end || *at == '#')
			break;
		for (from = at; at < end && !is_space(*at); at++)
			;
		if (n < WORDS)
			words[n] = (struct word){ from, (size_t)(at - from) };
		n++;
	}
	return n;
}

static int append_token(struct coll_tokens *t, const struct coll_token *token)
{
	struct coll_token *list = realloc(t->list, (t->count + 1) * sizeof(*list));

	if (!list)
		return -ENOMEM;
	list[t->count++] = *token;
	t->list = list;
	return 0;
}

static int read_line(struct coll_tokens *t, const char *at, const char *end, const char **why)
{
	struct word words[WORDS];
	struct coll_token token = { .scopes = 0 };
	size_t n = split(words, at, end);

	*why = NULL;
	if (!n)
		return 0;
	if (n != WORDS)
		*why = "expected: token, team, scopes";
	if (!*why)
		*why = read_credential(&token, &words[0]);
	if (!*why)
		*why = read_team(&token, &words[1]);
	if (!*why)
		*why = read_scopes(&token, &words[2]);
	if (!*why && coll_tokens_by_hash(t, token.kind, token.hash))
		*why = "the same credential is on a line above";
	return *why ? -EINVAL : append_token(t, &token);
}

int coll_tokens_parse(struct coll_tokens *t, const char *text, size_t len, const char *name)
{
	struct coll_tokens new = { .count = 0 };
	const char *at = text, *end = text + len, *why;
	unsigned int line = 1;
	int err = 0;

	for (; at < end && !err; line++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		err = read_line(&new, at, stop, &why);
		if (err && why)
			coll_log("%s: line %u: %s; see docs/OPERATIONS.md", name, line, why);
		at = stop + 1;
	}
	if (!err && !new.count) {
		coll_log("%s: no token in it; nobody could come in", name);
		err = -EINVAL;
	}
	if (err) {
		coll_tokens_fini(&new);
		return err;
	}
	coll_tokens_fini(t);
	*t = new;
	return 0;
}

static int read_all(int fd, char **text, size_t *len)
{
	struct stat st;
	ssize_t n = 0;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (st.st_mode & S_IWOTH)
		return -EPERM;
	if (st.st_size > COLL_TOKENS_FILE_MAX)
		return -EFBIG;
	*text = malloc((size_t)st.st_size + 1);
	if (!*text)
		return -ENOMEM;
	for (*len = 0; *len < (size_t)st.st_size; *len += (size_t)n) {
		n = read(fd, *text + *len, (size_t)st.st_size - *len);
		if (n <= 0)
			break;
	}
	if (n < 0) {
		free(*text);
		*text = NULL;
		return -EIO;
	}
	return st.st_mode & S_IROTH ? 1 : 0;
}

int coll_tokens_load(struct coll_tokens *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;
	char *text = NULL;
	size_t len = 0;

	err = fd < 0 ? -errno : read_all(fd, &text, &len);
	if (fd >= 0)
		close(fd);
	if (err < 0) {
		coll_log("cannot read tokens from %s: %s", path,
			 err == -EPERM ? "everybody may write to it; chmod 600" : strerror(-err));
		return err;
	}
	if (err)
		coll_log("%s: everybody may read it; chmod 600", path);
	err = coll_tokens_parse(t, text, len, path);
	gnutls_memset(text, 0, len);
	free(text);
	return err;
}

void coll_tokens_fini(struct coll_tokens *t)
{
	free(t->list);
	*t = (struct coll_tokens){ .count = 0 };
}

/* All are looked at, each in whole: the time tells nothing about how near a guess was. */
const struct coll_token *coll_tokens_by_hash(const struct coll_tokens *t, enum coll_credential kind,
					     const uint8_t hash[COLL_SHA256_BYTES])
{
	const struct coll_token *found = NULL;
	size_t i;

	for (i = 0; i < t->count; i++) {
		int differ = gnutls_memcmp(t->list[i].hash, hash, COLL_SHA256_BYTES);

		if (!differ && t->list[i].kind == kind)
			found = &t->list[i];
	}
	return found;
}

const struct coll_token *coll_tokens_find(const struct coll_tokens *t, const char *token)
{
	uint8_t hash[COLL_SHA256_BYTES];
	size_t len = strnlen(token, COLL_TOKEN_MAX + 1);

	if (len < COLL_TOKEN_MIN || len > COLL_TOKEN_MAX || coll_sha256(hash, token, len))
		return NULL;
	return coll_tokens_by_hash(t, COLL_CREDENTIAL_TOKEN, hash);
}
