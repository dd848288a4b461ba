// SPDX-License-Identifier: Apache-2.0
#include "server/api/route-table.h"

#include <assert.h>

#include "server/api/handlers.h"
#include "server/pages/home.h"
#include "server/pages/page.h"

// The first row that fits a path is its route. Three lines a row.
// clang-format off
const struct route route_table[] = {
	{"/", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_OTHER,
		ROUTE_RIGHT_NONE, page_inline, page_worker, NULL,
		"An overview for people, and the same as JSON.", &home_page},
	{"/simple/", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_SIMPLE,
		ROUTE_RIGHT_READ_VIEW, simple_root_inline, simple_root_worker, NULL,
		"The projects of the default view.", NULL},
	{"/simple/:project/", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_SIMPLE,
		ROUTE_RIGHT_READ_VIEW, simple_project_inline, simple_project_worker, NULL,
		"The files of a project in the default view.", NULL},
	// Before the next one: no platform has the name "upstream".
	{"/files/upstream/:project/:file", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_UPSTREAM_FILE,
		ROUTE_RIGHT_BY_DATA, proxy_inline, proxy_worker, NULL,
		"A file of upstream, where a view merges it.", NULL},
	{"/files/:platform/:project/:file", METHOD_GET, ROUTE_POOL_PLATFORM, METRIC_ROUTE_FILE,
		ROUTE_RIGHT_READ_PLATFORM, files_inline, files_worker, NULL,
		"A file of a platform.", NULL},
	{"/upload/:platform/", METHOD_POST, ROUTE_POOL_PLATFORM, METRIC_ROUTE_UPLOAD,
		ROUTE_RIGHT_UPLOAD, NULL, NULL, upload_receive,
		"The legacy upload API.", NULL},
	{"/-/health", METHOD_GET, ROUTE_POOL_NONE, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, status_health_inline, NULL, NULL,
		"The state of the server, as JSON.", NULL},
	{"/-/ready", METHOD_GET, ROUTE_POOL_NONE, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_NONE, status_ready_inline, NULL, NULL,
		"200 once a scan has looked at every platform, 503 before.", NULL},
	{"/-/metrics", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, status_metrics, NULL,
		"Numbers for Prometheus, in its text format.", NULL},
	{"/-/style.css", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_OTHER,
		ROUTE_RIGHT_NONE, asset_style_inline, asset_style, NULL,
		"The style of the pages for people.", NULL},
	{"/-/page.js", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_OTHER,
		ROUTE_RIGHT_NONE, asset_script_inline, asset_script, NULL,
		"Their script, which they do not need.", NULL},
	{"/-/search", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"Projects by name: a page for people, and JSON.", &search_page},
	{"/-/coverage", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, page_inline, page_worker, NULL,
		"Which wheels many projects have, by platform and Python: a page for people, JSON and CSV.", &coverage_page},
	{"/-/usage/", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, page_inline, page_worker, NULL,
		"How many files and bytes there are of what: a page for people, JSON and CSV.", &usage_page},
	{"/-/log/", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"Who did what to which file: a page for people, JSON and text.", &log_page},
	{"/-/explain/simple/:project", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, NULL, page_worker, NULL,
		"What wheelcache explain says about a project, as JSON and as a page.", &explain_page},
	{"/-/explain/simple/:project/:version", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, NULL, page_worker, NULL,
		"The same about one version.", &explain_page},
	{"/-/explain/:view/:project", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, NULL, page_worker, NULL,
		"The same in a view or a platform.", &explain_page},
	{"/-/explain/:view/:project/:version", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, NULL, page_worker, NULL,
		"The same about one version in a view or a platform.", &explain_page},
	{"/-/missing/:platform", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, page_inline, page_worker, NULL,
		"What wheelcache missing says about a platform.", &missing_page},
	{"/-/missing/:platform", METHOD_POST, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_UPLOAD, NULL, NULL, missing_receive,
		"The same as if the wheels of a list of rebuilds were not there.", NULL},
	{"/-/compare/:platform/:file/:other-platform/:other-file", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"What wheelcache compare says about two wheels: a page for people, and JSON.", &compare_page},
	{"/-/channel/:view/", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, page_inline, page_worker, NULL,
		"A view as a channel of versions: a page for people, and JSON.", &channel_page},
	{"/-/project/:project", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, page_inline, page_worker, NULL,
		"A project on all platforms: a page for people, and JSON.", &project_page},
	{"/-/view/simple", METHOD_GET, ROUTE_POOL_NONE, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, simple_view_inline, NULL, NULL,
		"The platforms of the default view, as JSON.", NULL},
	{"/-/view/:view", METHOD_GET, ROUTE_POOL_NONE, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, simple_view_inline, NULL, NULL,
		"The platforms of a view, as JSON.", NULL},
	{"/-/client-config/simple", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, NULL, page_worker, NULL,
		"How pip, uv and CI systems use the default view: what wheelcache client-config prints, as a page and JSON.", &client_page},
	{"/-/client-config/:view", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, NULL, page_worker, NULL,
		"The same for a view or a platform.", &client_page},
	{"/-/client-config/:view/:part", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_READ_VIEW, NULL, page_worker, NULL,
		"The same for a view on one of its platforms.", &client_page},
	{"/-/plan/", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"The last plan of a prune: a page for people, and JSON.", &plan_page},
	{"/-/docs/", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_NONE, NULL, page_worker, NULL,
		"The documentation, with an index by role.", &documentation_page},
	{"/-/docs/:file", METHOD_GET, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_NONE, NULL, page_worker, NULL,
		"A page of the documentation.", &documentation_page},
	{"/-/builds/", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"What builders tried, and what fails now: a page for people, and JSON.", &builds_page},
	{"/-/builds/:project/", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"Each attempt to build a project, for people and as JSON.", &builds_project_page},
	{"/-/builds/:platform/", METHOD_POST, ROUTE_POOL_PLATFORM, METRIC_ROUTE_UPLOAD,
		ROUTE_RIGHT_UPLOAD, NULL, NULL, builds_receive,
		"Takes the result of a build.", NULL},
	{"/-/builds/:project/:id", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"The log of one attempt, as text.", &builds_log_page},
	{"/-/evidence/", METHOD_POST, ROUTE_POOL_SUMMARIES, METRIC_ROUTE_UPLOAD,
		ROUTE_RIGHT_OF_TOKEN, NULL, NULL, evidence_receive,
		"Takes the record of a test run.", NULL},
	{"/-/evidence/:id", METHOD_GET, ROUTE_POOL_SEARCHES, METRIC_ROUTE_MACHINE,
		ROUTE_RIGHT_BY_DATA, NULL, page_worker, NULL,
		"A record of a test run: a page for people, and JSON.", &evidence_page},
	{"/-/promote/:view", METHOD_POST, ROUTE_POOL_SEARCHES, METRIC_ROUTE_UPLOAD,
		ROUTE_RIGHT_OF_TOKEN, NULL, NULL, promote_receive,
		"Promotes files into a view.", NULL},
	{"/-/yank/", METHOD_POST, ROUTE_POOL_SEARCHES, METRIC_ROUTE_UPLOAD,
		ROUTE_RIGHT_OF_TOKEN, NULL, NULL, yank_receive,
		"Yanks files, or undoes it.", NULL},
	// Before the next one, which would redirect each unknown path of one part.
	{"/:view", METHOD_GET, ROUTE_POOL_NONE, METRIC_ROUTE_OTHER,
		ROUTE_RIGHT_BY_DATA, home_view_inline, NULL, NULL,
		"A redirect to the index of a view or a platform.", NULL},
	{"/:view/", METHOD_GET, ROUTE_POOL_NONE, METRIC_ROUTE_OTHER,
		ROUTE_RIGHT_BY_DATA, home_view_inline, NULL, NULL,
		"A redirect to the index of a view or a platform.", NULL},
	{"/:view/simple/", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_SIMPLE,
		ROUTE_RIGHT_READ_VIEW, simple_root_inline, simple_root_worker, NULL,
		"The projects of a view or a platform.", NULL},
	{"/:view/simple/:project/", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_SIMPLE,
		ROUTE_RIGHT_READ_VIEW, simple_project_inline, simple_project_worker, NULL,
		"The files of a project in a view or a platform.", NULL},
	{"/:view/:part/simple/", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_SIMPLE,
		ROUTE_RIGHT_READ_VIEW, simple_root_inline, simple_root_worker, NULL,
		"The projects of a view on one of its platforms.", NULL},
	{"/:view/:part/simple/:project/", METHOD_GET, ROUTE_POOL_PAGES, METRIC_ROUTE_SIMPLE,
		ROUTE_RIGHT_READ_VIEW, simple_project_inline, simple_project_worker, NULL,
		"The files of a project in a view on one of its platforms.", NULL},
};
// clang-format on

const size_t route_table_count = ARRAY_SIZE(route_table);

struct str *route_part(struct route_match *match, struct str part)
{
	const struct {
		struct str name;
		struct str *field;
	} parts[] = {
		{STR(":view"), &match->view},
		{STR(":platform"), &match->platform},
		{STR(":part"), &match->part},
		{STR(":project"), &match->project},
		{STR(":version"), &match->version},
		{STR(":file"), &match->file},
		{STR(":id"), &match->id},
		{STR(":other-platform"), &match->other_platform},
		{STR(":other-file"), &match->other_file},
	};
	size_t i = 0;
	while (i < ARRAY_SIZE(parts) && !str_eq(parts[i].name, part))
		i++;
	assert(i < ARRAY_SIZE(parts)); // test-route-table looks up each part of the table
	return parts[i].field;
}

const char *const route_pool_name[ROUTE_POOL_COUNT] = {"none", "pages", "platform", "searches", "summaries"};
const char *const route_right_name[ROUTE_RIGHT_COUNT] = {
	"none", "read-view", "read-platform", "upload", "of-token", "by-data"};
