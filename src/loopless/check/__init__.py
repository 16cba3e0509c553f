"""The independent judge: native runs, the interpreter, and the checking of certificates."""
