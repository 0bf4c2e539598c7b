"""Which files, which rows?"""
