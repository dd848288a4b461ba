// SPDX-License-Identifier: Apache-2.0
// The style and the script that the pages for people share. A page names them with their version, so clients keep them
// for as long as they like and a new program's pages load new ones. Any thread; the versions are made once.
#pragma once

enum html_asset_name { HTML_STYLE, HTML_SCRIPT, HTML_ASSET_COUNT };

struct html_asset {
	const char *path; // from "/": "-/style.css"
	const char *type; // Content-Type
	const char *text;
};

extern const struct html_asset html_asset[HTML_ASSET_COUNT];

enum { HTML_ASSET_VERSION = 17 }; // bytes, with the NUL
// 16 digits that change with the text.
const char *html_asset_version(enum html_asset_name which);
