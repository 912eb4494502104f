# sources of lib/fold
