# sources of lib/pass
