// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-choices.h"

static void put_choice(struct finder *finder, struct jsondoc *out, const char *key, const struct environment *env,
	enum file_origin source)
{
	struct finder_choice choice;
	finder_choose(finder, env, source, &choice);
	if (!choice.file)
		return;
	struct jsondoc *chosen = jsondoc_object();
	jsondoc_put_str(chosen, "filename", choice.file->filename);
	jsondoc_put_str(chosen, "version", choice.version);
	jsondoc_put_str(chosen, "from", choice.file->sources & FROM_HERE ? "here" : "upstream");
	if (choice.file->is_yanked)
		jsondoc_put_bool(chosen, "yanked", true);
	if (!choice.has_all_micros)
		jsondoc_put_bool(chosen, "some-micros", true);
	jsondoc_put(out, key, chosen);
}

static void add_environment(struct finder *finder, const struct platform *p, const struct environment *env,
	enum file_origin client, struct jsondoc *out)
{
	CLEANUP(buf_release) struct buf python;
	struct jsondoc *row = jsondoc_object();
	buf_init(&python, 64);
	python_print(&env->python, &python);
	jsondoc_put_str(row, "platform", p->name);
	jsondoc_put_str(row, "python", python.data);
	put_choice(finder, row, "here", env, FROM_HERE);
	put_choice(finder, row, "upstream", env, FROM_UPSTREAM);
	put_choice(finder, row, "both", env, FROM_BOTH);
	put_choice(finder, row, "client", env, client);
	jsondoc_add(out, row);
}

struct jsondoc *explain_choices(const struct view *view, enum file_origin client, struct finder *finder)
{
	struct jsondoc *out = jsondoc_array();
	for (size_t i = 0; i < view->platform_count; i++) {
		const struct platform *p = view->platform[i];
		for (size_t n = 0; n < p->profile.environment_count; n++)
			add_environment(finder, p, &p->profile.environment[n], client, out);
	}
	return out;
}
