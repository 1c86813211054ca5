/* SPDX-License-Identifier: Apache-2.0 */
#include "waitkind.h"

/* System calls that send, by x86-64 and by the table that newer machines share. */
static bool sends(const struct wire_sample *s)
{
	static const uint16_t call[] = { 1, 20, 42, 44, 46, 307, 64, 66, 203, 206, 211 };
	size_t i;

	for (i = 0; i < sizeof(call) / sizeof(call[0]); i++)
		if (s->syscall == call[i] + 1)
			return true;
	return false;
}

/* A call into C that no function of the standard library explains. */
static enum ana_take take_by_wait(const struct wire_sample *s, const struct ana_pystack *k,
				  const struct ana_links *l)
{
	switch (s->wait) {
	case WIRE_WAIT_WRITE:
		return ANA_TAKE_GIVES;
	case WIRE_WAIT_SOCKET:
	case WIRE_WAIT_PIPE:
		if (sends(s))
			return ANA_TAKE_GIVES;
		if (k->iterates)
			return ANA_TAKE_ITEM;
		/*
		 * over TCP a barrier's word as often as data, where it is not told how much comes
		 */
		return ana_links_await_kind(l, 't') && !ana_links_await_kind(l, 'd')
			       ? ANA_TAKE_NOT_TOLD
			       : ANA_TAKE_EVENT;
	case WIRE_WAIT_QUEUE:
		return ANA_TAKE_ITEM;
	case WIRE_WAIT_LOCK:
	case WIRE_WAIT_LOCK_SHARED:
		if (k->iterates || ana_links_await_kind(l, 'q'))
			return ANA_TAKE_ITEM;
		return l->awaits && ana_links_await_kind(l, 'n') && !ana_links_await_kind(l, 'o') &&
				       !ana_links_await_kind(l, 'f')
			       ? ANA_TAKE_EVENT
			       : ANA_TAKE_LOCK;
	case WIRE_WAIT_CHILD:
		return ANA_TAKE_SETTLES;
	case WIRE_WAIT_SLEEP: /* it asks again and again whether the next item is there */
		return l->awaits && k->draws ? ANA_TAKE_ITEM : ANA_TAKE_NOT_TOLD;
	default:
		return ANA_TAKE_NOT_TOLD;
	}
}

enum ana_take ana_waitkind_of(const struct wire_sample *s, const struct ana_pystack *k,
			      const struct ana_links *l)
{
	enum ana_take take = (enum ana_take)k->take;

	if (ana_links_await_kind(l, 'l'))
		return ANA_TAKE_SERVES;
	if (take == ANA_TAKE_NOT_TOLD)
		return take_by_wait(s, k, l);
	return take == ANA_TAKE_EVENT && k->iterates ? ANA_TAKE_ITEM : take;
}
