#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The official Python SDK of the Model Context Protocol as a client of `cudal1 mcp`: it lists the tools, optimises an example,
cancels a call, is killed with its server, and goes on.

  mcp_client.py CUDAL1        exits with 77 where the SDK (`pip install mcp`) is missing
"""
import asyncio
import os
import pathlib
import shutil
import sys
import tempfile

try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError as error:
    installed = pathlib.Path(__file__).resolve().parents[2] / "build" / "python"   # cmake/install_python_packages.sh
    if (installed / "bin" / "python").exists() and pathlib.Path(sys.prefix) != installed:
        os.execv(installed / "bin" / "python", [installed / "bin" / "python", *sys.argv])
    print(f"skipped: {error}; sh cmake/install_python_packages.sh, or pip install mcp")
    sys.exit(77)

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "softmax.cu"
TASK = {"task": "softmax.cu", "device": "sim", "sizes": {"N": 64, "M": 256}}
RUN = "cudal1-runs/softmax-agent"
FASTER = """//@ launch softmax<<<ceil_div(N, 8), 256>>>(X, Y, N, M)
__global__ void softmax(const float* X, float* Y, int N, int M) {
  int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= N) return;
  const float* x = X + (long long)row * M;
  float largest = -INFINITY, sum = 0;
  for (int i = lane; i < M; i += 32) largest = fmaxf(largest, x[i]);
  for (int d = 16; d > 0; d /= 2) largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
  for (int i = lane; i < M; i += 32) sum += expf(x[i] - largest);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  for (int i = lane; i < M; i += 32) Y[(long long)row * M + i] = expf(x[i] - largest) / sum;
}
"""


def content(result):
    """Of a result, whichever revision of the SDK made it."""
    failed = result.is_error if hasattr(result, "is_error") else result.isError
    value = result.structured_content if hasattr(result, "structured_content") else result.structuredContent
    assert not failed, result
    return value


async def session_of(folder, binary, work):
    async with stdio_client(StdioServerParameters(command=binary, args=["mcp"], cwd=folder)) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            return await work(session)


async def first_half(session):
    tools = [tool.name for tool in (await session.list_tools()).tools]
    assert "submit_variant" in tools, tools
    told = []

    async def progress(done, total, message):
        told.append(message)

    described = content(await session.call_tool("describe_task", TASK))
    assert described["reference"], described
    begun = content(await session.call_tool("start_run", TASK, progress_callback=progress))
    assert begun["answers"] == "r01-s01" and "Performance Analysis" in begun["prompt"], begun
    assert told, "no progress was told"
    reference = EXAMPLE.read_text()
    equal = content(await session.call_tool("submit_variant", {"run": RUN, "source": reference}))
    assert equal["variant"]["judgement"]["verdict"] == "PREDICTED_EQUIVALENT", equal["variant"]
    spinning = reference.replace("{\n", "{\n  for (volatile long spin = 0; spin < 4000000000; ++spin) {}\n", 1)
    call = asyncio.create_task(session.call_tool("verify_variant", {**TASK, "source": spinning, "options": ["--run-limit", "300"]}))
    await asyncio.sleep(1)
    call.cancel()
    try:
        await call
        raise AssertionError("a cancelled call came back")
    except asyncio.CancelledError:
        pass
    await session.send_ping()


async def second_half(session):
    again = content(await session.call_tool("start_run", TASK))
    assert (again["answers"], again["judged"]) == ("r02-s01", 1), again
    faster = content(await session.call_tool("submit_variant", {"run": RUN, "source": FASTER, "analysis": "A warp a row.", "techniques": "warp reductions"}))
    assert faster["variant"]["judgement"]["verdict"] == "PREDICTED_FASTER", faster["variant"]
    done = content(await session.call_tool("finish_run", {"run": RUN}))
    assert done["best"]["id"] == "r02-s01" and done["best"]["level"] == "final", done
    best = content(await session.call_tool("best_so_far", {"run": RUN}))
    assert "__shfl_xor_sync" in best["source"], best
    report = content(await session.call_tool("report", {"run": RUN}))
    assert "warp reductions" in report["markdown"], report
    print(f"{done['best']['predicted_speedup']:.3g}x predicted, of two answers over two servers")


async def run(binary):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(EXAMPLE, folder)
        await session_of(folder, binary, first_half)    # the SDK closes the input and kills the server
        await session_of(folder, binary, second_half)


asyncio.run(run(sys.argv[1]))
