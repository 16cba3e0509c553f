"""Inequalities that hold at headers: in every call, at each header, in every iteration."""
