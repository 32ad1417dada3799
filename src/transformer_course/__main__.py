"""Entry point of the command `transformer-course` (chapter 07); also `python -m transformer_course`."""

import os
import sys

from transformer_course.streams import watched_streams


def main() -> None:
    """Run the command. Torch takes seconds to load, so Ctrl-C may come before there is anything to save.

    Raises:
        SystemExit: always, with the command's exit status; 1 if Ctrl-C came while the package was loading, a
            library is missing, or output could not be written.
    """
    # This process never forks, so subwords may be cut in parallel; see `corpus.vocabulary`.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    # For bf16, oneDNN compiles a kernel for each shape and keeps 1,024; an epoch may have thousands.
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "20000")
    # A lost process is told in a sentence of ours, so torch needn't warn of it in fifty lines.
    if "TORCHELASTIC_RUN_ID" in os.environ:
        os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    with watched_streams():
        try:
            _command()
        except KeyboardInterrupt:
            sys.exit("\nstopped")


def _command() -> None:
    try:
        from transformer_course.cli import app
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("transformer_course"):
            raise
        install = 'run pip install ".[translate]" in the folder of the course'
        sys.exit(f"error: {error.name} is missing: {install}")
    app()


if __name__ == "__main__":
    main()
