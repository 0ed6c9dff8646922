#!/bin/bash
# Gives a bare Debian machine (root, no Docker, no image registry) a Docker engine and a local PostgreSQL image, so that
# the tests run on Testcontainers there. An engine that answers already is used as it is.
#   usage: docker-engine.sh start DIR IMAGE    an engine of its own keeps its socket, data, log and process id in DIR
#          docker-engine.sh stop DIR           stops that engine and removes DIR; leaves any other engine alone
set -euo pipefail

engine_answers() { docker info >/dev/null 2>&1; }

install_packages() {
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

start_engine() {
  command -v dockerd >/dev/null && command -v iptables >/dev/null || install_packages docker.io iptables
  export DOCKER_HOST="unix://$dir/docker.sock"
  # The socket's group is root: a fresh machine may have no group 'docker'
  setsid nohup dockerd --host "$DOCKER_HOST" --group root --pidfile "$dir/dockerd.pid" --data-root "$dir/data" \
    --exec-root "$dir/exec" >"$dir/dockerd.log" 2>&1 </dev/null &
  for _ in $(seq 60); do
    engine_answers && return
    sleep 1
  done
  tail -n 20 "$dir/dockerd.log"
  return 1
}

# Of the binaries that the other tests run on, and what they and the entry point need of this machine
build_image() {
  local root="$dir/root" jar tool
  jar=$(find ~/.m2/repository/io/zonky/test/postgres/embedded-postgres-binaries-linux-* -name '*.jar' | sort -V | tail -n 1)
  mkdir -p "$root"/{etc,tmp,usr/bin,usr/local/bin,usr/lib/postgresql/local,var/lib/postgresql}
  ln -s usr/bin "$root/bin"
  python3 -m zipfile -e "$jar" "$dir/jar"
  python3 -m tarfile -e "$dir"/jar/*.txz "$root/usr/lib/postgresql/local"
  for tool in bash id install setpriv; do
    cp "$(command -v "$tool")" "$root/usr/bin/"
  done
  ldd "$root"/usr/bin/* "$root"/usr/lib/postgresql/local/bin/postgres | sed -n 's|.*[ \t]\(/[^ ]*\) (0x.*|\1|p' | grep -v "^$root" | sort -u \
    | while read -r library; do cp --parents -L "$library" "$root"; done
  cp --parents -L /usr/bin/sh "$root"
  echo 'root:x:0:0::/:/bin/bash
postgres:x:999:999::/var/lib/postgresql:/bin/bash' >"$root/etc/passwd"
  echo 'root:x:0:
postgres:x:999:' >"$root/etc/group"
  chmod 1777 "$root/tmp"
  install -m 755 "$(dirname "$0")/docker-entrypoint.sh" "$root/usr/local/bin/docker-entrypoint.sh"
  tar -C "$root" --owner 0 --group 0 -c . | docker import --change 'ENTRYPOINT ["docker-entrypoint.sh"]' \
    --change 'CMD ["postgres"]' --change 'ENV PATH=/usr/local/bin:/usr/bin' --change 'EXPOSE 5432' - "$image" >/dev/null
  rm -rf "$root" "$dir/jar"
}

stop_engine() {
  if [ -s "$dir/dockerd.pid" ]; then
    local pid
    pid=$(cat "$dir/dockerd.pid")
    kill "$pid"
    for _ in $(seq 30); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 1
    done
  fi
  rm -rf "$dir"
}

dir=${2:?a directory}
case ${1:-} in
  start)
    image=${3:?the name of an image}
    mkdir -p "$dir"
    engine_answers || start_engine
    [ -n "$(docker images -q "$image")" ] || build_image
    ;;
  stop) stop_engine ;;
  *) exit 2 ;;
esac
