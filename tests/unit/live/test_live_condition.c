/* SPDX-License-Identifier: Apache-2.0 */
/* The language of conditions, when they fire, and the lines that say that they did. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include "live/hook.h"

#define S LIVE_SECOND_NS

static void good(const char *text, enum live_metric metric, enum live_op op, int64_t value,
		 int64_t for_ns)
{
	struct live_condition_error e = { 0 };
	struct live_condition c;

	if (live_condition_parse(&c, text, &e)) {
		T_FAIL("%s: byte %zu: %s", text, e.offset, e.why);
		return;
	}
	EXPECT_INT(c.metric, metric);
	EXPECT_INT(c.op, op);
	EXPECT_INT(c.value, value);
	EXPECT_INT(c.for_ns, for_ns);
}

static void bad(const char *text, size_t offset, const char *word)
{
	struct live_condition_error e = { 0 };
	struct live_condition c;

	if (live_condition_parse(&c, text, &e) != -EINVAL) {
		T_FAIL("%s: taken", text);
		return;
	}
	EXPECT_UINT(e.offset, offset);
	if (!strstr(e.why, word))
		T_FAIL("%s: \"%s\" without \"%s\"", text, e.why, word);
}

static void test_grammar(void)
{
	char text[300];

	good("starved_pct>20 for 10m", LIVE_STARVED_PCT, LIVE_GT, 200000, 600 * S);
	good("  starved_pct >= 20.5 %   for 1h 30m ", LIVE_STARVED_PCT, LIVE_GE, 205000, 5400 * S);
	good("idle_for>15m", LIVE_IDLE_FOR, LIVE_GT, 900 * S, 0);
	good("gpu_idle_for>1.5h", LIVE_GPU_IDLE_FOR, LIVE_GT, 5400 * S, 0);
	good("step_slower_pct>=15%", LIVE_STEP_SLOWER_PCT, LIVE_GE, 150000, 0);
	good("no_pulse_for>2m", LIVE_NO_PULSE_FOR, LIVE_GT, 120 * S, 0);
	good("lag>250ms", LIVE_LAG, LIVE_GT, S / 4, 0);
	good("usd>50", LIVE_USD, LIVE_GT, 50 * S, 0);
	good("usd >$0.000000001", LIVE_USD, LIVE_GT, 1, 0);
	good("starved_usd>$ 7", LIVE_STARVED_USD, LIVE_GT, 7 * S, 0);
	good("usd_per_h>98.32", LIVE_USD_PER_H, LIVE_GT, 98320000000, 0);
	good("busy_pct<5 for 1d", LIVE_BUSY_PCT, LIVE_LT, 50000, 86400 * S);
	good("busy_pct<=0", LIVE_BUSY_PCT, LIVE_LE, 0, 0);
	good("drops>0", LIVE_DROPS, LIVE_GT, 0, 0);
	bad("", 0, "metric");
	bad("usdx>1", 0, "metric");
	bad(" USD>1", 1, "metric");
	bad("usd", 3, "> >= < <=");
	bad("usd=1", 3, "> >= < <=");
	bad("usd>>1", 4, "number");
	bad("usd>-1", 4, "number");
	bad("usd>1e3", 5, "for DURATION");
	bad("usd>1.", 4, "number");
	bad("usd>1.0000000001", 4, "large");
	bad("usd>1000000001", 4, "large");
	bad("usd>99999999999999999999999999999999999999999999999", 4, "large");
	bad("starved_pct>100.1", 12, "at most 100");
	bad("starved_pct>20 for", 18, "number");
	bad("starved_pct>20 for 10", 21, "unit");
	bad("starved_pct>20 for 10x", 21, "unit");
	bad("starved_pct>20 for 10m x", 23, "nothing more");
	bad("starved_pct>20 or", 15, "for DURATION");
	bad("idle_for>15", 11, "unit");
	bad("idle_for>15 days ago", 13, "for DURATION");
	bad("idle_for>9999999d", 9, "too l");
	bad("drops>0.5", 6, "large");
	bad("drops>0;rm", 7, "for DURATION");
	memset(text, ' ', sizeof(text));
	memcpy(text + 250, "usd>1", 6);
	bad(text, LIVE_CONDITION_BYTES - 1, "shorter");
}

static struct live_condition condition(const char *text)
{
	struct live_condition_error e;
	struct live_condition c;

	EXPECT_INT(live_condition_parse(&c, text, &e), 0);
	return c;
}

/* Once, however often it becomes true again; `for` begins anew when it breaks. */
static void test_once(void)
{
	struct live_alert at_once = { .condition = condition("idle_for>3s") };
	struct live_alert held = { .condition = condition("starved_pct>20 for 5s") };
	struct live_totals t = { .idle_ns = -1 };
	int fired = 0, held_fired = 0;

	for (int64_t now = 0; now < 40 * S; now += S) {
		t.idle_ns = now % (8 * S);
		t.now.known = true;
		t.now.starved_ppm = now == 12 * S ? 0 : 300000;
		if (now < 10 * S)
			t.now.starved_ppm = now % (4 * S) ? 300000 : 100000;
		bool one = live_alert_check(&at_once, &t, now);
		EXPECT(!one || now == 4 * S);
		fired += one;
		bool two = live_alert_check(&held, &t, now);
		EXPECT(!two || now == 18 * S);
		EXPECT(!two || held.since_ns == 13 * S);
		held_fired += two;
	}
	EXPECT_INT(fired, 1);
	EXPECT_INT(held_fired, 1);
	EXPECT_INT(at_once.value, 4 * S);
}

static void test_unknown(void)
{
	struct live_alert idle = { .condition = condition("idle_for>=0s") };
	struct live_alert low = { .condition = condition("busy_pct<5") };
	struct live_alert usd = { .condition = condition("usd>=0") };
	struct live_totals t = { .idle_ns = -1, .gpu_idle_ns = -1, .quiet_ns = -1, .lag_ns = -1 };

	EXPECT(!live_alert_check(&idle, &t, 0));
	EXPECT(!live_alert_check(&low, &t, 0));
	EXPECT(!live_alert_check(&usd, &t, 0));
	t.priced = true;
	EXPECT(live_alert_check(&usd, &t, 0));
	EXPECT(live_condition_needs_price(&usd.condition));
	EXPECT(!live_condition_needs_price(&idle.condition));
}

static void test_budget(void)
{
	struct live_condition c[2];
	struct live_totals t = { .priced = true };
	struct live_alert a[2] = { 0 };
	int64_t nano;

	EXPECT_INT(live_usd_parse("$50", &nano), 0);
	EXPECT_INT(nano, 50 * S);
	EXPECT_INT(live_usd_parse("50x", &nano), -EINVAL);
	EXPECT_INT(live_usd_parse("", &nano), -EINVAL);
	EXPECT_INT(live_usd_parse("-1", &nano), -EINVAL);
	EXPECT_INT(live_usd_parse("0.01", &nano), 0);
	live_budget_conditions(nano, c);
	EXPECT_STR(c[0].text, "usd>=0.008");
	EXPECT_STR(c[1].text, "usd>=0.01");
	live_budget_conditions(7, c);
	EXPECT_INT(c[0].value, 5);
	EXPECT_INT(c[1].value, 7);
	live_budget_conditions(50 * S, c);
	EXPECT_STR(c[0].text, "usd>=40");
	a[0].condition = c[0];
	a[1].condition = c[1];
	int fired[2] = { 0 };
	for (t.nano_usd = 0; t.nano_usd < 60 * S; t.nano_usd += S)
		for (int i = 0; i < 2; i++)
			fired[i] += live_alert_check(&a[i], &t, t.nano_usd);
	EXPECT_INT(fired[0], 1);
	EXPECT_INT(fired[1], 1);
	EXPECT_INT(a[0].value, 40 * S);
	EXPECT_INT(a[1].value, 50 * S);
}

static void test_lines(void)
{
	struct live_fired
		f = { .by = "run",
		      .metric = LIVE_USD,
		      .value = 41 * S,
		      .threshold = 40 * S,
		      .t_unix_ns = 1234,
		      .since_unix_ns = -5,
		      .budget_pct = 80,
		      .condition = "usd>=40",
		      .exec = "mail -s \"x\" \\ \n\x01 caf\xc3\xa9 \xf0\x9f\x94\xa5 \xff" },
		got;
	char line[LIVE_FIRED_LINE], words[LIVE_WORDS_BYTES];
	int len = live_fired_put(&f, line);

	EXPECT(len > 0 && line[len - 1] == '\n' && !line[len]);
	EXPECT(!memchr(line, '\n', (size_t)len - 1));
	EXPECT_INT(live_fired_get(&got, line, (size_t)len - 1), 0);
	EXPECT_STR(got.by, "run");
	EXPECT_STR(got.condition, "usd>=40");
	EXPECT_STR(got.exec, "mail -s \"x\" \\ \n\x01 caf\xc3\xa9 \xf0\x9f\x94\xa5 ?");
	EXPECT_INT(got.metric, LIVE_USD);
	EXPECT_INT(got.value, 41 * S);
	EXPECT_INT(got.threshold, 40 * S);
	EXPECT_INT(got.t_unix_ns, 1234);
	EXPECT_INT(got.since_unix_ns, -5);
	EXPECT_INT(got.budget_pct, 80);
	EXPECT_STR(live_fired_words(words, &got),
		   "80 % of the budget of $50.00 is used: $41.00 so far");
	got.budget_pct = 0;
	EXPECT_STR(live_fired_words(words, &got), "the run has cost $41.00 (usd>=40)");
	for (size_t cut = 0; cut + 1 < (size_t)len; cut++)
		EXPECT_INT(live_fired_get(&got, line, cut), -EBADMSG);
	/* The longest there can be. */
	memset(f.exec, 1, sizeof(f.exec) - 1);
	memset(f.condition, 1, sizeof(f.condition) - 1);
	EXPECT(live_fired_put(&f, line) > 0);
	f = (struct live_fired){ .by = "run", .condition = "usd>1", .ended = true, .status = 7 };
	len = live_fired_put(&f, line);
	EXPECT_INT(live_fired_get(&got, line, (size_t)len - 1), 0);
	EXPECT(got.ended && got.status == 7);
	static const char *const none[] = { "", "{}", "[1]", "{\"schema\":\"gpustarve.alert/1\"}",
					    ("{\"schema\":\"x\",\"by\":\"run\",\"condition\":\"a\","
					     "\"metric\":\"usd\"}") };
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		EXPECT_INT(live_fired_get(&got, none[i], strlen(none[i])), -EBADMSG);
}

/*
 * ---- the file and the command -----------------------------------------------------------------
 */

static int lines_of(const char *path, char *all, size_t room)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(all, 1, room - 1, f) : 0;
	int lines = 0;

	all[n] = '\0';
	if (f)
		fclose(f);
	for (size_t i = 0; i < n; i++)
		lines += all[i] == '\n';
	return lines;
}

static bool wait_for(const char *path)
{
	struct timespec nap = { .tv_nsec = 20000000 };

	for (int i = 0; i < 3000 && access(path, F_OK); i++)
		nanosleep(&nap, NULL);
	return !access(path, F_OK);
}

static void reap_all(struct live_watch *w, const char *dir)
{
	struct timespec nap = { .tv_nsec = 20000000 };

	for (int i = 0; i < 3000; i++) {
		pid_t any = 0;
		live_watch_reap(w, dir);
		for (size_t k = 0; k < w->entries; k++)
			any |= w->entry[k].pid;
		if (!any)
			return;
		nanosleep(&nap, NULL);
	}
	T_FAIL("a command does not end");
}

static int told;

static void tell(void *arg, const struct live_fired *f, int written)
{
	(void)arg;
	EXPECT_INT(written, 0);
	EXPECT_STR(f->exec_error, "");
	told++;
}

/* Twice the same conditions for one run directory: what has fired does not fire again. */
static void test_watch(void)
{
	char dir[] = "/tmp/gs-live-XXXXXX", file[64], mark[64], env[64], exec[512], all[8192];
	struct live_totals t = { .idle_ns = 20 * S };
	struct live_when when = { .now_ns = 100 * S, .wall_ns = 5000 * S };

	if (!mkdtemp(dir))
		abort();
	snprintf(file, sizeof(file), "%s/alerts.jsonl", dir);
	snprintf(mark, sizeof(mark), "%s/mark", dir);
	snprintf(env, sizeof(env), "%s/env", dir);
	snprintf(
		exec, sizeof(exec),
		"echo word; env >%s.new; ls /proc/self/fd >>%s.new; mv %s.new %s; echo x >>%s; exit 3",
		env, env, env, env, mark);
	for (int round = 0; round < 3; round++) {
		struct live_watch w = { .by = "run" };
		struct live_watched run = { .dir = dir, .id = "id", .fired = tell };
		struct live_condition c = condition("idle_for>15s");
		told = 0;
		EXPECT_INT(live_watch_add(&w, &c, exec, 0), 0);
		c = condition("idle_for>15m");
		EXPECT_INT(live_watch_add(&w, &c, exec, 0), 0);
		live_watch_restore(&w, dir);
		for (int i = 0; i < 3; i++)
			live_watch_check(&w, &run, &t, &when);
		EXPECT_INT(told, round ? 0 : 1);
		EXPECT_INT(live_watch_fired(&w), 1);
		reap_all(&w, dir);
		/* What a crash left of a line, and what others wrote, is passed over. */
		FILE *f = fopen(file, "a");
		if (f) {
			fputs(round ? "{\"schema\":\"gpu" : "{}\n\n", f);
			fclose(f);
		}
	}
	EXPECT(wait_for(mark));
	EXPECT_INT(lines_of(mark, all, sizeof(all)), 1);
	lines_of(env, all, sizeof(all));
	EXPECT(strstr(all, "\nGPUSTARVE_ALERT_CONDITION=idle_for>15s\n"));
	EXPECT(strstr(all, "\nGPUSTARVE_ALERT_VALUE=20000000000\n"));
	EXPECT(strstr(all, "GPUSTARVE=0\n"));
	EXPECT(strstr(all, "\nGPUSTARVE_ALERT_RUN_ID=id\n"));
	EXPECT(!strstr(all, "\n4\n")); /* no descriptor of ours: 3 is ls's own */
	lines_of(file, all, sizeof(all));
	EXPECT(strstr(all, "\"exec_status\":3}"));
	unlink(file);
	unlink(mark);
	unlink(env);
	rmdir(dir);
}

/* No file can be made: it fires all the same, and says so. */
static void tell_unwritten(void *arg, const struct live_fired *f, int written)
{
	(void)f;
	*(int *)arg = written;
}

static void test_unwritable(void)
{
	struct live_totals t = { .idle_ns = 20 * S };
	struct live_when when = { .now_ns = 100 * S, .wall_ns = 5000 * S };
	struct live_watch w = { .by = "run" };
	struct live_condition c = condition("idle_for>15s");
	int written = 0;
	struct live_watched run = {
		.dir = "/nonexistent/dir", .id = "id", .fired = tell_unwritten, .arg = &written
	};

	live_watch_add(&w, &c, NULL, 0);
	live_watch_check(&w, &run, &t, &when);
	EXPECT_INT(written, -ENOENT);
	for (int i = 1; i < LIVE_ALERTS_MAX; i++)
		EXPECT_INT(live_watch_add(&w, &c, NULL, 0), 0);
	EXPECT_INT(live_watch_add(&w, &c, NULL, 0), -ENOSPC);
}

int main(void)
{
	return RUN(test_grammar, test_once, test_unknown, test_budget, test_lines, test_watch,
		   test_unwritable);
}
