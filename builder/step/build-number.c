// SPDX-License-Identifier: Apache-2.0
#include "builder/step/build-number.h"

#include "lib/base/limits.h"
#include "lib/base/mem.h"

static const char script_head[] = "number = '";
static const char script_rest[] =
	"'\n"
	"import base64, csv, hashlib, io, os, shutil, sys, zipfile\n"
	"folder, name = os.path.split(sys.argv[2])\n"
	"parts = name[:-len('.whl')].split('-')\n"
	"renamed = '-'.join(parts[:2] + [number] + parts[-3:]) + '.whl'\n"
	"def of_dist_info(info, name):\n"
	"    return info.filename.count('/') == 1 and info.filename.endswith('.dist-info/' + name)\n"
	"with zipfile.ZipFile(sys.argv[2]) as old, zipfile.ZipFile(os.path.join(folder, '.new'), 'w') as new:\n"
	"    wheel = next(info.filename for info in old.infolist() if of_dist_info(info, 'WHEEL'))\n"
	"    lines = [line for line in old.read(wheel).decode('utf-8').splitlines() if line.strip()]\n"
	"    lines = [line for line in lines if not line.lower().startswith('build:')] + ['Build: ' + number, '']\n"
	"    content = '\\n'.join(lines).encode('utf-8')\n"
	"    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode('ascii')\n"
	"    def record(data):\n"
	"        out = io.StringIO()\n"
	"        rows = csv.writer(out, lineterminator='\\n')\n"
	"        for row in csv.reader(io.StringIO(data.decode('utf-8'))):\n"
	"            same = not row or row[0] != wheel\n"
	"            rows.writerow(row if same else [wheel, 'sha256=' + digest, str(len(content))])\n"
	"        return out.getvalue().encode('utf-8')\n"
	"    for info in old.infolist():\n"
	"        kept = zipfile.ZipInfo(info.filename, info.date_time)\n"
	"        for field in ('compress_type', 'create_system', 'external_attr', 'comment'):\n"
	"            setattr(kept, field, getattr(info, field))\n"
	"        if info.filename == wheel:\n"
	"            new.writestr(kept, content)\n"
	"        elif of_dist_info(info, 'RECORD'):\n"
	"            new.writestr(kept, record(old.read(info)))\n"
	"        else:\n"
	"            kept.file_size = info.file_size\n"
	"            with old.open(info) as source, new.open(kept, 'w') as target:\n"
	"                shutil.copyfileobj(source, target, 1 << 20)\n"
	"os.remove(sys.argv[2])\n"
	"os.rename(os.path.join(folder, '.new'), os.path.join(folder, renamed))\n"
	"with open(sys.argv[1], 'w', encoding='utf-8') as f:\n"
	"    f.write(renamed)\n";

int build_number_set(struct step_room *r, unsigned number, struct err *e)
{
	CLEANUP(buf_release) struct buf answer;
	CLEANUP(mem_free) char *script = xasprintf("%s%u%s", script_head, number, script_rest);
	buf_init(&answer, LIMIT_BUILD_ANSWER);
	if (step_room_ask(r, script, "%w", (unsigned)step_room_seconds(r), &answer, e) < 0)
		return err_prefix(e, "the wheel does not get its build tag: ");
	return 0;
}
