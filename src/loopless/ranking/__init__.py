"""Ranking functions of steps between places, by Farkas' lemma: what bounds and proofs of termination both ask for."""
