#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check.sh CASES: a skip ends its case and no other, is said, and hides no failure.
said=$("$1" 2>&1)
status=$?
echo "$said"
[ $status -eq 77 ] || { echo "with a skip the status is $status, not 77"; exit 1; }
for part in "skipped: on purpose" "the case behind it ran"; do
  case $said in *"$part"*) ;; *) echo "\"$part\" is missing"; exit 1 ;; esac
done
"$1" "a case that *" >/dev/null 2>&1
status=$?
[ $status -ne 77 ] && [ $status -ne 0 ] || { echo "with a skip and a failure the status is $status"; exit 1; }
