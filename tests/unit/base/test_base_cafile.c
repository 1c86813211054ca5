/* SPDX-License-Identifier: Apache-2.0 */
/* Which certificates are trusted where nobody names any. */
#include <unistd.h>
#include "base/cafile.h"
#include "harness.h"

static void test_certificates(void)
{
	static const char debian[] = "/etc/ssl/certs/ca-certificates.crt";
	const char *file = base_ca_file();

	EXPECT(!file || !access(file, R_OK));
	if (!access(debian, R_OK))
		EXPECT_STR(file, debian);
}

int main(void)
{
	return RUN(test_certificates);
}
