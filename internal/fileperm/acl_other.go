//go:build !linux

package fileperm

// hasACL is known on Linux only. Elsewhere a list that lets others write does
// not change the mode, and is not found.
func hasACL(string) bool { return false }
