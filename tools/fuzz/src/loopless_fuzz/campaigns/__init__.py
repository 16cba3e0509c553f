"""Campaigns: random programs, their summaries judged by runs, what is wrong made small and kept."""
