/* SPDX-License-Identifier: Apache-2.0 */
/* A table of options fills in what it says, in order, and says of the rest what is wrong. */
#include "base/options.h"
#include "harness.h"

#include <stdarg.h>
#include <string.h>

struct filled {
	const char *file, *name;
	bool quiet;
	int mode, taken;
	char order[16];
};

static char said[300];

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said, sizeof(said), fmt, ap);
	va_end(ap);
}

static bool take(void *into, char *value)
{
	struct filled *f = into;

	f->taken++;
	strncat(f->order, value ? value : "-", sizeof(f->order) - strlen(f->order) - 1);
	return strcmp(value ? value : "", "refuse") != 0;
}

static bool short_name(const char *value)
{
	return strlen(value) < 4;
}

static void show_more(FILE *f)
{
	fputs("      below it\n", f);
}

static const struct base_opt opt[] = {
	{ "output", 'o', "FILE", "where to", BASE_TEXT(struct filled, file) },
	{ "name", 0, "N", "line one\nand two", BASE_TEXT(struct filled, name), .good = short_name },
	{ "quiet", 'q', NULL, "say less", BASE_FLAG(struct filled, quiet) },
	{ "hidden", 0, NULL, NULL, BASE_VALUE(struct filled, mode, 7) },
	{ "take-a-long-one", 0, "VALUE", "behind a line of its own", .take = take },
	{ "list", 0, "L", NULL, .take = take, .more = show_more },
	{ "version", .kind = BASE_OPT_VERSION, .print = "program" },
	{ BASE_HELP },
	{ 0 },
};

static const struct base_options options = { .command = "try",
					     .usage = "usage: try\n\n",
					     .column = 18,
					     .opt = opt,
					     .tail = "\nthe end\n",
					     .error = say };

#define PARSE(f, ...) parse(&options, f, (const char *[]){ "try", __VA_ARGS__, NULL })

/* getopt moves words about in a copy, whose texts it leaves alone. */
static int parse(const struct base_options *o, struct filled *f, const char *const *words)
{
	static char text[200];
	char *argv[12], *p = text;
	int argc = 0;

	for (; words[argc]; argc++) {
		argv[argc] = p;
		p = stpcpy(p, words[argc]) + 1;
	}
	argv[argc] = NULL;
	*f = (struct filled){ 0 };
	said[0] = '\0';
	optind = 0;
	return base_options_parse(o, argc, argv, f);
}

static void test_fill(void)
{
	struct filled f;

	EXPECT_INT(PARSE(&f, "-o", "a", "x", "--name=b", "-q", "--hidden", "y"), 1);
	EXPECT_STR(f.file, "a");
	EXPECT_STR(f.name, "b");
	EXPECT(f.quiet && f.mode == 7);
	EXPECT_INT(optind, 6); /* x and y are behind */
	EXPECT_INT(PARSE(&f, "--take-a-long-one", "1", "--list", "2", "--take", "3"), 1);
	EXPECT_STR(f.order, "123");
	EXPECT_INT(PARSE(&f, "-qo", "a", "--", "-x"), 1);
	EXPECT(f.quiet && !strcmp(f.file, "a") && optind == 4);
}

static void test_refused(void)
{
	struct filled f;

	EXPECT_INT(PARSE(&f, "--name", "long", "-q"), -1);
	EXPECT(f.name && !f.quiet); /* nothing behind it was looked at */
	EXPECT_INT(PARSE(&f, "--list", "refuse"), -1);
	EXPECT_STR(said, "");
	EXPECT_INT(PARSE(&f, "--ouptut=x"), -1);
	EXPECT_STR(said, "try: unknown option --ouptut=x; did you mean --output? "
			 "See gpustarve try --help");
	EXPECT_INT(PARSE(&f, "-x"), -1);
	EXPECT_STR(said, "try: unknown option -x; see gpustarve try --help");
	EXPECT_INT(PARSE(&f, "-o"), -1);
	EXPECT_STR(said, "try: -o needs a value; see gpustarve try --help");
}

static void test_wraps(void)
{
	struct base_options wraps = options;
	struct filled f;

	wraps.wraps = true;
	EXPECT_INT(parse(&wraps, &f, (const char *[]){ "try", "-q", "cmd", "-o", "x", NULL }), 1);
	EXPECT(f.quiet && !f.file && optind == 2);
}

static void test_help(void)
{
	char text[600];
	FILE *f = fmemopen(text, sizeof(text), "w");

	base_options_help(&options, f);
	fclose(f);
	EXPECT_STR(text, "usage: try\n"
			 "\n"
			 "  -o, --output FILE\n"
			 "                  where to\n"
			 "  --name N        line one\n"
			 "                  and two\n"
			 "  -q, --quiet     say less\n"
			 "  --take-a-long-one VALUE\n"
			 "                  behind a line of its own\n"
			 "  --list L\n"
			 "      below it\n"
			 "\n"
			 "the end\n");
}

int main(void)
{
	return RUN(test_fill, test_refused, test_wraps, test_help);
}
