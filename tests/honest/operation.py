# SPDX-License-Identifier: Apache-2.0
"""One operation: its task, two references for it, and variants as (name, source)."""


class Operation:
    def __init__(self, name, torch, size, checks, inputs, outputs, naive, accurate, variants, held=False):
        self.name, self.torch, self.size, self.checks = name, torch, size, checks
        self.inputs, self.outputs, self.naive, self.accurate = inputs, outputs, naive, accurate
        self.variants, self.held = variants, held


def filled(template, **values):
    """Words in capitals between @ signs replaced: CUDA has braces of its own."""
    for key, value in values.items():
        template = template.replace(f"@{key.upper()}@", str(value))
    return template
