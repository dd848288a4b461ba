// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/schema.h"

#include "lib/base/mem.h"
#include "lib/state/catalog/file-columns.h"

static const char *const schema_step[] = {
	"CREATE TABLE store ("
	"  id INTEGER PRIMARY KEY CHECK (id = 1),"
	"  path TEXT,               -- real path of the store; NULL: not known yet\n"
	"  change INTEGER NOT NULL, -- number of the newest write transaction\n"
	"  scanned INTEGER NOT NULL -- 1: a whole scan has ended once\n"
	") STRICT;"
	"INSERT INTO store VALUES (1, NULL, 0, 0);"

	"CREATE TABLE platform ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE"
	") STRICT;"

	"CREATE TABLE folder ("
	"  id INTEGER PRIMARY KEY,"
	"  platform INTEGER NOT NULL REFERENCES platform,"
	"  parent INTEGER REFERENCES folder ON DELETE CASCADE, -- NULL: the platform's root\n"
	"  path TEXT NOT NULL,                   -- below the platform; '' for its root\n"
	"  mtime_ns INTEGER NOT NULL DEFAULT 0,  -- when it was listed\n"
	"  trusted INTEGER NOT NULL DEFAULT 0,   -- 1: while mtime_ns stays, it has no new names\n"
	"  ignored INTEGER NOT NULL DEFAULT 0,   -- entries that are neither wheels nor sdists\n"
	"  UNIQUE (platform, path)"
	") STRICT;"
	"CREATE INDEX folder_parent ON folder (parent);"

	"CREATE TABLE project ("
	"  id INTEGER PRIMARY KEY,"
	"  platform INTEGER NOT NULL REFERENCES platform,"
	"  name TEXT NOT NULL,                 -- normalised\n"
	"  files INTEGER NOT NULL DEFAULT 0,   -- listed ones; 0 when the last has gone\n"
	"  bytes INTEGER NOT NULL DEFAULT 0,   -- of those\n"
	"  changed INTEGER NOT NULL DEFAULT 0, -- store.change of the last write that its page shows\n"
	"  UNIQUE (platform, name)"
	") STRICT;"
	"CREATE INDEX project_changed ON project (changed);"

	"CREATE TABLE metadata ("
	"  id INTEGER PRIMARY KEY,"
	"  sha256 BLOB NOT NULL UNIQUE,       -- of the plain bytes\n"
	"  uses INTEGER NOT NULL DEFAULT 0,   -- files that name it; kept by the triggers below\n"
	"  packed BLOB NOT NULL               -- METADATA or PKG-INFO, a zstd frame\n"
	") STRICT;"

	"CREATE TABLE file ("
	"  id INTEGER PRIMARY KEY,"
	"  folder INTEGER NOT NULL REFERENCES folder ON DELETE CASCADE,"
	"  platform INTEGER NOT NULL REFERENCES platform, -- of the folder\n"
	"  project INTEGER REFERENCES project, -- NULL: refused, and so never known\n"
	"  filename TEXT NOT NULL,"
	"  state INTEGER NOT NULL,             -- 0 listed, 1 quarantined, 2 its name is listed from elsewhere\n"
	"  trusted INTEGER NOT NULL,           -- 1: while size, mtime and inode stay, so do the bytes\n"
	"  size INTEGER NOT NULL,"
	"  mtime_ns INTEGER NOT NULL,"
	"  inode INTEGER NOT NULL,"
	"  sha256 BLOB,                        -- NULL: refused before it was read\n"
	"  version TEXT,                       -- normal form\n"
	"  version_key BLOB,                   -- sorts as PEP 440 orders\n"
	"  metadata_sha256 BLOB,               -- NULL: no .metadata\n"
	"  requires_python TEXT,"
	"  findings INTEGER NOT NULL,          -- oddities that a lenient look found\n"
	"  reason TEXT,                        -- why it is not listed\n"
	"  CHECK (state = 1 OR (project IS NOT NULL AND sha256 IS NOT NULL))"
	") STRICT;"
	"CREATE INDEX file_folder ON file (folder);"
	"CREATE INDEX file_project ON file (project) WHERE state = 0;"
	"CREATE UNIQUE INDEX file_listed ON file (filename, platform) WHERE state = 0;"
	"CREATE INDEX file_refused ON file (state, filename, platform) WHERE state > 0;"

	// project.files, .bytes and .changed follow the listed files. Columns that only the scan reads (inode,
	// trusted) change no page.
	"CREATE TRIGGER file_insert AFTER INSERT ON file BEGIN"
	"  UPDATE metadata SET uses = uses + 1 WHERE sha256 = new.metadata_sha256;"
	"  UPDATE project SET files = files + 1, bytes = bytes + new.size,"
	"    changed = (SELECT change FROM store) WHERE id = new.project AND new.state = 0;"
	"END;"
	"CREATE TRIGGER file_delete AFTER DELETE ON file BEGIN"
	"  UPDATE metadata SET uses = uses - 1 WHERE sha256 = old.metadata_sha256;"
	"  DELETE FROM metadata WHERE sha256 = old.metadata_sha256 AND uses = 0;"
	"  UPDATE project SET files = files - 1, bytes = bytes - old.size,"
	"    changed = (SELECT change FROM store) WHERE id = old.project AND old.state = 0;"
	"END;"
	"CREATE TRIGGER file_update AFTER UPDATE OF project, state, size, mtime_ns, sha256, version, version_key,"
	"  metadata_sha256, requires_python ON file BEGIN"
	"  UPDATE metadata SET uses = uses + 1 WHERE sha256 = new.metadata_sha256;"
	"  UPDATE metadata SET uses = uses - 1 WHERE sha256 = old.metadata_sha256;"
	"  DELETE FROM metadata WHERE sha256 = old.metadata_sha256 AND uses = 0;"
	"  UPDATE project SET files = files - 1, bytes = bytes - old.size,"
	"    changed = (SELECT change FROM store) WHERE id = old.project AND old.state = 0;"
	"  UPDATE project SET files = files + 1, bytes = bytes + new.size,"
	"    changed = (SELECT change FROM store) WHERE id = new.project AND new.state = 0;"
	"END;",

	// 2: marks of files, and the number of a row's last write. A listing of a changing folder may have named a
	// file twice; one of these rows stays. Each folder is listed again, because no scan has read the marks.
	"ALTER TABLE file ADD COLUMN yanked TEXT; -- the reason; NULL: it is not yanked\n"
	// store.change of the last write of the file's own columns; its state depends on other files
	"ALTER TABLE file ADD COLUMN written INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE mark ("
	"  folder INTEGER NOT NULL REFERENCES folder ON DELETE CASCADE,"
	"  filename TEXT NOT NULL,     -- of the file, which need not be there\n"
	"  kind INTEGER NOT NULL,      -- 0 yanked, 1 pruned: the file's state is 3\n"
	"  platform INTEGER NOT NULL REFERENCES platform, -- of the folder\n"
	"  reason TEXT,                -- NULL: it was taken off, and a scan that began before must know\n"
	"  written INTEGER NOT NULL,   -- store.change of the last write\n"
	"  PRIMARY KEY (folder, filename, kind)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX mark_name ON mark (filename, platform);"
	"UPDATE store SET change = change + 1;"
	"DELETE FROM file WHERE id IN (SELECT id FROM (SELECT id, row_number()"
	"  OVER (PARTITION BY folder, filename ORDER BY state, id) AS place FROM file) WHERE place > 1);"
	"DROP INDEX file_folder;"
	"CREATE UNIQUE INDEX file_place ON file (folder, filename);"
	"UPDATE folder SET trusted = 0;"
	"CREATE TRIGGER file_yank AFTER UPDATE OF yanked ON file BEGIN"
	"  UPDATE project SET changed = (SELECT change FROM store) WHERE id = new.project AND new.state = 0;"
	"END;",

	// 3: the totals of a platform are stored, because servers read them at each change, and uploads at each quota
	// check. The row of a project stays after its last file is removed.
	"ALTER TABLE platform ADD COLUMN projects INTEGER NOT NULL DEFAULT 0; -- with listed files\n"
	"ALTER TABLE platform ADD COLUMN files INTEGER NOT NULL DEFAULT 0;    -- listed ones\n"
	"ALTER TABLE platform ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;    -- of those\n"
	"UPDATE platform SET (projects, files, bytes) = (SELECT count(*), coalesce(sum(files), 0),"
	"  coalesce(sum(bytes), 0) FROM project WHERE project.platform = platform.id AND project.files > 0);"
	"CREATE TRIGGER project_update AFTER UPDATE OF files, bytes ON project BEGIN"
	"  UPDATE platform SET projects = projects + (new.files > 0) - (old.files > 0),"
	"    files = files + new.files - old.files, bytes = bytes + new.bytes - old.bytes WHERE id = new.platform;"
	"END;",

	// 4: the text of a sidecar: a tombstone's text says where upstream has the file.
	"ALTER TABLE mark ADD COLUMN text TEXT; -- NULL: taken off, or not read since this column is there\n"
	"CREATE INDEX mark_platform ON mark (platform, kind, filename);",
	// 5: an index for a prune, which reads the files of a project with their duplicates.
	"CREATE INDEX file_copy ON file (project) WHERE state = 2;",

	// 6: the results of other indexes. The page has a table of its own, because it is unchanged after most
	// requests, and SQLite writes whole rows.
	"CREATE TABLE upstream ("
	"  id INTEGER PRIMARY KEY,"
	"  project TEXT NOT NULL,      -- normalised\n"
	"  source TEXT NOT NULL,       -- the index's URL, without password\n"
	"  result TEXT NOT NULL,       -- of the last time that it was asked: upstream_result_name\n"
	"  why TEXT NOT NULL,          -- in words\n"
	"  standing TEXT,              -- what it said for certain last; NULL: nothing\n"
	"  etag TEXT,                  -- of the page\n"
	"  asked INTEGER NOT NULL,     -- seconds since 1970\n"
	"  fetched INTEGER NOT NULL,   -- when the page was confirmed last\n"
	"  max_age INTEGER NOT NULL,   -- seconds that it may be used for; -1: not said\n"
	"  doubt BLOB,                 -- SHA-256 of another page that is older, and not believed\n"
	"  doubted INTEGER NOT NULL,   -- since when that is there\n"
	"  changed INTEGER NOT NULL,   -- store.change of the last write that changed what is known\n"
	"  UNIQUE (project, source)"
	") STRICT;"
	"CREATE INDEX upstream_changed ON upstream (changed);"
	"CREATE TABLE upstream_page ("
	"  upstream INTEGER PRIMARY KEY REFERENCES upstream ON DELETE CASCADE,"
	"  packed BLOB NOT NULL        -- the page as it was good last: a zstd frame of simplepage_pack()\n"
	") STRICT;",

	// 7: the last plan of a prune, and those that are being made.
	"CREATE TABLE plan ("
	"  id INTEGER PRIMARY KEY,"
	"  begun INTEGER NOT NULL, -- seconds since 1970\n"
	"  name TEXT,              -- what the plan is called; NULL: it is not finished\n"
	"  made INTEGER,           -- seconds since 1970\n"
	"  head TEXT               -- all that it says beside the files, in JSON\n"
	") STRICT;"
	"CREATE TABLE planned ("
	"  id INTEGER PRIMARY KEY,"
	"  plan INTEGER NOT NULL REFERENCES plan ON DELETE CASCADE,"
	"  platform INTEGER NOT NULL REFERENCES platform,"
	"  size INTEGER NOT NULL,"
	"  removes INTEGER NOT NULL,"
	"  identical INTEGER NOT NULL, -- upstream's file has the same bytes\n"
	"  project TEXT, version TEXT, -- NULL: not known\n"
	"  filename TEXT NOT NULL,"
	"  path TEXT NOT NULL,         -- below the platform\n"
	"  verdict TEXT NOT NULL,"
	"  why TEXT,                   -- of what is kept\n"
	"  reason TEXT NOT NULL,"
	"  upstream TEXT               -- the file that upstream has in its place\n"
	") STRICT;"
	"CREATE INDEX planned_platform ON planned (plan, platform);"
	"CREATE INDEX planned_project ON planned (plan, project);",

	// 8: whether a scan has read all of a platform.
	"ALTER TABLE platform ADD COLUMN scanned INTEGER NOT NULL DEFAULT 0; "
	"-- 1: a scan has read all of it once; -1: no scan has,"
	"  and the last one could not; 0: none has looked\n"
	"UPDATE platform SET scanned = (SELECT scanned FROM store);",

	// 9: times of arrival, which decide the owner of a name (lib/state/upstream/name-owner.h). A replaced file does
	// not arrive again.
	"ALTER TABLE project ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0; "
	"-- seconds since 1970: when its first listed file came,"
	"  after there was none; 0: before this column was there\n"
	"CREATE TRIGGER file_arrive BEFORE INSERT ON file WHEN new.state = 0 BEGIN"
	"  UPDATE project SET arrived = CAST(strftime('%s', 'now') AS INTEGER) WHERE id = new.project AND files = 0;"
	"END;"
	"CREATE TRIGGER file_arrive_again BEFORE UPDATE OF project, state ON file"
	"  WHEN new.state = 0 AND (old.state <> 0 OR old.project IS NOT new.project) BEGIN"
	"  UPDATE project SET arrived = CAST(strftime('%s', 'now') AS INTEGER) WHERE id = new.project AND files = 0;"
	"END;"
	"CREATE INDEX file_unlisted ON file (project) WHERE state = 3;"
	"ALTER TABLE upstream ADD COLUMN certain INTEGER NOT NULL DEFAULT 0;   -- when it said standing last\n"
	"ALTER TABLE upstream ADD COLUMN had_since INTEGER NOT NULL DEFAULT 0; "
	"-- since when it has the project: its oldest file's"
	"  upload, else a minute before it was first asked; 0: it has not\n"
	"UPDATE upstream SET certain = iif(result = ifnull(standing, ''), asked, fetched),"
	" had_since = iif(standing = 'known', 1, 0);",

	// 10: pages that were asked for only once are deleted first.
	"ALTER TABLE upstream ADD COLUMN again INTEGER NOT NULL DEFAULT 0; -- 1: it was asked for more than once\n"
	"CREATE TRIGGER upstream_again AFTER UPDATE OF asked ON upstream WHEN old.again = 0 AND new.asked > old.asked BEGIN"
	"  UPDATE upstream SET again = 1 WHERE id = new.id;"
	"END;",
};

// A connection caches 1 MiB of pages: there is one per thread, and the system's file cache is behind them.
static const char schema_connection[] =
	"PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -1024;";

#define PATH_OF_FILE "iif(d.path = '', f.filename, d.path || '/' || f.filename)"
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

#define LAST_PLAN "(SELECT max(id) FROM plan WHERE name IS NOT NULL)"
#define PLANNED                                                                                                        \
	"SELECT platform, size, removes, identical, project, version, filename, path, verdict, why, reason, upstream"  \
	" FROM planned WHERE plan = " LAST_PLAN " AND "
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

static const char *const statement_sql[STATEMENT_COUNT] = {
	[LARGE_CACHE] = "PRAGMA cache_size = -16384",
	[BEGIN_READ] = "BEGIN",
	[BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[NEXT_CHANGE] = "UPDATE store SET change = change + 1",
	[COMMIT_WRITE] = "COMMIT",
	[ROLLBACK_WRITE] = "ROLLBACK",
	[DATA_VERSION] = "PRAGMA data_version",
	[STORE_GET] = "SELECT path FROM store",
	[STORE_SET] = "UPDATE store SET path = ?1",
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
	[PLATFORM_TOTALS] = "SELECT projects, files, bytes FROM platform WHERE id = ?1",
	[PLATFORM_UNLISTED] = "SELECT count(*), coalesce(sum(size), 0) FROM file"
			      " WHERE state > 0 AND platform = ?1",
	[PLATFORM_CLEAR] = "DELETE FROM folder WHERE platform = ?1 AND parent IS NULL",
	[PLATFORM_FILES] = "SELECT p.name, f.filename, " PATH_OF_FILE ", f.metadata_sha256 FROM project p"
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
			  " AND NOT EXISTS (SELECT 1 FROM folder WHERE parent = ?1)",
	[FOLDER_CHILDREN] = "SELECT id, path, mtime_ns, trusted, ignored FROM folder WHERE parent = ?1",
	[PROJECT_FIND] = "SELECT id FROM project WHERE platform = ?1 AND name = ?2",
	// If there are several, the one with the newest file.
	[PROJECT_FOLDER] =
		"SELECT d.path FROM project p JOIN file f ON f.project = p.id JOIN folder d ON d.id = f.folder"
		" WHERE p.platform = ?1 AND p.name = ?2 AND f.state = 0 ORDER BY f.id DESC LIMIT 1",
	[PROJECT_ADD] = "INSERT INTO project (platform, name) VALUES (?1, ?2)",
	[PROJECT_LIST] = "SELECT platform, name, files, bytes, changed FROM project"
			 " WHERE platform = ?1 AND files > 0 ORDER BY name",
	[PROJECT_FILES] = "SELECT f.filename" FILE_PAGE_LIST " FROM project p"
			  " JOIN file f ON f.project = p.id"
			  " WHERE p.platform = ?1 AND p.name = ?2 AND f.state = 0"
			  " ORDER BY f.version_key, f.filename",
	[PROJECT_CHANGES] = "SELECT platform, name, files, bytes, changed FROM project WHERE changed > ?1"
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
	[FILE_STATE] = "UPDATE file SET state = ?2, reason = ?3 WHERE id = ?1",
	[FILE_REMOVE] = "DELETE FROM file WHERE id = ?1",
	[FOLDER_FILES] = "SELECT f.filename" FILE_SCAN_LIST " FROM file f WHERE f.folder = ?1",
	[FILES_GOOD] = "SELECT d.path, f.filename, p.name" FILE_CHECK_LIST " FROM file f"
		       " JOIN folder d ON d.id = f.folder JOIN project p ON p.id = f.project"
		       " WHERE f.state <> 1 ORDER BY f.folder",
	[FILE_SUM] = "SELECT state, size, mtime_ns, sha256 FROM file WHERE id = ?1",
	[FILE_AT] = "SELECT 1 FROM folder d JOIN file f ON f.folder = d.id"
		    " WHERE d.platform = ?1 AND d.path = ?2 AND f.filename = ?3",
	[FILES_UNLISTED] = "SELECT f.platform, " PATH_OF_FILE ", f.reason FROM file f"
			   " JOIN folder d ON d.id = f.folder WHERE f.state = ?1 AND f.state > 0"
			   " ORDER BY f.platform, 2",
	[FOLDER_MARKS] = "SELECT filename, kind, text, written FROM mark WHERE folder = ?1",
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
	[MARKS_OF_KIND] = "SELECT m.platform, d.path, m.filename, m.reason, m.text, f.id IS NOT NULL, p.name,"
			  " iif(f.state = 1, f.reason, NULL)" FILE_MARK_LIST " FROM mark m"
			  " JOIN folder d ON d.id = m.folder"
			  " LEFT JOIN file f ON f.folder = m.folder AND f.filename = m.filename"
			  " LEFT JOIN project p ON p.id = f.project"
			  " WHERE m.platform = ?1 AND m.kind = ?2 AND m.reason IS NOT NULL"
			  " ORDER BY m.filename, d.path",
	[CANDIDATE_FILES] = CANDIDATE_OF " f.state = 0 UNION ALL " CANDIDATE_OF " f.state = 2 ORDER BY 4, 1, 2",
	[REFUSED_FILES] = CANDIDATE " WHERE f.state = 1 AND f.state > 0 AND NOT EXISTS (SELECT 1 FROM mark m"
				    " WHERE m.folder = f.folder AND m.filename = f.filename AND m.kind = 1"
				    " AND m.reason IS NOT NULL) ORDER BY f.platform, 2",
	[NAME_OWNERS] =
		"SELECT name, platform FROM project p WHERE files > 0"
		" OR EXISTS (SELECT 1 FROM file f WHERE f.project = p.id AND f.state = 2) ORDER BY name, platform",
	[STORE_CHANGE] = "SELECT change FROM store",
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
		" JOIN upstream_page p ON p.upstream = u.id WHERE u.project NOT IN (SELECT name FROM project))"
		" WHERE bytes > iif(again, ?1 - ?1 / 4, ?1 / 4))",
	[UPSTREAM_CHANGES] = "SELECT project, changed FROM upstream WHERE changed > ?1 ORDER BY changed",
	// Unlisted files may have no project, or may be gone.
	[HISTORIES] = HISTORY_OF_FILE
	" WHERE f.project IN (SELECT id FROM project WHERE name = ?1) AND f.state = 0"
	" UNION ALL " HISTORY_OF_FILE " WHERE f.state > 0 AND " IS_NAMED_F " UNION ALL"
	" SELECT m.platform, m.filename, iif(d.path = '', m.filename, d.path || '/' || m.filename), 3, 0, m.reason,"
	" m.text" FILE_WHY_LIST " FROM mark m JOIN folder d ON d.id = m.folder"
	" LEFT JOIN file f ON f.folder = m.folder AND f.filename = m.filename"
	" WHERE f.id IS NULL AND m.kind = 1 AND m.reason IS NOT NULL AND " IS_NAMED_M " ORDER BY 2, 1, 3",
	[PLAN_FORGET] = "DELETE FROM plan WHERE name IS NULL AND begun < ?1",
	[PLAN_ADD] = "INSERT INTO plan (begun) VALUES (?1)",
	[PLAN_SET] = "UPDATE plan SET name = ?2, made = ?3, head = ?4 WHERE id = ?1",
	[PLAN_REPLACE] = "DELETE FROM plan WHERE name IS NOT NULL AND id <> ?1",
	[PLAN_FILES] = "SELECT count(*) FROM planned WHERE plan = ?1",
	[PLAN_LAST] = "SELECT name, made, head FROM plan WHERE id = " LAST_PLAN,
	[PLANNED_ADD] =
		"INSERT INTO planned (plan, platform, size, removes, identical, project, version, filename, path,"
		" verdict, why, reason, upstream)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
	[PLANNED_COUNT] =
		"SELECT count(*), coalesce(sum(size), 0) FROM planned WHERE plan = " LAST_PLAN " AND " PLANNED_FILTER,
	[PLANNED_LIST] = PLANNED PLANNED_FILTER " ORDER BY id LIMIT ?5 OFFSET ?6",
	[PLANNED_PROJECT] = PLANNED "project = ?1 ORDER BY id",
	[FILES_SHARED] = "SELECT filename, count(*), count(DISTINCT sha256) FROM file WHERE state = 0"
			 " GROUP BY filename HAVING count(*) > 1 ORDER BY filename",
};

const struct database_kind schema_kind = {
	.name = "catalog",
	.advice = "remove it, and the next scan makes it again",
	.older = "wheelcache index",
	.application_id = 0x77636174, // "wcat"
	.schema_step = schema_step,
	.schema_steps = ARRAY_SIZE(schema_step),
	.connection = schema_connection,
	.statement = statement_sql,
	.statements = STATEMENT_COUNT,
};
