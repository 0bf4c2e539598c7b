"""What would a file become?"""
