// SPDX-License-Identifier: Apache-2.0
#include "explainer/explain-choices.h"

#include "lib/install/resolve.h"
#include "lib/state/store/store.h"

static void put_choice(struct index_files *files, struct jsondoc *out, const char *key, size_t place,
	enum file_origin source, const char *requested)
{
	uint64_t micros;
	const struct index_file *f = resolve_file(files, place, source, requested, &micros);
	if (!f)
		return;
	struct jsondoc *chosen = jsondoc_object();
	jsondoc_put_str(chosen, "filename", f->filename);
	jsondoc_put_str(chosen, "version", f->version.text);
	jsondoc_put_str(chosen, "from", f->sources & FROM_HERE ? "here" : "upstream");
	if (f->is_yanked)
		jsondoc_put_bool(chosen, "yanked", true);
	if (micros != UINT64_MAX)
		jsondoc_put_bool(chosen, "some-micros", true);
	jsondoc_put(out, key, chosen);
}

struct jsondoc *explain_choices(struct index_files *files, enum file_origin client, const char *requested)
{
	struct jsondoc *out = jsondoc_array();
	for (size_t i = 0; i < files->fits->places; i++) {
		const struct fits_place *place = &files->fits->place[i];
		struct jsondoc *row = jsondoc_object();
		jsondoc_put_str(row, "platform", place->platform->name);
		jsondoc_put_str(row, "python", place->python);
		put_choice(files, row, "here", i, FROM_HERE, requested);
		put_choice(files, row, "upstream", i, FROM_UPSTREAM, requested);
		put_choice(files, row, "both", i, FROM_BOTH, requested);
		put_choice(files, row, "client", i, client, requested);
		jsondoc_add(out, row);
	}
	return out;
}
