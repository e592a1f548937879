"""The solvers of ``cg`` and ``sstep`` on many ranks: each rank is a process that holds a part of every vector.

``partition``
    who owns which planes of a grid, or which rows of a matrix
``halo``
    which entries a rank needs from others, who sends them, and where they are stored after they arrive
``communicator``
    the messages and sums between ranks; ``serial`` runs all ranks in one process and keeps their messages,
    ``mpi`` runs each in a process of its own
``operators``
    the base class of distributed operators, which multiply while the halo is in transit; ``slabs`` has the
    7-point Laplacian, ``rows`` sparse matrices
``room``
    the vectors of a solve on one rank, so that the solvers of ``sstep`` run unchanged
``sweeps``
    the sweeps of a solve on one rank, so that the fused solvers of ``cg`` run unchanged
``phases``
    a clock for the time that products, updates, sums and messages take
``launch``
    starts a program on several ranks, and says which one failed
``work``
    the work of one rank in an iteration; ``model`` predicts the time of an iteration on any number of ranks,
    from latencies and bandwidths that are fitted to measurements
``suite``
    what ``course bench scaling`` measures; ``job`` is what each rank does for it; ``recorded`` says what
    a measurement means, ``forecast`` what follows for several ranks, ``demands`` what a run must show

This package is not a topic: it has no kernels and no solver of its own, and uses those of the topics. Only ``mpi``
needs MPI, and only when ``open_mpi`` is called.
"""
