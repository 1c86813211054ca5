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

static void test_named(void)
{
	setenv("SSL_CERT_FILE", "/of/conda.pem", 1);
	EXPECT_STR(base_ca_file(), "/of/conda.pem");
	setenv("CURL_CA_BUNDLE", "/of/curl.pem", 1);
	EXPECT_STR(base_ca_file(), "/of/curl.pem");
	setenv("CURL_CA_BUNDLE", "", 1);
	setenv("SSL_CERT_FILE", "", 1);
	test_certificates();
}

int main(void)
{
	unsetenv("CURL_CA_BUNDLE");
	unsetenv("SSL_CERT_FILE");
	return RUN(test_certificates, test_named);
}
