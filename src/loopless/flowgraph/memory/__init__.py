"""The memory of a function: objects, where pointers point, effects of calls, lifetimes, promotion to variables."""
