/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd asks clients for a certificate and looks at none; GnuTLS does both here.
 */
#include "tls.h"

#include <errno.h>
#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include "core/files.h"
#include "core/log.h"

struct coll_tls_set {
	gnutls_certificate_credentials_t credentials;
	bool demand; /* of clients, a certificate that verifies */
	size_t users; /* connections, and whoever made it */
};

struct pem {
	const char *path;
	uint8_t *text;
	size_t len;
};

static const char *what_holds(const struct coll_tls *t)
{
	return t->now ? "; the earlier ones stay in use" : "";
}

static int read_pem(const struct coll_tls *t, struct pem *p, const char *option, const char *path)
{
	int err;

	p->path = path;
	err = coll_file_read_linked(path, COLL_TLS_FILE_MAX, &p->text, &p->len);
	if (err)
		coll_log("--%s %s: %s%s", option, path, strerror(-err), what_holds(t));
	return err;
}

static void forget_pem(struct pem *p)
{
	if (p->text)
		gnutls_memset(p->text, 0, p->len);
	free(p->text);
}

static gnutls_datum_t datum_of(const struct pem *p)
{
	return (gnutls_datum_t){ .data = p->text, .size = (unsigned int)p->len };
}

/* Also that they belong together. */
static int load_pair(const struct coll_tls *t, struct coll_tls_set *set, const struct pem *cert,
		     const struct pem *key)
{
	gnutls_datum_t c = datum_of(cert), k = datum_of(key);
	int got = gnutls_certificate_set_x509_key_mem2(set->credentials, &c, &k,
						       GNUTLS_X509_FMT_PEM, NULL, 0);

	if (got >= 0)
		return 0;
	coll_log("--cert %s, --key %s: %s; they must be PEM and belong together%s", cert->path,
		 key->path, gnutls_strerror(got), what_holds(t));
	return -EINVAL;
}

static int load_authority(const struct coll_tls *t, struct coll_tls_set *set, const struct pem *ca)
{
	gnutls_datum_t d = datum_of(ca);
	int got = gnutls_certificate_set_x509_trust_mem(set->credentials, &d, GNUTLS_X509_FMT_PEM);

	set->demand = true;
	if (got > 0)
		return 0;
	coll_log("--client-ca %s: %s; it must be PEM%s", ca->path,
		 got ? gnutls_strerror(got) : "no certificate is in it", what_holds(t));
	return -EINVAL;
}

static struct coll_tls_set *set_new(void)
{
	struct coll_tls_set *set = calloc(1, sizeof(*set));

	if (!set || gnutls_certificate_allocate_credentials(&set->credentials)) {
		free(set);
		return NULL;
	}
	set->users = 1;
	return set;
}

void coll_tls_end(struct coll_tls_set *set)
{
	if (!set || --set->users)
		return;
	gnutls_certificate_free_credentials(set->credentials);
	free(set);
}

int coll_tls_load(struct coll_tls *t, const char *cert, const char *key, const char *client_ca)
{
	struct pem c = { .text = NULL }, k = { .text = NULL }, ca = { .text = NULL };
	struct coll_tls_set *set = set_new();
	int err = set ? read_pem(t, &c, "cert", cert) : -ENOMEM;

	if (!err)
		err = read_pem(t, &k, "key", key);
	if (!err && client_ca)
		err = read_pem(t, &ca, "client-ca", client_ca);
	if (!err)
		err = load_pair(t, set, &c, &k);
	if (!err && client_ca)
		err = load_authority(t, set, &ca);
	forget_pem(&c);
	forget_pem(&k);
	forget_pem(&ca);
	if (err) {
		coll_tls_end(set);
		return err;
	}
	coll_tls_end(t->now);
	t->now = set;
	return 0;
}

void coll_tls_fini(struct coll_tls *t)
{
	coll_tls_end(t->now);
	t->now = NULL;
}

static gnutls_session_t session_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);

	return info ? (gnutls_session_t)info->tls_session : NULL;
}

struct coll_tls_set *coll_tls_begin(struct coll_tls *t, struct MHD_Connection *connection)
{
	gnutls_session_t session = session_of(connection);
	struct coll_tls_set *set = t->now;

	if (!set || !session ||
	    gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, set->credentials))
		return NULL;
	if (set->demand) {
		gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUIRE);
		gnutls_session_set_verify_cert(session, NULL, 0);
	}
	set->users++;
	return set;
}

/* A gnutls_certificate_retrieve_function3. */
static int refuse(gnutls_session_t session, const struct gnutls_cert_retr_st *info,
		  gnutls_pcert_st **certs, unsigned int *certs_len, gnutls_ocsp_data_st **ocsp,
		  unsigned int *ocsp_len, gnutls_privkey_t *key, unsigned int *flags)
{
	(void)session;
	(void)info;
	(void)certs;
	(void)certs_len;
	(void)ocsp;
	(void)ocsp_len;
	(void)key;
	(void)flags;
	return -1;
}

void *coll_tls_none(void)
{
	return (void *)(uintptr_t)refuse;
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
