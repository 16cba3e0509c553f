"""What is said of a loop where nothing exact is: a relation that contains every run (Proteus, section 4.2)."""
