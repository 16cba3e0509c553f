"""Summaries as people read them: the same meaning in fewer and plainer words."""
