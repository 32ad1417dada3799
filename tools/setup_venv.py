"""Make a virtual environment and install what requirements.txt pins, and this package from its sources.

Run by any Python 3.11 or newer: `python tools/setup_venv.py .venv`. Needs nothing but the standard library.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# JupyterLab asks a beginner nothing, and nobody else; whoever wants its news can say so in its settings.
LAB = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}


def main(folder: Path) -> None:
    """Create `folder` if need be and install into it."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this script is run by whatever Python there is
        sys.exit(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    if importlib.util.find_spec("ensurepip") is None:
        install_debian_package("python3-venv")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / ("python.exe" if os.name == "nt" else "python")
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(python), "-m", "pip", "install", "--quiet"]
    print(
        "Installing what requirements.txt pins; the first time takes a few minutes ...", flush=True
    )
    for arguments in (["-r", "requirements.txt"], ["--no-deps", "--editable", "."]):
        if subprocess.run([*pip, *arguments], cwd=ROOT).returncode:
            sys.exit("Installation failed, see pip's message above.")
    settings = folder / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "overrides.json").write_text(json.dumps(LAB), encoding="utf-8")


def install_debian_package(name: str) -> None:
    """Install a Debian package where we are root, else say how to."""
    apt = shutil.which("apt-get")
    if apt is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        sys.exit(f"{name} is missing. On Debian or Ubuntu: sudo apt-get install {name}")
    print(f"{name} is missing. You are root, so apt-get update and apt-get install {name} run now:")
    print("Ctrl-C stops that.", flush=True)
    subprocess.run([apt, "update", "-qq"], check=True)
    subprocess.run([apt, "install", "-y", "-qq", "--no-install-recommends", name], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ".venv"))
