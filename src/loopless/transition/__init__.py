"""The transition relation of a program: its steps, their algebra, and loops as steps by their summaries."""
