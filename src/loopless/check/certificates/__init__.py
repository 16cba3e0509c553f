"""The judge of proofs: whether the invariants of a certificate are inductive and exclude what they are said to."""
