"""A real stack on one machine: Java, pinned jars, the compiled kernel, servers of its own."""
