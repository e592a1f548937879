"""Iterations on a GPU whose numbers stay in GPU memory, so that the host queues one after the other without waiting."""

import numpy as np

from course_pkg.device.graphs import SIMT
from course_pkg.sstep.gpu_numba.follow import follow
from course_pkg.sstep.gpu_numba.passes import gram_pass_kernel, moments_pass_kernel
from course_pkg.sstep.gpu_numba.scalars import KERNELS
from course_pkg.sstep.gpu_numba.sums import finish_kernel
from course_pkg.sstep.tuning import THREADS, THREADS_PASS

UNSEEN = 1 if SIMT else 8  # iterations after which the host looks at their numbers


class Iterations:
    """What ``DeviceRoom`` inherits so that an iteration needs no host: scalar work on the GPU, and graphs.

    Examples
    --------
    >>> from course_pkg.sstep.gpu_numba.room import DeviceRoom
    >>> DeviceRoom.__mro__[1] is Iterations
    True
    """

    most_ahead = 8  # passes

    @property
    def repeats_iterations(self) -> bool:
        """Whether CUDA graphs may hold whole iterations."""
        return self.repeats

    def looks(self, queued: int) -> bool:
        """Return True after the first iterations, which compile and record, and then after some iterations each."""
        return queued < UNSEEN or queued % UNSEEN == 0

    def iteration(self, key, step, *arguments) -> None:
        """Do ``step(*arguments)``, an iteration for which the host does not wait; if possible, by one graph."""
        if self.repeats_iterations:
            self._again(key, step, *arguments)
        else:
            step(*arguments)

    def numbers(self, array):
        """Return a copy in GPU memory, at the same place in every solve, because graphs keep its address."""
        out = self.kept(array.shape, "numbers")
        out.copy_to_device(array)
        return out

    def few(self, shape, what):
        """Return memory for a few numbers on the GPU, the same in every iteration."""
        return self.kept(shape, what)

    def hand(self, array, what):
        """Copy a few numbers to the memory that :meth:`few` returns."""
        self.few(array.shape, what).copy_to_device(np.ascontiguousarray(array))

    def scalar(self, function, *arguments) -> None:
        """Do scalar work by one thread."""
        KERNELS[function][1, 1, self.stream](*arguments)

    def follow(self, v, number, w, out) -> None:
        """Compute ``out = v + number[0] w`` with a number in GPU memory."""
        follow(v, number, w, out, stream=self.stream)

    def totals(self, out, *pairs) -> None:
        """Write the dot products of pairs of vectors to GPU memory; one reduction."""
        partial = self._parts(*pairs)
        finish_kernel[len(pairs), THREADS, self.stream](
            partial.reshape(partial.size), np.int32(partial.shape[1]), out
        )
        self.add(out)

    def gram_of_iteration(self, old, fresh):
        """Return the upper triangle of the Gram matrix in GPU memory; one reduction."""
        self.reductions += 1
        m = len(fresh) // (2 if old is None else 1)
        out = self.kept((m + 1, m + 1))
        self.sums(old, fresh, self.r, out)
        self.add(out)
        return out

    def moments_of_iteration(self, block):
        """Return the moments in GPU memory; one reduction."""
        self.reductions += 1
        out = self.kept((len(block) + 1,))
        self.again(("moments", block, self.r), self._moments, block, self.r, out)
        self.add(out)
        return out

    def gram_pass(self, s, *arguments) -> None:
        """Do the scalar work of a pass from its Gram matrix, by one block of threads."""
        gram_pass_kernel(s)[1, THREADS_PASS, self.stream](*arguments)

    def moments_pass(self, s, *arguments) -> None:
        """Do the scalar work of a pass from its moments, by one block of threads."""
        moments_pass_kernel(s)[1, THREADS_PASS, self.stream](*arguments)

    def add(self, sums) -> None:
        """Add up sums over all GPUs, in place; here, there is one."""
