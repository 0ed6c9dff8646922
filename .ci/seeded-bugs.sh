#!/bin/bash
# Proves that tests of schedules find bugs of the kind that were found here: applies each patch of src/seeded-bugs to a copy of
# what it changes, compiles that, and runs the test that the patch names (Check: CLASS[#METHOD]), which has to fail
# by an assertion. What has failed is then run without a bug, and has to pass. Needs a clone that can be built.
#   usage: bash .ci/seeded-bugs.sh [BUG...], by default all
#   SCHEDULES='-Dschedules=30 -Druns=20000 -Doperations=2' has the tests try so many
set -euo pipefail
cd "$(dirname "$0")/.."
source .ci/side-by-side.sh

root=$PWD
module=verification/concurrency
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Runs tests with some classes before all others
run_tests() {
  local first=$1 classpath
  shift
  classpath=target/test-classes:$(cat "$module/target/test-classpath"):$console
  (cd "$module" && timeout 300 java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+EnableDynamicAgentLoading \
    --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
    --add-opens java.base/java.util.regex=ALL-UNNAMED -Dpostgres=embedded ${SCHEDULES:-} -cp "$first:$classpath" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --details=summary --fail-if-no-tests "$@") 2>&1
}

# Prints the tests that have failed by an assertion
failed_assertions() {
  python3 - "$1/TEST-junit-jupiter.xml" <<'EOF'
import re, sys, xml.etree.ElementTree

for test in xml.etree.ElementTree.parse(sys.argv[1]).iter('testcase'):
    if any(re.search('Assertion|ConditionTimeout', failure.get('type', '')) for failure in test if failure.tag in ('failure', 'error')):
        print(re.search(r'unique-id: (.+)', '\n'.join(test.itertext()))[1])
EOF
}

# Puts a bug in, and has it found
find_bug() {
  local bug=$1 patch=$root/src/seeded-bugs/$1.patch copy=$work/$1 started=$SECONDS check method
  mkdir -p "$copy/classes"
  sed -n 's|^+++ b/||p' "$patch" >"$copy/files"
  xargs -a "$copy/files" cp --parents -t "$copy"
  (cd "$copy" && git apply "$patch" && xargs -a files javac -nowarn -proc:none -parameters -g -d classes \
    -cp "$(cat "$root/$module/target/test-classpath")")
  check=$(sed -n 's/^Check: //p' "$patch")
  method=${check#*#}
  [ "$method" != "$check" ] || method='.*'
  ! run_tests "$copy/classes" --fail-fast --reports-dir="$copy" --select-class="${check%#*}" \
    --include-methodname=".*#$method" >"$copy/log" || true
  failed_assertions "$copy" >"$work/$bug.failed" 2>>"$copy/log" || true
  if [ ! -s "$work/$bug.failed" ]; then
    printf '%s: not found by %s\n' "$bug" "$check"
    tail -60 "$copy/log"
    return 1
  fi
  printf '%-30s %3d s  %s\n' "$bug" $((SECONDS - started)) "$check"
}

# Runs without a bug what has failed with one
run_without() {
  local tests
  mapfile -t tests < <(cat "$work"/*.failed 2>/dev/null | sort -u)
  [ ${#tests[@]} -gt 0 ] || return 0
  if ! run_tests target/test-classes "${tests[@]/#/--select-unique-id=}" >"$work/log"; then
    echo "What has to find a bug fails without one"
    tail -60 "$work/log"
    return 1
  fi
}

[ $# -gt 0 ] || set -- $(cd src/seeded-bugs && ls | sed -n 's/\.patch$//p')
mvn -B -q -Dstyle.color=never -Pconcurrency -pl "$module" -am -DskipTests verify dependency:build-classpath \
  -Dmdep.includeScope=test -Dmdep.outputFile=target/test-classpath
version=$(sed 's/.*junit-platform-engine-\([^:]*\)\.jar.*/\1/' "$module/target/test-classpath")
mvn -B -q -Dstyle.color=never -N dependency:copy -DoutputDirectory="$work" \
  -Dartifact="org.junit.platform:junit-platform-console-standalone:$version"
console=$work/junit-platform-console-standalone-$version.jar
failed=0
side_by_side find_bug "$@" || failed=1
run_without || failed=1
exit $failed
