/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates: read for the server, demanded of clients. TLS 1.2 and 1.3. With --client-ca the
 * handshake itself ends without a certificate of that authority: not one byte of HTTP is read from
 * who has none.
 *
 * libmicrohttpd takes certificates once, when it starts. So that they can be read again it is given
 * none: each connection is handed ours before it shakes hands, and keeps those to its end. One
 * thread.
 */
#ifndef COLL_TLS_H
#define COLL_TLS_H

#include <stdbool.h>
#include <stdint.h>
#include "tokens.h"

#define COLL_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
#define COLL_TLS_FILE_MAX (1u << 20)

struct MHD_Connection;
struct coll_tls_set; /* a certificate, its key, the authority of clients; shared, counted */

struct coll_tls {
	struct coll_tls_set *now; /* for new connections; NULL: no https */
};

/*
 * Reads PEM files anew; *t changes only if all of them are good and key and certificate are of each
 * other. @client_ca may be NULL: no certificate is demanded. 0 or -errno, logged in one line.
 */
int coll_tls_load(struct coll_tls *t, const char *cert, const char *key, const char *client_ca);
void coll_tls_fini(struct coll_tls *t);

/*
 * Hands the certificates to a connection that has not shaken hands. What it must give back when the
 * connection is closed; NULL: it has none, so its handshake fails.
 */
struct coll_tls_set *coll_tls_begin(struct coll_tls *t, struct MHD_Connection *connection);
void coll_tls_end(struct coll_tls_set *set); /* may be NULL */

/* For MHD_OPTION_HTTPS_CERT_CALLBACK2: who was handed no certificate has none. */
void *coll_tls_none(void);

/* SHA-256 of the client's certificate, which was verified. False: it has none. */
bool coll_tls_peer_hash(struct MHD_Connection *connection, uint8_t hash[COLL_SHA256_BYTES]);

#endif
