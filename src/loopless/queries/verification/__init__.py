"""Is the program right? Proofs, violations, and the evidence for both."""
