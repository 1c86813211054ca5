/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of objects.h, each a request. Lines that nobody uses wait in a list; a call takes one or
 * makes one.
 */
#include "objects.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "account.h"
#include "address.h"
#include "answer.h"
#include "base/units.h"
#include "base/vec.h"
#include "request.h"

#define NOT_FOUND 404
#define NO_SUCH_RANGE 416
#define EXISTS 412
#define NOT_KNOWN 501
#define CLOCK_OFF_S 600 /* stores let in nobody who is a quarter of an hour off */

struct objects {
	struct base_arena mem; /* account and address */
	struct objects_account account;
	struct objects_address address;
	pthread_mutex_t lock; /* of all below */
	struct objects_line **idle;
	size_t idles, room;
	struct objects_use use;
};

static const char *what_is_wrong(int err)
{
	if (err == -ENOKEY)
		return "nobody says who may ask: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not "
		       "set, and ~/.aws/credentials has no such profile";
	if (err == -EILSEQ)
		return "the credentials or the region hold a control character";
	if (err == -EINVAL)
		return "s3://BUCKET/PREFIX was expected, and an endpoint https://HOST[:PORT]";
	return strerror(-err);
}

static void say(struct objects_trouble *t, const char *why)
{
	snprintf(t->why, sizeof(t->why), "%s", why);
}

bool objects_is_url(const char *text)
{
	return objects_address_is(text);
}

int objects_open(struct objects **out, const char *url, struct objects_trouble *t)
{
	struct objects *o = calloc(1, sizeof(*o));
	int err = o ? 0 : -ENOMEM;

	t->why[0] = '\0';
	if (!err)
		pthread_mutex_init(&o->lock, NULL);
	if (!err && curl_global_init(CURL_GLOBAL_DEFAULT))
		err = -ENOSYS;
	if (!err)
		err = objects_account_find(&o->account, &o->mem);
	if (!err)
		err = objects_address_of(&o->address, &o->mem, url, &o->account);
	if (err) {
		say(t, what_is_wrong(err));
		objects_close(o);
		return err;
	}
	*out = o;
	return 0;
}

void objects_close(struct objects *o)
{
	size_t i;

	if (!o)
		return;
	for (i = 0; i < o->idles; i++)
		objects_line_free(o->idle[i]);
	free(o->idle);
	pthread_mutex_destroy(&o->lock);
	base_arena_fini(&o->mem);
	free(o);
}

/* NULL: no memory, or no way to keep to what request.h says. */
static struct objects_line *line_take(struct objects *o)
{
	struct objects_line *l = NULL;

	pthread_mutex_lock(&o->lock);
	if (o->idles)
		l = o->idle[--o->idles];
	pthread_mutex_unlock(&o->lock);
	return l ? l : objects_line_new(&o->account);
}

static void line_give_back(struct objects *o, struct objects_line *l,
			   const struct objects_answer *a)
{
	pthread_mutex_lock(&o->lock);
	o->use.requests += a->tries;
	o->use.bytes += a->bytes;
	if (base_vec_more(o->idle, o->idles, o->room)) {
		o->idle[o->idles++] = l;
		l = NULL;
	}
	pthread_mutex_unlock(&o->lock);
	objects_line_free(l);
}

/* By how much this machine's clock is ahead of the store's, where that is why it refuses; else 0. */
static int64_t ahead_s(const struct objects_answer *a)
{
	int64_t s = a->now_s ? (int64_t)time(NULL) - a->now_s : 0;

	return a->status == 403 && (s > CLOCK_OFF_S || s < -CLOCK_OFF_S) ? s : 0;
}

static void say_clock(struct objects_trouble *t, int64_t s)
{
	base_unit off;

	snprintf(t->why, sizeof(t->why),
		 "this machine's clock is %s %s the store's, which believes no request of then",
		 base_duration(off, (s < 0 ? -s : s) * INT64_C(1000000000)),
		 s < 0 ? "behind" : "ahead of");
}

/* What a refusal means. 0: it is none. */
static int meant(const struct objects_request *r, const struct objects_answer *a,
		 struct objects_trouble *t)
{
	if (a->status >= 200 && a->status < 300)
		return 0;
	objects_error_read(t->why, sizeof(t->why), (const char *)a->text.data, a->text.len);
	if (!t->why[0])
		snprintf(t->why, sizeof(t->why), "%s (it answered %ld to %s)",
			 a->status == 403 ? "not for these credentials" : "refused", a->status,
			 r->method);
	if (a->region[0] && a->status >= 300 && a->status < 400)
		snprintf(t->why, sizeof(t->why), "the bucket is in %s; set AWS_REGION", a->region);
	if (ahead_s(a))
		say_clock(t, ahead_s(a));
	if (a->status == NOT_FOUND)
		return -ENOENT;
	if (a->status == EXISTS)
		return -EEXIST;
	return a->status == 401 || a->status == 403 ? -EACCES : -EIO;
}

static int ask(struct objects *o, const struct objects_request *r, struct objects_answer *a,
	       struct objects_trouble *t)
{
	struct objects_line *l;
	int err;

	t->why[0] = '\0';
	if (!r->url) {
		say(t, "no key, or one that is too long");
		return -EINVAL;
	}
	l = line_take(o);
	if (!l) {
		say(t, "this libcurl cannot sign requests, or there is no memory");
		return -ENOMEM;
	}
	err = objects_request(l, r, a, t);
	line_give_back(o, l, a);
	return err ? err : meant(r, a, t);
}

ssize_t objects_get(struct objects *o, const char *key, uint64_t at, void *to, size_t len,
		    struct objects_trouble *t)
{
	struct objects_answer a = { .status = 0 };
	struct base_arena mem = { NULL };
	const char *headers[] = { NULL, NULL };
	struct objects_request r = { .method = "GET", .headers = headers, .to = to, .room = len };
	int err;

	if (!len)
		return 0;
	headers[0] = base_arena_printf(&mem, "Range: bytes=%llu-%llu", (unsigned long long)at,
				       (unsigned long long)(at + len - 1));
	r.url = objects_url_of_key(&mem, &o->address, key);
	err = ask(o, &r, &a, t);
	if (err && a.status == NO_SUCH_RANGE)
		err = 0; /* it ends before */
	else if (!err && at && a.status != 206) {
		say(t, "it does not give parts of objects");
		err = -EIO;
	}
	wire_buf_fini(&a.text);
	base_arena_fini(&mem);
	return err ? err : (ssize_t)a.len;
}

int objects_size(struct objects *o, const char *key, uint64_t *bytes, struct objects_trouble *t)
{
	struct objects_answer a = { .status = 0 };
	struct base_arena mem = { NULL };
	struct objects_request r = { .method = "HEAD",
				     .url = objects_url_of_key(&mem, &o->address, key) };
	int err = ask(o, &r, &a, t);

	*bytes = a.whole;
	wire_buf_fini(&a.text);
	base_arena_fini(&mem);
	return err;
}

static int put(struct objects *o, const char *key, const void *bytes, size_t len, bool fresh,
	       long *status, struct objects_trouble *t)
{
	static const char *const binary[] = { "Content-Type: application/octet-stream", NULL };
	static const char *const only_new[] = { "Content-Type: application/octet-stream",
						"If-None-Match: *", NULL };
	struct objects_answer a = { .status = 0 };
	struct base_arena mem = { NULL };
	struct objects_request r = { .method = "PUT",
				     .url = objects_url_of_key(&mem, &o->address, key),
				     .headers = fresh ? only_new : binary,
				     .body = bytes,
				     .len = len };
	int err = ask(o, &r, &a, t);

	*status = a.status;
	wire_buf_fini(&a.text);
	base_arena_fini(&mem);
	return err;
}

int objects_put(struct objects *o, const char *key, const void *bytes, size_t len, bool fresh,
		struct objects_trouble *t)
{
	uint64_t there;
	long status;
	int err = put(o, key, bytes, len, fresh, &status, t);

	if (!fresh || status != NOT_KNOWN)
		return err;
	err = objects_size(o, key, &there, t);
	if (!err)
		return -EEXIST;
	return err == -ENOENT ? put(o, key, bytes, len, false, &status, t) : err;
}

int objects_remove(struct objects *o, const char *key, struct objects_trouble *t)
{
	struct objects_answer a = { .status = 0 };
	struct base_arena mem = { NULL };
	struct objects_request r = { .method = "DELETE",
				     .url = objects_url_of_key(&mem, &o->address, key) };
	int err = ask(o, &r, &a, t);

	wire_buf_fini(&a.text);
	base_arena_fini(&mem);
	return err == -ENOENT ? 0 : err;
}

/*
 * Keys without what objects_open was given, and in an order that goes up: a list has an end. A page
 * has its objects first and then its folders, each of which goes up by itself.
 */
struct listing {
	int (*found)(void *arg, const struct objects_seen *s);
	void *arg;
	const char *prefix; /* of the bucket's */
	bool folders;
	size_t skip; /* of keys behind it */
	unsigned int most, left; /* of keys, if most */
	bool enough; /* it ended itself for that */
	int64_t now_s;
	char last[2][OBJECTS_KEY_MAX + 1]; /* [1]: folders */
};

static int list_one(void *arg, const struct objects_seen *s)
{
	struct listing *l = arg;
	struct objects_seen own = *s;
	size_t len = strlen(l->prefix), end = strlen(s->key);
	char *last = l->last[l->folders && end && s->key[end - 1] == '/'];

	if (strncmp(s->key, l->prefix, len) != 0 || strcmp(s->key, last) <= 0)
		return -EIO;
	memcpy(last, s->key, end + 1);
	if (!s->key[len] || strlen(s->key + len) <= l->skip)
		return 0;
	if (l->most && !l->left) {
		l->enough = true;
		return -ECANCELED;
	}
	l->left -= l->most > 0;
	own.key += len + l->skip;
	return l->found(l->arg, &own);
}

/* Queries are signed in order of their names, each with its "=". */
static const char *list_url(struct base_arena *mem, const struct objects_address *a,
			    const char *prefix, const struct listing *l, const char *token)
{
	const char *all = base_arena_printf(mem, "%s%s", a->prefix, prefix);
	const char *from = *token ? base_arena_printf(mem, "continuation-token=%s&",
						      objects_encoded(mem, token, false))
				  : "";
	const char *most =
		l->most && l->most < 1000 ? base_arena_printf(mem, "max-keys=%u&", l->most) : "";

	if (strlen(all) > OBJECTS_KEY_MAX)
		return NULL;
	return base_arena_printf(mem, "%s/?%s%slist-type=2&%sprefix=%s", a->base, from,
				 l->folders ? "delimiter=%2F&" : "", most,
				 objects_encoded(mem, all, false));
}

/* What a user can mend: a list is what is asked for first. */
static void say_what_may_be_wrong(struct objects_trouble *t, int err,
				  const struct objects_answer *a)
{
	size_t len = strlen(t->why);
	const char *what = "";

	if (err == -ENOENT)
		what = "; is that the name of the bucket, in the store of AWS_ENDPOINT_URL?";
	else if (err == -EACCES && !ahead_s(a))
		what = "; are AWS_ACCESS_KEY_ID and its secret, or the profile AWS_PROFILE, those "
		       "of who may list this bucket, below this prefix?";
	snprintf(t->why + len, sizeof(t->why) - len, "%s", what);
}

static int list_page(struct objects *o, const char *prefix, struct listing *l,
		     struct objects_page *page, struct objects_trouble *t)
{
	struct objects_answer a = { .status = 0 };
	struct base_arena mem = { NULL };
	struct objects_request r = { .method = "GET",
				     .url = list_url(&mem, &o->address, prefix, l, page->token) };
	int err = ask(o, &r, &a, t);

	say_what_may_be_wrong(t, err, &a);
	if (!err) {
		l->now_s = a.now_s;
		err = objects_page_read(page, (const char *)a.text.data, a.text.len, list_one, l);
		if (err == -EIO)
			say(t, "its answer is no list of objects");
	}
	wire_buf_fini(&a.text);
	base_arena_fini(&mem);
	return err;
}

static int list_all(struct objects *o, const char *prefix, struct listing *l,
		    struct objects_trouble *t)
{
	struct objects_page page = { .more = true };
	char token[OBJECTS_TOKEN_MAX];
	int err = 0;

	l->prefix = o->address.prefix;
	l->left = l->most;
	while (!err && page.more && (!l->most || l->left)) {
		memcpy(token, page.token, sizeof(token));
		err = list_page(o, prefix, l, &page, t);
		if (!err && page.more && !strcmp(token, page.token)) {
			say(t, "its list of objects has no end");
			err = -EIO;
		}
	}
	return l->enough ? 0 : err;
}

struct keys {
	int (*found)(void *arg, const char *key, uint64_t bytes);
	void *arg;
};

static int key_one(void *arg, const struct objects_seen *s)
{
	const struct keys *k = arg;

	return k->found(k->arg, s->key, s->bytes);
}

int objects_list(struct objects *o, const char *prefix,
		 int (*found)(void *arg, const char *key, uint64_t bytes), void *arg,
		 struct objects_trouble *t)
{
	struct keys k = { .found = found, .arg = arg };
	struct listing l = { .found = key_one, .arg = &k };

	return list_all(o, prefix, &l, t);
}

int objects_browse(struct objects *o, const char *prefix, bool folders, unsigned int most,
		   int (*found)(void *arg, const struct objects_seen *s), void *arg, int64_t *now_s,
		   struct objects_trouble *t)
{
	struct listing l = {
		.found = found, .arg = arg, .folders = folders, .skip = strlen(prefix), .most = most
	};
	int err = list_all(o, prefix, &l, t);

	*now_s = l.now_s;
	return err;
}

void objects_used(const struct objects *o, struct objects_use *u)
{
	struct objects *all = (struct objects *)o;

	pthread_mutex_lock(&all->lock);
	*u = all->use;
	pthread_mutex_unlock(&all->lock);
}
