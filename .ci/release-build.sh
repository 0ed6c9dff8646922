#!/bin/bash
# Builds what a release consists of, but for the signatures: jars with sources and documentation, and bills of materials.
# Does so twice, in two places, and fails unless both have the same bytes, or if the starter's jars have grown too big.
#   usage: bash .ci/release-build.sh
set -euo pipefail
cd "$(dirname "$0")/.."

# The README tells it
largest_jar=1250000

places=$(mktemp -d)
trap 'rm -rf "$places"' EXIT

for place in one another; do
  git clone -q . "$places/$place"
  (cd "$places/$place" && mvn -q -B -Prelease -Dmaven.test.skip -Dgpg.skip -pl advisory-lock-starter,advisory-lock-rewrite,advisory-lock-test verify)
  (cd "$places/$place" && sha256sum advisory-lock-{autoconfigure,starter,rewrite,test}/target/*.jar) \
    >"$places/$place.sums"
  test -s "$places/$place/advisory-lock-starter/target/bom.json"
done
cat "$places/one.sums"
diff "$places/one.sums" "$places/another.sums"
size=$(stat -c %s "$places"/one/advisory-lock-{autoconfigure,starter}/target/advisory-lock-*-SNAPSHOT.jar \
  | awk '{ sum += $1 } END { print sum }')
echo "The jars of the starter have $size bytes, and may have $largest_jar"
[ "$size" -le "$largest_jar" ]
