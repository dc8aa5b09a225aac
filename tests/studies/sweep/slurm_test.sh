#!/usr/bin/env bash
# A sweep on a Slurm of two nodes, which this script starts on this machine and ends again: a task is killed, a node is
# drained and resumed, and the table is the one of a local run. Usage: slurm_test.sh PHOTONRAIL
set -euo pipefail
photonrail=$1

skip() {
  echo "SKIPPED, NOT CHECKED: $1"
  exit 0
}
for program in munged slurmctld slurmd sbatch scontrol squeue sinfo; do
  command -v "$program" >/dev/null || skip "$program is not installed (bash tools/setup --test)"
done

dir=$(mktemp -d /tmp/photonrail_slurm.XXXXXX)
chmod 755 "$dir"
pids=()
finish() {
  scancel --quiet --user="$(id -un)" 2>/dev/null || true
  for ((i = ${#pids[@]} - 1; i >= 0; --i)); do
    kill "${pids[i]}" 2>/dev/null || true
    wait "${pids[i]}" 2>/dev/null || true
  done
  rm -rf "$dir"
}
trap finish EXIT

fail() {
  echo "FAILED: $1"
  squeue 2>&1 || true
  sinfo 2>&1 || true
  tail -n 40 "$dir"/*.log "$dir"/out/slurm/*.log 2>/dev/null || true
  exit 1
}
# Until the command succeeds. It gives up when a daemon has died; the limit only ends what hangs, since a busy machine may
# take its time.
within() {
  local limit=$((SECONDS + 900))
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < limit)) || return 1
    for pid in "${pids[@]}"; do kill -0 "$pid" 2>/dev/null || return 1; done
    sleep 0.2
  done
}

# Ports that are free now.
read -r port_control port_one port_two < <(python3 - <<'PORTS' 2>/dev/null || echo 36817 36818 36819
import socket
sockets = [socket.socket() for _ in range(3)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in sockets])
PORTS
)
export SLURM_CONF=$dir/slurm.conf
head -c 1024 /dev/urandom >"$dir/munge.key"
chmod 600 "$dir/munge.key"
cat >"$SLURM_CONF" <<CONF
ClusterName=photonrail
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket,cred_expire=10
SlurmctldPort=$port_control
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.%n.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.%n.log
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool.%n
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,batch_sched_delay=0
MinJobAge=600
ReturnToService=2
NodeName=one NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$port_one CPUs=1
NodeName=two NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$port_two CPUs=1
PartitionName=all Nodes=one,two Default=YES MaxTime=10 State=UP
CONF

mkdir -p "$dir/state"
munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" --pid-file="$dir/munge.pid" \
  --log-file="$dir/munge.log" --seed-file="$dir/munge.seed" >"$dir/munged.out" 2>&1 &
pids+=($!)
within test -S "$dir/munge.socket" || skip "munged does not start: $(tail -n 3 "$dir/munged.out")"
slurmctld -D -i >"$dir/slurmctld.out" 2>&1 &
pids+=($!)
for node in one two; do
  slurmd -D -N "$node" >"$dir/slurmd.$node.out" 2>&1 &
  pids+=($!)
done
both_idle() { [[ $(sinfo --noheader --Node --format=%t | grep -c idle) == 2 ]]; }
within both_idle || skip "Slurm does not start here: $(tail -qn 3 "$dir"/slurmctld.log "$dir"/slurmd.one.log)"

# 60 points of about a tenth of a second.
cat >"$dir/sweep.json" <<'SWEEP'
{ "schema": "photonrail.sweep/1",
  "base": { "schema": "photonrail.scenario/1", "name": "base",
    "cluster": { "servers": 32, "gpus_per_server": 1, "nic": { "ports": 1, "port_gb_per_s": 50 }, "rail": { "kind": "electrical" } },
    "workload": { "collective": { "op": "all_to_all", "algorithm": "pairwise", "bytes": 1000000, "repeat": 160 } },
    "run": { "fidelity": "exact", "folding": false } },
  "axes": [ { "pointer": "/cluster/nic/latency_ns", "range": { "from": 0, "to": 29, "step": 1 } },
            { "pointer": "/cluster/nic/port_gb_per_s", "values": [25, 50] } ] }
SWEEP
cd "$dir"
"$photonrail" sweep sweep.json --launcher slurm --partition all --time 5 --points-per-task 20 --out out
grep -q "^#SBATCH --array=1-3$" out/slurm/job.sh || fail "not three tasks"

# One task dies in the middle: the process that writes the first file of a shard. Its number is in the file's name.
some_lines() { [[ $(cat out/shards/1-of-3.*.jsonl | wc -l) -ge 2 ]]; }
within some_lines || fail "the first task does not begin"
file=$(ls out/shards/1-of-3.*.jsonl)
process=$(basename "$file" .1.jsonl)
kill -9 "${process##*.}" || fail "the first task was too quick to be killed"
lines=$(wc -l <"$file")
((lines < 20)) || fail "the first task was done before it was killed"

scontrol update NodeName=two State=DRAIN Reason=test
drained() { sinfo --noheader --nodes=two --format=%T | grep -q drained; }
within drained || fail "the node does not drain"
"$photonrail" sweep status out
scontrol update NodeName=two State=RESUME

ended() { [[ -z $(squeue --noheader) ]]; }
within ended || fail "the job does not end"
"$photonrail" sweep status out | tee status
grep -q '^missing *0$' status || fail "points are missing"
grep -q '^slurm *job [0-9]*: ended' status || fail "the state of the job is not told"
(($(ls out/shards/1-of-3.*.jsonl | wc -l) == 2)) || fail "the task that was killed did not come back"

# A task that runs twice adds nothing.
"$photonrail" sweep sweep.json --out out --shard 2/3 --quiet
[[ $("$photonrail" sweep sweep.json --launcher slurm --out out) == "nothing is missing in out" ]] || fail "submitted again"
rows=$(tail -n +2 out/results.csv | cut -d, -f1 | sort -n | uniq | wc -l)
((rows == 60)) && (($(tail -n +2 out/results.csv | wc -l) == 60)) || fail "$rows rows"
"$photonrail" sweep sweep.json --out local --quiet
cmp out/results.csv local/results.csv || fail "the table is not that of a local run"
echo "60 rows, none twice: the task that was killed after $lines of its 20 points came back"
