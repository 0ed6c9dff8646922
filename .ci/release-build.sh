#!/bin/bash
# Builds what a release consists of, but for the signatures: jars with sources and documentation, and bills of materials.
# Does so in a clone of what is committed; with 'twice' in two of them, and fails unless both have the same bytes.
#   usage: bash .ci/release-build.sh [twice]
set -euo pipefail
cd "$(dirname "$0")/.."
source .ci/side-by-side.sh

published=advisory-lock-starter,advisory-lock-shedlock,advisory-lock-spring-integration,advisory-lock-rewrite,advisory-lock-test
# The jars of the starter
largest=1325000

places=$(mktemp -d)
trap 'rm -rf "$places"' EXIT

build() {
  git clone -q . "$places/$1"
  (
    cd "$places/$1"
    mvn -q -B -Prelease -Dmaven.test.skip -Dgpg.skip -pl "$published" verify
    sha256sum advisory-lock-*/target/*.jar >"$places/$1.sums"
    test -s advisory-lock-starter/target/bom.json
  )
}

if [ "${1:-}" = twice ]; then
  side_by_side build one another
  diff "$places/one.sums" "$places/another.sums"
else
  build one
fi
cat "$places/one.sums"
size=$(stat -c %s "$places"/one/advisory-lock-{core,ledger,autoconfigure,page,starter}/target/advisory-lock-*-SNAPSHOT.jar \
  | awk '{ sum += $1 } END { print sum }')
echo "The jars of the starter have $size bytes, and may have $largest"
[ "$size" -le "$largest" ]
