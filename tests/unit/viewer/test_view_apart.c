/* SPDX-License-Identifier: Apache-2.0 */
/* A digest that a process of its own makes: what comes back, what it may not, and how it ends. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "core/confine.h"
#include "fleet/apart.h"
#include "harness.h"
#include "view_made.h"

static char run[200], other[240], secret[260];
static int store = -1; /* open before, as a store is from the second run on */

static int fill(struct fleet_digest *d)
{
	struct view_summary *s = made_summary_of(made_starved(NULL), "a GPU", 6880000000LL);

	fleet_digest_make(d, s, NULL, 7);
	snprintf(d->run, sizeof(d->run), "a-run");
	view_summary_free(s);
	return 0;
}

static int digest_by(int (*make)(struct fleet_digest *d, const void *arg), bool writes,
		     struct fleet_digest *d, int *ended_by)
{
	const struct fleet_apart how = { .run = run, .writes = writes, .make = make };

	memset(d, 0x55, sizeof(*d));
	return fleet_apart(d, &how, ended_by);
}

static int make_good(struct fleet_digest *d, const void *arg)
{
	(void)arg;
	return fill(d);
}

/* The same to the byte as one that is made here, and nothing of ours has changed. */
static void test_it_comes_back(void)
{
	static struct fleet_digest here, apart;
	int ended_by = -1;
	struct rlimit memory;
	char *a, *b;

	REQUIRE(!fill(&here));
	EXPECT_INT(digest_by(make_good, false, &apart, &ended_by), 0);
	EXPECT_INT(ended_by, 0);
	a = fleet_digest_write(&here);
	b = fleet_digest_write(&apart);
	EXPECT_STR(b, a);
	free(a);
	free(b);
	EXPECT(!getrlimit(RLIMIT_AS, &memory) && memory.rlim_cur == RLIM_INFINITY);
	EXPECT(!access(secret, R_OK));
}

static bool opens(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* What could be done that may not be, a bit each, comes back in the revision. */
static int try_all(struct fleet_digest *d, const void *arg)
{
	char inside[300];
	struct rlimit memory;
	int64_t done = 0;

	(void)arg;
	snprintf(inside, sizeof(inside), "%s/.digest-parts", run);
	done |= opens(secret, O_RDONLY) ? 1 : 0;
	done |= opens("/etc/passwd", O_RDONLY) ? 2 : 0;
	done |= socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 4 : 0;
	done |= !kill(getppid(), 0) ? 8 : 0;
	done |= getrlimit(RLIMIT_AS, &memory) || memory.rlim_cur > VIEW_CONFINE_MEMORY ? 16 : 0;
	done |= opens(inside, O_WRONLY | O_CREAT) ? 32 : 0;
	done |= fcntl(store, F_GETFD) >= 0 ? 64 : 0;
	fill(d);
	d->revision = 1000 + done;
	return 0;
}

static void test_what_it_may_not(void)
{
	static struct fleet_digest d;
	int ended_by;

	store = fcntl(open(secret, O_RDONLY | O_CLOEXEC), F_DUPFD_CLOEXEC, 100);
	REQUIRE(store >= 0);
	EXPECT_INT(digest_by(try_all, false, &d, &ended_by), 0);
	EXPECT_INT((d.revision - 1000) & 64, 0); /* whatever the kernel can, it has no store */
	if (d.revision == 1000 + 63) {
		printf("skipped: not confined: a sanitizer, or a kernel without either\n");
		return;
	}
	EXPECT_INT((d.revision - 1000) & (4 | 8 | 16), 0);
	if ((d.revision - 1000) & 3) {
		printf("skipped: files are not confined\n");
		return;
	}
	EXPECT_INT(d.revision, 1000);
	EXPECT_INT(digest_by(try_all, true, &d, &ended_by), 0);
	EXPECT_INT(d.revision, 1000 + 32); /* what it keeps of its work */
}

static int make_none(struct fleet_digest *d, const void *arg)
{
	(void)d;
	(void)arg;
	return -EBADMSG;
}

static int make_and_die(struct fleet_digest *d, const void *arg)
{
	struct rlimit core = { 0, 0 };

	(void)d;
	(void)arg;
	setrlimit(RLIMIT_CORE, &core);
	raise(SIGXCPU);
	return 0;
}

/* As if it had been led to write what it likes. */
static int make_nonsense(struct fleet_digest *d, const void *arg)
{
	static const char line[5000] = "{\"schema\": \"gpustarve.digest/1\", ";

	(void)d;
	(void)arg;
	if (write(STDERR_FILENO + 1, line, sizeof(line)) < 0)
		return -EIO;
	_exit(0);
}

static int make_half(struct fleet_digest *d, const void *arg)
{
	(void)d;
	(void)arg;
	if (write(STDERR_FILENO + 1, "{\"run\":", 7) < 0)
		return -EIO;
	_exit(0);
}

static void test_how_it_ends(void)
{
	static struct fleet_digest d;
	int ended_by;

	EXPECT(digest_by(make_none, false, &d, &ended_by) < 0);
	EXPECT_INT(ended_by, 0);
	EXPECT(digest_by(make_and_die, false, &d, &ended_by) < 0);
	EXPECT_INT(ended_by, SIGXCPU);
	EXPECT_INT(digest_by(make_nonsense, false, &d, &ended_by), -EBADMSG);
	EXPECT_INT(digest_by(make_half, false, &d, &ended_by), -EBADMSG);
	EXPECT_INT(ended_by, 0);
}

int main(void)
{
	int status;

	t_tempdir(run, sizeof(run));
	snprintf(other, sizeof(other), "%s-other", run);
	snprintf(secret, sizeof(secret), "%s/secret", other);
	REQUIRE(!mkdir(other, 0700));
	t_put_text(other, "secret", "s");
	status = RUN(test_it_comes_back, test_how_it_ends, test_what_it_may_not);
	unlink(secret);
	rmdir(other);
	snprintf(secret, sizeof(secret), "%s/.digest-parts", run);
	unlink(secret);
	rmdir(run);
	return status;
}
