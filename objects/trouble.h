/* SPDX-License-Identifier: Apache-2.0 */
/* How far calls of an object store go, and what they say of why one did not work. */
#ifndef OBJECTS_TROUBLE_H
#define OBJECTS_TROUBLE_H

#define OBJECTS_TRIES 6 /* 0.1, 0.2, ... 1.6 s apart, more or less by chance */
#define OBJECTS_KEY_MAX 1024u /* bytes, as S3 has it */
#define OBJECTS_WHY 512u

struct objects_trouble { /* of one call: a clause for the user, one line; "": none */
	char why[OBJECTS_WHY];
};

#endif
