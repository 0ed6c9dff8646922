#!/bin/bash
# Runs tests of the library, all or those that -Dtest= names, with virtual threads in the place of the application's own:
# each test method, the threads that tests start, and schedulers and executors of their contexts
# (spring.threads.virtual.enabled=true). Fails if a virtual thread was pinned to its carrier below a method of the library.
#   usage: bash .ci/virtual-threads.sh JAVA [MAVEN_OPTION...], JAVA being a java of 24 or newer
set -euo pipefail
cd "$(dirname "$0")/.."

java=$1
shift
recordings=$(mktemp -d)
trap 'rm -rf "$recordings"' EXIT

mvn -B verify -pl verification/library-tests -Dpostgres=embedded -Djvm="$java" -Dvirtual-threads="$recordings" "$@"
"$java" .ci/PinnedThreads.java "$recordings" advisory-lock-{core,ledger,autoconfigure,page,shedlock,spring-integration}/target/classes
