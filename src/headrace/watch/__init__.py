"""What a running pipeline is doing, seen from outside: its progress, told and drawn."""
