"""What calls come to: their effects on the caller's variables, and their activations."""
