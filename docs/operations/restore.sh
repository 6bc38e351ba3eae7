#!/bin/sh
# Fills an empty database from a dump of backup.sh, all or nothing: `restore.sh tessera-20260101T000000Z.dump`. PGHOST,
# PGUSER, PGDATABASE and PGPASSWORD name the database. Stop the service first. Keep the APP_SECRET of the dump's time.
set -eu

file=${1:?Usage: restore.sh FILE}
tables=$(psql --no-psqlrc --tuples-only --no-align --command \
  "select count(*) from pg_catalog.pg_tables where schemaname not in ('pg_catalog', 'information_schema')")
if [ "$tables" != 0 ]; then
  echo "The database is not empty: create a new one and name it in PGDATABASE" >&2
  exit 1
fi
pg_restore --no-owner --no-privileges --exit-on-error --single-transaction --dbname="${PGDATABASE:?}" "$file"
echo "Restored. Prove the books before members sign in: tessera books verify"
