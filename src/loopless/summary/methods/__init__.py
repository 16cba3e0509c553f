"""The methods of the portfolio: one file each, which names its paper and section."""
