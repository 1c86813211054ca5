/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: what is written is canonical and valid whatever goes in; what is read is strict.
 */
#include "harness.h"
#include "base/jsondoc.h"
#include "base/jsonout.h"

static char *written(void (*write)(struct base_jsonout *j))
{
	char *text = NULL;
	size_t len;
	struct base_jsonout j = { .f = open_memstream(&text, &len) };

	write(&j);
	fclose(j.f);
	return text;
}

static void some(struct base_jsonout *j)
{
	base_json_object(j, NULL);
	base_json_int(j, "a", INT64_MIN);
	base_json_uint(j, "b", UINT64_MAX);
	base_json_flat_array(j, "c");
	base_json_string(j, NULL, "x\"\\\n\x01\xff\xc3\xa4");
	base_json_null(j, NULL);
	base_json_end(j);
	base_json_object(j, "d");
	base_json_end(j);
	base_json_usd(j, "e", 46860000000LL, true);
	base_json_usd(j, "f", 46860000000LL, false);
	base_json_percent(j, "g", 380951);
	base_json_end(j);
}

static void test_write(void)
{
	char *text = written(some);

	EXPECT_STR(text, "{\n  \"a\": -9223372036854775808,\n  \"b\": 18446744073709551615,\n"
			 "  \"c\": [\"x\\\"\\\\\\u000a\\u0001\\ufffd\xc3\xa4\", null],\n"
			 "  \"d\": {},\n  \"e\": 46.86,\n  \"f\": null,\n  \"g\": 38.0951\n}\n");
	free(text);
}

static void test_read_back(void)
{
	struct base_arena mem = { 0 };
	struct base_json_error err;
	char *text = written(some);
	struct base_json *root = base_json_parse(&mem, text, strlen(text), &err);

	REQUIRE(root);
	EXPECT_INT(base_json_get_int(root, "a", 0), INT64_MIN);
	EXPECT_UINT(base_json_get_uint(root, "b", 0), UINT64_MAX);
	EXPECT_INT(base_json_get_int(root, "b", -7), -7);
	EXPECT_STR(base_json_get(root, "e")->text, "46.86");
	EXPECT_UINT(base_json_count(base_json_get(root, "c")), 2);
	base_arena_fini(&mem);
	free(text);
}

static void test_strict(void)
{
	static const char *const bad[] = {
		"",
		"{",
		"[1,]",
		"{\"a\" 1}",
		"01",
		"1.",
		"-",
		"tru",
		"\"\\x\"",
		"\"\t\"",
		"\"",
		"[1] 2",
		"{\"a\":}",
		"\"\xff\"",
		"nul",
		"1e",
		"null\"a",
		"[1]\"",
		"1 2",
		"\"\xc0\x80\"",
		"\"\xed\xa0\x80\"",
		"/**/1",
		"{1:2}",
		"[1 2]",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct base_arena mem = { 0 };
		struct base_json_error err = { 0 };
		EXPECT(!base_json_parse(&mem, bad[i], strlen(bad[i]), &err));
		EXPECT(err.why != NULL);
		base_arena_fini(&mem);
	}
}

static void test_deep(void)
{
	static char deep[200000];
	struct base_arena mem = { 0 };
	struct base_json_error err;

	memset(deep, '[', sizeof(deep));
	EXPECT(!base_json_parse(&mem, deep, sizeof(deep), &err));
	base_arena_fini(&mem);
}

static void test_escapes(void)
{
	static const char text[] = "[\"\\u00e4\\ud83d\\ude00\\ud800\\u0000\\/\"]";
	struct base_arena mem = { 0 };
	struct base_json_error err;
	struct base_json *root = base_json_parse(&mem, text, sizeof(text) - 1, &err);

	REQUIRE(root);
	EXPECT_STR(root->child->text, "\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd/");
	base_arena_fini(&mem);
}

/* Random damage to a good document: an answer or an error, never a crash. */
static void test_damage(void)
{
	uint64_t seed = t_seed(11);
	char *text = written(some);
	size_t len = strlen(text);

	for (int i = 0; i < 20000; i++) {
		struct base_arena mem = { 0 };
		struct base_json_error err;
		size_t at = t_random(&seed) % len;
		char was = text[at];
		text[at] = (char)t_random(&seed);
		base_json_parse(&mem, text, t_random(&seed) % (len + 1), &err);
		text[at] = was;
		base_arena_fini(&mem);
	}
	free(text);
}

int main(void)
{
	return RUN(test_write, test_read_back, test_strict, test_deep, test_escapes, test_damage);
}
