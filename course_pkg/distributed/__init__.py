"""The solvers of ``cg`` and ``sstep`` on many ranks: each rank is a process that holds a part of every vector.

``partition``
    who owns which planes of a grid, or which rows of a matrix
``halo``
    which entries a rank needs from others, who sends them, and where they lie when they have come
``communicator``
    what ranks say to each other; ``serial`` runs all ranks in one process and keeps their messages,
    ``mpi`` runs each in a process of its own
``operators``
    what divided operators have in common: they multiply while the halo is on its way; ``slabs`` has the
    7-point Laplacian, ``rows`` sparse matrices
``room``
    the vectors of a solve on one rank, so that the solvers of ``sstep`` run unchanged
``sweeps``
    the same for those of ``cg`` that fuse their sweeps
``phases``
    how long products, updates, sums and messages took
``launch``
    starts a program on several ranks, and says which one failed
``work``
    what an iteration asks of a rank; ``model`` its time on any number of ranks, from latencies and
    bandwidths that are fitted to measurements
``suite``
    what ``course bench scaling`` measures; ``job`` is what each rank does for it

It is no topic but stands above them: it has no kernels, and solves nothing by itself. Only ``mpi`` needs MPI, when
``open_mpi`` is called.
"""
