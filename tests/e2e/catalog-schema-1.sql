BEGIN TRANSACTION;
CREATE TABLE file (  id INTEGER PRIMARY KEY,  folder INTEGER NOT NULL REFERENCES folder ON DELETE CASCADE,  platform INTEGER NOT NULL REFERENCES platform, -- of the folder
  project INTEGER REFERENCES project, -- NULL: refused, and so never known
  filename TEXT NOT NULL,  state INTEGER NOT NULL,             -- 0 listed, 1 quarantined, 2 its name is listed from elsewhere
  trusted INTEGER NOT NULL,           -- 1: while size, mtime and inode stay, so do the bytes
  size INTEGER NOT NULL,  mtime_ns INTEGER NOT NULL,  inode INTEGER NOT NULL,  sha256 BLOB,                        -- NULL: refused before it was read
  version TEXT,                       -- normal form
  version_key BLOB,                   -- sorts as PEP 440 orders
  metadata_sha256 BLOB,               -- NULL: no .metadata
  requires_python TEXT,  findings INTEGER NOT NULL,          -- oddities that a lenient look found
  reason TEXT,                        -- why it is not listed
  CHECK (state = 1 OR (project IS NOT NULL AND sha256 IS NOT NULL))) STRICT;
INSERT INTO "file" VALUES(1,1,1,1,'six-1.0-py3-none-any.whl',0,1,805,1700000000000000000,12258138,X'F598AD9CA271C394E81ADBD741A169E7BF7CA85D914B1D0A3ED0A73D1EB8A046','1.0',X'01023100050102',X'989F92E71DB22CF8126A4CA79FDEB9454F19D37105153A9B40FD2B166AF26E74',NULL,0,NULL);
INSERT INTO "file" VALUES(2,2,1,1,'six-1.0-py3-none-any.whl',2,1,805,1700000000000000000,12266257,X'F598AD9CA271C394E81ADBD741A169E7BF7CA85D914B1D0A3ED0A73D1EB8A046','1.0',X'01023100050102',X'989F92E71DB22CF8126A4CA79FDEB9454F19D37105153A9B40FD2B166AF26E74',NULL,0,'the same file name is in the top folder, which comes first');
INSERT INTO "file" VALUES(3,2,1,1,'six-2.0-py3-none-any.whl',0,1,803,1700000000000000000,12266273,X'715F562AE5B33C0E6242281E95B3E1DD8B1AD76DDEFAFEF9415089AD04393193','2.0',X'01023200050102',X'5FC9458ACA8AE7410582888D47CA29D970DD789B85014F752EC5FEFB046EF686',NULL,0,NULL);
CREATE TABLE folder (  id INTEGER PRIMARY KEY,  platform INTEGER NOT NULL REFERENCES platform,  parent INTEGER REFERENCES folder ON DELETE CASCADE, -- NULL: the platform's root
  path TEXT NOT NULL,                   -- below the platform; '' for its root
  mtime_ns INTEGER NOT NULL DEFAULT 0,  -- when it was listed
  trusted INTEGER NOT NULL DEFAULT 0,   -- 1: while mtime_ns stays, it has no new names
  ignored INTEGER NOT NULL DEFAULT 0,   -- entries that are neither wheels nor sdists
  UNIQUE (platform, path)) STRICT;
INSERT INTO "folder" VALUES(1,1,NULL,'',1795283346524369886,0,0);
INSERT INTO "folder" VALUES(2,1,1,'b',1795283346529220080,0,0);
CREATE TABLE metadata (  id INTEGER PRIMARY KEY,  sha256 BLOB NOT NULL UNIQUE,       -- of the plain bytes
  uses INTEGER NOT NULL DEFAULT 0,   -- files that name it; kept by the triggers below
  packed BLOB NOT NULL               -- METADATA or PKG-INFO, a zstd frame
) STRICT;
INSERT INTO "metadata" VALUES(1,X'989F92E71DB22CF8126A4CA79FDEB9454F19D37105153A9B40FD2B166AF26E74',2,X'28B52FFD202D6901004D657461646174612D56657273696F6E3A20322E310A4E616D653A207369780A56657273696F6E3A20312E300A');
INSERT INTO "metadata" VALUES(2,X'5FC9458ACA8AE7410582888D47CA29D970DD789B85014F752EC5FEFB046EF686',1,X'28B52FFD202D55010024024D657461646174612D56657273696F6E3A20322E310A4E616D653A207369780A300A010050633E01');
CREATE TABLE platform (  id INTEGER PRIMARY KEY,  name TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO "platform" VALUES(1,'debian-12-x86_64');
CREATE TABLE project (  id INTEGER PRIMARY KEY,  platform INTEGER NOT NULL REFERENCES platform,  name TEXT NOT NULL,                 -- normalised
  files INTEGER NOT NULL DEFAULT 0,   -- listed ones; 0 when the last has gone
  bytes INTEGER NOT NULL DEFAULT 0,   -- of those
  changed INTEGER NOT NULL DEFAULT 0, -- store.change of the last write that its page shows
  UNIQUE (platform, name)) STRICT;
INSERT INTO "project" VALUES(1,1,'six',2,1608,3);
CREATE TABLE store (  id INTEGER PRIMARY KEY CHECK (id = 1),  path TEXT,               -- real path of the store; NULL: not known yet
  change INTEGER NOT NULL, -- number of the newest write transaction
  scanned INTEGER NOT NULL -- 1: a whole scan has ended once
) STRICT;
INSERT INTO "store" VALUES(1,'/srv/wheels',3,1);
CREATE INDEX folder_parent ON folder (parent);
CREATE INDEX project_changed ON project (changed);
CREATE INDEX file_folder ON file (folder);
CREATE INDEX file_project ON file (project) WHERE state = 0;
CREATE UNIQUE INDEX file_listed ON file (filename, platform) WHERE state = 0;
CREATE INDEX file_refused ON file (state, filename, platform) WHERE state > 0;
CREATE TRIGGER file_insert AFTER INSERT ON file BEGIN  UPDATE metadata SET uses = uses + 1 WHERE sha256 = new.metadata_sha256;  UPDATE project SET files = files + 1, bytes = bytes + new.size,    changed = (SELECT change FROM store) WHERE id = new.project AND new.state = 0;END;
CREATE TRIGGER file_delete AFTER DELETE ON file BEGIN  UPDATE metadata SET uses = uses - 1 WHERE sha256 = old.metadata_sha256;  DELETE FROM metadata WHERE sha256 = old.metadata_sha256 AND uses = 0;  UPDATE project SET files = files - 1, bytes = bytes - old.size,    changed = (SELECT change FROM store) WHERE id = old.project AND old.state = 0;END;
CREATE TRIGGER file_update AFTER UPDATE OF project, state, size, mtime_ns, sha256, version, version_key,  metadata_sha256, requires_python ON file BEGIN  UPDATE metadata SET uses = uses + 1 WHERE sha256 = new.metadata_sha256;  UPDATE metadata SET uses = uses - 1 WHERE sha256 = old.metadata_sha256;  DELETE FROM metadata WHERE sha256 = old.metadata_sha256 AND uses = 0;  UPDATE project SET files = files - 1, bytes = bytes - old.size,    changed = (SELECT change FROM store) WHERE id = old.project AND old.state = 0;  UPDATE project SET files = files + 1, bytes = bytes + new.size,    changed = (SELECT change FROM store) WHERE id = new.project AND new.state = 0;END;
COMMIT;
