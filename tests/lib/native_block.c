/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A C library that blocks in functions of known names, for test_native.py to find. With FRAMED, and
 * built with frame pointers, the innermost frame is one that is found by its frame pointer alone.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default"), noinline))
#define HIDDEN __attribute__((noinline))

EXPORT int known_reader(int fd);
EXPORT int known_poller(int fd);

#ifdef FRAMED
static inline ssize_t read_byte(int fd, void *byte)
{
	ssize_t n;

	__asm__ volatile("syscall"
			 : "=a"(n)
			 : "a"(SYS_read), "D"(fd), "S"(byte), "d"(1)
			 : "rcx", "r11", "memory");
	return n;
}
#else
static inline ssize_t read_byte(int fd, void *byte)
{
	return read(fd, byte, 1);
}
#endif

/*
 * Not exported: named by .symtab alone. The calls are no tail calls, or the frames would be gone.
 */
static HIDDEN int hidden_read(int fd)
{
	volatile char byte;
	volatile ssize_t n = read_byte(fd, (void *)&byte);

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
