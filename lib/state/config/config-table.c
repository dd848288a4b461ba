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
// A list of platforms, which may continue on indented lines.
static const struct config_type setting_names = {
	.wants = "a list of platforms, each once, with blanks between", .set = set_names, .is_list = true};

#define HOLDER_OF(type)                                                                                                \
	_Generic((struct type *)NULL, struct config *: CONFIG_HOLDER_CONFIG, struct config_upstream *:                 \
		CONFIG_HOLDER_UPSTREAM, struct config_platform *: CONFIG_HOLDER_PLATFORM, struct config_view *:        \
		CONFIG_HOLDER_VIEW, struct config_branch *: CONFIG_HOLDER_BRANCH, \
		struct config_place *: CONFIG_HOLDER_PLACE)
#define ROW(section, key, setting, type, field, least, fallback, effect, help)                                         \
	{                                                                                                              \
		section, key, setting, HOLDER_OF(type), offsetof(struct type, field), least, fallback,                 \
			CONFIG_##effect, help                                                                          \
	}

const struct config_option config_table[] = {
	ROW("store", "path", &config_type_place, config, store, 0, NULL, RESTART,
		"The tree of wheels to index and serve: a folder, or s3://BUCKET/PREFIX."),
	ROW("store", "views", &config_type_place, config, views_path, 0, NULL, RELOAD,
		"The folder of the memberships of views, and of the evidence. Default: .wheelcache-views in path."),
	ROW("store", "default-view", &setting_name, config, default_view, 0, NULL, RELOAD,
		"The view or platform at /simple/. none: several platforms have no such index. Default: all platforms merged."),
	ROW("catalog", "path", &config_type_path, config, catalog, 0, NULL, RESTART,
		"The catalog, on a local disk. Default: one file per store in the state directory."),
	ROW("state", "path", &config_type_path, config, state, 0, NULL, RESTART,
		"The folder of what no scan makes again: tokens, the audit log, names that are ours, download counts, build "
		"attempts, times of arrival. Default: beside the catalog."),
	ROW("upstream", "url", &config_type_urls, config_upstream, urls, 0, "https://pypi.org/simple/", RESTART,
		"The simple index to compare wheels with. Several, in indented lines: see indexes."),
	ROW("upstream", "indexes", &config_type_indexes, config, upstream_indexes, 0, "first", RESTART,
		"With several indexes: first (a project comes from the first index that has it) or together (all files are "
		"one list)."),
	ROW("upstream", "ca-file", &config_type_path, config_upstream, ca_file, 0, NULL, RESTART,
		"CA certificates to trust, in PEM. Default: the system's."),
	ROW("upstream", "password-file", &config_type_path, config_upstream, password_file, 0, NULL, RESTART,
		"A file of one line USER:PASSWORD for its url, which no other account may read. Default: those of ~/.netrc."),
	ROW("upstream", "timeout", &config_type_seconds, config_upstream, timeout, 1, "30", RESTART,
		"A response that is incomplete after this time has failed. No retry begins after twice this time."),
	ROW("upstream", "connect-timeout", &config_type_seconds, config_upstream, connect_timeout, 1, "10", RESTART,
		"A connection that is not established after this time has failed."),
	ROW("upstream", "retries", &config_type_threads, config_upstream, retries, 0, "3", RESTART,
		"Number of retries of a request after a temporary failure."),
	ROW("upstream", "concurrency", &config_type_threads, config_upstream, concurrency, 1, "16", RESTART,
		"Maximum number of concurrent requests."),
	ROW("upstream", "max-page", &config_type_size, config_upstream, max_page, 1, "64M", RESTART,
		"A larger page is rejected."),
	ROW("upstream", "allow-hosts", &config_type_hosts, config_upstream, allow_hosts, 0, NULL, RESTART,
		"Hosts that upstream may redirect to, besides its own."),
	ROW("upstream", "allow-private", &config_type_bool, config_upstream, allow_private, 0, "no", RESTART,
		"Whether upstream may redirect to private, loopback and link-local addresses. Its own address may always be one."),
	ROW("upstream", "trust-404", &config_type_bool, config_upstream, trust_404, 0, "no", RESTART,
		"Whether 404 means that the project does not exist; otherwise it means nothing."),
	ROW("upstream", "merge", &config_type_bool, config, upstream_merge, 0, "no", RELOAD,
		"Whether views also list upstream's files, each name once. [view] upstream overrides it."),
	ROW("upstream", "wheels", &config_type_wheels, config, upstream_wheels, 0, "all", RELOAD,
		"Which wheels of upstream a merged view lists: all, or fitting (those that install on its "
		"platforms). [view] upstream-wheels overrides it."),
	ROW("upstream", "projects", &config_type_projects, config_upstream, projects, 0, NULL, RELOAD,
		"The only projects (names and patterns such as torch*) that upstream is asked for. Default: all."),
	ROW("upstream", "not-projects", &config_type_projects, config_upstream, not_projects, 0, NULL, RELOAD,
		"Projects that it is not asked for, also of those."),
	ROW("upstream", "private", &config_type_projects, config_upstream, private_names, 0, NULL, RELOAD,
		"Projects (names and patterns such as acme-*) that upstream is never asked for. Upstream never sees these names."),
	ROW("upstream", "local-only", &config_type_projects, config_upstream, local_only, 0, NULL, RELOAD,
		"Projects of which only local files are listed. Upstream is not asked for them."),
	ROW("upstream", "upstream-only", &config_type_projects, config_upstream, upstream_only, 0, NULL, RELOAD,
		"Projects of which only upstream's files are listed."),
	ROW("upstream", "shared", &config_type_projects, config_upstream, shared, 0, NULL, RELOAD,
		"Projects that are merged although upstream did not know them when their first file arrived here."),
	ROW("upstream", "files", &config_type_files, config_upstream, files, 0, "proxy", RELOAD,
		"How clients get upstream's files: proxy (from this server, which caches them) or redirect."),
	ROW("upstream", "files-path", &config_type_path, config_upstream, files_path, 0, NULL, RESTART,
		"The cache of upstream's files, on a local disk. Default: the catalog's path with .files appended."),
	ROW("upstream", "files-size", &config_type_quota, config_upstream, files_size, 1, "10G", RELOAD,
		"Maximum size of that cache. The least recently used files are removed first."),
	ROW("upstream", "max-age", &config_type_seconds, config_upstream, max_age, 0, "10m", RELOAD,
		"Maximum time that a page of upstream is used without revalidation."),
	ROW("upstream", "negative-max-age", &config_type_seconds, config_upstream, negative_max_age, 0, "1m", RELOAD,
		"How long the answer that upstream has no such project is used."),
	ROW("upstream", "stale", &config_type_seconds, config_upstream, stale, 0, "7d", RELOAD,
		"How long a page of upstream is used while upstream is unreachable."),
	ROW("upstream", "allow", &config_type_path, config_upstream, allow, 0, NULL, RELOAD,
		"A list of packages of upstream that are offered in spite of the records of block, each with a reason. It is "
		"read again when it changes."),
	ROW("upstream", "block", &config_type_paths, config_upstream, block, 0, NULL, RELOAD,
		"Block lists: records of the OSV database as files, folders or .zip files, read again when they change. "
		"Malware in them (MAL-...) is not offered. Default: none."),
	ROW("upstream", "block-severity", &config_type_severity, config_upstream, block_severity, 0, NULL, RELOAD,
		"From which severity on vulnerable versions are not offered either: low, medium, high or critical. Default: "
		"they are offered."),
	ROW("upstream", "cooldown", &config_type_seconds, config_upstream, cooldown, 0, "0", RELOAD,
		"A file of upstream is offered from its upload time and this time on, such as 7d; 0: at once."),
	ROW("upstream", "cooldown-exempt", &config_type_projects, config_upstream, cooldown_exempt, 0, NULL, RELOAD,
		"Projects (names and patterns) that cooldown does not concern."),
	ROW("upstream", "cooldown-unknown", &config_type_unknown, config_upstream, cooldown_unknown, 0, "first-seen", RELOAD,
		"From when the cooldown of a file without an upload time counts: first-seen (by this server), hide (it is never "
		"offered) or allow (it is offered at once)."),
	ROW("upstream", "deny", &config_type_path, config_upstream, deny, 0, NULL, RELOAD,
		"A list of packages of upstream that are not offered, each with a reason. It is read again when it changes."),
	ROW("upstream", "root", &config_type_root, config, upstream_root, 0, "local", RESTART,
		"Which projects a merged view lists: local (those with local files) or all (upstream's as well)."),
	ROW("upstream", "offline", &config_type_bool, config, upstream_offline, 0, "no", RELOAD,
		"Whether upstream is never contacted; only local and cached files are served."),
	ROW("index", "threads", &config_type_threads, config, index_threads, 0, "0", RELOAD,
		"Threads that read wheels; 0: one per processor."),
	ROW("index", "settle", &config_type_seconds, config, settle, 0, "60", RELOAD,
		"A damaged file younger than this may still be growing: the next scan judges it."),
	ROW("index", "facts", &config_type_bool, config, takes_facts, 0, "yes", RELOAD,
		"Whether what is inside wheels is noted in the catalog, for audit, rebuilds, find and compare."),
	ROW("index", "watch", &config_type_watch, config, watch, 0, "auto", RELOAD,
		"Whether a server looks at a file as soon as it is in the store: yes, no, or auto (if [server] rescan is not 0)."),
	ROW("index", "on-change", &config_type_change, config, index_on_change, 0, NULL, RELOAD,
		"A command that is run for each file that a scan quarantines, or finds to be for other machines: %n is the "
		"file as PLATFORM/PATH, %r the reason, %p the platform."),
	ROW("server", "listen", &config_type_string, config, listen, 0, "127.0.0.1:8080", RESTART,
		"ADDRESS:PORT, [IPV6]:PORT or unix:PATH; port 0: any free port."),
	ROW("server", "url", &config_type_url, config, url, 0, NULL, RELOAD,
		"The public URL of this server. Links to files are then absolute, which pip reads faster. Default: relative links."),
	ROW("server", "trusted-proxies", &config_type_networks, config, trusted_proxies, 0, NULL, RESTART,
		"Addresses and networks of proxies that stand before this server: what they say in X-Forwarded-For, -Prefix and -Proto "
		"counts. A unix socket is trusted. Default: none."),
	ROW("server", "access-log", &config_type_path, config, access_log, 0, NULL, RESTART,
		"The file of the access log; -: standard output. Default: none."),
	ROW("server", "tls-cert", &config_type_path, config, tls_cert, 0, NULL, RESTART,
		"The server's certificate chain, in PEM: the server speaks HTTPS. Default: HTTP."),
	ROW("server", "tls-key", &config_type_path, config, tls_key, 0, NULL, RESTART,
		"The key of the certificate, in PEM."),
	ROW("server", "log-level", &config_type_level, config, log_level, 0, "info", RELOAD,
		"The least severe messages on standard error: error, warn, info or debug."),
	ROW("server", "threads", &config_type_threads, config, threads, 0, "0", RESTART,
		"Threads that answer requests; 0: one per processor."),
	ROW("server", "page-cache", &config_type_size, config, page_cache, 0, "64M", RESTART,
		"Memory for ready pages."),
	ROW("server", "connections", &config_type_integer, config, connections, 1, "4096", RESTART,
		"Maximum number of open connections."),
	ROW("server", "timeout", &config_type_seconds, config, timeout, 1, "60", RESTART,
		"A connection without progress for this time is closed."),
	ROW("server", "rescan", &config_type_seconds, config, rescan, 0, "60", RELOAD,
		"Time between scans of the store while serving; 0: only at the start and on SIGHUP."),
	ROW("server", "page-max-age", &config_type_seconds, config, page_max_age, 0, "0", RELOAD,
		"How long clients may use a page without revalidation; 0: a new wheel is visible at once."),
	ROW("server", "deny", &config_type_path, config, deny, 0, NULL, RELOAD,
		"A list of packages, ours and of upstreams, that are not offered, each with a reason. It is read again when it "
		"changes."),
	ROW("server", "contact", &config_type_note, config, contact, 0, NULL, RELOAD,
		"Whom to ask about a file that is not offered, such as security@example.org: refusals name it."),
	ROW("server", "record-downloads", &config_type_recording, config, record_downloads, 0, "no", RESTART,
		"who: by which token, else from which address, a file was downloaded, which `wheelcache exposed` prints."),
	ROW("server", "record-downloads-days", &config_type_days, config, downloaders_kept, 1, "90", RESTART,
		"How long that is kept after the last download by one."),
	ROW("tokens", "path", &config_type_path, config, tokens, 0, NULL, RESTART,
		"The hashes of the tokens, which `wheelcache token` writes. Default: the catalog's path with .tokens appended."),
	ROW("change-log", "path", &config_type_path, config, audit, 0, NULL, RESTART,
		"A line for each change that was made or refused. Default: the catalog's path with .audit appended."),
	ROW("change-log", "max-size", &config_type_quota, config, audit_max_size, 4096, "100M", RESTART,
		"A larger log is moved to the path with .1 appended, and so on."),
	ROW("change-log", "keep-days", &config_type_days, config, audit_keep, 0, "365", RESTART,
		"A moved log whose last line is older is deleted; 0: none is."),
	ROW("evidence", "quota", &config_type_quota, config, evidence_quota, 1, "64M", RELOAD,
		"Bytes of evidence that a token may send in a day."),
	ROW("evidence", "keep", &config_type_seconds, config, evidence_keep, 0, "90d", RELOAD,
		"Older records that no membership names are deleted; 0: none is."),
	ROW("upload", "max-file", &config_type_quota, config, max_file, 1, "2G", RELOAD, "A larger file is rejected."),
	ROW("upload", "spool-size", &config_type_quota, config, spool_size, 4096, "4G", RESTART,
		"Temporary files of all uploads to buckets, and of what is read from them, in $TMPDIR or /var/tmp. An upload without room "
		"is told to come again."),
	ROW("upload", "covered", &config_type_covered, config, refuses_covered, 0, "accept", RELOAD,
		"What happens to an upload that upstream's files cover, according to the catalog: accept or refuse."),
	ROW("upload", "audit", &config_type_audit, config, upload_audit, 0, "warn", RELOAD,
		"What happens to wheels in which the audit finds errors: refuse (the upload), warn (people see the "
		"findings) or off."),
	ROW("upload", "audit-policy", &config_type_path, config, upload_audit_policy, 0, NULL, RELOAD,
		"The rules for what is inside wheels; etc/audit.policy shows their form. Default: only the built-in checks."),
	ROW("prune", "packages", &config_type_path, config, prune_packages, 0, NULL, RELOAD,
		"The list of packages that are always kept; etc/packages.list shows its format. Default: none."),
	ROW("prune", "constraints", &config_type_paths, config, prune_constraints, 0, NULL, RELOAD,
		"Constraints files whose pinned versions are kept, also in indented lines. Default: none."),
	ROW("prune", "locks", &config_type_paths, config, prune_locks, 0, NULL, RELOAD,
		"Lock files (paths and globs), also in indented lines. A file that one names by hash stays. Default: none."),
	ROW("prune", "min-age", &config_type_seconds, config, prune_min_age, 0, "2d", RELOAD,
		"A file that is younger than this is kept."),
	ROW("prune", "upstream-min-age", &config_type_seconds, config, prune_upstream_min_age, 0, "1d", RELOAD,
		"A file that upstream got more recently, or at an unknown time, replaces no local file."),
	ROW("prune", "downloaded", &config_type_seconds, config, prune_downloaded, 0, "0", RELOAD,
		"A file that was downloaded from here within this time is kept. 0: downloads decide nothing."),
	ROW("prune", "grace", &config_type_seconds, config, prune_grace, 0, "7d", RELOAD,
		"How long the bytes of an unlisted file stay."),
	ROW("prune", "max-files", &config_type_percent, config, prune_max_files, 0, "20%", RELOAD,
		"A plan that removes more of a platform's files is not applied."),
	ROW("prune", "max-bytes", &config_type_percent, config, prune_max_bytes, 0, "20%", RELOAD,
		"A plan that removes more of a platform's bytes is not applied."),
	ROW("prune", "max-failures", &config_type_percent, config, prune_max_failures, 0, "5%", RELOAD,
		"A plan with more failed look-ups of projects is not applied."),
	ROW("prune", "redirect", &config_type_redirect, config, prune_redirect, 0, "identical", RELOAD,
		"Which pruned files' URLs redirect to upstream: identical, superseded (includes identical) or no."),
	ROW("prune", "follow-yanks", &config_type_bool, config, prune_follow_yanks, 0, "yes", RELOAD,
		"Whether a release that upstream yanks is yanked here as well."),
	ROW("prune", "clients-have-upstream", &config_type_clients, config, prune_clients_have_upstream, 0, NULL, RELOAD,
		"Whose clients ask upstream too, although the view does not merge it: yes (all), no, or views. Default: no."),
	ROW("build", "packages", &config_type_path, config, build_packages, 0, NULL, RELOAD,
		"The list of packages to build, in the format of [prune] packages. Default: all that branches want."),
	ROW("build", "skip", &config_type_path, config, build_skip, 0, NULL, RELOAD,
		"A list of packages that are never built, in the same format, with the reasons. Default: none."),
	ROW("build", "index", &config_type_index, config, build_index, 0, NULL, RELOAD,
		"The simple index that builds get their build requirements from. Default: the first [upstream] url; of several "
		"upstreams, that of the first of the default view that has no projects."),
	ROW("build", "index-holds-platform", &config_type_bool, config, build_index_holds_platform, 0, "no", RELOAD,
		"Whether that index may hold the platform that is built for."),
	ROW("build", "jobs", &config_type_threads, config, build_jobs, 0, "0", RELOAD,
		"Number of wheels that are built at once; 0: one per processor."),
	ROW("build", "timeout", &config_type_seconds, config, build_timeout, 1, "4h", RELOAD,
		"A wheel that takes longer has failed."),
	ROW("build", "memory", &config_type_quota, config, build_memory, 0, "0", RELOAD,
		"Memory for all processes of one wheel; 0: no limit."),
	ROW("build", "log-size", &config_type_log, config, build_log_size, 4096, "4M", RELOAD,
		"Maximum size of the log of one wheel: of a longer one the beginning and the end are kept."),
	ROW("build", "retries", &config_type_threads, config, build_retries, 0, "3", RELOAD,
		"Number of retries of a wheel that failed, before it is only built on request."),
	ROW("build", "retry-after", &config_type_times, config, build_retry_after, 0, "1d 3d 7d", RELOAD,
		"Time from a failure to its retry: after the first failure, the second, and so on. The last one repeats."),
	ROW("build", "build", &config_type_build, config, build_command, 0, NULL, RELOAD,
		"The command that makes a wheel. %p is the platform, %v the Python, %y its interpreter, %s the sdist, %o the "
		"output folder, %n the name, %r the version, %i the index, %e a fresh virtual environment, %d the work folder; "
		"in the commands after it %w is the wheel. Default: pip wheel --no-deps."),
	ROW("build", "repair", &config_type_command, config, build_repair, 0, NULL, RELOAD,
		"The command that repairs the wheel, such as auditwheel repair -w %o %w. Default: none."),
	ROW("build", "extra", &config_type_commands, config, build_extra, 0, NULL, RELOAD,
		"Further commands that change the wheel, one per line. Default: none."),
	ROW("build", "test", &config_type_command, config, build_test, 0, NULL, RELOAD,
		"The command that tests the wheel; none: no test. Default: it is installed and its modules are imported."),
	ROW("build", "wrap", &config_type_wrap, config, build_wrap, 0, NULL, RELOAD,
		"What stands before each of these commands, such as bwrap or podman. Default: nothing."),
	ROW("build", "environment", &config_type_variables, config, build_environment, 0,
		"PATH LANG LC_ALL TZ SSL_CERT_FILE REQUESTS_CA_BUNDLE PIP_CERT http_proxy https_proxy no_proxy "
		"CARGO_HOME RUSTUP_HOME", RELOAD,
		"The environment variables that these commands inherit."),
	ROW("build", "work-path", &config_type_path, config, build_work_path, 0, NULL, RELOAD,
		"The folder for work under way. Default: the path of the results with .work appended."),
	ROW("build", "results", &config_type_path, config, build_results, 0, NULL, RESTART,
		"The index of the results of all builds. Default: the catalog's path with .builds appended."),
	ROW("build", "keep-results", &config_type_keep, config, build_keep_results, 0, "90d 50", RELOAD,
		"How long a result is kept, and how many for each platform, Python and project."),
	ROW("build", "on-change", &config_type_change, config, build_on_change, 0, NULL, RELOAD,
		"A command that is run when a project begins to fail, or builds again, with the facts in its environment. "
		"Default: none."),
	ROW("build", "note", &config_type_note, config, build_note, 0, NULL, RELOAD,
		"A note about this host, which each result has. Default: none."),
	ROW("place", "endpoint", &config_type_url, config_place, endpoint, 0, NULL, RELOAD,
		"The URL of the object store. Default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, else AWS's of the region."),
	ROW("place", "region", &config_type_string, config_place, region, 0, NULL, RELOAD,
		"The region for which requests are signed. Default: AWS_REGION, AWS_DEFAULT_REGION, else us-east-1."),
	ROW("place", "path-style", &config_type_watch, config_place, path_style, 0, "auto", RELOAD,
		"Whether the bucket is the first part of the path (yes) or of the host (no); auto: yes if an endpoint is known."),
	ROW("place", "ca-file", &config_type_path, config_place, ca_file, 0, NULL, RELOAD,
		"CA certificates to trust, in PEM. Default: the system's."),
	ROW("place", "credentials-command", &config_type_credentials, config_place, credentials_command, 0, NULL, RELOAD,
		"A command that prints the keys as AWS's credential_process does. Default: they are looked for as AWS's clients do."),
	ROW("place", "trust-engine", &config_type_bool, config_place, trusts_engine, 0, "no", RELOAD,
		"Whether a bucket is used whose engine accepts wrong or expired signatures."),
	ROW("branch", "constraints", &config_type_paths, config_branch, constraints, 0, NULL, RELOAD,
		"Constraints files (paths and globs), also in indented lines. Default: none."),
	ROW("branch", "requirements", &config_type_paths, config_branch, requirements, 0, NULL, RELOAD,
		"Requirements files, likewise. Default: the pins of the constraints are wanted."),
	ROW("branch", "locks", &config_type_paths, config_branch, locks, 0, NULL, RELOAD,
		"Lock files, likewise: the versions that they pin are wanted, and their files stay. Default: none."),
	ROW("branch", "platforms", &config_type_platforms, config_branch, platforms, 0, NULL, RELOAD,
		"Platforms (names, and globs such as ubuntu-*). Default: all."),
	ROW("branch", "pythons", &config_type_pythons, config_branch, pythons, 0, NULL, RELOAD,
		"Pythons. Default: all of each platform."),
	ROW("branch", "until", &config_type_date, config_branch, until, 0, NULL, RELOAD,
		"The last day (UTC) on which the branch wants anything. Default: no end."),
	ROW("platform", "path", &config_type_place, config_platform, path, 0, NULL, RELOAD,
		"Its folder, absolute or below [store] path, or s3://BUCKET/PREFIX. Default: its name."),
	ROW("platform", "write-path", &config_type_place, config_platform, write_path, 0, NULL, RELOAD,
		"Where uploads and sidecars are written; path shows them after a release. Default: path."),
	ROW("platform", "release", &config_type_release, config_platform, release, 0, NULL, RELOAD,
		"A command that makes path show what write-path holds, run after changes. "
		"%v is the volume, %w the write-path, %p the path. Default: none, the release is done elsewhere."),
	ROW("platform", "volume", &setting_name, config_platform, volume, 0, NULL, RELOAD,
		"The name of its volume; each volume has one release at a time. Default: the platform's name."),
	ROW("platform", "release-delay", &config_type_seconds, config_platform, release_delay, 0, "5", RELOAD,
		"The delay from a change to its release, which includes all changes until then."),
	ROW("platform", "release-timeout", &config_type_seconds, config_platform, release_timeout, 1, "30m", RELOAD,
		"A release that takes longer is killed and retried."),
	ROW("platform", "mutable", &config_type_bool, config_platform, is_mutable, 0, "no", RELOAD,
		"Whether files may change under their names. Clients then cache them only briefly."),
	ROW("platform", "pythons", &config_type_pythons, config_platform, pythons, 0, NULL, RELOAD,
		"The Pythons of its machines. Default: built in, by the platform's name."),
	ROW("platform", "arch", &config_type_arch, config_platform, arch, 0, NULL, RELOAD,
		"The architecture of its machines. Default: the last part of its name."),
	ROW("platform", "libc", &config_type_libc, config_platform, libc, 0, NULL, RELOAD,
		"The libc of its machines and its version. Default: built in, by the platform's name."),
	ROW("platform", "private", &config_type_bool, config_platform, is_private, 0, "no", RELOAD,
		"Whether only requests with a token for reading see it (wheelcache token add --read)."),
	ROW("platform", "quota-bytes", &config_type_quota, config_platform, quota_bytes, 0, "0", RELOAD,
		"Maximum size of its files; an upload that exceeds it is refused. 0: no limit but the disk."),
	ROW("platform", "quota-files", &config_type_count, config_platform, quota_files, 0, "0", RELOAD,
		"Maximum number of its files. 0: no limit."),
	ROW("platform", "provides", &config_type_path, config_platform, provides, 0, NULL, RELOAD,
		"The libraries of its machines: a root folder, or a list that wheelcache provides made of one. "
		"Default: unknown."),
	ROW("view", "upstream", &config_type_merge, config_view, upstream, 0, NULL, RELOAD,
		"Whose files the view also lists: merge (those of all upstreams), names of upstreams in order, or no. "
		"Default: [upstream] merge."),
	ROW("view", "indexes", &config_type_indexes, config_view, indexes, 0, NULL, RELOAD,
		"first or together. Default: [upstream] indexes."),
	ROW("view", "upstream-wheels", &config_type_wheels, config_view, upstream_wheels, 0, NULL, RELOAD,
		"all or fitting. Default: [upstream] wheels."),
	ROW("view", "partial", &config_type_bool, config_view, is_partial, 0, "no", RELOAD,
		"Whether it is served without a platform whose folder was never found, such as an unmounted volume."),
	ROW("view", "from", &setting_name, config_view, from, 0, NULL, RELOAD,
		"The view or platform whose files may be promoted into this view, which then shows what was promoted "
		"alone. Default: none, the view shows all files of its platforms."),
	ROW("view", "requires", &config_type_rules, config_view, requires, 0, NULL, RELOAD,
		"The kinds of evidence that a promotion needs, such as unit:min-tests=100:max-skipped=5:max-age=7d. "
		"Default: none."),
	ROW("view", "cells", &config_type_rules, config_view, cells, 0, NULL, RELOAD,
		"Where tests must have run, as PLATFORM/PYTHON. Default: wherever the wheel installs."),
	ROW("view", "expect", &config_type_rules, config_view, expect, 0, NULL, RELOAD,
		"Within which time test runs of a kind are expected again, such as 26h integration 8d performance: "
		"else the kind is silent. Default: none."),
	ROW("view", "keep-versions", &config_type_count, config_view, keep_versions, 0, "0", RELOAD,
		"How many of the newest versions of a project wheelcache retain keeps. 0: it counts none."),
	ROW("view", "keep-days", &config_type_days, config_view, keep_seconds, 0, "0", RELOAD,
		"How many days wheelcache retain keeps a version. 0: not by its age."),
	ROW("view", "warn-days", &config_type_days, config_view, warn_seconds, 0, "0", RELOAD,
		"How many days before a version ends warnings begin. 0: none."),
	ROW("view", "on-change", &config_type_change, config_view, on_change, 0, NULL, RELOAD,
		"A command that runs when tests of a required kind begin to fail or succeed again, when a version is "
		"about to end, and when expected tests stop coming; its environment says what. Default: none."),
	ROW("view", "platforms", &setting_names, config_view, name, 0, NULL, RELOAD,
		"Its platforms, in order of precedence; also in indented lines."),
};

const size_t config_options = ARRAY_SIZE(config_table);
