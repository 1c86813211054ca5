/* SPDX-License-Identifier: Apache-2.0 */
/* Files as a whole: what is written is read, and what is no file stays what it is. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/files.h"
#include "harness.h"

static char dir[] = "/tmp/gs-files-XXXXXX";

static void test_file(void)
{
	char path[64], *text;
	size_t len;

	snprintf(path, sizeof(path), "%s/file", dir);
	EXPECT(!base_file_write(path, "one", 3));
	EXPECT(!base_file_write(path, "other", 5));
	REQUIRE(!base_file_read(path, &text, &len));
	EXPECT(len == 5 && !strcmp(text, "other"));
	free(text);
	unlink(path);
	EXPECT(base_file_write("/nonexistent/file", "x", 1) < 0);
	EXPECT(base_file_write(dir, "x", 1) < 0);
}

static void test_pipe(void)
{
	char path[64], got[8] = "";
	struct stat st;

	snprintf(path, sizeof(path), "%s/pipe", dir);
	REQUIRE(!mkfifo(path, 0600));
	int fd = open(path, O_RDWR | O_CLOEXEC); /* both ends, so that no one waits for the other */
	REQUIRE(fd >= 0);
	EXPECT(!base_file_write(path, "hello", 5));
	EXPECT(read(fd, got, sizeof(got)) == 5 && !memcmp(got, "hello", 5));
	EXPECT(!lstat(path, &st) && S_ISFIFO(st.st_mode));
	close(fd);
	unlink(path);
}

int main(void)
{
	REQUIRE(mkdtemp(dir));
	int failed = RUN(test_file, test_pipe);

	rmdir(dir);
	return failed;
}
