/* SPDX-License-Identifier: Apache-2.0 */
#include "version.h"

void base_version_print(FILE *f, const char *program)
{
	fprintf(f, "%s " GPUSTARVE_VERSION, program);
	if (base_commit[0])
		fprintf(f, " (commit %s)", base_commit);
	fputc('\n', f);
}
