#!/bin/sh
# Dumps the database that PGHOST, PGUSER, PGDATABASE and PGPASSWORD (or PGSERVICE) name into BACKUP_DIR: `backup.sh once`
# now, `backup.sh` every BACKUP_HOURS. A dump is one consistent moment, taken beside running services. Those older than
# BACKUP_DAYS are deleted, but never the newest.
set -eu
umask 077

dir=${BACKUP_DIR:-/backups}
hours=${BACKUP_HOURS:-6}
days=${BACKUP_DAYS:-14}

backup() {
  name=tessera-$(date -u +%Y%m%dT%H%M%SZ).dump
  # Named only when it is whole: what has a name can be restored.
  if ! pg_dump --format=custom --no-owner --no-privileges --file="$dir/.$name.part"; then
    rm -f "$dir/.$name.part"
    return 1
  fi
  mv "$dir/.$name.part" "$dir/$name"
  echo "$dir/$name"
  find "$dir" -maxdepth 1 -name 'tessera-*.dump' ! -name "$name" -mtime "+$days" -delete
}

if [ "${1:-}" = once ]; then
  backup
  exit
fi
# Ends at once when it is told to, also while it sleeps.
trap 'exit 0' TERM INT
while :; do
  backup || echo "The backup failed; the next try is in $hours hours" >&2
  sleep "$((hours * 3600))" &
  wait $!
done
