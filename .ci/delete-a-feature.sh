#!/bin/bash
# Proves that each feature of the library goes by deleting its own places: deletes each from a copy of the module, and
# compiles the rest with its tests. Runs no test. Needs a clone that can be built.
#   usage: bash .ci/delete-a-feature.sh [FEATURE...]
#
# The places of a feature, <root> being io/github/advisorylock in main and in test:
#   * its package        <root>/FEATURE and the resources of that name; that of the page is actuate/page
#   * its wiring         <root>/autoconfigure/PATTERN.java, and PATTERN*Tests.java, PATTERN as the function below says
#   * in the endpoint    <root>/actuate/Ledger*.java, what the endpoint shows of the ledger; tests <root>/actuate/*Page*
#   * in lists           its line in AutoConfiguration.imports, and its name in an @Import
#   * tests of others    that name one of the types that are gone
# What is made of a feature goes with it: the endpoint shows what the monitor sees, the page shows the endpoint.
# LeaderRoles stays where there are no leaders: it is what others ask for roles, and says then that there are none.
set -euo pipefail
cd "$(dirname "$0")/.."
source .ci/side-by-side.sh

module=advisory-lock-autoconfigure
main=src/main/java/io/github/advisorylock
test=src/test/java/io/github/advisorylock
resources=src/main/resources/io/github/advisorylock
imports=src/main/resources/META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wiring_of() {
  case $1 in
    ledger) echo '*Ledger*' ;;
    leader) echo '*Leader*Configuration' ;;
    doctor) echo '*Doctor*' ;;
    monitor) echo '*Monitor*' ;;
    metrics) echo '*Metrics*' ;;
    health) echo '*Health*' ;;
    actuate) echo '*Endpoint*' ;;
    page) echo '*Page*' ;;
    integration) echo '*Integration*' ;;
    shedlock) echo '*ShedLock*' ;;
    *) echo "There is no feature '$1'" >&2; return 1 ;;
  esac
}

with_what_is_made_of() {
  case $1 in
    monitor) echo monitor actuate page ;;
    actuate) echo actuate page ;;
    *) echo "$1" ;;
  esac
}

package_of() {
  if [ "$1" = page ]; then echo actuate/page; else echo "$1"; fi
}

# Prints the files of a feature, those in the lists and the tests of others aside
files_of() {
  local package pattern
  package=$(package_of "$1")
  pattern=$(wiring_of "$1")
  find "$main/$package" "$test/$package" "$resources/$package" -type f 2>/dev/null || true
  find "$main/autoconfigure" -maxdepth 1 -name "$pattern.java"
  find "$test/autoconfigure" -maxdepth 1 -name "${pattern}Tests.java"
  case $1 in
    ledger) find "$main/actuate" "$test/actuate" -maxdepth 1 -name 'Ledger*.java' ;;
    page) find "$test/actuate" -maxdepth 1 -name '*Page*.java' ;;
  esac
}

# Prints the tests that import one of some types, or name one of their own package
tests_that_name() {
  local file type package
  while read -r file; do
    type=$(basename "$file" .java)
    package=$(dirname "${file#src/*/java/}")
    grep -rlE --include='*.java' "^import (static )?${package//\//.}\.($type\b|\*)" src/test || true
    find "src/test/java/$package" -maxdepth 1 -name '*.java' -exec grep -lE "^[^*]*\b$type\b" {} + 2>/dev/null || true
  done | sort -u
}

# Takes what is gone from the lists of wiring
leave_lists() {
  local type name
  while read -r type; do
    [ ! -f "src/main/java/${type//.//}.java" ] || echo "$type"
  done <"$imports" >imports
  mv imports "$imports"
  grep -rl --include='*.java' '^@Import(' "$main/autoconfigure" | while read -r type; do
    for name in $(sed -n '/^@Import(/,/)$/p' "$type" | grep -oE '[A-Za-z]+\.class' | sed 's/\.class//'); do
      [ -f "$main/autoconfigure/$name.java" ] || sed -i -E "/^@Import\(/,/\)\$/s/\b$name\.class(, *)?//" "$type"
    done
  done
}

# Compiles main and tests, as far as the compiler can complain; it is gone before a better one of its own pays
compile() {
  mkdir classes
  find src/main/java src/test/java -name '*.java' >sources
  javac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -nowarn -proc:none -parameters -XDshould-stop.ifNoError=FLOW -d classes -cp "$classpath" @sources >log 2>&1
}

count() {
  grep -cE "$1" <<<"$files" || true
}

delete() {
  local feature=$1 one all files tests
  read -ra all <<<"$(with_what_is_made_of "$feature")"
  files=$(for one in "${all[@]}"; do files_of "$one"; done | sort -u)
  if ! grep -q "^$main/$(package_of "$feature")/" <<<"$files"; then
    echo "$feature: has no package"
    return 1
  fi
  xargs rm <<<"$files"
  tests=$(tests_that_name <<<"$files")
  [ -z "$tests" ] || xargs rm <<<"$tests"
  leave_lists
  if ! compile; then
    printf '%s: the rest does not compile without it\n' "$feature"
    head -40 log
    return 1
  fi
  printf '%-8s %2d files, %d of them wiring and %d in the endpoint, %2d tests and %d of others%s\n' "$feature" \
    "$(count '^src/main/')" "$(count "^$main/autoconfigure/")" "$(count "^$main/actuate/Ledger")" \
    "$(count '^src/test/')" "$(grep -c . <<<"$tests" || true)" \
    "$(sed -E '/^$/d; s|.*/|, |; s|\.java||' <<<"$tests" | tr -d '\n' | sed 's/^,/:/')"
}

# Deletes a feature from a copy of its own
without() {
  local copy=$work/$1
  mkdir "$copy"
  (cd "$module" && git ls-files -co --exclude-standard src | while read -r file; do
    [ ! -f "$file" ] || echo "$file"
  done | tar -cf - -T - | tar -xf - -C "$copy")
  (cd "$copy" && delete "$1")
  rm -rf "$copy"
}

[ $# -gt 0 ] || set -- ledger leader doctor monitor metrics health actuate page integration shedlock
for feature in "$@"; do
  wiring_of "$feature" >/dev/null
done
mvn -B -q -Dstyle.color=never -pl "$module" -am test-compile dependency:build-classpath -Dmdep.includeScope=test \
  -Dmdep.outputFile=target/test-classpath
classpath=$(cat "$module/target/test-classpath")
side_by_side without "$@"
