#!/bin/sh
# Makes Tessera's role and database, once, in a new cluster. Patroni gives the address of the primary as the argument. The
# role may make databases, because a restore needs another one.
set -eu
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --set=password="$TESSERA_PASSWORD" --dbname="$1" <<'SQL'
create role tessera login createdb password :'password';
create database tessera owner tessera;
SQL
