# SPDX-License-Identifier: Apache-2.0
"""cudal1.load: shapes, schema and launches of an operator. The driver is fake_launches.c, which writes down what it is given."""
import os
import pathlib
import struct
import sys
import tempfile
import types
import unittest
import unittest.mock

try:
    import torch
except ImportError as error:
    print(f"skipped: {error}; install python3-torch")
    sys.exit(77)

import cudal1
from cudal1 import operator

ADD = """\
//@ task    scaled_sum
//@ size    N = 4, M = 100
//@ scalar  factor: float32 = 0.5
//@ input   A: float32[N, M]
//@ input   B: float32[M]
//@ output  C: float32[N, M]
//@ scratch S: int32[2] = 7
//@ launch  add<2><<<dim3(ceil_div(M, 32), N), 32, 50000>>>(A, B + 1, C, M, factor, S)
//@ memset  S = 0

template <int K>
__global__ void add(const float* A, const float* B, float* C, int M, float factor, int* S) {
  int column = blockIdx.x * 32 + threadIdx.x;
  if (column < M) C[blockIdx.y * M + column] = factor * (A[blockIdx.y * M + column] + K * B[column - 1]) + S[0];
}
// cudal1 verified this kernel at N=4 M=100; N=3 M=5
"""
IN_PLACE = """\
//@ task    shift
//@ size    N = 8, K = 3, L = 2 * N
//@ inout   X: float32[L]
//@ output  Y: int64[K]
//@ output  Z: float16[N, 2]
//@ launch  shift<<<1, 32>>>(X, Y, Z, N, K) cooperative cluster(1)

__global__ void shift(float* X, long long* Y, void* Z, int N, int K) { X[0] += N + K; Y[0] = 0; }
"""
MAPPED = """\
//@ task    copied
//@ size    N = 64
//@ input   A: float32[N, 32]
//@ output  C: float32[N, 32]
//@ launch  copied<<<1, 32>>>(tensor_map(A, axes(32, N), box(32, 8), swizzle(128)), C)

#include <cuda.h>
__global__ void copied(const __grid_constant__ CUtensorMap A, float* C) { C[threadIdx.x] = 0; }
"""

WEIGHTED = """\
//@ task    weighted
//@ size    N = 64
//@ input   A: float32[N]
//@ input   W: float32[3]
//@ output  C: float32[N]
//@ copy    weights = W
//@ launch  weighted<<<1, 64>>>(A, C)

namespace taps { __constant__ float weights[3]; }
__global__ void weighted(const float* A, float* C) { C[threadIdx.x] = A[threadIdx.x] * taps::weights[threadIdx.x % 3]; }
"""


class OnFakeGpu(unittest.TestCase):
    """Runs operators on CPU tensors as if they lay on a GPU of compute capability 8.0."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-python-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.book = self.folder / "launches"
        os.environ["FAKE_LAUNCHES"] = str(self.book)
        for name, stand_in in (("_architecture", lambda device: "sm_80"), ("_stream", lambda device: 42)):
            before = getattr(operator, name)
            self.addCleanup(setattr, operator, name, before)
            setattr(operator, name, stand_in)

    def load(self, text, **options):
        path = self.folder / f"{len(list(self.folder.iterdir()))}.cu"
        path.write_text(text)
        return cudal1.load(path, prepare=False, **options)

    def run_here(self, op, *tensors, arguments=6, **sizes):
        os.environ["FAKE_ARGUMENTS"] = str(arguments)
        return op._on_gpu(*tensors, **sizes)

    def launches(self):
        lines = self.book.read_text().splitlines()
        self.book.unlink()
        return lines

    def test_a_launch_gets_what_the_plan_says(self):
        op = self.load(ADD)
        a, b = torch.zeros(4, 100), torch.zeros(100)
        c = self.run_here(op, a, b)
        self.assertEqual((list(c.shape), c.dtype), ([4, 100], torch.float32))
        attribute, launch, memset = self.launches()
        self.assertRegex(attribute, r"attribute _Z3addILi2E\w+ 8 50000")
        words = launch.split(" argument ")
        self.assertRegex(words[0], r"launch _Z3addILi2E\w+ grid 4 4 1 block 32 1 1 shared 50000 stream 42$")
        aligned = [tensor.data_ptr() if tensor.data_ptr() % 256 == 0 else None for tensor in (a, b)]
        got = [int(word, 16) for word in words[1:]]
        for pointer, expected, offset in ((got[0], aligned[0], 0), (got[1], aligned[1], 4)):
            self.assertEqual((pointer - offset) % 64, 0)   # what a clone on the CPU has
            if expected is not None:
                self.assertEqual(pointer, expected + offset)
        self.assertEqual(got[3] & 0xffffffff, 100)
        self.assertEqual(struct.unpack("f", (got[4] & 0xffffffff).to_bytes(4, "little"))[0], 0.5)
        self.assertEqual(memset, f"memset {got[5]:x} 0 8 stream 42")
        self.run_here(op, a[:3, :5], b[:5])   # not contiguous, and other sizes
        self.assertIn("grid 1 3 1", self.launches()[1])

    def test_a_call_like_the_last_one_takes_the_short_way(self):
        for name, stand_in in (("_HAS_QUICK", True), ("_raw_stream", lambda index: 43), ("ALIGNMENT", 1)):
            self.addCleanup(setattr, operator, name, getattr(operator, name))
            setattr(operator, name, stand_in)
        op = self.load(ADD.replace("int32[2] = 7", "int32[2]"), launcher=False)
        a, b = torch.zeros(4, 100), torch.zeros(100)
        self.assertIsNone(op._threads.quick)
        self.run_here(op, a, b)
        first, quick = self.launches(), op._threads.quick
        other = torch.ones(4, 100)
        c = quick.run((other, b))
        self.assertEqual((list(c.shape), c.dtype), ([4, 100], torch.float32))
        launch = next(line for line in self.launches() if line.startswith("launch"))
        words, before = launch.split(" argument "), next(line for line in first if line.startswith("launch")).split(" argument ")
        self.assertEqual(words[0], before[0].replace("stream 42", "stream 43"))
        self.assertEqual((int(words[1], 16), words[4:6]), (other.data_ptr(), before[4:6]))
        for unfit in ((a[:3], b), (a.double(), b), (a.t().contiguous().t(), b), (torch.nn.Parameter(a), b), (a,)):
            self.assertIsNone(quick.run(unfit))
        self.assertFalse(self.book.exists())

    def test_an_input_is_copied_into_constant_memory(self):
        self.run_here(self.load(WEIGHTED, shapes="any"), torch.zeros(64), torch.zeros(3), arguments=2)
        copy, launch = self.launches()
        self.assertRegex(copy, r"copy 7000 [0-9a-f]+ 12 stream 42$")
        self.assertIn("launch _Z8weighted", launch)

    def test_sizes_that_were_not_verified(self):
        a, b = torch.zeros(2, 6), torch.zeros(6)
        op = self.load(ADD)
        with self.assertRaisesRegex(operator.ShapeError, "not verified at M=6, N=2"):
            self.run_here(op, a, b)
        self.assertFalse(self.book.exists())
        fell = self.load(ADD, fallback=lambda x, y: x + y - 1)
        self.assertEqual(self.run_here(fell, a, b).tolist(), [[-1] * 6] * 2)
        self.assertFalse(self.book.exists())
        self.assertEqual(list(self.run_here(self.load(ADD, shapes="any"), a, b).shape), [2, 6])
        self.assertIn("grid 1 2 1", self.launches()[1])
        silent = ADD[:ADD.index("// cudal1 verified")]
        with self.assertRaisesRegex(operator.ShapeError, "does not say at which sizes"):
            self.load(silent)
        with self.assertRaises(ValueError):
            self.load(ADD, shapes="all")
        with self.assertRaisesRegex(cudal1.Error, "directive"):
            self.load("int x;\n")

    def test_tensors_that_do_not_fit(self):
        op = self.load(ADD, shapes="any")
        for tensors, says in (((torch.zeros(4, 100), torch.zeros(99)), "M is 99, but it is 100"), ((torch.zeros(400), torch.zeros(100)), r"\[N, M\] is declared"),
                              ((torch.zeros(4, 100, dtype=torch.float64), torch.zeros(100)), "torch.float64")):
            with self.assertRaisesRegex(operator.ShapeError, says):
                self.run_here(op, *tensors)
            with self.assertRaises(ValueError):
                op.op(*(tensor.to("meta") for tensor in tensors))
        with self.assertRaisesRegex(RuntimeError, "runs on a CUDA device"):
            op(torch.zeros(4, 100), torch.zeros(100))
        with self.assertRaisesRegex(RuntimeError, "no derivative"):
            op(torch.zeros(4, 100, requires_grad=True), torch.zeros(100))
        with self.assertRaisesRegex(RuntimeError, "type 'Tensor' for argument 'A' but instead found type 'int'"):
            op(1, torch.zeros(100))
        text = op.path.read_text()
        op.path.write_text(text.replace("K * B", "3 * B"))
        with self.assertRaisesRegex(RuntimeError, "has changed since it was loaded"):
            self.run_here(op, torch.zeros(4, 10), torch.zeros(10))

    def test_the_operator_is_registered_with_its_shapes(self):
        op = self.load(ADD)
        self.assertEqual(str(op.op.default._schema), f"{op.name}(Tensor A, Tensor B) -> Tensor")
        registered = getattr(torch.ops.cudal1, op.name.split("::")[1])
        made = registered(torch.empty(4, 100, device="meta"), torch.empty(100, device="meta"))
        self.assertEqual((made.device.type, list(made.shape), made.dtype), ("meta", [4, 100], torch.float32))
        again = self.load(ADD)
        self.assertEqual(again.name, op.name)
        self.assertNotEqual(self.load(ADD, shapes="any").name, op.name)
        falls = self.load(ADD, fallback=torch.add)
        self.assertEqual(falls(torch.ones(4, 100), torch.ones(100)).sum().item(), 800)

    def test_inouts_keywords_and_several_outputs(self):
        op = self.load(IN_PLACE, shapes="any")
        self.assertEqual(str(op.op.default._schema), f"{op.name}(Tensor(a!) X, *, int N=8, int K=3) -> (Tensor, Tensor)")
        y, z = op.op(torch.empty(16, device="meta"), K=5)
        self.assertEqual((list(y.shape), y.dtype, list(z.shape), z.dtype), ([5], torch.int64, [8, 2], torch.float16))
        y, z = self.run_here(op, torch.zeros(16), arguments=5, K=4)
        self.assertEqual((list(y.shape), list(z.shape)), ([4], [8, 2]))
        launch = self.launches()[0]
        self.assertIn(" attribute 2 1 0 0 attribute 4 1 1 1 argument ", launch)
        self.assertEqual([int(word, 16) & 0xffffffff for word in launch.split(" argument ")[4:]], [8, 4])
        with self.assertRaisesRegex(operator.ShapeError, r"shape \[18\]; \[L\] is \[16\] here"):
            self.run_here(op, torch.zeros(18), arguments=5)
        # An inout that is no whole tensor is changed in place all the same.
        wide = torch.arange(32.0)
        os.environ["FAKE_WRITES"] = "1"
        self.addCleanup(os.environ.pop, "FAKE_WRITES")
        self.run_here(op, wide[::2], arguments=5)
        self.assertEqual(wide.tolist(), [7.0, *range(1, 32)])

    def test_a_tensor_map_is_encoded_for_each_call(self):
        op = self.load(MAPPED, shapes="any")
        a = torch.zeros(64, 32)
        self.run_here(op, a, arguments=2)
        encoded, launch = self.launches()
        self.assertEqual(encoded, "map type 7 rank 2 extents 32 64 stride 128 box 32 8 steps 1 1 modes 0 3 3 0")
        if a.data_ptr() % 256 == 0:
            self.assertEqual(int(launch.split(" argument ")[1], 16), a.data_ptr() ^ 0xabcd)

    def test_the_general_form_s_error_is_that_of_its_own_call(self):
        op, words = self.load(ADD, shapes="any"), []

        def direct(*tensors):   # as the launcher calls it
            words.clear()
            op._general(*tensors)
            if words:
                raise RuntimeError(words[0])

        def fail(error):
            def on_gpu(*_):
                raise error

            op._on_gpu = on_gpu

        op._launcher, op.direct, op.native = types.SimpleNamespace(failed=words.append), direct, True
        with unittest.mock.patch.object(torch, "compiler", types.SimpleNamespace(is_compiling=lambda: False), create=True):
            for error in (KeyboardInterrupt(), SystemExit(3), MemoryError(), ValueError("no")):
                fail(error)
                with self.assertRaises(type(error)) as caught:
                    op(torch.zeros(4, 100), torch.zeros(100))
                self.assertIs(caught.exception, error)
                self.assertEqual(words, [str(error) or type(error).__name__])
            fail(KeyboardInterrupt())
            with self.assertRaisesRegex(RuntimeError, "KeyboardInterrupt"):
                direct(torch.zeros(4, 100), torch.zeros(100))   # as op.op is called, whose error nobody takes
            op.direct = unittest.mock.Mock(side_effect=RuntimeError("missing value for argument"))
            with self.assertRaisesRegex(RuntimeError, "missing value"):
                op(torch.zeros(4, 100))

    def test_what_the_driver_refuses_is_named(self):
        op = self.load(ADD.replace("M = 100", "M = 2464").replace("M=100", "M=2464"))
        with self.assertRaisesRegex(RuntimeError, r"kernel add<2>: CUDA_ERROR_INVALID_VALUE"):
            self.run_here(op, torch.zeros(4, 2464), torch.zeros(2464))


if __name__ == "__main__":
    unittest.main()
