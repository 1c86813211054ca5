/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditions and lines of alerts.jsonl from any bytes: what is taken means the same when it is read
 * again, and it fires once at most.
 */
#include "fuzz.h"

#include <stdlib.h>
#include "live/fired.h"

static void read_condition(const uint8_t *data, size_t len)
{
	struct live_condition_error e;
	struct live_condition c, again;
	struct live_alert a = { 0 };
	struct live_totals t = { .priced = true };
	char text[512], words[LIVE_VALUE_BYTES];
	int fired = 0;

	if (len >= sizeof(text))
		len = sizeof(text) - 1;
	if (len)
		memcpy(text, data, len);
	text[len] = '\0';
	if (live_condition_parse(&c, text, &e)) {
		if (!e.why || e.offset > strlen(text))
			abort();
		return;
	}
	if (live_condition_parse(&again, c.text, &e) || again.metric != c.metric ||
	    again.op != c.op || again.value != c.value || again.for_ns != c.for_ns || c.value < 0 ||
	    c.for_ns < 0)
		abort();
	live_value_text(words, c.metric, c.value);
	a.condition = c;
	for (int64_t now = 0; now < 4; now++) {
		t.idle_ns = t.gpu_idle_ns = t.quiet_ns = t.lag_ns = t.nano_usd =
			now % 2 ? INT64_MAX / 4 : 0;
		fired += live_alert_check(&a, &t, now * (INT64_MAX / 8));
	}
	if (fired > 1)
		abort();
}

static void read_line(const uint8_t *data, size_t len)
{
	char line[LIVE_FIRED_LINE], words[LIVE_WORDS_BYTES];
	struct live_fired f, again;
	int n;

	if (live_fired_get(&f, (const char *)data, len))
		return;
	live_fired_words(words, &f);
	n = live_fired_put(&f, line);
	if (n < 0 || live_fired_get(&again, line, (size_t)n - 1) ||
	    (!f.ended && again.value != f.value) || again.ended != f.ended)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	read_condition(data, len);
	read_line(data, len);
	return 0;
}

size_t fuzz_seed(unsigned int number, uint8_t **data)
{
	static const char *const seed[] = {
		"starved_pct>20 for 10m",
		"idle_for>15m",
		"usd >= $50.25",
		"busy_pct < 5 % for 1d 2h 3m 4s 5ms",
		"drops>0",
		("{\"schema\":\"gpustarve.alert/1\",\"by\":\"run\",\"condition\":\"usd>=40\","
		 "\"t_unix_ns\":1,\"since_unix_ns\":-1,\"metric\":\"usd\",\"unit\":\"nano_usd\","
		 "\"value\":41,\"threshold\":40,\"budget_pct\":80,\"exec\":\"a \\\"b\\\" \\u000a\"}"),
		("{\"schema\":\"gpustarve.alert/1\",\"by\":\"collector\",\"condition\":\"usd>=40\","
		 "\"exec_status\":127}"),
	};
	if (number >= sizeof(seed) / sizeof(seed[0]))
		return 0;
	size_t len = strlen(seed[number]);
	*data = malloc(len);
	if (!*data)
		abort();
	memcpy(*data, seed[number], len);
	return len;
}
