// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/config-type.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/domain/machine/environment.h"
#include "lib/domain/machine/platform.h"
#include "lib/net/address.h"
#include "lib/net/fetch.h"
#include "lib/net/url.h"
#include "lib/os/clock.h"
#include "lib/os/hook.h"
#include "lib/place/place-address.h"
#include "lib/place/place-s3.h"

struct unit {
	char letter;
	uint64_t factor;
};

static const struct unit plain_units[] = {{'\0', 1}};
static const struct unit size_units[] = {{'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}, {'\0', 1}};
static const struct unit time_units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'\0', 1}};
static const struct unit day_units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'\0', 86400}};

enum { NUMBER_MAX = 1 << 30 }; // without its unit: no product of the two overflows
enum { SECONDS_MAX = 10 * 365 * 86400 };

static bool parse_quantity(const char *text, const struct unit *units, uint64_t *out)
{
	uint64_t n;
	struct str rest = str_from(text);
	if (!decimal_cut(&rest, NUMBER_MAX + 1, &n) || n > NUMBER_MAX)
		return false;
	while (units->letter && units->letter != *rest.ptr)
		units++;
	if (rest.ptr[units->letter != '\0'])
		return false;
	*out = n * units->factor;
	return true;
}

static bool set_integer(void *field, const char *value)
{
	return parse_quantity(value, plain_units, field);
}

static bool set_size(void *field, const char *value)
{
	return parse_quantity(value, size_units, field);
}

static bool set_seconds(void *field, const char *value)
{
	return parse_quantity(value, time_units, field);
}

static bool set_days(void *field, const char *value)
{
	return parse_quantity(value, day_units, field);
}

static bool set_bool(void *field, const char *value)
{
	bool *out = field;
	*out = strcmp(value, "yes") == 0;
	return *out || strcmp(value, "no") == 0;
}

static bool set_covered(void *field, const char *value)
{
	bool *out = field;
	*out = strcmp(value, "refuse") == 0;
	return *out || strcmp(value, "accept") == 0;
}

static bool set_string(void *field, const char *value)
{
	char **out = field;
	if (!*value)
		return false;
	free(*out);
	*out = xstrdup(value);
	return true;
}

static bool set_percent(void *field, const char *value)
{
	static const struct unit units[] = {{'%', 1}, {'\0', 1}};
	return parse_quantity(value, units, field);
}

static bool set_one_of(void *field, const char *value, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(value, *words) == 0)
			return set_string(field, value);
	return false;
}

static bool set_watch(void *field, const char *value)
{
	static const char *const words[] = {"yes", "no", "auto", NULL};
	return set_one_of(field, value, words);
}

static bool set_redirect(void *field, const char *value)
{
	static const char *const words[] = {"identical", "superseded", "no", NULL};
	return set_one_of(field, value, words);
}

static bool set_recording(void *field, const char *value)
{
	static const char *const words[] = {"no", "who", NULL};
	return set_one_of(field, value, words);
}

static bool set_audit(void *field, const char *value)
{
	static const char *const words[] = {"refuse", "warn", "off", NULL};
	return set_one_of(field, value, words);
}

static bool set_severity(void *field, const char *value)
{
	static const char *const words[] = {"low", "medium", "high", "critical", NULL};
	return set_one_of(field, value, words);
}

static bool set_level(void *field, const char *value)
{
	for (size_t i = 0; i < LOG_LEVEL_COUNT; i++)
		if (strcmp(value, log_level_name[i]) == 0)
			return set_string(field, value);
	return false;
}

static bool set_arch(void *field, const char *value)
{
	return platform_arch(str_from(value)) && set_string(field, value);
}

static bool set_libc(void *field, const char *value)
{
	struct machine ignored;
	struct err unsaid = ERR_INIT;
	return machine_parse_libc(str_from(value), &ignored, &unsaid) == 0 && set_string(field, value);
}

static bool set_date(void *field, const char *value)
{
	int64_t ignored;
	CLEANUP(mem_free) char *time = xasprintf("%sT00:00:00Z", value);
	return clock_read(time, &ignored) && set_string(field, value);
}

static bool set_note(void *field, const char *value)
{
	return strlen(value) <= LIMIT_NOTE && set_string(field, value);
}

static bool set_release(void *field, const char *value)
{
	return hook_is_valid(value, "pvw") && set_string(field, value);
}

static bool set_change(void *field, const char *value)
{
	return hook_is_valid(value, "pvnr") && set_string(field, value);
}

static bool is_command(const char *value)
{
	return hook_is_valid(value, "pvsownriedy");
}

static bool set_command(void *field, const char *value)
{
	return is_command(value) && set_string(field, value);
}

// There is no wheel yet.
static bool set_build(void *field, const char *value)
{
	return hook_is_valid(value, "pvsonriedy") && set_string(field, value);
}

// It stands before all commands, of which some have no sdist, wheel or virtual environment.
static bool set_wrap(void *field, const char *value)
{
	return hook_is_valid(value, "pvonridy") && set_string(field, value);
}

static bool add_command(void *field, const char *value)
{
	char **out = field;
	if (!is_command(value))
		return false;
	char *longer = xasprintf("%s%s%s", *out ? *out : "", *out ? "\n" : "", value);
	free(*out);
	*out = longer;
	return true;
}

// Appends each word to the string of the field.
static bool add_words(void *field, const char *value, bool (*is_good)(struct str word))
{
	char **out = field;
	struct str rest = str_trim(str_from(value));
	if (!rest.len)
		return false;
	for (; rest.len; rest = str_trim(rest)) {
		struct str word = str_cut(&rest, ' ');
		if (!is_good(word))
			return false;
		char *longer = xasprintf("%s%s" STR_FMT, *out ? *out : "", *out ? " " : "", STR_ARG(word));
		free(*out);
		*out = longer;
	}
	return true;
}

// Without "?" and "#", because a project's name is appended.
static bool is_url(struct str word)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	CLEANUP(mem_free) char *text = xstrndup(word.ptr, word.len);
	return fetch_url_parse(text, &url, &ignored) == 0 && str_find(word, '?') < 0 && str_find(word, '#') < 0;
}

static bool is_host(struct str word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!ascii_is_alnum(word.ptr[i]) && !strchr(".-:[]", word.ptr[i]))
			return false;
	return word.len > 0;
}

static bool is_path(struct str word)
{
	return word.len > 0;
}

// A name or a glob.
static bool is_project(struct str word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!ascii_is_alnum(word.ptr[i]) && !strchr(".-_*?[]", word.ptr[i]))
			return false;
	return word.len > 0 && word.len <= LIMIT_FILE_NAME;
}

static bool is_python(struct str word)
{
	struct python ignored;
	struct err unsaid = ERR_INIT;
	return python_parse(word, &ignored, &unsaid) == 0;
}

// None is an empty list.
static bool set_pythons(void *field, const char *value)
{
	return str_trim(str_from(value)).len ? add_words(field, value, is_python) : set_string(field, value);
}

static bool set_projects(void *field, const char *value)
{
	return add_words(field, value, is_project);
}

static bool is_rule(struct str word)
{
	return word.len > 0 && word.len <= LIMIT_FILE_NAME;
}

static bool set_rules(void *field, const char *value)
{
	return add_words(field, value, is_rule);
}

static bool is_variable(struct str word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!ascii_is_alnum(word.ptr[i]) && word.ptr[i] != '_')
			return false;
	return word.len > 0 && !ascii_is_digit(word.ptr[0]);
}

static bool set_variables(void *field, const char *value)
{
	return add_words(field, value, is_variable);
}

static bool read_time(struct str word, uint64_t *seconds)
{
	CLEANUP(mem_free) char *text = xstrndup(word.ptr, word.len);
	return parse_quantity(text, time_units, seconds) && *seconds <= SECONDS_MAX;
}

static bool is_time(struct str word)
{
	uint64_t ignored;
	return read_time(word, &ignored);
}

static bool set_times(void *field, const char *value)
{
	return add_words(field, value, is_time);
}

bool config_times_next(struct str *rest, uint64_t *seconds)
{
	*rest = str_trim(*rest);
	return rest->len && read_time(str_cut(rest, ' '), seconds);
}

bool config_keep_read(const char *text, uint64_t *seconds, uint64_t *number)
{
	struct str rest = str_from(text);
	if (!config_times_next(&rest, seconds))
		return false;
	return decimal_parse(str_trim(rest), NUMBER_MAX, number) && *number > 0;
}

static bool set_keep(void *field, const char *value)
{
	uint64_t seconds, number;
	return config_keep_read(value, &seconds, &number) && set_string(field, value);
}

static bool set_files(void *field, const char *value)
{
	static const char *const words[] = {"proxy", "redirect", NULL};
	return set_one_of(field, value, words);
}

static bool is_upstream(struct str word)
{
	return !str_eq(word, STR("merge")) && !str_eq(word, STR("no")) && is_rule(word);
}

static bool set_merge(void *field, const char *value)
{
	static const char *const words[] = {"merge", "no", NULL};
	const char *before = *(char **)field;
	bool is_word = str_eq(str_from(value), STR("merge")) || str_eq(str_from(value), STR("no"));
	if (is_word || (before && (strcmp(before, "merge") == 0 || strcmp(before, "no") == 0)))
		return !before && set_one_of(field, value, words);
	return add_words(field, value, is_upstream);
}

static bool set_wheels(void *field, const char *value)
{
	static const char *const words[] = {"all", "fitting", NULL};
	return set_one_of(field, value, words);
}

static bool set_indexes(void *field, const char *value)
{
	static const char *const words[] = {"first", "together", NULL};
	return set_one_of(field, value, words);
}

static bool set_root(void *field, const char *value)
{
	static const char *const words[] = {"local", "all", NULL};
	return set_one_of(field, value, words);
}

static bool set_unknown(void *field, const char *value)
{
	static const char *const words[] = {"first-seen", "hide", "allow", NULL};
	return set_one_of(field, value, words);
}

static bool set_paths(void *field, const char *value)
{
	return add_words(field, value, is_path);
}

static bool set_url(void *field, const char *value)
{
	char **out = field, *url = url_base(str_from(value));
	if (!url)
		return false;
	free(*out);
	*out = url;
	return true;
}

static bool set_index(void *field, const char *value)
{
	return is_url(str_from(value)) && set_string(field, value);
}

static bool set_urls(void *field, const char *value)
{
	return add_words(field, value, is_url);
}

static bool is_network(struct str word)
{
	struct address_network ignored;
	return address_read_network(word, &ignored);
}

static bool set_networks(void *field, const char *value)
{
	return add_words(field, value, is_network);
}

static bool set_hosts(void *field, const char *value)
{
	return add_words(field, value, is_host);
}

// A folder. The address of a bucket would be one whose name is "s3:".
static bool set_path(void *field, const char *value)
{
	return !place_s3_is(value) && set_string(field, value);
}

// Two names of one place would be two places.
static bool set_place(void *field, const char *value)
{
	struct err ignored = ERR_INIT;
	if (!place_s3_is(value))
		return set_string(field, value);
	CLEANUP(mem_free) char *address = place_address_real(value, &ignored);
	return address && set_string(field, address);
}

static bool set_credentials(void *field, const char *value)
{
	return hook_is_valid(value, "") && set_string(field, value);
}

const struct config_type config_type_string = {.wants = "a value", .set = set_string, .is_owned = true};
const struct config_type config_type_path = {
	.wants = "a path (a bucket cannot have it)", .set = set_path, .is_owned = true};
const struct config_type config_type_place = {
	.wants = "a path, or s3://BUCKET/PREFIX", .set = set_place, .is_owned = true};
const struct config_type config_type_credentials = {
	.wants = "a command (with %% for a per cent sign)", .set = set_credentials, .is_owned = true};
const struct config_type config_type_level = {
	.wants = "one of error, warn, info, debug", .set = set_level, .is_owned = true};
const struct config_type config_type_integer = {.wants = "a number", .set = set_integer, .most = 1 << 20};
const struct config_type config_type_threads = {.wants = "a number", .set = set_integer, .most = 1024};
const struct config_type config_type_size = {.wants = "a size (as 500K, 64M, 1G)", .set = set_size, .most = 1ULL << 40};
const struct config_type config_type_log = {
	.wants = "a size of at most 64M (as 500K, 4M)", .set = set_size, .most = LIMIT_RESULT_LOG};
const struct config_type config_type_quota = {
	.wants = "a size (as 500K, 64M, 1G)", .set = set_size, .most = 1ULL << 60};
const struct config_type config_type_count = {.wants = "a number", .set = set_integer, .most = NUMBER_MAX};
const struct config_type config_type_seconds = {
	.wants = "a time (as 60, 2m, 1h, 1d)", .set = set_seconds, .most = SECONDS_MAX};
const struct config_type config_type_days = {
	.wants = "a number of days, or a time (as 30, 12h)", .set = set_days, .most = SECONDS_MAX};
const struct config_type config_type_percent = {.wants = "a share (as 20%)", .set = set_percent, .most = 100};
const struct config_type config_type_redirect = {
	.wants = "one of identical, superseded, no", .set = set_redirect, .is_owned = true};
const struct config_type config_type_bool = {.wants = "yes or no", .set = set_bool};
const struct config_type config_type_recording = {.wants = "no or who", .set = set_recording, .is_owned = true};
const struct config_type config_type_audit = {.wants = "one of refuse, warn, off", .set = set_audit, .is_owned = true};
const struct config_type config_type_watch = {.wants = "one of yes, no, auto", .set = set_watch, .is_owned = true};
const struct config_type config_type_covered = {.wants = "accept or refuse", .set = set_covered};
const struct config_type config_type_pythons = {
	.wants = "a list of Pythons (as 3.12 3.13t pp311)", .set = set_pythons, .is_owned = true, .is_list = true};
const struct config_type config_type_arch = {
	.wants = "an architecture (as x86_64, aarch64)", .set = set_arch, .is_owned = true};
const struct config_type config_type_libc = {
	.wants = "a libc (as glibc 2.35, musl 1.2)", .set = set_libc, .is_owned = true};
const struct config_type config_type_release = {
	.wants = "a command (with %v, %w, %p, and %% for a per cent sign)", .set = set_release, .is_owned = true};
const struct config_type config_type_change = {
	.wants = "a command (with %p, %v, %n, %r, and %% for a per cent sign)", .set = set_change, .is_owned = true};
const struct config_type config_type_command = {
	.wants = "a command (with %p, %v, %s, %o, %w, %n, %r, %i, %e, %d, %y, and %% for a per cent sign)",
	.set = set_command,
	.is_owned = true};
const struct config_type config_type_build = {
	.wants = "a command (with %p, %v, %s, %o, %n, %r, %i, %e, %d, %y, and %% for a per cent sign)",
	.set = set_build,
	.is_owned = true};
const struct config_type config_type_wrap = {
	.wants = "a command (with %p, %v, %o, %n, %r, %i, %d, %y, and %% for a per cent sign)",
	.set = set_wrap,
	.is_owned = true};
const struct config_type config_type_commands = {
	.wants = "a command (with %p, %v, %s, %o, %w, %n, %r, %i, %e, %d, %y, and %% for a per cent sign)",
	.set = add_command,
	.is_owned = true,
	.is_list = true};
const struct config_type config_type_date = {.wants = "a date (as 2027-03-31)", .set = set_date, .is_owned = true};
const struct config_type config_type_note = {.wants = "a note of at most 200 bytes", .set = set_note, .is_owned = true};
const struct config_type config_type_times = {
	.wants = "a list of times (as 1d 3d 7d)", .set = set_times, .is_owned = true, .is_list = true};
const struct config_type config_type_keep = {
	.wants = "a time and a number (as 90d 50)", .set = set_keep, .is_owned = true};
const struct config_type config_type_rules = {
	.wants = "words with blanks between", .set = set_rules, .is_list = true, .is_owned = true};
const struct config_type config_type_variables = {
	.wants = "a list of names of variables", .set = set_variables, .is_owned = true, .is_list = true};
const struct config_type config_type_platforms = {.wants = "a list of platforms (names, or globs as ubuntu-*)",
	.set = set_projects,
	.is_owned = true,
	.is_list = true};
const struct config_type config_type_clients = {.wants = "yes, no, or a list of views (names, or globs as nightly-*)",
	.set = set_rules,
	.is_owned = true,
	.is_list = true};
const struct config_type config_type_index = {
	.wants = "an address, http: or https:", .set = set_index, .is_owned = true, .is_secret = true};
const struct config_type config_type_paths = {
	.wants = "a list of paths", .set = set_paths, .is_owned = true, .is_list = true};
const struct config_type config_type_url = {
	.wants = "an address (as https://wheels.example.org/)", .set = set_url, .is_owned = true};
const struct config_type config_type_urls = {.wants = "a list of addresses, http: or https:",
	.set = set_urls,
	.is_owned = true,
	.is_list = true,
	.is_secret = true};
const struct config_type config_type_projects = {.wants = "a list of projects (names, or globs as acme-*)",
	.set = set_projects,
	.is_owned = true,
	.is_list = true};
const struct config_type config_type_files = {.wants = "proxy or redirect", .set = set_files, .is_owned = true};
const struct config_type config_type_indexes = {.wants = "first or together", .set = set_indexes, .is_owned = true};
const struct config_type config_type_severity = {
	.wants = "one of low, medium, high, critical", .set = set_severity, .is_owned = true};
const struct config_type config_type_root = {.wants = "local or all", .set = set_root, .is_owned = true};
const struct config_type config_type_unknown = {
	.wants = "first-seen, hide or allow", .set = set_unknown, .is_owned = true};
const struct config_type config_type_wheels = {.wants = "all or fitting", .set = set_wheels, .is_owned = true};
const struct config_type config_type_merge = {
	.wants = "merge, no, or a list of upstreams", .set = set_merge, .is_owned = true, .is_list = true};
const struct config_type config_type_hosts = {
	.wants = "a list of hosts, without ports", .set = set_hosts, .is_owned = true, .is_list = true};
const struct config_type config_type_networks = {.wants = "a list of addresses and networks (as 192.0.2.7 10.0.0.0/8 fd00::/8)",
	.set = set_networks,
	.is_owned = true,
	.is_list = true};

// --- since when ---

int since_read(const char *text, int64_t *out, struct err *e)
{
	uint64_t seconds;
	CLEANUP(mem_free) char *day = xasprintf("%sT00:00:00Z", text);
	if (clock_read(text, out) || clock_read(day, out))
		return 0;
	if (!config_type_seconds.set(&seconds, text) || seconds > config_type_seconds.most)
		return err_set(e, ERR_USAGE,
			"%s is neither a time (as 2026-11-22 or 2026-11-22T20:00:00Z) nor a "
			"duration (as 12h, 7d)",
			text);
	*out = clock_wall_seconds() - (int64_t)seconds;
	return 0;
}
