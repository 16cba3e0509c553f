"""The independent judge: native runs, the interpreter, generated programs, and the checking of certificates."""
