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
