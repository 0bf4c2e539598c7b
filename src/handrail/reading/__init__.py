"""What does a file say?"""
