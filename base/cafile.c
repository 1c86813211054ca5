/* SPDX-License-Identifier: Apache-2.0 */
#include "cafile.h"

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

/* Where the environment has it. Who names a file that is not there is to hear so from curl. */
static const char *named(void)
{
	static const char *const variable[] = { "CURL_CA_BUNDLE", "SSL_CERT_FILE" };

	for (size_t i = 0; i < sizeof(variable) / sizeof(variable[0]); i++) {
		const char *path = getenv(variable[i]);

		if (path && *path)
			return path;
	}
	return NULL;
}

const char *base_ca_file(void)
{
	static const char *const place[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Arch */
		"/etc/pki/tls/certs/ca-bundle.crt", /* Fedora, RHEL and their kin */
		"/etc/ssl/ca-bundle.pem", /* SUSE */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
		"/etc/ssl/cert.pem", /* Alpine */
	};
	const char *path = named();

	if (path)
		return path;
	for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++)
		if (!access(place[i], R_OK))
			return place[i];
	return NULL;
}
