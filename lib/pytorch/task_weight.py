# SPDX-License-Identifier: Apache-2.0
"""The process that tells how much memory tasks take, without any of it. Speaks as host.py does."""

import protocol
from memory_plan import plan_of
from task_module import Refusal


class Scales:
    def weigh(self, request):
        plan = plan_of(request["path"], request["source"], request["set"])
        return plan.numbers() if plan else {}


if __name__ == "__main__":
    protocol.serve(Scales(), Refusal)
