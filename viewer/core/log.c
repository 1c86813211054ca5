/* SPDX-License-Identifier: Apache-2.0 */
/* Writes each line with one write(2), so that lines of several processes do not mix. */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Control characters of file names and foreign strings must not reach a terminal. */
static void tame(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			text[i] = '?';
}

__attribute__((format(printf, 1, 0))) static void put(const char *fmt, va_list ap)
{
	static const char prefix[] = "gpustarve: ";
	char line[2048];
	size_t head = sizeof(prefix) - 1;

	snprintf(line, sizeof(line), "%s", prefix);
	int n = vsnprintf(line + head, sizeof(line) - head - 1, fmt, ap);
	if (n < 0)
		return;
	size_t len = head + (size_t)n;
	if (len > sizeof(line) - 2)
		len = sizeof(line) - 2;
	tame(line, len);
	line[len] = '\n';
	if (write(STDERR_FILENO, line, len + 1) < 0)
		return; /* nobody left to tell */
}

void view_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(fmt, ap);
	va_end(ap);
}

void view_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(fmt, ap);
	va_end(ap);
}
