// SPDX-License-Identifier: Apache-2.0
#include "lib/place/s3-request.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/format/markup.h"
#include "lib/os/clock.h"
#include "lib/place/s3-credentials.h"

enum {
	CONNECT_SECONDS = 10,
	STALL_SECONDS = 60,
	KEPT_OPEN = 32,      // clients with their connections that wait for the next request
	FIRST_PAUSE_MS = 50, // it doubles with each try, up to the longest
	LONGEST_PAUSE_MS = 8000,
	DRIFT_SECONDS = 60, // a clock that is further off signs with the engine's time
	STAMP = sizeof("20260102T030405Z"),
	DAY = sizeof("20260102") - 1, // its begin
};

static const char sha256_of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct s3_bucket {
	struct s3_bucket *next;
	struct arena text; // of the strings
	const char *name, *title, *base; // base: the URL to which keys are appended, with "/" at its end
	const char *host, *region;
	struct fetch_options options;
	bool is_trusted;
	struct err wrong; // the endpoint is no URL
	struct s3_credentials *credentials;
	_Atomic int64_t skew;
	pthread_mutex_t lock; // protects what follows
	struct fetch *idle[KEPT_OPEN];
	size_t idle_count;
};

static struct {
	pthread_mutex_t lock;
	struct s3_bucket *first;
} buckets = {.lock = PTHREAD_MUTEX_INITIALIZER};

// --- buckets ---

static const char *first_of(const char *given, const char *variable, const char *other)
{
	const char *value = given ? given : getenv(variable);
	if (value && *value)
		return value;
	value = other ? getenv(other) : NULL;
	return value && *value ? value : NULL;
}

static void set_base(struct s3_bucket *b, const struct s3_settings *s, const char *region)
{
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	const char *given = first_of(s->endpoint, "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL");
	CLEANUP(mem_free) char *usual = xasprintf("https://s3.%s.amazonaws.com", region);
	const char *endpoint = given ? given : usual;
	const char *style = s->path_style ? s->path_style : "auto";
	bool is_in_path = strcmp(style, "auto") == 0 ? given || strchr(s->bucket, '.') : strcmp(style, "yes") == 0;
	if (fetch_url_parse(endpoint, &url, &b->wrong) < 0) {
		err_prefix(&b->wrong, "[place s3://%s] endpoint: ", s->bucket);
		b->base = b->title = "";
		return;
	}
	struct str text = str_from(url.text);
	while (str_ends(text, STR("/")))
		text.len--;
	struct str host = str_slice(text, strlen(url.scheme) + strlen("://"), text.len);
	b->base = is_in_path ? arena_printf(&b->text, STR_FMT "/%s/", STR_ARG(text), s->bucket)
			     : arena_printf(&b->text, "%s://%s." STR_FMT "/", url.scheme, s->bucket, STR_ARG(host));
	struct str behind = str_slice(str_from(b->base), strlen(url.scheme) + strlen("://"), strlen(b->base));
	b->host = arena_copy(&b->text, str_cut(&behind, '/'));
	b->title = arena_printf(&b->text, "s3://%s at " STR_FMT, s->bucket, STR_ARG(text));
}

static struct s3_bucket *add_bucket(const struct s3_settings *s)
{
	struct s3_bucket *b = xcalloc(1, sizeof(*b));
	const char *region = first_of(s->region, "AWS_REGION", "AWS_DEFAULT_REGION");
	region = region ? region : "us-east-1";
	b->name = arena_strdup(&b->text, s->bucket);
	b->region = arena_strdup(&b->text, region);
	b->is_trusted = s->trusts_engine;
	set_base(b, s, region);
	b->options = (struct fetch_options){.ca_file = arena_strdup(&b->text, fetch_ca_file(s->ca_file)),
		.connect_seconds = CONNECT_SECONDS,
		.stall_seconds = STALL_SECONDS};
	b->credentials = s3_credentials_new(s->credentials_command, region);
	pthread_mutex_init(&b->lock, NULL);
	b->next = buckets.first;
	buckets.first = b;
	return b;
}

static struct s3_bucket *find_bucket(struct str name)
{
	struct s3_bucket *b = buckets.first;
	while (b && !str_eq(str_from(b->name), name))
		b = b->next;
	return b;
}

void s3_bucket_configure(const struct s3_settings *s)
{
	pthread_mutex_lock(&buckets.lock);
	if (!find_bucket(str_from(s->bucket)))
		add_bucket(s);
	pthread_mutex_unlock(&buckets.lock);
}

struct s3_bucket *s3_bucket_named(struct str name)
{
	pthread_mutex_lock(&buckets.lock);
	struct s3_bucket *b = find_bucket(name);
	CLEANUP(mem_free) char *text = xstrndup(name.ptr, name.len);
	if (!b)
		b = add_bucket(&(struct s3_settings){.bucket = text});
	pthread_mutex_unlock(&buckets.lock);
	return b;
}

bool s3_bucket_is_trusted(const struct s3_bucket *b)
{
	return b->is_trusted;
}

const char *s3_bucket_title(const struct s3_bucket *b)
{
	return b->title;
}

int64_t s3_bucket_skew(const struct s3_bucket *b)
{
	return atomic_load(&b->skew);
}

// --- one try ---

static struct fetch *take_client(struct s3_bucket *b)
{
	pthread_mutex_lock(&b->lock);
	struct fetch *f = b->idle_count ? b->idle[--b->idle_count] : NULL;
	pthread_mutex_unlock(&b->lock);
	return f ? f : fetch_new(&b->options);
}

static void give_client(struct s3_bucket *b, struct fetch *f)
{
	pthread_mutex_lock(&b->lock);
	if (b->idle_count < KEPT_OPEN)
		b->idle[b->idle_count++] = STEAL_PTR(f);
	pthread_mutex_unlock(&b->lock);
	fetch_free(f);
}

static char *request_url(const struct s3_bucket *b, const struct s3_request *r)
{
	CLEANUP(buf_release) struct buf url = buf_up_to(SIZE_MAX / 2);
	buf_puts(&url, b->base);
	struct str rest = str_from(r->key ? r->key : "");
	while (rest.ptr && r->key) {
		escape_url(&url, str_cut(&rest, '/'));
		if (rest.ptr)
			buf_putc(&url, '/');
	}
	if (r->query)
		buf_printf(&url, "?%s", r->query);
	return buf_steal(&url);
}

// The headers that each request has, behind its own.
struct request_headers {
	const char *line[S3_HEADERS + 6]; // NULL at the end
	size_t count;
	char stamp[STAMP];
	char sha256[SHA256_HEX + 1]; // of the body
	char *token;                 // the line
	struct arena text;
};

static void request_headers_release(struct request_headers *h)
{
	if (h->token)
		explicit_bzero(h->token, strlen(h->token));
	arena_release(&h->text);
}

static void fill_headers(const struct s3_bucket *b, const struct s3_request *r, const struct s3_keys *keys,
	struct request_headers *h)
{
	int64_t skew = atomic_load(&b->skew);
	bool is_adrift = skew > DRIFT_SECONDS || skew < -DRIFT_SECONDS;
	struct tm tm;
	time_t now = (time_t)(clock_wall_seconds() + (is_adrift ? skew : 0) - r->age_s);
	gmtime_r(&now, &tm);
	strftime(h->stamp, sizeof(h->stamp), "%Y%m%dT%H%M%SZ", &tm);
	snprintf(h->sha256, sizeof(h->sha256), "%s", sha256_of_nothing);
	if (r->sha256)
		hex_encode(r->sha256, SHA256_SIZE, h->sha256);
	for (size_t i = 0; i < S3_HEADERS && r->header[i]; i++)
		h->line[h->count++] = r->header[i];
	h->line[h->count++] = arena_printf(&h->text, "host: %s", b->host);
	h->line[h->count++] = arena_printf(&h->text, "x-amz-content-sha256: %s", h->sha256);
	h->line[h->count++] = arena_printf(&h->text, "x-amz-date: %s", h->stamp);
	if (keys->token)
		h->line[h->count++] = h->token = arena_printf(&h->text, "x-amz-security-token: %s", keys->token);
}

static int by_name(const void *a, const void *b)
{
	const char *x = *(const char *const *)a, *y = *(const char *const *)b;
	size_t n = strcspn(x, ":"), m = strcspn(y, ":");
	int order = strncasecmp(x, y, n < m ? n : m);
	return order ? order : (n > m) - (n < m);
}

// What is signed: a canonical request of AWS. The path and the query are those of the URL, which has the encoding that
// AWS wants and the keys in order. Sets *names to the names of the headers.
static void add_canonical(const struct s3_bucket *b, const struct s3_request *r, const char *url, struct request_headers *h,
	struct buf *out, struct buf *names)
{
	struct str rest = str_slice(str_from(url), strcspn(url, ":") + strlen("://") + strlen(b->host), strlen(url));
	struct str path = str_cut(&rest, '?');
	const char *line[ARRAY_SIZE(h->line)];
	memcpy(line, h->line, sizeof(line));
	qsort(line, h->count, sizeof(*line), by_name);
	buf_printf(out, "%s\n" STR_FMT "\n%s\n", r->method, STR_ARG(path), r->query ? r->query : "");
	for (size_t i = 0; i < h->count; i++) {
		struct str value = str_from(line[i]), name = str_cut(&value, ':');
		buf_puts(names, i ? ";" : "");
		for (size_t k = 0; k < name.len; k++) {
			buf_putc(names, ascii_lower(name.ptr[k]));
			buf_putc(out, ascii_lower(name.ptr[k]));
		}
		buf_printf(out, ":" STR_FMT "\n", STR_ARG(str_trim(value)));
	}
	buf_printf(out, "\n" STR_FMT "\n%s", STR_ARG(buf_view(names)), h->sha256);
}

// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
static void sign(const struct s3_bucket *b, const struct s3_request *r, const struct s3_keys *keys, const char *url,
	struct request_headers *h)
{
	CLEANUP(buf_release) struct buf canonical = buf_up_to(SIZE_MAX / 2);
	CLEANUP(buf_release) struct buf names = buf_up_to(SIZE_MAX / 2);
	uint8_t digest[SHA256_SIZE];
	char hex[SHA256_HEX + 1] = "";
	add_canonical(b, r, url, h, &canonical, &names);
	digest_sha256(buf_view(&canonical), digest);
	hex_encode(digest, sizeof(digest), hex);
	const char *scope = arena_printf(&h->text, "%.*s/%s/s3/aws4_request", DAY, h->stamp, b->region);
	const char *text = arena_printf(&h->text, "AWS4-HMAC-SHA256\n%s\n%s\n%s", h->stamp, scope, hex);
	CLEANUP(mem_free) char *first = xasprintf("AWS4%s", r->secret ? r->secret : keys->secret);
	struct str key = str_from(first), rest = str_from(scope);
	while (rest.ptr) {
		digest_hmac(key, str_cut(&rest, '/'), digest);
		key = (struct str){(const char *)digest, sizeof(digest)};
	}
	digest_hmac(key, str_from(text), digest);
	explicit_bzero(first, strlen(first));
	hex_encode(digest, sizeof(digest), hex);
	h->line[h->count++] = arena_printf(&h->text,
		"Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=" STR_FMT ", Signature=%s", keys->id, scope,
		STR_ARG(buf_view(&names)), hex);
}

static void note_date(struct s3_bucket *b, const struct fetch_answer *a)
{
	int64_t there;
	struct str date = fetch_header(a, "Date");
	CLEANUP(mem_free) char *text = xstrndup(date.ptr, date.len);
	if (clock_read_http(text, &there))
		atomic_store(&b->skew, there - clock_wall_seconds());
}

struct error_reader {
	struct s3_answer *answer;
	char *field; // where the text of the element goes; NULL: nowhere
	size_t room;
};

static void begin_error_element(void *ctx, const char *name, const char *const *attributes UNUSED)
{
	struct error_reader *r = ctx;
	bool is_code = strcmp(name, "Code") == 0, is_message = strcmp(name, "Message") == 0;
	r->field = is_code ? r->answer->code : is_message ? r->answer->message : NULL;
	r->room = is_code ? sizeof(r->answer->code) : sizeof(r->answer->message);
}

static void end_error_element(void *ctx, const char *name UNUSED)
{
	((struct error_reader *)ctx)->field = NULL;
}

static void add_error_text(void *ctx, struct str text)
{
	struct error_reader *r = ctx;
	size_t have = r->field ? strlen(r->field) : 0;
	if (r->field)
		snprintf(r->field + have, r->room - have, STR_FMT, STR_ARG(text));
}

// What is no XML has no code.
static void read_code(struct s3_answer *a)
{
	static const struct markup_handler handler = {begin_error_element, end_error_element, add_error_text, NULL};
	struct err ignored = ERR_INIT;
	struct str body = buf_view(&a->http.body);
	struct error_reader reader = {.answer = a};
	// CompleteMultipartUpload may send an error after "200 OK".
	bool is_error = a->http.status >= 300 || memmem(body.ptr, str_head(body, 200).len, "<Error>", strlen("<Error>"));
	if (is_error && body.len && markup_read_xml(body, &handler, &reader, &ignored) < 0)
		log_debug("an answer of a bucket is no XML: %s", ignored.msg);
}

static int try_once(struct s3_bucket *b, const struct s3_request *r, const char *url, struct s3_answer *out, struct err *e)
{
	CLEANUP(s3_keys_release) struct s3_keys keys = {0};
	CLEANUP(request_headers_release) struct request_headers headers = {0};
	if (s3_credentials_get(b->credentials, &keys, e) < 0)
		return err_prefix(e, "%s: ", b->title);
	fill_headers(b, r, &keys, &headers);
	sign(b, r, &keys, url, &headers);
	const struct fetch_call call = {.method = r->method,
		.url = url,
		.headers = headers.line,
		.body = r->body,
		.offset = r->offset,
		.size = r->size,
		.total_ms = r->until_ms ? r->until_ms - clock_ms() : 0,
		.on_body = r->on_body,
		.ctx = r->ctx};
	fetch_answer_release(&out->http);
	fetch_answer_init(&out->http, r->answer_limit ? r->answer_limit : LIMIT_ANSWER);
	*out->code = *out->message = '\0';
	if (r->restart)
		r->restart(r->ctx);
	struct fetch *client = take_client(b);
	int result = fetch_call(client, &call, &out->http, e);
	give_client(b, client);
	if (out->http.status)
		note_date(b, &out->http);
	if (result == 0)
		read_code(out);
	return result;
}

// --- tries ---

static bool has_code(const struct s3_answer *a, const char *codes)
{
	struct str rest = str_from(codes);
	while (rest.len)
		if (str_eq(str_cut(&rest, ' '), str_from(a->code)))
			return true;
	return false;
}

static bool is_worth_another_try(struct s3_bucket *b, const struct s3_answer *a, unsigned tries)
{
	unsigned status = a->http.status;
	if (status == 429 || status == 500 || (status >= 502 && status <= 504) ||
		has_code(a, "SlowDown RequestTimeout OperationAborted ConditionalRequestConflict InternalError"))
		return true;
	if (tries == 0 && has_code(a, "ExpiredToken ExpiredTokenException InvalidToken")) {
		s3_credentials_renew(b->credentials);
		return true;
	}
	bool is_skewed = has_code(a, "RequestTimeTooSkewed") || (status == 403 && !*a->code);
	int64_t skew = atomic_load(&b->skew);
	return tries == 0 && is_skewed && (skew > DRIFT_SECONDS || skew < -DRIFT_SECONDS);
}

// Waits before the next try: half of the time at least, so that writers that failed together come apart. False: it is
// not worth it.
static bool wait_for_next(const struct s3_request *r, const struct s3_answer *a, unsigned tries)
{
	if (r->is_single || tries + 1 >= LIMIT_S3_TRIES)
		return false;
	int64_t pause = (int64_t)FIRST_PAUSE_MS << tries;
	int64_t asked = a->http.retry_after < LONGEST_PAUSE_MS ? (int64_t)a->http.retry_after * 1000 : LONGEST_PAUSE_MS;
	pause = pause < asked ? asked : pause;
	pause = pause < LONGEST_PAUSE_MS ? pause : LONGEST_PAUSE_MS;
	int64_t now = clock_ms();
	uint64_t seed = (uint64_t)now;
	pause = pause / 2 + (int64_t)(hash_of((struct str){(const char *)&r, sizeof(r)}, seed) % (uint64_t)(pause / 2 + 1));
	if (r->until_ms && now + pause >= r->until_ms)
		return false;
	poll(NULL, 0, (int)pause);
	return true;
}

int s3_request_send(struct s3_bucket *b, const struct s3_request *r, struct s3_answer *out, struct err *e)
{
	*out = (struct s3_answer){0};
	fetch_answer_init(&out->http, LIMIT_ANSWER);
	if (b->wrong.kind != ERR_NONE) {
		*e = b->wrong;
		return -1;
	}
	CLEANUP(mem_free) char *url = request_url(b, r);
	for (unsigned tries = 0;; tries++) {
		struct err why = ERR_INIT;
		int result = try_once(b, r, url, out, &why);
		if (r->is_stopped && *r->is_stopped)
			return 0;
		if (result < 0 && why.kind != ERR_NET) {
			*e = why;
			e->kind = why.kind == ERR_DENIED ? ERR_IO : why.kind; // its certificate
			return -1;
		}
		bool is_answer = result == 0 && !is_worth_another_try(b, out, tries);
		if (is_answer || (result == 0 && r->is_single && !r->until_ms))
			return 0;
		if (wait_for_next(r, out, tries))
			continue;
		if (result < 0) {
			*e = why;
			e->kind = ERR_IO;
			return -1;
		}
		return out->http.status >= 300 ? s3_request_refuse(b, r, out, e)
					       : err_set(e, ERR_IO, "%s: %s", b->title, out->code);
	}
}

void s3_answer_release(struct s3_answer *a)
{
	fetch_answer_release(&a->http);
}

static enum err_kind kind_of_refusal(const struct s3_answer *a)
{
	if (a->http.status == 507 || has_code(a, "EntityTooLarge QuotaExceeded InsufficientStorage XMinioStorageFull"))
		return ERR_FULL;
	if (has_code(a, "NoSuchBucket"))
		return ERR_IO;
	if (a->http.status == 412 || has_code(a, "PreconditionFailed"))
		return ERR_CONFLICT;
	if (a->http.status == 501)
		return ERR_INVALID;
	return a->http.status == 404 ? ERR_NOT_FOUND : ERR_IO;
}

int s3_request_refuse(const struct s3_bucket *b, const struct s3_request *r, const struct s3_answer *a, struct err *e)
{
	err_set(e, kind_of_refusal(a), "%s: %s %s: %u %s%s%s", b->title, r->method, r->key ? r->key : "the bucket",
		a->http.status, a->code, *a->message ? ": " : "", a->message);
	struct str region = fetch_header(&a->http, "x-amz-bucket-region");
	if (region.len && (a->http.status == 301 || a->http.status == 400))
		return err_advise(e, "set [place s3://%s] region = " STR_FMT, b->name, STR_ARG(region));
	if (a->http.status == 403)
		return err_advise(e, "is this the right account, and may it?");
	return -1;
}
