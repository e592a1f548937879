// The 7-point Laplacian out = 6 u - (its six neighbours), zero outside the grid; two points a thread.
//
// A thread marches along z through `planes` planes and keeps its column in registers: the planes below, at and above
// the one it computes, and the plane ahead, which is on its way. Points to the west and east of a pair belong to the
// neighbouring lanes, which hand them over by a shuffle; only the first and the last lane of a warp load them.
// Blocks are 32 threads wide. nx is even, so that every pair begins at a multiple of its size.

template <typename T> struct Pair;
template <> struct Pair<double> { typedef double2 type; };
template <> struct Pair<float> { typedef float2 type; };

template <typename T>
__global__ void __launch_bounds__(256, 8)  // eight blocks on a multiprocessor: 32 registers a thread
laplacian_vectorised(const T* __restrict__ u, T* __restrict__ out, unsigned nx, unsigned ny, unsigned nz,
                     unsigned planes) {
  typedef typename Pair<T>::type P;
  const unsigned i = 2 * (blockIdx.x * blockDim.x + threadIdx.x), j = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned first = blockIdx.z * planes, last = min(first + planes, nz), plane = nx * ny;
  const bool inside = i < nx && j < ny, from_west = threadIdx.x > 0, from_east = threadIdx.x < 31;
  unsigned c = (first * ny + j) * nx + i;
  P zero; zero.x = zero.y = 0;
  auto pair = [&](bool there, unsigned at) { return inside && there ? *(const P*)(u + at) : zero; };

  P below = pair(first > 0, c - plane), centre = pair(true, c), above = pair(first + 1 < nz, c + plane);
  for (unsigned k = first; k < last; ++k, c += plane) {
    const P ahead = pair(k + 1 < last && k + 2 < nz, c + 2 * plane);
    const P north = pair(j > 0, c - nx), south = pair(j + 1 < ny, c + nx);
    T west = __shfl_up_sync(~0u, centre.y, 1), east = __shfl_down_sync(~0u, centre.x, 1);
    if (!from_west) west = inside && i > 0 ? u[c - 1] : 0;
    if (!from_east) east = inside && i + 2 < nx ? u[c + 2] : 0;
    if (inside) {  // beyond the last pair of a row, lanes hold zero
      P total;
      total.x = 6 * centre.x - below.x - above.x - north.x - south.x - west - centre.y;
      total.y = 6 * centre.y - below.y - above.y - north.y - south.y - centre.x - east;
      *(P*)(out + c) = total;
    }
    below = centre;
    centre = above;
    above = ahead;
  }
}
