# SPDX-License-Identifier: Apache-2.0
"""OpenRLHF: --reward.remote_url training/openrlhf_reward.py, where several servers or long outages matter; else the address of /get_reward itself."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cudal1_train.rewards import reward_func   # noqa: E402,F401
