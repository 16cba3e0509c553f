"""Random programs of several functions, which share memory: see :mod:`loopless_fuzz.generator.programs.generate`."""
