// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/schema.h"

#include "lib/state/catalog/file-columns.h"

#define ATTACHMENT_SCAN_LIST "filename, kind, trusted, size, mtime_ns, inode, written, sha256"
#define PATH_OF_FILE "iif(d.path = '', f.filename, d.path || '/' || f.filename)"
// The bytes of an attachment, their hash, and the project of the file.
#define ATTACHED_TO                                                                                                    \
	"SELECT a.packed, a.sha256, p.name FROM file f JOIN project p ON p.id = f.project"                             \
	" JOIN attachment a ON a.folder = f.folder AND a.filename = f.filename AND a.kind = ?3"                        \
	" AND a.subject = f.sha256 WHERE f.filename = ?1 AND f.platform = ?2 AND"
#define PLACE_OF_FILE                                                                                                  \
	"SELECT " PATH_OF_FILE ", f.size, f.mtime_ns, f.inode, f.sha256, f.metadata_sha256, p.name,"                   \
	" f.state FROM file f JOIN folder d ON d.id = f.folder JOIN project p ON p.id = f.project"                     \
	" WHERE f.filename = ?1 AND f.platform = ?2 AND"

// Compares by prefix. A normalised name has no character that is special in GLOB.
#define IS_NAMED(table) "replace(replace(lower(" table ".filename), '_', '-'), '.', '-') GLOB ?1 || '-*'"
#define IS_NAMED_F IS_NAMED("f")
#define IS_NAMED_M IS_NAMED("m")
#define HISTORY_OF_FILE                                                                                                \
	"SELECT f.platform, f.filename, " PATH_OF_FILE ", f.state, 1, f.reason, m.text" FILE_WHY_LIST " FROM file f"   \
	" JOIN folder d ON d.id = f.folder LEFT JOIN mark m ON m.folder = f.folder"                                    \
	" AND m.filename = f.filename AND m.kind = 1 AND m.reason IS NOT NULL"

#define UNLISTED_HISTORIES_OF_NAME                                                                                     \
	HISTORY_OF_FILE                                                                                                \
	" WHERE f.state > 0 AND " IS_NAMED_F " UNION ALL"                                                              \
	" SELECT m.platform, m.filename, iif(d.path = '', m.filename, d.path || '/' || m.filename), 3, 0, m.reason,"   \
	" m.text" FILE_WHY_LIST " FROM mark m JOIN folder d ON d.id = m.folder"                                        \
	" LEFT JOIN file f ON f.folder = m.folder AND f.filename = m.filename"                                         \
	" WHERE f.id IS NULL AND m.kind = 1 AND m.reason IS NOT NULL AND " IS_NAMED_M " ORDER BY 2, 1, 3"

#define MARKED_FILES                                                                                                   \
	"SELECT m.platform, d.path, m.filename, m.reason, m.text, f.id IS NOT NULL, p.name,"                           \
	" iif(f.state = 1, f.reason, NULL)" FILE_MARK_LIST " FROM mark m"                                              \
	" JOIN folder d ON d.id = m.folder"                                                                            \
	" LEFT JOIN file f ON f.folder = m.folder AND f.filename = m.filename"                                         \
	" LEFT JOIN project p ON p.id = f.project"                                                                     \
	" WHERE m.platform = ?1 AND m.kind = ?2 AND m.reason IS NOT NULL"

#define LAST_PLAN "(SELECT max(id) FROM plan WHERE name IS NOT NULL)"
#define PLANNED                                                                                                        \
	"SELECT platform, size, removes, identical, project, version, filename, path, verdict, why, reason, upstream," \
	" mtime_ns, id"                                                                                                \
	" FROM planned WHERE plan = " LAST_PLAN " AND "
#define PLANNED_BY_PATH                                                                                                \
	"SELECT path, removes, verdict, size, project, filename FROM planned WHERE plan = ?1 AND platform = ?2"        \
	" ORDER BY path"
#define PLANNED_FILTER                                                                                                 \
	"platform = ?1 AND (?2 IS NULL OR verdict = ?2) AND (?4 < 0 OR removes = ?4)"                                  \
	" AND (?3 IS NULL OR instr(lower(filename), ?3) OR instr(project, ?3))"

#define COPY_OF_FILE                                                                                                   \
	"SELECT d.path" FILE_COPY_LIST " FROM file f JOIN folder d ON d.id = f.folder"                                 \
	" WHERE f.filename = ?1 AND f.platform = ?2 AND"

#define NEVER "9223372036854775807"
#define OLDEST_IN(state)                                                                                               \
	"ifnull((SELECT min(mtime_ns) FROM file WHERE project = p.id AND state = " state "), " NEVER ")"

#define CANDIDATE                                                                                                      \
	"SELECT f.filename, " PATH_OF_FILE                                                                             \
	", iif(f.state = 1, coalesce(f.reason, ''), NULL), f.version_key" FILE_PRUNE_LIST                              \
	" FROM file f JOIN folder d ON d.id = f.folder"
#define CANDIDATE_OF CANDIDATE " JOIN project p ON p.id = f.project WHERE p.platform = ?1 AND p.name = ?2 AND"

#define INSIDE_OF " JOIN file f ON f.sha256 = i.sha256 AND f.state <> 1"
#define FOUND_IN                                                                                                       \
	" AND f.state = 0 JOIN platform l ON l.id = f.platform JOIN project p ON p.id = f.project"                     \
	" JOIN folder d ON d.id = f.folder"
#define FOUND "l.name, p.name, f.filename, " PATH_OF_FILE ", f.sha256, i.id"

// The generation that is asked for: ?2, or the newest if that is negative.
#define GENERATION "iif(?2 < 0, v.newest, ?2)"
#define MEMBERS                                                                                                        \
	" FROM membership v JOIN member m ON m.membership = v.id AND m.since <= " GENERATION                           \
	" AND m.until > " GENERATION
#define IS_LISTED "f.filename = m.filename AND f.platform = m.platform AND f.state = 0 AND f.sha256 = m.sha256"
#define MEMBER_COLUMNS                                                                                                 \
	"SELECT m.platform, l.name, m.project, m.filename, m.sha256, m.since,"                                         \
	" EXISTS (SELECT 1 FROM file f WHERE " IS_LISTED ")"
#define EVIDENCE_COLUMNS                                                                                               \
	"e.sha256, e.kind, e.platform, e.python, e.made, e.received, e.arrival, e.who, e.address, e.views,"            \
	" e.overrides, e.passed, e.failed, e.skipped, e.wheels"

#define CAME_IS_MISSING "saved >= ?1 AND instr(?2, printf(' %010d', saved)) = 0"
// Of a platform that it has read.
#define CAME_IS_GONE                                                                                                   \
	"sha256 <> X'' AND (SELECT scanned FROM platform WHERE name = came.platform) = 1"                              \
	" AND NOT EXISTS (SELECT 1 FROM file f WHERE f.sha256 = came.sha256 AND f.state <> 1 AND f.filename = came.name"\
	" AND f.platform = (SELECT id FROM platform WHERE name = came.platform))"

const char *const schema_statement[STATEMENT_COUNT] = {
	[LARGE_CACHE] = "PRAGMA cache_size = -16384",
	[BEGIN_READ] = "BEGIN",
	[BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[NEXT_CHANGE] = "UPDATE store SET change = change + 1",
	[COMMIT_WRITE] = "COMMIT",
	[ROLLBACK_WRITE] = "ROLLBACK",
	[DATA_VERSION] = "PRAGMA data_version",
	[STORE_GET] = "SELECT path FROM store",
	[STORE_SET] = "UPDATE store SET path = ?1",
	[STORE_MOVE] = "UPDATE store SET path = ?1, scanned = 0",
	[SCANNED_GET] = "SELECT scanned FROM store",
	[SCANNED_SET] = "UPDATE store SET scanned = 1",
	[PLATFORM_FIND] = "SELECT id FROM platform WHERE name = ?1",
	[PLATFORM_SCANNED_GET] = "SELECT scanned FROM platform WHERE id = ?1",
	[PLATFORM_SCANNED_SET] = "UPDATE platform SET scanned = ?2 WHERE id = ?1",
	[PLATFORM_SCANNED_ANY] = "SELECT EXISTS (SELECT 1 FROM platform WHERE scanned > 0)",
	// Another process may have added it first.
	[PLATFORM_ADD] = "INSERT INTO platform (name) VALUES (?1) ON CONFLICT DO NOTHING",
	[PLATFORM_LIST] = "SELECT p.id, p.name, (SELECT count(*) FROM folder WHERE platform = p.id), p.files"
			  " FROM platform p ORDER BY p.name",
	[PLATFORM_TOTALS] = "SELECT projects, files, bytes, (SELECT count(*) FROM file WHERE state = 1 AND state > 0"
			    " AND platform = ?1) FROM platform WHERE id = ?1",
	[PLATFORM_UNLISTED] = "SELECT count(*), coalesce(sum(size), 0) + (SELECT attached FROM platform WHERE id = ?1)"
			      " FROM file WHERE state > 0 AND platform = ?1",
	[PLATFORM_CLEAR] = "DELETE FROM folder WHERE platform = ?1 AND parent IS NULL",
	[PLATFORM_FILES] = "SELECT p.name, f.filename, " PATH_OF_FILE
			   ", f.metadata_sha256, f.statement, f.provenance FROM project p"
			   " JOIN file f ON f.project = p.id JOIN folder d ON d.id = f.folder"
			   " WHERE p.platform = ?1 AND f.state = 0 ORDER BY p.name, f.filename",
	[FOLDER_FIND] = "SELECT id, path, mtime_ns, trusted, ignored FROM folder"
			" WHERE platform = ?1 AND path = ?2",
	[FOLDER_ADD] = "INSERT INTO folder (platform, parent, path) VALUES (?1, ?2, ?3)",
	[FOLDER_SET] = "UPDATE folder SET mtime_ns = ?2, trusted = ?3, ignored = ?4 WHERE id = ?1",
	// Another process may have added an entry since the scan.
	[FOLDER_REMOVE] = "DELETE FROM folder WHERE id = ?1"
			  " AND NOT EXISTS (SELECT 1 FROM file WHERE folder = ?1)"
			  " AND NOT EXISTS (SELECT 1 FROM mark WHERE folder = ?1 AND reason IS NOT NULL)"
			  " AND NOT EXISTS (SELECT 1 FROM attachment WHERE folder = ?1)"
			  " AND NOT EXISTS (SELECT 1 FROM folder WHERE parent = ?1)",
	[FOLDER_CHILDREN] = "SELECT id, path, mtime_ns, trusted, ignored FROM folder WHERE parent = ?1",
	[PROJECT_FIND] = "SELECT id FROM project WHERE platform = ?1 AND name = ?2",
	// If there are several, the one with the newest file.
	[PROJECT_FOLDER] =
		"SELECT d.path FROM project p JOIN file f ON f.project = p.id JOIN folder d ON d.id = f.folder"
		" WHERE p.platform = ?1 AND p.name = ?2 AND f.state = 0 ORDER BY f.id DESC LIMIT 1",
	[PROJECT_ADD] = "INSERT INTO project (platform, name) VALUES (?1, ?2)",
	[PROJECT_LIST] = "SELECT platform, name, files, bytes, changed, newest, status FROM project"
			 " WHERE platform = ?1 AND files > 0 ORDER BY name",
	[PROJECT_FILES] = "SELECT f.filename" FILE_PAGE_LIST " FROM project p"
			  " JOIN file f ON f.project = p.id"
			  " WHERE p.platform = ?1 AND p.name = ?2 AND f.state = 0",
	[VERSION_FILES] = "SELECT f.filename" FILE_PAGE_LIST " FROM project p"
			  " JOIN file f ON f.project = p.id"
			  " WHERE p.platform = ?1 AND p.name = ?2 AND f.state = 0 AND f.version_key = ?3"
			  " ORDER BY f.filename",
	[PROJECT_NEWEST] = "SELECT f.filename" FILE_PAGE_LIST " FROM project p JOIN file f ON f.project = p.id"
			   " WHERE p.platform = ?1 AND p.name = ?2 AND f.state = 0 ORDER BY f.id DESC LIMIT ?3",
	[PROJECT_CHANGES] = "SELECT platform, name, files, bytes, changed, newest, status FROM project WHERE changed > ?1"
			    " ORDER BY changed",
	[METADATA_GET] = "SELECT packed FROM metadata WHERE sha256 = ?1",
	[METADATA_ADD] = "INSERT INTO metadata (sha256, packed) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
	// Each half has an index of its own; the second runs only if the first has no row.
	[FILE_PLACE] = PLACE_OF_FILE " f.state = 0 UNION ALL " PLACE_OF_FILE " f.state = 3 AND f.state > 0 LIMIT 1",
	[FILE_LISTED] = "SELECT f.id, d.path, f.sha256 FROM file f JOIN folder d ON d.id = f.folder"
			" WHERE f.filename = ?1 AND f.platform = ?2 AND f.state = 0",
	[FILE_NEXT_OWNER] = "SELECT f.id, d.path, f.sha256 FROM file f JOIN folder d ON d.id = f.folder"
			    " WHERE f.filename = ?1 AND f.platform = ?2 AND f.state = 2 AND f.state > 0"
			    " ORDER BY d.path || '/' LIMIT 1",
	[FILE_GET] = "SELECT filename, platform, state, sha256, mtime_ns, written FROM file WHERE id = ?1",
	[FILE_FIND] = "SELECT id, state, written FROM file WHERE folder = ?1 AND filename = ?2",
	[FILE_COPIES] = COPY_OF_FILE " f.state = 0 UNION ALL " COPY_OF_FILE " f.state IN (1, 2, 3) AND f.state > 0",
	[FILE_ADD] = "INSERT INTO file (folder, platform, filename, project, state, reason, yanked" FILE_PUT_NAMES
		     ", written)"
		     " VALUES (?2, ?3, ?4, ?5, ?6, ?7, ?8" FILE_PUT_PARAMETERS ", (SELECT change FROM store))",
	[FILE_SET] = "UPDATE file SET project = ?5, state = ?6, reason = ?7, yanked = ?8" FILE_PUT_VALUES
		     ", written = (SELECT change FROM store) WHERE id = ?1",
	[FILE_TOUCH] = "UPDATE file SET inode = ?2, trusted = ?3, written = (SELECT change FROM store)"
		       " WHERE id = ?1",
	[FILE_YANK] = "UPDATE file SET yanked = ?2 WHERE id = ?1",
	[FILE_SET_CAME] = "UPDATE file SET arrived = ?3 WHERE folder = ?1 AND filename = ?2",
	[FILE_SET_UPLOADED] = "UPDATE file SET uploaded = iif(sha256 IS ?4, ?3, 0) WHERE folder = ?1 AND filename = ?2",
	[FILE_STATE] = "UPDATE file SET state = ?2, reason = ?3 WHERE id = ?1",
	[FILE_REMOVE] = "DELETE FROM file WHERE id = ?1",
	[FOLDER_FILES] = "SELECT f.filename" FILE_SCAN_LIST " FROM file f WHERE f.folder = ?1",
	[FOLDER_FILE] = "SELECT f.filename" FILE_SCAN_LIST " FROM file f WHERE f.folder = ?1 AND f.filename = ?2",
	[FILES_GOOD] = "SELECT d.path, f.filename, p.name" FILE_CHECK_LIST " FROM file f"
		       " JOIN folder d ON d.id = f.folder JOIN project p ON p.id = f.project"
		       " WHERE f.state <> 1 ORDER BY f.folder",
	[FILE_SUM] = "SELECT state, size, mtime_ns, sha256 FROM file WHERE id = ?1",
	[FILE_AT] = "SELECT 1 FROM folder d JOIN file f ON f.folder = d.id"
		    " WHERE d.platform = ?1 AND d.path = ?2 AND f.filename = ?3",
	[FILES_UNLISTED] = "SELECT f.platform, " PATH_OF_FILE ", f.reason FROM file f"
			   " JOIN folder d ON d.id = f.folder WHERE f.state = ?1 AND f.state > 0"
			   " ORDER BY f.platform, 2",
	[FILES_MISFIT] = "SELECT f.platform, " PATH_OF_FILE ", f.misfit FROM file f INDEXED BY file_misfit"
			 " JOIN folder d ON d.id = f.folder WHERE f.misfit IS NOT NULL AND f.state = 0 ORDER BY f.platform, 2",
	[FOLDER_MARKS] = "SELECT filename, kind, text, written FROM mark WHERE folder = ?1",
	[FOLDER_MARK] = "SELECT filename, kind, text, written FROM mark"
			" WHERE folder = ?1 AND filename = ?2 AND kind = ?3",
	[MARKS_OF] = "SELECT kind, reason FROM mark WHERE folder = ?1 AND filename = ?2 AND reason IS NOT NULL",
	[MARK_GET] = "SELECT written FROM mark WHERE folder = ?1 AND filename = ?2 AND kind = ?3",
	[MARK_SET] = "INSERT INTO mark (folder, filename, kind, platform, reason, text, written)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT change FROM store)) ON CONFLICT DO UPDATE"
		     " SET reason = excluded.reason, text = excluded.text, written = excluded.written",
	[MARK_REMOVE] = "DELETE FROM mark WHERE folder = ?1 AND filename = ?2 AND kind = ?3",
	[TOMBSTONE_FIND] = "SELECT reason FROM mark WHERE filename = ?1 AND platform = ?2 AND kind = 1"
			   " AND reason IS NOT NULL LIMIT 1",
	// One whose file exists is preferred.
	[TOMBSTONE_TEXT] = "SELECT coalesce(m.text, m.reason) FROM mark m LEFT JOIN file f"
			   " ON f.folder = m.folder AND f.filename = m.filename WHERE m.filename = ?1"
			   " AND m.platform = ?2 AND m.kind = 1 AND m.reason IS NOT NULL"
			   " ORDER BY f.id IS NULL, m.folder LIMIT 1",
	[STATUSES_OF] = "SELECT m.platform, d.path, m.text FROM mark m JOIN folder d ON d.id = m.folder"
			" WHERE m.filename = ?1 AND m.kind = 2 AND m.reason IS NOT NULL",
	[MARKS_OF_KIND] = MARKED_FILES " ORDER BY m.filename, d.path",
	[MARKS_NEWEST] = MARKED_FILES " ORDER BY m.written DESC LIMIT ?3",
	// The text is that of the newest: a bare column stands beside max().
	[MARKS_OF_RUN] = "SELECT count(*), text, max(written) FROM mark WHERE platform = ?1 AND kind = 1 AND written > ?2"
			 " AND reason IS NOT NULL"
			 " AND CASE WHEN json_valid(text) THEN json_extract(text, '$.run') = ?3 ELSE 0 END",
	[CANDIDATE_FILES] = CANDIDATE_OF " f.state = 0 UNION ALL " CANDIDATE_OF " f.state = 2 ORDER BY 4, 1, 2",
	[REFUSED_FILES] = CANDIDATE " WHERE f.state = 1 AND f.state > 0 AND NOT EXISTS (SELECT 1 FROM mark m"
				    " WHERE m.folder = f.folder AND m.filename = f.filename AND m.kind = 1"
				    " AND m.reason IS NOT NULL) ORDER BY f.platform, 2",
	[NAME_OWNERS] =
		"SELECT name, platform FROM project p WHERE files > 0"
		" OR EXISTS (SELECT 1 FROM file f WHERE f.project = p.id AND f.state = 2) ORDER BY name, platform",
	[STORE_CHANGE] = "SELECT change FROM store",
	[CAME_NUMBER] = "SELECT came FROM store",
	[CAME_SET_NUMBER] = "UPDATE store SET came = ?1",
	[CAME_TAKE] = "INSERT OR IGNORE INTO came VALUES (?1, ?2, ?3, ?4, 1)",
	[CAME_UNSAVED] = "SELECT platform, name, sha256, arrived FROM came WHERE saved = 0",
	[CAME_SAVED] = "UPDATE came SET saved = ?4 WHERE platform = ?1 AND name = ?2 AND sha256 = ?3",
	[CAME_CHECK] = "SELECT EXISTS (SELECT 1 FROM came WHERE " CAME_IS_MISSING ")",
	[CAME_MEND] = "UPDATE came SET saved = 0 WHERE " CAME_IS_MISSING,
	[CAME_AFTER] = "SELECT platform, name, sha256, arrived FROM came WHERE (platform, name, sha256) > (?1, ?2, ?3)"
		       " ORDER BY platform, name, sha256 LIMIT ?4",
	[CAME_GONE] = "SELECT platform, name, sha256, arrived FROM came WHERE " CAME_IS_GONE,
	[CAME_FORGET] = "DELETE FROM came WHERE platform = ?1 AND name = ?2 AND sha256 = ?3 AND arrived = ?4"
			" AND " CAME_IS_GONE,
	[CAME_HAD] = "SELECT arrived FROM came WHERE platform = ?1 AND name = ?2 || ' ' || ?3 AND sha256 = X''",
	[CAME_HAD_PUT] = "INSERT INTO came VALUES (?1, ?2 || ' ' || ?3, X'', ?4, 0) ON CONFLICT DO UPDATE"
			 " SET arrived = excluded.arrived, saved = 0 WHERE arrived <> excluded.arrived",
	[CAME_SET] = "INSERT INTO came SELECT l.name, f.filename, f.sha256, ?3, 0 FROM file f"
		     " JOIN platform l ON l.id = f.platform WHERE f.folder = ?1 AND f.filename = ?2"
		     " ON CONFLICT DO UPDATE SET arrived = excluded.arrived, saved = 0",
	// One row per platform; PROJECT_OLDEST covers all files, listed or not, except quarantined ones.
	[PROJECT_PLACES] = "SELECT l.name, p.files, p.arrived FROM platform l CROSS JOIN project p ON p.platform = l.id"
			   " WHERE p.name = ?1",
	[PROJECT_OLDEST] = "SELECT min(min(" OLDEST_IN("0") ", " OLDEST_IN("2") ", " OLDEST_IN(
		"3") ","
		     " iif(p.arrived > 0 AND p.files > 0, p.arrived * 1000000000, " NEVER ")))"
		     " FROM platform l CROSS JOIN project p ON p.platform = l.id WHERE p.name = ?1",
	[UPSTREAM_ROWS] = "SELECT u.source, u.result, u.why, u.standing, u.etag, u.asked, u.fetched, u.max_age,"
			  " u.changed, u.doubt, u.doubted, p.packed, u.certain, u.had_since FROM upstream u"
			  " LEFT JOIN upstream_page p ON p.upstream = u.id WHERE u.project = ?1",
	[UPSTREAM_SET] =
		"INSERT INTO upstream (project, source, result, why, standing, etag, asked, fetched, max_age,"
		" doubt, doubted, certain, had_since, changed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
		" ?13, ?14, iif(?12, (SELECT change FROM store), 0)) ON CONFLICT DO UPDATE SET result = excluded.result,"
		" why = excluded.why, standing = excluded.standing, etag = excluded.etag,"
		" asked = excluded.asked, fetched = excluded.fetched, max_age = excluded.max_age,"
		" doubt = excluded.doubt, doubted = excluded.doubted, certain = excluded.certain,"
		" had_since = excluded.had_since,"
		" changed = iif(?12, excluded.changed, changed) RETURNING changed",
	[UPSTREAM_SET_PAGE] = "INSERT OR REPLACE INTO upstream_page SELECT id, ?3 FROM upstream"
			      " WHERE project = ?1 AND source = ?2",
	[UPSTREAM_TOUCH] =
		"UPDATE upstream SET changed = (SELECT change FROM store) WHERE project = ?1 AND source = ?2",
	// Names that neither the store nor an index has, except the newest.
	[UPSTREAM_FORGET] = "DELETE FROM upstream WHERE id IN (SELECT id FROM upstream WHERE fetched = 0"
			    " AND ifnull(standing, '404') = '404' AND project NOT IN (SELECT name FROM project)"
			    " ORDER BY asked DESC, id DESC LIMIT -1 OFFSET ?1)",
	// 200: about the size of a row without its page.
	[UPSTREAM_FORGET_PAGES] =
		"DELETE FROM upstream WHERE id IN (SELECT id FROM (SELECT u.id, u.again, sum(length(p.packed) + 200)"
		" OVER (PARTITION BY u.again ORDER BY u.asked DESC, u.id DESC) AS bytes FROM upstream u"
		" JOIN upstream_page p ON p.upstream = u.id WHERE u.project NOT IN (SELECT name FROM project)"
		" AND u.project NOT IN (SELECT value FROM json_each(?2)))"
		" WHERE bytes > iif(again, ?1 - ?1 / 4, ?1 / 4))",
	[UPSTREAM_CHANGES] = "SELECT project, changed FROM upstream WHERE changed > ?1 ORDER BY changed",
	[UPSTREAM_COUNT] = "SELECT count(DISTINCT project) FROM upstream WHERE standing = 'known'",
	[UPSTREAM_NAMES] = "SELECT DISTINCT project FROM upstream WHERE standing = 'known' AND project > ?1 ORDER BY project"
			   " LIMIT ?2",
	// Unlisted files may have no project, or may be gone.
	[HISTORIES] = HISTORY_OF_FILE " WHERE f.project IN (SELECT id FROM project WHERE name = ?1) AND f.state = 0"
				      " UNION ALL " UNLISTED_HISTORIES_OF_NAME,
	[UNLISTED_HISTORIES] = UNLISTED_HISTORIES_OF_NAME,
	[PLAN_FORGET] = "DELETE FROM plan WHERE name IS NULL AND begun < ?1",
	[PLAN_ADD] = "INSERT INTO plan (begun) VALUES (?1)",
	[PLAN_SET] = "UPDATE plan SET name = ?2, made = ?3, head = ?4 WHERE id = ?1",
	[PLAN_CLEAR] = "DELETE FROM plan",
	[PLAN_REPLACE] = "DELETE FROM plan WHERE name IS NOT NULL AND id <> ?1",
	[PLAN_FILES] = "SELECT count(*) FROM planned WHERE plan = ?1",
	[PLAN_EXISTS] = "SELECT id FROM plan WHERE id = " LAST_PLAN,
	[PLAN_PLATFORMS] = "SELECT DISTINCT platform FROM planned WHERE plan = ?1",
	[PLAN_SET_FORMER] =
		"UPDATE plan SET (former, former_made) = (SELECT name, made FROM plan WHERE id = ?2) WHERE id = ?1",
	[PLAN_FORMER] = "SELECT former, former_made FROM plan WHERE former IS NOT NULL AND id = " LAST_PLAN,
	[PLAN_CHANGE_ADD] =
		"INSERT INTO plan_change (plan, platform, removed, removes, size, project, filename, before, verdict)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[PLAN_CHANGES] =
		"SELECT removed, removes, size, project, filename, before, verdict FROM plan_change WHERE plan = " LAST_PLAN
		" AND platform = ?1 ORDER BY id LIMIT ?2",
	[PLANNED_BEFORE] = PLANNED_BY_PATH,
	[PLANNED_NOW] = PLANNED_BY_PATH, // a second one, to be used at the same time
	[PLAN_LAST] = "SELECT name, made, head FROM plan WHERE id = " LAST_PLAN,
	[PLANNED_ADD] =
		"INSERT INTO planned (plan, platform, size, removes, identical, mtime_ns, project, version, filename, path,"
		" verdict, why, reason, upstream)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
	[PLANNED_COUNT] =
		"SELECT count(*), coalesce(sum(size), 0) FROM planned WHERE plan = " LAST_PLAN " AND " PLANNED_FILTER,
	[PLANNED_LIST] = PLANNED PLANNED_FILTER " ORDER BY id LIMIT ?5 OFFSET ?6",
	[PLANNED_PROJECT] = PLANNED "project = ?1 ORDER BY id",
	[PLANNED_ONE] = PLANNED "id = ?1",
	[FILES_NEWEST] =
		"SELECT ifnull(max(came), 0) FROM (SELECT iif(arrived > 0, arrived, mtime_ns / 1000000000) AS came"
		" FROM file WHERE state = 0) WHERE came <= ?1",
	[FILES_SHARED] = "SELECT filename, count(*), count(DISTINCT sha256) FROM file WHERE state = 0"
			 " GROUP BY filename HAVING count(*) > 1 ORDER BY filename",
	[INSIDE_FIND] = "SELECT id, version FROM inside WHERE sha256 = ?1",
	[INSIDE_SET] = "UPDATE inside SET version = ?2, why = ?3 WHERE id = ?1",
	[INSIDE_CONTENT_GET] = "SELECT content FROM inside WHERE sha256 = ?1",
	[INSIDE_CONTENT_SET] = "UPDATE inside SET content = ?2 WHERE sha256 = ?1",
	[INSIDE_CONTENT_WANTED] = "SELECT id FROM inside WHERE content = X'' ORDER BY id",
	[INSIDE_FORGET_USES] = "DELETE FROM inside_use WHERE inside = ?1",
	[INSIDE_FORGET_SYMBOLS] = "DELETE FROM inside_symbol WHERE inside = ?1"
				  " AND slice IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)",
	[INSIDE_SET_FACTS] = "INSERT OR REPLACE INTO inside_facts (inside, packed) VALUES (?1, ?2)",
	[INSIDE_FORGET_FACTS] = "DELETE FROM inside_facts WHERE inside = ?1",
	[INSIDE_WORD_FIND] = "SELECT id FROM inside_word WHERE kind = ?1 AND name = ?2 AND version = ?3 AND purl = ?4",
	[INSIDE_WORD_ADD] = "INSERT INTO inside_word (kind, name, version, purl) VALUES (?1, ?2, ?3, ?4)",
	[INSIDE_USE_ADD] = "INSERT OR IGNORE INTO inside_use (word, inside) VALUES (?1, ?2)",
	[INSIDE_SYMBOL_ADD] = "INSERT OR REPLACE INTO inside_symbol (slice, inside, hashes) VALUES (?1, ?2, ?3)",
	[INSIDE_GET] = "SELECT i.version, i.why, s.packed FROM inside i LEFT JOIN inside_facts s ON s.inside = i.id"
		       " WHERE i.sha256 = ?1",
	[INSIDE_LACKING] = "SELECT id FROM inside WHERE version < ?1 OR version > ?1 ORDER BY id",
	[INSIDE_PLACES] = "SELECT f.platform, f.filename, " PATH_OF_FILE ", f.sha256, f.size, f.mtime_ns, f.inode"
			  " FROM inside i" INSIDE_OF " JOIN folder d ON d.id = f.folder WHERE i.id = ?1"
			  " ORDER BY f.state, f.platform",
	[INSIDE_COUNTS] = "SELECT (SELECT count(*) FROM inside WHERE version = ?1),"
			  " (SELECT count(*) FROM inside WHERE why IS NOT NULL AND version = ?1),"
			  " (SELECT count(*) FROM inside)",
	[INSIDE_WORDS] = "SELECT id, name, version, purl FROM inside_word WHERE kind = ?1 ORDER BY name, version, purl",
	[INSIDE_USES] = "SELECT " FOUND " FROM inside_use u JOIN inside i ON i.id = u.inside" INSIDE_OF FOUND_IN
			" WHERE u.word = ?1",
	[INSIDE_SYMBOLS] = "SELECT inside, hashes FROM inside_symbol WHERE slice = ?1",
	[INSIDE_FILES] = "SELECT " FOUND " FROM inside i" INSIDE_OF FOUND_IN " WHERE i.id = ?1",
	[INSIDE_WHEELS] = "SELECT l.name, p.name, f.filename, " PATH_OF_FILE
			  ", f.sha256, i.id, f.size, f.mtime_ns, f.inode, i.version, i.why, s.packed FROM project p"
			  " JOIN platform l ON l.id = p.platform JOIN file f ON f.project = p.id AND f.state = 0"
			  " JOIN folder d ON d.id = f.folder JOIN inside i ON i.sha256 = f.sha256"
			  " LEFT JOIN inside_facts s ON s.inside = i.id WHERE p.platform = ?1"
			  " AND (?2 IS NULL OR p.name = ?2) AND (?3 IS NULL OR f.filename = ?3)"
			  " ORDER BY p.name, f.filename",
	// Listed wheels without facts: not looked at, or unreadable.
	[INSIDE_UNKNOWN] = "SELECT l.name, count(*) FROM (SELECT sha256 FROM inside WHERE version < ?1 OR version > ?1"
			   " UNION ALL SELECT sha256 FROM inside WHERE why IS NOT NULL AND version = ?1) i"
			   " JOIN file f ON f.sha256 = i.sha256 AND f.state <> 1 AND f.state = 0"
			   " JOIN platform l ON l.id = f.platform GROUP BY l.name ORDER BY l.name",
	[FOLDER_ATTACHMENTS] = "SELECT " ATTACHMENT_SCAN_LIST " FROM attachment WHERE folder = ?1",
	[FOLDER_ATTACHMENT] =
		"SELECT " ATTACHMENT_SCAN_LIST " FROM attachment WHERE folder = ?1 AND filename = ?2 AND kind = ?3",
	[ATTACHMENT_GET] = "SELECT written FROM attachment WHERE folder = ?1 AND filename = ?2 AND kind = ?3",
	[ATTACHMENT_SET] =
		"INSERT INTO attachment (folder, filename, kind, platform, trusted, size, mtime_ns, inode, sha256,"
		" subject, reason, packed, written) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
		" (SELECT change FROM store)) ON CONFLICT DO UPDATE SET trusted = excluded.trusted,"
		" size = excluded.size, mtime_ns = excluded.mtime_ns, inode = excluded.inode,"
		" sha256 = excluded.sha256, subject = excluded.subject, reason = excluded.reason,"
		" packed = excluded.packed, written = excluded.written",
	[ATTACHMENT_REMOVE] = "DELETE FROM attachment WHERE folder = ?1 AND filename = ?2 AND kind = ?3",
	[ATTACHED] = ATTACHED_TO " f.state = 0 UNION ALL " ATTACHED_TO " f.state = 3 AND f.state > 0 LIMIT 1",
	[ATTACHMENTS_STRAY] =
		"SELECT a.platform, d.path, a.filename, a.kind, a.reason, f.id IS NOT NULL FROM attachment a"
		" JOIN folder d ON d.id = a.folder LEFT JOIN file f ON f.folder = a.folder"
		" AND f.filename = a.filename WHERE f.id IS NULL OR a.subject IS NOT f.sha256"
		" ORDER BY a.platform, d.path, a.filename, a.kind",
	[VIEWS_READ_GET] = "SELECT views FROM store",
	[VIEWS_READ_SET] = "UPDATE store SET views = 1 WHERE views = 0",
	[VIEW_LIST] = "SELECT name FROM membership ORDER BY name",
	[VIEW_FIND] = "SELECT v.newest, g.made, g.sha256, v.damaged, v.id FROM membership v LEFT JOIN generation g"
		      " ON g.membership = v.id AND g.number = v.newest WHERE v.name = ?1",
	[VIEW_ADD] = "INSERT INTO membership (name) VALUES (?1) ON CONFLICT DO NOTHING",
	[VIEW_SET_DAMAGED] = "UPDATE membership SET damaged = ?2 WHERE name = ?1",
	[VIEW_FORGET_GENERATIONS] =
		"DELETE FROM generation WHERE membership = (SELECT id FROM membership WHERE name = ?1)",
	[VIEW_FORGET_MEMBERS] = "DELETE FROM member WHERE membership = (SELECT id FROM membership WHERE name = ?1)",
	[VIEW_SET_NEWEST] = "UPDATE membership SET newest = ?2 WHERE name = ?1",
	[VIEW_AT] = "SELECT g.number FROM membership v JOIN generation g ON g.membership = v.id"
		    " WHERE v.name = ?1 AND g.made <= ?2 ORDER BY g.made DESC, g.number DESC LIMIT 1",
	[GENERATION_ADD] =
		"INSERT INTO generation (membership, number, made, sha256, action, who, reason, added, removed, packed)"
		" SELECT id, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 FROM membership WHERE name = ?1 AND newest = ?2 - 1"
		" RETURNING 1",
	[GENERATION_LIST] = "SELECT g.number, g.made, g.action, g.who, g.reason, g.added, g.removed, g.packed"
			    " FROM membership v JOIN generation g ON g.membership = v.id"
			    " WHERE v.name = ?1 AND g.number < ?2 ORDER BY g.number DESC LIMIT ?3",
	[GENERATION_FIND] = "SELECT g.number, g.made, g.action, g.who, g.reason, g.added, g.removed, g.packed"
			    " FROM membership v JOIN generation g ON g.membership = v.id"
			    " WHERE v.name = ?1 AND g.number = ?2",
	[GENERATION_SET_MADE] = "UPDATE generation SET made = ?3 WHERE number = ?2"
				" AND membership = (SELECT id FROM membership WHERE name = ?1)",
	[MEMBER_HAS] =
		"SELECT 1" MEMBERS " WHERE v.name = ?1 AND m.platform = ?3 AND m.filename = ?4 AND m.sha256 = ?5",
	// The "+" keeps SQLite from the index by platform, which finds thousands of members.
	[MEMBER_LEFT] = "SELECT g.number, g.action, g.reason FROM member m"
			" JOIN membership v ON v.id = +m.membership"
			" JOIN generation g ON g.membership = m.membership AND g.number = m.until"
			" WHERE v.name = ?1 AND m.platform = ?2 AND m.filename = ?3 AND m.sha256 = ?4"
			" ORDER BY m.until DESC LIMIT 1",
	[MEMBER_CAME] = "SELECT m.since FROM member m JOIN membership v ON v.id = +m.membership"
			" JOIN platform l ON l.id = +m.platform"
			" JOIN generation g ON g.membership = m.membership AND g.number = m.since"
			" WHERE v.name = ?1 AND l.name = ?2 AND m.filename = ?3 AND m.sha256 = ?4 AND m.since < ?5"
			" AND g.action <> 'rollback' ORDER BY m.since DESC LIMIT 1",
	// Looks for one listed member of each project: there are more members than projects.
	[MEMBER_PROJECTS] = "SELECT p.platform, p.name FROM project p"
			    " WHERE p.platform = ?3 AND p.files > 0 AND EXISTS"
			    " (SELECT 1" MEMBERS " JOIN file f ON " IS_LISTED
			    " WHERE v.name = ?1 AND +m.platform = p.platform AND m.project = p.name) ORDER BY p.name",
	[MEMBER_LIST] = MEMBER_COLUMNS MEMBERS " JOIN platform l ON l.id = m.platform WHERE v.name = ?1"
					       " ORDER BY m.project, l.name, m.filename, m.sha256",
	[MEMBER_LIST_PROJECT] = MEMBER_COLUMNS MEMBERS " JOIN platform l ON l.id = m.platform"
						       " WHERE v.name = ?1 AND m.project = ?3"
						       " ORDER BY l.name, m.filename, m.sha256",
	[MEMBER_PINS] = "SELECT v.name FROM member m JOIN membership v ON v.id = m.membership"
			" WHERE m.filename = ?1 AND m.platform = ?2 AND m.sha256 = ?3 AND m.until > v.newest"
			" ORDER BY v.name LIMIT 1",
	// The plus sign keeps SQLite from the index by platform, which has all members.
	[MEMBER_ADD] = "INSERT INTO member (membership, platform, project, filename, sha256, since)"
		       " SELECT v.id, ?3, ?4, ?5, ?6, ?2 FROM membership v WHERE v.name = ?1 AND NOT EXISTS"
		       " (SELECT 1 FROM member m WHERE m.filename = ?5 AND m.platform = ?3 AND m.sha256 = ?6"
		       " AND m.membership = v.id AND +m.until >= ?2) RETURNING 1",
	[MEMBER_END] = "UPDATE member SET until = ?2 WHERE filename = ?4 AND platform = ?3 AND sha256 = ?5"
		       " AND membership = (SELECT id FROM membership WHERE name = ?1)"
		       " AND since < ?2 AND until > ?2 RETURNING 1",
	[RETAINED_PUT] = "INSERT OR REPLACE INTO retained VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[RETAINED_LIST] = "SELECT view, looked, ended, ending, stale, doubt FROM retained ORDER BY view",
	[EXPECTED_FIND] = "SELECT known, newest, silent FROM expected"
			  " WHERE view = ?1 AND kind = ?2 AND platform = ?3 AND python = ?4",
	[EXPECTED_LIST] = "SELECT view, kind, platform, python, known, newest, silent FROM expected",
	[EXPECTED_PUT] = "INSERT OR REPLACE INTO expected VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[LOST_LIST] = "SELECT view, platform, filename, sha256, since FROM lost WHERE view = ?1"
		      " ORDER BY platform, filename, sha256",
	[LOST_ALL] = "SELECT view, platform, filename, sha256, since FROM lost",
	[LOST_PUT] = "INSERT INTO lost VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING RETURNING 1",
	[TOLD_GET] = "SELECT told FROM store",
	[TOLD_SET] = "UPDATE store SET told = ?1",
	// An older wheelcache may have left rows.
	[TOLD_SET_NEW] = "UPDATE store SET told = NOT EXISTS (SELECT 1 FROM retained) AND NOT EXISTS (SELECT 1 FROM expected)"
			 " AND NOT EXISTS (SELECT 1 FROM lost)",
	[LOST_REMOVE] = "DELETE FROM lost WHERE view = ?1 AND platform = ?2 AND filename = ?3 AND sha256 = ?4 RETURNING 1",
	[EVIDENCE_RUNS] = "SELECT " EVIDENCE_COLUMNS " FROM evidence e WHERE e.kind = ?1 AND e.arrival >= ?2"
			  " AND e.overrides IS NULL AND EXISTS"
			  " (SELECT 1 FROM evidence_wheel w CROSS JOIN file f ON f.sha256 = w.sha256 AND f.state <> 1"
			  "  JOIN project p ON p.id = f.project AND p.name = w.project WHERE w.evidence = e.id"
			  "  UNION ALL SELECT 1 FROM evidence_wheel w CROSS JOIN platform l"
			  "  CROSS JOIN project p ON p.platform = l.id AND p.name = w.project"
			  "  CROSS JOIN file f ON f.project = p.id AND f.state = 0 AND f.version_key = w.version"
			  "  WHERE w.evidence = e.id AND (w.content IS NOT NULL OR w.source IS NOT NULL))"
			  " ORDER BY e.arrival DESC",
	[EVIDENCE_FIND] = "SELECT " EVIDENCE_COLUMNS " FROM evidence e WHERE e.sha256 = ?1",
	[EVIDENCE_ADD] =
		"INSERT INTO evidence (sha256, kind, platform, python, made, received, arrival, who, address, views,"
		" overrides, passed, failed, skipped, wheels, packed) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
		" ?11, ?12, ?13, ?14, ?15, ?16) ON CONFLICT DO NOTHING RETURNING id",
	[EVIDENCE_ADD_WHEEL] =
		"INSERT OR IGNORE INTO evidence_wheel (sha256, project, kind, platform, python, arrival, evidence,"
		" version, filename, content, source)"
		" SELECT ?2, ?3, kind, platform, python, arrival, id, ?4, ?5, ?6, ?7 FROM evidence WHERE id = ?1",
	[ATTACHED_TO_BYTES] = "SELECT a.packed FROM file f CROSS JOIN attachment a ON a.folder = f.folder"
			      " AND a.filename = f.filename AND a.subject = f.sha256 AND a.kind = ?2"
			      " WHERE f.sha256 = ?1 AND f.state <> 1"
			      " AND (?3 IS NULL OR f.platform = (SELECT id FROM platform WHERE name = ?3)) ORDER BY a.id",
	// In the order of the index: a sorted record of thousands of wheels would cost more than all that is looked at.
	[EVIDENCE_BUILDS] = "SELECT " EVIDENCE_COLUMNS ", w.sha256, w.filename,"
			    " coalesce(w.content, (SELECT i.content FROM inside i WHERE i.sha256 = w.sha256)), w.source"
			    " FROM evidence_wheel w JOIN evidence e ON e.id = w.evidence AND e.overrides IS NULL"
			    " WHERE w.project = ?1 AND w.version = ?2 AND w.kind = ?3 AND w.platform = ?4 AND w.python = ?5"
			    " AND w.sha256 <> ?6 ORDER BY w.arrival DESC, w.sha256 DESC, w.evidence DESC",
	[EVIDENCE_NEWEST] = "SELECT " EVIDENCE_COLUMNS " FROM evidence_wheel w JOIN evidence e ON e.id = w.evidence"
			    " WHERE w.sha256 = ?1 AND w.project = ?2 AND w.kind = ?3 AND w.platform = ?4"
			    " AND w.python = ?5"
			    " ORDER BY w.arrival DESC, e.sha256",
	// The wheels of a project, listed and unlisted ones: two partial indexes. CROSS JOIN keeps SQLite from reading
	// all files, or all records.
	[EVIDENCE_BEFORE] =
		"WITH found AS"
		" (SELECT f.sha256, f.version_key FROM platform l CROSS JOIN project p ON p.platform = l.id AND p.name = ?1"
		"  CROSS JOIN file f ON f.project = p.id AND f.state = 0 UNION"
		"  SELECT f.sha256, f.version_key FROM platform l CROSS JOIN project p ON p.platform = l.id AND p.name = ?1"
		"  CROSS JOIN file f ON f.project = p.id AND f.state = 3)"
		" SELECT " EVIDENCE_COLUMNS " FROM"
		" (SELECT w.evidence FROM found CROSS JOIN evidence_wheel w ON w.sha256 = found.sha256 AND w.project = ?1"
		"  AND w.kind = ?2 AND w.platform = ?3 AND w.python = ?4 AND w.arrival < ?5 UNION"
		"  SELECT w.evidence FROM (SELECT DISTINCT version_key FROM found) found_version CROSS JOIN evidence_wheel w"
		"  ON w.project = ?1 AND w.version = found_version.version_key AND w.kind = ?2 AND w.platform = ?3 AND w.python = ?4"
		"  AND w.arrival < ?5 WHERE w.content IS NOT NULL OR w.source IS NOT NULL) found_evidence"
		" CROSS JOIN evidence e ON e.id = found_evidence.evidence AND e.overrides IS NULL"
		" ORDER BY e.arrival DESC, e.sha256",
	[EVIDENCE_OF] = "SELECT " EVIDENCE_COLUMNS " FROM evidence_wheel w JOIN evidence e ON e.id = w.evidence"
			" WHERE w.sha256 = ?1 AND w.project = ?2 ORDER BY w.arrival DESC, e.sha256 LIMIT ?3",
	[EVIDENCE_SINCE] = "SELECT " EVIDENCE_COLUMNS " FROM evidence e WHERE e.arrival >= ?1"
			   " ORDER BY e.arrival DESC, e.sha256 LIMIT ?2",
	[EVIDENCE_PROJECTS] = "SELECT DISTINCT p.name FROM file f JOIN project p ON p.id = f.project"
			      " WHERE f.sha256 = ?1 AND f.state <> 1 ORDER BY p.name",
	[EVIDENCE_GET] = "SELECT packed FROM evidence WHERE sha256 = ?1",
	[EVIDENCE_LAST] = "SELECT coalesce(max(arrival), 0) FROM evidence",
	// Not those whose wheels an older wheelcache wrote.
	[EVIDENCE_IN] = "SELECT sha256 FROM evidence e WHERE sha256 >= ?1 AND sha256 <= ?2 AND NOT EXISTS"
			" (SELECT 1 FROM evidence_wheel w WHERE w.evidence = e.id AND w.version IS NULL) ORDER BY sha256",
	[EVIDENCE_OLDER] = "SELECT sha256 FROM evidence WHERE arrival < ?1 ORDER BY arrival LIMIT ?2",
	[EVIDENCE_REMOVE] = "DELETE FROM evidence WHERE sha256 = ?1",
	[EVIDENCE_FOLDER_GET] = "SELECT mtime_ns FROM evidence_folder WHERE id = ?1",
	[EVIDENCE_FOLDER_SET] = "INSERT INTO evidence_folder (id, mtime_ns) VALUES (?1, ?2)"
				" ON CONFLICT DO UPDATE SET mtime_ns = excluded.mtime_ns",
};
