/* SPDX-License-Identifier: Apache-2.0 */
#include "local.h"

#include <stdlib.h>
#include <string.h>

bool view_local_files(void)
{
	const char *text = getenv(VIEW_LOCAL_ENV);

	return !text || strcmp(text, "0") != 0;
}
