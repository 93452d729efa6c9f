#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Python packages that only tests use and Debian does not have, in build/python. Where PyPI cannot be reached, it says which
# test is skipped.
set -eu
cd "$(dirname "$0")/.."
python=build/python
if ! "$python/bin/python" -c "import mcp" 2>/dev/null; then
  { python3 -m venv "$python" && "$python/bin/pip" install -q --disable-pip-version-check mcp==2.3.0; } ||
    echo "PyPI cannot be reached: cli.mcp_client, the test with the official MCP client, is skipped" >&2
fi
# Trainers' own code that loads and asks rewards; none of what they need to train.
trainers=build/trainers
if [ ! -e "$trainers/openrlhf/utils/agent.py" ]; then
  { "$python/bin/pip" install -q --disable-pip-version-check aiohttp==3.14.3 &&
      "$python/bin/pip" install -q --disable-pip-version-check --no-deps --target "$trainers" openrlhf==0.11.2 verl==0.9.1; } ||
    echo "PyPI cannot be reached: the parts of training.client with the trainers' own code are skipped" >&2
fi
verifiers=build/verifiers     # apart: it wants another mcp
if ! "$verifiers/bin/python" -c "import verifiers.v1" 2>/dev/null; then
  { python3 -m venv "$verifiers" && "$verifiers/bin/pip" install -q --disable-pip-version-check verifiers==0.4.0; } ||
    echo "PyPI cannot be reached: training.verifiers, the test with verifiers' own loader, is skipped" >&2
fi
