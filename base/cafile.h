/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom HTTPS trusts where no --ca is given. curl knows one place, of the Linux that it was built
 * on; a program that is carried to others looks where they keep the file, and before that where
 * CURL_CA_BUNDLE or SSL_CERT_FILE say, as curl's own program and OpenSSL do (conda sets the
 * latter). Any thread, as long as nobody changes the environment.
 */
#ifndef BASE_CAFILE_H
#define BASE_CAFILE_H

/* Path of a file of certificates, for ever; one that the environment names need not be there.
 * NULL: none is known. */
const char *base_ca_file(void);

#endif
