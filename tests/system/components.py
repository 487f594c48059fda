"""Programs that the tests start and the project does not bring: stores and balancers.

The law of this file: a test that asks for one gets the real one or fails. Only where it is not
installed, and not under CI, is the test skipped.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal

import pytest

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


def installed(*names: str) -> str | None:
    """The path of the first of these programs that is installed."""
    path = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin"
    return next((found for name in names if (found := shutil.which(name, path=path))), None)


def program(*names: str, package: str) -> str:
    """As ``installed``; ``package`` brings it. Fails where there is none under CI, and skips elsewhere."""
    if found := installed(*names):
        return found
    missing = f"no {names[0]} here: apt-get install {package}"
    if os.environ.get("CI"):
        pytest.fail(missing)
    pytest.skip(missing)


def die_with_parent() -> None:
    """For ``preexec_fn``: what is started ends when the process that started it is killed."""
    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
