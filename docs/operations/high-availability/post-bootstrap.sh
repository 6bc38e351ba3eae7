#!/bin/sh
# Makes Tessera's role and database once, in a new cluster. Patroni passes the address of the primary as the argument. The
# role may create databases, because a restore needs a new one.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=password="$TESSERA_PASSWORD" --dbname="$1" <<'SQL'
create role tessera login createdb password :'password';
create database tessera owner tessera;
SQL
