// SPDX-License-Identifier: Apache-2.0
#include "uploader/upload-url.h"

#include <stdlib.h>

#include "lib/base/str.h"
#include "lib/domain/machine/platform.h"
#include "lib/net/fetch.h"
#include "lib/net/url.h"

// The authority of a URL, between "//" and the path.
static struct str host_of(struct str url)
{
	str_cut(&url, '/');
	str_cut(&url, '/');
	return str_cut(&url, '/');
}

static struct str cut_last_segment(struct str *path)
{
	long at = str_rfind(*path, '/');
	struct str last = str_slice(*path, (size_t)(at + 1), path->len);
	*path = str_slice(*path, 0, at < 0 ? 0 : (size_t)at);
	return last;
}

int upload_url_init(struct upload_url *u, const char *url, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url read = {0};
	struct str rest = str_from(url);
	*u = (struct upload_url){0};
	if (!str_starts(rest, STR("http://")) && !str_starts(rest, STR("https://")))
		return err_set(e, ERR_USAGE,
			"the URL begins with neither http:// nor https://"); // it may hold a password
	if (str_find(host_of(rest), '@') >= 0)
		return err_set(e, ERR_USAGE,
			"the URL contains a user name, which every user of this machine can read: use "
			"WHEELCACHE_TOKEN or a netrc file");
	if (fetch_url_parse(url, &read, e) < 0)
		return err_prefix(e, "%s: ", url);
	if (str_ends(rest, STR("/")))
		rest = str_slice(rest, 0, rest.len - 1);
	struct str platform = cut_last_segment(&rest), upload = cut_last_segment(&rest);
	if (!str_eq(upload, STR("upload")) || !platform_name_is_valid(platform) || !host_of(rest).len)
		return err_set(e, ERR_USAGE, "%s is no upload URL: it is https://HOST/upload/PLATFORM/", url);
	u->platform = xstrndup(platform.ptr, platform.len);
	u->upload = xasprintf(STR_FMT "/upload/%s/", STR_ARG(rest), u->platform);
	u->simple = xasprintf(STR_FMT "/%s/simple/", STR_ARG(rest), u->platform);
	return 0;
}

void upload_url_release(struct upload_url *u)
{
	free(u->upload);
	free(u->simple);
	free(u->platform);
	*u = (struct upload_url){0};
}

char *upload_url_page(const struct upload_url *u, const char *project)
{
	return xasprintf("%s%s/?upstream=no", u->simple, project);
}

char *upload_url_route(const char *url, const char *option, const char *route, struct err *e)
{
	CLEANUP(fetch_url_release) struct fetch_url parts = {0};
	if (fetch_url_parse(url, &parts, e) < 0) {
		err_prefix(e, "%s: ", option);
		return NULL;
	}
	CLEANUP(mem_free) char *base = parts.user || parts.password ? NULL : url_base(str_from(url));
	if (!base) {
		err_set(e, ERR_USAGE, "%s: not the base URL of a server; a token is in WHEELCACHE_TOKEN or in netrc",
			option);
		return NULL;
	}
	return str_ends(str_from(base), str_from(route)) ? STEAL_PTR(base) : xasprintf("%s%s", base, route);
}
