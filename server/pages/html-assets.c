// SPDX-License-Identifier: Apache-2.0
#include "server/pages/html-assets.h"

#include <pthread.h>

#include "lib/format/digest.h"
#include "server/pages/html-script.h"
#include "server/pages/html-style.h"

const struct html_asset html_asset[HTML_ASSET_COUNT] = {
	[HTML_STYLE] = {"-/style.css", "text/css; charset=utf-8", style_text},
	[HTML_SCRIPT] = {"-/page.js", "text/javascript; charset=utf-8", script_text},
};

static char asset_version[HTML_ASSET_COUNT][HTML_ASSET_VERSION];

static void make_versions(void)
{
	for (int i = 0; i < HTML_ASSET_COUNT; i++) {
		uint8_t digest[SHA256_SIZE];
		digest_sha256(str_from(html_asset[i].text), digest);
		hex_encode(digest, HTML_ASSET_VERSION / 2, asset_version[i]);
	}
}

const char *html_asset_version(enum html_asset_name which)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_versions);
	return asset_version[which];
}
