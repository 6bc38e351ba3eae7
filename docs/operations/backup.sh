#!/bin/sh
# Dumps the database into BACKUP_DIR: `backup.sh once` now, `backup.sh` every BACKUP_HOURS. PGHOST, PGUSER, PGDATABASE and
# PGPASSWORD (or PGSERVICE) name the database. A dump shows one moment; services run meanwhile. The script deletes dumps
# older than BACKUP_DAYS, but never the newest. After each dump it tells the dashboard of it.
set -eu
umask 077

dir=${BACKUP_DIR:-/backups}
hours=${BACKUP_HOURS:-6}
days=${BACKUP_DAYS:-14}

backup() {
  name=tessera-$(date -u +%Y%m%dT%H%M%SZ).dump
  # A dump gets its name when it is whole, so every named dump can be restored.
  if ! pg_dump --format=custom --no-owner --no-privileges --file="$dir/.$name.part"; then
    rm -f "$dir/.$name.part"
    return 1
  fi
  mv "$dir/.$name.part" "$dir/$name"
  echo "$dir/$name"
  # A database before its upgrade has no such table. The dump is whole all the same.
  psql --no-psqlrc --quiet --command "insert into last_backup (finished_at, bytes)
    values (now(), $(($(wc -c <"$dir/$name"))))
    on conflict (is_only) do update set finished_at = excluded.finished_at, bytes = excluded.bytes" ||
    echo "The backup is whole, but the dashboard does not know of it" >&2
  find "$dir" -maxdepth 1 -name 'tessera-*.dump' ! -name "$name" -mtime "+$days" -delete
}

if [ "${1:-}" = once ]; then
  backup
  exit
fi
# Ends at once on a signal, even while it sleeps.
trap 'exit 0' TERM INT
while :; do
  backup || echo "The backup failed; the next try is in $hours hours" >&2
  sleep "$((hours * 3600))" &
  wait $!
done
