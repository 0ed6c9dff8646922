#!/bin/bash
# Runs Spring Integration's own tests of lock registries and of the leader initiator, unchanged, on the locks of the library
# and a real PostgreSQL. Types of the same names stand in the place of JdbcLockRegistry and the like, in
# verification/platform-tests/src/own-tests. What does not apply is listed there with its reason; anything else has to pass.
# Its tests are in no Maven repository, so the sources of its version 7.1.0 have to be there.
#   git clone --depth 1 --branch v7.1.0 https://github.com/spring-projects/spring-integration.git
#   usage: bash .ci/spring-integration-own-tests.sh CLONE
set -euo pipefail
clone=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
own=verification/platform-tests/src/own-tests
jdbc=$clone/spring-integration-jdbc/src
tests=(
  "$jdbc/test/java/org/springframework/integration/jdbc/lock/JdbcLockRegistryTests.java"
  "$jdbc/test/java/org/springframework/integration/jdbc/lock/JdbcLockRegistryDifferentClientTests.java"
  "$jdbc/test/java/org/springframework/integration/jdbc/leader/JdbcLockRegistryLeaderInitiatorTests.java"
  "$clone/spring-integration-core/src/test/java/org/springframework/integration/support/leader/LockRegistryLeaderInitiatorTests.java"
)

mvn -B -q test-compile -pl verification/library-tests -am -Dpostgres=embedded
mvn -B -q dependency:build-classpath -pl verification/library-tests -Dmdep.outputFile="$work/classpath"
# The launcher is that of the JUnit that the tests run on
junit=$(tr ':' '\n' <"$work/classpath" | sed -n 's/.*junit-platform-engine-\(.*\)\.jar$/\1/p')
mvn -B -q dependency:copy -Dartifact="org.junit.platform:junit-platform-launcher:$junit" -DoutputDirectory="$work"

mkdir "$work/classes"
find "$jdbc/test/java/org/springframework/integration/jdbc/lock" -name '*-context.xml' \
  -exec install -Dt "$work/classes/org/springframework/integration/jdbc/lock" {} +
install -Dt "$work/classes/org/springframework/integration/jdbc" "$jdbc"/main/resources/org/springframework/integration/jdbc/*h2.sql
classpath=$work/classes:$work/junit-platform-launcher-$junit.jar:$(cat "$work/classpath")
find "$own/java" -name '*.java' >"$work/sources"
printf '%s\n' "${tests[@]}" >>"$work/sources"
javac -nowarn -proc:none -d "$work/classes" -cp "$classpath" @"$work/sources"

cut -d ' ' -f 1 "$own/not-applicable.txt" | sort >"$work/not-applicable"
: >"$work/results"

# Runs tests, and notes what came of them in the place of what did before
run() {
  java -Dpostgres=embedded -cp "$classpath" io.github.advisorylock.owntests.OwnTests "$@" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  grep '^= ' "$work/log" | sed 's/^= //' >>"$work/results"
  tac "$work/results" | sort -s -u -k 1,1 >"$work/latest"
  cp "$work/latest" "$work/results"
}

mapfile -t names < <(printf '%s\n' "${tests[@]}" | sed 's#.*/java/##; s#\.java$##; s#/#.#g')
# Some of them give a lock a tenth of a second, which is little on a machine that does other things: they may try again
for _ in 1 2 3; do
  run "${names[@]}"
  mapfile -t names < <(sed -n 's/ failed.*//p' "$work/results" | grep -vEf <(sed 's/.*/\\.&$/' "$work/not-applicable"))
  [ "${#names[@]}" -gt 0 ] || break
done

cut -c -160 "$work/results"
for result in passed failed disabled; do
  echo "$result: $(grep -c "^[^ ]* $result" "$work/results" || true)"
done
# Fails if what passes and what does not is another than is said
sed -n 's/.*\.\([^ ]*\) failed.*/\1/p' "$work/results" | sort | diff "$work/not-applicable" -
