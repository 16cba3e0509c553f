"""Campaigns that test Loopless: random programs, and judges of what it says of them."""
