/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library of which each function is called once: each lies so far from the others that it comes
 * from the disk by itself. For Python, which calls them by number.
 */
#define FAR __attribute__((noinline, aligned(65536)))
#define ONE(n)                           \
	FAR static int seldom_##n(int x) \
	{                                \
		return x + n;            \
	}
#define EIGHT(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7)
#define NAMES(n)                                                                                  \
	seldom_##n##0, seldom_##n##1, seldom_##n##2, seldom_##n##3, seldom_##n##4, seldom_##n##5, \
		seldom_##n##6, seldom_##n##7

EIGHT(1)
EIGHT(2) EIGHT(3) EIGHT(4) EIGHT(5) EIGHT(6)

	__attribute__((visibility("default"))) int seldom(unsigned int which, int x);

int seldom(unsigned int which, int x)
{
	static int (*const all[])(int) = { NAMES(1), NAMES(2), NAMES(3),
					   NAMES(4), NAMES(5), NAMES(6) };

	return which < sizeof(all) / sizeof(all[0]) ? all[which](x) : 0;
}
