#!/bin/bash
# Entry point of the local PostgreSQL image: creates the user, password and database that Testcontainers asks for, and
# says "ready to accept connections" twice, once for the set-up and once for good, as Testcontainers waits for it.
set -euo pipefail
bin=$(echo /usr/lib/postgresql/*/bin)
export PATH="$bin:$PATH" PGDATA=/var/lib/postgresql/data
user=${POSTGRES_USER:-postgres}
database=${POSTGRES_DB:-$user}
if [ "$(id -u)" = 0 ]; then
  install -d -o postgres -m 700 "$PGDATA"
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username "$user" --auth-host scram-sha-256 --auth-local trust \
    --pwfile <(echo "${POSTGRES_PASSWORD:?is not set}") >/dev/null
  echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
  [ "$database" = postgres ] || postgres --single -D "$PGDATA" postgres <<<"CREATE DATABASE \"$database\"" >/dev/null
  pg_ctl --wait --options "-c listen_addresses=''" start
  pg_ctl --wait stop
fi
[ "${1:-}" = postgres ] && shift
exec postgres -c listen_addresses='*' "$@"
