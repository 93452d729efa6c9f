# SPDX-License-Identifier: Apache-2.0
"""verl: reward.custom_reward_function.path=training/verl_reward.py reward.custom_reward_function.name=compute_score"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cudal1_train.rewards import compute_score   # noqa: E402,F401
