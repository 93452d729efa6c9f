#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# on_gpu.sh FOLDER OUT SECONDS CALL…
# Stages on a machine that is there for a limited time. FOLDER has the program (cudal1), its libraries and STATE.tar.xz, as `evidence.py pack`
# makes it. A CALL is "stage STATE [PROGRAM]" or "ablate STATE [PROGRAM]"; all of them together take SECONDS, the last 20 of them for what a sweep
# needs to end and for packing. After each, OUT gets the state's archive and the last lines of the sweeps' logs. DEVICE, JOBS and PYTHON may be set in
# the environment. Ends with the worst status of all: 0, 75 while replies are missing, or that of a failure; a state that could not be packed stays.
folder=$(realpath "$1") out=$(realpath "$2") seconds=$3
shift 3
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
worst=0 packed=yes
keep() {
  if [ "$worst" = 0 ] || { [ "$worst" = 75 ] && [ "$1" != 0 ]; }; then worst=$1; fi
}
export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" PYTHONDONTWRITEBYTECODE=1
chmod +x "$folder"/cudal1* 2>/dev/null
for call in "$@"; do
  read -r what state program <<< "$call"
  [ -d "$work/$state" ] || python3 "$here/evidence.py" unpack "$folder/$state.tar.xz" "$work/$state" || { keep 1; break; }
  python3 "$here/evidence.py" "$what" "$work/$state" "$folder/${program:-cudal1}" --device "${DEVICE:-cuda:0}" --seconds $((seconds - SECONDS - 20)) \
    -- --jobs "${JOBS:-6}" --python "${PYTHON:-python3}"
  status=$?
  keep $status
  echo "$call: status $status, $SECONDS s since the beginning"
  python3 "$here/evidence.py" pack "$work/$state" "$out/$state.tar.xz" || { keep 1; packed=no; }
  tail -n 40 "$work/$state"/*.log > "$out/$state.log" || echo "$state: no logs"
done
if [ $packed = yes ]; then rm -rf "$work"; else echo "not everything could be packed: $work"; fi
exit "$worst"
