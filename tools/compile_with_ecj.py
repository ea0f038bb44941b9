"""Compiles the kernel with Eclipse's compiler, as machines without a JDK do; it is stricter than javac."""

import sys
import tempfile
from pathlib import Path

from headrace.errors import HeadraceError
from headrace.local import kernel

here = kernel.checkout()
if here is None:
    sys.exit("This is no checkout: there is no kernel/src.")
with tempfile.TemporaryDirectory(prefix="headrace-ecj-") as folder:
    try:
        kernel.compile_with_ecj(here, Path(folder))
    except HeadraceError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
print("The kernel compiles with Eclipse's compiler too.")
