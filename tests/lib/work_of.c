/* SPDX-License-Identifier: Apache-2.0 */
/* Reads names of kernels, a line each, and prints kind, precision and the name, with tabs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "facts/kernel_kind.h"

int main(void)
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		struct facts_kernel_kind k;

		line[strcspn(line, "\n")] = '\0';
		k = facts_kernel_kind(line);
		printf("%s\t%s\t%s\n", facts_kinds[k.kind].name, facts_precisions[k.precision].name,
		       line);
	}
	free(line);
	return 0;
}
