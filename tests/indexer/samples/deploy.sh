#!/usr/bin/env bash
# Deploys.
set -euo pipefail
source ./lib/log.sh
. "$(dirname "$0")/util.sh"
. "$ROOT/ci/env"

LIMIT=10

# Builds one.
# Slowly.
build() {
  local name=$1
  if [ -n "$name" ]; then log-info "$name"; elif ready; then return; fi
  for step in a b; do run_step "$step"; done
  case $name in a) foo ;; b) bar ;; esac
  inner() { :; }
  result=$(compute "$name" | sort)
}

function close { echo done; }
log-info() ( cd /tmp && "$@"; )
build "$@"
