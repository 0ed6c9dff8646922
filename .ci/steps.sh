# What .ci/run and .ci/nightly have in common, for a script with set -euo pipefail in the root of a clone: steps that are
# timed and counted, what a bare Debian machine lacks, and the steps that both have.
# begin first; then step, test_step and stop_if_red, beside and together for two at a time; finish last, which prints the
# summary and gives the exit code.
# A step that fails does not keep the others from being run. What a step runs runs in a subshell, with set -e.

postgres_image=postgres:local
# Where the whole suite would tell nothing new: those of the packages with SQL or threads of their own, those of neither
# documents nor architecture, and those of what a version of Spring is seen in
tests_of_sql=$(printf 'io/github/advisorylock/%s/*Tests,' actuate doctor integration jdbc leader ledger/jdbc monitor shedlock)
tests_of_library='io/github/advisorylock/**/*Tests,!io/github/advisorylock/documentation/*Tests,!io/github/advisorylock/architecture/*Tests'
tests_of_spring_boot="$tests_of_library$(printf ',!io/github/advisorylock/%s/*Tests' doctor jdbc leader ledger/jdbc monitor shedlock simulation)"
# Which take long for what they show beside the other tests of the page
browser_at_night=(FleetViewsBrowserTests HolderActionsBrowserTests KilledInstanceBrowserTests ManyJobsBrowserTests
  ScreenshotsBrowserTests TwoClicksBrowserTests)
# Ten thousand jobs, all pairs of scopes and kinds, random calls
sql_at_night=(FencingTokenFloorTests LockFuzzTests ManyJobsTests RequestFuzzTests SessionFuzzTests)
# The README's command leaves more out, for those who wait for it
with_gate_tests=-Dexcluded.test.groups=aot,browser,chaos,servers,slow
with_slow_tests=-Dexcluded.test.groups=aot,browser,chaos,servers
# The same phase in all steps: after one that ends before it packages, the next one compiles everything anew. Once a step
# has downloaded what another one needs, that one is offline
verify=(mvn -B verify -Dpostgres=embedded)
offline=(mvn -o -B verify -Dpostgres=embedded)
spring_boot_4_0=(-Dspring-boot.version=4.0.8 -Dspring-boot-liquibase.version=4.0.7 -Dspring-integration.version=7.0.5
  -Dspring-batch.version=6.0.4)
# The enforcer judges the versions of the Spring Boot we build on; an older one manages some down on purpose
without_enforcer=-Denforcer.skip=true
# The nightly run tries many more
few_schedules=(-Dschedules=30 -Druns=10000 -Doperations=2)
# Which has a small i of its own; and in a time zone off the hour
in_turkish='-Duser.language=tr -Duser.country=TR -Duser.timezone=Asia/Kathmandu'

begin() {
  state=$(mktemp -d)
  times="$state/times"
  results="$state/results"
  tests="$state/tests"
  failures="$state/failures"
  sample_application=
  beside=
  touch "$times" "$results" "$failures" "$tests"
  # What is installed here must not be skipped for want of it
  export TEST_TOOLS=required
  trap clean_up EXIT
}

clean_up() {
  [ -z "$beside" ] || kill "$beside" 2>/dev/null || true
  bash .ci/docker-engine.sh stop "$state/docker" || true
  rm -rf "$state"
}

# Prints the package of Java 17, or that of whatever Java the release has where it has no 17 (Debian 13)
jdk_package() {
  if apt-cache show openjdk-17-jdk-headless >/dev/null 2>&1; then
    echo openjdk-17-jdk-headless
  else
    echo default-jdk-headless
  fi
}

install_missing() {
  local missing=() jdk=
  # Asks for the compiler: a machine may have a Java that only runs
  javac -version >/dev/null 2>&1 || jdk=missing
  command -v mvn >/dev/null || missing+=(maven)
  command -v chromium >/dev/null || missing+=(chromium)
  command -v chromedriver >/dev/null || missing+=(chromium-driver)
  command -v pgbouncer >/dev/null || missing+=(pgbouncer)
  command -v node >/dev/null || missing+=(nodejs)
  command -v python3 >/dev/null || missing+=(python3)
  command -v curl >/dev/null || missing+=(curl)
  command -v psql >/dev/null || missing+=(postgresql-client)
  command -v promtool >/dev/null || missing+=(prometheus)
  command -v ip >/dev/null || missing+=(iproute2)
  command -v iptables >/dev/null || missing+=(iptables)
  compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || missing+=(libfaketime)
  command -v cc >/dev/null || missing+=(gcc libc6-dev)
  [ ${#missing[@]} -eq 0 ] && [ -z "$jdk" ] && return
  apt-get update -qq
  [ -z "$jdk" ] || missing+=("$(jdk_package)")
  # Without their services: what is needed of them is started by the tests
  RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# Prints version and home of each JDK below /usr/lib/jvm, one for each version, the newest first
jdks() {
  local home version
  for home in /usr/lib/jvm/*; do
    [ -x "$home/bin/javac" ] || continue
    version=$("$home/bin/javac" -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
    [ -z "$version" ] || echo "$version $home"
  done | sort -u -n -r -k 1,1
}

# Prints a java of 24 or newer, on which virtual threads are not pinned by monitors any more: the newest
newer_java() {
  jdks | awk '$1 >= 24 { print $2 "/bin/java"; exit }'
}

# Installs JDKs of 21 and 25 where the machine's release has them; one of 24 or newer has to be there
install_newer_java() {
  local version
  [ -n "$(newer_java)" ] || apt-get update -qq
  for version in 21 25; do
    [ -z "$(jdks | sed -n "/^$version /p")" ] || continue
    apt-cache show "openjdk-$version-jdk-headless" >/dev/null 2>&1 || continue
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "openjdk-$version-jdk-headless" >/dev/null
  done
  jdks
  if [ -z "$(newer_java)" ]; then
    echo "There is no JDK of 24 or newer below /usr/lib/jvm, and no package openjdk-25-jdk-headless: install one"
    return 1
  fi
}

# Downloads the binaries of PostgreSQL that steps run on: what is newer than the build has everything compiled anew
fetch_postgres() {
  local version
  for version in "$@"; do
    mvn -B -q dependency:resolve -pl verification/test-support -Dembedded-postgres-binaries.version="$version"
  done
}

# Runs the steps of a function in a copy of this clone, built as it is, while others run here: while one of them waits, the
# other works. What they print comes when 'together' has seen them end
beside() {
  local copy="$state/beside"
  cp -a . "$copy"
  # Else Maven takes all files for new ones, and compiles them
  find "$copy" -name inputFiles.lst -exec sed -i "s|^$PWD/|$copy/|" {} +
  (
    cd "$copy"
    "$@"
  ) >"$state/beside.log" 2>&1 &
  beside=$!
}

# Waits for the steps of 'beside'
together() {
  wait "$beside" || fail 'steps beside others' "ended with $?"
  beside=
  cat "$state/beside.log"
}

# Runs a command under a name, and notes how long it took, and whether it failed
step() {
  local name=$1 started=$SECONDS code
  shift
  printf '\n=== %s: %s\n' "$name" "$*"
  # Not as a condition: there set -e says nothing, not even in a subshell
  set +e
  (set -e; "$@")
  code=$?
  set -e
  [ "$code" -eq 0 ] || fail "$name" "ended with $code"
  printf '%5d s, ended at %4d s  %s\n' $((SECONDS - started)) "$SECONDS" "$name" >>"$times"
}

fail() {
  echo "$1: $2" | tee -a "$failures"
}

# As step, for a Maven command that has to run tests
test_step() {
  local name=$1 run skipped log
  log=$(mktemp -p "$state")
  forget_reports
  step "$@" | tee "$log"
  if grep -q 'could not be activated because it does not exist' "$log"; then
    fail "$name" 'there is no such profile'
  fi
  run=$(sum_of tests)
  skipped=$(sum_of skipped)
  if [ $((run - skipped)) -le 0 ]; then
    fail "$name" 'no test has run'
  fi
  python3 .ci/test_reports.py failed >>"$failures"
  # A step can be red with no test of it: what it said last is the reason
  ! grep -qx "$name: ended with [0-9]*" "$failures" || tail -n 20 "$log" | sed 's/^/    /' >>"$failures"
  python3 .ci/test_reports.py note "$name" "$tests"
  printf 'Tests run: %d, Failures: %d, Errors: %d, Skipped: %d -- %s\n' "$run" "$(sum_of failures)" \
    "$(sum_of errors)" "$skipped" "$name" >>"$results"
}

# Wherever a module stands
forget_reports() {
  find . -type d -path '*/target/surefire-reports' -prune -exec rm -rf {} +
}

# Adds up an attribute of the test suites of all modules
sum_of() {
  find . -path '*/target/surefire-reports/TEST-*.xml' -exec cat {} + \
    | sed -n "s/.*<testsuite [^>]* $1=\"\([0-9]*\)\".*/\1/p" | awk '{ sum += $1 } END { print sum + 0 }'
}

# Ends the run if something has failed so far
stop_if_red() {
  [ -s "$failures" ] || return 0
  printf '\nWhat comes next is left out: %s has failed\n' "$1"
  finish
}

# Ends the run: what took how long, what the tests said, which were skipped and why, and which steps have failed. Called
# with 'skipped' where a test that each step has skipped is a failure
finish() {
  printf '\n=== Time\n'
  cat "$times"
  printf '\n=== Tests\n'
  cat "$results"
  printf '\n=== Skipped\n'
  python3 .ci/test_reports.py skipped "$tests" || [ "${1:-}" != skipped ] || fail 'skipped tests' 'some were run by no step'
  if [ -s "$failures" ]; then
    printf '\n=== Failed\n'
    cat "$failures"
  fi
  tr -d , <"$results" | awk '{ run += $3; failed += $5 + $7; skipped += $9 }
    END { printf "%d passed, %d failed, %d skipped\n", run - failed - skipped, failed, skipped }'
  if [ -s "$failures" ]; then
    exit 1
  fi
  exit 0
}

# Prints those tests of the library that are in no package of tests_of_sql, and need virtual threads: no other step of the
# gate can run them
tests_on_virtual_threads() {
  (cd verification/library-tests/src/test/java && grep -rl VirtualThreadExecutor --include='*Tests.java' .) \
    | sed 's|^\./\(.*\)\.java$|\1|' | grep -vE '^io/github/advisorylock/(actuate|doctor|integration|jdbc|leader|ledger|monitor|shedlock)/' \
    | paste -sd ,
}

start_docker() {
  bash .ci/docker-engine.sh start "$state/docker" "$postgres_image"
}

stop_docker() {
  bash .ci/docker-engine.sh stop "$state/docker" || true
  unset DOCKER_HOST
}

# Starts a Docker engine if none answers, and shows that tests run on a container. The images that Testcontainers starts
# for itself can't be had on every machine; these do without them. Called with the modules and the tests
test_in_container() {
  step 'Docker engine and PostgreSQL image' start_docker
  if [ -S "$state/docker/docker.sock" ]; then
    export DOCKER_HOST="unix://$state/docker/docker.sock"
  fi
  test_step 'PostgreSQL container' env TESTCONTAINERS_RYUK_DISABLED=true TESTCONTAINERS_HOST_OVERRIDE=localhost \
    mvn -o -B verify -pl "$1" -Dpostgres=testcontainers $with_gate_tests -Dtest="$2" \
    -Dpostgres.image="$postgres_image" -Dadvisory-lock.test.postgres-image="$postgres_image"
  stop_docker
}

# Stops Maven and the application, which form one process group
stop_sample_application() {
  [ -n "$sample_application" ] || return 0
  kill -TERM -- "-$sample_application" 2>/dev/null || true
  wait "$sample_application" 2>/dev/null || true
  sample_application=
}

# Starts the sample application of the clone in the working directory as the README says, sees it come up and stops it
run_sample_application() {
  trap stop_sample_application EXIT
  : >"$state/sample-app.log"
  setsid mvn -B -pl sample-app -am spring-boot:run >"$state/sample-app.log" 2>&1 </dev/null &
  sample_application=$!
  for _ in $(seq 180); do
    ! grep -q 'Look at http://localhost:' "$state/sample-app.log" || break
    kill -0 "$sample_application" 2>/dev/null || break
    sleep 1
  done
  stop_sample_application
  tail -n 20 "$state/sample-app.log"
  grep -q 'Look at http://localhost:.* for the operators. page' "$state/sample-app.log"
}

# Runs a function in a clone of what is committed, as nobody has built it there yet
in_a_clone() {
  rm -rf "$state/clone"
  git clone -q . "$state/clone"
  cd "$state/clone"
  "$@"
}

# Runs a step in a clone for each JDK that is newer than the one that everything else is built on
on_newer_jdks() {
  local name=$1 versions version own
  shift
  own=$(javac -version 2>&1 | sed -n 's/^javac \([0-9]*\).*/\1/p')
  mapfile -t versions < <(jdks)
  for version in "${versions[@]}"; do
    [ "${version%% *}" -gt "$own" ] || continue
    JAVA_HOME=${version#* } PATH="${version#* }/bin:$PATH" step "$name on Java ${version%% *}" in_a_clone "$@"
  done
}

# What the empty folders and the shop depend on
install_what_is_published() {
  mvn -B -q install -DskipTests -am \
    -pl advisory-lock-starter,advisory-lock-shedlock,advisory-lock-spring-integration,advisory-lock-test,advisory-lock-rewrite
}

# A patch that does not fit the code any more puts no bug in
bugs_can_be_put_in() {
  local patch stale=0
  for patch in src/mutants/*.patch src/seeded-bugs/*.patch; do
    git apply --check "$patch" || stale=1
  done
  return $stale
}

# Starts executable jars and a WAR, on each Java or on the one that is named
as_users_run_it() {
  test_step 'as users run it' "${verify[@]}" -Pas-users-run-it -pl verification/as-users-run-it -am -Dtest='com/example/**/*Tests' "$@"
}

# Moves a shop of ten jobs from ShedLock as docs/migrate-from-shedlock.md says, and compiles what comes of it: on this Java
# and on a newer one, for which the plug-in has another parser. Needs what is published
move_from_shedlock() {
  local plugin java
  # The command of the guide, with the version that it names
  plugin=$(sed -n 's/^ *mvn \(org\.openrewrite\.maven:rewrite-maven-plugin:[^ ]*:run .*\)/\1/p' docs/migrate-from-shedlock.md | head -n 1)
  [ -n "$plugin" ]
  for java in "$(command -v javac)" "$(newer_java)"; do
    rm -rf "$state/shop"
    cp -r advisory-lock-rewrite/src/test/resources/shop "$state/shop"
    (
      cd "$state/shop"
      JAVA_HOME=$(dirname "$(dirname "$(readlink -f "$java")")")
      export JAVA_HOME
      mvn -B $plugin
      mvn -B -q compile
    )
    if grep -ri shedlock "$state/shop/pom.xml" "$state/shop/src"; then return 1; fi
  done
}
