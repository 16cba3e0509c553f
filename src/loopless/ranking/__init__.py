"""Why steps between places come to an end, or go on for ever: what bounds and proofs of termination both ask for."""
