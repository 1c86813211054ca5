/* SPDX-License-Identifier: Apache-2.0 */
/* A C library that blocks in functions of known names, for test_native.py to find. */
#include <poll.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default"), noinline))
#define HIDDEN __attribute__((noinline))

EXPORT int known_reader(int fd);
EXPORT int known_poller(int fd);

/* Not exported: named by .symtab alone. The calls are no tail calls, or the frames would be gone. */
static HIDDEN int hidden_read(int fd)
{
	volatile char byte;
	volatile ssize_t n = read(fd, (void *)&byte, 1);

	return (int)n;
}

int known_reader(int fd)
{
	return hidden_read(fd) + 1;
}

static HIDDEN int hidden_poll(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	volatile int n = poll(&p, 1, -1);

	return n;
}

int known_poller(int fd)
{
	return hidden_poll(fd) + 1;
}
