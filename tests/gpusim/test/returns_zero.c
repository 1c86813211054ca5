/* SPDX-License-Identifier: Apache-2.0 */
/*
 * returns_zero.c - an injected library that does what none may.
 */
int InitializeInjection(void);

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	return 0;
}
