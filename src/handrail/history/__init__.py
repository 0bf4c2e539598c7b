"""What was a file, and how does it go back?"""
