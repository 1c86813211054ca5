/* SPDX-License-Identifier: Apache-2.0 */
/* A recursive descent with a limit on depth; strict JSON, nothing else. */
#include "jsondoc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "utf8.h"
#include "wire/utf8.h"

#define DEPTH_MAX 64

struct parser {
	struct base_arena *mem;
	const char *begin, *p, *end;
	const char *why;
	int depth;
};

static struct base_json *value(struct parser *ps);

static void *fail(struct parser *ps, const char *why)
{
	if (!ps->why)
		ps->why = why;
	return NULL;
}

static void skip_space(struct parser *ps)
{
	while (ps->p < ps->end && strchr(" \t\r\n", *ps->p) && *ps->p)
		ps->p++;
}

static bool take(struct parser *ps, char c)
{
	skip_space(ps);
	if (ps->p >= ps->end || *ps->p != c)
		return false;
	ps->p++;
	return true;
}

static struct base_json *node_new(struct parser *ps, enum base_json_type type)
{
	struct base_json *n = base_arena_alloc(ps->mem, sizeof(*n));

	n->type = type;
	return n;
}

static struct base_json *word(struct parser *ps, const char *text, enum base_json_type type)
{
	size_t len = strlen(text);

	if ((size_t)(ps->end - ps->p) < len || memcmp(ps->p, text, len) != 0)
		return fail(ps, "no JSON value");
	ps->p += len;
	struct base_json *n = node_new(ps, type);
	n->text = text;
	return n;
}

static bool digits(struct parser *ps)
{
	const char *from = ps->p;

	while (ps->p < ps->end && *ps->p >= '0' && *ps->p <= '9')
		ps->p++;
	return ps->p > from;
}

static struct base_json *number(struct parser *ps)
{
	const char *from = ps->p;

	if (*ps->p == '-')
		ps->p++;
	const char *first = ps->p;
	if (!digits(ps) || (*first == '0' && ps->p - first > 1))
		return fail(ps, "bad number");
	if (ps->p < ps->end && *ps->p == '.') {
		ps->p++;
		if (!digits(ps))
			return fail(ps, "bad number");
	}
	if (ps->p < ps->end && (*ps->p == 'e' || *ps->p == 'E')) {
		ps->p++;
		if (ps->p < ps->end && (*ps->p == '+' || *ps->p == '-'))
			ps->p++;
		if (!digits(ps))
			return fail(ps, "bad number");
	}
	struct base_json *n = node_new(ps, BASE_JSON_NUMBER);
	n->text = base_arena_copy(ps->mem, from, (size_t)(ps->p - from));
	return n;
}

static bool hex4(struct parser *ps, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, ps->p++) {
		if (ps->p >= ps->end)
			return false;
		char c = *ps->p;
		if (c >= '0' && c <= '9')
			*code = *code << 4 | (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*code = *code << 4 | (uint32_t)((c | 32) - 'a' + 10);
		else
			return false;
	}
	return true;
}

static size_t unicode_escape(struct parser *ps, char *out)
{
	uint32_t code, low;

	if (!hex4(ps, &code))
		return 0;
	if (code >= 0xd800 && code < 0xdc00 && ps->end - ps->p >= 6 && ps->p[0] == '\\' &&
	    ps->p[1] == 'u') {
		const char *back = ps->p;
		ps->p += 2;
		if (hex4(ps, &low) && low >= 0xdc00 && low < 0xe000)
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		else
			ps->p = back;
	}
	return wire_utf8_put(out,
			     code ? code : WIRE_UTF8_REPLACEMENT); /* no NUL inside C strings */
}

static size_t escape(struct parser *ps, char *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";

	if (ps->p >= ps->end)
		return 0;
	char c = *ps->p++;
	if (c == 'u')
		return unicode_escape(ps, out);
	const char *at = c ? strchr(from, c) : NULL;
	if (!at)
		return 0;
	*out = to[at - from];
	return 1;
}

/* Decoded text is never longer than its source. */
static const char *string(struct parser *ps)
{
	const char *stop = ps->p;

	while (stop < ps->end && *stop != '"')
		stop += *stop == '\\' && stop + 1 < ps->end ? 2 : 1;
	char *text = base_arena_alloc(ps->mem, (size_t)(stop - ps->p) + 4), *out = text;
	while (ps->p < ps->end && *ps->p != '"') {
		size_t n;
		if (*ps->p == '\\') {
			ps->p++;
			n = escape(ps, out);
			if (!n)
				return fail(ps, "bad escape in a string");
		} else {
			n = base_utf8_length(ps->p, (size_t)(ps->end - ps->p));
			if (!n || (unsigned char)*ps->p < 0x20)
				return fail(ps, "bad byte in a string");
			memcpy(out, ps->p, n);
			ps->p += n;
		}
		out += n;
	}
	if (ps->p >= ps->end)
		return fail(ps, "the text ends inside a string");
	ps->p++;
	*out = '\0';
	return text;
}

static struct base_json *string_node(struct parser *ps)
{
	ps->p++;
	const char *text = string(ps);

	if (!text)
		return NULL;
	struct base_json *n = node_new(ps, BASE_JSON_STRING);
	n->text = text;
	return n;
}

static struct base_json *member(struct parser *ps, bool keyed)
{
	const char *key = NULL;

	if (keyed) {
		if (!take(ps, '"'))
			return fail(ps, "a key is missing");
		key = string(ps);
		if (!key)
			return NULL;
		if (!take(ps, ':'))
			return fail(ps, "no colon after a key");
	}
	struct base_json *n = value(ps);
	if (n)
		n->key = key;
	return n;
}

static struct base_json *container(struct parser *ps, enum base_json_type type, char closer)
{
	struct base_json *n = node_new(ps, type), **tail = &n->child;

	ps->p++;
	if (++ps->depth > DEPTH_MAX)
		return fail(ps, "nested too deep");
	if (!take(ps, closer)) {
		do {
			*tail = member(ps, type == BASE_JSON_OBJECT);
			if (!*tail)
				return NULL;
			tail = &(*tail)->next;
		} while (take(ps, ','));
		if (!take(ps, closer))
			return fail(ps, ps->p < ps->end ? "a comma or a bracket is missing"
							: "the text ends too early");
	}
	ps->depth--;
	return n;
}

static struct base_json *value(struct parser *ps)
{
	skip_space(ps);
	if (ps->p >= ps->end)
		return fail(ps, "the text ends too early");
	switch (*ps->p) {
	case '{':
		return container(ps, BASE_JSON_OBJECT, '}');
	case '[':
		return container(ps, BASE_JSON_ARRAY, ']');
	case '"':
		return string_node(ps);
	case 't':
		return word(ps, "true", BASE_JSON_BOOL);
	case 'f':
		return word(ps, "false", BASE_JSON_BOOL);
	case 'n':
		return word(ps, "null", BASE_JSON_NULL);
	default:
		if (*ps->p == '-' || (*ps->p >= '0' && *ps->p <= '9'))
			return number(ps);
		return fail(ps, "no JSON value");
	}
}

struct base_json *base_json_parse(struct base_arena *a, const char *text, size_t len,
				  struct base_json_error *err)
{
	struct parser ps = { .mem = a, .begin = text, .p = text, .end = text + len };
	struct base_json *root = value(&ps);

	skip_space(&ps);
	if (root && ps.p < ps.end)
		root = fail(&ps, "something follows the document");
	if (!root)
		*err = (struct base_json_error){ ps.why, (size_t)(ps.p - ps.begin) };
	return root;
}

static int read_all(int fd, char *to, size_t len)
{
	while (len) {
		ssize_t n = read(fd, to, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EBADMSG;
		to += n;
		len -= (size_t)n;
	}
	return 0;
}

int base_json_read(struct base_arena *a, const char *path, struct base_json **root,
		   struct base_json_error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	*err = (struct base_json_error){ "it changed while it was read", 0 };
	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : 0;
	if (!ret && !S_ISREG(st.st_mode))
		ret = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if (!ret && (uint64_t)st.st_size > BASE_JSONDOC_BYTES_MAX)
		ret = -EFBIG;
	if (!ret) {
		char *text = base_arena_alloc(a, (size_t)st.st_size + 1);
		ret = read_all(fd, text, (size_t)st.st_size);
		*root = ret ? NULL : base_json_parse(a, text, (size_t)st.st_size, err);
		if (!ret && !*root)
			ret = -EBADMSG;
	}
	close(fd);
	return ret;
}

struct base_json *base_json_get(const struct base_json *node, const char *key)
{
	if (!node || node->type != BASE_JSON_OBJECT)
		return NULL;
	for (struct base_json *c = node->child; c; c = c->next)
		if (!strcmp(c->key, key))
			return c;
	return NULL;
}

bool base_json_to_int(const struct base_json *node, int64_t *v)
{
	char *end;

	if (!node || node->type != BASE_JSON_NUMBER)
		return false;
	errno = 0;
	long long n = strtoll(node->text, &end, 10);
	if (errno || *end)
		return false;
	*v = n;
	return true;
}

int64_t base_json_get_int(const struct base_json *node, const char *key, int64_t otherwise)
{
	int64_t v;

	return base_json_to_int(base_json_get(node, key), &v) ? v : otherwise;
}

uint64_t base_json_get_uint(const struct base_json *node, const char *key, uint64_t otherwise)
{
	const struct base_json *n = base_json_get(node, key);
	char *end;

	if (!n || n->type != BASE_JSON_NUMBER || n->text[0] == '-')
		return otherwise;
	errno = 0;
	unsigned long long v = strtoull(n->text, &end, 10);
	return errno || *end ? otherwise : v;
}

bool base_json_get_bool(const struct base_json *node, const char *key, bool otherwise)
{
	const struct base_json *n = base_json_get(node, key);

	return n && n->type == BASE_JSON_BOOL ? n->text[0] == 't' : otherwise;
}

const char *base_json_get_text(const struct base_json *node, const char *key, const char *otherwise)
{
	const struct base_json *n = base_json_get(node, key);

	return n && n->type == BASE_JSON_STRING ? n->text : otherwise;
}

size_t base_json_count(const struct base_json *node)
{
	size_t n = 0;

	for (const struct base_json *c = node ? node->child : NULL; c; c = c->next)
		n++;
	return n;
}
