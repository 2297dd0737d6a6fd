#!/usr/bin/env bats

load test_helper

setup() { cd "$BATS_TMPDIR"; }

# Once.
@test "builds what's named: a-b" {
  run build a-b
  [ "$status" -eq 0 ]
}
