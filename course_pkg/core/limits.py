"""Limits of CUDA that hold on every GPU of compute capability 7.0 and later.

Source: CUDA C++ Programming Guide, version 12, "Features and Technical Specifications", tables of compute capabilities.
"""

MOST_THREADS = 1024  # in a block
MOST_THREADS_ALONG = (1024, 1024, 64)  # in a block, along x, y, z
MOST_BLOCKS_ALONG = (2**31 - 1, 65_535, 65_535)  # in a launch, along x, y, z
SHARED_BYTES = 48 * 1024  # static shared memory per block
DYNAMIC_SHARED_BYTES = 227 * 1024  # dynamic shared memory per block on compute capability 9.0
CONSTANT_BYTES = 64 * 1024  # constant memory per kernel
ARGUMENT_BYTES = 32_764  # arguments per launch, since CUDA 12.1; 4,096 before
LOCAL_BYTES = 512 * 1024  # local memory per thread
REGISTER_BYTES = 255 * 4  # registers per thread
ALL_LANES = 0xFFFFFFFF  # the mask of a whole warp
