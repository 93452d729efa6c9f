# SPDX-License-Identifier: Apache-2.0
"""Operators that run without Python: the launcher with stand-ins for PyTorch and the driver, and with PyTorch 2.8 or newer on the CPU."""
import ctypes
import os
import pathlib
import tempfile
import unittest

try:
    import torch
except ImportError:
    raise unittest.SkipTest("this Python has no PyTorch") from None

import cudal1
from cudal1 import driver, launcher, operator
from operator_test import ADD, MAPPED

LIBRARY = pathlib.Path(os.environ["CUDAL1_PROGRAM"]).resolve().parents[1] / "lib" / "cudal1" / "libcudal1_launcher.so"
POINTER = ctypes.POINTER(ctypes.c_void_p)
PLANNED = ADD.replace("int32[2] = 7", "int32[2]")   # which PyTorch would have to fill


class FakeTorch:
    """Tensors are numbers. Nothing throws: what the launcher would have PyTorch throw is written down."""

    def __init__(self):
        self.tensors, self.deleted, self.thrown, self.general = {}, [], [], []
        self.kernel, self.store = None, ctypes.create_string_buffer(1 << 16)
        self.fill, self.room = lambda stack: None, 100   # tensors that can still be made
        shapes = {"aoti_torch_get_dim": ("dims", ctypes.c_int64), "aoti_torch_get_dtype": ("dtype", ctypes.c_int32), "aoti_torch_get_device_index": ("device", ctypes.c_int32),
                  "aoti_torch_is_contiguous": ("contiguous", ctypes.c_bool), "aoti_torch_get_data_ptr": ("data", ctypes.c_void_p), "aoti_torch_get_sizes": ("sizes", ctypes.c_void_p)}
        self.functions = []
        for name in launcher._OF_TORCH:
            if name in shapes:
                field, type_ = shapes[name]
                made = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(type_))(self.getter(field))
            else:
                made = getattr(self, name)
            self.functions.append(made)

    def getter(self, field):
        def get(tensor, into):
            into[0] = self.tensors[tensor][field]
            return 0

        return get

    def tensor(self, *shape, dtype=6, device=0, contiguous=True, offset=0):
        number, sizes = 1000 + len(self.tensors), (ctypes.c_int64 * 8)(*shape)
        base = ctypes.addressof(self.store) + 255 & ~255
        self.tensors[number] = {"dims": len(shape), "sizes": ctypes.addressof(sizes), "kept": sizes, "dtype": dtype, "device": device, "contiguous": contiguous,
                                "data": base + 4096 * len(self.tensors) + offset}
        return number

    def __getattr__(self, name):
        def delete(tensor):
            self.deleted.append(tensor)
            return 0

        def empty(dims, sizes, strides, dtype, device_type, device, made):
            self.room -= 1
            if self.room < 0:
                return 1
            made[0] = self.tensor(*sizes[:dims], dtype=dtype, device=device)
            self.tensors[made[0]]["strides"] = strides[:dims]
            return 0

        def dispatch(name_, overload, stack):
            self.general.append(name_)
            self.fill(stack)
            return 0

        def check(condition, function, file, line, message):
            self.thrown.append(message.decode())

        def init(space, key, file, line, library):
            library[0] = 1
            return 0

        def implement(library, name_, kernel):
            self.kernel = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_uint64), ctypes.c_uint64, ctypes.c_uint64)(kernel)
            return 0

        def stream(device, into):
            into[0] = 43
            return 0

        i32, i64, ints = ctypes.c_int32, ctypes.c_int64, ctypes.POINTER(ctypes.c_int64)
        types = {"aoti_torch_delete_tensor_object": (delete, i32, ctypes.c_void_p), "aoti_torch_empty_strided": (empty, i32, i64, ints, ints, i32, i32, i32, POINTER),
                 "aoti_torch_call_dispatcher": (dispatch, i32, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_uint64)),
                 "aoti_torch_check": (check, None, ctypes.c_bool, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p),
                 "aoti_torch_library_init_impl": (init, i32, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32, POINTER),
                 "aoti_torch_library_impl": (implement, i32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p),
                 "aoti_torch_get_current_cuda_stream": (stream, i32, i32, POINTER)}
        function, result, *arguments = types[name]
        return ctypes.CFUNCTYPE(result, *arguments)(function)


class WithStandIns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-launcher-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.book = self.folder / "launches"
        os.environ["FAKE_LAUNCHES"] = str(self.book)
        os.environ["FAKE_ARGUMENTS"] = "6"
        before = launcher.Launcher._number
        self.addCleanup(setattr, launcher.Launcher, "_number", before)
        launcher.Launcher._number = lambda _, what: {"device_type_cuda": 1, "dtype_float32": 6, "dtype_int32": 3}[what]
        self.torch = FakeTorch()
        self.launcher = launcher.Launcher(ctypes.CDLL(str(LIBRARY)), self.torch.functions, driver.driver())

    def prepared(self, text):
        """One call of a file's kernels at its own sizes."""
        path = self.folder / "kernel.cu"
        path.write_text(text)
        number = self.launcher.register("space", "name", "CUDA", "name_general")
        self.assertIsNotNone(number)
        found = operator.plan(path, {})
        ready = operator.steps(driver.driver(), found, driver.driver().functions(*operator.compiled(path, "sm_80")))
        self.book.unlink(missing_ok=True)
        roles = [buffer["role"] for buffer in found["buffers"]]
        inputs, outputs = ([index for index, role in enumerate(roles) if role == wanted] for wanted in ("input", "output"))
        dtypes = [getattr(torch, buffer["dtype"]) for buffer in found["buffers"]]
        self.prepare = lambda key, keywords: self.launcher.prepare(number, key, torch.device("cuda", 0), found["buffers"], inputs, outputs, keywords, ready, dtypes)
        self.assertTrue(self.prepare("these sizes", []))

    def call(self, *tensors):
        stack = (ctypes.c_uint64 * 4)(*tensors)
        self.torch.kernel(stack, len(tensors), 1)
        return stack[0]

    def launches(self):
        lines = self.book.read_text().splitlines() if self.book.exists() else []
        self.book.unlink(missing_ok=True)
        return lines

    def test_a_call_that_fits_is_launched_here(self):
        self.prepared(PLANNED)
        a, b = self.torch.tensor(4, 100), self.torch.tensor(100)
        made = self.torch.tensors[self.call(a, b)]
        self.assertEqual((made["kept"][:2], made["strides"], made["dtype"]), ([4, 100], [100, 1], 6))
        launch, memset = self.launches()
        words = launch.split(" argument ")
        self.assertRegex(words[0], r"launch _Z3addILi2E\w+ grid 4 4 1 block 32 1 1 shared 50000 stream 43$")
        got = [int(word, 16) for word in words[1:]]
        self.assertEqual(got[:3], [self.torch.tensors[a]["data"], self.torch.tensors[b]["data"] + 4, made["data"]])
        self.assertEqual(got[3] & 0xffffffff, 100)
        self.assertEqual(memset, f"memset {got[5]:x} 0 8 stream 43")
        # The inputs are the kernel's to delete, and so is the scratch memory; the output is the caller's.
        self.assertEqual(len(self.torch.deleted), 3)
        self.assertLessEqual({a, b}, set(self.torch.deleted))
        self.assertEqual((self.torch.general, self.torch.thrown), ([], []))

    def test_any_other_call_is_the_general_form_s(self):
        self.prepared(PLANNED)
        b = self.torch.tensor(100)
        for unfit in (self.torch.tensor(3, 100), self.torch.tensor(400), self.torch.tensor(4, 100, dtype=7), self.torch.tensor(4, 100, device=1),
                      self.torch.tensor(4, 100, contiguous=False), self.torch.tensor(4, 100, offset=16)):
            self.torch.general.clear()
            self.torch.fill = lambda stack: stack.__setitem__(0, 77)
            self.assertEqual(self.call(unfit, b), 77)
            self.assertEqual(self.torch.general, [b"space::name_general"])
        self.assertEqual((self.launches(), self.torch.deleted, self.torch.thrown), ([], [], []))   # the general form takes the inputs

    def test_what_the_general_form_says_is_thrown(self):
        self.prepared(PLANNED)

        def fail(stack):
            stack[0] = 78
            self.launcher.failed("not verified at N=5")

        self.torch.fill = fail
        self.call(self.torch.tensor(5, 100), self.torch.tensor(100))
        self.assertEqual((self.torch.thrown, self.torch.deleted), (["not verified at N=5"], [78]))

    def test_an_error_that_the_general_form_catches_is_not_its_own(self):
        self.prepared(ADD.replace("M = 100", "M = 2464").replace("M=100", "M=2464").replace("int32[2] = 7", "int32[2]"))
        inner = {"of a general form": (self.torch.tensor(6, 100), self.torch.tensor(100)), "of the driver": (self.torch.tensor(4, 2464), self.torch.tensor(2464))}
        for name, says in (("of a general form", "not verified at N=6"), ("of the driver", "kernel add<2>: CUDA_ERROR_INVALID_VALUE")):
            def fail(stack):
                stack[0] = 78
                self.launcher.failed("not verified at N=6")

            def call_another(stack):
                self.torch.fill = fail
                self.call(*inner[name])   # throws, which Python would catch
                stack[0] = 77

            with self.subTest(name):
                self.torch.fill = call_another
                self.torch.thrown.clear()
                self.assertEqual(self.call(self.torch.tensor(5, 100), self.torch.tensor(100)), 77)
                self.assertEqual(self.torch.thrown, [says])
                self.assertNotIn(77, self.torch.deleted)

    def test_without_memory_for_an_output_the_general_form_is_asked(self):
        self.prepared(PLANNED)
        a, b = self.torch.tensor(4, 100), self.torch.tensor(100)
        for room in (0, 1):   # 1: the output has been made, scratch memory cannot be
            self.torch.room = room
            self.torch.deleted.clear()
            self.torch.general.clear()
            seen = []
            self.torch.fill = lambda stack: (seen.extend(stack[:2]), stack.__setitem__(0, 77))
            self.assertEqual(self.call(a, b), 77)
            self.assertEqual((seen, self.torch.general, len(self.torch.deleted)), ([a, b], [b"space::name_general"], room))   # which takes the inputs
            self.assertEqual(set(self.torch.deleted) & {a, b, 77}, set())
        self.assertEqual((self.launches(), self.torch.thrown), ([], []))

    def test_a_call_that_was_refused_is_refused_again(self):
        self.prepared(PLANNED)
        for _ in range(2):
            self.assertFalse(self.prepare("more keywords than there is room for", [0] * (launcher.MAX_KEYWORDS + 1)))
            self.assertTrue(self.prepare("these sizes", []))

    def test_what_the_driver_refuses_is_thrown_and_nothing_is_left(self):
        self.prepared(ADD.replace("M = 100", "M = 2464").replace("M=100", "M=2464").replace("int32[2] = 7", "int32[2]"))
        a, b = self.torch.tensor(4, 2464), self.torch.tensor(2464)
        self.call(a, b)
        self.assertEqual(self.torch.thrown, ["kernel add<2>: CUDA_ERROR_INVALID_VALUE"])
        self.assertEqual(len(self.torch.deleted), 4)   # two inputs, an output, scratch memory

    def test_a_launch_takes_place_in_the_context_of_its_gpu(self):
        self.prepared(PLANNED)
        os.environ["FAKE_CONTEXT"] = "30"   # another GPU is the current one
        self.addCleanup(os.environ.pop, "FAKE_CONTEXT")
        self.call(self.torch.tensor(4, 100), self.torch.tensor(100))
        self.assertEqual([line.split(" stream")[0].split()[0] for line in self.launches()], ["push", "launch", "memset", "pop"])

    def test_a_tensor_map_is_encoded_for_each_call(self):
        os.environ["FAKE_ARGUMENTS"] = "2"
        self.prepared(MAPPED)
        a = self.torch.tensor(64, 32)
        self.call(a)
        encoded, launch = self.launches()
        self.assertEqual(encoded, "map type 7 rank 2 extents 32 64 stride 128 box 32 8 steps 1 1 modes 0 3 3 0")
        self.assertEqual(int(launch.split(" argument ")[1], 16), self.torch.tensors[a]["data"] ^ 0xabcd)


def of_pytorch():
    """PyTorch's functions, with the stand-in's stream; None where this PyTorch has not all of them."""
    try:
        library = launcher._torch_libraries()[0]
        found = [getattr(library, name) for name in launcher._OF_TORCH[:-1]]
    except (AttributeError, IndexError, OSError):
        return None
    return [*found, driver.driver().library.fake_current_stream]


@unittest.skipIf(of_pytorch() is None, f"PyTorch {torch.__version__} has no stable interface in C; 2.8 has")
class WithPyTorch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="cudal1-launcher-")
        self.addCleanup(folder.cleanup)
        self.book = pathlib.Path(folder.name) / "launches"
        os.environ["FAKE_LAUNCHES"], os.environ["FAKE_ARGUMENTS"] = str(self.book), "6"
        made = launcher.Launcher(ctypes.CDLL(str(LIBRARY)), of_pytorch(), driver.driver())
        for name, stand_in in (("_KEY", "CPU"), ("_architecture", lambda device: "sm_80"), ("_stream", lambda device: 42), ("_launcher", lambda: made)):
            self.addCleanup(setattr, operator, name, getattr(operator, name))
            setattr(operator, name, stand_in)
        path = pathlib.Path(folder.name) / "add.cu"
        path.write_text(PLANNED + f"// {folder.name}\n")
        self.op = cudal1.load(path, prepare=False)

    def aligned(self, *shape):
        room = torch.zeros(torch.Size(shape).numel() + 64)
        begin = -room.data_ptr() // 4 % 64
        return room[begin:begin + torch.Size(shape).numel()].view(*shape)

    def streams(self):
        lines = [line.split(" stream ")[1].split()[0] for line in self.book.read_text().splitlines() if line.startswith("launch")]
        self.book.unlink()
        return lines

    def test_the_second_call_runs_without_python(self):
        self.assertTrue(self.op.native)
        a, b = self.aligned(4, 100), self.aligned(100)
        for expected in ("42", "43", "43"):   # Python's stream, then that of C++
            c = self.op(a, b)
            self.assertEqual((list(c.shape), c.dtype, self.streams()), ([4, 100], torch.float32, [expected]))
        self.op(a.t().contiguous().t(), b)
        self.assertEqual(self.streams(), ["42"])
        compiled = torch.compile(lambda x, y: self.op(x + 1, y) + 1, fullgraph=True, backend="eager")
        self.assertEqual(list(compiled(a, b).shape), [4, 100])
        self.assertEqual(list(torch.vmap(lambda x: x + 1)(self.op(a, b)).shape), [4, 100])

    def test_errors_keep_their_type_and_their_words(self):
        self.op, first = cudal1.load(self.op.path, prepare=False), self.op   # a second object of one operator
        self.assertEqual(self.op.name, first.name)
        a, b = self.aligned(4, 100), self.aligned(100)
        for tensors, says in (((self.aligned(2, 6), self.aligned(6)), "not verified at M=6, N=2"), ((a.double(), b), "torch.float64")):
            with self.assertRaisesRegex(operator.ShapeError, says):
                self.op(*tensors)
            with self.assertRaisesRegex(RuntimeError, says):   # of PyTorch, which knows no other
                self.op.op(*tensors)
        with self.assertRaisesRegex(RuntimeError, "no derivative"):
            self.op(a.requires_grad_(), b)
        a = a.detach()

        def interrupt(*_):
            raise KeyboardInterrupt

        first._run = interrupt   # the registered kernel is the first object's
        with self.assertRaises(KeyboardInterrupt):
            self.op(a, b)
        with self.assertRaisesRegex(RuntimeError, "KeyboardInterrupt"):
            self.op.op(a, b)
        with self.assertRaisesRegex(RuntimeError, "missing value for argument"):
            self.op(b)

    def test_an_error_in_a_fallback_that_catches_it_is_not_the_operator_s(self):
        def fallback(x, y):
            for call, error in ((self.op, operator.ShapeError), (self.op.op, RuntimeError)):
                with self.assertRaises(error):
                    call(x.double(), y)
            return x + y - 1

        falls = cudal1.load(self.op.path, prepare=False, fallback=fallback)
        self.assertTrue(falls.native)
        self.assertEqual(falls(self.aligned(2, 6), self.aligned(6)).tolist(), [[-1] * 6] * 2)


if __name__ == "__main__":
    unittest.main()
