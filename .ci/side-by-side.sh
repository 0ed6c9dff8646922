# Calls a function for each of some arguments, as many at a time as there are processors; fails if one of them has:
# side_by_side FUNCTION ARGUMENT...
side_by_side() {
  local call=$1 argument failed=0 running=0
  shift
  for argument in "$@"; do
    if [ "$running" -eq "$(nproc)" ]; then
      wait -n || failed=1
      running=$((running - 1))
    fi
    "$call" "$argument" &
    running=$((running + 1))
  done
  for _ in $(seq "$running"); do
    wait -n || failed=1
  done
  return $failed
}
