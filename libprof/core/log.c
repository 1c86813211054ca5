/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the few lines that libprof may print.
 */
#include "log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "config.h"

static struct {
	bool known, open;
	dev_t device;
	ino_t inode;
} origin; /* of stderr */

void prof_log_remember(void)
{
	struct stat st;

	origin.open = !fstat(STDERR_FILENO, &st);
	if (origin.open) {
		origin.device = st.st_dev;
		origin.inode = st.st_ino;
	}
	origin.known = true;
}

static bool is_stderr(void)
{
	struct stat st;

	if (!origin.known)
		return true;
	return origin.open && !fstat(STDERR_FILENO, &st) && st.st_dev == origin.device &&
	       st.st_ino == origin.inode;
}

/* Takes back a signal that is pending for this thread. */
static void withdraw_signal(int number)
{
	static const struct timespec now;
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	sigtimedwait(&one, NULL, &now);
}

/*
 * stderr may be a pipe that nobody reads, or a file as large as it may get, and this a thread of
 * the program: the signals that such a write brings end programs. One that was pending before
 * stays.
 */
static void say(const char *line, size_t n)
{
	sigset_t both, before, pending;
	int number;

	sigemptyset(&both);
	sigaddset(&both, SIGPIPE);
	sigaddset(&both, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, &both, &before);
	sigpending(&pending);
	if (write(STDERR_FILENO, line, n) < 0) {
		number = errno == EPIPE ? SIGPIPE : errno == EFBIG ? SIGXFSZ : 0;
		if (number && !sigismember(&pending, number))
			withdraw_signal(number);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

__attribute__((format(printf, 1, 0))) static void print(const char *format, va_list arguments)
{
	char line[512] = "gpustarve: ";
	const int head = 11;
	int n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, format, arguments);

	if (n < 0)
		return;
	n += head;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	line[n++] = '\n';
	if (is_stderr())
		say(line, (size_t)n);
}

void prof_debug(const char *format, ...)
{
	int kept = errno;
	va_list arguments;

	if (!prof_config()->debug)
		return;
	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
	errno = kept;
}

void prof_complain(const char *format, ...)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	int kept = errno;
	va_list arguments;

	if (atomic_flag_test_and_set(&said) && !prof_config()->debug)
		return;
	va_start(arguments, format);
	print(format, arguments);
	va_end(arguments);
	errno = kept;
}
