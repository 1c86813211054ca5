/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock, without a header of its own, which older systems do not have; the numbers are the
 * kernel's for good.
 */
#include "confine_priv.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_RULESET 444
#define ADD_RULE 445
#define RESTRICT_SELF 446
#define ASK_VERSION 1u
#define PATH_BENEATH 1

#define WRITE_FILE (1ull << 1)
#define READ_FILE (1ull << 2)
#define READ_DIR (1ull << 3)
#define REMOVE_FILE (1ull << 5)
#define MAKE_REG (1ull << 8)
#define ALL_OF_FIRST ((1ull << 13) - 1)
#define REFER (1ull << 13)
#define TRUNCATE (1ull << 14)
#define IOCTL_DEV (1ull << 15)
#define BIND_AND_CONNECT 3ull
#define SOCKETS_AND_SIGNALS 3ull

#define ON_FILES (WRITE_FILE | READ_FILE | TRUNCATE)

/* struct landlock_ruleset_attr */
struct ruleset {
	uint64_t files, net, scoped;
};

/* struct landlock_path_beneath_attr */
struct beneath {
	uint64_t allowed;
	int32_t fd;
} __attribute__((packed));

/* What every program needs: libraries, locales, time zones, and the site's prices. */
static const char *const of_system[] = { "/usr",
					 "/lib",
					 "/lib64",
					 "/etc/localtime",
					 "/etc/gpustarve/prices.csv",
					 "/etc/ld.so.cache",
					 "/sys/devices/system/cpu",
					 "/sys/class/dmi/id",
					 "/sys/devices/virtual/dmi/id" };

static void allow(int set, uint64_t handled, const char *path, uint64_t rights)
{
	struct beneath b = { .fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat st;

	if (b.fd < 0)
		return;
	b.allowed = rights & handled;
	if (!fstat(b.fd, &st) && !S_ISDIR(st.st_mode))
		b.allowed &= ON_FILES;
	syscall(ADD_RULE, set, PATH_BENEATH, &b, 0);
	close(b.fd);
}

/* What this kernel can keep us from, all of it; how much of the structure it knows. */
static size_t handle_all(struct ruleset *r, long version)
{
	*r = (struct ruleset){ .files = ALL_OF_FIRST };
	r->files |= version >= 2 ? REFER : 0;
	r->files |= version >= 3 ? TRUNCATE : 0;
	r->files |= version >= 5 ? IOCTL_DEV : 0;
	r->net = version >= 4 ? BIND_AND_CONNECT : 0;
	r->scoped = version >= 6 ? SOCKETS_AND_SIGNALS : 0;
	if (version < 4)
		return offsetof(struct ruleset, net);
	return version < 6 ? offsetof(struct ruleset, scoped) : sizeof(*r);
}

bool view_confine_files(const struct view_confine *c)
{
	long version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
	const char *prices = getenv("GPUSTARVE_PRICES");
	struct ruleset r;
	size_t bytes, i;
	bool done;
	int set;

	if (version < 1)
		return false;
	bytes = handle_all(&r, version);
	set = (int)syscall(CREATE_RULESET, &r, bytes, 0);
	if (set < 0)
		return false;
	for (i = 0; i < sizeof(of_system) / sizeof(of_system[0]); i++)
		allow(set, r.files, of_system[i], READ_FILE | READ_DIR);
	if (prices)
		allow(set, r.files, prices, READ_FILE);
	for (i = 0; i < c->reads; i++)
		allow(set, r.files, c->read[i], READ_FILE | READ_DIR);
	if (c->write)
		allow(set, r.files, c->write,
		      READ_FILE | READ_DIR | WRITE_FILE | REMOVE_FILE | MAKE_REG | TRUNCATE);
	done = !syscall(RESTRICT_SELF, set, 0);
	close(set);
	return done;
}
