# sources of lib/cpu
