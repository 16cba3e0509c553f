"""One iteration of a loop, followed as a whole: its values, and the facts that hold when it is completed."""
