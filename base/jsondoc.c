/* SPDX-License-Identifier: Apache-2.0 */
/* yajl, with a limit on depth; numbers stay text. */
#include "jsondoc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>
#include "utf8.h"

#define DEPTH_MAX 64

/*
 * yajl calls back in the order of the text; what it names goes behind what came last in its depth.
 */
struct builder {
	struct base_arena *mem;
	yajl_handle yajl;
	struct base_json *root, **tail[DEPTH_MAX + 1];
	int depth;
	const char *key; /* of the value that comes next */
	/* of the root, once it is complete; 0: it is not, or with the text's end only */
	size_t end;
	const char *why; /* it was given up; NULL: not by us */
};

static int give_up(struct builder *b, const char *why)
{
	b->why = why;
	return 0;
}

static struct base_json *add(struct builder *b, enum base_json_type type)
{
	struct base_json *n = base_arena_alloc(b->mem, sizeof(*n));

	n->type = type;
	n->key = b->key;
	b->key = NULL;
	*b->tail[b->depth] = n;
	b->tail[b->depth] = &n->next;
	return n;
}

/* A value is complete, as far as it stands at the top. */
static int complete(struct builder *b)
{
	if (!b->depth)
		b->end = yajl_get_bytes_consumed(b->yajl);
	return 1;
}

static int open_container(struct builder *b, enum base_json_type type)
{
	struct base_json *n = add(b, type);

	if (b->depth == DEPTH_MAX)
		return give_up(b, "nested too deep");
	b->tail[++b->depth] = &n->child;
	return 1;
}

/* yajl takes overlong forms and surrogates for characters. */
static const char *checked(struct builder *b, const unsigned char *text, size_t len)
{
	const char *p = (const char *)text;

	for (size_t i = 0, n; i < len; i += n) {
		n = base_utf8_length(p + i, len - i);
		if (!n) {
			give_up(b, "bad byte in a string");
			return NULL;
		}
	}
	return base_arena_copy(b->mem, p, len);
}

static int on_null(void *arg)
{
	add(arg, BASE_JSON_NULL)->text = "null";
	return complete(arg);
}

static int on_boolean(void *arg, int v)
{
	add(arg, BASE_JSON_BOOL)->text = v ? "true" : "false";
	return complete(arg);
}

static int on_number(void *arg, const char *text, size_t len)
{
	struct builder *b = arg;

	add(b, BASE_JSON_NUMBER)->text = base_arena_copy(b->mem, text, len);
	return complete(b);
}

static int on_string(void *arg, const unsigned char *text, size_t len)
{
	const char *copy = checked(arg, text, len);

	if (!copy)
		return 0;
	add(arg, BASE_JSON_STRING)->text = copy;
	return complete(arg);
}

static int on_key(void *arg, const unsigned char *text, size_t len)
{
	struct builder *b = arg;

	b->key = checked(b, text, len);
	return b->key != NULL;
}

static int on_object(void *arg)
{
	return open_container(arg, BASE_JSON_OBJECT);
}

static int on_array(void *arg)
{
	return open_container(arg, BASE_JSON_ARRAY);
}

static int on_end(void *arg)
{
	struct builder *b = arg;

	b->depth--;
	return complete(b);
}

/* The four digits of an escape of six bytes; -1: it is none. */
static int32_t escaped(const char *p, const char *end)
{
	int32_t code = 0;

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		const char *digits = "0123456789abcdef", *at = strchr(digits, p[i] | 0x20);

		if (!at || !*at || (p[i] < '0'))
			return -1;
		code = code << 4 | (int32_t)(at - digits);
	}
	return code;
}

/* How many bytes of escapes from @p are good as they are; 0: the first is half a pair, or a NUL. */
static size_t good_escape(const char *p, const char *end)
{
	int32_t code = escaped(p, end), low;

	if (code < 0)
		return end - p > 1 ? 2 : 1; /* another escape: yajl knows them */
	if (code == 0 || (code >= 0xdc00 && code < 0xe000))
		return 0;
	if (code < 0xd800 || code >= 0xe000)
		return 6;
	low = escaped(p + 6, end);
	return low >= 0xdc00 && low < 0xe000 ? 12 : 0;
}

/*
 * yajl makes other characters of half a pair of surrogates, and a NUL of \u0000, which would end a
 * C string: U+FFFD takes their place, in a copy. The text itself if there are none.
 */
static const char *mended(struct base_arena *a, const char *text, size_t len)
{
	const char *end = text + len, *p = memchr(text, '\\', len);
	char *copy = NULL;

	while (p) {
		size_t n = good_escape(p, end);

		if (!n) {
			if (!copy)
				copy = base_arena_copy(a, text, len);
			memcpy(copy + (p - text), "\\ufffd", 6);
			n = 6;
		}
		p += n;
		p = memchr(p, '\\', (size_t)(end - p));
	}
	return copy ? copy : text;
}

/* yajl's words for what is wrong, by what only they have in them, and ours. */
static const char *reason(yajl_handle y)
{
	static const char *const words[][2] = {
		{ "premature EOF", "the text ends too early" },
		{ "trailing garbage", "something follows the document" },
		{ "(':')", "no colon after a key" },
		{ "',' or", "a comma or a bracket is missing" },
		{ "object key", "a key is missing" },
		{ "malformed number", "bad number" },
		{ "occurs", "bad escape in a string" },
		{ "UTF8", "bad byte in a string" },
		{ "inside string", "bad byte in a string" },
	};
	unsigned char *text = yajl_get_error(y, 0, NULL, 0);
	const char *why = "no JSON value";

	for (size_t i = 0; text && i < sizeof(words) / sizeof(words[0]); i++) {
		if (strstr((const char *)text, words[i][0])) {
			why = words[i][1];
			break;
		}
	}
	yajl_free_error(y, text);
	return why;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_boolean,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_object,
	.yajl_map_key = on_key,
	.yajl_end_map = on_end,
	.yajl_start_array = on_array,
	.yajl_end_array = on_end,
};

/* yajl lets the beginning of a string stand behind the document. */
static size_t skip_space(const char *text, size_t at, size_t len)
{
	while (at < len && text[at] && strchr(" \t\r\n", text[at]))
		at++;
	return at;
}

struct base_json *base_json_parse(struct base_arena *a, const char *text, size_t len,
				  struct base_json_error *err)
{
	struct builder b = { .mem = a, .tail[0] = &b.root };
	yajl_handle y = b.yajl = yajl_alloc(&callbacks, NULL, &b);
	yajl_status status;
	size_t at;

	if (!y) {
		*err = (struct base_json_error){ "out of memory", 0 };
		return NULL;
	}
	text = mended(a, text, len);
	status = yajl_parse(y, (const unsigned char *)text, len);
	at = skip_space(text, b.end, len);
	if (status == yajl_status_ok && b.end && at < len) {
		*err = (struct base_json_error){ "something follows the document", at };
		b.root = NULL;
	} else if (status != yajl_status_ok || yajl_complete_parse(y) != yajl_status_ok) {
		at = status == yajl_status_ok ? len : yajl_get_bytes_consumed(y);
		*err = (struct base_json_error){ b.why ? b.why : reason(y), at };
		b.root = NULL;
	}
	yajl_free(y);
	return b.root;
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
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;

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
