"""Random programs of several functions, which share memory: see :mod:`loopless.check.generator.programs.generate`."""
