// SPDX-License-Identifier: Apache-2.0
#include "lib/state/catalog/schema.h"

#include "lib/base/mem.h"

// A step: what ties the wheels of records to other builds. The digest of a wheel's
// members is wanted where there is evidence for other bytes of its name, and of bytes that were tested here, if the
// record does not say what is in them. Records of an older wheelcache have no version: they are read again
// (EVIDENCE_IN).
#define SCHEMA_BUILDS                                                                                           \
	"ALTER TABLE evidence_wheel ADD COLUMN version BLOB;  -- key of the version; NULL: to be read again\n"         \
	"ALTER TABLE evidence_wheel ADD COLUMN filename TEXT; -- as the record has it\n"                               \
	"ALTER TABLE evidence_wheel ADD COLUMN content BLOB;  -- digest of the members; NULL: the record has none\n"   \
	"ALTER TABLE evidence_wheel ADD COLUMN source TEXT;   -- commit of the source; NULL: the record has none\n"    \
	"CREATE INDEX evidence_wheel_build ON evidence_wheel (project, version, kind, platform, python, arrival);"     \
	"CREATE INDEX evidence_wheel_name ON evidence_wheel (filename);"                                               \
	"ALTER TABLE inside ADD COLUMN content BLOB; -- digest of the members; NULL: not needed, X'': wanted, X'00': none\n"\
	"CREATE INDEX inside_content ON inside (content);"                                                             \
	"CREATE TRIGGER inside_content_insert AFTER INSERT ON inside WHEN EXISTS"                                      \
	"  (SELECT 1 FROM file f CROSS JOIN evidence_wheel w ON w.filename = f.filename AND w.sha256 <> f.sha256"      \
	"   WHERE f.sha256 = new.sha256 AND f.state <> 1) BEGIN"                                                       \
	"  UPDATE inside SET content = X'' WHERE id = new.id OR (content IS NULL AND sha256 IN"                        \
	"    (SELECT w.sha256 FROM file f CROSS JOIN evidence_wheel w ON w.filename = f.filename AND w.content IS NULL"\
	"     WHERE f.sha256 = new.sha256 AND f.state <> 1));"                                                         \
	"END;"                                                                                                         \
	"CREATE TRIGGER evidence_wheel_insert AFTER INSERT ON evidence_wheel WHEN EXISTS"                              \
	"  (SELECT 1 FROM file f WHERE f.filename = new.filename AND f.sha256 <> new.sha256 AND f.state = 0) BEGIN"    \
	"  UPDATE inside SET content = X'' WHERE content IS NULL AND"                                                  \
	"    (sha256 = iif(new.content IS NULL, new.sha256, X'')"                                                      \
	"     OR sha256 IN (SELECT f.sha256 FROM file f WHERE f.filename = new.filename AND f.state = 0));"            \
	"END;"                                                                                                         \
	"DELETE FROM evidence_folder;"

// Sets the hashes of the attachments that are about the bytes of a file.
#define ATTACHED_OF_KIND                                                                                               \
	"(SELECT a.sha256 FROM attachment a WHERE a.folder = file.folder AND a.filename = file.filename"               \
	" AND a.subject = file.sha256 AND a.kind = "
#define ATTACH_TO_ROW                                                                                                  \
	"UPDATE file SET statement = " ATTACHED_OF_KIND "0), provenance = " ATTACHED_OF_KIND "1) WHERE folder = "
#define ATTACH_TO_NEW ATTACH_TO_ROW "new.folder AND filename = new.filename;"
#define ATTACH_TO_OLD ATTACH_TO_ROW "old.folder AND filename = old.filename;"

// When a file came. A time that is yet to come is that of a wrong clock.
#define CAME(row)                                                                                                      \
	"iif(" row ".arrived > 0, " row ".arrived,"                                                                    \
	" min(" row ".mtime_ns / 1000000000, CAST(strftime('%s', 'now') AS INTEGER)))"

// A step: when files and projects came, also for a catalog that is made again (arrivals.h). A file that has the time of
// its arrival needs no row; a row that is there is renewed.
#define NOW "CAST(strftime('%s', 'now') AS INTEGER)"
#define NAME_OF_PLATFORM "(SELECT l.name FROM platform l WHERE l.id = new.platform)"
#define CAME_PROJECT \
	"SELECT c.arrived FROM came c WHERE c.platform = " NAME_OF_PLATFORM \
	" AND c.name = project.name AND c.sha256 = X''"
#define CAME_FILE \
	"SELECT c.arrived FROM came c WHERE c.platform = " NAME_OF_PLATFORM \
	" AND c.name = new.filename AND c.sha256 = new.sha256"
#define RENEW " ON CONFLICT (platform, name, sha256) DO UPDATE SET arrived = excluded.arrived, saved = 0;"
#define PROJECT_ARRIVES \
	"  UPDATE project SET arrived = iif(project.arrived = 0, ifnull((" CAME_PROJECT "), " NOW "), " NOW ")" \
	"    WHERE project.id = new.project AND project.files = 0;" \
	"  INSERT INTO came SELECT " NAME_OF_PLATFORM ", project.name, X'', project.arrived, 0 FROM project" \
	"    WHERE project.id = new.project AND project.files = 0 AND project.arrived IS NOT (" CAME_PROJECT ")" RENEW
#define FILE_ARRIVES \
	"  UPDATE file SET arrived = " NOW " WHERE id = new.id;" \
	"  INSERT INTO came SELECT " NAME_OF_PLATFORM ", new.filename, new.sha256, " NOW ", 0 WHERE new.sha256 IS NOT NULL" \
	"    AND (NOT " NOW " - new.mtime_ns / 1000000000 BETWEEN 0 AND 60 OR EXISTS (" CAME_FILE "))" RENEW
#define SCHEMA_CAME \
	"ALTER TABLE store ADD COLUMN came INTEGER NOT NULL DEFAULT -1; -- number of the newest record; -1: none was read\n" \
	"CREATE TABLE came (" \
	"  platform TEXT NOT NULL, name TEXT NOT NULL, -- of a file, or a project\n" \
	"  sha256 BLOB NOT NULL,    -- X'': a project\n" \
	"  arrived INTEGER NOT NULL, -- seconds since 1970\n" \
	"  saved INTEGER NOT NULL,  -- number of the record that has it, or will; 1: an older one; 0: none\n" \
	"  PRIMARY KEY (platform, name, sha256)" \
	") STRICT, WITHOUT ROWID;" \
	"CREATE INDEX came_unsaved ON came (saved) WHERE saved = 0;" \
	"INSERT INTO came SELECT l.name, p.name, X'', p.arrived, 0 FROM project p JOIN platform l ON l.id = p.platform" \
	"  WHERE p.arrived > 0 AND p.files > 0;" \
	"INSERT OR IGNORE INTO came SELECT l.name, f.filename, f.sha256, f.arrived, 0 FROM file f" \
	"  JOIN platform l ON l.id = f.platform WHERE f.arrived > 0 AND f.sha256 IS NOT NULL" \
	"  AND NOT f.arrived - f.mtime_ns / 1000000000 BETWEEN 0 AND 60;" \
	"DROP TRIGGER file_arrive; DROP TRIGGER file_arrive_again; DROP TRIGGER file_came; DROP TRIGGER file_came_again;" \
	"CREATE TRIGGER file_arrive BEFORE INSERT ON file WHEN new.state = 0 BEGIN " PROJECT_ARRIVES " END;" \
	"CREATE TRIGGER file_arrive_again BEFORE UPDATE OF project, state ON file" \
	"  WHEN new.state = 0 AND (old.state <> 0 OR old.project IS NOT new.project) BEGIN " PROJECT_ARRIVES " END;" \
	"CREATE TRIGGER file_came AFTER INSERT ON file" \
	"  WHEN (SELECT scanned FROM platform WHERE id = new.platform) = 1 BEGIN " FILE_ARRIVES " END;" \
	"CREATE TRIGGER file_came_before AFTER INSERT ON file" \
	"  WHEN (SELECT scanned FROM platform WHERE id = new.platform) <> 1 AND EXISTS (" CAME_FILE ") BEGIN" \
	"  UPDATE file SET arrived = (" CAME_FILE ") WHERE id = new.id;" \
	"END;" \
	"CREATE TRIGGER file_came_again AFTER UPDATE OF state, sha256 ON file" \
	"  WHEN (new.sha256 IS NOT old.sha256 AND old.sha256 IS NOT NULL) OR (new.state = 0 AND old.state = 3)" \
	"  BEGIN " FILE_ARRIVES " END;"

// A step: marks of projects (kind 2), whose filename is the project. Each folder is listed again, because no scan has
// read them.
#define STATUS_CHANGES(row)                                                                                            \
	"  INSERT INTO project (platform, name) SELECT " row ".platform, " row ".filename WHERE NOT EXISTS"            \
	"    (SELECT 1 FROM project WHERE platform = " row ".platform AND name = " row ".filename);"                   \
	"  UPDATE project SET changed = (SELECT change FROM store), status = (SELECT change FROM store)"               \
	"    WHERE platform = " row ".platform AND name = " row ".filename; END;"
#define SCHEMA_STATUS                                                                                                  \
	"ALTER TABLE project ADD COLUMN status INTEGER NOT NULL DEFAULT 0; "                                           \
	"-- store.change of the last write of its status; 0: it never had one\n"                                        \
	"CREATE TRIGGER status_insert AFTER INSERT ON mark WHEN new.kind = 2 BEGIN" STATUS_CHANGES("new")              \
	"CREATE TRIGGER status_update AFTER UPDATE ON mark WHEN new.kind = 2 BEGIN" STATUS_CHANGES("new")              \
	"CREATE TRIGGER status_delete AFTER DELETE ON mark WHEN old.kind = 2 BEGIN" STATUS_CHANGES("old")              \
	"UPDATE folder SET trusted = 0;"

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

	// 11: what is inside wheels. A row for each SHA-256 of good wheels is always there; a scan or an upload fills
	// it. The large columns have tables of their own, so that searches read little.
	"CREATE TABLE inside ("
	"  id INTEGER PRIMARY KEY,"
	"  sha256 BLOB NOT NULL UNIQUE,"
	"  version INTEGER NOT NULL DEFAULT 0, -- of the facts; 0: no wheelcache has looked\n"
	"  why TEXT                            -- why there are none; NULL: they are there, or version is 0\n"
	") STRICT;"
	"CREATE INDEX inside_version ON inside (version);"
	"CREATE INDEX inside_why ON inside (id) WHERE why IS NOT NULL;"
	"CREATE TABLE inside_facts ("
	"  inside INTEGER PRIMARY KEY REFERENCES inside ON DELETE CASCADE,"
	"  packed BLOB NOT NULL        -- of wheel_facts_pack()\n"
	") STRICT;"
	"CREATE TABLE inside_word ("
	"  id INTEGER PRIMARY KEY,"
	"  kind INTEGER NOT NULL,      -- enum catalog_facts_kind\n"
	"  name TEXT NOT NULL,"
	"  version TEXT NOT NULL,      -- '': none is known\n"
	"  purl TEXT NOT NULL,         -- '': none\n"
	"  UNIQUE (kind, name, version, purl)"
	") STRICT;"
	"CREATE TABLE inside_use ("
	"  word INTEGER NOT NULL REFERENCES inside_word,"
	"  inside INTEGER NOT NULL REFERENCES inside ON DELETE CASCADE,"
	"  PRIMARY KEY (word, inside)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX inside_use_of ON inside_use (inside);"
	"CREATE TABLE inside_symbol ("
	"  slice INTEGER NOT NULL,     -- 0 to 15\n"
	"  inside INTEGER NOT NULL,"
	"  hashes BLOB NOT NULL,       -- of lib/format/name-hashes.h\n"
	"  PRIMARY KEY (slice, inside)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TRIGGER inside_use_delete AFTER DELETE ON inside_use BEGIN"
	"  DELETE FROM inside_word WHERE id = old.word AND NOT EXISTS (SELECT 1 FROM inside_use WHERE word = old.word);"
	"END;"
	"CREATE TRIGGER inside_delete AFTER DELETE ON inside BEGIN"
	"  DELETE FROM inside_symbol WHERE slice IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)"
	"    AND inside = old.id;"
	"END;"
	"CREATE INDEX file_sha256 ON file (sha256) WHERE state <> 1;"
	"INSERT OR IGNORE INTO inside (sha256) SELECT sha256 FROM file WHERE state <> 1 AND filename GLOB '*.whl';"
	"CREATE TRIGGER file_inside_insert AFTER INSERT ON file WHEN new.state <> 1 AND new.filename GLOB '*.whl' BEGIN"
	"  INSERT OR IGNORE INTO inside (sha256) VALUES (new.sha256);"
	"END;"
	"CREATE TRIGGER file_inside_delete AFTER DELETE ON file BEGIN"
	"  DELETE FROM inside WHERE sha256 = old.sha256 AND NOT EXISTS"
	"    (SELECT 1 FROM file WHERE sha256 = old.sha256 AND state <> 1);"
	"END;"
	"CREATE TRIGGER file_inside_update AFTER UPDATE OF state, sha256 ON file"
	"  WHEN new.sha256 IS NOT old.sha256 OR (new.state = 1) <> (old.state = 1) BEGIN"
	"  INSERT OR IGNORE INTO inside (sha256) SELECT new.sha256 WHERE new.state <> 1 AND new.filename GLOB '*.whl';"
	"  DELETE FROM inside WHERE sha256 = old.sha256 AND NOT EXISTS"
	"    (SELECT 1 FROM file WHERE sha256 = old.sha256 AND state <> 1);"
	"END;",
	// 12: attachments. A file has the hash of each that is about its bytes. Each folder is listed again, because no
	// scan has read them.
	"ALTER TABLE file ADD COLUMN statement BLOB;  -- SHA-256 of X.whl.intoto.json; NULL: none is about these bytes\n"
	"ALTER TABLE file ADD COLUMN provenance BLOB; -- the same of X.whl.provenance (PEP 740)\n"
	"ALTER TABLE platform ADD COLUMN attached INTEGER NOT NULL DEFAULT 0; -- bytes of attachments\n"
	"CREATE TABLE attachment ("
	"  id INTEGER PRIMARY KEY,"
	"  folder INTEGER NOT NULL REFERENCES folder ON DELETE CASCADE,"
	"  filename TEXT NOT NULL,     -- of the file, which need not be there\n"
	"  kind INTEGER NOT NULL,      -- 0 statement, 1 provenance\n"
	"  platform INTEGER NOT NULL REFERENCES platform, -- of the folder\n"
	"  trusted INTEGER NOT NULL,   -- 1: while size, mtime and inode stay, so do the bytes\n"
	"  size INTEGER NOT NULL,"
	"  mtime_ns INTEGER NOT NULL,"
	"  inode INTEGER NOT NULL,"
	"  sha256 BLOB NOT NULL,       -- of its bytes\n"
	"  subject BLOB,               -- SHA-256 of the bytes that it is about; NULL: it is not valid\n"
	"  reason TEXT,                -- why it is not valid\n"
	"  packed BLOB,                -- its bytes, a zstd frame; NULL: it is not valid\n"
	"  written INTEGER NOT NULL,   -- store.change of the last write\n"
	"  UNIQUE (folder, filename, kind)"
	") STRICT;"
	"CREATE TRIGGER file_attach AFTER INSERT ON file WHEN EXISTS"
	"  (SELECT 1 FROM attachment WHERE folder = new.folder AND filename = new.filename)"
	"  BEGIN " ATTACH_TO_NEW " END;"
	"CREATE TRIGGER file_attach_again AFTER UPDATE OF sha256 ON file WHEN new.sha256 IS NOT old.sha256"
	"  BEGIN " ATTACH_TO_NEW " END;"
	"CREATE TRIGGER file_attached AFTER UPDATE OF statement, provenance ON file"
	"  WHEN new.statement IS NOT old.statement OR new.provenance IS NOT old.provenance BEGIN"
	"  UPDATE project SET changed = (SELECT change FROM store) WHERE id = new.project AND new.state = 0;"
	"END;"
	"CREATE TRIGGER attachment_insert AFTER INSERT ON attachment"
	"  BEGIN " ATTACH_TO_NEW " UPDATE platform SET attached = attached + new.size WHERE id = new.platform;"
	"END;"
	"CREATE TRIGGER attachment_update AFTER UPDATE ON attachment"
	"  BEGIN " ATTACH_TO_NEW
	"  UPDATE platform SET attached = attached + new.size - old.size WHERE id = new.platform;"
	"END;"
	"CREATE TRIGGER attachment_delete AFTER DELETE ON attachment"
	"  BEGIN " ATTACH_TO_OLD " UPDATE platform SET attached = attached - old.size WHERE id = old.platform;"
	"END;"
	"UPDATE folder SET trusted = 0;",

	// 13: times of arrival of files, which decide how long a view keeps a version. What the first scan of a
	// platform finds may be old, so that its own time counts. Other bytes, and a file that is listed again, arrive
	// anew.
	"ALTER TABLE file ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0; "
	"-- seconds since 1970; 0: it was there when its platform was first scanned, or before this column\n"
	"CREATE TRIGGER file_came AFTER INSERT ON file"
	"  WHEN (SELECT scanned FROM platform WHERE id = new.platform) = 1 BEGIN"
	"  UPDATE file SET arrived = CAST(strftime('%s', 'now') AS INTEGER) WHERE id = new.id;"
	"END;"
	"CREATE TRIGGER file_came_again AFTER UPDATE OF state, sha256 ON file"
	"  WHEN (new.sha256 IS NOT old.sha256 AND old.sha256 IS NOT NULL) OR (new.state = 0 AND old.state = 3) BEGIN"
	"  UPDATE file SET arrived = CAST(strftime('%s', 'now') AS INTEGER) WHERE id = new.id;"
	"END;",

	// 14: memberships of views, and evidence: copies of the files in [store] views. A member's interval is from the
	// generation that added it to the one that removed it, so that every generation can be asked for.
	"ALTER TABLE store ADD COLUMN views INTEGER NOT NULL DEFAULT 0; -- 1: the folder was read once\n"
	"CREATE TABLE membership ("
	"  id INTEGER PRIMARY KEY,"
	"  name TEXT NOT NULL UNIQUE,              -- of the view\n"
	"  newest INTEGER NOT NULL DEFAULT 0,      -- number of the newest generation; 0: none\n"
	"  damaged INTEGER NOT NULL DEFAULT 0      -- 1: a file of it is missing or damaged\n"
	") STRICT;"
	"CREATE TABLE generation ("
	"  membership INTEGER NOT NULL REFERENCES membership,"
	"  number INTEGER NOT NULL,"
	"  made INTEGER NOT NULL,      -- seconds since 1970, never before the previous one\n"
	"  sha256 BLOB NOT NULL,       -- of its file\n"
	"  action TEXT NOT NULL, who TEXT NOT NULL, reason TEXT NOT NULL,"
	"  added INTEGER NOT NULL, removed INTEGER NOT NULL,"
	"  packed BLOB NOT NULL,       -- its file, a zstd frame\n"
	"  UNIQUE (membership, number)"
	") STRICT;"
	"CREATE INDEX generation_made ON generation (membership, made, number);"
	"CREATE TABLE member ("
	"  id INTEGER PRIMARY KEY,"
	"  membership INTEGER NOT NULL REFERENCES membership,"
	"  platform INTEGER NOT NULL REFERENCES platform,"
	"  project TEXT NOT NULL,      -- normalised\n"
	"  filename TEXT NOT NULL,"
	"  sha256 BLOB NOT NULL,"
	"  since INTEGER NOT NULL,     -- the first generation that has it\n"
	"  until INTEGER NOT NULL DEFAULT 9223372036854775807, -- the first one that does not\n"
	"  UNIQUE (filename, platform, sha256, membership, since)"
	") STRICT;"
	"CREATE INDEX member_project ON member (membership, project, until);"
	"CREATE INDEX member_platform ON member (membership, platform, until);"
	"CREATE TABLE evidence ("
	"  id INTEGER PRIMARY KEY,"
	"  sha256 BLOB NOT NULL UNIQUE, -- of the record\n"
	"  kind TEXT NOT NULL, platform TEXT NOT NULL, python TEXT NOT NULL,"
	"  made INTEGER NOT NULL,      -- seconds since 1970, by the clock of the machine that tested\n"
	"  received INTEGER NOT NULL,  -- the same by the index\n"
	"  arrival INTEGER NOT NULL,   -- in nanoseconds; of two records the later one counts\n"
	"  who TEXT NOT NULL, address TEXT NOT NULL,"
	"  views TEXT NOT NULL,        -- globs of views for which it counts\n"
	"  overrides TEXT,             -- NULL: a test run\n"
	"  passed INTEGER NOT NULL, failed INTEGER NOT NULL, skipped INTEGER NOT NULL,"
	"  wheels INTEGER NOT NULL,"
	"  packed BLOB NOT NULL        -- its file, a zstd frame\n"
	") STRICT;"
	"CREATE INDEX evidence_arrival ON evidence (arrival);"
	"CREATE TABLE evidence_wheel ("
	"  sha256 BLOB NOT NULL,       -- of the wheel\n"
	"  project TEXT NOT NULL,      -- normalised, of the file name that the record gives it\n"
	"  kind TEXT NOT NULL, platform TEXT NOT NULL, python TEXT NOT NULL, arrival INTEGER NOT NULL,"
	"  evidence INTEGER NOT NULL REFERENCES evidence ON DELETE CASCADE,"
	"  PRIMARY KEY (sha256, project, kind, platform, python, arrival, evidence)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX evidence_wheel_of ON evidence_wheel (evidence);"
	"CREATE TABLE evidence_folder ("
	"  id INTEGER PRIMARY KEY,     -- the first byte of its records' hashes\n"
	"  mtime_ns INTEGER NOT NULL   -- when it was listed, and all of it was good\n"
	") STRICT;",

	// 15: what the last retain found.
	"CREATE TABLE retained ("
	"  view TEXT PRIMARY KEY,"
	"  looked INTEGER NOT NULL, -- seconds since 1970: as of which time it decided\n"
	"  ended INTEGER NOT NULL, ending INTEGER NOT NULL, -- versions\n"
	"  stale INTEGER NOT NULL,  -- projects\n"
	"  doubt INTEGER NOT NULL   -- 1: nothing could end\n"
	") STRICT, WITHOUT ROWID;",

	// 16: when the newest file of a project came, for lists of what is new and old; tombstones by the time of
	// writing.
	"ALTER TABLE project ADD COLUMN newest INTEGER NOT NULL DEFAULT 0; "
	"-- seconds since 1970: when the newest of its listed files came, also if it has gone; 0: none has\n"
	"UPDATE project SET newest = ifnull((SELECT max(" CAME("file") ") FROM file"
	"  WHERE file.project = project.id AND file.state = 0), 0);"
	"CREATE TRIGGER project_newest AFTER INSERT ON file WHEN new.state = 0 BEGIN"
	"  UPDATE project SET newest = max(newest, " CAME("new") ") WHERE id = new.project; END;"
	"CREATE TRIGGER project_newest_again AFTER UPDATE OF arrived, state, project ON file WHEN new.state = 0"
	"  AND (old.state <> 0 OR new.arrived <> old.arrived OR new.project IS NOT old.project) BEGIN"
	"  UPDATE project SET newest = max(newest, " CAME("new") ") WHERE id = new.project; END;"
	"CREATE INDEX mark_written ON mark (platform, kind, written);",

	// 17: what the last plan of a prune says otherwise than the one before, and which file it decided on.
	"ALTER TABLE plan ADD COLUMN former TEXT; -- the name of the plan before; NULL: there was none\n"
	"ALTER TABLE plan ADD COLUMN former_made INTEGER; -- seconds since 1970\n"
	"ALTER TABLE planned ADD COLUMN mtime_ns INTEGER NOT NULL DEFAULT 0; -- 0: unknown\n"
	"CREATE TABLE plan_change ("
	"  id INTEGER PRIMARY KEY,"
	"  plan INTEGER NOT NULL REFERENCES plan ON DELETE CASCADE,"
	"  platform INTEGER NOT NULL REFERENCES platform,"
	"  removed INTEGER NOT NULL, removes INTEGER NOT NULL, -- by the plan before, by this one\n"
	"  size INTEGER NOT NULL,"
	"  project TEXT,               -- NULL: not known\n"
	"  filename TEXT NOT NULL,"
	"  before TEXT, verdict TEXT   -- of the plan before, of this one; NULL: it has no such file\n"
	") STRICT;"
	"CREATE INDEX plan_change_platform ON plan_change (plan, platform);",

	// 18: wheels for other machines than those of their platform, which are listed all the same.
	"ALTER TABLE file ADD COLUMN misfit TEXT; -- why they do not fit; NULL: they do, or no scan has looked since\n"
	"CREATE INDEX file_misfit ON file (platform) WHERE misfit IS NOT NULL AND state = 0;",

	// 19: the names that other indexes have, for searches.
	"CREATE INDEX upstream_known ON upstream (project) WHERE standing = 'known';",

	// 20: since when views expect evidence, and when the newest came.
	"CREATE TABLE expected ("
	"  view TEXT NOT NULL, kind TEXT NOT NULL,"
	"  platform TEXT NOT NULL, python TEXT NOT NULL, -- the cell; '': the view as a whole\n"
	"  known INTEGER NOT NULL,  -- seconds since 1970: since when it is expected\n"
	"  newest INTEGER NOT NULL, -- when the newest record came that counts; 0: none did\n"
	"  silent INTEGER NOT NULL, -- 1: it was told that none comes any more\n"
	"  PRIMARY KEY (view, kind, platform, python)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX evidence_kind ON evidence (kind, arrival);",

	// 21: members of views that the store has lost.
	"CREATE TABLE lost ("
	"  view TEXT NOT NULL, platform TEXT NOT NULL, filename TEXT NOT NULL, sha256 BLOB NOT NULL,"
	"  since INTEGER NOT NULL, -- when a server noticed it and told of it; seconds since 1970\n"
	"  PRIMARY KEY (view, platform, filename, sha256)"
	") STRICT, WITHOUT ROWID;",

	SCHEMA_BUILDS, // 22
	SCHEMA_CAME,   // 23

	// 24: `retained`, `expected` and `lost` are in a record too (catalog-told.h). What is in no record is made
	// again: the plan by the next prune; answers of upstream are asked for again. Their `doubt` is about the page
	// before, which goes too. had_since is a record (catalog_upstream_had()).
	"ALTER TABLE store ADD COLUMN told INTEGER NOT NULL DEFAULT -1; "
	"-- 1: as the record has it; 0: changed since; -1: the record was not read\n",

	SCHEMA_STATUS, // 25

	// 26: marks of kind 3. Each folder is listed again, because no scan has read them.
	"ALTER TABLE file ADD COLUMN uploaded INTEGER NOT NULL DEFAULT 0; "
	"-- seconds since 1970, by its mark of kind 3; 0: when it was modified\n"
	"CREATE TRIGGER file_uploaded AFTER UPDATE OF uploaded ON file WHEN new.uploaded <> old.uploaded BEGIN"
	"  UPDATE project SET changed = (SELECT change FROM store) WHERE id = new.project AND new.state = 0;"
	"END;"
	"UPDATE folder SET trusted = 0;",
};

// A connection caches 1 MiB of pages: there is one per thread, and the system's file cache is behind them.
static const char schema_connection[] =
	"PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -1024;";

const struct database_kind schema_kind = {
	.name = "catalog",
	.advice = "remove it, and the next scan makes it again",
	.older = "wheelcache index",
	.application_id = 0x77636174, // "wcat"
	.schema_step = schema_step,
	.schema_steps = ARRAY_SIZE(schema_step),
	.connection = schema_connection,
	.statement = schema_statement,
	.statements = STATEMENT_COUNT,
};
