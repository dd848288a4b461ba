// SPDX-License-Identifier: Apache-2.0
#include "pruner/plan/policy.h"

#include <fnmatch.h>
#include <string.h>

#include "lib/base/log.h"
#include "builder/missing/kept-versions.h"
#include "lib/base/limits.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/access/downloads.h"
#include "lib/state/config/state-files.h"

enum { DESCRIPTION_MAX = 4096 };

const char *const policy_class[POLICY_OPTIONS] = {"pure", "off-list", "unusable", "corrupt", "name-taken-over"};

bool *policy_takes_class(struct policy_takes *takes, const char *name)
{
	bool *const class[POLICY_OPTIONS] = {
		&takes->pure, &takes->off_list, &takes->unusable, &takes->corrupt, &takes->taken_over};
	for (size_t i = 0; i < POLICY_OPTIONS; i++)
		if (strcmp(policy_class[i], name) == 0)
			return class[i];
	return NULL;
}

// Hashes the length too, so that no two policies give the same bytes.
static void hash_text(struct digest *d, struct str fact)
{
	uint64_t len = fact.len;
	digest_add(d, &len, sizeof(len));
	digest_add(d, fact.ptr, fact.len);
}

static void hash_number(struct digest *d, int64_t number)
{
	digest_add(d, &number, sizeof(number));
}

static void hash_known(struct digest *d, const char *text)
{
	hash_text(d, str_from(text ? text : ""));
}

// The upstreams that the plan compares with, in order.
static void hash_upstreams(const struct config *c, struct digest *d)
{
	struct config_order order;
	config_default_order(c, &order);
	hash_number(d, order.is_together);
	for (size_t i = 0; i < order.count; i++) {
		const struct config_upstream *u = &c->upstreams.item[order.item[i]];
		const char *const texts[] = {u->urls, u->projects, u->not_projects, u->private_names, u->local_only,
			u->upstream_only, u->shared, u->cooldown_exempt, u->cooldown_unknown, u->block,
			u->block_severity, c->upstream.private_names, c->upstream.local_only,
			c->upstream.upstream_only, c->upstream.shared};
		hash_number(d, u->trust_404);
		hash_number(d, (int64_t)u->cooldown);
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			hash_known(d, texts[k]);
	}
}

// The bytes of a list decide what upstream offers.
static int hash_list(const char *path, struct digest *d, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_REQUIREMENTS);
	if (path && fs_read_file(path, &text, e) < 0)
		return -1;
	hash_text(d, buf_view(&text));
	return 0;
}

static int hash_lists(const struct config *c, struct digest *d, struct err *e)
{
	struct config_order order;
	config_default_order(c, &order);
	if (hash_list(c->deny, d, e) < 0)
		return -1;
	for (size_t i = 0; i < order.count; i++) {
		const struct config_upstream *u = &c->upstreams.item[order.item[i]];
		if (hash_list(u->deny, d, e) < 0 || hash_list(u->allow, d, e) < 0)
			return -1;
	}
	return 0;
}

static int hash_values(const struct policy *p, const struct config *c, struct digest *d, struct err *e)
{
	const int64_t values[] = {p->takes.pure, p->takes.off_list, p->takes.unusable, p->takes.corrupt,
		p->takes.taken_over, p->min_age, p->upstream_min_age, p->downloaded};
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		hash_number(d, values[i]);
	hash_upstreams(c, d);
	return hash_lists(c, d, e);
}

static int read_and_hash(struct policy *p, const struct config *c, const struct store *s, struct err *e)
{
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	uint8_t sha256[SHA256_SIZE];
	digest_begin(d);
	if (hash_values(p, c, d, e) < 0)
		return -1;
	p->has_packages = c->prune_packages != NULL;
	hash_number(d, p->has_packages);
	if (kept_lists_read(c, &p->packages, &p->pins, d, e) < 0 || kept_locks_read(c, clock_wall_seconds(), d, &p->locks, e) < 0)
		return -1;
	if (p->takes.off_list && !p->packages.count)
		return err_set(e, ERR_USAGE,
			"--off-list needs [prune] packages: without a list, or with an empty one, everything "
			"would be off it");
	// What a branch wants matters only where its upstream's replacement does not.
	int64_t now = clock_wall_seconds();
	if (c->branch_count && branches_read(c, NULL, now, &p->branches, e) < 0)
		return -1;
	for (size_t i = 0; i < p->branches.count && p->takes.off_list; i++)
		for (size_t k = 0; k < p->branches.branch[i].files; k++)
			digest_add(d, p->branches.branch[i].file[k].sha256, SHA256_SIZE);
	// A line that matches no platform may be a mistake, or be meant for another store with the same list: only a
	// warning.
	for (size_t i = 0; i < p->packages.count; i++) {
		const char *glob = p->packages.item[i].platform;
		size_t k = 0;
		while (glob && k < s->platform_count && fnmatch(glob, s->platform[k].name, 0) != 0)
			k++;
		if (glob && k == s->platform_count)
			log_warn("%s: platform=%s is no platform of this store", p->packages.item[i].source, glob);
	}
	CLEANUP(buf_release) struct buf profile = buf_up_to(DESCRIPTION_MAX);
	for (size_t i = 0; i < s->platform_count; i++) {
		const struct platform *platform = &s->platform[i];
		buf_clear(&profile);
		if (platform->profile.environment_count)
			profile_describe(&platform->profile, &profile);
		hash_text(d, str_from(platform->name));
		hash_text(d, buf_view(&profile));
	}
	digest_end(d, sha256);
	hex_encode(sha256, sizeof(sha256), p->hash);
	return 0;
}

int policy_init(struct policy *p, const struct config *c, const struct store *s, const struct policy_takes *takes,
	struct err *e)
{
	*p = (struct policy){
		.takes = *takes,
		.min_age = (int64_t)c->prune_min_age,
		.upstream_min_age = (int64_t)c->prune_upstream_min_age,
		.downloaded = (int64_t)c->prune_downloaded,
	};
	if (read_and_hash(p, c, s, e) == 0)
		return 0;
	policy_release(p);
	return -1;
}

void policy_release(struct policy *p)
{
	requirements_release(&p->packages);
	requirements_release(&p->pins);
	kept_locks_release(&p->locks);
	branches_release(&p->branches);
	*p = (struct policy){0};
}

// Without a readable file of counts, nothing is known of downloads.
int policy_open_downloads(const struct policy *p, const struct config *c, const char *catalog_path,
	struct downloads **out, struct err *e)
{
	CLEANUP(mem_free) char *path = state_file(c, catalog_path, STATE_FILE_DOWNLOADS);
	struct err why = ERR_INIT;
	*out = NULL;
	if (!p->downloaded || downloads_open(path, out, &why) == 0)
		return 0;
	if (why.kind != ERR_NOT_FOUND && why.kind != ERR_INVALID) {
		*e = why;
		return -1;
	}
	log_warn("every file counts as recently downloaded: %s", why.msg);
	return 0;
}

bool policy_was_downloaded(const struct policy *p, const struct downloads *d, const char *platform,
	const char *filename, int64_t now)
{
	return p->downloaded && downloads_within(d, platform, filename, now, p->downloaded) != DOWNLOADED_NO;
}
