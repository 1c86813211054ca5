/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd asks clients for a certificate and looks at none; GnuTLS does both here.
 */
#include "tls.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"

static int read_text(int fd, char **out)
{
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size > COLL_TLS_FILE_MAX)
		return -EINVAL;
	*out = calloc(1, (size_t)st.st_size + 1);
	if (!*out)
		return -ENOMEM;
	n = read(fd, *out, (size_t)st.st_size);
	return n == st.st_size ? 0 : -EIO;
}

static int load(char **out, const char *what, const char *path)
{
	int fd, err;

	if (!path)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	err = fd < 0 ? -errno : read_text(fd, out);
	if (fd >= 0)
		close(fd);
	if (err)
		coll_log("--%s %s: %s", what, path, strerror(-err));
	return err;
}

int coll_tls_load(struct coll_tls *t, const char *cert, const char *key, const char *client_ca)
{
	int err = load(&t->cert, "cert", cert);

	if (!err)
		err = load(&t->key, "key", key);
	if (!err)
		err = load(&t->client_ca, "client-ca", client_ca);
	return err;
}

void coll_tls_fini(struct coll_tls *t)
{
	if (t->key)
		gnutls_memset(t->key, 0, strlen(t->key));
	free(t->key);
	free(t->cert);
	free(t->client_ca);
	*t = (struct coll_tls){ .cert = NULL };
}

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	return info ? (gnutls_session_t)info->tls_session : NULL;
}

void coll_tls_demand(struct MHD_Connection *connection)
{
	gnutls_session_t session = session_of(connection);

	if (!session)
		return;
	gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
	gnutls_session_set_verify_cert(session, NULL, 0);
}

bool coll_tls_peer_hash(struct MHD_Connection *connection, uint8_t hash[COLL_SHA256_BYTES])
{
	gnutls_session_t session = session_of(connection);
	const gnutls_datum_t *list;
	unsigned int n = 0;

	list = session ? gnutls_certificate_get_peers(session, &n) : NULL;
	if (!list || !n)
		return false;
	return !coll_sha256(hash, list[0].data, list[0].size);
}
