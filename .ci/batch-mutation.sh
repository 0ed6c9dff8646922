#!/bin/bash
# Tells which bugs the fast tests would not notice: applies each patch of src/mutants to a copy of what it changes,
# compiles that and what names it, and runs the fast tests of the packages and classes that the patch names
# (Check: PACKAGE|CLASS...) until one fails: those of the module that it changes if that has tests, else those of the
# library. Then runs all of them without a bug, where they have to pass. Needs a clone that can be built.
#   usage: bash .ci/batch-mutation.sh [BUG...], by default all
set -euo pipefail
cd "$(dirname "$0")/.."
source .ci/side-by-side.sh

root=$PWD
library=verification/library-tests
with_tests=advisory-lock-test
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints the options that select what a patch names
selection() {
  sed -n 's/^Check: //p' "$@" | tr ' ' '\n' | sort -u | sed 's/\(.*[.][A-Z].*\)/--select-class=\1/; t; s/^/--select-package=/'
}

# Prints where the main code is that a module is compiled with, its own with it
sources() {
  { cat "$root/$1/target/test-classpath"; echo ":$root/$1/target/classes"; } | tr ':' '\n' \
    | sed -n "s|^$root/\(.*\)/target/classes\$|\1/src/main/java|p" | while read -r folder; do [ ! -d "$folder" ] || echo "$folder"; done
}

# Prints the module whose tests a patch names
module_of() {
  if grep -q "^+++ b/$with_tests/" "$1"; then echo "$with_tests"; else echo "$library"; fi
}

# Runs fast tests of a module for no longer than a time, with some classes before all others. What the simulation has to
# notice it may notice late
run_tests() {
  local time=$1 module=$2 first=$3
  shift 3
  (cd "$module" && timeout "$time" java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:+EnableDynamicAgentLoading \
    --add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.util=ALL-UNNAMED \
    --add-opens java.base/java.util.regex=ALL-UNNAMED -Djava.util.concurrent.ForkJoinPool.common.parallelism=4 \
    -Dpostgres=embedded -Dsimulation.steps=200000 -cp "$first:target/test-classes:target/classes:$(cat target/test-classpath):$console" \
    org.junit.platform.console.ConsoleLauncher execute --disable-banner --disable-ansi-colors --details=tree \
    --fail-if-no-tests --include-classname='.*Tests' "${others[@]}" "$@") 2>&1
}

# Puts a bug in, and says who has noticed it
find_bug() {
  local bug=$1 patch=$root/src/mutants/$1.patch copy=$work/$1 started=$SECONDS code=0 module
  module=$(module_of "$patch")
  mkdir -p "$copy/classes"
  sed -n 's|^+++ b/||p' "$patch" >"$copy/files"
  xargs -a "$copy/files" cp --parents -t "$copy"
  # Whoever names a class may have its constants compiled in
  sed 's|.*/||; s|\.java$||' "$copy/files" >"$copy/names"
  sources "$module" | xargs grep -rlwFf "$copy/names" --include='*.java' | grep -vxFf "$copy/files" >"$copy/users" || true
  (cd "$copy" && git apply "$patch" && { cat files; sed "s|^|$root/|" users; } \
    | xargs javac -nowarn -proc:none -parameters -g --release 17 -d classes -cp "$root/$module/target/classes:$(cat "$root/$module/target/test-classpath")")
  # shellcheck disable=SC2046
  run_tests 10m "$module" "$copy/classes" --fail-fast $(selection "$patch") >"$copy/log" || code=$?
  if [ "$code" -ne 1 ]; then
    printf '%-40s %3d s  SURVIVED (%d): %s\n' "$bug" $((SECONDS - started)) "$code" "$(head -1 "$patch")"
    return 1
  fi
  printf '%-40s %3d s  %s\n' "$bug" $((SECONDS - started)) \
    "$(sed -n "s/.*className = '\([^']*\)', methodName = '\([^']*\)'.*/\1.\2/p" "$copy/log" | sed 's/.*[.]\(.*[.].*\)/\1/' | head -1)"
}

[ $# -gt 0 ] || set -- $(cd src/mutants && ls | sed -n 's/\.patch$//p')
mvn -B -q -Dstyle.color=never -pl "$library,$with_tests" -am test-compile dependency:build-classpath -Dmdep.includeScope=test \
  -Dmdep.outputFile=target/test-classpath
version=$(sed 's/.*junit-platform-engine-\([^:]*\)\.jar.*/\1/' "$library/target/test-classpath")
mvn -B -q -Dstyle.color=never -N dependency:copy -DoutputDirectory="$work" \
  -Dartifact="org.junit.platform:junit-platform-console-standalone:$version"
console=$work/junit-platform-console-standalone-$version.jar
# Those that need more than this machine has; a patch may name one of the slow ones
mapfile -t others < <(sed -n 's|.*<excluded.test.groups>\(..*\)</excluded.test.groups>.*|\1|p' pom.xml | tail -1 | tr ',' '\n' \
  | grep -v slow | sed 's/^/--exclude-tag=/')
failed=0
side_by_side find_bug "$@" || failed=1
for module in "$library" "$with_tests"; do
  patches=()
  for bug in "$@"; do
    [ "$(module_of "src/mutants/$bug.patch")" != "$module" ] || patches+=("$root/src/mutants/$bug.patch")
  done
  # shellcheck disable=SC2046
  if [ ${#patches[@]} -gt 0 ] && ! run_tests 40m "$module" target/test-classes $(selection "${patches[@]}") >"$work/log"; then
    echo 'What has to notice a bug fails without one'
    tail -100 "$work/log"
    failed=1
  fi
done
exit $failed
