#!/bin/sh
# Fills a new or empty database from a dump of backup.sh, all or nothing. PGHOST, PGUSER, PGDATABASE and PGPASSWORD name it.
#
#   restore.sh FILE           the dump of this file
#   restore.sh bucket [NAME]  the newest dump of the bucket of RESTIC_REPOSITORY, or the one of this name (`restic snapshots`)
#
# Stop the service first. Keep the APP_SECRET of the dump's time.
set -eu

file=${1:?Usage: restore.sh FILE, or restore.sh bucket [NAME]}
psql --no-psqlrc --quiet --command '' >/dev/null 2>&1 || createdb --template=template0 "${PGDATABASE:?}"
tables=$(psql --no-psqlrc --tuples-only --no-align --command \
  "select count(*) from pg_catalog.pg_tables where schemaname not in ('pg_catalog', 'information_schema')")
if [ "$tables" != 0 ]; then
  echo "The database is not empty: name a new one in PGDATABASE" >&2
  exit 1
fi
fill() {
  pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="${PGDATABASE:?}" "$@"
}
if [ "$file" = bucket ]; then
  # pg_restore fails, and leaves nothing, unless it reads the dump to its end.
  restic dump ${2:+--tag="$2"} --host=tessera latest tessera.dump | fill
else
  fill "$file"
fi
echo "Restored. Prove the books before members sign in: tessera books verify"
