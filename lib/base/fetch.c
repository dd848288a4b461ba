// SPDX-License-Identifier: Apache-2.0
#include "lib/base/fetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <curl/curl.h>

#include "lib/base/limits.h"
#include "lib/base/str.h"

struct fetch {
	CURL *curl;
	struct fetch_options options;
	char why[CURL_ERROR_SIZE];
};

static void begin_library(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
}

struct fetch *fetch_new(const struct fetch_options *options)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, begin_library);
	struct fetch *f = xcalloc(1, sizeof(*f));
	f->options = *options;
	f->curl = curl_easy_init();
	if (!f->curl)
		abort(); // out of memory
	return f;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	curl_easy_cleanup(f->curl);
	free(f);
}

void fetch_answer_init(struct fetch_answer *a, size_t limit)
{
	*a = (struct fetch_answer){0};
	buf_init(&a->headers, LIMIT_ANSWER_HEADERS);
	buf_init(&a->body, limit);
}

void fetch_answer_release(struct fetch_answer *a)
{
	buf_release(&a->headers);
	buf_release(&a->body);
}

struct str fetch_header(const struct fetch_answer *a, const char *name)
{
	struct str rest = buf_view(&a->headers);
	while (rest.len) {
		struct str value = str_cut(&rest, '\n');
		struct str key = str_cut(&value, ':');
		if (value.ptr && str_eq_nocase(key, str_from(name)))
			return str_trim(value);
	}
	return (struct str){"", 0};
}

// "HTTP/1.1 200 OK", "HTTP/2 200"
static unsigned read_status(struct str line)
{
	unsigned status = 0;
	str_cut(&line, ' ');
	for (size_t i = 0; i < 3 && i < line.len && ascii_is_digit(line.ptr[i]); i++)
		status = status * 10 + (unsigned)(line.ptr[i] - '0');
	return status;
}

// A status line begins the headers anew: there is one before them for each "100 Continue".
static size_t take_header(char *bytes, size_t one, size_t len, void *ctx)
{
	struct fetch_answer *a = ctx;
	struct str line = str_trim((struct str){bytes, one * len});
	if (str_starts(line, STR("HTTP/"))) {
		buf_clear(&a->headers);
		a->status = read_status(line);
	} else if (line.len) {
		buf_str(&a->headers, line);
		buf_putc(&a->headers, '\n');
	}
	return a->headers.failed ? 0 : one * len;
}

static size_t take_body(char *bytes, size_t one, size_t len, void *ctx)
{
	struct fetch_answer *a = ctx;
	buf_add(&a->body, bytes, one * len);
	if (a->status >= 400)
		a->body.failed = false; // an error's first words are enough
	return a->body.failed ? 0 : one * len;
}

static int tell(void *ctx, curl_off_t down_all UNUSED, curl_off_t down UNUSED,
	curl_off_t up_all UNUSED, curl_off_t up)
{
	const struct fetch_options *o = ctx;
	return o->progress(o->ctx, up > 0 ? (uint64_t)up : 0) ? 0 : 1;
}

// What is the same for every request. What cannot be set is out of memory, or an option that this
// libcurl was built without.
static bool set_options(struct fetch *f, const char *url, struct fetch_answer *out)
{
	const struct fetch_options *o = &f->options;
	CURL *c = f->curl;
	curl_easy_reset(c); // connections stay
	f->why[0] = '\0';
	bool ok = curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK;
	curl_easy_setopt(c, CURLOPT_ERRORBUFFER, f->why);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L); // threads
	curl_easy_setopt(c, CURLOPT_USERAGENT, "wheelcache/" PACKAGE_VERSION);
	curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)o->connect_seconds);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)o->stall_seconds);
	curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(c, CURLOPT_HEADERDATA, out);
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, out);
	if (o->progress) {
		curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
		curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, tell);
		curl_easy_setopt(c, CURLOPT_XFERINFODATA, &f->options);
	}
	if (o->ca_file)
		ok = ok && curl_easy_setopt(c, CURLOPT_CAINFO, o->ca_file) == CURLE_OK;
	curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	if (o->password) {
		ok = ok && curl_easy_setopt(c, CURLOPT_USERNAME, o->user) == CURLE_OK &&
		     curl_easy_setopt(c, CURLOPT_PASSWORD, o->password) == CURLE_OK;
	} else {
		curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
		if (o->netrc)
			ok = ok && curl_easy_setopt(c, CURLOPT_NETRC_FILE, o->netrc) == CURLE_OK;
	}
	return ok;
}

static int fail(struct fetch *f, CURLcode code, const char *url, const struct fetch_answer *out,
	struct err *e)
{
	static const struct {
		CURLcode code;
		enum err_kind kind;
	} table[] = {
		{CURLE_PEER_FAILED_VERIFICATION, ERR_DENIED},
		{CURLE_SSL_CACERT_BADFILE, ERR_USAGE},
		{CURLE_UNSUPPORTED_PROTOCOL, ERR_USAGE},
		{CURLE_URL_MALFORMAT, ERR_USAGE},
	};
	if (out->body.failed || out->headers.failed)
		return err_set(e, ERR_LIMIT, "%s: more than %zu bytes are answered", url,
			out->body.failed ? out->body.cap : out->headers.cap);
	enum err_kind kind = ERR_NET;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].code == code)
			kind = table[i].kind;
	return err_set(e, kind, "%s: %s", url, f->why[0] ? f->why : curl_easy_strerror(code));
}

static int check_options(const struct fetch *f, const char *url, struct err *e)
{
	const struct fetch_options *o = &f->options;
	if (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0)
		return err_set(e, ERR_USAGE, "%s: neither http: nor https:", url);
	if (o->netrc && access(o->netrc, R_OK) < 0)
		return err_errno(e, ERR_USAGE, "%s", o->netrc);
	return 0;
}

static void free_list(struct curl_slist **list)
{
	curl_slist_free_all(*list);
}

static struct curl_slist *make_list(const char *const *headers)
{
	struct curl_slist *list = NULL;
	for (; headers && *headers; headers++) {
		list = curl_slist_append(list, *headers);
		if (!list)
			abort(); // out of memory
	}
	return list;
}

static int perform(struct fetch *f, const char *url, const char *const *headers, curl_mime *mime,
	struct fetch_answer *out, struct err *e)
{
	CLEANUP(free_list) struct curl_slist *list = make_list(headers);
	curl_off_t wait = 0;
	if (mime)
		curl_easy_setopt(f->curl, CURLOPT_MIMEPOST, mime);
	if (list)
		curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, list);
	CURLcode code = curl_easy_perform(f->curl);
	if (code != CURLE_OK)
		return fail(f, code, url, out, e);
	curl_easy_getinfo(f->curl, CURLINFO_RETRY_AFTER, &wait);
	out->retry_after = wait > 0 ? (uint64_t)wait : 0;
	return 0;
}

int fetch_get(struct fetch *f, const char *url, const char *const *headers,
	struct fetch_answer *out, struct err *e)
{
	if (check_options(f, url, e) < 0)
		return -1;
	if (!set_options(f, url, out))
		return err_set(e, ERR_USAGE, "%s: libcurl does not take it", url);
	curl_easy_setopt(f->curl, CURLOPT_ACCEPT_ENCODING, ""); // whatever it can unpack
	return perform(f, url, headers, NULL, out, e);
}

struct reading {
	int fd;
	curl_off_t at, size;
};

static size_t read_file(char *out, size_t one, size_t count, void *ctx)
{
	struct reading *r = ctx;
	size_t want = one * count;
	if ((curl_off_t)want > r->size - r->at)
		want = (size_t)(r->size - r->at);
	ssize_t n = pread(r->fd, out, want, (off_t)r->at);
	if (n < 0 || (n == 0 && want))
		return CURL_READFUNC_ABORT; // gone, or shorter than it was
	r->at += n;
	return (size_t)n;
}

// libcurl would by itself send everything once more where a connection that it used before is lost.
// What became of the first is for the caller to find out.
static int seek_file(void *ctx, curl_off_t offset, int origin)
{
	const struct reading *r = ctx;
	return origin == SEEK_SET && offset == r->at ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static void free_mime(curl_mime **mime)
{
	curl_mime_free(*mime);
}

static bool add_part(curl_mime *mime, const char *name, const char *value)
{
	curl_mimepart *part = curl_mime_addpart(mime);
	return part && curl_mime_name(part, name) == CURLE_OK &&
	       curl_mime_data(part, value, CURL_ZERO_TERMINATED) == CURLE_OK;
}

static bool fill_form(curl_mime *mime, const struct fetch_form *form, struct reading *r)
{
	for (size_t i = 0; i < form->count; i++)
		if (!add_part(mime, form->field[i].name, form->field[i].value))
			return false;
	curl_mimepart *part = curl_mime_addpart(mime);
	return part && curl_mime_name(part, form->file_field) == CURLE_OK &&
	       curl_mime_filename(part, form->file_name) == CURLE_OK &&
	       curl_mime_type(part, "application/octet-stream") == CURLE_OK &&
	       curl_mime_data_cb(part, r->size, read_file, seek_file, NULL, r) == CURLE_OK;
}

int fetch_post(struct fetch *f, const char *url, const char *const *headers,
	const struct fetch_form *form, struct fetch_answer *out, struct err *e)
{
	if (check_options(f, url, e) < 0)
		return -1;
	if (!set_options(f, url, out))
		return err_set(e, ERR_USAGE, "%s: libcurl does not take it", url);
	struct reading r = {.fd = form->fd, .size = (curl_off_t)form->size};
	CLEANUP(free_mime) curl_mime *mime = curl_mime_init(f->curl);
	if (!mime || !fill_form(mime, form, &r))
		abort(); // out of memory
	return perform(f, url, headers, mime, out, e);
}
