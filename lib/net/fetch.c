// SPDX-License-Identifier: Apache-2.0
#include "lib/net/fetch.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define CURL_DISABLE_TYPECHECK // its macros call the functions by their names
#include <curl/curl.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/str.h"
#include "lib/net/address.h"
#include "lib/os/library.h"
#include "lib/os/safefile.h"

// libcurl needs fifteen other libraries. A server that merges no upstream needs none of them.
#define CURL_FUNCTIONS(F) \
	F(curl_easy_cleanup) F(curl_easy_getinfo) F(curl_easy_init) F(curl_easy_perform) F(curl_easy_reset) \
	F(curl_easy_setopt) F(curl_easy_strerror) F(curl_free) F(curl_global_init) F(curl_mime_addpart) \
	F(curl_mime_data) F(curl_mime_data_cb) F(curl_mime_filename) F(curl_mime_free) F(curl_mime_init) \
	F(curl_mime_name) F(curl_mime_type) F(curl_multi_add_handle) F(curl_multi_cleanup) F(curl_multi_info_read) \
	F(curl_multi_init) F(curl_multi_perform) F(curl_multi_poll) F(curl_multi_remove_handle) F(curl_multi_setopt) \
	F(curl_multi_wakeup) F(curl_slist_append) F(curl_slist_free_all) F(curl_url) F(curl_url_cleanup) \
	F(curl_url_get) F(curl_url_set)
static struct {
	CURL_FUNCTIONS(LIBRARY_POINTER)
} libcurl;
static const char *const curl_names[] = {CURL_FUNCTIONS(LIBRARY_NAME)};
static struct library curl_library = LIBRARY(CURL_FILE, curl_names, libcurl);

enum {
	READ_BYTES = 128 << 10, // read from a socket at once; libcurl's default is 16 KB
	ASKED_FROM = 1 << 20,   // bytes of a body that is sent only when the server wants it
};

const char *const fetch_failure_name[FETCH_FAILURE_COUNT] = {
	[FETCH_WHOLE] = "whole",
	[FETCH_REFUSED] = "refused",
	[FETCH_RESOLVE] = "no address",
	[FETCH_TIMEOUT] = "timeout",
	[FETCH_TLS] = "TLS",
	[FETCH_TRUNCATED] = "truncated",
	[FETCH_TOO_LARGE] = "too large",
	[FETCH_REDIRECT] = "redirect",
	[FETCH_FORBIDDEN] = "private address",
	[FETCH_PASSWORD] = "password-file",
	[FETCH_CANCELLED] = "cancelled",
	[FETCH_OTHER] = "other",
};

const char *fetch_ca_file(const char *given)
{
	static const char *const names[] = {"CURL_CA_BUNDLE", "SSL_CERT_FILE", "PIP_CERT"};
	for (size_t i = 0; !given && i < ARRAY_SIZE(names); i++) {
		const char *value = getenv(names[i]);
		given = value && *value ? value : NULL;
	}
	return given;
}

static sigset_t sigpipe_alone(void)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	return set;
}

static bool is_sigpipe_pending(void)
{
	sigset_t pending;
	return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

void sigpipe_hold(struct sigpipe *s)
{
	sigset_t alone = sigpipe_alone();
	s->was_pending = is_sigpipe_pending();
	pthread_sigmask(SIG_BLOCK, &alone, &s->before);
}

void sigpipe_release(struct sigpipe *s)
{
	sigset_t alone = sigpipe_alone();
	const struct timespec at_once = {0};
	while (!s->was_pending && is_sigpipe_pending() && sigtimedwait(&alone, NULL, &at_once) == SIGPIPE)
		;
	pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

// --- answers ---

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
	uint64_t status;
	str_cut(&line, ' ');
	line.len = line.len < 3 ? line.len : 3;
	decimal_cut(&line, UINT_MAX, &status);
	return (unsigned)status;
}

// Each interim response, such as "100 Continue", has a status line and headers of its own.
bool fetch_answer_add_header(struct fetch_answer *a, struct str line)
{
	line = str_trim(line);
	if (str_starts(line, STR("HTTP/"))) {
		buf_clear(&a->headers);
		a->status = read_status(line);
	} else if (line.len) {
		buf_str(&a->headers, line);
		buf_putc(&a->headers, '\n');
	}
	return !a->headers.failed;
}

bool fetch_answer_add_body(struct fetch_answer *a, struct str piece)
{
	buf_str(&a->body, piece);
	if (a->status >= 400 && a->body.failed) { // the beginning of an error's body is enough
		a->body.failed = false;
		a->is_cut = true;
	}
	return !a->body.failed;
}

// --- one request ---

struct fetch {
	CURL *curl;
	struct fetch_options options;
	char why[CURL_ERROR_SIZE];
};

static void init_library(void)
{
	struct err e = ERR_INIT;
	if (library_load(&curl_library, &e) < 0)
		log_error("%s", e.msg);
	if (e.kind != ERR_NONE || libcurl.curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		abort();
}

static void need_library(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, init_library);
}

struct fetch *fetch_new(const struct fetch_options *options)
{
	need_library();
	struct fetch *f = xcalloc(1, sizeof(*f));
	f->options = *options;
	f->curl = libcurl.curl_easy_init();
	if (!f->curl)
		abort(); // out of memory
	return f;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	libcurl.curl_easy_cleanup(f->curl);
	free(f);
}

static size_t add_header(char *bytes, size_t one, size_t len, void *ctx)
{
	return fetch_answer_add_header(ctx, (struct str){bytes, one * len}) ? one * len : 0;
}

// A body that was cut ends the request, because it may have no end.
static size_t add_body(char *bytes, size_t one, size_t len, void *ctx)
{
	struct fetch_answer *a = ctx;
	return fetch_answer_add_body(a, (struct str){bytes, one * len}) && !a->is_cut ? one * len : 0;
}

static int on_progress(void *ctx, curl_off_t down_all UNUSED, curl_off_t down UNUSED, curl_off_t up_all UNUSED,
	curl_off_t up)
{
	const struct fetch_options *o = ctx;
	return o->progress(o->ctx, up > 0 ? (uint64_t)up : 0) ? 0 : 1;
}

// The options of every request. Setting one fails if memory runs out or this libcurl was built without it.
static bool set_common(CURL *c, const struct fetch_options *o, const char *url, char *why, struct fetch_answer *out)
{
	why[0] = '\0';
	bool ok = libcurl.curl_easy_setopt(c, CURLOPT_URL, url) == CURLE_OK;
	libcurl.curl_easy_setopt(c, CURLOPT_ERRORBUFFER, why);
	libcurl.curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L); // the process has several threads
	libcurl.curl_easy_setopt(c, CURLOPT_USERAGENT, "wheelcache/" PACKAGE_VERSION);
	libcurl.curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, (long)o->connect_seconds);
	libcurl.curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, 1L);
	libcurl.curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)o->stall_seconds);
	libcurl.curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, add_header);
	libcurl.curl_easy_setopt(c, CURLOPT_HEADERDATA, out);
	libcurl.curl_easy_setopt(c, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
	if (o->is_direct)
		libcurl.curl_easy_setopt(c, CURLOPT_NOPROXY, "*");
	if (o->ca_file)
		ok = ok && libcurl.curl_easy_setopt(c, CURLOPT_CAINFO, o->ca_file) == CURLE_OK;
	return ok;
}

static bool set_password(CURL *c, const char *user, const char *password)
{
	return libcurl.curl_easy_setopt(c, CURLOPT_USERNAME, user) == CURLE_OK &&
	       libcurl.curl_easy_setopt(c, CURLOPT_PASSWORD, password) == CURLE_OK;
}

static bool set_netrc(CURL *c, const char *netrc)
{
	libcurl.curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
	return !netrc || libcurl.curl_easy_setopt(c, CURLOPT_NETRC_FILE, netrc) == CURLE_OK;
}

static bool set_options(struct fetch *f, const char *url, struct fetch_answer *out)
{
	const struct fetch_options *o = &f->options;
	CURL *c = f->curl;
	libcurl.curl_easy_reset(c); // keeps connections
	bool ok = set_common(c, o, url, f->why, out);
	libcurl.curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, add_body);
	libcurl.curl_easy_setopt(c, CURLOPT_WRITEDATA, out);
	if (o->progress) {
		libcurl.curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
		libcurl.curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
		libcurl.curl_easy_setopt(c, CURLOPT_XFERINFODATA, &f->options);
	}
	return ok && (o->password ? set_password(c, o->user, o->password) : set_netrc(c, o->netrc));
}

static int read_private(const char *path, struct buf *out, struct err *e)
{
	struct stat st;
	CLEANUP(mem_close) int fd = safefile_open(path, O_RDONLY | O_CLOEXEC, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && st.st_mode & (S_IRWXG | S_IRWXO))
		return err_set(e, ERR_USAGE, "%s: other accounts may read it (mode %04o): chmod 600 %s", path,
			(unsigned)st.st_mode & 07777, path);
	return safefile_read(path, out, e);
}

int fetch_password_read(const char *path, char **user, char **password, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_PASSWORD_FILE);
	if (read_private(path, &text, e) < 0)
		return -1;
	struct str rest = str_trim(buf_view(&text)), name = str_cut(&rest, ':');
	if (!name.len || !rest.len || str_find(rest, '\n') >= 0 || str_find(name, '\n') >= 0)
		return err_set(e, ERR_USAGE, "%s: it is not one line USER:PASSWORD", path);
	*user = xstrndup(name.ptr, name.len);
	*password = xstrndup(rest.ptr, rest.len);
	return 0;
}

static int report_failure(struct fetch *f, CURLcode code, const char *url, const struct fetch_answer *out,
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
		return err_set(e, ERR_LIMIT, "%s: the answer has more than %zu bytes", url,
			out->body.failed ? out->body.cap : out->headers.cap);
	enum err_kind kind = ERR_NET;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].code == code)
			kind = table[i].kind;
	return err_set(e, kind, "%s: %s", url, f->why[0] ? f->why : libcurl.curl_easy_strerror(code));
}

static bool has_scheme(const char *url)
{
	return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

static int prepare_request(struct fetch *f, const char *url, struct fetch_answer *out, struct err *e)
{
	const struct fetch_options *o = &f->options;
	if (!has_scheme(url))
		return err_set(e, ERR_USAGE, "%s: neither http: nor https:", url);
	if (o->netrc && access(o->netrc, R_OK) < 0)
		return err_errno(e, ERR_USAGE, "%s", o->netrc);
	if (!set_options(f, url, out))
		return err_set(e, ERR_USAGE, "%s: libcurl refuses the URL or an option", url);
	return 0;
}

static void free_list(struct curl_slist **list)
{
	libcurl.curl_slist_free_all(*list);
}

static struct curl_slist *make_list(const char *const *headers)
{
	struct curl_slist *list = NULL;
	for (; headers && *headers; headers++) {
		list = libcurl.curl_slist_append(list, *headers);
		if (!list)
			abort(); // out of memory
	}
	return list;
}

static void note_retry_after(CURL *c, struct fetch_answer *out)
{
	curl_off_t wait = 0;
	libcurl.curl_easy_getinfo(c, CURLINFO_RETRY_AFTER, &wait);
	out->retry_after = wait > 0 ? (uint64_t)wait : 0;
}

static int perform_request(struct fetch *f, const char *url, const char *const *headers, curl_mime *mime,
	struct fetch_answer *out, struct err *e)
{
	CLEANUP(free_list) struct curl_slist *list = make_list(headers);
	if (mime)
		libcurl.curl_easy_setopt(f->curl, CURLOPT_MIMEPOST, mime);
	if (list)
		libcurl.curl_easy_setopt(f->curl, CURLOPT_HTTPHEADER, list);
	CLEANUP(sigpipe_release) struct sigpipe held;
	sigpipe_hold(&held);
	CURLcode code = libcurl.curl_easy_perform(f->curl);
	if (code != CURLE_OK && !out->is_cut)
		return report_failure(f, code, url, out, e);
	note_retry_after(f->curl, out);
	return 0;
}

int fetch_get(struct fetch *f, const char *url, const char *const *headers, struct fetch_answer *out, struct err *e)
{
	if (prepare_request(f, url, out, e) < 0)
		return -1;
	libcurl.curl_easy_setopt(f->curl, CURLOPT_ACCEPT_ENCODING, ""); // every coding that libcurl can decompress
	return perform_request(f, url, headers, NULL, out, e);
}

struct form_file {
	int fd;
	curl_off_t at, size;
};

static size_t read_form_file(char *out, size_t one, size_t count, void *ctx)
{
	struct form_file *r = ctx;
	size_t want = one * count;
	if ((curl_off_t)want > r->size - r->at)
		want = (size_t)(r->size - r->at);
	ssize_t n = pread(r->fd, out, want, (off_t)r->at);
	if (n < 0 || (n == 0 && want))
		return CURL_READFUNC_ABORT; // an error, or the file is shorter than before
	r->at += n;
	return (size_t)n;
}

// If a connection that was kept open is lost, libcurl rewinds the body and sends the request again. This refuses to
// rewind: the server may have processed the first request, and the caller must find out.
static int seek_form_file(void *ctx, curl_off_t offset, int origin)
{
	const struct form_file *r = ctx;
	return origin == SEEK_SET && offset == r->at ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL;
}

static void free_mime(curl_mime **mime)
{
	libcurl.curl_mime_free(*mime);
}

static bool add_part(curl_mime *mime, const char *name, const char *value)
{
	curl_mimepart *part = libcurl.curl_mime_addpart(mime);
	return part && libcurl.curl_mime_name(part, name) == CURLE_OK &&
	       libcurl.curl_mime_data(part, value, CURL_ZERO_TERMINATED) == CURLE_OK;
}

static bool fill_form(curl_mime *mime, const struct fetch_form *form, struct form_file *r)
{
	for (size_t i = 0; i < form->count; i++)
		if (!add_part(mime, form->field[i].name, form->field[i].value))
			return false;
	curl_mimepart *part = libcurl.curl_mime_addpart(mime);
	return part && libcurl.curl_mime_name(part, form->file_field) == CURLE_OK &&
	       libcurl.curl_mime_filename(part, form->file_name) == CURLE_OK &&
	       libcurl.curl_mime_type(part, "application/octet-stream") == CURLE_OK &&
	       libcurl.curl_mime_data_cb(part, r->size, read_form_file, seek_form_file, NULL, r) == CURLE_OK;
}

int fetch_post(struct fetch *f, const char *url, const char *const *headers, const struct fetch_form *form,
	struct fetch_answer *out, struct err *e)
{
	if (prepare_request(f, url, out, e) < 0)
		return -1;
	struct form_file r = {.fd = form->fd, .size = (curl_off_t)form->size};
	CLEANUP(free_mime) curl_mime *mime = libcurl.curl_mime_init(f->curl);
	if (!mime || !fill_form(mime, form, &r))
		abort(); // out of memory
	return perform_request(f, url, headers, mime, out, e);
}

int fetch_post_body(struct fetch *f, const char *url, const char *const *headers, struct str body,
	struct fetch_answer *out, struct err *e)
{
	if (prepare_request(f, url, out, e) < 0)
		return -1;
	libcurl.curl_easy_setopt(f->curl, CURLOPT_POSTFIELDS, body.len ? body.ptr : "");
	libcurl.curl_easy_setopt(f->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
	return perform_request(f, url, headers, NULL, out, e);
}

// --- a request of any method ---

struct call_in_progress {
	const struct fetch_call *call;
	struct fetch_answer *answer;
	uint64_t sent;
};

static size_t read_call_body(char *out, size_t one, size_t count, void *ctx)
{
	struct err ignored = ERR_INIT;
	struct call_in_progress *now = ctx;
	const struct fetch_call *call = now->call;
	uint64_t left = call->size - now->sent;
	size_t len = one * count < left ? one * count : (size_t)left;
	if (len && byte_source_read(call->body, call->offset + now->sent, out, len, &ignored) < 0)
		return CURL_READFUNC_ABORT;
	now->sent += len;
	return len;
}

static int seek_call_body(void *ctx, curl_off_t offset, int origin)
{
	struct call_in_progress *now = ctx;
	if (origin != SEEK_SET || offset < 0 || (uint64_t)offset > now->call->size)
		return CURL_SEEKFUNC_FAIL;
	now->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

static size_t take_call_body(char *bytes, size_t one, size_t len, void *ctx)
{
	const unsigned refusals = 300;
	struct call_in_progress *now = ctx;
	if (!now->call->on_body || now->answer->status >= refusals)
		return add_body(bytes, one, len, now->answer);
	return now->call->on_body(now->call->ctx, (struct str){bytes, one * len}) ? one * len : 0;
}

static bool set_call(CURL *c, struct call_in_progress *now)
{
	const struct fetch_call *call = now->call;
	bool is_head = strcmp(call->method, "HEAD") == 0;
	bool ok = libcurl.curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, call->method) == CURLE_OK;
	if (call->body || call->method[0] == 'P') {
		libcurl.curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
		libcurl.curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)call->size);
		// libcurl asks first whether the body is wanted, which is worth a wait only of a large one.
		libcurl.curl_easy_setopt(c, CURLOPT_EXPECT_100_TIMEOUT_MS, call->size < ASKED_FROM ? 1L : 1000L);
		libcurl.curl_easy_setopt(c, CURLOPT_READFUNCTION, read_call_body);
		libcurl.curl_easy_setopt(c, CURLOPT_READDATA, now);
		libcurl.curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, seek_call_body);
		libcurl.curl_easy_setopt(c, CURLOPT_SEEKDATA, now);
	}
	libcurl.curl_easy_setopt(c, CURLOPT_NOBODY, is_head ? 1L : 0L);
	libcurl.curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take_call_body);
	libcurl.curl_easy_setopt(c, CURLOPT_WRITEDATA, now);
	libcurl.curl_easy_setopt(c, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
	libcurl.curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)call->total_ms);
	libcurl.curl_easy_setopt(c, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	return ok;
}

int fetch_call(struct fetch *f, const struct fetch_call *call, struct fetch_answer *out, struct err *e)
{
	struct call_in_progress now = {call, out, 0};
	if (prepare_request(f, call->url, out, e) < 0)
		return -1;
	if (!set_call(f->curl, &now))
		abort(); // out of memory
	return perform_request(f, call->url, call->headers, NULL, out, e);
}

// --- URLs ---

void fetch_url_release(struct fetch_url *u)
{
	char **parts[] = {&u->text, &u->scheme, &u->host, &u->port, &u->user, &u->password};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		free(*parts[i]);
		*parts[i] = NULL;
	}
}

bool fetch_url_same_origin(const struct fetch_url *a, const struct fetch_url *b)
{
	return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}

static void free_url(CURLU **u)
{
	libcurl.curl_url_cleanup(*u);
}

// NULL if the URL has no such part.
static char *copy_part(CURLU *u, CURLUPart part, unsigned flags)
{
	char *text = NULL;
	char *copy = libcurl.curl_url_get(u, part, &text, flags) == CURLUE_OK ? xstrdup(text) : NULL;
	for (char *at = copy; part == CURLUPART_HOST && at && *at; at++)
		*at = ascii_lower(*at);
	libcurl.curl_free(text);
	return copy;
}

int fetch_url_parse(const char *text, struct fetch_url *out, struct err *e)
{
	*out = (struct fetch_url){0};
	if (library_load(&curl_library, e) < 0)
		return -1;
	CLEANUP(free_url) CURLU *u = libcurl.curl_url();
	if (!u)
		abort(); // out of memory
	if (!has_scheme(text) || libcurl.curl_url_set(u, CURLUPART_URL, text, 0) != CURLUE_OK)
		return err_set(e, ERR_USAGE, "not an http: or https: URL");
	out->user = copy_part(u, CURLUPART_USER, CURLU_URLDECODE);
	out->password = copy_part(u, CURLUPART_PASSWORD, CURLU_URLDECODE);
	out->scheme = copy_part(u, CURLUPART_SCHEME, 0);
	out->host = copy_part(u, CURLUPART_HOST, 0);
	out->port = copy_part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	libcurl.curl_url_set(u, CURLUPART_USER, NULL, 0);
	libcurl.curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
	libcurl.curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
	out->text = copy_part(u, CURLUPART_URL, 0);
	if (out->scheme && out->host && out->port && out->text && strspn(out->port, "0") < strlen(out->port))
		return 0;
	fetch_url_release(out);
	return err_set(e, ERR_USAGE, "not a URL");
}

// --- requests at the same time ---

struct transfer_set {
	CURLM *multi;
};

struct transfer {
	struct transfer_set *set;
	struct transfer_spec spec;
	CURL *curl;
	struct curl_slist *headers;
	bool is_forbidden; // it met an address that is not allowed
	char why[CURL_ERROR_SIZE];
};

struct transfer_set *transfer_set_new(unsigned concurrency)
{
	need_library();
	struct transfer_set *s = xcalloc(1, sizeof(*s));
	s->multi = libcurl.curl_multi_init();
	if (!s->multi)
		abort(); // out of memory
	libcurl.curl_multi_setopt(s->multi, CURLMOPT_MAXCONNECTS, (long)concurrency);
	return s;
}

void transfer_set_free(struct transfer_set *s)
{
	libcurl.curl_multi_cleanup(s->multi);
	free(s);
}

void transfer_set_wake(struct transfer_set *s)
{
	libcurl.curl_multi_wakeup(s->multi);
}

void transfer_set_poll(struct transfer_set *s, int wait_ms)
{
	int left;
	libcurl.curl_multi_poll(s->multi, NULL, 0, wait_ms, NULL);
	libcurl.curl_multi_perform(s->multi, &left);
}

static size_t pass_body(char *bytes, size_t one, size_t len, void *ctx)
{
	struct transfer *t = ctx;
	return t->spec.on_body(t->spec.ctx, (struct str){bytes, one * len}) == FETCH_GO_ON ? one * len : 0;
}

// CLOEXEC, so that the operator's commands (lib/os/hook.h) do not inherit the socket.
static curl_socket_t open_socket(void *ctx, curlsocktype purpose UNUSED, struct curl_sockaddr *address)
{
	struct transfer *t = ctx;
	if (!t->spec.no_private || address_is_public(&address->addr))
		return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	t->is_forbidden = true;
	return CURL_SOCKET_BAD;
}

// libcurl may reuse a connection that another request, with other rules, has opened.
#if LIBCURL_VERSION_NUM >= 0x075000
static int check_connection(void *ctx, char *ip, char *own_ip UNUSED, int port UNUSED, int own_port UNUSED)
{
	struct transfer *t = ctx;
	t->is_forbidden = !address_text_is_public(ip);
	return t->is_forbidden ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}
#endif

static void forbid_private(struct transfer *t)
{
#if LIBCURL_VERSION_NUM >= 0x075000
	libcurl.curl_easy_setopt(t->curl, CURLOPT_PREREQFUNCTION, check_connection);
	libcurl.curl_easy_setopt(t->curl, CURLOPT_PREREQDATA, t);
#else
	libcurl.curl_easy_setopt(t->curl, CURLOPT_FRESH_CONNECT, 1L);
#endif
}

static bool set_transfer(struct transfer *t)
{
	const struct transfer_spec *s = &t->spec;
	CURL *c = t->curl;
	bool ok = set_common(c, s->options, s->url, t->why, s->answer);
	libcurl.curl_easy_setopt(c, CURLOPT_PRIVATE, t);
	libcurl.curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	libcurl.curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, t);
	libcurl.curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, pass_body);
	libcurl.curl_easy_setopt(c, CURLOPT_WRITEDATA, t);
	libcurl.curl_easy_setopt(c, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
	libcurl.curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, (long)s->total_ms);
	libcurl.curl_easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	// Waits whether the first connection to a host is HTTP/2, which carries several requests, before it opens
	// another one.
	libcurl.curl_easy_setopt(c, CURLOPT_PIPEWAIT, strncmp(s->url, "https:", 6) == 0 ? 1L : 0L);
	if (!s->is_raw)
		libcurl.curl_easy_setopt(c, CURLOPT_ACCEPT_ENCODING, "");
	if (t->headers)
		libcurl.curl_easy_setopt(c, CURLOPT_HTTPHEADER, t->headers);
	if (s->no_private)
		forbid_private(t);
	if (s->password)
		return ok && set_password(c, s->user, s->password);
	return ok && (s->no_netrc || set_netrc(c, s->options->netrc));
}

static enum fetch_failure failure_of(const struct transfer *t, CURLcode code)
{
	static const struct {
		CURLcode code;
		enum fetch_failure failure;
	} table[] = {
		{CURLE_OK, FETCH_WHOLE},
		{CURLE_COULDNT_CONNECT, FETCH_REFUSED},
		{CURLE_GOT_NOTHING, FETCH_REFUSED},
		{CURLE_COULDNT_RESOLVE_HOST, FETCH_RESOLVE},
		{CURLE_COULDNT_RESOLVE_PROXY, FETCH_RESOLVE},
		{CURLE_OPERATION_TIMEDOUT, FETCH_TIMEOUT},
		{CURLE_SSL_CONNECT_ERROR, FETCH_TLS},
		{CURLE_PEER_FAILED_VERIFICATION, FETCH_TLS},
		{CURLE_SSL_CACERT_BADFILE, FETCH_TLS},
		{CURLE_SSL_CIPHER, FETCH_TLS},
		{CURLE_SSL_ISSUER_ERROR, FETCH_TLS},
		{CURLE_PARTIAL_FILE, FETCH_TRUNCATED},
		{CURLE_BAD_CONTENT_ENCODING, FETCH_TRUNCATED},
	};
	if (t->is_forbidden && code != CURLE_OK)
		return FETCH_FORBIDDEN;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].code == code)
			return table[i].failure;
	bool lost_connection = code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_HTTP2 ||
			       code == CURLE_HTTP2_STREAM;
	if (!lost_connection)
		return FETCH_OTHER;
	return t->spec.answer->status ? FETCH_TRUNCATED : FETCH_REFUSED;
}

void *transfer_set_next_completed(struct transfer_set *s, enum fetch_failure *failure, const char **why)
{
	int left;
	CURLMsg *m = libcurl.curl_multi_info_read(s->multi, &left);
	if (!m)
		return NULL;
	void *ctx = NULL;
	libcurl.curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&ctx);
	struct transfer *t = ctx;
	*failure = failure_of(t, m->data.result);
	*why = t->why[0] || m->data.result == CURLE_OK ? t->why : libcurl.curl_easy_strerror(m->data.result);
	note_retry_after(t->curl, t->spec.answer);
	return t->spec.ctx;
}

struct transfer *transfer_begin(struct transfer_set *s, const struct transfer_spec *spec)
{
	struct transfer *t = xcalloc(1, sizeof(*t));
	t->set = s;
	t->spec = *spec;
	t->headers = make_list(spec->headers);
	t->curl = libcurl.curl_easy_init();
	if (!t->curl)
		abort(); // out of memory
	if (set_transfer(t) && libcurl.curl_multi_add_handle(s->multi, t->curl) == CURLM_OK)
		return t;
	transfer_end(t);
	return NULL;
}

void transfer_end(struct transfer *t)
{
	if (!t)
		return;
	libcurl.curl_multi_remove_handle(t->set->multi, t->curl);
	libcurl.curl_easy_cleanup(t->curl);
	libcurl.curl_slist_free_all(t->headers);
	free(t);
}
