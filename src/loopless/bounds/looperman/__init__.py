"""Looperman's algorithm (Čadek, Strejček, Trtík 2016): path counters, and bounds carried outwards."""
