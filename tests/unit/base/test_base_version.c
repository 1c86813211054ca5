/* SPDX-License-Identifier: Apache-2.0 */
/* What --version says. */
#include <regex.h>
#include <string.h>
#include "base/version.h"
#include "harness.h"

static void test_line(void)
{
	char text[128] = "";
	FILE *f = fmemopen(text, sizeof(text) - 1, "w");
	regex_t want;

	base_version_print(f, "program");
	fclose(f);
	EXPECT(!regcomp(&want, "^program " GPUSTARVE_VERSION "( \\(commit [^ ()]+\\))?\n$",
			REG_EXTENDED | REG_NOSUB));
	EXPECT(!regexec(&want, text, 0, NULL, 0));
	EXPECT(!strstr(text, "commit") == !base_commit[0]);
	regfree(&want);
}

int main(void)
{
	return RUN(test_line);
}
