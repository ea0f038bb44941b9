"""`python -m headrace.cli`: the command, where it is not on the PATH."""

from headrace.cli import main

main()
