"""course_pkg.simt.api: the host functions of numba.cuda, and names for kernels, which raise an error on the host."""

import copy
import inspect
import pickle
import time

import numpy as np
import pytest

from course_pkg.core import CourseError
from course_pkg.core.checks import on_device
from course_pkg.simt import api as cuda
from course_pkg.simt.front.stubs import MEANINGS, KernelName
from course_pkg.simt.memory.device_array import DeviceArray

HOST = np.arange(6.0).reshape(2, 3)
USED = """
grid gridsize threadIdx.x blockIdx.y blockDim.z gridDim.x laneid warpsize syncthreads syncthreads_count
syncthreads_and syncthreads_or syncwarp shfl_sync shfl_up_sync shfl_down_sync shfl_xor_sync ballot_sync any_sync
all_sync eq_sync activemask lanemask_lt popc brev clz ffs fma cbrt selp threadfence threadfence_block
threadfence_system shared.array local.array const.array_like atomic.add atomic.sub atomic.and_ atomic.or_
atomic.xor atomic.inc atomic.dec atomic.exch atomic.max atomic.min atomic.nanmax atomic.nanmin atomic.cas
atomic.compare_and_swap
"""


def resolve(dotted):
    found = cuda
    for part in dotted.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", MEANINGS)
def test_every_name_for_kernels_knows_itself_and_refuses_the_host(name):
    found = resolve(name)
    assert isinstance(found, KernelName)
    assert found.simt_name == name
    assert repr(found) == f"<cuda.{name}, for kernels>"
    assert found.__doc__
    with pytest.raises(CourseError, match=rf"^cuda\.{name} works inside a kernel only: .*@cuda\.jit"):
        found(1)


def test_the_names_that_the_course_uses_are_there():
    for name in USED.split():
        assert resolve(name).simt_name == name


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x + 1,
        lambda x: 2 * x,
        lambda x: x < 3,
        lambda x: x == 0,
        lambda x: x != np.int32(0),
        lambda x: -x,
        lambda x: int(x),
        lambda x: range(x),
        lambda x: [1, 2][x],
        lambda x: "a" if x else "b",
        lambda x: x[0],
        lambda x: list(x),
    ],
)
def test_an_index_on_the_host_gives_no_number(use):
    with pytest.raises(CourseError, match=r"^cuda\.threadIdx\.x works inside a kernel only"):
        use(cuda.threadIdx.x)


def test_names_can_be_compared_hashed_and_copied():
    assert cuda.grid == cuda.grid and cuda.grid != cuda.gridsize and cuda.grid is not None
    assert cuda.threadIdx.x in {cuda.threadIdx.x: 1}
    assert copy.deepcopy(cuda.atomic).add.simt_name == "atomic.add"
    assert pickle.loads(pickle.dumps(cuda.threadIdx.x)).simt_name == "threadIdx.x"


def test_an_unknown_member_is_answered_with_the_known_ones():
    with pytest.raises(AttributeError, match=r"^cuda\.threadIdx has no 'w': it has x, y, z\.$"):
        cuda.threadIdx.w  # noqa: B018
    with pytest.raises(AttributeError, match=r"^cuda\.shared has no 'arra': it has array\.$"):
        cuda.shared.arra  # noqa: B018
    assert not hasattr(cuda.grid, "x")
    assert {"x", "y", "z"} <= set(dir(cuda.blockDim))


def test_a_name_that_is_not_offered():
    with pytest.raises(
        AttributeError, match=r"compile_ptx makes machine code for a GPU.* `if cuda\.is_available"
    ):
        cuda.compile_ptx  # noqa: B018
    with pytest.raises(AttributeError, match=r"does not offer cuda\.gridd: do you mean cuda\.grid\?"):
        cuda.gridd  # noqa: B018
    assert not hasattr(cuda, "__wrapped__")


def test_all_names_exist():
    assert len(set(cuda.__all__)) == len(cuda.__all__)
    for name in cuda.__all__:
        assert hasattr(cuda, name), name


def test_to_device_copies():
    host = HOST.copy()
    device = cuda.to_device(host)
    host[0, 0] = 99
    np.testing.assert_array_equal(device.copy_to_host(), HOST)
    assert on_device(device) and cuda.is_cuda_array(device) and not cuda.is_cuda_array(host)
    assert cuda.to_device(device) is device
    assert cuda.as_cuda_array(device) is device
    assert cuda.to_device([1, 2]).dtype == np.array([1, 2]).dtype
    assert cuda.to_device(2.5).shape == ()
    assert cuda.to_device(HOST.T).is_f_contiguous()
    assert cuda.to_device(HOST, stream=3).stream == 3


def test_to_device_writes_into_a_read_only_arrays_copy():
    host = HOST.copy()
    host.flags.writeable = False
    device = cuda.to_device(host)
    device[0, 0] = 5.0
    assert (device[0, 0], host[0, 0]) == (5.0, 0.0)


def test_to_device_without_a_copy_and_into_an_array():
    assert np.isnan(cuda.to_device(HOST, copy=False).copy_to_host()).all()
    target = cuda.device_array((2, 3))
    assert cuda.to_device(HOST, to=target) is target
    np.testing.assert_array_equal(target.copy_to_host(), HOST)
    assert cuda.to_device(-HOST, copy=False, to=target) is target
    np.testing.assert_array_equal(target.copy_to_host(), HOST)
    with pytest.raises(CourseError, match="ary has shape"):
        cuda.to_device(np.ones(3), to=target)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (HOST[:, ::2], r"obj has gaps between its elements .*numpy\.ascontiguousarray"),
        (np.array(["a"]), "obj has dtype <U1: GPU memory holds numbers"),
        (np.array([None]), "obj has dtype object: GPU memory holds numbers"),
    ],
)
def test_what_cannot_go_to_the_device(obj, message):
    with pytest.raises(CourseError, match=message):
        cuda.to_device(obj)


def test_arrays_of_a_real_gpu_are_refused():
    class OnGPU:
        __cuda_array_interface__ = {"data": (4096, False), "shape": (1,), "typestr": "<f8"}  # noqa: RUF012

    for function in (cuda.to_device, cuda.as_cuda_array):
        with pytest.raises(CourseError, match=r"memory of a real GPU, .* copy it to the host first"):
            function(OnGPU())
    with pytest.raises(CourseError, match=r"obj is a ndarray, not .*cuda\.to_device\(obj\)"):
        cuda.as_cuda_array(HOST)


def test_device_arrays_are_unwritten():
    found = cuda.device_array((2, 3), np.float32, stream=4)
    assert (found.shape, found.dtype, found.stream) == ((2, 3), np.float32, 4)
    assert np.isnan(found.copy_to_host()).all()
    assert cuda.device_array(5).shape == (5,)
    assert cuda.device_array((2, 3), order="F").is_f_contiguous()
    assert found.base_array is found.host
    padded = cuda.device_array((2, 3), strides=(64, 8))
    assert padded.strides == (64, 8)
    assert padded.base_array.nbytes == 64 + 3 * 8
    assert padded[1].base_array is padded.base_array


def test_device_array_like_keeps_the_order():
    for like in (HOST, cuda.to_device(HOST), HOST.T, cuda.to_device(HOST.T)):
        found = cuda.device_array_like(like)
        assert isinstance(found, DeviceArray)
        assert (found.shape, found.strides, found.dtype) == (like.shape, like.strides, like.dtype)
        assert np.isnan(found.copy_to_host()).all()
    assert cuda.device_array_like(cuda.to_device(HOST)[:, 1:]).is_c_contiguous()
    with pytest.raises(CourseError, match=r"ary is a list, not an array"):
        cuda.device_array_like([1.0])


def test_host_memory():
    for make in (cuda.pinned_array, cuda.mapped_array):
        found = make((2, 3), np.float32)
        assert type(found) is np.ndarray and found.dtype == np.float32 and np.isnan(found).all()
    with cuda.pinned(HOST, HOST), cuda.defer_cleanup():
        pass


def test_events_keep_the_hosts_time():
    start, stop = cuda.event(), cuda.event(timing=True)
    before_s = time.perf_counter()
    start.record()
    time.sleep(0.02)
    stop.record(cuda.stream())
    most_ms = (time.perf_counter() - before_s) * 1e3
    stop.synchronize()
    stop.wait()
    assert stop.query()
    elapsed_ms = cuda.event_elapsed_time(start, stop)
    assert 15 < elapsed_ms <= most_ms
    assert start.elapsed_time(stop) == elapsed_ms
    assert cuda.event_elapsed_time(stop, start) == -elapsed_ms


def test_events_without_a_time():
    with pytest.raises(CourseError, match=r"evtend was never recorded: call its record\(\) first"):
        recorded = cuda.event()
        recorded.record()
        cuda.event_elapsed_time(recorded, cuda.event())
    silent = cuda.event(timing=False)
    silent.record()
    with pytest.raises(CourseError, match=r"evtstart keeps no time: .*timing=True"):
        cuda.event_elapsed_time(silent, recorded)


def test_streams():
    assert cuda.default_stream() is cuda.default_stream()
    assert cuda.stream() is not cuda.stream()
    with cuda.stream().auto_synchronize() as stream:
        stream.synchronize()
    cuda.synchronize()


def test_the_device():
    device = cuda.get_current_device()
    assert device.name == "SIMT interpreter"
    assert device.compute_capability == (9, 0)
    assert (device.WARP_SIZE, device.MAX_THREADS_PER_BLOCK) == (32, 1024)
    assert (device.MAX_BLOCK_DIM_Z, device.MAX_GRID_DIM_Y) == (64, 65535)
    assert device.MAX_SHARED_MEMORY_PER_BLOCK == 49152
    assert cuda.gpus.current is device and list(cuda.list_devices()) == cuda.gpus.lst == [device]
    assert cuda.select_device(0) is device and cuda.current_context().device is device
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free <= total
    assert cuda.is_available() is False
    with pytest.raises(CourseError, match=r"device_id is 1: .* number 0"):
        cuda.select_device(1)
    cuda.close()
    cuda.profile_start()
    cuda.profile_stop()
    with cuda.profiling():
        pass


def test_arguments_may_say_which_way_they_are_copied():
    """On a GPU, a kernel's stores in ``In`` never reach the host, and ``Out`` begins with what lay in GPU memory."""

    @cuda.jit
    def swap_first(a, b):
        a[0], b[0] = b[0], a[0]

    a, b = np.ones(2), np.full(2, 3.0)
    swap_first[1, 1](cuda.In(a), cuda.InOut(b))
    assert (a.tolist(), b.tolist()) == ([1, 1], [1, 3])
    swap_first[1, 1](cuda.Out(a), cuda.InOut(b))
    assert a[0] == 1 and np.isnan([a[1], b[0]]).all()
    d = cuda.to_device(b)
    swap_first[1, 1](cuda.In(d), cuda.Out(d))
    assert d.copy_to_host()[1] == 3


def test_arguments_are_numbas():
    expected = {
        "to_device": "(obj, stream=0, copy=True, to=None)",
        "device_array": "(shape, dtype=float64, strides=None, order='C', stream=0)",
        "device_array_like": "(ary, stream=0)",
        "pinned_array": "(shape, dtype=float64, strides=None, order='C')",
        "event": "(timing=True)",
    }
    for name, arguments in expected.items():
        found = inspect.signature(getattr(cuda, name))
        bare = found.replace(
            parameters=[p.replace(annotation=p.empty) for p in found.parameters.values()],
            return_annotation=found.empty,
        )
        assert str(bare).replace("<class 'numpy.float64'>", "float64") == arguments
