"""Refuses to build a wheel without the kernel: the build hook of hatchling."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelIsPacked(BuildHookInterface):  # type: ignore[misc,type-arg,unused-ignore]
    """Fails when the kernel's jar is missing; an editable install compiles it by itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002
        """Check before anything is written."""
        jar = Path(self.root, "src", "headrace", "kernel.jar")
        if version != "editable" and not jar.is_file():
            raise FileNotFoundError(
                f"{jar} is missing: a wheel without the kernel would run nothing. "
                "Build it with `make wheel`, which compiles the kernel first."
            )
