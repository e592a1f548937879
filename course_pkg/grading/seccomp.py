"""A seccomp filter, made by libseccomp: it limits the system calls that the sandbox may make.

bubblewrap removes access to files, to the network and to other namespaces. This filter forbids what remains: sockets
of every family (``AF_VSOCK`` leads out of a virtual machine, and buffers of sockets count as memory of no process),
new namespaces, memory that belongs to no process, the memory of other processes, and large parts of the kernel (bpf,
io_uring, keys, performance counters). It also forbids calls by which a sandbox could observe how another sandbox uses
a file that both read: locks, leases, watches, and the list of the file's pages in memory. By the offsets of its locks
alone, a sandbox could send any number of values to another one.
"""

import errno
import functools
import tempfile

# These calls fail with EPERM. Names that this machine's kernel or libseccomp does not know are left out.
REFUSED = (
    *("socket", "socketpair", "socketcall"),
    *("unshare", "setns", "mount", "umount", "umount2", "pivot_root", "chroot", "swapon", "swapoff"),
    *("move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr"),
    *("memfd_create", "memfd_secret", "shmget", "shmat", "shmctl", "msgget", "msgsnd", "semget", "mq_open"),
    *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp", "process_madvise"),
    *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter", "io_uring_register"),
    *(
        "keyctl",
        "add_key",
        "request_key",
        "fanotify_init",
        "open_by_handle_at",
        "name_to_handle_at",
        "quotactl",
    ),
    *("init_module", "finit_module", "delete_module", "kexec_load", "kexec_file_load", "reboot", "syslog"),
    *("acct", "settimeofday", "clock_settime", "adjtimex", "sethostname", "setdomainname", "vmsplice"),
    *("flock", "inotify_init", "inotify_init1", "fadvise64", "readahead", "mincore", "cachestat", "sysinfo"),
    *("personality", "mlock", "mlock2", "mlockall", "iopl", "ioperm", "nfsservctl", "lookup_dcookie"),
)
# These calls succeed and do nothing: devices have times, too, and a filter cannot read which file is meant.
IGNORED = ("utimensat", "futimesat", "utimes", "utime")
NEW_NAMESPACES = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
# fcntl: locks of a process and of an open file, leases, watches, and sizes of pipes (their sum is limited per user)
FILE_CONTROLS = (5, 6, 7, 36, 37, 38, 1024, 1025, 1026, 1031)
ONLY_FROM_MEMORY = 0x8  # RWF_NOWAIT, a flag of preadv2: the call fails for a page that is not in memory
SHARED_ANONYMOUS = 0x21  # MAP_SHARED or MAP_SHARED_VALIDATE, with MAP_ANONYMOUS
MISSING = "libseccomp is missing, so system calls are not filtered: `pip install pyseccomp`"


@functools.cache
def program() -> bytes:
    """Return the filter in the form that bubblewrap reads; empty if libseccomp or its Python module is missing."""
    try:
        import pyseccomp as lib
    except (ImportError, RuntimeError, OSError):  # RuntimeError: the module is installed, but not the library
        return b""
    try:
        made = lib.SyscallFilter(lib.ALLOW)
        for name in REFUSED:
            _refuse(lib, made, name, errno.EPERM)
        for name in IGNORED:
            _refuse(lib, made, name, 0)
        for flag in NEW_NAMESPACES:
            _refuse(lib, made, "clone", errno.EPERM, lib.Arg(0, lib.MASKED_EQ, flag, flag))
        # a filter cannot read the flags of clone3, which are in memory; if clone3 fails, the C library uses clone
        _refuse(lib, made, "clone3", errno.ENOSYS)
        for control in FILE_CONTROLS:
            _refuse(lib, made, "fcntl", errno.EPERM, lib.Arg(1, lib.EQ, control))
        nowait = lib.Arg(5, lib.MASKED_EQ, ONLY_FROM_MEMORY, ONLY_FROM_MEMORY)
        _refuse(lib, made, "preadv2", errno.EPERM, nowait)
        _refuse(lib, made, "mmap", errno.EPERM, lib.Arg(3, lib.MASKED_EQ, SHARED_ANONYMOUS, SHARED_ANONYMOUS))
        with tempfile.TemporaryFile() as file:
            made.export_bpf(file)
            file.seek(0)
            return file.read()
    except OSError:
        return b""


def _refuse(lib, made, name: str, number: int, *arguments) -> None:
    try:
        lib.resolve_syscall(lib.system_arch(), name)
    except ValueError:
        return
    made.add_rule(lib.ERRNO(number), name, *arguments)
