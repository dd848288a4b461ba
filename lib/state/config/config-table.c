// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/config-option.h"

#include <string.h>

#include "lib/domain/machine/platform.h"
#include "lib/state/config/config.h"

static bool set_name(void *field, const char *value)
{
	return platform_name_is_valid(str_from(value)) && config_type_string.set(field, value);
}

static bool add_name(struct config_view *v, struct str name)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (str_eq(name, str_from(v->platforms[i])))
			return false;
	v->platforms = xreallocarray(v->platforms, v->platform_count + 1, sizeof(*v->platforms));
	v->platforms[v->platform_count++] = xstrndup(name.ptr, name.len);
	return platform_name_is_valid(name);
}

// Called for each line of a value, so it adds to the names of the lines before.
static bool set_names(void *field, const char *value)
{
	struct str rest = str_trim(str_from(value));
	if (!rest.len)
		return false;
	while (rest.len) {
		if (!add_name(field, str_cut(&rest, ' ')))
			return false;
		rest = str_trim(rest);
	}
	return true;
}

static const struct config_type setting_name = {
	.wants = "the name of a platform or view", .set = set_name, .is_owned = true};
const struct config_type setting_names = {
	.wants = "a list of platforms, each once, with blanks between", .set = set_names, .is_list = true};

#define ROW(section, key, setting, holder, field, least, fallback, effect, help)                                       \
	{                                                                                                              \
		section, key, setting, offsetof(struct holder, field), least, fallback, CONFIG_##effect, help          \
	}

const struct config_option config_table[] = {
	ROW("store", "path", &config_type_path, config, store, 0, NULL, RELOAD,
		"The tree of wheels to index and serve."),
	ROW("store", "default-view", &setting_name, config, default_view, 0, NULL, RELOAD,
		"The view or platform at /simple/. Without it: the only platform, or all of them "
		"merged."),
	ROW("catalog", "path", &config_type_path, config, catalog, 0, NULL, RESTART,
		"The catalog, on a local disk. Without it: a file a store in the state directory."),
	ROW("upstream", "url", &config_type_urls, config, upstream_urls, 0, "https://pypi.org/simple/", RESTART,
		"The simple index that wheels are compared with. Several, in indented lines: indexes says what that means."),
	ROW("upstream", "indexes", &config_type_indexes, config, upstream_indexes, 0, "first", RESTART,
		"Of several: first, a project is the first one's that has it, or together, the files of all of them are one list."),
	ROW("upstream", "ca-file", &config_type_path, config, upstream_ca_file, 0, NULL, RESTART,
		"Certificates to trust, in PEM. Without it: the system's."),
	ROW("upstream", "timeout", &config_type_seconds, config, upstream_timeout, 1, "30", RESTART,
		"An answer that is not whole after so long has failed; after twice that nothing is tried again."),
	ROW("upstream", "connect-timeout", &config_type_seconds, config, upstream_connect_timeout, 1, "10", RESTART,
		"A connection that does not stand after so long has failed."),
	ROW("upstream", "retries", &config_type_threads, config, upstream_retries, 0, "3", RESTART,
		"How often a request that failed for a moment is tried again."),
	ROW("upstream", "concurrency", &config_type_threads, config, upstream_concurrency, 1, "16", RESTART,
		"Requests under way at once."),
	ROW("upstream", "max-page", &config_type_size, config, upstream_max_page, 1, "64M", RESTART,
		"A larger page is not taken."),
	ROW("upstream", "allow-hosts", &config_type_hosts, config, upstream_allow_hosts, 0, NULL, RESTART,
		"Hosts that it may redirect to, besides itself."),
	ROW("upstream", "allow-private", &config_type_bool, config, upstream_allow_private, 0, "no", RESTART,
		"Whether it may redirect to private, loopback and link-local addresses. Its own may be one either way."),
	ROW("upstream", "trust-404", &config_type_bool, config, upstream_trust_404, 0, "no", RESTART,
		"Whether 404 means that there is no such project; else it means nothing."),
	ROW("upstream", "merge", &config_type_bool, config, upstream_merge, 0, "no", RELOAD,
		"Whether views have what upstream has, too, each name once; [view] upstream says otherwise for one."),
	ROW("upstream", "wheels", &config_type_wheels, config, upstream_wheels, 0, "all", RELOAD,
		"Which of upstream's wheels the pages of such a view have: all, or fitting, those that run on the machines of its "
		"platforms; [view] upstream-wheels says otherwise for one."),
	ROW("upstream", "private", &config_type_projects, config, upstream_private, 0, NULL, RELOAD,
		"Projects (names and globs, as acme-*) that upstream is never asked for: nobody outside hears of them."),
	ROW("upstream", "local-only", &config_type_projects, config, upstream_local_only, 0, NULL, RELOAD,
		"Projects of which only our files count. Upstream is not asked for them."),
	ROW("upstream", "upstream-only", &config_type_projects, config, upstream_upstream_only, 0, NULL, RELOAD,
		"Projects of which only upstream's files count."),
	ROW("upstream", "shared", &config_type_projects, config, upstream_shared, 0, NULL, RELOAD,
		"Projects that are merged although upstream did not know them when they came here first."),
	ROW("upstream", "files", &config_type_files, config, upstream_files, 0, "proxy", RELOAD,
		"How clients get upstream's files: proxy (from here, where they are kept) or redirect."),
	ROW("upstream", "files-path", &config_type_path, config, upstream_files_path, 0, NULL, RESTART,
		"Where upstream's files are kept, on a local disk. Without it: beside the catalog, with .files behind its name."),
	ROW("upstream", "files-size", &config_type_quota, config, upstream_files_size, 1, "10G", RELOAD,
		"How much of them is kept; what was used longest ago goes first."),
	ROW("upstream", "max-age", &config_type_seconds, config, upstream_max_age, 0, "10m", RELOAD,
		"So long at most a page of upstream is used without asking again."),
	ROW("upstream", "negative-max-age", &config_type_seconds, config, upstream_negative_max_age, 0, "1m", RELOAD,
		"So long it counts that upstream has no such project."),
	ROW("upstream", "stale", &config_type_seconds, config, upstream_stale, 0, "7d", RELOAD,
		"So long a page of upstream is used while upstream cannot be asked."),
	ROW("upstream", "root", &config_type_root, config, upstream_root, 0, "local", RESTART,
		"Which projects the list of a view that merges has: local (those that are here) or all (upstream's, too)."),
	ROW("upstream", "offline", &config_type_bool, config, upstream_offline, 0, "no", RELOAD,
		"Whether upstream is not asked at all: only what is here is served."),
	ROW("index", "threads", &config_type_threads, config, index_threads, 0, "0", RELOAD,
		"Threads that read wheels; 0: as many as the machine has processors."),
	ROW("index", "settle", &config_type_seconds, config, settle, 0, "60", RELOAD,
		"A damaged file younger than this is still being written: it waits for the next "
		"scan."),
	ROW("server", "listen", &config_type_string, config, listen, 0, "127.0.0.1:8080", RESTART,
		"ADDRESS:PORT, [IPV6]:PORT or unix:PATH; port 0: any free one."),
	ROW("server", "url", &config_type_url, config, url, 0, NULL, RELOAD,
		"What clients call this server: links to files are absolute then, which pip reads faster. Without it: they are "
		"relative to the page."),
	ROW("server", "access-log", &config_type_path, config, access_log, 0, NULL, RESTART,
		"A line a request goes to this file; -: to the standard output. Without it: none."),
	ROW("server", "tls-cert", &config_type_path, config, tls_cert, 0, NULL, RESTART,
		"The server's certificate and those that lead to its authority, in PEM: HTTPS is spoken. Without it: HTTP."),
	ROW("server", "tls-key", &config_type_path, config, tls_key, 0, NULL, RESTART,
		"The certificate's key, in PEM."),
	ROW("server", "log-level", &config_type_level, config, log_level, 0, "info", RELOAD,
		"What is told on the standard error: error, warn, info or debug."),
	ROW("server", "threads", &config_type_threads, config, threads, 0, "0", RESTART,
		"Threads that answer requests; 0: as many as the machine has processors."),
	ROW("server", "page-cache", &config_type_size, config, page_cache, 0, "64M", RESTART,
		"Memory for pages that are ready to be sent."),
	ROW("server", "connections", &config_type_integer, config, connections, 1, "4096", RESTART,
		"Open connections at most."),
	ROW("server", "timeout", &config_type_seconds, config, timeout, 1, "60", RESTART,
		"A connection without progress for so long is closed."),
	ROW("server", "rescan", &config_type_seconds, config, rescan, 0, "60", RELOAD,
		"Time between scans of the store while serving; 0: only at the start and on "
		"SIGHUP."),
	ROW("server", "page-max-age", &config_type_seconds, config, page_max_age, 0, "0", RELOAD,
		"How long clients may use a page without asking again; 0: a new wheel shows at "
		"once."),
	ROW("tokens", "path", &config_type_path, config, tokens, 0, NULL, RESTART,
		"The tokens' hashes, which `wheelcache token` writes. Without it: beside the catalog, "
		"with .tokens behind its name."),
	ROW("audit", "path", &config_type_path, config, audit, 0, NULL, RESTART,
		"A line for each change that somebody made or was refused. Without it: beside the "
		"catalog, with .audit behind its name."),
	ROW("upload", "max-file", &config_type_quota, config, max_file, 1, "2G", RELOAD, "A larger file is not taken."),
	ROW("upload", "covered", &config_type_covered, config, refuses_covered, 0, "accept", RELOAD,
		"Whether a file is taken that upstream has too, as the catalog knows: accept or refuse."),
	ROW("prune", "packages", &config_type_path, config, prune_packages, 0, NULL, RELOAD,
		"The list of packages that always stay: etc/packages.list tells its form. Without it: none."),
	ROW("prune", "constraints", &config_type_paths, config, prune_constraints, 0, NULL, RELOAD,
		"Constraints files, whose pins stay; may go on in indented lines. Without it: none."),
	ROW("prune", "min-age", &config_type_seconds, config, prune_min_age, 0, "2d", RELOAD,
		"What is younger here stays."),
	ROW("prune", "upstream-min-age", &config_type_seconds, config, prune_upstream_min_age, 0, "1d", RELOAD,
		"What upstream got more recently, or does not say when, replaces nothing of ours."),
	ROW("prune", "downloaded", &config_type_seconds, config, prune_downloaded, 0, "0", RELOAD,
		"What was downloaded from here within so long stays. 0: that decides nothing."),
	ROW("prune", "grace", &config_type_seconds, config, prune_grace, 0, "7d", RELOAD,
		"How long the bytes of what was unlisted stay."),
	ROW("prune", "max-files", &config_type_percent, config, prune_max_files, 0, "20%", RELOAD,
		"A plan that removes more of a platform's files is not applied."),
	ROW("prune", "max-bytes", &config_type_percent, config, prune_max_bytes, 0, "20%", RELOAD,
		"A plan that removes more of a platform's bytes is not applied."),
	ROW("prune", "max-failures", &config_type_percent, config, prune_max_failures, 0, "5%", RELOAD,
		"A plan of which more projects could not be looked up is not applied."),
	ROW("prune", "redirect", &config_type_redirect, config, prune_redirect, 0, "identical", RELOAD,
		"Which pruned files' URLs lead to upstream: identical, superseded (those too) or no."),
	ROW("prune", "follow-yanks", &config_type_bool, config, prune_follow_yanks, 0, "yes", RELOAD,
		"Whether a release that upstream yanks is yanked here."),
	ROW("platform", "path", &config_type_path, config_platform, path, 0, NULL, RELOAD,
		"Its folder, absolute or below [store] path. Without it: its name."),
	ROW("platform", "write-path", &config_type_path, config_platform, write_path, 0, NULL, RELOAD,
		"Where uploads and marks go: what path shows only after a release. Without it: path."),
	ROW("platform", "release", &config_type_release, config_platform, release, 0, NULL, RELOAD,
		"A command that makes path show what write-path holds, run after changes: %v is the "
		"volume, %w the write-path, %p the path. Without it: others do so."),
	ROW("platform", "volume", &setting_name, config_platform, volume, 0, NULL, RELOAD,
		"The volume that it is; of one volume there is one release at a time. Without it: its "
		"name."),
	ROW("platform", "release-delay", &config_type_seconds, config_platform, release_delay, 0, "5", RELOAD,
		"So long after a change it is released, with all that came meanwhile."),
	ROW("platform", "release-timeout", &config_type_seconds, config_platform, release_timeout, 1, "30m", RELOAD,
		"A release that takes longer is killed, and tried again later."),
	ROW("platform", "mutable", &config_type_bool, config_platform, is_mutable, 0, "no", RELOAD,
		"Whether files may change under their name: they are served with short freshness."),
	ROW("platform", "pythons", &config_type_pythons, config_platform, pythons, 0, NULL, RELOAD,
		"The Pythons of its machines. Without it: as built in for its name."),
	ROW("platform", "arch", &config_type_arch, config_platform, arch, 0, NULL, RELOAD,
		"Their architecture. Without it: the last part of its name."),
	ROW("platform", "libc", &config_type_libc, config_platform, libc, 0, NULL, RELOAD,
		"Their libc and its version. Without it: as built in for its name."),
	ROW("platform", "private", &config_type_bool, config_platform, is_private, 0, "no", RELOAD,
		"Whether only those may see it who have a token to read it (wheelcache token add "
		"--read)."),
	ROW("platform", "quota-bytes", &config_type_quota, config_platform, quota_bytes, 0, "0", RELOAD,
		"What its files may have together; an upload that would pass it is refused. 0: as the "
		"disk allows."),
	ROW("platform", "quota-files", &config_type_count, config_platform, quota_files, 0, "0", RELOAD,
		"How many files it may have. 0: any number."),
	ROW("view", "upstream", &config_type_merge, config_view, upstream, 0, NULL, RELOAD,
		"merge: it has what upstream has, too; no: it has not. Without it: as [upstream] merge says."),
	ROW("view", "upstream-wheels", &config_type_wheels, config_view, upstream_wheels, 0, NULL, RELOAD,
		"all or fitting. Without it: as [upstream] wheels says."),
	ROW("view", "partial", &config_type_bool, config_view, is_partial, 0, "no", RELOAD,
		"Whether it is served without a platform whose folder was never there (a volume that is not mounted)."),
	ROW("view", "platforms", &setting_names, config_view, name, 0, NULL, RELOAD,
		"Its platforms in the order in which they are asked; may go on in indented lines."),
};

const size_t config_options = ARRAY_SIZE(config_table);
