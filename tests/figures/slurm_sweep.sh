#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A sweep as a Slurm array of four on one node; one element is killed and requeued, and the merged summary must equal
# that of one sweep over all tasks. Needs root, Debian's slurm-wlm, munge and python3-torch; starts its own daemons and
# stops them.
#   sh tests/figures/slurm_sweep.sh build/dev/cli/cudal1
set -eu
binary=$(realpath "$1")
source=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
mkdir -p "$work/state" "$work/spool" /run/munge /etc/slurm
host=$(hostname -s)
[ -f /etc/munge/munge.key ] || { dd if=/dev/urandom of=/etc/munge/munge.key bs=1024 count=1 2>/dev/null; chmod 400 /etc/munge/munge.key; }
chown -R munge: /etc/munge /run/munge /var/log/munge /var/lib/munge
cat > "$work/slurm.conf" <<END
ClusterName=cudal1
SlurmctldHost=$host
AuthType=auth/munge
SlurmUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldPort=17817
SlurmdPort=17818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
JobRequeue=1
NodeName=$host CPUs=$(nproc) RealMemory=4000
PartitionName=all Nodes=$host Default=YES State=UP
END
export SLURM_CONF="$work/slurm.conf"
runuser -u munge -- munged --foreground & munge_pid=$!
sleep 1
slurmctld -D -f "$SLURM_CONF" > "$work/slurmctld.log" 2>&1 & controller=$!
sleep 2
slurmd -D -f "$SLURM_CONF" > "$work/slurmd.log" 2>&1 & node=$!
trap 'kill $node $controller $munge_pid 2>/dev/null || true' EXIT
for _ in 1 2 3 4 5 6 7 8 9 10; do sinfo -h -o %T 2>/dev/null | grep -q idle && break; sleep 1; done
sinfo

sweep="sweep $source/kernelbench --device sim --rounds 1 --samples 1"
cat > "$work/job.sh" <<END
#!/bin/sh
exec "$binary" $sweep --shard auto --out "$work/sweep"
END
job=$(sbatch --parsable --requeue --array=0-3%2 --open-mode=append --output="$work/element-%a.log" "$work/job.sh")
echo "array $job"
# The second element is killed once it has finished a task, in the middle of its next one, and requeued.
journal="$work/sweep/shard-2-of-4/journal.jsonl"
while [ ! -s "$journal" ] || [ "$(wc -l < "$journal")" -lt 2 ]; do sleep 0.1; done
scontrol requeue "${job}_1"
echo "requeued ${job}_1 with $(($(wc -l < "$journal") - 1)) tasks in its journal"
while [ -n "$(squeue -h -j "$job" 2>/dev/null)" ]; do
  scontrol release "${job}_1" 2>/dev/null || true   # a requeued element waits for two minutes otherwise
  sleep 2
done
cat "$work/element-1.log"
"$binary" $sweep --json --out "$work/whole" > "$work/whole.json"
"$binary" sweep --merge "$work"/sweep/shard-*-of-4 --json > "$work/merged.json"
python3 - "$work/whole.json" "$work/merged.json" "$journal" <<'END'
import json, sys
same = ("key", "status", "verdict", "ratios", "defects", "answers", "right")
whole, merged = (json.load(open(path)) for path in sys.argv[1:3])
rows = [[[row[name] for name in same] for row in each["tasks"]] for each in (whole, merged)]
keys = [json.loads(line)["key"] for line in open(sys.argv[3]).read().splitlines()[1:]]
print(f"{len(rows[0])} tasks in one sweep, {len(rows[1])} in four shards, remarks {merged['remarks']}; "
      f"the killed shard's journal has {len(keys)} tasks, {len(set(keys))} different ones")
if rows[0] != rows[1] or whole["summary"] != merged["summary"] or merged["remarks"] or len(keys) != len(set(keys)):
    sys.exit("the merged summary is another one")
print("the merged summary is that of one sweep")
END
