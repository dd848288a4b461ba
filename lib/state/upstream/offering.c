// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/offering.h"

#include <string.h>

#include "lib/domain/text/specifier.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/state/upstream/owned-names.h"

const char *const offering_rule_name[OFFERING_RULE_COUNT] = {
	[OFFERING_DENY] = "deny",
	[OFFERING_RECORD] = "block",
	[OFFERING_HOLD] = "hold",
	[OFFERING_AGE] = "cooldown",
};

const char *const offering_unknown_name[OFFERING_UNKNOWN_COUNT] = {
	[OFFERING_FIRST_SEEN] = "first-seen",
	[OFFERING_HIDE] = "hide",
	[OFFERING_ALLOW] = "allow",
};

static bool is_for(const char *upstream, const struct offering_rules *r)
{
	return !upstream || strcmp(upstream, r->upstream) == 0;
}

// Holds are sorted: the earliest time counts.
static const struct hold *earliest_hold(const struct offering_rules *r)
{
	for (size_t i = 0; i < r->holds->holds; i++)
		if (is_for(r->holds->hold[i].upstream, r))
			return &r->holds->hold[i];
	return NULL;
}

bool offering_rules_are_none(const struct offering_rules *r)
{
	return !r->cooldown && !r->lists && !(r->deny && r->deny->count) &&
	       !(r->denied && r->denied->count) && !r->holds->holds && !r->holds->waivers;
}

void offering_project_init(struct offering_project *p, const struct offering_rules *r, const char *project, int64_t now)
{
	*p = (struct offering_project){.rules = r, .now = now, .hold = earliest_hold(r)};
	p->cooldown = r->exempt && name_list_has(r->exempt, project) ? 0 : r->cooldown;
	p->waiver = holds_waivers_of(r->holds, project, &p->waivers);
	if (r->denied)
		p->denied = requirements_of(r->denied, project, &p->denieds);
	if (r->deny)
		p->deny = requirements_of(r->deny, project, &p->denies);
	if (r->allow)
		p->allow = requirements_of(r->allow, project, &p->allows);
	if (advisories_know(r->lists, r->upstream, str_from(project)))
		p->blocked = project;
}

bool offering_is_blocked(const struct offering_project *p)
{
	struct advisory worst;
	for (size_t i = 0; i < p->denieds; i++)
		if (!p->denied[i].platform && !*p->denied[i].specifier)
			return true;
	for (size_t i = 0; i < p->denies; i++)
		if (!*p->deny[i].specifier)
			return true;
	return p->blocked && !p->allows && !p->waivers &&
	       advisories_cover(p->rules->lists, p->rules->upstream, str_from(p->blocked), &worst);
}

bool offering_needs_version(const struct offering_project *p)
{
	return p->denieds || p->denies || p->waivers || p->blocked;
}

static const struct requirement *find_denying(const struct requirement *line, size_t lines, const struct version *version)
{
	for (size_t i = 0; i < lines; i++)
		if (!line[i].platform && (!version || specifier_set_admits(str_from(line[i].specifier), version)))
			return &line[i];
	return NULL;
}

static const struct requirement *find_deny(const struct offering_project *p, const struct version *version)
{
	const struct requirement *line = find_denying(p->denied, p->denieds, version);
	return line ? line : find_denying(p->deny, p->denies, version);
}

static bool is_allowed(const struct offering_project *p, const struct version *version)
{
	bool is_found = false;
	for (size_t i = 0; i < p->allows && !is_found; i++)
		is_found = version ? specifier_set_admits(str_from(p->allow[i].specifier), version) : !*p->allow[i].specifier;
	return is_found;
}

static bool waiver_has(const struct waiver *w, const struct version *version)
{
	return !w->specifier || (version && specifier_set_admits(str_from(w->specifier), version));
}

// The one that lasts longest. record: of those that lift it; NULL: of all.
static const struct waiver *find_waiver(const struct offering_project *p, const struct version *version,
	const struct str *record)
{
	const struct waiver *found = NULL;
	for (size_t i = 0; i < p->waivers; i++) {
		const struct waiver *w = &p->waiver[i];
		bool is_for_record = !record || (w->record && str_eq(str_from(w->record), *record));
		if (w->until >= p->now && is_for(w->upstream, p->rules) && waiver_has(w, version) && is_for_record &&
			(!found || w->until > found->until))
			found = w;
	}
	return found;
}

struct record_search {
	const struct offering_project *project;
	const struct version *version;
	struct offering_version *out;
};

static bool note_hiding_record(void *ctx, const struct advisory *a)
{
	struct record_search *s = ctx;
	const struct waiver *w = find_waiver(s->project, s->version, &a->id), **first = &s->out->lifts;
	if (w) {
		*first = !*first || w->until < (*first)->until ? w : *first;
		return true;
	}
	if (!s->out->is_recorded || advisory_is_worse(a, &s->out->record))
		s->out->record = *a;
	return s->out->is_recorded = true;
}

static void find_record(const struct offering_project *p, const struct version *version, struct offering_version *out)
{
	const struct offering_rules *r = p->rules;
	struct record_search s = {.project = p, .version = version, .out = out};
	struct str text = str_from(version ? version->text : "");
	if (!p->blocked || is_allowed(p, version))
		return;
	if (p->waivers)
		advisories_each(r->lists, r->upstream, str_from(p->blocked), text, note_hiding_record, &s);
	else
		out->is_recorded = advisories_find(r->lists, r->upstream, str_from(p->blocked), text, &out->record);
}

void offering_look_up(const struct offering_project *p, const struct version *version, struct offering_version *out)
{
	*out = (struct offering_version){.deny = find_deny(p, version), .waiver = find_waiver(p, version, NULL)};
	find_record(p, version, out);
}

// When the file is of age: 0: always; INT64_MAX: never. base: its time; 0: unknown.
static int64_t age_end(const struct offering_project *p, int64_t known, int64_t base)
{
	enum offering_unknown unknown = p->rules->unknown;
	if (p->cooldown && (known || unknown == OFFERING_FIRST_SEEN))
		return base ? base + p->cooldown : INT64_MAX;
	if (p->cooldown)
		return unknown == OFFERING_HIDE ? INT64_MAX : 0;
	return p->hold && known > p->now ? known : 0;
}

void offering_judge(const struct offering_project *p, const struct offering_file *f, struct offering *out)
{
	static const struct offering_version nothing;
	const struct offering_version *v = f->version ? f->version : &nothing;
	int64_t known = f->uploaded >= OFFERING_OLDEST ? f->uploaded : 0;
	int64_t base = known ? known : f->seen;
	*out = (struct offering){
		.rules = p->rules, .deny = v->deny, .record = v->record, .lifts = v->lifts, .from = age_end(p, known, base)};
	out->hold = p->hold && (!base || base > p->hold->after) ? p->hold : NULL;
	bool is_young = out->from > p->now;
	if (out->hold || is_young)
		out->waiver = v->waiver;
	out->hides = (unsigned)(out->deny != NULL) << OFFERING_DENY | (unsigned)v->is_recorded << OFFERING_RECORD;
	if (!out->waiver)
		out->hides |= (unsigned)(out->hold != NULL) << OFFERING_HOLD | (unsigned)is_young << OFFERING_AGE;
	out->is_offered = !out->hides;
	if (out->hides & (1u << OFFERING_DENY | 1u << OFFERING_RECORD))
		return;
	if (out->is_offered && out->waiver && (out->hold || out->from > out->waiver->until + 1))
		out->next = out->waiver->until + 1;
	else if (!out->is_offered && !out->hold && out->from < INT64_MAX)
		out->next = out->from;
	if (out->is_offered && out->lifts && (!out->next || out->lifts->until + 1 < out->next))
		out->next = out->lifts->until + 1;
}

enum offering_rule offering_first_rule(const struct offering *o)
{
	enum offering_rule first = OFFERING_DENY;
	while (first < OFFERING_AGE && !(o->hides & 1u << first))
		first++;
	return first;
}

// As the configuration has it: 7d, 36h.
static void write_duration(int64_t seconds, struct buf *out)
{
	static const struct {
		char letter;
		int64_t seconds;
	} unit[] = {{'d', 86400}, {'h', 3600}, {'m', 60}, {'s', 1}};
	size_t i = 0;
	while (seconds % unit[i].seconds)
		i++;
	buf_printf(out, "%lld%c", (long long)(seconds / unit[i].seconds), unit[i].letter);
}

static void write_age(const struct offering *o, struct buf *out)
{
	char when[CLOCK_TEXT];
	const struct offering_rules *r = o->rules;
	if (o->from == INT64_MAX) {
		buf_printf(out, "cooling, and its upload time is unknown (upstream %s, cooldown-unknown %s)", r->upstream,
			offering_unknown_name[r->unknown]);
		return;
	}
	clock_write(o->from, when);
	buf_printf(out, "cooling until %s (upstream %s", when, r->upstream);
	if (r->cooldown) {
		buf_puts(out, ", cooldown ");
		write_duration(r->cooldown, out);
	}
	buf_putc(out, ')');
}

// Clients are not told the folder.
void offering_source(const struct offering *o, enum offering_rule rule, struct buf *out)
{
	const struct offering_rules *r = o->rules;
	const char *path = NULL;
	if (rule == OFFERING_DENY)
		path = o->deny->source;
	else if (rule == OFFERING_RECORD)
		path = advisories_source_of(r->lists, o->record.id);
	if (path)
		buf_puts(out, fs_path_as_told(path, false));
	else if (rule == OFFERING_HOLD)
		buf_puts(out, o->hold->id);
	else if (rule == OFFERING_AGE)
		buf_printf(out, "%s of upstream %s", o->from == INT64_MAX ? "cooldown-unknown" : r->cooldown ? "cooldown" : "upload time",
			r->upstream);
}

void offering_write_deny(const struct requirement *line, const char *contact, struct buf *out)
{
	buf_printf(out, "denied by %s: %s%s%s", fs_path_as_told(line->source, false),
		*line->reason ? line->reason : "no reason is given", contact ? "; ask " : "", contact ? contact : "");
}

void offering_write(const struct offering *o, enum offering_rule rule, struct buf *out)
{
	char when[CLOCK_TEXT];
	if (rule == OFFERING_AGE) {
		write_age(o, out);
		return;
	}
	if (rule == OFFERING_HOLD) {
		clock_write(o->hold->after, when);
		buf_printf(out, "held since %s: %s (%s)", when, o->hold->reason, o->hold->id);
	} else if (rule == OFFERING_RECORD) {
		advisory_reason(&o->record, out);
	} else {
		offering_write_deny(o->deny, o->rules->contact, out);
		return;
	}
	if (o->rules->contact)
		buf_printf(out, "; ask %s", o->rules->contact);
}
