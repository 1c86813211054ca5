/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gethostname and the kernel's boot id.
 */
#include "node_name.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BOOT_DIGITS 8

static bool good(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.';
}

static void read_boot(char out[BOOT_DIGITS + 1])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(out, '0', BOOT_DIGITS);
	out[BOOT_DIGITS] = '\0';
	if (fd < 0)
		return;
	if (read(fd, out, BOOT_DIGITS) != BOOT_DIGITS)
		memset(out, '0', BOOT_DIGITS);
	close(fd);
}

void coll_node_name(char out[COLL_NODE_BYTES])
{
	char host[65] = "node", boot[BOOT_DIGITS + 1];
	size_t i;

	if (gethostname(host, sizeof(host) - 1) || !host[0])
		snprintf(host, sizeof(host), "node");
	for (i = 0; host[i]; i++)
		if (!good(host[i]) || (!i && host[i] == '.'))
			host[i] = '-';
	read_boot(boot);
	snprintf(out, COLL_NODE_BYTES, "%s-%s", host, boot);
}
