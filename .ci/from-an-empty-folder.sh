#!/bin/bash
# Follows documents as a stranger does: writes the files of their code blocks into an empty folder, and runs their commands.
# First docs/getting-started.md, whose two instances must share the ticks of its job and go on when one is killed; then,
# laid over that application, every other document that shows files of one: built with its tests, and started.
#   usage: bash .ci/from-an-empty-folder.sh
#
# A block is a file when its fence says so: ```java file=src/main/java/com/example/shop/Jobs.java
#   * Java without a package gets that of its folder, and the imports that an editor adds
#   * YAML is added to what the file has
#   * XML of nothing but dependencies goes into pom.xml, without a fence that says so
# What differs from the documents: the clone is this one, and PostgreSQL listens on a port of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
processes=()

clean_up() {
  local exit_code=$? process
  for process in "${processes[@]}"; do
    kill "$process" 2>/dev/null || true
  done
  wait
  [ "$exit_code" -eq 0 ] || tail -n 100 "$work"/*.log
  rm -rf "$work"
}
trap clean_up EXIT

# Writes the files of a document into a folder
extract() {
  awk -v folder="$2" '
    /^```[a-z]+ file=/ { sub(/.* file=/, ""); file = folder "/" $1; system("mkdir -p $(dirname \"" file "\")"); printf (file ~ /yml$/) ? "---\n" : "" >>file; next }
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
  extract_database
  mvn -B -q dependency:build-classpath -pl advisory-lock-test-support -Dmdep.outputFile="$work/classpath"
  java -cp "$(cat "$work/classpath")" .ci/PostgresServer.java "$work/database.sql" >"$work/postgres.log" 2>&1 &
  processes+=($!)
  await 'PostgreSQL is ready' "$work/postgres.log"
  port=$(sed -n 's/.*ready on port //p' "$work/postgres.log")
}

extract_database() {
  awk '/^```sql file=database.sql$/ { block = 1; next } /^```/ { block = 0 } block' docs/getting-started.md >"$work/database.sql"
}

# Waits until what the last process writes has a line, or as often as is said
await() {
  local times=${3:-1} _
  for _ in $(seq 240); do
    [ ! -f "$2" ] || [ "$(grep -cE "$1" "$2" || true)" -lt "$times" ] || return 0
    kill -0 "${processes[-1]}" || break
    sleep 0.5
  done
  echo "$2 has not '$1' $times times"
  return 1
}

# Starts an application with the command of getting started, and leaves its process in started
start() {
  (cd "$1" && exec $(commands "$OLDPWD/docs/getting-started.md" java)) >"$2" 2>&1 &
  started=$!
  processes+=("$started")
  await 'Started ShopApplication' "$2"
}

build() {
  (cd "$1" && eval "$(commands "$OLDPWD/docs/getting-started.md" mvn | sed 's/^mvn/mvn -B/')")
}

ticks_of() {
  sed -nE "s/.*Ran 'shop\/stock-report' .* for ([^ ]+) in .*/\1/p" "$@"
}

getting_started() {
  local one two lines ticks runs
  extract docs/getting-started.md "$work/shop"
  build "$work/shop"
  start "$work/shop" "$work/one.log"
  one=$started
  start "$work/shop" "$work/two.log"
  two=$started
  cat "$work/one.log" "$work/two.log" | grep -q 'Advisory locks are ready'
  lines=$(grep -c 'Counting the stock' "$work/two.log" || true)
  kill -9 "$one"
  await 'Counting the stock' "$work/two.log" $((lines + 2))
  kill "$two"
  wait "$two" || true
  ticks=$(ticks_of "$work/one.log" "$work/two.log" | sort -u | wc -l)
  runs=$(cat "$work/one.log" "$work/two.log" | grep -c 'Counting the stock')
  echo "getting-started.md: two instances had $ticks ticks and $runs runs"
  # The one that was killed may not have come to say which tick it had
  [ "$ticks" -ge 2 ] && [ $((runs - ticks)) -le 1 ]
}

laid_over() {
  local document=$1 name
  name=$(basename "$document" .md)
  extract docs/getting-started.md "$work/$name"
  extract "$document" "$work/$name"
  build "$work/$name"
  start "$work/$name" "$work/$name.log"
  kill "$started"
  wait "$started" || true
  echo "$name.md: built, tested and started"
}

mvn -B -q install -DskipTests
start_postgres
getting_started
for document in $(grep -lE '^```[a-z]+ file=' docs/*.md | grep -v getting-started); do
  laid_over "$document"
done
