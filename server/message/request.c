// SPDX-License-Identifier: Apache-2.0
#include "server/message/request.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/charclass.h"
#include "lib/base/decimal.h"
#include "lib/base/mem.h"
#include "lib/format/digest.h"
#include "lib/net/address.h"

static const struct {
	struct str name;
	bool is_list;
} headers[HEADER_COUNT] = {
	[HEADER_ACCEPT] = {STR("Accept"), true},
	[HEADER_ACCEPT_ENCODING] = {STR("Accept-Encoding"), true},
	[HEADER_AUTHORIZATION] = {STR("Authorization"), false},
	[HEADER_CONTENT_LENGTH] = {STR("Content-Length"), false},
	[HEADER_CONTENT_TYPE] = {STR("Content-Type"), false},
	[HEADER_HOST] = {STR("Host"), false},
	[HEADER_IF_NONE_MATCH] = {STR("If-None-Match"), true},
	[HEADER_IF_RANGE] = {STR("If-Range"), false},
	[HEADER_ORIGIN] = {STR("Origin"), false},
	[HEADER_RANGE] = {STR("Range"), false},
	[HEADER_USER_AGENT] = {STR("User-Agent"), false},
	[HEADER_FORWARDED_FOR] = {STR("X-Forwarded-For"), true},
	[HEADER_FORWARDED_PREFIX] = {STR("X-Forwarded-Prefix"), false},
	[HEADER_FORWARDED_PROTO] = {STR("X-Forwarded-Proto"), false},
};

static const struct str argument_names[ARGUMENT_COUNT] = {
	[ARGUMENT_PLATFORM] = STR("platform"),
	[ARGUMENT_VERDICT] = STR("verdict"),
	[ARGUMENT_TEXT] = STR("q"),
	[ARGUMENT_PAGE] = STR("page"),
	[ARGUMENT_PROJECT] = STR("project"),
	[ARGUMENT_RESULT] = STR("result"),
	[ARGUMENT_LIMIT] = STR("limit"),
	[ARGUMENT_PYTHON] = STR("python"),
	[ARGUMENT_ALL] = STR("all"),
	[ARGUMENT_PLAN] = STR("plan"),
	[ARGUMENT_UPSTREAM] = STR("upstream"),
	[ARGUMENT_BY] = STR("by"),
	[ARGUMENT_SINCE] = STR("since"),
	[ARGUMENT_SIGN_IN] = STR("sign-in"),
	[ARGUMENT_CHOSEN] = STR("x"),
	[ARGUMENT_VIEW] = STR("view"),
	[ARGUMENT_VERSION] = STR("version"),
	[ARGUMENT_PLATFORMS] = STR("platforms"),
	[ARGUMENT_PROJECTS] = STR("projects"),
	[ARGUMENT_STATE] = STR("state"),
	[ARGUMENT_AFTER] = STR("after"),
};

enum method request_method(const char *name)
{
	static const struct {
		const char *name;
		enum method method;
	} methods[] = {{"GET", METHOD_GET}, {"HEAD", METHOD_HEAD}, {"POST", METHOD_POST}};
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (strcmp(name, methods[i].name) == 0)
			return methods[i].method;
	return METHOD_OTHER;
}

void request_release(struct request *r)
{
	for (int i = 0; r->joined && i < HEADER_COUNT; i++)
		buf_release(&r->joined[i]);
	free(r->joined);
	r->joined = NULL;
	if (r->chosen)
		buf_release(r->chosen);
	free(r->chosen);
	r->chosen = NULL;
}

void request_take_header(struct request *r, struct str name, const char *value)
{
	for (int i = 0; i < HEADER_COUNT; i++) {
		if (!str_eq_nocase(headers[i].name, name))
			continue;
		if (!r->header[i])
			r->header[i] = value;
		else if (headers[i].is_list && value) {
			if (!r->joined)
				r->joined = xcalloc(HEADER_COUNT, sizeof(*r->joined));
			struct buf *list = &r->joined[i];
			if (!list->cap) {
				buf_init(list, LIMIT_REQUEST_HEADER);
				buf_puts(list, r->header[i]);
			}
			buf_puts(list, ", ");
			buf_puts(list, value);
			r->header[i] = list->data;
		}
	}
}

void request_forget_forwarded(struct request *r)
{
	for (int i = HEADER_FORWARDED_FOR; i <= HEADER_FORWARDED_PROTO; i++)
		r->header[i] = NULL;
}

uint64_t request_content_length(const struct request *r)
{
	uint64_t length = 0;
	struct str digits = str_from(r->header[HEADER_CONTENT_LENGTH] ? r->header[HEADER_CONTENT_LENGTH] : "");
	decimal_cut(&digits, UINT64_MAX, &length);
	return length;
}

void request_take_argument(struct request *r, struct str name, const char *value)
{
	if (str_eq(name, STR("format")) && !r->format)
		r->format = value ? value : "";
	for (int i = 0; i < ARGUMENT_COUNT; i++)
		if (str_eq(argument_names[i], name) && !r->argument[i])
			r->argument[i] = value ? value : "";
		else if (i == ARGUMENT_CHOSEN && str_eq(argument_names[i], name) && value) {
			if (!r->chosen) {
				r->chosen = xcalloc(1, sizeof(*r->chosen));
				buf_init(r->chosen, LIMIT_REQUEST_HEADER);
				buf_puts(r->chosen, r->argument[ARGUMENT_CHOSEN]);
			}
			buf_putc(r->chosen, ',');
			buf_puts(r->chosen, value);
			r->argument[ARGUMENT_CHOSEN] = r->chosen->data;
		}
}

bool request_read_argument(const struct request *r, enum request_argument which, char out[REQUEST_ARGUMENT_SIZE])
{
	CLEANUP(mem_free) char *raw = xstrdup(r->argument[which] ? r->argument[which] : "");
	for (char *at = raw; *at; at++)
		*at = *at == '+' ? ' ' : *at;
	out[0] = '\0';
	return strlen(raw) < REQUEST_ARGUMENT_SIZE && urlpath_decode(str_from(raw), out, REQUEST_ARGUMENT_SIZE);
}

// --- paths ---

// Decodes s to out, which has room for s.len bytes. Returns the length, or -1.
static long decode_percent(struct str s, char *out)
{
	size_t len = charclass_run(s, CHARCLASS_UNRESERVED);
	if (len)
		memcpy(out, s.ptr, len);
	for (size_t i = len; i < s.len; i++) {
		uint8_t byte = (uint8_t)s.ptr[i];
		if (s.ptr[i] == '%') {
			if (s.len - i < 3 || !hex_decode(str_slice(s, i + 1, i + 3), &byte, 1))
				return -1;
			i += 2;
		}
		if (byte < 0x20 || byte == 0x7f)
			return -1;
		out[len++] = (char)byte;
	}
	return (long)len;
}

bool urlpath_decode(struct str raw, char *out, size_t room)
{
	if (raw.len >= room)
		return false;
	long len = decode_percent(raw, out);
	out[len < 0 ? 0 : len] = '\0';
	return len >= 0;
}

static enum urlpath_result check_segment(struct str s)
{
	if (!str_is_utf8(s))
		return URLPATH_MALFORMED;
	if (!s.len || s.len > LIMIT_SEGMENT || str_eq(s, STR(".")) || str_eq(s, STR("..")))
		return URLPATH_UNKNOWN;
	return str_find(s, '/') >= 0 || str_find(s, '\\') >= 0 ? URLPATH_UNKNOWN : URLPATH_GOOD;
}

enum urlpath_result urlpath_parse(struct str raw, struct urlpath *out)
{
	char *at = out->bytes;
	out->count = 0;
	out->has_trailing_slash = false;
	if (raw.len > LIMIT_PATH)
		return URLPATH_UNKNOWN;
	if (!raw.len || raw.ptr[0] != '/')
		return URLPATH_MALFORMED;
	for (struct str rest = str_slice(raw, 1, raw.len); rest.ptr;) {
		struct str part = str_cut(&rest, '/');
		if (!part.len && !rest.ptr) {
			out->has_trailing_slash = true;
			return URLPATH_GOOD;
		}
		long len = decode_percent(part, at);
		if (len < 0)
			return URLPATH_MALFORMED;
		struct str segment = {at, (size_t)len};
		enum urlpath_result result = check_segment(segment);
		if (result != URLPATH_GOOD)
			return result;
		if (out->count == URLPATH_SEGMENTS)
			return URLPATH_UNKNOWN;
		out->segment[out->count++] = segment;
		at += len;
		*at++ = '\0';
	}
	return URLPATH_GOOD;
}

// --- checks of a header ---

enum { LINE_END = 2 };

// Refuses a blank before the colon as well, which would hide a length from this server.
static bool is_token(struct str s)
{
	return s.len > 0 && charclass_run(s, CHARCLASS_TOKEN) == s.len;
}

static void check_place(struct request_check *s, struct str piece, size_t gap)
{
	if (!s->next)
		return;
	s->is_malformed |= piece.ptr != s->next;
	s->next = piece.ptr + piece.len + gap;
}

// RFC 9112 section 2.2: another parser may end a line at a CR without LF.
void request_check_piece(struct request_check *s, struct str piece, size_t gap)
{
	s->is_malformed |= str_find(piece, '\r') >= 0;
	check_place(s, piece, gap);
}

static void note_length(struct request_check *s, struct str value)
{
	uint64_t ignored;
	s->lengths++;
	s->has_body |= !str_eq(value, STR("0"));
	s->is_odd_length |= !decimal_cut(&value, UINT64_MAX, &ignored) || value.len;
}

static void note_coding(struct request_check *s, struct str value)
{
	s->codings++;
	s->has_body = true;
	s->is_odd_length |= !str_eq_nocase(value, STR("chunked"));
}

static void note_expect(struct request_check *s, struct str value)
{
	s->expects++;
	s->has_body = true;
	s->is_odd_expect |= !str_eq_nocase(value, STR("100-continue"));
}

void request_check_header(struct request_check *s, struct str name, struct str value)
{
	static const struct {
		struct str name;
		void (*note)(struct request_check *s, struct str value);
	} noted[] = {
		{STR("Content-Length"), note_length},
		{STR("Transfer-Encoding"), note_coding},
		{STR("Expect"), note_expect},
	};
	// Between name and value are the colon and blanks.
	check_place(s, name, 1);
	while (s->next && !s->is_malformed && (*s->next == ' ' || *s->next == '\t'))
		s->next++;
	request_check_piece(s, value, LINE_END);
	s->is_malformed |= !is_token(name);
	s->hosts += str_eq_nocase(name, STR("Host"));
	for (size_t i = 0; i < ARRAY_SIZE(noted); i++)
		if (str_eq_nocase(name, noted[i].name))
			noted[i].note(s, value);
}

static const char *find_unclear_length(const struct request_check *s, struct str version)
{
	if (s->lengths + s->codings == 0)
		return "a POST without Content-Length";
	if (s->lengths + s->codings > 1)
		return "more than one length";
	if (s->is_odd_length)
		return s->lengths ? "Content-Length is no number" : "Transfer-Encoding is not chunked";
	if (s->codings && str_eq(version, STR("HTTP/1.0")))
		return "Transfer-Encoding in HTTP/1.0";
	return NULL;
}

struct reply *request_check_refuse(const struct request_check *s, enum method m, struct str version)
{
	if (s->is_malformed || s->hosts > 1)
		return reply_text(400, "400 Bad Request: malformed header");
	if (s->has_body && (m == METHOD_GET || m == METHOD_HEAD))
		return reply_text(400, "400 Bad Request: %s with a body", m == METHOD_GET ? "GET" : "HEAD");
	if (m != METHOD_POST)
		return NULL;
	const char *why = find_unclear_length(s, version);
	if (why && s->lengths + s->codings == 0)
		return reply_text(411, "411 Length Required: %s", why);
	if (why)
		return reply_text(400, "400 Bad Request: %s", why);
	if (s->is_odd_expect || s->expects > 1)
		return reply_text(417, "417 Expectation Failed: only 100-continue is supported");
	return NULL;
}

// --- trusted proxies ---

enum { PREFIX_BYTES = 255 };

struct trusted_proxies {
	struct address_network *network;
	size_t count;
};

struct trusted_proxies *trusted_proxies_new(const char *text)
{
	struct trusted_proxies *t = xcalloc(1, sizeof(*t));
	for (struct str rest = str_trim(str_from(text ? text : "")); rest.len; rest = str_trim(rest)) {
		t->network = xreallocarray(t->network, t->count + 1, sizeof(*t->network));
		t->count += address_read_network(str_cut(&rest, ' '), &t->network[t->count]);
	}
	return t;
}

void trusted_proxies_free(struct trusted_proxies *t)
{
	if (t)
		free(t->network);
	free(t);
}

static bool has_address(const struct trusted_proxies *t, const uint8_t address[ADDRESS_SIZE])
{
	for (size_t i = 0; i < t->count; i++)
		if (address_is_in(address, &t->network[i]))
			return true;
	return false;
}

bool trusted_proxies_has(const struct trusted_proxies *t, const char *peer)
{
	uint8_t address[ADDRESS_SIZE];
	return strcmp(peer, "unix") == 0 || (t && t->count && address_read(str_from(peer), address) && has_address(t, address));
}

// "1.2.3.4", "1.2.3.4:5678", "::1", "[::1]" or "[::1]:5678", without brackets and port.
static struct str cut_port(struct str entry)
{
	if (str_starts(entry, STR("["))) {
		long end = str_find(entry, ']');
		return str_slice(entry, 1, end < 0 ? entry.len : (size_t)end);
	}
	long colon = str_find(entry, ':');
	return colon >= 0 && colon == str_rfind(entry, ':') ? str_slice(entry, 0, (size_t)colon) : entry;
}

void trusted_proxies_client(const struct trusted_proxies *t, const char *peer, const char *forwarded_for,
	char out[REQUEST_PEER])
{
	struct str rest = str_from(forwarded_for ? forwarded_for : "");
	bool is_proxy = true;
	snprintf(out, REQUEST_PEER, "%s", peer);
	while (is_proxy && rest.len) {
		uint8_t address[ADDRESS_SIZE];
		long comma = str_rfind(rest, ',');
		struct str entry = str_trim(str_slice(rest, (size_t)(comma + 1), rest.len));
		rest = str_slice(rest, 0, comma < 0 ? 0 : (size_t)comma);
		if (!address_read(cut_port(entry), address))
			return;
		bool is_v4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)address);
		inet_ntop(is_v4 ? AF_INET : AF_INET6, is_v4 ? address + ADDRESS_SIZE - sizeof(struct in_addr) : address,
			out, REQUEST_PEER);
		is_proxy = t && has_address(t, address);
	}
}

struct str trusted_proxies_prefix(const char *value)
{
	struct str path = str_trim(str_from(value ? value : ""));
	while (str_ends(path, STR("/")))
		path.len--;
	if (!str_starts(path, STR("/")) || path.len > PREFIX_BYTES)
		return STR("");
	for (size_t i = 0; i < path.len; i++)
		if ((!ascii_is_alnum(path.ptr[i]) && !strchr("/-._~", path.ptr[i])) ||
			(i && strchr("/.", path.ptr[i]) && path.ptr[i - 1] == '/'))
			return STR("");
	return path;
}
