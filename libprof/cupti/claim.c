/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Abstract sockets, kept open where the program cannot close them.
 */
#include "claim.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/ownfds.h"
#include "devices.h"
#include "stream/writer.h"

static struct {
	const char *run_id;
	uint64_t wanted, held, ours;
	int fd[PROF_DEVICES_MAX]; /* the writer's, of those held */
} cl;

/* Its length; the first byte is 0. A run's id may be longer than a socket's name. */
static socklen_t make_name(struct sockaddr_un *a, const struct prof_device *d)
{
	char *to = a->sun_path + 1, *end = a->sun_path + sizeof(a->sun_path);
	size_t i;

	memset(a, 0, sizeof(*a));
	a->sun_family = AF_UNIX;
	to += snprintf(to, (size_t)(end - to), "gpustarve-nvml-%u-%016llx-",
		       (unsigned int)geteuid(), (unsigned long long)prof_hash_text(cl.run_id));
	for (i = 0; i < sizeof(d->uuid); i++)
		to += snprintf(to, (size_t)(end - to), "%02x", d->uuid[i]);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)(to - a->sun_path));
}

/* False: another process has it. */
static bool claim(uint32_t ordinal, const struct prof_device *d)
{
	struct sockaddr_un a;
	socklen_t bytes = make_name(&a, d);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool taken;

	if (fd < 0)
		return true;
	if (!bind(fd, (struct sockaddr *)&a, bytes)) {
		cl.fd[ordinal] = fd;
		cl.held |= UINT64_C(1) << ordinal;
		return true;
	}
	taken = errno == EADDRINUSE;
	close(fd);
	return !taken;
}

/*
 * On the writer. In the program's table it could be closed by the program, and inherited by
 * children.
 */
static void claim_all(void *unused)
{
	const struct prof_device *list;
	size_t n = prof_devices(&list), i;

	(void)unused;
	cl.ours = cl.wanted & cl.held;
	for (i = 0; i < n; i++) {
		uint64_t bit = UINT64_C(1) << i;

		if (cl.wanted & ~cl.held & bit && (!prof_ownfds() || claim((uint32_t)i, &list[i])))
			cl.ours |= bit;
	}
}

uint64_t prof_claim_devices(const char *run_id, uint64_t devices)
{
	if (!(devices & ~cl.held))
		return devices;
	cl.run_id = run_id;
	cl.wanted = devices;
	prof_writer_call(claim_all, NULL);
	return cl.ours;
}

static void release_all(void *unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < PROF_DEVICES_MAX; i++)
		if (cl.held >> i & 1)
			close(cl.fd[i]);
	cl.held = 0;
}

void prof_claim_release(void)
{
	if (cl.held)
		prof_writer_call(release_all, NULL);
}
