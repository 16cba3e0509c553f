"""Ways through loops to a place: systems over counters of paths, and searches that they lead."""
