package main

import "strings"

// withNames takes "get shards/NAME" for "get shards NAME". Of a resource with two names in its address
// the first may hold a slash, and the second does not.
func withNames(args []string) []string {
	if len(args) < 2 || args[0] != "get" {
		return args
	}
	for i := 1; i < len(args); i++ {
		name, of, slash := strings.Cut(args[i], "/")
		r, known := resourceNamed(name)
		switch {
		case strings.HasPrefix(args[i], "-") || !known || valueOfFlag(args[i-1]):
			continue
		case !slash:
			return args
		}
		names, _ := r.places()
		parts := []string{name, of}
		if cut := strings.LastIndexByte(of, '/'); cut >= 0 && len(names) > 1 {
			parts = []string{name, of[:cut], of[cut+1:]}
		}
		return append(append(append([]string{}, args[:i]...), parts...), args[i+1:]...)
	}
	return args
}

// valueOfFlag tells whether a word belongs to the flag before it.
func valueOfFlag(before string) bool {
	switch before {
	case "-w", "--watch", "--all":
		return false
	}
	return strings.HasPrefix(before, "-") && !strings.Contains(before, "=")
}
