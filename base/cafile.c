/* SPDX-License-Identifier: Apache-2.0 */
#include "cafile.h"

#include <stddef.h>
#include <unistd.h>

const char *base_ca_file(void)
{
	static const char *const place[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Arch */
		"/etc/pki/tls/certs/ca-bundle.crt", /* Fedora, RHEL and their kin */
		"/etc/ssl/ca-bundle.pem", /* SUSE */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
		"/etc/ssl/cert.pem", /* Alpine */
	};

	for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++)
		if (!access(place[i], R_OK))
			return place[i];
	return NULL;
}
