"""Whose words a text is made of, and whether a memory may be made of it (E11). Pure.

pasted.py    a person's message without what they pasted or quoted
"""
