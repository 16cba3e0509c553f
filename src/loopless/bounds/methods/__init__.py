"""The methods of the portfolio of bounds: one file each, which names its paper and section."""
