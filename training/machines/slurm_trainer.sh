#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A trainer that waits for so many judges of slurm_judges.sh: slurm_trainer.sh JUDGES PROGRAM ARGUMENTS…
#SBATCH --job-name=cudal1-trainer
#SBATCH --gpus=1
#SBATCH --requeue
set -eu
here=${CUDAL1_TRAINING:-${SLURM_SUBMIT_DIR:-.}/training}
judges=$1
program=$2
shift 2
CUDAL1_URL=$(PYTHONPATH="$here" python3 -m cudal1_train.servers "$CUDAL1_SERVERS" --list --least "$judges")
CUDAL1_TOKEN=${CUDAL1_SERVE_TOKEN:-}
export CUDAL1_URL CUDAL1_TOKEN
[ -e "$here/$program" ] && program="$here/$program"
exec python3 "$program" "$@"
