#!/bin/bash
# Follows documents as a stranger does: writes the files of their code blocks into an empty folder, and runs their commands
# on a database that is as empty. Each document that shows a file is followed, laid over the application of
# docs/getting-started.md: built with its tests, and started twice. What must come of it is looked at from outside: rows,
# who has which lock by pg_locks, and what both instances have logged.
#   usage: bash .ci/from-an-empty-folder.sh [name of a document, as leaders]...
#
# A block is a file when its fence says so: ```java file=src/main/java/com/example/shop/Jobs.java
#   * Java without a package gets that of its folder, and the imports that an editor adds
#   * YAML and SQL are added to what the file has; anything else replaces it
#   * SQL is run: database.sql by the administrator, any other in the database of its name
#   * XML of nothing but dependencies goes into pom.xml, without a fence that says so
# What differs from the documents: the clone is this one, and PostgreSQL and web servers listen on ports of their own.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
guide=$root/docs/getting-started.md
work=$(mktemp -d)
# Nothing here runs long enough for the second compiler
quick='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'
export MAVEN_OPTS=$quick
# Processes of the instances by their names, which are also those of their logs
declare -A instances=()

clean_up() {
  local exit_code=$? name
  for name in "${!instances[@]}"; do
    kill -9 "${instances[$name]}" 2>/dev/null || true
  done
  [ "$exit_code" -eq 0 ] || grep -hv ' INFO io.zonky' "$work"/*.log | tail -n 150
  [ -z "${POSTGRES_PID:-}" ] || { exec {POSTGRES[1]}>&-; wait "$POSTGRES_PID"; } || true
  rm -rf "$work"
}
trap clean_up EXIT
# Steps are conditions, each in a line of its own: && and ! would hide that one does not hold. Says which one it is
set -E
trap 'echo "Does not hold, lines $LINENO ${BASH_LINENO[*]}: $BASH_COMMAND" >&2' ERR

# Writes the files of a document into a folder
extract() {
  awk -v folder="$2" '
    /^```[a-z]+ file=/ { sub(/.* file=/, ""); file = folder "/" $1; system("mkdir -p $(dirname \"" file "\")")
      if (file ~ /yml$/) { printf "---\n" >>file } else if (file !~ /sql$/) { printf "" >file }; next }
    /^```xml$/ { file = folder "/dependencies.xml"; next }
    /^```/ { if (file) { close(file) }; file = ""; next }
    file { print >>file }' "$1"
  find "$2" -name '*.java' | while read -r file; do
    grep -q '^package ' "$file" || complete "$2" "$file"
  done
  if [ -f "$2/dependencies.xml" ]; then
    sed -i "/<dependencies>/r $2/dependencies.xml" "$2/pom.xml"
    rm "$2/dependencies.xml"
  fi
  find "$2" -type f -exec sed -i "s/localhost:5432/localhost:$port/" {} +
}

complete() {
  local package
  package=$(dirname "${2#"$1"/src/*/java/}")
  {
    echo "package ${package//\//.};"
    printf 'import %s.*;\n' java.time java.util io.github.advisorylock io.github.advisorylock.annotation \
      org.springframework.context.annotation org.springframework.jdbc.core org.springframework.scheduling.annotation \
      org.springframework.stereotype org.springframework.transaction.annotation
    case $2 in
      */src/test/*) printf 'import %s.*;\n' io.github.advisorylock.test org.junit.jupiter.api \
        org.springframework.beans.factory.annotation org.springframework.boot.test.context ;;
    esac
    cat "$2"
  } >"$2.complete"
  mv "$2.complete" "$2"
}

# Prints the commands of a document that begin with a word, those for the library's own clone aside
commands() {
  awk '/^```shell$/ { block = ""; shell = 1; next } /^```/ { if (shell && block !~ /git clone/) printf "%s", block; shell = 0 }
    shell { block = block $0 "\n" }' "$1" | grep "^$2 "
}

start_postgres() {
  mvn -B -q compile dependency:build-classpath -pl verification/test-support -Dmdep.outputFile="$work/classpath"
  coproc POSTGRES { exec java -cp "verification/test-support/target/classes:$(cat "$work/classpath")" .ci/PostgresServer.java 2>"$work/postgres.log"; }
  read -r port <&"${POSTGRES[0]}"
}

# Asks a database, over a connection of its own, and prints the last column of the rows: USER DATABASE STATEMENTS
ask() {
  local line answer=
  printf '%s\t%s\t%s\n' "$1" "$2" "$(sed 's/-- .*//' <<<"$3" | tr '\n' ' ')" >&"${POSTGRES[1]}"
  while read -r line <&"${POSTGRES[0]}"; do
    case $line in
      done) printf '%s' "$answer"; return ;;
      failed) echo "$3: $answer" >&2; return 1 ;;
      *) answer+=$line$'\n' ;;
    esac
  done
  return 1
}

# Prints the database and the instance's process of everybody who has the lock on a key
holders() {
  ask postgres postgres "SELECT d.datname || ' ' || substring(a.application_name FROM '[0-9]+\$')
    FROM pg_catalog.pg_locks l JOIN pg_catalog.pg_database d ON d.oid = l.database JOIN pg_catalog.pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND (l.classid::bigint << 32 | l.objid::bigint) =
      ('x' || left(encode(sha256(convert_to('$1', 'UTF8')), 'hex'), 16))::bit(64)::bigint"
}

# As on a server on which nobody has done anything yet, runs the statements of an application's documents
prepare_databases() {
  local database file
  for database in shop reporting; do
    ask postgres postgres "DROP DATABASE IF EXISTS $database WITH (FORCE)"
  done
  ask postgres postgres 'DROP ROLE IF EXISTS shop'
  ask postgres postgres "$(cat "$1/database.sql")"
  for file in "$1"/*.sql; do
    database=$(basename "$file" .sql)
    [ "$database" = database ] || ask shop "$database" "$(cat "$file")"
  done
}

# Waits until a command succeeds
until_true() {
  local _
  for _ in $(seq 600); do
    ! "$@" || return 0
    sleep 0.2
  done
  echo "In vain: $*"
  return 1
}

lines() {
  cat "${@:2}" | grep -cE "$1" || true
}

has_lines() {
  [ "$(lines "$2" "${@:3}")" -ge "$1" ]
}

is_between() {
  [ "$3" -ge "$1" ] && [ "$3" -le "$2" ]
}

has_none() {
  [ "$(lines "$@")" -eq 0 ]
}

has_started() {
  has_lines 1 'Started ShopApplication' "$work/$1.log" || ! kill -0 "${instances[$1]}"
}

# Starts an instance of an application with the command of getting started: FOLDER NAME OPTIONS...
start() {
  (cd "$1" && JDK_JAVA_OPTIONS=$quick exec $(commands "$guide" java) "${@:3}") >"$work/$2.log" 2>&1 &
  instances[$2]=$!
}

start_two() {
  start "$1" one "${@:2}"
  start "$1" two "${@:2}"
  await_start one two
}

await_start() {
  local name
  for name in "$@"; do
    until_true has_started "$name"
    has_lines 1 'Started ShopApplication' "$work/$name.log"
  done
}

# Ends an instance: NAME SIGNAL
stop() {
  kill "-$2" "${instances[$1]}"
  wait "${instances[$1]}" 2>/dev/null || true
  unset "instances[$1]"
}

# Waits for the first of the two instances that logs something, and leaves the names of this one and the other
first_of_both() {
  until_true has_lines 1 "$1" "$work/one.log" "$work/two.log"
  if has_lines 1 "$1" "$work/one.log"; then
    first=one other=two
  else
    first=two other=one
  fi
}

build() {
  (cd "$1" && eval "$(commands "$guide" mvn | sed 's/^mvn/mvn -B -Dstyle.color=never/')")
}

ticks_of() {
  sed -nE "s/.*Ran 'shop\/stock-report' .* for ([^ ]+) in .*/\1/p" "$@" | sort -u | wc -l
}

# The instances share the ticks of the job, and one goes on when the other is killed
check_getting_started() {
  local counted ticks runs
  start_two "$1"
  has_lines 2 'Advisory locks are ready' "$work"/*.log
  counted=$(lines 'Counting the stock' "$work/two.log")
  stop one KILL
  until_true has_lines $((counted + 2)) 'Counting the stock' "$work/two.log"
  stop two TERM
  ticks=$(ticks_of "$work"/*.log)
  runs=$(lines 'Counting the stock' "$work"/*.log)
  echo "two instances had $ticks ticks and $runs runs"
  # The one that was killed may not have come to say which tick it had
  [ "$ticks" -ge 2 ]
  is_between 0 1 $((runs - ticks))
}

# One instance leads, and the other when that one has been stopped
check_leaders() {
  local first other
  start_two "$1"
  first_of_both "Leading role 'metrics'"
  [ "$(holders shop/leader:metrics)" = "shop ${instances[$first]}" ]
  has_none 'Leading role' "$work/$other.log"
  stop "$first" TERM
  until_true has_lines 1 "Leading role 'metrics'" "$work/$other.log"
  [ "$(holders shop/leader:metrics)" = "shop ${instances[$other]}" ]
  echo "instance $first had the lock of the role, then instance $other"
}

# The tables come from Flyway, and from Liquibase then; each tick has one row, whatever is killed in between
check_ledger() {
  local rows runs
  start_two "$1"
  until_true has_lines 2 "Ran 'shop/stock-report'" "$work"/*.log
  stop one KILL
  stop two KILL
  start "$1" three
  await_start three
  until_true has_lines 2 "Ran 'shop/stock-report'" "$work/three.log"
  stop three TERM
  rows=$(ask shop shop "SELECT count(*) FROM advisory_lock_run WHERE key = 'stock-report' AND outcome = 'EXECUTED'")
  runs=$(lines 'Counting the stock' "$work"/*.log)
  [ "$rows" -eq "$(ask shop shop "SELECT count(DISTINCT tick) FROM advisory_lock_run")" ]
  [ "$rows" -ge 4 ]
  is_between 0 1 $((runs - rows))
  [ "$(ask shop shop "SELECT count(*) FROM flyway_schema_history WHERE script LIKE '%advisory_lock_ledger.sql' AND success")" = 1 ]
  with_liquibase "$1"
  echo "the ledger of Flyway has $rows runs, the logs have $runs; that of Liquibase was there as well"
}

# The other way to the tables: its change log stands in the folder already
with_liquibase() {
  sed -i 's/spring-boot-starter-flyway/spring-boot-starter-liquibase/; /<dependency>/{N; /org.flywaydb/{N;N;d}}' "$1/pom.xml"
  build "$1"
  prepare_databases "$1"
  start "$1" four
  await_start four
  until_true has_lines 1 "Ran 'shop/stock-report'" "$work/four.log"
  [ "$(ask shop shop "SELECT count(*) > 0 FROM databasechangelog WHERE filename LIKE '%advisory-lock-ledger.yaml'")" = t ]
  [ "$(ask shop shop "SELECT count(*) > 0 FROM advisory_lock_run")" = t ]
}

# One of both exports, by an advisory lock; when it is killed at it the other does at the next tick; no table of ShedLock
check_migrate_from_shedlock() {
  local first other=one exported
  start_two "$1"
  until_true finds_exporting
  [ "$first" = two ] || other=two
  exported=$(lines Exported "$work/$other.log")
  stop "$first" KILL
  is_exporting "$first"
  until_true has_lines $((exported + 1)) Exported "$work/$other.log"
  echo "instance $first was killed while it exported, then instance $other did"
  [ "$(ask shop shop "SELECT count(*) FROM advisory_lock_job WHERE key = 'export'")" = 1 ]
  [ "$(ask shop shop "SELECT count(*) FROM pg_tables WHERE tablename = 'shedlock'")" = 0 ]
}

# Leaves the name of the instance that exports and has the lock: on a slow machine an export may be over before it is seen
finds_exporting() {
  local name
  for name in one two; do
    if is_exporting "$name" && [ "$(holders shop/export)" = "shop ${instances[$name]}" ]; then
      first=$name
      return 0
    fi
  done
  return 1
}

is_exporting() {
  [ "$(lines Exporting "$work/$1.log")" -gt "$(lines Exported "$work/$1.log")" ]
}

# The page is there, the endpoint knows the job, and a pause on one instance stops both
check_operating() {
  local counted
  start_two "$1" --server.port=0
  until_true has_lines 2 "Ran 'shop/stock-report'" "$work/one.log" "$work/two.log"
  curl -sSf "http://localhost:$(web_port two)/actuator/advisorylockspage" >"$work/page"
  has_lines 1 '<title>Advisory locks</title>' "$work/page"
  curl -sSf "http://localhost:$(web_port two)/actuator/advisorylocks" >"$work/jobs.log"
  has_lines 1 '"namespace":"shop"' "$work/jobs.log"
  has_lines 1 '"key":"stock-report"' "$work/jobs.log"
  eval "$(commands docs/operating.md curl | sed "s/:8080/:$(web_port one)/") -sSf" >"$work/pause.log"
  [ "$(ask shop shop "SELECT count(*) FROM advisory_lock_pause WHERE key = 'stock-report' AND paused_at IS NOT NULL")" = 1 ]
  # What had begun has ended by then
  until_true paused_for 1
  counted=$(ask shop shop "SELECT count(*) FROM advisory_lock_run")
  has_lines "$counted" 'Counting the stock' "$work/one.log" "$work/two.log"
  until_true paused_for 7
  [ "$(ask shop shop "SELECT count(*) FROM advisory_lock_run")" = "$counted" ]
  echo "a pause on instance one stopped both: $counted runs before, and none in the ticks after"
}

# Whether the job has been paused for some seconds, by the clock of the database
paused_for() {
  [ "$(ask shop shop "SELECT paused_at < clock_timestamp() - interval '$1 s' FROM advisory_lock_pause")" = t ]
}

# The lock is in the reporting database, and nothing of it in the main one; each report is made once
check_several_databases() {
  local holder
  start_two "$1"
  until_true finds_holder shop/monthly-report
  [ "$holder" = "reporting ${instances[one]}" ] || [ "$holder" = "reporting ${instances[two]}" ]
  until_true has_lines 3 "Ran 'shop/monthly-report'" "$work"/*.log
  stop one TERM
  stop two TERM
  echo "the lock was that of $holder; reports: $(ask shop reporting 'SELECT count(*) FROM report')"
  [ "$(ask shop reporting 'SELECT count(*) >= 3 AND count(*) = count(DISTINCT round(extract(epoch FROM made_at) / 5)) FROM report')" = t ]
}

# Leaves what holders prints, once there is a holder: to ask again would be too late for a lock of a second
finds_holder() {
  holder=$(holders "$1")
  [ -n "$holder" ]
}

# Two instances never count at the same time, and both do
check_spring_integration() {
  local holder
  start_two "$1"
  until_true has_lines 8 'Counted Berlin' "$work/one.log"
  until_true has_lines 8 'Counted Berlin' "$work/two.log"
  until_true finds_holder shop/stock-berlin
  stop one TERM
  stop two TERM
  counts one two | sort >"$work/counts"
  # What is cut off by the end of an instance is left out
  head -n 16 "$work/counts" | awk '/Counting/ { if (by) { exit 1 }; by = $3; next } { if (by != $3) { exit 1 }; by = "" }' \
    || { cat "$work/counts"; return 1; }
  echo "$(wc -l <"$work/counts") begins and ends of two instances, one after the other"
}

counts() {
  local name
  for name in "$@"; do
    sed -nE "s/^([^ ]+) .*(Counting|Counted) Berlin.*/\1 \2 $name/p" "$work/$name.log"
  done
}

# The test passes with the line of the document, as it has in the build, and fails without it and says it; so does the
# other line pass, which needs no further jar
check_testing() {
  local tests=$1/src/test/java/com/example/shop line
  passed "$1" ShopTests 1
  passed "$1" OrderCleanupTests 2
  line=$(grep -oE '@SpringBootTest\(properties = "advisory-lock.enabled[^)]*\)' docs/testing.md)
  sed "s/^@SpringBootTest/$line/; /^@AutoConfigureInMemoryLocks/d; s/ShopTests/UnguardedTests/" "$tests/ShopTests.java" \
    >"$tests/UnguardedTests.java"
  sed -i '/^@AutoConfigureInMemoryLocks/d' "$tests/ShopTests.java"
  ! (cd "$1" && mvn -B test) >"$work/maven.log" 2>&1
  has_lines 1 'Tests run: 4, Failures: 0, Errors: 1' "$work/maven.log"
  has_lines 1 'Tests run: 1, Failures: 0, Errors: 1.*ShopTests' "$work/maven.log"
  has_lines 1 '@AutoConfigureInMemoryLocks' "$work/maven.log"
  echo "without its line, and only then, the test fails: $(grep -m 1 -o '[^.]*@AutoConfigureInMemoryLocks.*' "$work/maven.log")"
}

# Whether tests of an application have run, and all have passed: FOLDER CLASS COUNT
passed() {
  grep -q "tests=\"$3\" errors=\"0\" skipped=\"0\" failures=\"0\"" "$1/target/surefire-reports/TEST-com.example.shop.$2.xml"
}

# However often and wherever an event is delivered, it has its effect once, and each delivery is told that it is done
check_webhooks() {
  local event requests=()
  start_two "$1" --server.port=0
  mapfile -t requests < <(commands docs/webhooks.md curl | sed "s/:8080/:$(web_port one)/; s/:8081/:$(web_port two)/")
  for event in event-1 event-2; do
    deliver "${requests[@]//event-1/$event}" >"$work/answers-$event.log"
    has_lines "${#requests[@]}" '^HTTP/1.1 200' "$work/answers-$event.log"
  done
  requests=("${requests[@]//event-1/event-3}")
  deliver_at_once "${requests[@]}" "${requests[@]}" "${requests[@]}" >"$work/answers-event-3.log"
  has_lines $((3 * ${#requests[@]})) '^HTTP/1.1 200' "$work/answers-event-3.log"
  echo "$(lines '^HTTP/1.1 200' "$work"/answers-*.log) deliveries of 3 events: Anna has paid $(ask shop shop 'SELECT paid FROM account')"
  [ "$(ask shop shop 'SELECT paid FROM account')" = 30 ]
}

web_port() {
  sed -nE 's/.*Tomcat started on port ([0-9]+) .*/\1/p' "$work/$1.log"
}

deliver() {
  local request
  for request in "$@"; do
    eval "$request -sS"
    echo
  done
}

deliver_at_once() {
  local request deliveries=()
  for request in "$@"; do
    deliver "$request" >"$work/delivery-${#deliveries[@]}" 2>&1 &
    deliveries+=($!)
  done
  wait "${deliveries[@]}"
  cat "$work"/delivery-*
}

# Follows a document, and ends what it has started
follow() {
  local name=$1 folder=$work/$1 started=$SECONDS each
  extract "$guide" "$folder"
  [ "$name" = getting-started ] || extract "docs/$name.md" "$folder"
  build "$folder"
  prepare_databases "$folder"
  "check_${name//-/_}" "$folder" >"$work/said"
  for each in "${!instances[@]}"; do
    stop "$each" KILL
  done
  echo "$name.md, $((SECONDS - started)) s: $(tail -n 1 "$work/said")"
  rm -f "$work"/*.log
}

if [ $# -eq 0 ]; then
  mapfile -t documents < <(grep -lE '^```[a-z]+ file=' docs/*.md | xargs -n 1 basename -s .md)
  eval "$(awk '/^```shell$/ { shell = 1; next } /^```/ { shell = 0 } shell' "$guide" | grep -m 1 '^mvn ' | sed 's/^mvn/mvn -B/')"
else
  documents=("$@")
fi
start_postgres
for document in "${documents[@]}"; do
  follow "$document"
done
