#!/bin/sh
# Backs up the database that PGHOST, PGUSER, PGDATABASE and PGPASSWORD (or PGSERVICE) name. Services run meanwhile.
#
#   backup.sh once    dumps into BACKUP_DIR, and sends the dump to the bucket of RESTIC_REPOSITORY, if that is set
#   backup.sh check   restores the newest dump into a database of its own and proves its books; then drops that database
#   backup.sh         does the first every BACKUP_HOURS and the second every BACKUP_CHECK_DAYS
#
# restic encrypts what it sends under RESTIC_PASSWORD, which the bucket never holds. BACKUP_DIR keeps dumps for BACKUP_DAYS, the
# bucket one of each day for BACKUP_SENT_DAYS. Both always keep the newest. The dashboard and the metrics show the last of each.
set -eu
umask 077

dir=${BACKUP_DIR:-/backups}
hours=${BACKUP_HOURS:-6}
days=${BACKUP_DAYS:-14}
sent_days=${BACKUP_SENT_DAYS:-90}
check_days=${BACKUP_CHECK_DAYS:-7}
# The program that proves books: `tessera`, unless another command is named.
tessera=${TESSERA:-tessera}
bucket=${RESTIC_REPOSITORY:-}
has_bucket=false
if [ -n "$bucket" ]; then
  has_bucket=true
  : "${RESTIC_PASSWORD:?Set RESTIC_PASSWORD: without it nobody can read what is in the bucket}"
fi

# Writes down what has been done. A database before its upgrade lacks the columns, but the dump is whole all the same.
report() {
  psql --no-psqlrc --quiet --command "$1" || echo "The dashboard does not know of it" >&2
}

ask() {
  psql --no-psqlrc --tuples-only --no-align --command "$1"
}

backup() {
  # The first start is still to come, or a restore. An empty dump must never be the newest.
  if [ "$(ask "select count(*) from pg_catalog.pg_tables where schemaname = 'public'")" = 0 ]; then
    echo "The database is empty" >&2
    return 1
  fi
  name=tessera-$(date -u +%Y%m%dT%H%M%SZ).dump
  # A dump gets its name when it is whole, so every named dump can be restored.
  if ! pg_dump --format=custom --no-owner --no-privileges --file="$dir/.$name.part"; then
    rm -f "$dir/.$name.part"
    return 1
  fi
  mv "$dir/.$name.part" "$dir/$name"
  echo "$dir/$name"
  # Another program that makes backups reports them by this statement, with `has_bucket` false.
  report "insert into last_backup (finished_at, bytes, has_bucket)
    values (now(), $(($(wc -c <"$dir/$name"))), $has_bucket)
    on conflict (is_only) do update set finished_at = excluded.finished_at, bytes = excluded.bytes,
      has_bucket = excluded.has_bucket"
  find "$dir" -maxdepth 1 -name 'tessera-*.dump' ! -name "$name" -mtime "+$days" -delete
  if $has_bucket && ! send "$name"; then
    echo "The dump is whole, but the bucket did not take it" >&2
    return 1
  fi
}

# Every dump is a snapshot of one file of the same name; its tag is the name of the dump.
send() {
  restic cat config >/dev/null 2>&1 || restic init || return
  # Removes only locks whose process is gone.
  restic unlock --quiet || return
  restic backup --quiet --host=tessera --tag="$1" --stdin --stdin-filename=tessera.dump <"$dir/$1" || return
  report "update last_backup set sent_at = finished_at"
  restic forget --quiet --host=tessera --group-by=host --keep-within=2d --keep-within-daily="${sent_days}d" --prune ||
    echo "The bucket has the dump, but old ones are still there" >&2
}

check() {
  scratch=${PGDATABASE:?}_check
  dropdb --if-exists --force "$scratch" || return
  if $has_bucket; then
    set -- bucket
  else
    set -- "$(find "$dir" -maxdepth 1 -name 'tessera-*.dump' | sort | tail -n 1)"
  fi
  # The dump may be older than this program, so it is upgraded first. A database of the environment's host and role.
  if PGDATABASE=$scratch sh "$(dirname "$0")/restore.sh" "$@" &&
    DATABASE_URL=postgres:///$scratch $tessera migrate &&
    DATABASE_URL=postgres:///$scratch $tessera books verify; then
    dropdb --force "$scratch" || return
    report "update last_backup set proven_at = now()"
    echo "The newest backup restores, and its books pass"
  else
    echo "The newest backup does NOT prove itself; $scratch holds what was restored" >&2
    return 1
  fi
}

case ${1:-} in
'') ;;
once)
  backup
  exit
  ;;
check)
  check
  exit
  ;;
*)
  echo "Usage: backup.sh [once|check]" >&2
  exit 2
  ;;
esac
# Ends at once on a signal, even while it sleeps.
trap 'exit 0' TERM INT
while :; do
  backup || echo "The backup failed; the next try is in $hours hours" >&2
  is_due=$(ask "select coalesce(proven_at < now() - interval '$check_days days', true) from last_backup") || is_due=f
  if [ "$is_due" = t ]; then check || true; fi
  sleep "$((hours * 3600))" &
  wait $!
done
