"""Whether a program is right: proofs by invariants, counterexamples, and the transition systems that both are about."""
