/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificates: read for the server, demanded of clients. TLS 1.2 and 1.3. With --client-ca the
 * handshake itself ends without a certificate of that authority: not one byte of HTTP is read from
 * who has none. One thread.
 */
#ifndef COLL_TLS_H
#define COLL_TLS_H

#include <stdbool.h>
#include <stdint.h>
#include "tokens.h"

#define COLL_TLS_PRIORITIES "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"
#define COLL_TLS_FILE_MAX (1u << 20)

struct MHD_Connection;

struct coll_tls {
	char *cert, *key, *client_ca; /* PEM; client_ca NULL: none is demanded */
};

/* @client_ca may be NULL. 0 or -errno, logged. */
int coll_tls_load(struct coll_tls *t, const char *cert, const char *key, const char *client_ca);
void coll_tls_fini(struct coll_tls *t);

/* For a connection that has not shaken hands: a certificate that verifies is a must. */
void coll_tls_demand(struct MHD_Connection *connection);

/* SHA-256 of the client's certificate, which was verified. False: it has none. */
bool coll_tls_peer_hash(struct MHD_Connection *connection, uint8_t hash[COLL_SHA256_BYTES]);

#endif
