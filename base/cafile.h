/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whom HTTPS trusts where no --ca is given. curl knows one place, of the Linux that it was built
 * on; a program that is carried to others looks where they keep the file. Any thread.
 */
#ifndef BASE_CAFILE_H
#define BASE_CAFILE_H

/* Path of the machine's file of certificates, for ever; NULL: none is known here. */
const char *base_ca_file(void);

#endif
