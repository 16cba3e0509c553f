"""The judge's interpreter: a flowgraph compiled to Python, and run exactly, with memory and the C library."""
