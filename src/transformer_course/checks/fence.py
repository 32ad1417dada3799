"""A fence around notebooks of strangers: what they see of the environment, and where Linux allows it, more.

Always: of the environment only what Python needs. With `--fence`: no network, files outside the notebook's own
folder can only be read, memory and the size of files are limited. A fence keeps mistakes and pranks in. What
the teacher may read it doesn't hide, and a notebook can write its own verdict: it is no examination room.

Run as a script, with a folder and a command, it puts itself behind the fence and becomes the command.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Mapping

MEMORY = 16 << 30  # bytes of addresses; torch alone maps some
FILE = 256 << 20  # bytes of one file
# What Python, torch and a kernel look at; everything else may be a secret.
KEPT = {
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "TZ",
    "TMPDIR",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "MPLBACKEND",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
}
KEPT_STARTS = ("LC_", "OMP_", "MKL_", "OPENBLAS_", "KMP_", "ATEN_", "ONEDNN_")
_NEW_FILES, _NEW_USER, _NEW_NET = 0x00020000, 0x10000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_MOUNT_SETATTR, _HERE, _ALL_BELOW, _READ_ONLY = 442, -100, 0x8000, 1


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """What a notebook sees of the environment.

    Args:
        variables: all of it.

    Returns:
        What Python needs.

    >>> environment({"PATH": "/bin", "TOKEN": "secret", "LC_ALL": "C"})
    {'PATH': '/bin', 'LC_ALL': 'C'}
    """
    return {
        name: value
        for name, value in variables.items()
        if name in KEPT or name.startswith(KEPT_STARTS)
    }


def command(folder: str) -> list[str]:
    """What to put before a command, so that it runs behind the fence.

    Args:
        folder: the only place where it may write.

    Returns:
        The beginning of a command line.
    """
    return [sys.executable, __file__, folder]  # without the package, which takes seconds to load


def missing(folder: str) -> str:
    """Why there is no fence on this system; empty if there is one.

    Args:
        folder: an empty folder of one's own.

    Returns:
        A reason in words.
    """
    if sys.platform != "linux":
        return f"there is no sandbox for {sys.platform}"
    tried = subprocess.run(
        [*command(folder), sys.executable, "-c", ""], capture_output=True, text=True, timeout=60
    )
    return tried.stderr.strip().split("\n")[-1] if tried.returncode else ""


def close(folder: str) -> None:
    """Put this process behind the fence: names of its own for users, files and network, and limits.

    Args:
        folder: the only place where it may write.

    Raises:
        OSError: if the system doesn't allow it.
    """
    import resource  # not on every system

    user, group = os.getuid(), os.getgid()
    libc = ctypes.CDLL(None, use_errno=True)

    def done(result: int, what: str) -> None:
        if result:
            number = ctypes.get_errno()
            raise OSError(number, f"this system allows no sandbox ({what}: {os.strerror(number)})")

    def set_read_only(path: str, wanted: bool) -> None:
        sets, clears = (_READ_ONLY, 0) if wanted else (0, _READ_ONLY)
        attributes = (ctypes.c_uint64 * 4)(sets, clears, 0, 0)
        size = ctypes.c_size_t(ctypes.sizeof(attributes))
        place = ctypes.c_char_p(os.fsencode(path))
        done(
            libc.syscall(_MOUNT_SETATTR, _HERE, place, _ALL_BELOW, ctypes.byref(attributes), size),
            "read-only files",
        )

    done(libc.unshare(_NEW_USER | _NEW_FILES | _NEW_NET), "names of its own")
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    done(libc.mount(None, b"/", None, _RECURSIVE | _PRIVATE, None), "files of its own")
    own = os.fsencode(folder)
    done(libc.mount(own, own, None, _BIND, None), "a folder of its own")
    set_read_only("/", True)
    set_read_only(folder, False)
    for limit, most in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_FSIZE, FILE)):
        resource.setrlimit(limit, (most, most))
    os.chdir(folder)  # the old way there leads to the files as they were


if __name__ == "__main__":
    try:
        close(sys.argv[1])
    except OSError as error:
        sys.exit(error.strerror or str(error))
    os.execvp(sys.argv[2], sys.argv[2:])
