// SPDX-License-Identifier: Apache-2.0
// Compares url_resolve() with libcurl's URL API: each line of the input is a reference, which both resolve against each
// base. Prints how many results are the same, how many differ in which way, and the time a pair takes.
#include <curl/curl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/net/url.h"

enum outcome { SAME, CURL_REFUSES, OURS_REFUSES, HEX_CASE, NO_PATH, DIFFERENT, OUTCOMES };

static const char *const outcome_name[OUTCOMES] = {
	[SAME] = "same",
	[CURL_REFUSES] = "only libcurl refuses",
	[OURS_REFUSES] = "only ours refuses",
	[HEX_CASE] = "only the case of letters differs",
	[NO_PATH] = "reference without a path, other result",
	[DIFFERENT] = "other result",
};

static const char *const bases[] = {
	"https://h/root/simple/foo/",
	"http://h:8443/simple/foo",
	"https://me:secret@h:8443/a/../b/./simple/foo/?q",
	"http://h",
	"http://a/b/c/d;p?q",
	"https://[::1]:8443/simple/foo/",
	"https://Files.Example/simple/foo/index.html",
};

static bool is_http(CURLU *u)
{
	char *scheme = NULL;
	bool is = curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
		  (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
	curl_free(scheme);
	return is;
}

// What url_resolve() does, by libcurl. The caller frees the result with curl_free(); NULL: refused.
static char *resolve_by_curl(const char *base, const char *reference)
{
	char *out = NULL;
	CURLU *u = curl_url();
	if (curl_url_set(u, CURLUPART_URL, base, 0) == CURLUE_OK &&
		curl_url_set(u, CURLUPART_URL, reference, CURLU_URLENCODE) == CURLUE_OK && is_http(u)) {
		curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
		curl_url_set(u, CURLUPART_USER, NULL, 0);
		curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
		curl_url_get(u, CURLUPART_URL, &out, 0);
	}
	curl_url_cleanup(u);
	return out;
}

static enum outcome compare(const char *reference, const char *ours, const char *theirs)
{
	if (!ours || !theirs)
		return ours ? CURL_REFUSES : theirs ? OURS_REFUSES : SAME;
	if (strcmp(ours, theirs) == 0)
		return SAME;
	if (strcasecmp(ours, theirs) == 0)
		return HEX_CASE;
	return strchr("#?", reference[0]) ? NO_PATH : DIFFERENT;
}

static double seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct totals {
	uint64_t count[OUTCOMES];
	double ours, theirs; // seconds
	bool is_shown[OUTCOMES];
};

static void resolve_pair(struct totals *all, const char *base, struct str reference)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, 1 << 20);
	double begin = seconds();
	const char *ours = url_resolve(str_from(base), reference, &out) ? out.data : NULL;
	double middle = seconds();
	char *theirs = resolve_by_curl(base, reference.ptr);
	all->ours += middle - begin;
	all->theirs += seconds() - middle;
	enum outcome outcome = compare(reference.ptr, ours, theirs);
	all->count[outcome]++;
	if (outcome != SAME && !all->is_shown[outcome])
		printf("example: %s: %s at %s: ours %s, libcurl %s\n", outcome_name[outcome], reference.ptr, base,
			ours ? ours : "-", theirs ? theirs : "-");
	all->is_shown[outcome] = true;
	curl_free(theirs);
}

int main(void)
{
	struct totals all = {0};
	uint64_t pairs = 0;
	char *line = NULL;
	size_t room = 0;
	for (ssize_t len; (len = getline(&line, &room, stdin)) > 0;) {
		line[--len] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(bases); i++, pairs++)
			resolve_pair(&all, bases[i], (struct str){line, (size_t)len});
	}
	free(line);
	for (int i = 0; i < OUTCOMES; i++)
		printf("%9" PRIu64 " %s\n", all.count[i], outcome_name[i]);
	if (pairs)
		printf("%.0f ns a pair of ours, %.0f of libcurl %s\n", all.ours / (double)pairs * 1e9,
			all.theirs / (double)pairs * 1e9, curl_version_info(CURLVERSION_NOW)->version);
	return 0;
}
