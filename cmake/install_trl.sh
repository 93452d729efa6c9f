#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# PyTorch and TRL in build/trl, for training.trl, which the other set-up leaves out because they are large.
# Debian's python3-torch is too old for TRL. Then: ctest --test-dir build/gate -R training.trl
set -eu
cd "$(dirname "$0")/.."
python=build/trl
"$python/bin/python" -c "import trl, datasets, torch" 2>/dev/null && exit
python3 -m venv "$python"
pip="$python/bin/pip install -q --disable-pip-version-check"
# PyTorch's own index has wheels without CUDA, a tenth of the size.
$pip torch==2.9.1 --index-url https://download.pytorch.org/whl/cpu || $pip torch==2.9.1
$pip trl==1.16.0 datasets==5.2.0 transformers==5.23.0
