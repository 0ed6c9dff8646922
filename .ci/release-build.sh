#!/bin/bash
# Builds what a release consists of, but for the signatures: jars with sources and documentation, and bills of materials.
# Does so twice, in two places, and fails unless both have the same bytes, or if the starter's jars have grown too big.
#   usage: bash .ci/release-build.sh
set -euo pipefail
cd "$(dirname "$0")/.."
source .ci/side-by-side.sh

# The README tells it
largest_jar=1250000

places=$(mktemp -d)
trap 'rm -rf "$places"' EXIT

build() {
  git clone -q . "$places/$1"
  (
    cd "$places/$1"
    mvn -q -B -Prelease -Dmaven.test.skip -Dgpg.skip -pl advisory-lock-starter,advisory-lock-rewrite,advisory-lock-test verify
    sha256sum advisory-lock-{autoconfigure,starter,rewrite,test}/target/*.jar >"$places/$1.sums"
    test -s advisory-lock-starter/target/bom.json
  )
}

side_by_side build one another
cat "$places/one.sums"
diff "$places/one.sums" "$places/another.sums"
size=$(stat -c %s "$places"/one/advisory-lock-{autoconfigure,starter}/target/advisory-lock-*-SNAPSHOT.jar \
  | awk '{ sum += $1 } END { print sum }')
echo "The jars of the starter have $size bytes, and may have $largest_jar"
[ "$size" -le "$largest_jar" ]
