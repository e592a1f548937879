"""The scalar work of ``sstep/scalars.py`` on a GPU: each function runs in a kernel of one thread.

Kernels:
    pcg_alpha_kernel      alpha from p·Ap
    pcg_beta_kernel       beta from u·r and r·r; it ends the iteration
    pfcg_scalars_kernel   both coefficients of pfcg from its Gram matrix
    moments_scalars_kernel, gram_scalars_kernel   those of a pass with s = 1
"""

from course_pkg import cuda
from course_pkg.sstep import scalars

pcg_alpha, pcg_beta, pfcg_scalars, moments_scalars, gram_scalars = (
    cuda.jit(device=True)(function)
    for function in (
        scalars.pcg_alpha, scalars.pcg_beta, scalars.pfcg_scalars, scalars.moments_scalars, scalars.gram_scalars
    )
)  # fmt: skip


@cuda.jit
def pcg_alpha_kernel(totals, state):
    """Step 6: the numbers stay where the next kernels read them."""
    pcg_alpha(totals, state)


@cuda.jit
def pcg_beta_kernel(totals, state, history):
    """As pcg_alpha, but step 10: it also ends the iteration."""
    pcg_beta(totals, state, history)


@cuda.jit
def pfcg_scalars_kernel(G, state, history, beta, alpha):
    """As pcg_alpha, but steps 11 to 14, from one Gram matrix."""
    pfcg_scalars(G, state, history, beta, alpha)


@cuda.jit
def moments_scalars_kernel(mu, state, history, beta, alpha):
    """As pfcg_scalars, but from two moments and r·r: with the last alpha, they tell what the Gram matrix would."""
    moments_scalars(mu, state, history, beta, alpha)


@cuda.jit
def gram_scalars_kernel(G, state, history, C, a):
    """As pfcg_scalars, but by Cholesky's method, and with coefficients for both vectors."""
    gram_scalars(G, state, history, C, a)


KERNELS = {
    scalars.pcg_alpha: pcg_alpha_kernel,
    scalars.pcg_beta: pcg_beta_kernel,
    scalars.pfcg_scalars: pfcg_scalars_kernel,
    scalars.moments_scalars: moments_scalars_kernel,
    scalars.gram_scalars: gram_scalars_kernel,
}
