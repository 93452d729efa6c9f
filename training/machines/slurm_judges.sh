#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Judges as a Slurm array, one element for each GPU; they and the trainer's job see the folder CUDAL1_SERVERS.
#   export CUDAL1_SERVERS=$PWD/servers CUDAL1_SERVE_TOKEN=$(openssl rand -hex 16)
#   sbatch --array=0-7 training/machines/slurm_judges.sh
#   sbatch training/machines/slurm_trainer.sh 8 recipes/trl_grpo.py --model stage2 --prompts prompts.jsonl --out stage3
# An element that is preempted drains within its grace time and is requeued; clients go on with the other ones.
#SBATCH --job-name=cudal1-judge
#SBATCH --gpus=1
#SBATCH --cpus-per-task=8
#SBATCH --requeue
#SBATCH --signal=B:TERM@60
set -eu
here=${CUDAL1_TRAINING:-${SLURM_SUBMIT_DIR:-.}/training}
# exec: the batch step itself gets the signal.
exec env PYTHONPATH="$here" python3 -m cudal1_train.servers "$CUDAL1_SERVERS" -- "$@"
