/* SPDX-License-Identifier: Apache-2.0 */
/* The token file, and paths against patterns. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "serve/route.h"
#include "serve/tokens.h"

#define HASH "3608bca1e44ea6c4d268eb6db02260269892c0b42b86bbf1e77a6fa16c3c9282"
#define CERT                                                           \
	"AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:" \
	"EE:FF:00:11:22:33:44:55:66:77:88:99"

/* 64 characters */
#define LONG_TEAM              \
	"a-token-of-team-one " \
	"0123456789012345678901234567890123456789012345678901234567890123 read\n"

static int parse(struct coll_tokens *t, const char *text)
{
	return coll_tokens_parse(t, text, strlen(text), "test");
}

static void test_good_lines(void)
{
	struct coll_tokens t = { .count = 0 };
	const struct coll_token *got;
	uint8_t hash[COLL_SHA256_BYTES];

	EXPECT_INT(parse(&t, "# who\n\n  a-token-of-team-one\tone read,write # trailing\r\n"
			     "sha256:" HASH " two read\ncert:" CERT " three write"),
		   0);
	EXPECT_UINT(t.count, 3);
	got = coll_tokens_find(&t, "a-token-of-team-one");
	REQUIRE(got);
	EXPECT_STR(got->team, "one");
	EXPECT_UINT(got->scopes, COLL_SCOPE_READ | COLL_SCOPE_WRITE);
	/* HASH is that of "xyz". Too short to be a token, it is none, whatever its hash. */
	REQUIRE(!coll_sha256(hash, "xyz", 3));
	got = coll_tokens_by_hash(&t, COLL_CREDENTIAL_TOKEN, hash);
	REQUIRE(got);
	EXPECT_STR(got->team, "two");
	EXPECT_UINT(got->scopes, COLL_SCOPE_READ);
	EXPECT(!coll_tokens_find(&t, "xyz"));
	EXPECT(!coll_tokens_by_hash(&t, COLL_CREDENTIAL_CERT, hash));
	EXPECT(!coll_tokens_find(&t, "a-token-of-team-onE"));
	EXPECT(!coll_tokens_find(&t, "a-token-of-team-one "));
	EXPECT(!coll_tokens_find(&t, ""));
	memset(hash, 0, sizeof(hash));
	EXPECT(!coll_tokens_by_hash(&t, COLL_CREDENTIAL_CERT, hash));
	coll_tokens_fini(&t);
}

static void test_bad_lines(void)
{
	static const char *const bad[] = {
		"",
		"# nothing\n",
		"short one read\n",
		"a-token-of-team-one one\n",
		"a-token-of-team-one one read more\n",
		"a-token-of-team-one one admin\n",
		"a-token-of-team-one one read,,write\n",
		"a-token-of-team-one ../one read\n",
		"a-token-of-team-one one.gst read\n",
		"a-token-of-team-one . read\n",
		"a-token-of-team-one one/two read\n",
		"a-token-of-team-\001ne one read\n",
		"sha256:1234 one read\n",
		"sha256:" HASH "00 one read\n",
		"cert:nothex one read\n",
		"a-token-of-team-one one read\na-token-of-team-one two read\n",
		LONG_TEAM,
	};
	struct coll_tokens t = { .count = 0 };
	size_t i;

	REQUIRE(!parse(&t, "a-token-that-stays one read"));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (parse(&t, bad[i]) != -EINVAL)
			T_FAIL("taken: %s", bad[i]);
	EXPECT(coll_tokens_find(&t, "a-token-that-stays"));
	coll_tokens_fini(&t);
}

static void write_file(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	const char line[] = "a-token-of-team-one one read\n";

	REQUIRE(fd >= 0);
	REQUIRE(write(fd, line, sizeof(line) - 1) == sizeof(line) - 1);
	REQUIRE(!fchmod(fd, mode));
	close(fd);
}

static void test_files(void)
{
	struct coll_tokens t = { .count = 0 };
	char dir[200], path[256];

	t_tempdir(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/tokens", dir);
	EXPECT_INT(coll_tokens_load(&t, path), -ENOENT);
	EXPECT_INT(coll_tokens_load(&t, dir), -EINVAL);
	write_file(path, 0602);
	EXPECT_INT(coll_tokens_load(&t, path), -EPERM);
	write_file(path, 0600);
	EXPECT_INT(coll_tokens_load(&t, path), 0);
	EXPECT_UINT(t.count, 1);
	unlink(path);
	rmdir(dir);
	coll_tokens_fini(&t);
}

static void test_paths(void)
{
	char param[COLL_ROUTE_PARAMS][COLL_ROUTE_PARAM_BYTES], longest[300];
	const char *pattern = "/v1/runs/*/files/*";

	EXPECT(coll_route_matches(pattern, "/v1/runs/a-1.b_@+=/files/run.json", param));
	EXPECT_STR(param[0], "a-1.b_@+=");
	EXPECT_STR(param[1], "run.json");
	EXPECT(!coll_route_matches(pattern, "/v1/runs/a/files/", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs//files/b", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/../files/b", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/.a/files/b", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/a/files/..", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/a/b/files/c", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/%61/files/b", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/a%2f/files/b", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/a\\/files/b", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/a/files/b/", param));
	EXPECT(!coll_route_matches(pattern, "/v1/runs/a", param));
	EXPECT(coll_route_matches("/", "/", param));
	EXPECT(!coll_route_matches("/", "", param));
	EXPECT(!coll_route_matches("/", "//", param));
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "/r/", 3);
	longest[3 + COLL_ROUTE_PARAM_BYTES - 1] = '\0';
	EXPECT(coll_route_matches("/r/*", longest, param));
	EXPECT_UINT(strlen(param[0]), COLL_ROUTE_PARAM_BYTES - 1);
	longest[3 + COLL_ROUTE_PARAM_BYTES - 1] = 'a';
	longest[3 + COLL_ROUTE_PARAM_BYTES] = '\0';
	EXPECT(!coll_route_matches("/r/*", longest, param));
}

static void test_table(void)
{
	struct coll_route_match m;

	coll_route_find(&m, coll_routes, "GET", "/healthz");
	EXPECT(m.route != NULL);
	coll_route_find(&m, coll_routes, "HEAD", "/healthz");
	EXPECT(m.route != NULL);
	coll_route_find(&m, coll_routes, "POST", "/healthz");
	EXPECT(!m.route);
	EXPECT_STR(m.allow, "GET");
	coll_route_find(&m, coll_routes, "GET", "/nothing");
	EXPECT(!m.route && !m.allow);
}

int main(void)
{
	return RUN(test_good_lines, test_bad_lines, test_files, test_paths, test_table);
}
