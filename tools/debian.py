"""Install the Debian packages that tests need, where they are missing.

    .venv/bin/python tools/debian.py

Nothing happens when every command is there. Off Debian, or without the right to
install, it says what is missing and the tests that need it fail with that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

# command -> package
NEEDED = {
    "dbus-daemon": "dbus",  # a keyring of the system
    "gnome-keyring-daemon": "gnome-keyring",
    "chromium": "chromium",  # the viewer in a real browser
    "git": "git",  # identity of projects, hostile repositories
    "node": "nodejs",  # the real agent programs
    "npm": "npm",
    "useradd": "passwd",  # the second user of the security tests
    "su": "util-linux",
}


def missing() -> list[str]:
    """Packages whose command is not on the PATH."""
    return sorted(package for command, package in NEEDED.items() if not shutil.which(command))


def main() -> int:
    """Install what is missing."""
    packages = missing()
    if not packages:
        return 0
    command = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if not shutil.which("apt-get") or os.geteuid() != 0:
        print(f"tools/debian.py: missing {', '.join(packages)}; as root: {' '.join(command)}")
        return 1
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "--quiet"], env=env, check=False)
    return subprocess.run([*command, "--quiet"], env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
