/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks side by side: who waited, and for whom. Nothing yet. */
#include "html_priv.h"

void html_ranks(struct html *h)
{
	(void)h;
}
