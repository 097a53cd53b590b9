"""What a fitted model says: its errors, its words, its pictures, its report."""
